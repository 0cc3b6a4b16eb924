import { html } from "../vendor/interface.js";

// Exports and the link, above the answer.
export function Sharing() {
  return html``;
}

// Opens what the address of the page names; resolves to whether it named anything.
export async function restoreFromAddress() {
  return false;
}
