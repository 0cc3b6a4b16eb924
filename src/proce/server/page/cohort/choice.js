// Which people: by the model's decision and a rule over their values, or those marked in the list.
import { plural, ruleName, short } from "../core/formats.js";
import { RuleProblem, checkSoon } from "../core/rules.js";
import { checked, schema } from "../core/state.js";
import { html, useEffect } from "../vendor/interface.js";
import { choice, choose, count, filterProblem, isBusy, job, mostRows, refuse, startMany, stopMany, total, wanted } from "./state.js";

// Who is meant where nobody is marked.
function otherText() {
  const target = schema.value.classes.find((one) => one.value === wanted.value);
  return target ? `those not decided ${short(target.label, 30)}, by values` : "by values";
}

function How() {
  const marked = checked.value.size;
  const radio = (value, words, disabled) => html`<label class="radio"><input type="radio" name="cohort-how" value=${value}
    checked=${choice.value.how === value} disabled=${disabled} onChange=${() => choose({ how: value })} />${words}</label>`;
  return html`<fieldset class="how"><legend>Which people</legend>
    ${radio("filter", otherText(), false)}
    ${radio("checked", marked ? `the ${marked.toLocaleString("en-US")} marked in the list` : "those marked in the list (none yet)", !marked)}
  </fieldset>`;
}

function Target() {
  const { classes } = schema.value;
  const position = classes.findIndex((one) => one.value === wanted.value);
  return html`<div class="field"><label for="cohort-target">Wanted decision</label>
    <select id="cohort-target" class="control" value=${String(position)}
      onChange=${(event) => choose({ target: classes[Number(event.target.value)]?.value ?? null, prediction: "" })}>
      ${position < 0 && html`<option value="-1">choose…</option>`}
      ${classes.map((one, index) => html`<option value=${String(index)}>${short(one.label)}</option>`)}
    </select></div>`;
}

// Of two classes everybody else is decided the other way; of more, one of the others can be named.
function Prediction() {
  const others = schema.value.classes.filter((one) => one.value !== wanted.value);
  if (others.length < 2) return null;
  const position = others.findIndex((one) => one.value === choice.value.prediction);
  return html`<div class="field"><label for="cohort-prediction">Decided now</label>
    <select id="cohort-prediction" class="control" value=${String(position)}
      onChange=${(event) => choose({ prediction: others[Number(event.target.value)]?.value ?? "" })}>
      <option value="-1">any</option>
      ${others.map((one, index) => html`<option value=${String(index)}>${short(one.label)}</option>`)}
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
  const leave = checkSoon([rule], ({ [rule]: verdict }) => (verdict.ok ? count(rule, stop.signal) : refuse(verdict)));
  if (!rule) count(rule, stop.signal);
  return () => {
    stop.abort();
    leave?.();
  };
}

// How many of whom are explained.
function startText() {
  const { how, most } = choice.value;
  const fitting = how === "checked" ? checked.value.size : total.value;
  const count = Math.min(how === "checked" ? mostRows() : most, fitting ?? 0);
  if (!count) return "Explain them";
  return count < fitting ? `Explain the first ${count.toLocaleString("en-US")} of ${fitting.toLocaleString("en-US")}` : `Explain all ${count.toLocaleString("en-US")}`;
}

export function Choice() {
  const { how, prediction, where } = choice.value;
  const target = wanted.value;
  useEffect(() => (how === "filter" && target !== null ? countSoon(where.trim()) : undefined), [how, target, prediction, where]);
  const submit = (event) => {
    event.preventDefault();
    startMany();
  };
  const ready = !isBusy.value && target !== null && (how === "checked" ? checked.value.size > 0 : Boolean(total.value));
  return html`<form class="cohort-choice" onSubmit=${submit}>
    <div class="cohort-first"><${Target} /><${How} /></div>
    ${how === "filter" && html`<div class="cohort-filter"><${Prediction} /><${Where} /><${Most} /></div>`}
    <div class="buttons"><button type="submit" class="primary" disabled=${!ready}>${startText()}</button>
      <span class="small">The limits set for one person hold for all of them.</span></div>
    ${isBusy.value && html`<${Progress} />`}
  </form>`;
}
