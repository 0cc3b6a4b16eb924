// What the page needs before it can show anything: the session, and the schema in the present view.
import { batch, effect, signal } from "../vendor/interface.js";
import { get, isAbort, signIns, signOut, tokenWanted } from "../core/api.js";
import { NO_LIMITS, checked, choosePerson, graphEdit, limits, schema, session, view } from "../core/state.js";
import { restoreFromAddress } from "../sharing/panel.js";

export const loadError = signal(null);
export const tries = signal(0);
export const waiting = signal(null); // what the server says while it is being made ready
const AGAIN_MILLISECONDS = 700;

let opened = false;

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
    if (opened) return;
    opened = true;
    await restoreFromAddress();
  } catch (error) {
    if (isAbort(error) || stop.aborted || tokenWanted.peek() !== null) return;
    if (error.status === 503) {
      waiting.value = error.message;
      setTimeout(() => { if (!stop.aborted) load(wanted, stop); }, AGAIN_MILLISECONDS);
    } else loadError.value = error;
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
  batch(() => {
    forget();
    schema.value = null;
    session.value = null;
    signOut();
  });
}

// Another view shows other features: who was chosen is asked for again in the new one.
export function chooseView(next) {
  if (next === view.value) return;
  batch(() => {
    view.value = next;
    schema.value = null;
    forgetPeople();
  });
}

function forgetPeople() {
  choosePerson(null);
  checked.value = new Set();
}
