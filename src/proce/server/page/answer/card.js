// One way as a card: what to do, what the model then says, what follows, how sure that is.
import { html } from "../vendor/interface.js";
import { percent, percents } from "../core/formats.js";
import { answer, chosen, decision as decided } from "../core/state.js";
import { takeOver } from "../what-if/state.js";
import { Changes, byHand } from "./changes.js";

const of = (way, kind) => way.lines.filter((line) => line.kind === kind).map((line) => line.text);
const placeOf = (way) => answer.value.ways.front.findIndex((point) => point.rank === way.rank);
const isChosen = (way) => placeOf(way) === chosen.value;

export function Recommended({ way, decision }) {
  return html`<article class=${isChosen(way) ? "card way recommended chosen" : "card way recommended"} aria-labelledby="recommended-title">
    <header><h2 id="recommended-title" tabindex="-1">What to do</h2><span class="badge">recommended</span></header>
    <ol class="actions">${of(way, "action").map((text) => html`<li>${text}</li>`)}</ol>
    ${of(way, "contrast").map((text) => html`<p>${text}</p>`)}
    <${Reach} way=${way} decision=${decision} />
    ${of(way, "doubt").map((text) => html`<p class="doubt">${text}</p>`)}
    <${Follows} texts=${of(way, "consequence")} />
    <${Sure} way=${way} />
    <${Tools} way=${way} />
  </article>`;
}

export function OtherWay({ way, decision }) {
  const title = `way-${way.rank}`;
  return html`<article class=${isChosen(way) ? "card way chosen" : "card way"} aria-labelledby=${title}>
    <header><h3 id=${title}>Way ${way.rank}</h3></header>
    <ul class="actions">${of(way, "action").map((text) => html`<li>${text}</li>`)}</ul>
    <${Reach} way=${way} decision=${decision} />
    ${of(way, "doubt").map((text) => html`<p class="doubt">${text}</p>`)}
    <details class="more"><summary>What follows, and how sure it is</summary>
      ${of(way, "contrast").map((text) => html`<p>${text}</p>`)}
      <${Follows} texts=${of(way, "consequence")} />
      ${of(way, "certainty").length > 0 && html`<ul>${of(way, "certainty").map((text) => html`<li>${text}</li>`)}</ul>`}
      <${Changes} changes=${way.changes} label=${`Changes of way ${way.rank}`} />
    </details>
    <${Tools} way=${way} />
  </article>`;
}

function Follows({ texts }) {
  if (texts.length === 0) return null;
  return html`<ul class="follows" aria-label="Expected to follow">${texts.map((text) => html`<li>${text}</li>`)}</ul>`;
}

function Sure({ way }) {
  const texts = of(way, "certainty");
  return html`<details class="more"><summary>All changes, and how sure this is</summary>
    <${Changes} changes=${way.changes} label="Changes of the recommended way" />
    ${texts.length > 0 && html`<ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`}
  </details>`;
}

// Where the probability was, where it comes to, and what is needed.
function Reach({ way, decision }) {
  const [before, after] = percents(decision.probability, way.probability);
  const least = answer.value.asked.limits.min_probability;
  const needed = least ?? decided.value?.needed ?? decision.needed; // null where the likeliest of several counts
  const asked = needed === null ? "" : least === null || least === undefined ? `; the model decides so from ${percent(needed)} on` : `; ${percent(least)} was asked for`;
  const width = (share) => `${(100 * share).toFixed(2)}%`;
  return html`<div class="reach">
    <div class="bar slim" role="img" aria-label=${`The chance of ${decision.target_label} goes from ${before} to ${after}${asked}.`}>
      <span class="fill" style=${{ width: width(way.probability) }}></span>
      <span class="fill earlier" style=${{ width: width(decision.probability) }}></span>
      ${needed !== null && html`<span class="need" style=${{ left: width(needed) }}></span>`}
    </div>
    <p aria-hidden="true"><span>${before} <span class="arrow">→</span> <strong>${after}</strong></span>
      <span class="small">distance ${way.distance.toFixed(2)}</span></p>
  </div>`;
}

function Tools({ way }) {
  return html`<p class="way-tools">
    <button type="button" aria-pressed=${String(isChosen(way))} onClick=${() => { chosen.value = placeOf(way); }}>${isChosen(way) ? "Shown in the values" : "Show in the values"}</button>
    <button type="button" class="quiet" onClick=${() => takeOver(byHand(way.changes), `Way ${way.rank}`)}>Try by hand</button>
  </p>`;
}
