// Scenarios that were kept, side by side.
import { nameText, percent, short, valueText } from "../core/formats.js";
import { feature } from "../core/state.js";
import { personText } from "../person/pick.js";
import { html } from "../vendor/interface.js";
import { drop, edit, rename, scenarios } from "./state.js";

const described = (name) => feature.value[name] ?? { name, label: name };

function Moves({ moves, none }) {
  if (!moves.length) return html`<span class="small">${none}</span>`;
  return html`<ul>${moves.map((move) => {
    const one = described(move.feature);
    return html`<li key=${move.feature}>${nameText(one)}: ${valueText(one, move.before)} → ${valueText(one, move.after)}</li>`;
  })}</ul>`;
}

const ROWS = [
  ["Starts from", ({ person }) => personText(person)],
  ["Decision", ({ outcome: { after } }) => html`<strong>${short(after.label)}</strong>, ${percent(after.probability)} for ${short(after.target_label)}`],
  ["Changed by hand", ({ outcome: { changes } }) => html`<${Moves} moves=${changes} none="nothing" />`],
  ["Expected to follow", ({ outcome: { consequences } }) => html`<${Moves} moves=${consequences} none="nothing" />`],
  ["Rules and limits that break", ({ outcome: { broken } }) => (broken.length
    ? html`<ul>${broken.map((rule) => html`<li>${rule}</li>`)}</ul>`
    : html`<span class="small">none</span>`)],
];

function Name({ scenario }) {
  return html`<input class="control" aria-label="Name of the scenario" maxlength="80" value=${scenario.name}
    onChange=${(event) => rename(scenario.key, event.target.value.trim() || scenario.name)} />`;
}

export function Scenarios() {
  if (!scenarios.value.length) return null;
  return html`<div class="scenarios">
    <h3>Scenarios side by side</h3>
    <div class="scrolls" tabindex="0" role="group" aria-label="Scenarios side by side">
      <table>
        <thead><tr><th scope="col"><span class="unseen">What is compared</span></th>
          ${scenarios.value.map((one) => html`<th scope="col" key=${one.key}><${Name} scenario=${one} /></th>`)}</tr></thead>
        <tbody>
          ${ROWS.map(([name, cell]) => html`<tr key=${name}><th scope="row">${name}</th>
            ${scenarios.value.map((one) => html`<td key=${one.key}>${cell(one)}</td>`)}</tr>`)}
          <tr><th scope="row"><span class="unseen">What to do with it</span></th>
            ${scenarios.value.map((one) => html`<td key=${one.key}><span class="buttons">
              <button type="button" class="little" aria-label=${`Edit ${one.name} again`} onClick=${() => edit(one)}>Edit again</button>
              <button type="button" class="little" aria-label=${`Remove ${one.name}`} onClick=${() => drop(one.key)}>Remove</button></span></td>`)}</tr>
        </tbody>
      </table>
    </div>
  </div>`;
}
