// Starts an explanation, follows it, stops it, and fetches what the page draws of it.
import { batch, effect } from "../vendor/interface.js";
import { get, isAbort, post, remove } from "../core/api.js";
import { follow, hasEnded } from "../core/events.js";
import { say } from "../core/live.js";
import { limitsOf, requestOf } from "../core/request.js";
import {
  answer, choosePerson, chosen, earlierLimits, graphEdit, limits, panel, person, run, screen, setLimits, view,
} from "../core/state.js";
import { rowOfFile } from "../person/pick.js";

const QUICK_SECONDS = 1; // most answers are there by then, and nothing needs to be followed

let search = null; // {stop, id}: what the page follows; it has no id until the server named it

export async function start() {
  if (run.value.state === "starting") return; // the same button, pressed twice
  abandon("another was started");
  const mine = { stop: new AbortController(), id: null };
  search = mine;
  const about = person.value;
  const asked = askedNow();
  run.value = { state: "starting" };
  say("Searching.");
  try {
    // Not ended with the page's interest in it: only who knows its name can end it on the server.
    let record = await post("explanations", requestOf(), { query: { wait: QUICK_SECONDS, view: view.value } });
    const isUnwanted = mine.stop.signal.aborted;
    if (!hasEnded(record)) {
      if (isUnwanted || run.value.state === "stopping") await cancel(record.id);
      if (isUnwanted) return;
      mine.id = record.id;
      run.value = { ...run.value, state: run.value.state === "stopping" ? "stopping" : "running", id: record.id, progress: record.progress };
      const end = await follow(record.id, {
        signal: mine.stop.signal,
        onProgress: (progress) => { run.value = { ...run.value, progress }; },
        onLost: (lost) => { if (Boolean(run.value.lost) !== lost) run.value = { ...run.value, lost }; },
      });
      record = { id: record.id, ...end };
    }
    if (isUnwanted) return;
    mine.id = null;
    if (record.status === "done") await show(record.id, 0, mine.stop.signal, asked);
    if (person.value !== about) return;
    run.value = { state: "ended", id: record.id, status: record.status, error: record.error };
    say(ending(record.status));
  } catch (error) {
    if (isAbort(error) || search !== mine) return;
    // Whoever has to sign in again finds everything as it was, and starts again.
    run.value = error.status === 401 ? { state: "idle" } : { state: "ended", status: "refused", problem: error };
  } finally {
    if (search === mine) search = null;
  }
}

// Ends the search on the server; what follows comes as the end of its stream.
export async function stop() {
  const { id } = run.value;
  run.value = { ...run.value, state: "stopping" };
  if (!id) return; // it is ended as soon as it has a name
  try {
    await cancel(id);
  } catch (error) {
    run.value = { ...run.value, state: "running", problem: error };
  }
}

async function cancel(id) {
  try {
    await remove(`explanations/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error.status !== 409) throw error; // it ended by itself
  }
}

// Nobody waits for a search that is no longer shown.
function abandon(reason) {
  if (search === null) return;
  search.stop.abort(new DOMException(reason, "AbortError"));
  if (search.id) cancel(search.id).catch(() => {});
  search = null;
}

const askedNow = () => ({ limits: limits.value, graph: graphEdit.value });

// Whether something was set since the answer on the page was asked for.
export function isOutdated() {
  const asked = answer.value?.asked;
  return Boolean(asked) && JSON.stringify(asked) !== JSON.stringify(askedNow());
}

// Fetches what is drawn for one row of a finished explanation.
export async function show(id, row, signal, asked = askedNow()) {
  const about = person.value;
  const ways = await get(`explanations/${encodeURIComponent(id)}/ways`, { row, view: view.value }, { signal });
  if (person.value !== about) return;
  batch(() => {
    answer.value = { record: id, row, ways, asked };
    chosen.value = Math.max(0, ways.front.findIndex((point) => point.rank === 1));
  });
}

let opening = null; // ends the opening of the record before

// Opens a finished explanation of the log or of a cohort on the page for one person; throws where
// it cannot be fetched. Whatever was chosen since wins.
export async function openRecord(id, row = 0) {
  opening?.abort();
  opening = new AbortController();
  const { signal } = opening;
  const before = person.value;
  try {
    const record = await get(`explanations/${encodeURIComponent(id)}`, { view: view.value }, { signal });
    const { request } = record;
    const about = request.row_ids ? await rowOfFile(request.row_ids[row], signal) : { row: null, id: null, values: request.rows[row], edits: {} };
    if (person.value !== before) return;
    const edits = request.values ?? {};
    batch(() => {
      choosePerson({ ...about, values: { ...about.values, ...edits }, edits });
      limits.value = limitsOf(request);
      graphEdit.value = request.graph ?? null;
      screen.value = "person";
      panel.value = "ways";
    });
    const opened = person.value;
    await show(id, row, signal);
    if (person.value === opened) run.value = { state: "ended", id, status: record.status, error: record.error };
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

// Loosens what blocks, keeps the way back, and searches again.
export function relax(patch) {
  if (run.value.state === "starting") return undefined;
  earlierLimits.value = [...earlierLimits.value, limits.value];
  setLimits(patch);
  return start();
}

export function goBack() {
  if (run.value.state === "starting") return undefined;
  const earlier = earlierLimits.value;
  limits.value = earlier.at(-1);
  earlierLimits.value = earlier.slice(0, -1);
  return start();
}

function ending(status) {
  const found = answer.value?.ways;
  if (status !== "done" || !found) return { cancelled: "Stopped.", failed: "The search failed." }[status] ?? "The search ended.";
  return found.ways.length ? `Found. ${found.ways[0].lines[0]?.text ?? ""}` : found.lines[0]?.text ?? "Nothing was found.";
}

effect(() => {
  const shown = person.value;
  return () => { if (shown !== null) abandon("another person is shown"); };
});
