// Which people: by the model's decision and a rule over their values, or those marked in the list.
import { plural, ruleName } from "../core/formats.js";
import { RuleProblem, checkSoon } from "../core/rules.js";
import { checked, schema } from "../core/state.js";
import { html, useEffect } from "../vendor/interface.js";
import { choice, choose, count, filterProblem, isBusy, job, mostRows, refuse, startMany, stopMany, total } from "./state.js";

function How() {
  const marked = checked.value.size;
  const radio = (value, words, disabled) => html`<label class="radio"><input type="radio" name="cohort-how" value=${value}
    checked=${choice.value.how === value} disabled=${disabled} onChange=${() => choose({ how: value })} />${words}</label>`;
  return html`<fieldset class="how"><legend>Which people</legend>
    ${radio("filter", "by decision and values", false)}
    ${radio("checked", marked ? `the ${marked.toLocaleString("en-US")} marked in the list` : "those marked in the list (none yet)", !marked)}
  </fieldset>`;
}

function Prediction() {
  const { classes } = schema.value;
  const position = classes.findIndex((one) => one.value === choice.value.prediction);
  return html`<div class="field"><label for="cohort-prediction">Decision</label>
    <select id="cohort-prediction" class="control" value=${String(position)}
      onChange=${(event) => choose({ prediction: classes[Number(event.target.value)]?.value ?? "" })}>
      <option value="-1">all</option>
      ${classes.map((one, index) => html`<option value=${String(index)}>${one.label}</option>`)}
    </select></div>`;
}

function Where() {
  const wrong = filterProblem.value;
  return html`<div class="field grow"><label for="cohort-where">Values (a rule over x.)</label>
    <input id="cohort-where" class="control code" spellcheck=${false} autocomplete="off" value=${choice.value.where}
      placeholder=${example()} aria-invalid=${wrong ? "true" : undefined} aria-describedby="cohort-where-state"
      onInput=${(event) => choose({ where: event.target.value })} />
    <div id="cohort-where-state" role="status">${wrong ? html`<${RuleProblem} text=${choice.value.where.trim()} verdict=${wrong} />`
      : html`<p class="small">${total.value === null ? "" : `${plural(total.value, "person", "people")} fit`}</p>`}</div></div>`;
}

function example() {
  const number = schema.value.features.find((one) => !one.levels && one.typical !== null);
  return number ? `${ruleName("x", number.name)} < ${number.typical}` : "";
}

function Most() {
  return html`<div class="field"><label for="cohort-most">At most</label>
    <input id="cohort-most" class="control number" type="number" min="1" max=${mostRows()} step="1" value=${choice.value.most}
      onInput=${(event) => {
        const most = Math.round(Number(event.target.value));
        if (most >= 1) choose({ most: Math.min(most, mostRows()) });
      }} /></div>`;
}

function Progress() {
  const { state, progress, lost } = job.value;
  const { done, total: all, stage } = progress ?? {};
  const words = {
    choosing: "Choosing the rows…", stopping: "Stopping…", running: progress ? `${stage ?? "Searching"}: ${done} of ${all}` : "Waiting to begin…",
  }[state];
  return html`<div class="cohort-progress">
    <progress aria-label="Progress" max=${all || 1} value=${progress ? done : undefined}></progress>
    <span role="status">${lost ? "The connection is lost; trying again…" : words}</span>
    <button type="button" disabled=${state === "stopping"} onClick=${stopMany}>Stop</button>
  </div>`;
}

// Counts who fits once typing has paused; a rule is looked at first, so that its error has a place.
function countSoon(rule) {
  const stop = new AbortController();
  const leave = checkSoon([rule], ({ [rule]: verdict }) => (verdict.ok ? count(stop.signal) : refuse(verdict)));
  if (!rule) count(stop.signal);
  return () => {
    stop.abort();
    leave?.();
  };
}

export function Choice() {
  const { how, prediction, where } = choice.value;
  useEffect(() => (how === "filter" ? countSoon(where.trim()) : undefined), [how, prediction, where]);
  const submit = (event) => {
    event.preventDefault();
    startMany();
  };
  const ready = !isBusy.value && (how === "checked" ? checked.value.size > 0 : Boolean(total.value));
  return html`<form class="cohort-choice" onSubmit=${submit}>
    <${How} />
    ${how === "filter" && html`<div class="cohort-filter"><${Prediction} /><${Where} /><${Most} /></div>`}
    <div class="buttons"><button type="submit" class="primary" disabled=${!ready}>Explain them all</button>
      <span class="small">The limits set for one person hold for all of them.</span></div>
    ${isBusy.value && html`<${Progress} />`}
  </form>`;
}
