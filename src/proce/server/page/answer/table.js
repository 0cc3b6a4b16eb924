// All ways side by side: only what changes is marked, actions first, consequences under their causes.
import { html } from "../vendor/interface.js";
import { percent, short } from "../core/formats.js";
import { answer, chosen } from "../core/state.js";
import { isByHand, kindWords } from "./changes.js";
import { NotFound } from "./not-found.js";
import { Unanswered } from "./unanswered.js";

export function Table() {
  if (answer.value === null) return html`<${Unanswered} />`;
  const { ways, decision, front } = answer.value.ways;
  if (ways.length === 0) return html`<${NotFound} ways=${answer.value.ways} />`;
  const place = (way) => front.findIndex((point) => point.rank === way.rank);
  const mark = (way) => (place(way) === chosen.value ? "chosen" : "");
  return html`<div class="card"><div class="scrolls" role="group" tabindex="0" aria-label="Ways side by side">
    <table class="side-by-side">
      <caption>Ways to ${short(decision.target_label, 40)}. What is not listed stays as it is.</caption>
      <thead><tr><th scope="col">Feature</th><th scope="col" class="number">Now</th>
        ${ways.map((way) => html`<th scope="col" class=${`number ${mark(way)}`} key=${way.rank}>
          <button type="button" aria-pressed=${String(place(way) === chosen.value)} onClick=${() => { chosen.value = place(way); }}>${
            way.rank === 1 ? "Recommended" : `Way ${way.rank}`}</button></th>`)}</tr></thead>
      <tbody>${order(ways).map(({ change, depth }) => html`<tr key=${change.feature}>
        <th scope="row" style=${{ paddingLeft: `${1.1 * depth}rem` }}>${depth > 0 && html`<span aria-hidden="true">↳ </span>`}${short(change.label)}</th>
        <td class="number">${short(change.before_text, 24)}</td>
        ${ways.map((way) => html`<td class=${`number ${mark(way)}`} key=${way.rank}><${Cell} change=${way.changes.find((one) => one.feature === change.feature)} /></td>`)}
      </tr>`)}</tbody>
      <tfoot>
        <${Foot} title="chance" ways=${ways} mark=${mark} now=${percent(decision.probability)} text=${(way) => percent(way.probability)} />
        <${Foot} title="distance" ways=${ways} mark=${mark} now="" text=${(way) => way.distance.toFixed(2)} />
        <${Foot} title="how sure" ways=${ways} mark=${mark} now="" text=${sureWords} />
      </tfoot>
    </table></div>
    <${Caution} ways=${ways} />
  </div>`;
}

function Cell({ change }) {
  if (!change) return html`<span class="same" aria-label="unchanged">·</span>`;
  return html`<span class=${`cell ${change.kind}`}><strong>${short(change.after_text, 24)}</strong>
    <span class="interval">${change.interval_text ? `between ${change.interval_text}` : kindWords(change.kind)}</span></span>`;
}

function Foot({ title, ways, now, text, mark }) {
  return html`<tr><th scope="row">${title}</th><td class="number">${now}</td>
    ${ways.map((way) => html`<td class=${`number ${mark(way)}`} key=${way.rank}>${text(way)}</td>`)}</tr>`;
}

function Caution({ ways }) {
  const texts = [...new Set(ways.flatMap((way) => way.lines.filter((line) => line.kind === "caution").map((line) => line.text)))];
  return texts.map((text) => html`<p class="caution" key=${text}>${text}</p>`);
}

// The count of the sentence about it, such as '20 of 20 refits'.
function sureWords(way) {
  const told = way.lines.filter((line) => line.kind === "doubt" || line.kind === "certainty").map((line) => line.text).join(" ");
  const count = /\d+ of \d+ \w+/.exec(told)?.[0];
  return [count, way.unsure && "unsure"].filter(Boolean).join(", ") || "not counted";
}

// The features that change in any way: those acted on first, each followed by what it moves.
function order(ways) {
  const known = new Map();
  const acted = new Set();
  for (const change of ways.flatMap((way) => way.changes)) {
    if (isByHand(change)) acted.add(change.feature);
    const before = known.get(change.feature);
    known.set(change.feature, { ...change, causes: [...new Set([...(before?.causes ?? []), ...change.causes])] });
  }
  const placed = new Set();
  const lines = [];
  const put = (name, depth) => {
    if (placed.has(name)) return;
    placed.add(name);
    lines.push({ change: known.get(name), depth });
    for (const [other, change] of known) {
      if (!acted.has(other) && change.causes.includes(name)) put(other, depth + 1);
    }
  };
  for (const name of acted) put(name, 0);
  for (const name of known.keys()) put(name, 0);
  return lines;
}
