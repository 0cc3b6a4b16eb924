// What causes what: the graph drawn, as a list and as text, to be read and edited, and explained with.
import { start } from "../answer/run.js";
import { ErrorBox, Tabs } from "../core/controls.js";
import { plural } from "../core/formats.js";
import { historyKey } from "../core/history.js";
import { answer, person, schema, session, view } from "../core/state.js";
import { html, signal, useEffect } from "../vendor/interface.js";
import { AddArrow, ArrowTools, Arrows } from "./arrows.js";
import { Drawing } from "./drawing.js";
import { sameEdges, without } from "./edges.js";
import {
  doAgain, edges, edited, history, load, loadedView, original, originalEdges, problem, remove, reset, selected, takeBack,
  textProblem,
} from "./state.js";
import { GraphText } from "./text.js";

const side = signal("arrows");
const SIDES = [{ key: "arrows", label: "Arrows" }, { key: "text", label: "Text" }];

// Ctrl+Z and its kin, except where text is typed: there they belong to the text.
function keys(event) {
  if (event.target.matches("textarea, input")) return;
  const asked = historyKey(event);
  if (asked) {
    event.preventDefault();
    (asked === "undo" ? takeBack : doAgain)();
  } else if (event.key === "Delete" && selected.value?.edge) {
    event.preventDefault();
    remove(selected.value.edge);
  }
}

// Whether the answer on the page was found with the graph that is shown.
function answerState() {
  const used = answer.value?.ways?.graph;
  if (!used) return null;
  if (!sameEdges(used.edges, edges.value)) return "The answer on this page was found with another graph than the one shown here.";
  return used.edited ? "The answer on this page was found with this edited graph." : null;
}

function Head() {
  const { past, future } = history.value;
  const state = answerState();
  return html`<header class="causes-head">
    <div><h3>What causes what ${edited.value && html`<span class="tag">edited</span>`}</h3>
      <p class="small">${original.value.words}${edited.value ? ` ${differences()}` : ""}</p></div>
    <div class="buttons">
      <button type="button" disabled=${!past.length} onClick=${takeBack}>Undo</button>
      <button type="button" disabled=${!future.length} onClick=${doAgain}>Redo</button>
      <button type="button" disabled=${!edited.value} onClick=${reset}>Back to the original</button>
      <button type="button" class="primary" disabled=${!person.value || Boolean(textProblem.value)} onClick=${start}>Explain again with this graph</button>
    </div>
    ${state && html`<p class="causes-state" role="status">${state}</p>`}
  </header>`;
}

function differences() {
  const before = originalEdges.value;
  const added = without(edges.value, before).length;
  const removed = without(before, edges.value).length;
  return `You added ${plural(added, "arrow")} and removed ${removed}. Only the equations of their effects are fitted again.`;
}

export function Causes() {
  useEffect(() => {
    if (loadedView.peek() !== view.value) load();
  }, [view.value, session.value]);
  if (problem.value) return html`<${ErrorBox} error=${problem.value}><button type="button" onClick=${load}>Try again</button><//>`;
  if (!original.value || !schema.value) return html`<p class="small" role="status">The graph is being fetched…</p>`;
  if (!original.value.origin && !edges.value.length && !original.value.can_edit) {
    return html`<p>This explainer has no causal graph: every feature is taken to move on its own.</p>`;
  }
  return html`<section class="causes" aria-label="Causes" onKeyDown=${keys}>
    <${Head} />
    <div class="causes-body">
      <${Drawing} Tools=${ArrowTools} />
      <div class="causes-side">
        ${original.value.can_edit && html`<${AddArrow} />`}
        <${Tabs} label="The graph in words" name="graph-side" tabs=${SIDES} value=${side.value} onChoose=${(key) => { side.value = key; }} />
        <div role="tabpanel" id="graph-side-panel" aria-labelledby=${`graph-side-tab-${side.value}`}>
          ${side.value === "arrows" ? html`<${Arrows} />` : html`<${GraphText} />`}
        </div>
      </div>
    </div>
  </section>`;
}
