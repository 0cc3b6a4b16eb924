// What if: any value changed by hand, and what the model would say, while typing.
import { start } from "../answer/run.js";
import { ErrorBox } from "../core/controls.js";
import { nameText, percents, short } from "../core/formats.js";
import { historyKey } from "../core/history.js";
import { feature, panel, person, schema } from "../core/state.js";
import { DecisionPicture } from "../person/decision.js";
import { editPerson, pickValues } from "../person/pick.js";
import { html, signal, useEffect } from "../vendor/interface.js";
import { Fields } from "./fields.js";
import { Scenarios } from "./scenarios.js";
import {
  asking, changes, clear, doAgain, history, keep, keepAsking, mayKeep, outcome, problem, scenarios, takeBack, takenFrom,
} from "./state.js";

const scenarioName = signal("");

function keys(event) {
  const asked = historyKey(event);
  if (!asked || event.target.closest(".scenarios, .keep")) return;
  event.preventDefault();
  (asked === "undo" ? takeBack : doAgain)();
}

function Verdict() {
  const { before, after, changes: judged } = outcome.value;
  const touched = judged.length > 0;
  const [was, is] = percents(before.probability, after.probability);
  return html`<div class="what-verdict">
    <${DecisionPicture} decision=${after} before=${touched ? before : null} />
    <p role="status">${touched ? `With these values the model would say ${short(after.label)} (${is} for ${short(after.target_label)}; it was ${was}${
      before.prediction === after.prediction ? "" : `, and ${short(before.label)}`}).` : ""}</p>
  </div>`;
}

// The verdict in a few words, which stays in sight while typing where there is one column.
function nowText() {
  const { before, after, changes: judged } = outcome.value;
  const [was, is] = percents(before.probability, after.probability);
  return `${short(after.label, 24)}: ${is} for ${short(after.target_label, 24)}${judged.length ? ` (it was ${was})` : ""}`;
}

function Consequences() {
  const { consequences, broken, notes } = outcome.value;
  return html`
    ${consequences.length > 0 && html`<h4>Expected to follow</h4>
      <ul class="follows-list">${consequences.map((one) => html`<li key=${one.feature}>${one.text || nameText(feature.value[one.feature])}</li>`)}</ul>
      <p class="small">Expected, not something to do. Type over a value that follows to hold it.</p>`}
    ${broken.length > 0 && html`<div class="broken"><h4>Rules and limits that break</h4><ul>${broken.map((rule) => html`<li>${rule}</li>`)}</ul></div>`}
    ${notes.length > 0 && html`<ul class="small">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}`;
}

// Whether what is shown is about what is typed.
const isReady = () => outcome.value !== null && !asking.value && !problem.value;

function Keep() {
  const suggestion = `Scenario ${scenarios.value.length + 1}`;
  const submit = (event) => {
    event.preventDefault();
    keep(scenarioName.value.trim() || suggestion);
    scenarioName.value = "";
  };
  const ready = isReady() && mayKeep.value;
  return html`<form class="keep" onSubmit=${submit}>
    <label for="scenario-name">Name of the scenario</label>
    <input id="scenario-name" class="control" maxlength="80" autocomplete="off" placeholder=${suggestion} value=${scenarioName.value}
      onInput=${(event) => { scenarioName.value = event.target.value; }} />
    <button type="submit" disabled=${!ready}>Keep beside the others</button>
    ${!mayKeep.value && html`<p class="small">Remove a scenario to keep another.</p>`}
  </form>`;
}

// The changed values become the person that is explained: on top of the row of the file where it is
// one, as that row may have features that this view does not show.
function explainFromHere() {
  const { row, values } = person.peek();
  const now = outcome.peek().row;
  if (row === null) pickValues({ ...values, ...now });
  else editPerson(Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== values[name])));
  panel.value = "ways";
  start();
}

export function WhatIf() {
  useEffect(keepAsking, []);
  if (!person.value || !schema.value) return html`<p class="empty">Choose a person first: then any value can be changed here.</p>`;
  const { past, future } = history.value;
  return html`<section class="what-if" aria-label="What if" onKeyDown=${keys}>
    <div class="what-body">
      <div class="what-left">
        <header><h3>Change any value</h3>
          <div class="buttons">
            <button type="button" disabled=${!past.length} onClick=${takeBack}>Undo</button>
            <button type="button" disabled=${!future.length} onClick=${doAgain}>Redo</button>
            <button type="button" disabled=${!Object.keys(changes.value).length} onClick=${clear}>As it was</button>
          </div></header>
        ${takenFrom.value && html`<p class="small">Taken over from ${takenFrom.value}.</p>`}
        <${Fields} />
        ${outcome.value && html`<p class="what-now" aria-hidden="true">${nowText()}</p>`}
      </div>
      <div class="what-right" aria-busy=${String(asking.value)}>
        ${outcome.value && html`<${Verdict} /><${Consequences} />`}
        <${ErrorBox} error=${problem.value} />
      </div>
      <div class="what-after">
        <${Keep} />
        <button type="button" disabled=${!isReady()} onClick=${explainFromHere}>Explain from here</button>
      </div>
    </div>
    <${Scenarios} />
  </section>`;
}
