import { html } from "../vendor/interface.js";

export function Causes() {
  return html`<p class="empty">Not there yet.</p>`;
}
