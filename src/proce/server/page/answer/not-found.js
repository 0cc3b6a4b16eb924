// Nothing found: what blocks, and what to relax by one click; or nothing that needs to change.
import { html } from "../vendor/interface.js";
import { percent, percents } from "../core/formats.js";
import { earlierLimits } from "../core/state.js";
import { Changes } from "./changes.js";
import { goBack, relax } from "./run.js";

export function NotFound({ ways }) {
  const of = (kind) => ways.lines.filter((line) => line.kind === kind).map((line) => line.text);
  const { diagnosis } = ways;
  const isThere = ways.outcome === "already_target";
  return html`<div class="ways">
    <article class="card not-found" aria-labelledby="not-found-title">
      <h2 id="not-found-title" tabindex="-1">${isThere ? "Nothing needs to change" : "No way was found"}</h2>
      ${of("outcome").map((text) => html`<p class="told">${text}</p>`)}
      ${diagnosis && html`<${Blockers} blockers=${diagnosis.blockers} />`}
      ${diagnosis?.closest_miss && html`<${Miss} diagnosis=${diagnosis} />`}
      ${earlierLimits.value.length > 0 && html`<p><button type="button" onClick=${goBack}>Back to the limits before</button></p>`}
    </article>
    ${of("caution").map((text) => html`<p class="caution">${text}</p>`)}
    ${["fixed", "note"].some((kind) => of(kind).length) && html`<section class="card to-know" aria-label="To know">
      ${of("fixed").length > 0 && html`<h3>What was kept fixed</h3><ul>${of("fixed").map((text) => html`<li>${text}</li>`)}</ul>`}
      ${of("note").length > 0 && html`<h3>To know</h3><ul>${of("note").map((text) => html`<li>${text}</li>`)}</ul>`}
    </section>`}
  </div>`;
}

function Blockers({ blockers }) {
  const eased = blockers.filter((one) => one.patch);
  const others = blockers.filter((one) => !one.patch);
  return html`${eased.length > 0 && html`<h3>There is a way</h3>
    <ul class="relaxations">${eased.map((one, index) => html`<li key=${`${one.kind} ${one.name}`}>
      <span id=${`relaxation-${index}`}>${one.relaxation}${typeof one.distance === "number"
        && html` <span class="small">(distance ${one.distance.toFixed(2)})</span>`}</span>
      <button type="button" id=${`relax-${index}`} aria-labelledby=${`relax-${index} relaxation-${index}`} onClick=${() => relax(one.patch)}>Allow and search</button></li>`)}</ul>
    <p class="small">One click changes the limit and searches again; you can go back.</p>`}
    ${others.length > 0 && html`<h3>${eased.length > 0 ? "There would be one" : "There would be a way"}, but not within the schema</h3>
      <ul>${others.map((one) => html`<li>${one.relaxation ?? one.name}</li>`)}</ul>`}`;
}

function reached({ probability, needed }) {
  if (needed === null) return percent(probability);
  const [there, enough] = percents(probability, needed);
  return `${there}; ${enough} would be enough`;
}

function Miss({ diagnosis }) {
  const { closest_miss: miss, broken } = diagnosis;
  return html`<details class="more"><summary>The closest attempt reaches ${reached(diagnosis)}</summary>
    ${miss.changes?.length > 0 && html`<${Changes} changes=${miss.changes} label="Changes of the closest attempt" />`}
    ${broken?.length > 0 && html`<ul>${broken.map((text) => html`<li><code>${text}</code></li>`)}</ul>`}
  </details>`;
}
