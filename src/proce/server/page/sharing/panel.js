// What can be taken along: the report, a letter, the data, and a link to this view.
import { answer, view } from "../core/state.js";
import { say } from "../core/live.js";
import { html, signal } from "../vendor/interface.js";
import { save } from "./download.js";
import { openAddress, savedAddress } from "./link.js";

const FILES = [
  { key: "report", label: "Report" },
  { key: "letter", label: "Letter draft" },
  { key: "json", label: "JSON" },
  { key: "csv", label: "csv" },
];
const busy = signal(null);
const told = signal(null); // {good, text, address}

async function take(record, key) {
  busy.value = key;
  told.value = null;
  try {
    const name = await save(`explanations/${encodeURIComponent(record)}/${key}`, { view: view.peek() });
    told.value = { good: true, text: `Saved as ${name}.` };
  } catch (error) {
    told.value = { good: false, text: error.message };
  }
  busy.value = null;
}

export async function copyLink() {
  busy.value = "link";
  told.value = null;
  try {
    const address = await savedAddress();
    history.replaceState(null, "", address);
    const copied = await navigator.clipboard.writeText(address).then(() => true, () => false);
    told.value = { good: true, text: copied ? "The link is copied. It holds an id, no values." : "Copy this link; it holds an id, no values:", address };
    say(told.value.text);
  } catch (error) {
    told.value = { good: false, text: error.message };
  }
  busy.value = null;
}

// Says how a link or a file turned out, and why a link could not be opened.
export function SharingNotice() {
  if (!told.value) return null;
  const { good, text, address } = told.value;
  return html`<div class=${good ? "sharing-notice" : "sharing-notice error"} role=${good ? "status" : "alert"}>
    <span>${text}</span>
    ${address && html`<input class="control" readonly aria-label="Link to this view" value=${address} onFocus=${(event) => event.target.select()} />`}
    <button type="button" class="little" onClick=${() => { told.value = null; }}>Close</button></div>`;
}

// The buttons above an answer: that of one person, or of the record that is named.
export function Sharing({ record = answer.value?.record }) {
  return html`<div class="sharing">
    <div class="buttons" role="group" aria-label="Take along">
      ${record && FILES.map((file) => html`<button type="button" key=${file.key} disabled=${busy.value !== null}
        onClick=${() => take(record, file.key)}>${file.label}</button>`)}
      <button type="button" disabled=${busy.value !== null} onClick=${copyLink}>Copy link</button>
    </div>
    <${SharingNotice} />
  </div>`;
}

// Opens what the address of the page names; resolves to whether it named anything.
export async function restoreFromAddress() {
  const named = location.hash.startsWith("#view=");
  const reason = await openAddress();
  if (reason) told.value = { good: false, text: reason };
  return named;
}
