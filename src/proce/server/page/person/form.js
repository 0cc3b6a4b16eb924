// A form with the right control for every feature: for a new person, or over the chosen one.
import { html, useState } from "../vendor/interface.js";
import { control } from "../core/controls.js";
import { nameText, numberText, plural, withUnit } from "../core/formats.js";
import { person, schema } from "../core/state.js";
import { decisionError, editPerson, personText, pickValues } from "./pick.js";

export function Form() {
  const { features, withheld } = schema.value;
  const base = person.value;
  const [typed, setTyped] = useState({ base, values: {} });
  const own = typed.base === base ? typed.values : {}; // what was typed over somebody else is gone
  const values = { ...(base ? base.values : typicalValues(features)), ...own };
  const set = (name, value) => setTyped({ base, values: { ...own, [name]: value } });
  const changed = base ? features.filter((one) => values[one.name] !== base.values[one.name]) : features;
  const missing = features.filter((one) => !one.may_miss && (values[one.name] ?? null) === null);
  const use = (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(features.map((one) => [one.name, values[one.name] ?? null]));
    if (base?.row === null || base === null) pickValues(typed);
    else editPerson(Object.fromEntries(changed.map((one) => [one.name, typed[one.name]])));
  };
  const isIncomplete = withheld > 0 && (base === null || base.row === null);
  return html`<form class="values-form" onSubmit=${use}>
    <p class="small">${base ? `Starts from ${personText(base)}.` : "Starts from what is typical in the training data."}
      ${isIncomplete && ` This view hides ${plural(withheld, "feature")} that the model uses: start from a row of the list, or use the auditor's view.`}</p>
    <div class="fields">${features.map((one, index) => html`<${Field} key=${one.name} feature=${one} index=${index}
      value=${values[one.name] ?? null} onInput=${(value) => set(one.name, value)} />`)}</div>
    <p class="form-end"><button type="submit" disabled=${missing.length > 0 || changed.length === 0}>Use these values</button>
      ${missing.length > 0 && html`<span class="small">${plural(missing.length, "value")} still missing: ${nameText(missing[0])}</span>`}</p>
  </form>`;
}

const typicalValues = (features) => Object.fromEntries(features.map((one) => [one.name, one.typical]));

function Field({ feature, index, value, onInput }) {
  const id = `form-${index}`;
  const problem = decisionError.value?.about?.(`row.${feature.name}`);
  return html`<div class="field">
    <label for=${id}>${nameText(feature)}</label>
    ${control(feature, value, onInput, { id, describedBy: `${id}-note`, invalid: Boolean(problem) })}
    <p id=${`${id}-note`} class=${problem ? "problem" : "small"}>${problem ?? note(feature)}</p>
  </div>`;
}

function note(feature) {
  const parts = [];
  if (feature.seen && !feature.levels) {
    const [low, high] = feature.seen.map((one) => numberText(one, feature.step));
    parts.push(`seen: ${low} to ${withUnit(high, feature.unit)}`);
  }
  if (feature.may_miss) parts.push("may be missing");
  return parts.join("; ");
}
