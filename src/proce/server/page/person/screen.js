// One person: who, what was decided, what may change, and the answer.
import { html, useEffect, useState } from "../vendor/interface.js";
import { answer, panel, person } from "../core/state.js";
import { AnswerArea } from "../answer/area.js";
import { StartCard } from "../answer/start.js";
import { Limits } from "../limits/panel.js";
import { DecisionCard } from "./decision.js";
import { keepFocus } from "../core/live.js";
import { keepDecided, personText } from "./pick.js";
import { Picker } from "./picker.js";
import { Profile } from "./profile.js";

export function PersonScreen() {
  useEffect(keepDecided, []);
  useEffect(() => keepFocus(".who"), [person.value]);
  if (person.value === null) {
    return html`<div class="choose">
      <h1>Who is it about?</h1>
      <p class="lead">Choose a person to see what the model decided, and what would have changed it.</p>
      <${Picker} isWide=${true} />
    </div>`;
  }
  return html`<div class="person">
    <${Rail} />
    <div class="case">
      <h1 class="who" tabindex="-1">${personText(person.value)}</h1>
      <${DecisionCard} />
      <${StartCard} />
      <${Limits} />
    </div>
    <${AnswerArea} />
    ${showsProfile() && html`<${Profile} />`}
  </div>`;
}

// Without an answer the values stand in its place.
const showsProfile = () => answer.value !== null || panel.value === "causes" || panel.value === "what-if";

// Beside the case where there is room; folded above it where there is not.
function Rail() {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [person.value]);
  return html`<section class=${open ? "rail open" : "rail"} aria-label="Choose a person">
    <button type="button" class="rail-toggle" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>
      Choose another person</button>
    <div class="rail-body"><${Picker} isWide=${false} /></div>
  </section>`;
}
