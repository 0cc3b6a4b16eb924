// The one state of the page. What a link keeps is named at the end.
import { batch, computed, signal } from "../vendor/interface.js";

export const session = signal(null); // GET /session
export const schema = signal(null); // GET /schema in the present view
export const view = signal("applicant"); // "applicant" | "auditor"
export const screen = signal("person"); // "person" | "many" | "log"
export const panel = signal("ways"); // "ways" | "table" | "trade-offs" | "causes" | "what-if"

// {row, id, values, edits}: `row` is the position in the rows file or null, `values` all values that
// this view shows, `edits` those that were typed over the row of the file.
export const person = signal(null);
export const decision = signal(null); // the model's decision on the person, of POST /what-if

// What may change: the fields of a request, as they are sent.
export const NO_LIMITS = Object.freeze({
  target: null, n: 4, pick: "closest", vary: null, ranges: {}, effort: {}, max_changes: null,
  min_probability: null, rules: [], budget_seconds: null,
});
export const limits = signal(NO_LIMITS);
export const graphEdit = signal(null); // null, or the edited graph as a request carries it

// {state: "idle" | "starting" | "running" | "stopping" | "ended", id, progress, lost, status, error}
export const run = signal({ state: "idle" });
export const answer = signal(null); // {record: id, row, ways}: GET /explanations/{id}/ways
export const chosen = signal(0); // which point of the front is looked at
export const checked = signal(new Set()); // positions of the rows that are marked in the list
export const earlierLimits = signal([]); // the way back from a relaxation

export const feature = computed(() =>
  Object.fromEntries((schema.value?.features ?? []).map((one) => [one.name, one])));
// Where a model of two classes decides, for either of them; of several the likeliest counts.
export const decisionLines = computed(() => {
  const { classes = [], threshold } = schema.value ?? {};
  return classes.length === 2 ? [threshold ?? 0.5, 1 - (threshold ?? 0.5)] : [];
});
// The decision that ways are to lead to; null is the other one of two, or not told yet.
export const wanted = computed(() => limits.value.target ?? schema.value?.default_target ?? null);
export const isAuditor = computed(() => session.value?.role === "auditor");

// Shows another person: what was found for the one before is no longer on the page.
export function choosePerson(next) {
  batch(() => {
    person.value = next;
    decision.value = null;
    answer.value = null;
    chosen.value = 0;
    earlierLimits.value = [];
    run.value = { state: "idle" };
  });
}

export function setLimits(changes) {
  limits.value = { ...limits.value, ...changes };
}

const parts = new Map();

// Has `save()` kept in links under a name, and given back to `restore(value)` when one is opened.
export function keepInLinks(name, save, restore) {
  parts.set(name, { save, restore });
}

export function snapshot() {
  const found = answer.value;
  return {
    view: view.value, screen: screen.value, panel: panel.value, person: person.value,
    limits: limits.value, graph: graphEdit.value, chosen: chosen.value,
    answer: found && { record: found.record, row: found.row },
    parts: Object.fromEntries([...parts].map(([name, part]) => [name, part.save()])),
  };
}

// Puts a snapshot back, except for the answer: it is asked for again by who restores.
export function restore(kept) {
  batch(() => {
    view.value = kept.view === "auditor" && isAuditor.value ? "auditor" : "applicant";
    choosePerson(kept.person ?? null);
    screen.value = kept.screen ?? "person";
    panel.value = kept.panel ?? "ways";
    limits.value = { ...NO_LIMITS, ...kept.limits };
    graphEdit.value = kept.graph ?? null;
    chosen.value = kept.chosen ?? 0;
    for (const [name, part] of parts) {
      if (kept.parts && name in kept.parts) part.restore(kept.parts[name]);
    }
  });
}
