import { html } from "../vendor/interface.js";

export function Cohort() {
  return html`<p class="empty">Not there yet.</p>`;
}
