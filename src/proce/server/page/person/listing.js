// The page of the list that is looked at: what was asked of the server and what it answered.
import { effect, signal } from "../vendor/interface.js";
import { get, isAbort, returns } from "../core/api.js";
import { schema, session, view } from "../core/state.js";

export const PAGE_SIZE = 20;
export const asked = signal({ offset: 0, prediction: "", where: "", sort: "", descending: false });
export const listed = signal(null); // {total, rows} of GET /rows
export const listError = signal(null);

// Anything but another page begins at the first page.
export function ask(changes) {
  asked.value = { ...asked.value, offset: 0, ...changes };
}

export function sortBy(name) {
  const { sort, descending } = asked.value;
  ask(sort === name ? { descending: !descending } : { sort: name, descending: false });
}

export function keepListed() {
  return effect(() => {
    const { descending, sort, ...query } = asked.value;
    const wanted = { ...query, limit: PAGE_SIZE, view: view.value, ...(sort && { sort, descending }) };
    const opened = [schema.value, session.value, returns.value]; // what was refused or unanswered is asked again
    if (opened.includes(null)) return undefined;
    const stop = new AbortController();
    fetchPage(wanted, stop.signal);
    return () => stop.abort();
  });
}

async function fetchPage(query, stop) {
  try {
    const found = await get("rows", query, { signal: stop });
    if (stop.aborted) return;
    listed.value = found;
    listError.value = null;
  } catch (error) {
    if (!isAbort(error) && !stop.aborted) listError.value = error;
  }
}
