// Start, progress, stop; and why nothing came of it.
import { html, useEffect } from "../vendor/interface.js";
import { ErrorBox } from "../core/controls.js";
import { keepFocus } from "../core/live.js";
import { percent, plural, short } from "../core/formats.js";
import { answer, decision, earlierLimits, panel, person, run, schema, setLimits, wanted } from "../core/state.js";
import { showRule, showTarget } from "../limits/panel.js";
import { placeOfRule } from "../limits/settings.js";
import { goBack, isOutdated, start, stop } from "./run.js";

export function StartCard() {
  const { state, status, error, problem } = run.value;
  const isBusy = state === "starting" || state === "running" || state === "stopping";
  useEffect(() => {
    if (isBusy) keepFocus(".running button");
    else if (state === "ended") keepFocus("#recommended-title", "#not-found-title", ".start button");
  }, [isBusy]);
  return html`<section class="start" aria-label="Search">
    ${isBusy ? html`<${Running} />` : html`<${Offer} />`}
    ${!isBusy && status === "done" && html`<${Arrived} />`}
    ${!isBusy && isOutdated() && html`<p class="small">What may change was set anew since this answer: search again.</p>`}
    ${!isBusy && status === "cancelled" && html`<p class="note">Stopped. Nothing was kept of this search.</p>`}
    ${!isBusy && status === "interrupted" && html`<p class="note">The server was stopped in the middle of this search. Start it again.</p>`}
    ${!isBusy && status === "failed" && html`<${ErrorBox} error=${{ message: words(error) }} />`}
    <${Refusal} problem=${problem} />
  </section>`;
}

// The main button; or that nothing needs to change; or which decision is wanted, before it.
function Offer() {
  const { classes } = schema.value;
  const isAsked = classes.length > 2 && wanted.value === null;
  const now = decision.value;
  const isThere = now && wanted.value !== null && now.prediction === wanted.value;
  const back = earlierLimits.value.length > 0 && html`<button type="button" onClick=${goBack}>Back to the limits before</button>`;
  if (isThere) {
    return html`<p class="note">The model already says ${short(now.label, 40)}: nothing needs to change.</p>
      <div class="start-row"><button type="button" class="quiet" onClick=${showTarget}>Ask for another decision</button>${back}</div>`;
  }
  return html`${classes.length > 2 && html`<label class="field"><span>Which decision is wanted?</span>
      <select class="control" value=${String(classes.findIndex((one) => one.value === wanted.value))}
        onChange=${(event) => setLimits({ target: classes[Number(event.target.value)]?.value ?? null })}>
        ${isAsked && html`<option value="-1">choose…</option>`}
        ${classes.map((one, index) => html`<option value=${String(index)}>${short(one.label)}</option>`)}
      </select></label>`}
    <div class="start-row">
      <button type="button" class="primary" onClick=${start} disabled=${person.value === null || isAsked}>${label(isAsked)}</button>${back}
    </div>`;
}

// Who looks at another panel is told of the answer, and led to it.
function Arrived() {
  const found = answer.value?.ways;
  if (!found || !["causes", "what-if"].includes(panel.value)) return null;
  const words = found.ways.length ? `${plural(found.ways.length, "way")} found.` : "No way was found.";
  return html`<p class="note">${words} <button type="button" class="link" onClick=${() => { panel.value = "ways"; }}>Show the answer</button></p>`;
}

// What the server did not take; a wrong rule leads to where it is typed.
function Refusal({ problem }) {
  const named = /^rules\[(\d+)\]/.exec(problem?.fields?.[0]?.field ?? "");
  const place = named ? placeOfRule(Number(named[1])) : -1;
  if (place < 0) return html`<${ErrorBox} error=${problem} />`;
  return html`<${ErrorBox} error=${{ message: `Rule ${place + 1} is wrong, so nothing was searched.` }}>
    <button type="button" onClick=${() => showRule(place)}>Go to the rule</button><//>`;
}

const words = (error) => (typeof error === "string" ? error : error?.message) ?? "The search failed.";

function label(isAsked) {
  if (answer.value) return "Search again";
  if (isAsked) return "Find ways";
  const target = decision.value?.target_label;
  return target ? `Find ways to ${short(target, 30)}` : "Find ways";
}

function Running() {
  const { progress, lost, state } = run.value;
  // Of one row nobody knows how far it is: it ends when nothing better comes.
  const share = progress?.total > 1 ? progress.done / progress.total : null;
  return html`<div class="running">
    <div class="running-head"><p>${lost ? "The connection is lost; trying again…" : state === "stopping" ? "Stopping…" : stage(progress)}</p>
      <button type="button" onClick=${stop} disabled=${state === "stopping"}>Stop</button></div>
    <progress max="1" value=${share ?? undefined} aria-label="Progress of the search"></progress>
    ${progress && html`<dl class="facts">
      ${fact("generation", progress.generation)}
      ${fact("best chance", progress.best_probability === null || progress.best_probability === undefined ? null : percent(progress.best_probability))}
      ${fact("least distance", progress.best_distance?.toFixed?.(3))}
      ${fact("ways so far", progress.front_size)}
    </dl>`}
  </div>`;
}

const fact = (name, value) => value !== null && value !== undefined && html`<div><dt>${name}</dt><dd>${String(value)}</dd></div>`;

function stage(progress) {
  if (!progress?.stage) return "Searching…";
  const text = progress.stage.replaceAll("_", " ");
  return `${text[0].toUpperCase()}${text.slice(1)}…`;
}
