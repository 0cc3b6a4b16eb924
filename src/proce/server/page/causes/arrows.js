// The arrows as a list with buttons: all of the drawing, without a pointer.
import { nameText } from "../core/formats.js";
import { say } from "../core/live.js";
import { schema } from "../core/state.js";
import { html, signal, useId } from "../vendor/interface.js";
import { causesOf, obstacle, reversalObstacle } from "./edges.js";
import { add, edges, isNew, label, lost, moves, original, remove, reverse } from "./state.js";
import { arrowText, equationText, kindWord, moveText } from "./words.js";

const refusal = signal(null);
const chosenCause = signal("");
const chosenEffect = signal("");

function tryReverse(edge) {
  refusal.value = reversalObstacle(edges.peek(), edge, label);
  if (refusal.value) return;
  reverse(edge);
  say(`${label(edge[1])} → ${label(edge[0])} now.`);
}

function take(edge) {
  refusal.value = null;
  remove(edge);
  say(`${label(edge[0])} → ${label(edge[1])} is removed.`);
}

function tryAdd(edge) {
  refusal.value = obstacle(edges.peek(), edge, label);
  if (refusal.value) return;
  add(edge);
  say(`${label(edge[0])} → ${label(edge[1])} is added.`);
}

// The two things that can be done to an arrow.
export function ArrowTools({ edge }) {
  const words = `${label(edge[0])} → ${label(edge[1])}`;
  return html`<button type="button" class="little" aria-label=${`Reverse ${words}`} onClick=${() => tryReverse(edge)}>Reverse</button>
    <button type="button" class="little" aria-label=${`Remove ${words}`} onClick=${() => take(edge)}>Remove</button>`;
}

function Choice({ name, value }) {
  const id = useId();
  return html`<div class="field"><label for=${id}>${name}</label>
    <select id=${id} class="control" value=${value.value} onChange=${(event) => { value.value = event.target.value; }}>
      <option value="">choose…</option>
      ${schema.value.features.map((feature, index) => html`<option value=${String(index)}>${nameText(feature)}</option>`)}
    </select></div>`;
}

const nameAt = (position) => (position === "" ? null : schema.value.features[Number(position)].name);

export function AddArrow() {
  const submit = (event) => {
    event.preventDefault();
    tryAdd([nameAt(chosenCause.value), nameAt(chosenEffect.value)]);
  };
  return html`<form class="add-arrow" onSubmit=${submit}>
    <${Choice} name="Cause" value=${chosenCause} /><${Choice} name="Effect" value=${chosenEffect} />
    <button type="submit">Add the arrow</button>
    ${refusal.value && html`<p class="problem" role="alert">${refusal.value}</p>`}
  </form>`;
}

function Effect({ feature }) {
  const causes = causesOf(edges.value, feature.name);
  const change = moves.value.get(feature.name);
  return html`<li class="effect">
    <h4>${nameText(feature)} ${change && html`<span class=${`kind kind-${change.kind}`}>${kindWord(change.kind)}: ${moveText(change)}</span>`}</h4>
    <p class="small">${equationText(original.value, feature.name, causes)}</p>
    <ul class="arrows">${causes.map((cause) => {
      const edge = [cause, feature.name];
      return html`<li key=${cause}><span class="arrow">${label(cause)} → ${nameText(feature)}
        <span class="small">${arrowText(original.value, edge, isNew(edge))}</span></span>
        <span class="buttons"><${ArrowTools} edge=${edge} /></span></li>`;
    })}</ul>
  </li>`;
}

export function Arrows() {
  const effects = schema.value.features.filter(({ name }) => causesOf(edges.value, name).length);
  return html`<div class="arrow-list" tabindex="0" role="group" aria-label="List of arrows">
    ${effects.length === 0 && html`<p>No arrows: nothing follows from anything else.</p>`}
    <ul class="effects">${effects.map((feature) => html`<${Effect} key=${feature.name} feature=${feature} />`)}</ul>
    ${lost.value.length > 0 && html`<h4>Removed from the original</h4>
      <ul class="arrows">${lost.value.map((edge) => html`<li key=${edge.join("\n")}><s class="arrow">${label(edge[0])} → ${label(edge[1])}</s>
        <span class="buttons"><button type="button" class="little" aria-label=${`Put back ${label(edge[0])} → ${label(edge[1])}`}
          onClick=${() => tryAdd(edge)}>Put back</button></span></li>`)}</ul>`}
  </div>`;
}
