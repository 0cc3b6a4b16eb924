// The graph that is looked at and edited: the original of the server, and every step since.

import { get, post } from "../core/api.js";
import { short } from "../core/formats.js";
import { advance, amend, begin, redo, undo } from "../core/history.js";
import { answer, chosen, feature, graphEdit, view } from "../core/state.js";
import { batch, computed, effect, signal } from "../vendor/interface.js";
import { addEdge, removeEdge, reverseEdge, sameEdges } from "./edges.js";

export const original = signal(null);
export const problem = signal(null);
export const history = signal(begin([]));
export const text = signal("");
export const textProblem = signal(null);
export const selected = signal(null); // {feature} | {edge} | null
export const loadedView = signal(null); // whose graph the original is

export const edges = computed(() => history.value.present);
export const originalEdges = computed(() =>
  (original.value?.edges ?? []).map(({ cause, effect: result }) => [cause, result]),
);
export const edited = computed(
  () => original.value !== null && !sameEdges(edges.value, originalEdges.value),
);
export const lost = computed(() =>
  originalEdges.value.filter(
    ([cause, result]) => !edges.value.some(([a, b]) => a === cause && b === result),
  ),
);
export const isNew = (edge) =>
  !originalEdges.value.some(([cause, result]) => cause === edge[0] && result === edge[1]);

// What the chosen way does to each feature: the change of the wire, by feature.
export const moves = computed(() => {
  const front = answer.value?.ways?.front ?? [];
  const way = front[chosen.value ?? 0] ?? answer.value?.ways?.ways?.[0];
  return new Map((way?.changes ?? []).map((change) => [change.feature, change]));
});

export const label = (name) => short(feature.value[name]?.label || name);

let loading = null; // {view, done}: the fetch that is under way

// Fetches the original graph of the present view.
export function load() {
  if (loading?.view !== view.peek()) loading = { view: view.peek(), done: fetchGraph(view.peek()) };
  return loading.done;
}

async function fetchGraph(asked) {
  try {
    const graph = await get("graph", { view: asked });
    if (view.peek() !== asked) return;
    batch(() => {
      problem.value = null;
      original.value = graph;
      loadedView.value = asked;
      history.value = begin(graph.edges.map(({ cause, effect: result }) => [cause, result]));
      text.value = graph.dagitty;
      textProblem.value = null;
    });
  } catch (error) {
    if (view.peek() === asked) problem.value = error;
  } finally {
    if (loading?.view === asked) loading = null;
  }
}

const check = (graph) => post("graph/check", graph, { query: { view: view.peek() } });

let textCheck = 0;

// Have arrows written as canonical text; only the last answer counts.
async function write(arrows) {
  const number = ++textCheck;
  if (sameEdges(arrows, originalEdges.peek())) {
    text.value = original.peek().dagitty;
    textProblem.value = null;
    return;
  }
  try {
    const checked = await check({ edges: arrows });
    if (number !== textCheck) return;
    text.value = checked.dagitty ?? text.peek();
    textProblem.value = checked.ok ? null : checked;
  } catch (error) {
    if (number === textCheck) textProblem.value = { error: error.message, position: null };
  }
}

// One step to other arrows, that can be taken back.
export function step(arrows) {
  history.value = advance(history.peek(), arrows);
  selected.value = null;
  return write(arrows);
}

export const add = (edge) => step(addEdge(edges.peek(), edge));
export const remove = (edge) => step(removeEdge(edges.peek(), edge));
export const reverse = (edge) => step(reverseEdge(edges.peek(), edge));
export const reset = () => step(originalEdges.peek());

function move(to) {
  if (to === history.peek()) return;
  history.value = to;
  selected.value = null;
  write(to.present);
}
export const takeBack = () => move(undo(history.peek()));
export const doAgain = () => move(redo(history.peek()));

let typing = false;
let typingTimer;

// Check text while it is typed; arrows that can be read are taken on, as one step.
export function type(words) {
  text.value = words;
  const number = ++textCheck;
  clearTimeout(typingTimer);
  typingTimer = setTimeout(async () => {
    try {
      const checked = await check({ dagitty: words });
      if (number === textCheck) adoptTyped(checked);
    } catch (error) {
      if (number === textCheck) textProblem.value = { error: error.message, position: null };
    }
  }, 200);
}

function adoptTyped(checked) {
  textProblem.value = checked.ok ? null : checked;
  if (!checked.ok || sameEdges(checked.edges, edges.peek())) return;
  history.value = (typing ? amend : advance)(history.peek(), checked.edges);
  typing = true;
  selected.value = null;
}

// The text is left: the next typing is a step of its own.
export function stopTyping() {
  typing = false;
}

// Takes on the graph of a request: arrows, text, or null for the original.
async function adopt(graph) {
  if (loadedView.peek() !== view.peek()) await load();
  if (loadedView.peek() !== view.peek()) return;
  if (!graph) {
    if (edited.peek()) await reset();
    return;
  }
  try {
    const checked = await check(graph);
    if (checked.ok && !sameEdges(checked.edges, edges.peek())) await step(checked.edges);
  } catch (error) {
    textProblem.value = { error: error.message, position: null };
  }
}

// Another view has other arrows: edits are not carried over.
effect(() => {
  if (view.value === loadedView.peek() || loadedView.peek() === null) return;
  batch(() => {
    original.value = null;
    loadedView.value = null;
    history.value = begin([]);
    selected.value = null;
  });
});

// The edited graph goes into every request; one that somebody else put there is taken on.
let own = null;
effect(() => {
  own = edited.value ? { edges: edges.value } : null;
  graphEdit.value = own;
});
effect(() => {
  const graph = graphEdit.value;
  if (graph !== own) adopt(graph);
});
