// Three ways to choose a person: a list, a pasted line, a form.
import { html, signal } from "../vendor/interface.js";
import { Tabs } from "../core/controls.js";
import { session } from "../core/state.js";
import { Form } from "./form.js";
import { List } from "./list.js";
import { Paste } from "./paste.js";

const way = signal("list");

export function Picker({ isWide }) {
  const tabs = [
    ...(session.value?.has_rows ? [{ key: "list", label: "List" }] : []),
    { key: "form", label: "Form" },
    { key: "paste", label: "Paste" },
  ];
  const at = tabs.some((tab) => tab.key === way.value) ? way.value : "form";
  return html`<div class=${isWide ? "picker wide" : "picker"}>
    <${Tabs} label="How to choose a person" name="picker" tabs=${tabs} value=${at} onChoose=${(key) => { way.value = key; }} />
    <div role="tabpanel" id="picker-panel" aria-labelledby=${`picker-tab-${at}`}>
      ${at === "list" ? html`<${List} isWide=${isWide} />` : at === "form" ? html`<${Form} />` : html`<${Paste} />`}
    </div>
  </div>`;
}
