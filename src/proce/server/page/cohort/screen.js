// Many people at once: choose, explain, compare, and go on to any single case.
import { ErrorBox } from "../core/controls.js";
import { session } from "../core/state.js";
import { Sharing } from "../sharing/panel.js";
import { html } from "../vendor/interface.js";
import { Choice } from "./choice.js";
import { Result } from "./result.js";
import { cohort, isBusy, problem } from "./state.js";

export function Cohort() {
  return html`<div class="cohort">
    <h1>Many people</h1>
    <p class="lead">Explain many decisions at once: which changes are advised how often, and what they cost whom.</p>
    ${session.value?.has_rows ? html`<${Choice} />`
      : html`<p class="empty">This service has no file of rows. Start it with --rows to explain many people at once.</p>`}
    <${ErrorBox} error=${problem.value} />
    ${cohort.value && !isBusy.value && html`<${Sharing} record=${cohort.value.record} /><${Result} />`}
  </div>`;
}
