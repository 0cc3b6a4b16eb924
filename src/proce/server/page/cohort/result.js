// What came of many: outcomes, the changes advised most, what they cost whom, and each case.
import { openRecord } from "../answer/run.js";
import { chanceText, nameText, plural, short } from "../core/formats.js";
import { decisionLines, schema } from "../core/state.js";
import { html, signal } from "../vendor/interface.js";
import { cohort, problem, showBy } from "./state.js";

const PAGE_SIZE = 25;
const OUTCOME_WORDS = {
  found: "a way was found", not_found: "no way was found", already_target: "has the decision already",
  out_of_time: "out of time", failed: "the model failed",
};
const page = signal(0);

export const outcomeText = (outcome) => OUTCOME_WORDS[outcome] ?? outcome;

// A share as a bar with its number beside it.
function Bar({ share, kind = "" }) {
  return html`<span class=${`share-bar ${kind}`} aria-hidden="true"><span style=${{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }}></span></span>`;
}

function Outcomes() {
  const { n_rows: all, outcomes } = cohort.value.table;
  return html`<section class="outcomes" aria-labelledby="outcomes-title"><h2 id="outcomes-title">${plural(all, "person", "people")}${towards()}</h2>
    ${cohort.value.known?.fitting > all && html`<p class="small">The first ${all} of ${cohort.value.known.fitting.toLocaleString("en-US")} who fit, in the order of the file.</p>`}
    ${isMixed() && html`<p class="note">No decision was named: each was explained towards the other one, and the counts below mix both directions.</p>`}
    <ul class="bars">${Object.entries(outcomes).filter(([, count]) => count > 0).map(([outcome, count]) => html`<li key=${outcome}>
      <span class="bar-name">${outcomeText(outcome)}</span><${Bar} share=${count / all} kind=${`outcome-${outcome}`} />
      <span>${count} of ${all}</span></li>`)}</ul></section>`;
}

const isMixed = () => !cohort.value.known || cohort.value.known.target === null || cohort.value.known.target === undefined;

// The decision that was wanted for all, as the end of a heading.
function towards() {
  if (isMixed()) return "";
  const { target } = cohort.value.known;
  return `, wanted: ${short(schema.value.classes.find((one) => one.value === target)?.label ?? String(target), 40)}`;
}

function Advised() {
  const { features, outcomes } = cohort.value.table;
  const told = features.filter((one) => one.count > 0);
  return html`<section class="advised" aria-labelledby="advised-title"><h2 id="advised-title">Changes advised</h2>
    ${told.length === 0 ? html`<p class="empty">No change is advised to anybody.</p>`
      : html`<p class="small">To how many of the ${outcomes.found ?? 0} with a way, in the way recommended first.</p>`}
    <${Tallies} title="To do" tallies=${told.filter((one) => one.kind !== "consequence")} />
    <${Tallies} title="Expected to follow" tallies=${told.filter((one) => one.kind === "consequence")} /></section>`;
}

const KIND_WORDS = { hold: "hold", wait: "wait" };

function Tallies({ title, tallies }) {
  if (!tallies.length) return null;
  return html`<h3>${title}</h3><ul class="bars">${tallies.map((one) => html`<li key=${`${one.kind} ${one.feature}`}>
    <span class="bar-name">${short(one.label)}${KIND_WORDS[one.kind] && html` <span class=${`kind kind-${one.kind}`}>${KIND_WORDS[one.kind]}</span>`}</span>
    <${Bar} share=${one.share} kind=${one.kind === "consequence" ? "expected" : ""} />
    <span>${one.count} (${Math.round(one.share * 100)}%)</span>
    <span class="bar-note small">${one.change_text && `typically ${one.change_text}`}</span></li>`)}</ul>`;
}

function Groups() {
  const { by, table } = cohort.value;
  const position = schema.value.features.findIndex((one) => one.name === by);
  return html`<section class="costs" aria-labelledby="groups-title"><h2 id="groups-title">What it costs whom</h2>
    <div class="field"><label for="cohort-by">Compare by</label>
      <select id="cohort-by" class="control" value=${String(position)}
        onChange=${(event) => showBy(schema.value.features[Number(event.target.value)]?.name ?? "")}>
        <option value="-1">nobody, all together</option>
        ${schema.value.features.map((one, index) => html`<option value=${String(index)}>${nameText(one)}${one.protected ? " (protected)" : ""}</option>`)}
      </select></div>
    ${table.groups.length > 0 && html`<${GroupTable} groups=${table.groups} />`}
  </section>`;
}

function GroupTable({ groups }) {
  return html`<p class="small">Effort is the distance of the recommended way; in brackets a 95% interval of the difference, where there are enough people.</p>
    <div class="scrolls" tabindex="0" role="group" aria-label="Groups"><table>
    <thead><tr><th scope="col">Group</th><th scope="col" class="number">To change</th><th scope="col" class="number">With a way</th>
      <th scope="col" class="number">Mean effort</th><th scope="col" class="number">Against the others</th></tr></thead>
    <tbody>${groups.map((one) => html`<tr key=${one.label}><th scope="row">${short(one.label)}</th>
      <td class="number">${one.n_rows}</td><td class="number">${one.found}</td>
      <td class="number">${figure(one.mean_distance)}</td>
      <td class="number">${signed(one.gap)}${one.gap_low === null ? "" : html` <span class="small interval">(${signed(one.gap_low)} to ${signed(one.gap_high)})</span>`}</td></tr>`)}</tbody></table></div>`;
}

const signed = (value) => (value === null || value === undefined ? "–" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`);
const figure = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));

async function open(row) {
  try {
    await openRecord(cohort.peek().record, row);
  } catch (error) {
    problem.value = error;
  }
}

function Case({ one }) {
  const name = short(one.label, 30);
  return html`<tr><th scope="row"><button type="button" class="link" aria-label=${`Open the case of ${name}`} onClick=${() => open(one.index)}>${name}</button></th><td>${outcomeText(one.outcome)}</td>
    <td class="number">${one.probability === null ? "–" : chanceText(one.probability, decisionLines.value)}</td>
    <td class="number">${one.new_probability === null ? "–" : chanceText(one.new_probability, decisionLines.value)}</td>
    <td class="number">${figure(one.distance)}</td><td class="actions-text">${one.actions}</td></tr>`;
}

function Cases() {
  const { rows } = cohort.value.table;
  const last = Math.max(0, Math.ceil(rows.length / PAGE_SIZE) - 1);
  const shown = Math.min(page.value, last);
  const part = rows.slice(shown * PAGE_SIZE, (shown + 1) * PAGE_SIZE);
  return html`<section class="cases" aria-labelledby="cases-title"><h2 id="cases-title">Each case</h2>
    <p class="small">The chance is that of the wanted decision. Effort is the distance of the recommended way: the more, the more it asks of the person.</p>
    <div class="scrolls" tabindex="0" role="group" aria-label="Table of cases"><table>
      <thead><tr><th scope="col">Person</th><th scope="col">Outcome</th><th scope="col" class="number">Chance now</th>
        <th scope="col" class="number">Then</th><th scope="col" class="number">Effort</th><th scope="col">Advised</th></tr></thead>
      <tbody>${part.map((one) => html`<${Case} key=${one.index} one=${one} />`)}</tbody></table></div>
    ${last > 0 && html`<div class="pager"><button type="button" disabled=${shown === 0} onClick=${() => { page.value = shown - 1; }}>Earlier</button>
      <span>${shown * PAGE_SIZE + 1} to ${shown * PAGE_SIZE + part.length} of ${rows.length}</span>
      <button type="button" disabled=${shown === last} onClick=${() => { page.value = shown + 1; }}>Later</button></div>`}
  </section>`;
}

export function Result() {
  return html`<div class="cohort-result"><${Outcomes} /><${Advised} /><${Groups} /><${Cases} /></div>`;
}
