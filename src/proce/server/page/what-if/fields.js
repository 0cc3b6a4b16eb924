// Every value of the person with its control: what was typed, what follows, what stayed.
import { control } from "../core/controls.js";
import { nameText, valueText } from "../core/formats.js";
import { person, schema } from "../core/state.js";
import { html, useId } from "../vendor/interface.js";
import { change, changes, lack, outcome, problem, release, stopTyping } from "./state.js";

// What has become of a feature: "held" by hand, "follows" from others, or "same".
export function stateOf(name) {
  if (Object.hasOwn(changes.value, name)) return "held";
  return outcome.value?.consequences.some((one) => one.feature === name) ? "follows" : "same";
}

function valueOf(name) {
  if (Object.hasOwn(changes.value, name)) return changes.value[name];
  const following = outcome.value?.consequences.find((one) => one.feature === name);
  return following ? following.after : person.value.values[name];
}

const STATE_WORDS = { held: "set by you", follows: "follows", same: "" };

function Field({ feature }) {
  const id = useId();
  const { name } = feature;
  const state = stateOf(name);
  const before = person.value.values[name];
  const wrong = (state === "held" && lack(name, changes.value[name])) || problem.value?.about?.(`changes.${name}`) || null;
  return html`<li class=${`what-field is-${state}`}>
    <label for=${id}>${nameText(feature)}</label>
    <div class="what-control" onFocusOut=${stopTyping}>${control(feature, valueOf(name), (value) => change(name, value), {
      id, describedBy: `${id}-state`, invalid: wrong !== null,
    })}</div>
    <p class="what-state" id=${`${id}-state`}>
      ${state !== "same" && html`<span class=${`kind kind-${state === "held" ? "action" : "consequence"}`}>${STATE_WORDS[state]}</span>
        <span class="small"> was ${valueText(feature, before)}</span>`}
      ${wrong && html`<span class="problem">${wrong}</span>`}
    </p>
    ${state === "held" && html`<button type="button" class="little" onClick=${() => release(name)}
      aria-label=${`Let ${nameText(feature)} be as before`}>Let go</button>`}
    ${state === "follows" && html`<button type="button" class="little" onClick=${() => { change(name, before); stopTyping(); }}
      aria-label=${`Hold ${nameText(feature)} at ${valueText(feature, before)}`}>Hold</button>`}
  </li>`;
}

export function Fields() {
  return html`<ul class="what-fields">${schema.value.features.map((feature) => html`<${Field} key=${feature.name} feature=${feature} />`)}</ul>`;
}
