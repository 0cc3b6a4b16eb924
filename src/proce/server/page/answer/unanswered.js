// What stands in the place of an answer before there is one.
import { html } from "../vendor/interface.js";
import { decision, run, schema, wanted } from "../core/state.js";
import { short } from "../core/formats.js";
import { Profile } from "../person/profile.js";

export function Unanswered() {
  const { target_label: target, prediction } = decision.value ?? {};
  const isReached = wanted.value !== null && prediction === wanted.value;
  const isUnknown = wanted.value === null && schema.value.classes.length > 2;
  const isBusy = run.value.state === "starting" || run.value.state === "running";
  return html`<div class="unanswered">
    ${!isBusy && !isReached && !isUnknown && html`<p class="hint">${target ? `Start the search to see the nearest ways to ${short(target, 40)}.` : "Start the search to see the nearest ways."} Nothing needs to be set.</p>`}
    <${Profile} />
  </div>`;
}
