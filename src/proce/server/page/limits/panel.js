import { html } from "../vendor/interface.js";
export function Limits() { return html`<p></p>`; }
