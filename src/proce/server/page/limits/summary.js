// One line that says what is set.
import { joined, nameText, percent, plural, short, valueText } from "../core/formats.js";
import { feature, limits, schema } from "../core/state.js";
import { EFFORTS, USUAL, directionOf, effortOf, isLocked, movable, rangeOf, typedRules, widest } from "./settings.js";

const DIRECTIONS = { up: "only up", down: "only down" };
export const PICKS = { closest: "closest", balanced: "balanced", typical: "most typical" };

// What is set about one feature, in words; empty where nothing is.
export function featureWords(one) {
  if (isLocked(one)) return "not acted on; may still follow";
  const parts = [];
  const range = rangeOf(one);
  if (range) parts.push(rangeWords(one, range));
  const direction = directionOf(one);
  if (direction !== "both") parts.push(DIRECTIONS[direction]);
  if (effortOf(one) !== USUAL) parts.push(EFFORTS[effortOf(one)].words);
  return parts.join(", ");
}

function rangeWords(one, [low, high]) {
  const [lowest, highest] = widest(one);
  if (low === lowest) return `at most ${valueText(one, high)}`;
  if (high === highest) return `at least ${valueText(one, low)}`;
  return `${valueText(one, low)} to ${valueText(one, high)}`;
}

export function summaryParts() {
  const set = limits.value;
  const locked = movable().filter(isLocked);
  const parts = [];
  if (set.target !== null) {
    const wanted = schema.value.classes.find((one) => one.value === set.target);
    parts.push(`to ${short(wanted?.label ?? String(set.target), 30)}`);
  }
  if (locked.length) {
    parts.push(locked.length <= 3 ? `${joined(locked.map(nameText))} not acted on` : `${locked.length} features not acted on`);
  }
  for (const one of movable().filter((each) => !isLocked(each) && featureWords(each))) {
    parts.push(`${nameText(one)}: ${featureWords(one)}`);
  }
  for (const name of Object.keys(set.ranges).filter((each) => feature.value[each] && !movable().includes(feature.value[each]))) {
    parts.push(`${nameText(feature.value[name])}: ${rangeWords(feature.value[name], set.ranges[name])}`);
  }
  if (set.max_changes !== null) parts.push(`at most ${plural(set.max_changes, "change")}`);
  if (typedRules().length) parts.push(plural(typedRules().length, "rule"));
  if (set.min_probability !== null) parts.push(`at least ${percent(set.min_probability)}`);
  if (set.pick !== "closest") parts.push(`${PICKS[set.pick]} first`);
  if (set.n !== 4) parts.push(plural(set.n, "way"));
  if (set.budget_seconds !== null) parts.push(`within ${plural(set.budget_seconds, "second")}`);
  return parts;
}
