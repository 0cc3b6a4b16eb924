// What stands in the place of an answer before there is one.
import { html } from "../vendor/interface.js";
import { decision, run } from "../core/state.js";
import { short } from "../core/formats.js";
import { Profile } from "../person/profile.js";

export function Unanswered() {
  const target = decision.value?.target_label;
  const isBusy = run.value.state === "starting" || run.value.state === "running";
  return html`<div class="unanswered">
    ${!isBusy && html`<p class="hint">${target ? `Start the search to see the nearest ways to ${short(target, 40)}.` : "Start the search to see the nearest ways."} Nothing needs to be set.</p>`}
    <${Profile} />
  </div>`;
}
