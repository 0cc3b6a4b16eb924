import { html } from "../vendor/interface.js";

export function Log() {
  return html`<p class="empty">Not there yet.</p>`;
}
