// The whole front: a scatter with axes to choose, sliders along it, and the point that is looked at.
import { html, signal } from "../vendor/interface.js";
import { numberText, percent } from "../core/formats.js";
import { answer, chosen } from "../core/state.js";
import { takeOver } from "../what-if/state.js";
import { Changes, byHand } from "./changes.js";
import { NotFound } from "./not-found.js";
import { Scatter } from "./scatter.js";
import { Unanswered } from "./unanswered.js";

const axesChosen = signal({ across: "distance", up: "probability" });

export const axisText = (axis, value) => (axis.key === "probability" ? percent(value, 1) : axis.key === "n_actions" ? String(value) : numberText(value, 0.01));

export function TradeOffs() {
  if (answer.value === null) return html`<${Unanswered} />`;
  const { front, axes, ways } = answer.value.ways;
  if (ways.length === 0 || front.length === 0) return html`<${NotFound} ways=${answer.value.ways} />`;
  const axis = (key, place) => axes.find((one) => one.key === key) ?? axes[place] ?? axes[0];
  const across = axis(axesChosen.value.across, 0);
  const up = axis(axesChosen.value.up, 1);
  return html`<div class="trade-offs">
    <div class="card">
      <div class="axes">
        ${[["up", "Upwards", up], ["across", "Across", across]].map(([name, label, now]) => html`<label class="field" key=${name}><span>${label}</span>
          <select class="control" value=${now.key} onChange=${(event) => { axesChosen.value = { ...axesChosen.value, [name]: event.target.value }; }}>
            ${axes.map((one) => html`<option value=${one.key}>${one.label}</option>`)}</select></label>`)}
      </div>
      <${Scatter} points=${front} across=${across} up=${up} />
      <p class="small">Each point is a way that no other way beats in everything. Numbered points are among the ways. Move along them with the arrow keys.</p>
    </div>
    <div class="trade-side">
      <div class="card"><h3>Move along the front</h3>
        ${axes.map((one) => html`<${Along} key=${one.key} axis=${one} points=${front} />`)}</div>
      <${Point} point=${front[chosen.value] ?? front[0]} />
    </div>
  </div>`;
}

// Moves the pick to the next lower or higher value of one axis.
function Along({ axis, points }) {
  const sorted = points.map((point, index) => index).sort((one, other) => points[one][axis.key] - points[other][axis.key] || one - other);
  const at = Math.max(0, sorted.indexOf(chosen.value));
  const value = axisText(axis, points[sorted[at]][axis.key]);
  const id = `along-${axis.key}`;
  return html`<div class="along"><label for=${id}>${axis.label}</label><output for=${id}>${value}</output>
    <input id=${id} type="range" min="0" max=${Math.max(1, sorted.length - 1)} step="1" value=${at} aria-valuetext=${`${value}, ${axis.better === "low" ? "lower" : "higher"} is better`}
      onInput=${(event) => { chosen.value = sorted[Math.min(Number(event.target.value), sorted.length - 1)]; }} /></div>`;
}

function Point({ point }) {
  const name = point.rank ? (point.rank === 1 ? "The recommended way" : `Way ${point.rank}`) : "A way of the front";
  return html`<section class="card point" aria-live="polite"><h3>${name}</h3>
    <p>${percent(point.probability)} at a distance of ${point.distance.toFixed(2)}</p>
    <${Changes} changes=${point.changes} label=${`Changes of ${name.toLowerCase()}`} />
    <p><button type="button" onClick=${() => takeOver(byHand(point.changes), name)}>Try by hand</button></p>
  </section>`;
}
