// What is said of an arrow and of a feature, the same on hover, beside the drawing and in the list.

import { sameEdges } from "./edges.js";

const KIND_WORDS = { action: "do", hold: "hold", wait: "wait", consequence: "expected" };

// One word for what a way does to a feature.
export const kindWord = (kind) => KIND_WORDS[kind] ?? kind;

// '$2,000 → $3,500', or null where the way leaves the feature alone.
export const moveText = (change) =>
  change ? `${change.before_text} → ${change.after_text}` : null;

// How sure an arrow is: where it comes from, never a bare percentage.
export function arrowText(graph, [cause, effect], isNew) {
  if (isNew) return "drawn by you";
  const edge = graph.edges.find((other) => other.cause === cause && other.effect === effect);
  if (edge?.confidence === null || edge?.confidence === undefined) {
    return graph.origin === "discovered" ? "learned from the data" : "given";
  }
  return `found in ${Math.round(edge.confidence * 100)}% of the graphs learned from this data`;
}

// What the equation of a feature leaves open, or why that is not known yet; null for a root.
export function equationText(graph, feature, causes) {
  if (!causes.length) return null;
  const pairs = (names) => names.map((name) => [name, feature]);
  const equation = graph.equations.find((other) => other.effect === feature);
  if (!equation || !sameEdges(pairs(equation.causes), pairs(causes))) {
    return "Its causes were edited: the equation is fitted again when you explain.";
  }
  return equation.words;
}
