// What changes in a way, as a small table: actions first, consequences indented under their causes.
import { html } from "../vendor/interface.js";
import { short } from "../core/formats.js";

const KINDS = { action: "to do", hold: "to keep", wait: "to wait for", consequence: "expected" };

export const kindWords = (kind) => KINDS[kind] ?? kind;
export const isByHand = (change) => change.kind !== "consequence";

export function Changes({ changes, label }) {
  return html`<table class="changes"><caption class="unseen">${label}</caption>
    <thead class="unseen"><tr><th scope="col">Feature</th><th scope="col">Before and after</th></tr></thead>
    <tbody>${changes.map((one) => html`<tr key=${one.feature} class=${one.kind}>
      <th scope="row" style=${{ paddingLeft: `${indent(one)}rem` }}>${one.kind === "consequence" && html`<span aria-hidden="true">↳ </span>`}${short(one.label)}
        <span class="kind-word">${kindWords(one.kind)}</span></th>
      <td class="number"><span class="before">${short(one.before_text, 30)}</span> <span aria-hidden="true">→</span><span class="unseen"> to </span> <strong>${short(one.after_text, 30)}</strong>
        ${one.interval_text && html`<span class="interval">today's model decides so between ${one.interval_text}${goesFurther(one) && "; the advice goes further, to keep a margin and be surer to work"}</span>`}</td>
    </tr>`)}</tbody>
  </table>`;
}

// Whether the advised value lies beyond the end of its interval that is nearer to the present value.
function goesFurther({ before, after, holds_from: from, holds_to: to }) {
  if (typeof before !== "number" || typeof after !== "number") return false;
  return after > before ? typeof from === "number" && after > from && from > before : typeof to === "number" && after < to && to < before;
}

const indent = (change) => Math.min(change.depth ?? (isByHand(change) ? 0 : 1), 4);

// The values that a person sets by hand, for the what-if panel.
export const byHand = (changes) => Object.fromEntries(changes.filter(isByHand).map((one) => [one.feature, one.after]));
