// Many people at once: which rows, the run over them, and what came of it.
import { get, isAbort, post, remove } from "../core/api.js";
import { follow } from "../core/events.js";
import { limitFields } from "../core/request.js";
import { checked, decision, keepInLinks, limits, schema, screen, session, view } from "../core/state.js";
import { batch, computed, effect, signal } from "../vendor/interface.js";

const PAGE_SIZE = 100;
const DEFAULT_MOST = 50;

export const choice = signal({ how: "filter", target: null, prediction: "", where: "", most: DEFAULT_MOST });
export const total = signal(null); // rows that fit the filter, or null
export const filterProblem = signal(null); // what is wrong with the rule: {error, position}
// {state: "idle" | "choosing" | "running" | "stopping", id, progress, lost}
export const job = signal({ state: "idle" });
export const problem = signal(null);
export const cohort = signal(null); // {record: id, by, known, table}: GET /explanations/{id}/cohort
export const isBusy = computed(() => job.value.state !== "idle");

export const mostRows = () => session.value?.limits?.rows ?? DEFAULT_MOST;

// The decision that is wanted for all: as chosen here, for one person, or as it is for the person shown.
export const wanted = computed(() => choice.value.target ?? limits.value.target ?? schema.value?.default_target ?? decision.value?.target ?? null);

// Who is looked at: of two classes those who are not decided as wanted, of more any or one of the others.
const decidedNow = computed(() => {
  const others = (schema.value?.classes ?? []).filter((one) => one.value !== wanted.value);
  return others.length === 1 ? others[0].value : choice.value.prediction;
});

export function choose(changes) {
  choice.value = { ...choice.peek(), ...changes };
}

// The filter as a query.
const query = (rule) => ({ prediction: decidedNow.peek(), where: rule, view: view.peek() });

// Counts the rows that fit a rule that was looked at; what has been typed since may not even be one.
export async function count(rule, stop) {
  try {
    total.value = (await get("rows", { ...query(rule), limit: 1 }, { signal: stop })).total;
    filterProblem.value = null;
  } catch (error) {
    if (!isAbort(error)) refuse({ error: error.message, position: null });
  }
}

export function refuse(verdict) {
  total.value = null;
  filterProblem.value = verdict;
}

async function chosenRows(stop) {
  const { how, most, where } = choice.peek();
  if (how === "checked") return [...checked.peek()].sort((one, other) => one - other).slice(0, mostRows());
  const rows = [];
  const wanted = Math.min(most, mostRows());
  while (rows.length < wanted) {
    const limit = Math.min(PAGE_SIZE, wanted - rows.length);
    const page = await get("rows", { ...query(where.trim()), offset: rows.length, limit }, { signal: stop });
    rows.push(...page.rows.map(({ row }) => row));
    if (page.rows.length < limit) break;
  }
  return rows;
}

let running = null;

// Starts the explanation of the chosen rows and follows it to its end.
export async function startMany() {
  running = new AbortController();
  const stop = running.signal;
  batch(() => {
    problem.value = null;
    cohort.value = null;
    job.value = { state: "choosing" };
  });
  try {
    const rows = await chosenRows(stop);
    if (!rows.length) throw new Error("No row fits. Choose another filter, or mark rows in the list of people.");
    const request = { ...limitFields(), row_ids: rows, target: wanted.peek() };
    const { id } = await post("explanations", request, { query: { view: view.peek() }, signal: stop });
    job.value = { state: "running", id, progress: null };
    const end = await follow(id, {
      signal: stop,
      onProgress: (progress) => { job.value = { ...job.peek(), progress }; },
      onLost: (lost) => { job.value = { ...job.peek(), lost }; },
    });
    if (end.status === "done") await show(id, "", { target: request.target, fitting: choice.peek().how === "filter" ? total.peek() : null });
    else problem.value = new Error(end.error ?? `The explanation was ${end.status}.`);
  } catch (error) {
    if (!isAbort(error)) problem.value = error;
  } finally {
    job.value = { state: "idle" };
  }
}

// Stops what runs, or what is about to.
export async function stopMany() {
  const { id } = job.peek();
  if (!id) {
    running?.abort();
    return;
  }
  job.value = { ...job.peek(), state: "stopping" };
  try {
    await remove(`explanations/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error.status !== 409) problem.value = error;
  }
}

// Fetches what came of a record, by the groups of a feature or of none. `known` has the target of the
// request, and how many people fitted the filter.
export async function show(id, by, known) {
  const table = await get(`explanations/${encodeURIComponent(id)}/cohort`, { by, view: view.peek() });
  cohort.value = { record: id, by, known, table };
}

export async function showBy(by) {
  try {
    const { record, known } = cohort.peek();
    await show(record, by, known);
    problem.value = null;
  } catch (error) {
    problem.value = error;
  }
}

// Opens a finished record of many people.
export async function openCohort(record) {
  await show(record.id, "", { target: record.request.target ?? null, fitting: null });
  problem.value = null;
  screen.value = "many";
}

// Another view shows other features: what was found is asked for again in it.
let shownView = view.peek();
effect(() => {
  if (view.value === shownView) return;
  shownView = view.value;
  const shown = cohort.peek();
  cohort.value = null;
  total.value = null;
  if (shown) show(shown.record, "", shown.known).catch((error) => { problem.value = error; });
});

keepInLinks(
  "cohort",
  () => {
    const { record = null, by = "", known = null } = cohort.peek() ?? {};
    return { choice: choice.peek(), record, by, known };
  },
  (saved) => {
    choice.value = { ...choice.peek(), ...saved.choice };
    if (saved.record) show(saved.record, saved.by, saved.known).catch((error) => { problem.value = error; });
  },
);
