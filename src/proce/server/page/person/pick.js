// Who is looked at, and what the model decides about that person.
import { effect, signal } from "../vendor/interface.js";
import { get, isAbort, post, returns } from "../core/api.js";
import { whatIfBody } from "../core/request.js";
import { choosePerson, decision, graphEdit, limits, person, screen, session, view } from "../core/state.js";

export const decisionError = signal(null);

// A row of the file by its position, as a person without edits.
export async function rowOfFile(position, signal) {
  const { rows: [{ row, id, values }] } = await get("rows", { offset: position, limit: 1, view: view.value }, { signal });
  return { row, id, values, edits: {} };
}

export function pickListed({ row, id, values }) {
  choosePerson({ row, id, values, edits: {} });
  screen.value = "person";
}

// Chooses a person by values alone.
export function pickValues(values) {
  choosePerson({ row: null, id: null, values, edits: {} });
  screen.value = "person";
}

// Types values over those of a row of the file.
export function editPerson(edits) {
  const { row, id, values } = person.value;
  const kept = { ...person.value.edits, ...edits };
  choosePerson({ row, id, values: { ...values, ...edits }, edits: kept });
}

export function personText({ row, id, edits }) {
  if (row === null) return "A person typed in";
  const name = id === null || id === undefined ? `Row ${row}` : String(id);
  return Object.keys(edits ?? {}).length ? `${name}, edited` : name;
}

// Asks for the decision again whenever the person, the target or the graph is another.
export function keepDecided() {
  return effect(() => {
    const asked = [person.value, limits.value.target, graphEdit.value, view.value, session.value, returns.value];
    decisionError.value = null;
    if (asked[0] === null) return undefined;
    const stop = new AbortController();
    decide(stop.signal);
    return () => stop.abort();
  });
}

async function decide(stop) {
  try {
    const { before } = await post("what-if", whatIfBody(), { signal: stop });
    if (!stop.aborted) decision.value = before;
  } catch (error) {
    if (!isAbort(error) && !stop.aborted) decisionError.value = error;
  }
}
