// The ways as cards: the recommended one, at most three more, the rest folded away.
import { html } from "../vendor/interface.js";
import { answer } from "../core/state.js";
import { OtherWay, Recommended } from "./card.js";
import { NotFound } from "./not-found.js";
import { Unanswered } from "./unanswered.js";

const MAX_OTHERS = 3;
const COUNT_OF_OTHERS = /^\d+ other ways? (was|were) found\.$/; // they are on the page
const SHARED = ["fixed", "note", "search", "caution"]; // said once for all ways

export function Ways() {
  if (answer.value === null) return html`<${Unanswered} />`;
  const { ways } = answer.value;
  if (ways.ways.length === 0) return html`<${NotFound} ways=${ways} />`;
  const [first, ...others] = ways.ways;
  const shown = others.slice(0, MAX_OTHERS);
  const folded = others.slice(MAX_OTHERS);
  return html`<div class="ways">
    ${ways.graph?.edited && html`<p class="note">This was found with an edited causal graph.</p>`}
    <${Recommended} way=${first} decision=${ways.decision} />
    <${Shared} ways=${ways.ways} kinds=${["caution"]} />
    ${shown.length > 0 && html`<h2>Other ways</h2>
      <div class="others">${shown.map((way) => html`<${OtherWay} key=${way.rank} way=${way} decision=${ways.decision} />`)}</div>`}
    ${folded.length > 0 && html`<details><summary>${folded.length} more</summary>
      <div class="others">${folded.map((way) => html`<${OtherWay} key=${way.rank} way=${way} decision=${ways.decision} />`)}</div></details>`}
    <${ToKnow} ways=${ways.ways} />
  </div>`;
}

const linesOf = (ways, kinds) => [...new Set(ways.flatMap((way) => way.lines.filter((line) => kinds.includes(line.kind)).map((line) => line.text)))];

function Shared({ ways, kinds }) {
  return linesOf(ways, kinds).map((text) => html`<p class="caution" key=${text}>${text}</p>`);
}

function ToKnow({ ways }) {
  const fixed = linesOf(ways, ["fixed"]);
  const notes = linesOf(ways, SHARED.filter((kind) => kind !== "fixed" && kind !== "caution"))
    .filter((text) => !COUNT_OF_OTHERS.test(text));
  if (fixed.length + notes.length === 0) return null;
  return html`<section class="card to-know" aria-label="To know">
    ${fixed.length > 0 && html`<h3>What was kept fixed</h3><ul>${fixed.map((text) => html`<li>${text}</li>`)}</ul>`}
    ${notes.length > 0 && html`<h3>To know</h3><ul>${notes.map((text) => html`<li>${text}</li>`)}</ul>`}
  </section>`;
}
