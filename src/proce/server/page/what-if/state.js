// One person with values changed by hand: what was typed, what the server says of it, what is kept.
import { isAbort, post } from "../core/api.js";
import { advance, amend, begin, redo, undo } from "../core/history.js";
import { whatIfBody } from "../core/request.js";
import { choosePerson, feature, keepInLinks, panel, person, session, view } from "../core/state.js";
import { batch, computed, effect, signal } from "../vendor/interface.js";

const PAUSE_MILLISECONDS = 120;
const MAX_SCENARIOS = 12;

export const history = signal(begin({})); // of {feature: value}, as a request carries them
export const changes = computed(() => history.value.present);
export const outcome = signal(null); // the last answer of POST /what-if
export const problem = signal(null); // why the last question had no answer
export const asking = signal(false); // what is shown is not yet about what is typed
const kept = signal([]); // {key, name, view, person, changes, outcome}
export const scenarios = computed(() => kept.value.filter((one) => one.view === view.value));
export const takenFrom = signal(null); // where the values came from, in words

let typedFeature = null;

// Sets one value; typing on in one field is one step.
export function change(name, value) {
  const next = { ...changes.peek(), [name]: value };
  history.value = (typedFeature === name ? amend : advance)(history.peek(), next);
  typedFeature = name;
}

// The field is left: the next typing is a step of its own.
export function stopTyping() {
  typedFeature = null;
}

function set(next) {
  stopTyping();
  history.value = advance(history.peek(), next);
}

// Lets a value be what it was, or what follows from the others.
export function release(name) {
  const { [name]: _, ...rest } = changes.peek();
  set(rest);
}

export const clear = () => set({});

function move(to) {
  stopTyping();
  history.value = to;
}
export const takeBack = () => move(undo(history.peek()));
export const doAgain = () => move(redo(history.peek()));

// Shows values of a card, by feature, in the editor.
export function takeOver(values, name) {
  batch(() => {
    set({ ...values });
    takenFrom.value = name;
    panel.value = "what-if";
  });
}

let question = 0;
let stop = null;
let timer;

async function ask(body) {
  const number = ++question;
  stop?.abort();
  stop = new AbortController();
  try {
    const answered = await post("what-if", body, { signal: stop.signal });
    if (number !== question) return;
    batch(() => {
      outcome.value = answered;
      problem.value = null;
      asking.value = false;
    });
  } catch (error) {
    if (number !== question || isAbort(error)) return;
    batch(() => {
      problem.value = error;
      asking.value = false;
    });
  }
}

// What a typed value still lacks before it can be asked about, in words; null for nothing.
export function lack(name, value) {
  if (value === null) return "Type a value, or let go.";
  return feature.value[name]?.whole && !Number.isInteger(value) ? "Type a whole number." : null;
}

// Asks whenever something changes that the answer depends on, a moment after the last key.
export function keepAsking() {
  return effect(() => {
    const typed = Object.fromEntries(Object.entries(changes.value).filter(([name, value]) => !lack(name, value)));
    const asked = session.value && person.value && whatIfBody(typed);
    clearTimeout(timer);
    question += 1;
    asking.value = Boolean(asked);
    if (!asked) return;
    timer = setTimeout(() => ask(asked), outcome.peek() ? PAUSE_MILLISECONDS : 0);
  });
}

let shownPerson = person.peek();

effect(() => {
  if (person.value === shownPerson) return;
  shownPerson = person.value;
  batch(() => {
    history.value = begin({});
    outcome.value = null;
    problem.value = null;
    takenFrom.value = null;
  });
});

export const mayKeep = computed(() => kept.value.length < MAX_SCENARIOS);
let lastKey = 0;

// Keeps what is shown beside the others, under a name.
export function keep(name) {
  lastKey += 1;
  const shown = { view: view.peek(), person: person.peek(), changes: changes.peek(), outcome: outcome.peek() };
  kept.value = [...kept.peek(), { key: lastKey, name, ...shown }];
}

export function rename(key, name) {
  kept.value = kept.peek().map((one) => (one.key === key ? { ...one, name } : one));
}

export function drop(key) {
  kept.value = kept.peek().filter((one) => one.key !== key);
}

export const samePerson = (one, other) =>
  one === other || (one !== null && other !== null && one.row === other.row
    && JSON.stringify([one.values, one.edits]) === JSON.stringify([other.values, other.edits]));

// Puts a kept scenario back into the editor, with its person.
export function edit(scenario) {
  if (!samePerson(scenario.person, person.peek())) choosePerson(scenario.person);
  set(scenario.changes);
  takenFrom.value = scenario.name;
}

keepInLinks("what-if", () => ({ changes: changes.peek(), scenarios: scenarios.peek() }), (saved) => {
  // The effect on the person runs first: it would clear what is put back here.
  queueMicrotask(() => batch(() => {
    history.value = begin(saved.changes ?? {});
    kept.value = (saved.scenarios ?? []).map((one) => ({ ...one, key: (lastKey += 1) }));
  }));
});
