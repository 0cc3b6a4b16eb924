import { html } from "../vendor/interface.js";

export function WhatIf() {
  return html`<p class="empty">Not there yet.</p>`;
}
