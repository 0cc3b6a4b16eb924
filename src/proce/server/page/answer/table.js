import { html } from "../vendor/interface.js";
export function Table() { return html`<p class="empty">…</p>`; }
