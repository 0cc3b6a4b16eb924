// What the page needs before it can show anything: the session, and the schema in the present view.
import { batch, effect, signal } from "../vendor/interface.js";
import { get, isAbort, signIns, signOut, tokenWanted } from "../core/api.js";
import {
  NO_LIMITS, answer, checked, choosePerson, feature, graphEdit, limits, person, schema, session, view,
} from "../core/state.js";
import { show } from "../answer/run.js";
import { rowOfFile } from "../person/pick.js";
import { restoreFromAddress } from "../sharing/panel.js";

export const loadError = signal(null);
export const tries = signal(0);
export const waiting = signal(null); // what the server says while it is being made ready
const AGAIN_MILLISECONDS = 700;
const MAX_TRIES = 1_000;

let opened = false;
let returning = null; // who is shown again in another view

export function keepLoaded() {
  return effect(() => {
    const asked = [signIns.value, tries.value, view.value];
    const stop = new AbortController();
    load(asked[2], stop.signal);
    return () => stop.abort();
  });
}

async function load(wanted, stop) {
  try {
    const found = await get("session", {}, { signal: stop });
    const role = found.role;
    const allowed = role === "auditor" ? wanted : "applicant";
    const described = await get("schema", { view: allowed }, { signal: stop });
    batch(() => {
      if (allowed !== view.peek()) forget(); // who signed in now may see less
      session.value = found;
      // The same features again, after a new token: what was typed into their fields stays.
      if (JSON.stringify(schema.value) !== JSON.stringify(described)) schema.value = described;
      loadError.value = null;
      waiting.value = null;
      view.value = allowed;
    });
    document.title = described.title ? `${described.title} · ProCE` : "ProCE";
    const back = returning;
    returning = null;
    if (back) await comeBack(back, stop);
    if (opened) return;
    opened = true;
    await restoreFromAddress();
  } catch (error) {
    if (isAbort(error) || stop.aborted || tokenWanted.peek() !== null) return;
    if (error.status !== 503) loadError.value = error;
    else {
      waiting.value = `${error.message} The first time on a machine this takes some minutes.`;
      await untilReady(stop);
      if (!stop.aborted) load(wanted, stop);
    }
  }
}

// What one role saw and set is not left on the page for another.
function forget() {
  forgetPeople();
  limits.value = NO_LIMITS;
  graphEdit.value = null;
}

// Signs out: the page is as empty as it was at first.
export function leave() {
  returning = null;
  batch(() => {
    forget();
    schema.value = null;
    session.value = null;
    signOut();
  });
}

// Asks how the service is until it is ready, or until an answer that only a second try explains.
async function untilReady(stop) {
  for (let tries = 0; tries < MAX_TRIES && !stop.aborted; tries += 1) {
    await new Promise((resolve) => { setTimeout(resolve, AGAIN_MILLISECONDS); });
    try {
      if ((await get("health", {}, { signal: stop })).status === "ok") return;
    } catch {
      // Not to be reached yet.
    }
  }
}

// Another view shows other features: who was chosen, and the answer, are asked for again in it.
export function chooseView(next) {
  if (next === view.value) return;
  const { row, edits } = person.value ?? { row: null };
  returning = row === null ? null : { row, edits, answer: answer.value };
  batch(() => {
    view.value = next;
    schema.value = null;
    forgetPeople();
  });
}

async function comeBack({ row, edits, answer: found }, stop) {
  const typed = Object.fromEntries(Object.entries(edits ?? {}).filter(([name]) => name in feature.value));
  try {
    const about = await rowOfFile(row, stop);
    if (stop.aborted || person.value !== null) return;
    choosePerson({ ...about, values: { ...about.values, ...typed }, edits: typed });
    if (found) await show(found.record, found.row, stop, found.asked);
  } catch {
    // This view does not have them: the list is there to choose from.
  }
}

function forgetPeople() {
  choosePerson(null);
  checked.value = new Set();
}
