// What is set about a feature, read from and written into the fields of a request.
import { ruleName } from "../core/formats.js";
import { limits, schema, setLimits } from "../core/state.js";

export const EFFORTS = [
  { factor: 0.25, words: "much easier" },
  { factor: 0.5, words: "easier" },
  { factor: 1, words: "as usual" },
  { factor: 2, words: "harder" },
  { factor: 4, words: "much harder" },
];
export const USUAL = 2; // the place of 'as usual'
const MOVABLE = new Set(["free", "increase", "decrease", "waits"]);
const LEAST_EFFORT = 0.1;
const MOST_EFFORT = 10;

export const isMovable = (feature) => MOVABLE.has(feature.action) && !feature.protected;
export const movable = () => schema.value.features.filter(isMovable);
export const isLocked = (feature) => limits.value.vary !== null && !limits.value.vary.includes(feature.name);

export function setLock(feature, locked) {
  const names = movable().map((one) => one.name);
  const kept = (limits.value.vary ?? names).filter((name) => name !== feature.name);
  const vary = locked ? kept : names.filter((name) => name === feature.name || kept.includes(name));
  setLimits({ vary: vary.length === names.length ? null : vary });
}

export const rangeOf = (feature) => limits.value.ranges[feature.name] ?? null;

// The ends that hold where the request names none.
export function widest(feature) {
  if (feature.levels) return [feature.levels[0].value, feature.levels.at(-1).value];
  return feature.range ?? feature.seen;
}

export function setRange(feature, low, high) {
  const [lowest, highest] = widest(feature);
  const { [feature.name]: _, ...others } = limits.value.ranges;
  const isWide = (low ?? lowest) === lowest && (high ?? highest) === highest;
  setLimits({ ranges: isWide ? others : { ...others, [feature.name]: [low ?? lowest, high ?? highest] } });
}

const directionRule = (feature, direction) =>
  `${ruleName("cf", feature.name)} ${direction === "up" ? ">=" : "<="} ${ruleName("x", feature.name)}`;

// "up", "down" or "both": kept as a rule, since it holds for whoever is looked at.
export function directionOf(feature) {
  return ["up", "down"].find((one) => limits.value.rules.includes(directionRule(feature, one))) ?? "both";
}

export function setDirection(feature, direction) {
  const ours = ["up", "down"].map((one) => directionRule(feature, one));
  const others = limits.value.rules.filter((rule) => !ours.includes(rule));
  setLimits({ rules: direction === "both" ? others : [...others, directionRule(feature, direction)] });
}

function directionRules() {
  return new Set(movable().flatMap((one) => [directionRule(one, "up"), directionRule(one, "down")]));
}

// The rules that were typed, without those that stand for a direction.
export function typedRules() {
  const ours = directionRules();
  return limits.value.rules.filter((rule) => !ours.has(rule));
}

// The place among the typed rules of a rule of the request; -1 where it was not typed.
export const placeOfRule = (index) => typedRules().indexOf(limits.value.rules[index]);

export function setTypedRules(texts) {
  const ours = directionRules();
  setLimits({ rules: [...limits.value.rules.filter((rule) => ours.has(rule)), ...texts] });
}

export function effortOf(feature) {
  const set = limits.value.effort[feature.name];
  if (set === undefined) return USUAL;
  const away = EFFORTS.map(({ factor }) => Math.abs(Math.log(set / (factor * feature.effort))));
  return away.indexOf(Math.min(...away));
}

export function setEffort(feature, place) {
  const { [feature.name]: _, ...others } = limits.value.effort;
  const effort = Math.min(MOST_EFFORT, Math.max(LEAST_EFFORT, EFFORTS[place].factor * feature.effort));
  setLimits({ effort: place === USUAL ? others : { ...others, [feature.name]: effort } });
}
