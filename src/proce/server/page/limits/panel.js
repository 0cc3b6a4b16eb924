// What may change: folded away until it is wanted, with one line that says what is set.
import { html, signal } from "../vendor/interface.js";
import { Segments } from "../core/controls.js";
import { joined, nameText, short } from "../core/formats.js";
import { NO_LIMITS, limits, schema, session, setLimits } from "../core/state.js";
import { FeatureLimits } from "./features.js";
import { Rules } from "./rules.js";
import { isMovable } from "./settings.js";
import { PICKS, summaryParts } from "./summary.js";

const isOpen = signal(false);
const MAX_PARTS = 6;

// Unfolds the limits and puts the focus where the wanted decision is chosen.
export function showTarget() {
  isOpen.value = true;
  requestAnimationFrame(() => document.getElementById("wanted")?.focus());
}

// Unfolds the limits and puts the focus where a rule is typed.
export function showRule(place) {
  isOpen.value = true;
  requestAnimationFrame(() => document.getElementById(`rule-${place}`)?.focus());
}

export function Limits() {
  const parts = summaryParts();
  const shown = parts.length > MAX_PARTS ? [...parts.slice(0, MAX_PARTS), `${parts.length - MAX_PARTS} more`] : parts;
  return html`<section class=${isOpen.value ? "card limits open" : "card limits"} aria-labelledby="limits-title">
    <div class="limits-head">
      <h2 id="limits-title"><button type="button" class="unfolds" aria-expanded=${String(isOpen.value)} aria-controls="limits-body"
        onClick=${() => { isOpen.value = !isOpen.value; }}>What may change</button></h2>
      ${parts.length > 0 && html`<button type="button" class="quiet" onClick=${() => { limits.value = NO_LIMITS; }}>Reset</button>`}
    </div>
    <p class="small summary">${shown.length ? `${shown.join(" · ")}` : "No limits beyond those of the schema."}</p>
    <div id="limits-body" hidden=${!isOpen.value}>${isOpen.value && html`<${Body} />`}</div>
  </section>`;
}

function Body() {
  return html`<div class="limits-body">
    <${General} />
    <div><${FeatureLimits} /><${Still} /></div>
    <${Rules} />
  </div>`;
}

function General() {
  const set = limits.value;
  const { classes, features } = schema.value;
  const mostWays = Math.min(session.value?.limits?.n ?? 12, 12);
  const at = classes.findIndex((one) => one.value === set.target);
  const whole = (event) => (event.target.value === "" ? null : Number(event.target.value));
  return html`<div class="general">
    <label class="field"><span>Wanted decision</span>
      <select id="wanted" class="control" value=${String(at)} onChange=${(event) => setLimits({ target: classes[Number(event.target.value)]?.value ?? null })}>
        <option value="-1">${usual(classes)}</option>
        ${classes.map((one, index) => html`<option value=${String(index)}>${short(one.label)}</option>`)}
      </select></label>
    <label class="field"><span>Number of changes</span>
      <select class="control" value=${set.max_changes ?? ""} onChange=${(event) => setLimits({ max_changes: whole(event) })}>
        <option value="">any</option>
        ${Array.from({ length: Math.min(features.length, 12) }, (_, index) => html`<option value=${String(index + 1)}>at most ${index + 1}</option>`)}
      </select></label>
    <label class="field"><span>Ways to show</span>
      <select class="control" value=${String(set.n)} onChange=${(event) => setLimits({ n: whole(event) })}>
        ${Array.from({ length: mostWays }, (_, index) => html`<option value=${String(index + 1)}>${index + 1}</option>`)}
      </select></label>
    <label class="field"><span>Time for the search</span>
      <select class="control" value=${set.budget_seconds ?? ""} onChange=${(event) => setLimits({ budget_seconds: whole(event) })}>
        <option value="">as long as it takes</option>
        ${[1, 5, 20, 60].map((seconds) => html`<option value=${String(seconds)}>${seconds === 1 ? "1 second" : `${seconds} seconds`}</option>`)}
      </select></label>
    <label class="field"><span>Least chance to reach</span>
      <select class="control" value=${set.min_probability ?? ""} onChange=${(event) => setLimits({ min_probability: whole(event) })}>
        <option value="">as usual</option>
        ${[...new Set([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, set.min_probability].filter((one) => one !== null))].sort().map((one) =>
          html`<option value=${String(one)}>${Math.round(1000 * one) / 10}%</option>`)}
      </select></label>
    <div class="field pick"><span class="label">Recommend the</span>
      <${Segments} label="Which way is recommended" value=${set.pick} onChoose=${(pick) => setLimits({ pick })}
        options=${Object.entries(PICKS).map(([value, label]) => ({ value, label }))} /></div>
  </div>`;
}

// What is asked for where nothing is chosen.
function usual(classes) {
  const told = classes.find((one) => one.value === schema.value.default_target);
  return told ? short(told.label) : classes.length > 2 ? "choose…" : "the other one";
}

// What nobody can act on, and who says so.
function Still() {
  const others = schema.value.features.filter((one) => !isMovable(one));
  if (others.length === 0) return null;
  const names = (test) => joined(others.filter(test).map(nameText));
  const fixed = names((one) => one.action !== "indirect");
  const indirect = names((one) => one.action === "indirect");
  return html`<div class="small still">
    ${fixed && html`<p>Fixed by the schema: ${fixed}.</p>`}
    ${indirect && html`<p>Moves only as a consequence: ${indirect}.</p>`}
  </div>`;
}
