// Which rows are listed: by prediction, by values, by a rule; and in which order.
import { html, useEffect, useState } from "../vendor/interface.js";
import { control } from "../core/controls.js";
import { nameText, ruleName } from "../core/formats.js";
import { RuleProblem, checkSoon } from "../core/rules.js";
import { schema } from "../core/state.js";
import { ask, asked } from "./listing.js";

const COMPARISONS = [["==", "is"], ["!=", "is not"], ["<", "is below"], ["<=", "is at most"], [">", "is above"], [">=", "is at least"]];

export function Filters({ error }) {
  const { prediction, sort, descending } = asked.value;
  const { classes, features } = schema.value;
  const at = classes.findIndex((one) => one.value === prediction);
  return html`<div class="filters">
    <label class="field"><span>Decision</span>
      <select class="control" value=${String(at)} onChange=${(event) => ask({ prediction: classes[Number(event.target.value)]?.value ?? "" })}>
        <option value="-1">all</option>
        ${classes.map((one, index) => html`<option value=${String(index)}>${one.label}</option>`)}
      </select></label>
    <label class="field"><span>Order</span>
      <select class="control" value=${sort} onChange=${(event) => ask({ sort: event.target.value, descending: false })}>
        <option value="">as in the file</option>
        <option value="probability">how sure</option>
        ${features.map((one) => html`<option value=${one.name}>${nameText(one)}</option>`)}
      </select></label>
    ${sort && html`<button type="button" class="direction" onClick=${() => ask({ descending: !descending })}>${descending ? "highest first" : "lowest first"}</button>`}
    <details class="by-value">
      <summary>Filter by value</summary>
      <${ByValue} />
      <${Where} error=${error} />
    </details>
  </div>`;
}

// One comparison put together by choosing; it is added to the rule below it.
function ByValue() {
  const { features } = schema.value;
  const [name, setName] = useState(features[0].name);
  const [sign, setSign] = useState("==");
  const [value, setValue] = useState(null);
  const feature = features.find((one) => one.name === name) ?? features[0];
  useEffect(() => {
    setValue(feature.typical);
    setSign(feature.levels ? "==" : ">=");
  }, [feature]);
  const signs = feature.type === "categorical" ? COMPARISONS.slice(0, 2) : COMPARISONS;
  const add = () => {
    const one = `${ruleName("x", feature.name)} ${sign} ${typeof value === "string" ? JSON.stringify(value) : value}`;
    const { where } = asked.value;
    ask({ where: where.trim() ? `${where.trim()} and ${one}` : one });
  };
  return html`<div class="by-value-row">
    <select class="control" aria-label="Feature" value=${name} onChange=${(event) => setName(event.target.value)}>
      ${features.map((one) => html`<option value=${one.name}>${nameText(one)}</option>`)}</select>
    <select class="control" aria-label="Comparison" value=${sign} onChange=${(event) => setSign(event.target.value)}>
      ${signs.map(([text, words]) => html`<option value=${text}>${words}</option>`)}</select>
    ${control(feature, value, setValue, { id: "filter-value" })}
    <label class="unseen" for="filter-value">Value</label>
    <button type="button" disabled=${value === null} onClick=${add}>Add</button>
  </div>`;
}

// The rule is looked at before rows are asked for, so that its error has a place.
function Where({ error }) {
  const [text, setText] = useState(asked.value.where);
  const [verdict, setVerdict] = useState(null);
  useEffect(() => setText(asked.value.where), [asked.value.where]);
  useEffect(() => {
    const typed = text.trim();
    if (typed === "" || typed === asked.value.where) {
      setVerdict(null);
      if (typed !== asked.value.where) ask({ where: typed });
      return undefined;
    }
    return checkSoon([typed], ({ [typed]: found }) => {
      setVerdict(found);
      if (found.ok) ask({ where: typed });
    });
  }, [text]);
  const isWrong = verdict && !verdict.ok;
  const problem = isWrong ? verdict.error : error;
  return html`<div class="field">
    <label for="where">Rule</label>
    <input id="where" class="control code" type="text" spellcheck=${false} autocomplete="off" value=${text}
      placeholder=${`${ruleName("x", schema.value.features[0].name)} …`} aria-describedby="where-note" aria-invalid=${problem ? "true" : undefined}
      onInput=${(event) => setText(event.target.value)} />
    <div id="where-note" role=${problem ? "alert" : undefined}>${problem
      ? html`<${RuleProblem} text=${text.trim()} verdict=${isWrong ? verdict : { error }} />`
      : html`<p class="small">Names stand behind x. and levels in quotes; join with and, or, not.</p>`}</div>
  </div>`;
}
