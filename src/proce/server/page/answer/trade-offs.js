import { html } from "../vendor/interface.js";
export function TradeOffs() { return html`<p class="empty">…</p>`; }
