// Starts an explanation, follows it, stops it, and fetches what the page draws of it.
import { batch, effect } from "../vendor/interface.js";
import { get, isAbort, post, remove } from "../core/api.js";
import { follow, hasEnded } from "../core/events.js";
import { say } from "../core/live.js";
import { limitsOf, requestOf } from "../core/request.js";
import {
  answer, choosePerson, chosen, earlierLimits, graphEdit, limits, panel, person, run, screen, setLimits, view,
} from "../core/state.js";
import { pickRow } from "../person/pick.js";

const QUICK_SECONDS = 1; // most answers are there by then, and nothing needs to be followed

let watching = null; // ends the following of the explanation before

export async function start() {
  watching?.abort(new DOMException("another was started", "AbortError"));
  const stop = new AbortController();
  watching = stop;
  const about = person.value;
  const asked = askedNow();
  run.value = { state: "starting" };
  say("Searching.");
  try {
    let record = await post("explanations", requestOf(), { query: { wait: QUICK_SECONDS, view: view.value }, signal: stop.signal });
    if (!hasEnded(record)) {
      if (run.value.state === "stopping") await remove(`explanations/${encodeURIComponent(record.id)}`);
      run.value = { ...run.value, state: run.value.state === "stopping" ? "stopping" : "running", id: record.id, progress: record.progress };
      const end = await follow(record.id, {
        signal: stop.signal,
        onProgress: (progress) => { run.value = { ...run.value, progress }; },
        onLost: (lost) => { if (Boolean(run.value.lost) !== lost) run.value = { ...run.value, lost }; },
      });
      record = { id: record.id, ...end };
    }
    if (record.status === "done") await show(record.id, 0, stop.signal, asked);
    if (person.value !== about) return;
    run.value = { state: "ended", id: record.id, status: record.status, error: record.error };
    say(ending(record.status));
  } catch (error) {
    if (isAbort(error) || watching !== stop) return;
    run.value = { state: "ended", status: "refused", problem: error };
  }
}

// Ends the search on the server; what follows comes as the end of its stream.
export async function stop() {
  const { id } = run.value;
  run.value = { ...run.value, state: "stopping" };
  if (!id) return; // it is ended as soon as it has a name
  try {
    await remove(`explanations/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error.status !== 409) run.value = { ...run.value, state: "running", problem: error };
  }
}

const askedNow = () => ({ limits: limits.value, graph: graphEdit.value });

// Whether something was set since the answer on the page was asked for.
export function isOutdated() {
  const asked = answer.value?.asked;
  return Boolean(asked) && JSON.stringify(asked) !== JSON.stringify(askedNow());
}

// Fetches what is drawn for one row of a finished explanation.
export async function show(id, row, signal, asked = askedNow()) {
  const ways = await get(`explanations/${encodeURIComponent(id)}/ways`, { row, view: view.value }, { signal });
  batch(() => {
    answer.value = { record: id, row, ways, asked };
    chosen.value = Math.max(0, ways.front.findIndex((point) => point.rank === 1));
  });
}

// Opens a finished explanation of the log or of a cohort on the page for one person; throws where
// it cannot be fetched.
export async function openRecord(id, row = 0) {
  const record = await get(`explanations/${encodeURIComponent(id)}`, { view: view.value });
  const { request } = record;
  if (request.row_ids) await pickRow(request.row_ids[row]);
  else choosePerson({ row: null, id: null, values: request.rows[row], edits: {} });
  if (request.values) person.value = { ...person.value, values: { ...person.value.values, ...request.values }, edits: request.values };
  batch(() => {
    limits.value = limitsOf(request);
    graphEdit.value = request.graph ?? null;
    screen.value = "person";
    panel.value = "ways";
  });
  await show(id, row);
  run.value = { state: "ended", id, status: record.status, error: record.error };
}

// Loosens what blocks, keeps the way back, and searches again.
export function relax(patch) {
  earlierLimits.value = [...earlierLimits.value, limits.value];
  setLimits(patch);
  return start();
}

export function goBack() {
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

// Nobody waits for the search of a person who is no longer shown.
effect(() => {
  const shown = person.value;
  return () => {
    if (shown === null || !watching) return;
    const { id, state } = run.peek();
    watching.abort(new DOMException("another person is shown", "AbortError"));
    watching = null;
    if (id && state === "running") remove(`explanations/${encodeURIComponent(id)}`).catch(() => {});
  };
});
