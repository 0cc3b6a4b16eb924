// The decision and its probability as one picture, with words beside it.
import { html } from "../vendor/interface.js";
import { ErrorBox, Skeleton } from "../core/controls.js";
import { percent, percents, short } from "../core/formats.js";
import { answer, decision, limits } from "../core/state.js";
import { decisionError } from "./pick.js";

const MAX_CLASSES = 6;

export function DecisionCard() {
  return html`<section class="card decision" aria-labelledby="decision-title">
    <h2 id="decision-title">What was decided</h2>
    <${ErrorBox} error=${decisionError.value} />
    ${decision.value ? html`<${DecisionPicture} decision=${decision.value} />` : !decisionError.value && html`<${Skeleton} lines=${3} />`}
  </section>`;
}

// `decision` is that of the wire; `before` another one, whose place is marked for comparison.
export function DecisionPicture({ decision: now, before = null }) {
  const isThere = now.prediction === now.target;
  const target = short(now.target_label, 40);
  const hasLine = now.needed !== null; // of several classes the likeliest counts
  const [chance, line] = hasLine ? percents(now.probability, now.needed) : [percent(now.probability)];
  const needed = hasLine ? `decides from ${line} on` : "the likeliest counts";
  const words = isThere ? `The model says ${target} (${chance}).` : `The chance of ${target} is ${chance}; ${hasLine ? `the model ${needed}` : needed}.`;
  return html`<div class="picture">
    <p class="verdict"><span class="says">The model says</span> <strong>${short(now.label, 60)}</strong></p>
    <div class="bar" role="img" aria-label=${`${words}${before ? ` It was ${percent(before.probability)}.` : ""}`}>
      <span class="fill" style=${{ width: share(now.probability) }}></span>
      ${before && html`<span class="was" style=${{ left: share(before.probability) }}></span>`}
      ${hasLine && html`<span class="need" style=${{ left: share(now.needed) }}></span>`}
    </div>
    <div class="bar-words" aria-hidden="true">
      <span class="chance"><strong>${chance}</strong> for ${target}</span>
      <span class=${hasLine ? "needed marked" : "needed"}>${needed}</span>
    </div>
    ${margin(now)}
    ${now.probabilities.length > 2 && html`<${Classes} decision=${now} />`}
  </div>`;
}

// The model decides at the mark; ways were asked to pass it by a margin.
function margin(now) {
  if (limits.value.min_probability !== null) {
    return html`<p class="small">Ways were asked to reach at least ${percent(limits.value.min_probability)}.</p>`;
  }
  const asked = answer.value?.ways.decision;
  if (!asked || asked.target !== now.target || asked.needed === null || now.needed === null || asked.needed <= now.needed) return null;
  return html`<p class="small">Ways keep a margin: they reach at least ${percent(asked.needed)}.</p>`;
}

function Classes({ decision: now }) {
  const sorted = [...now.probabilities].sort((one, other) => other.probability - one.probability);
  return html`<table class="classes-table"><caption>Every class</caption><tbody>
    ${sorted.slice(0, MAX_CLASSES).map((one) => html`<tr key=${String(one.value)}>
      <th scope="row">${short(one.label, 30)}</th>
      <td class="mini"><span style=${{ width: share(one.probability) }}></span></td>
      <td class="number">${percent(one.probability)}</td></tr>`)}
  </tbody></table>`;
}

const share = (probability) => `${Math.min(100, Math.max(0, 100 * probability)).toFixed(2)}%`;
