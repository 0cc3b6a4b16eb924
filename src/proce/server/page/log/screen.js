// The log: every explanation that was asked for, found again, opened again, taken along.
import { openRecord } from "../answer/run.js";
import { openCohort } from "../cohort/state.js";
import { get, isAbort } from "../core/api.js";
import { ErrorBox } from "../core/controls.js";
import { dateText, joined, nameText, percent, plural, short } from "../core/formats.js";
import { feature, isAuditor, schema, session, view } from "../core/state.js";
import { save } from "../sharing/download.js";
import { html, signal, useEffect } from "../vendor/interface.js";

const PAGE_SIZE = 25;
const STATUSES = ["queued", "running", "done", "failed", "cancelled", "interrupted"];

const filters = signal({ status: "", since: "", until: "", offset: 0 });
const found = signal(null);
const problem = signal(null);
const looks = signal(0);

// A day of a filter as the instant it begins, or ends, here.
function instant(day, days = 0) {
  if (!day) return "";
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date + days).toISOString();
}

const query = () => ({
  status: filters.value.status, since: instant(filters.value.since), until: instant(filters.value.until, 1),
});

async function load(stop) {
  try {
    const { offset } = filters.value;
    found.value = await get("explanations", { ...query(), limit: PAGE_SIZE, offset, view: view.value }, { signal: stop });
    problem.value = null;
  } catch (error) {
    if (!isAbort(error)) problem.value = error;
  }
}

function filter(changes) {
  filters.value = { ...filters.peek(), offset: 0, ...changes };
}

// Opens a record: its request becomes the page's, its result the answer.
async function open(record) {
  try {
    if ((record.summary?.n_rows ?? 1) > 1) await openCohort(record);
    else await openRecord(record.id, 0);
  } catch (error) {
    problem.value = error;
  }
}

async function take(format) {
  try {
    await save("explanations/export", { format, ...query() });
  } catch (error) {
    problem.value = error;
  }
}

function Filters() {
  const { status, since, until } = filters.value;
  const day = (name, label, value) => html`<div class="field"><label for=${`log-${name}`}>${label}</label>
    <input id=${`log-${name}`} class="control" type="date" value=${value} onChange=${(event) => filter({ [name]: event.target.value })} /></div>`;
  return html`<div class="log-filters">
    <div class="field"><label for="log-status">Status</label>
      <select id="log-status" class="control" value=${status} onChange=${(event) => filter({ status: event.target.value })}>
        <option value="">all</option>${STATUSES.map((one) => html`<option value=${one}>${one}</option>`)}
      </select></div>
    ${day("since", "From", since)}${day("until", "To", until)}
    <button type="button" onClick=${() => { looks.value += 1; }}>Look again</button>
    ${isAuditor.value && html`<span class="buttons"><button type="button" onClick=${() => take("csv")}>Export csv</button>
      <button type="button" onClick=${() => take("jsonl")}>Export JSON lines</button></span>`}
  </div>`;
}

// What came of a record, in words.
export function summaryText({ status, summary, error }) {
  if (status !== "done") return error ?? "";
  const { n_rows: rows, found: ways, not_found: none, already_target: already } = summary ?? {};
  if (!rows) return "";
  if (rows === 1) return ways ? "a way was found" : already ? "has the decision already" : "no way was found";
  return `${ways} found, ${none} not found${already ? `, ${already} had it already` : ""}`;
}

function targetText({ request }) {
  const wanted = request.target ?? schema.value.default_target;
  if (wanted === null || wanted === undefined) return schema.value.classes.length === 2 ? "the other one" : "another one";
  return short(schema.value.classes.find((one) => one.value === wanted)?.label ?? String(wanted));
}

// Who a record is about: one row, values typed in, or many.
function whoText({ request }) {
  const { row_ids: ids, rows } = request;
  const count = ids?.length ?? rows?.length ?? 0;
  if (count !== 1) return plural(count, "person", "people");
  return ids ? `row ${ids[0]}${request.values ? ", edited" : ""}` : "values typed in";
}

// What a request limits, in a few words.
function limitsText({ request }) {
  const names = (fields) => Object.keys(fields ?? {}).map((name) => nameText(feature.value[name] ?? { name }));
  const parts = [
    request.vary && `acts on ${request.vary.length ? joined(request.vary.slice(0, 4).map((name) => nameText(feature.value[name] ?? { name }))) : "nothing"}${request.vary.length > 4 ? ` and ${request.vary.length - 4} more` : ""} only`,
    names(request.ranges).length && `range of ${joined(names(request.ranges).slice(0, 4))}`,
    names(request.effort).length && `effort of ${joined(names(request.effort).slice(0, 4))}`,
    request.max_changes && `at most ${plural(request.max_changes, "change")}`,
    request.min_probability && `at least ${percent(request.min_probability)}`,
    request.rules?.length && plural(request.rules.length, "rule"),
    request.robust && "robust",
  ];
  return parts.filter(Boolean).join(" · ");
}

function Row({ record }) {
  const name = `the explanation of ${dateText(record.created)}`;
  return html`<tr>
    <th scope="row">${record.status === "done" ? html`<button type="button" class="link" aria-label=${`Open ${name}`} onClick=${() => open(record)}>${dateText(record.created)}</button>`
      : dateText(record.created)}</th>
    <td><span class=${`status status-${record.status}`}>${record.status}</span></td>
    <td>${whoText(record)}</td>
    <td>${targetText(record)}</td>
    <td>${limitsText(record)}${record.request.graph ? html` <span class="tag">edited graph</span>` : ""}</td>
    <td>${summaryText(record)}</td>
    <td>${record.role}</td>
  </tr>`;
}

function Pager() {
  const { offset } = filters.value;
  const { total, records } = found.value;
  return html`<div class="pager"><button type="button" disabled=${offset === 0}
      onClick=${() => filter({ offset: Math.max(0, offset - PAGE_SIZE) })}>Newer</button>
    <span>${total ? `${offset + 1} to ${offset + records.length} of ${total.toLocaleString("en-US")}` : ""}</span>
    <button type="button" disabled=${offset + records.length >= total} onClick=${() => filter({ offset: offset + PAGE_SIZE })}>Older</button></div>`;
}

export function Log() {
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal);
    return () => stop.abort();
  }, [filters.value, looks.value, view.value, session.value]);
  return html`<section class="log" aria-labelledby="log-title">
    <h1 id="log-title">Log</h1>
    <p class="small">Every explanation that was asked for, with its request and its result.</p>
    <${Filters} />
    <${ErrorBox} error=${problem.value} />
    ${found.value && html`<p class="unseen" role="status">${plural(found.value.total, "explanation")}</p>`}
    ${found.value && (found.value.records.length ? html`<div class="log-list"><div class="scrolls" tabindex="0" role="group" aria-label="Explanations">
      <table class="log-table"><thead><tr><th scope="col">Asked for</th><th scope="col">Status</th><th scope="col">Who</th>
        <th scope="col">Decision wanted</th><th scope="col">Limits</th><th scope="col">What came of it</th><th scope="col">Asked by</th></tr></thead>
        <tbody>${found.value.records.map((record) => html`<${Row} key=${record.id} record=${record} />`)}</tbody></table></div>
      <${Pager} /></div>` : html`<p class="empty">No explanation fits these filters.</p>`)}
  </section>`;
}
