import { html } from "../vendor/interface.js";
export function Ways() { return html`<p class="empty">…</p>`; }
