// What can be taken along: the report, a letter, the data, and a link to this view.
import { cohort } from "../cohort/state.js";
import { plural } from "../core/formats.js";
import { answer, screen, view } from "../core/state.js";
import { html, signal, useRef, useState } from "../vendor/interface.js";
import { save } from "./download.js";
import { openAddress, savedAddress } from "./link.js";

const FILES = [
  { key: "report", label: "Report" },
  { key: "letter", label: "Letter draft" },
  { key: "json", label: "JSON" },
  { key: "csv", label: "csv" },
];
const busy = signal(null);
const told = signal(null); // {record, good, text, address}: how the last thing turned out, beside its buttons
const linkProblem = signal(null); // why the link of the address could not be opened

async function take(record, key) {
  busy.value = key;
  told.value = null;
  try {
    const name = await save(`explanations/${encodeURIComponent(record)}/${key}`, { view: view.peek() });
    told.value = { record, good: true, text: `Saved as ${name}.` };
  } catch (error) {
    told.value = { record, good: false, text: error.message };
  }
  busy.value = null;
}

async function copyLink(record) {
  busy.value = "link";
  told.value = null;
  try {
    const address = await savedAddress();
    history.replaceState(null, "", address);
    const copied = await navigator.clipboard.writeText(address).then(() => true, () => false);
    const text = copied ? "The link is copied. It holds an id, no values." : "Copy this link; it holds an id, no values:";
    told.value = { record, good: true, text, address };
  } catch (error) {
    told.value = { record, good: false, text: error.message };
  }
  busy.value = null;
}

function Notice({ record }) {
  if (told.value?.record !== record) return null;
  const { good, text, address } = told.value;
  return html`<div class=${good ? "sharing-notice" : "sharing-notice error"} role=${good ? "status" : "alert"}>
    <span>${text}</span>
    ${address && html`<input class="control" readonly aria-label="Link to this view" value=${address} onFocus=${(event) => event.target.select()} />`}
    <button type="button" onClick=${() => { told.value = null; }}>Close</button></div>`;
}

// Why the link of the address could not be opened, above everything.
export function LinkNotice() {
  if (!linkProblem.value) return null;
  return html`<div class="sharing-notice error link-notice" role="alert"><span>${linkProblem.value}</span>
    <button type="button" onClick=${() => { linkProblem.value = null; }}>Close</button></div>`;
}

function BackToMany() {
  const isOfMany = screen.value === "person" && cohort.value && cohort.value.record === answer.value?.record;
  if (!isOfMany) return null;
  return html`<button type="button" onClick=${() => { screen.value = "many"; }}>← Back to the ${plural(cohort.value.table.n_rows, "person", "people")}</button>`;
}

// What can be saved of a record, folded behind one button.
function Export({ record }) {
  const [open, setOpen] = useState(false);
  const button = useRef(null);
  const close = () => setOpen(false);
  const leave = (event) => {
    if (!event.currentTarget.contains(event.relatedTarget)) close();
  };
  const keys = (event) => {
    if (event.key !== "Escape" || !open) return;
    close();
    button.current.focus();
  };
  const choose = (key) => {
    close();
    button.current.focus();
    take(record, key);
  };
  return html`<div class="export" onFocusOut=${leave} onKeyDown=${keys}>
    <button type="button" ref=${button} aria-expanded=${String(open)} disabled=${busy.value !== null} onClick=${() => setOpen(!open)}>Export</button>
    ${open && html`<ul class="export-files">${FILES.map((file) => html`<li key=${file.key}>
      <button type="button" onClick=${() => choose(file.key)}>${file.label}</button></li>`)}</ul>`}
  </div>`;
}

// The buttons above an answer: that of one person, or of the record that is named.
export function Sharing({ record = answer.value?.record ?? null }) {
  return html`<div class="sharing">
    <div class="buttons" role="group" aria-label="Take along">
      <${BackToMany} />
      ${record && html`<${Export} record=${record} />`}
      <button type="button" disabled=${busy.value !== null} onClick=${() => copyLink(record)}>Copy link</button>
    </div>
    <${Notice} record=${record} />
  </div>`;
}

// Opens what the address of the page names; resolves to whether it named anything.
export async function restoreFromAddress() {
  const named = location.hash.startsWith("#view=");
  linkProblem.value = await openAddress();
  return named;
}

addEventListener("hashchange", restoreFromAddress);
