// The right control for a feature, and the small parts that every panel uses.
import { html, useRef, useState } from "../vendor/interface.js";
import { oneLine, short } from "./formats.js";

// A control for one value of a feature; null is a missing value. `options` has id, describedBy,
// invalid, disabled, hint.
export function control(feature, value, onInput, options = {}) {
  const shared = {
    id: options.id, "aria-describedby": options.describedBy, "aria-invalid": options.invalid ? "true" : undefined,
    disabled: options.disabled, placeholder: options.hint,
  };
  if (feature.levels) return html`<${LevelControl} ...${{ feature, value, onInput, shared }} />`;
  return html`<${NumberControl} ...${{ feature, value, onInput, shared }} />`;
}

function LevelControl({ feature, value, onInput, shared }) {
  const position = feature.levels.findIndex((level) => level.value === value);
  const isStrange = value !== null && value !== undefined && position < 0;
  const choose = (event) => {
    const found = feature.levels[Number(event.target.value)];
    onInput(found ? found.value : null);
  };
  return html`<select ...${shared} class="control" value=${String(position)} onChange=${choose}>
    ${(feature.may_miss || position < 0) && html`<option value="-1">${isStrange ? oneLine(String(value)) : feature.may_miss ? "missing" : "choose…"}</option>`}
    ${feature.levels.map((level, index) => html`<option value=${String(index)}>${short(level.label)}</option>`)}
  </select>`;
}

function NumberControl({ feature, value, onInput, shared }) {
  const [draft, setDraft] = useState(null);
  // What is being typed is shown as it is typed, unless the value was changed meanwhile by something else.
  const isTyped = draft !== null && (draft.trim() === "" ? value === null : Number(draft) === value);
  const shown = isTyped ? draft : value === null || value === undefined ? "" : String(value);
  const type = (event) => {
    const text = event.target.value;
    setDraft(text);
    if (text.trim() === "") onInput(null);
    else if (Number.isFinite(Number(text))) onInput(Number(text));
  };
  const [low, high] = feature.range ?? [undefined, undefined];
  return html`<span class="with-unit"><input ...${shared} class="control number" type="number" inputmode="decimal"
    value=${shown} onInput=${type} onBlur=${() => setDraft(null)} min=${low} max=${high}
    step=${feature.step ?? "any"} placeholder=${shared.placeholder ?? (feature.may_miss ? "missing" : undefined)} />
    ${feature.unit && html`<span class="unit" aria-hidden="true">${feature.unit}</span>`}</span>`;
}

// One of few: a row of buttons of which one is pressed.
export function Segments({ label, options, value, onChoose }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map((one) => html`<button type="button" key=${one.value} aria-pressed=${String(one.value === value)}
      title=${one.title} onClick=${() => onChoose(one.value)}>${one.label}</button>`)}
  </div>`;
}

// Tabs with their panel, moved through by the arrow keys.
export function Tabs({ label, tabs, value, onChoose, name }) {
  const list = useRef(null);
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex((tab) => tab.key === value);
    const ends = { Home: 0, End: tabs.length - 1 };
    const next = step ? (at + step + tabs.length) % tabs.length : ends[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(tabs[next].key);
    list.current.children[next].focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} ref=${list} onKeyDown=${move}>
    ${tabs.map((tab) => html`<button type="button" role="tab" key=${tab.key} id=${`${name}-tab-${tab.key}`}
      aria-selected=${String(tab.key === value)} aria-controls=${tab.key === value ? `${name}-panel` : undefined}
      tabindex=${tab.key === value ? 0 : -1} onClick=${() => onChoose(tab.key)}>${tab.label}${tab.count
        ? html`<span class="count">${tab.count}</span>` : ""}</button>`)}
  </div>`;
}

export function ErrorBox({ error, children }) {
  if (!error) return null;
  const [first, ...others] = error.fields ?? [];
  const isSaid = first && others.length === 0 && error.message.includes(first.message);
  const fields = isSaid ? [] : error.fields ?? [];
  return html`<div class="error" role="alert"><p>${isSaid ? first.message : error.message}</p>
    ${fields.length > 0 && html`<ul>${fields.slice(0, 8).map((one) => html`<li><code>${short(one.field)}</code> ${one.message}</li>`)}</ul>`}
    ${children}</div>`;
}

// Shown while something is fetched.
export function Skeleton({ lines = 6 }) {
  return html`<div class="skeleton" role="status"><span class="unseen">Loading</span>
    ${Array.from({ length: lines }, () => html`<span aria-hidden="true"></span>`)}</div>`;
}
