// The rows of the file, a page at a time.
import { html, useEffect } from "../vendor/interface.js";
import { ErrorBox, Skeleton } from "../core/controls.js";
import { chanceText, nameText, short, valueText } from "../core/formats.js";
import { checked, decisionLines, person, schema } from "../core/state.js";
import { Filters } from "./filters.js";
import { PAGE_SIZE, ask, asked, keepListed, listError, listed, sortBy } from "./listing.js";
import { pickListed } from "./pick.js";

export function List({ isWide }) {
  useEffect(keepListed, []);
  const error = listError.value;
  const isAboutRule = error?.about?.("where");
  return html`<div class="list">
    <${Filters} error=${isAboutRule} />
    ${error && !isAboutRule && html`<${ErrorBox} error=${error} />`}
    ${listed.value === null ? !error && html`<${Skeleton} lines=${10} />` : html`<${Rows} isWide=${isWide} /><${Pager} />`}
  </div>`;
}

function Rows({ isWide }) {
  const { rows } = listed.value;
  const features = isWide ? schema.value.features : [];
  if (rows.length === 0) return html`<p class="empty">Nobody fits. Change the filter.</p>`;
  return html`<div class="scrolls" role="group" tabindex=${isWide ? 0 : undefined} aria-label="People">
    <table class="people">
      <thead><tr>
        <th scope="col" class="tick"><span class="unseen">Marked for many people</span></th>
        <th scope="col"><span class="plain">Row</span></th>
        <th scope="col"><span class="plain">Decision</span></th>
        <${Sorted} name="probability" isNumber=${true}>How sure<//>
        ${features.map((one) => html`<${Sorted} key=${one.name} name=${one.name} isNumber=${!one.levels}>${nameText(one)}${inHeader(one) && html`<span class="unit"> ${one.unit}</span>`}<//>`)}
      </tr></thead>
      <tbody>${rows.map((row) => html`<${Row} key=${row.row} row=${row} features=${features} />`)}</tbody>
    </table>
  </div>`;
}

// A sign stands before every number, a word once above them.
const inHeader = (one) => Boolean(one.unit && !one.levels && /^\w/.test(one.unit));

function Sorted({ name, isNumber, children }) {
  const { sort, descending } = asked.value;
  const order = sort !== name ? undefined : descending ? "descending" : "ascending";
  return html`<th scope="col" class=${isNumber ? "number" : ""} aria-sort=${order}>
    <button type="button" class="sorts" onClick=${() => sortBy(name)}>${children}<span aria-hidden="true">${
      order ? (descending ? "↓" : "↑") : ""}</span></button></th>`;
}

function Row({ row, features }) {
  const isChosen = person.value?.row === row.row;
  const name = row.id === null || row.id === undefined ? String(row.row) : short(String(row.id), 30);
  const isTicked = checked.value.has(row.row);
  const tick = () => {
    const next = new Set(checked.value);
    if (!next.delete(row.row)) next.add(row.row);
    checked.value = next;
  };
  const label = schema.value.classes.find((one) => one.value === row.prediction)?.label ?? String(row.prediction);
  return html`<tr class=${isChosen ? "chosen" : ""} data-row=${row.row} onClick=${() => pickListed(row)}>
    <td class="tick" onClick=${(event) => event.stopPropagation()}>
      <label><input type="checkbox" checked=${isTicked} onChange=${tick} /><span class="unseen">Mark ${name} for many people</span></label></td>
    <th scope="row"><button type="button" class="picks" aria-pressed=${String(isChosen)}
      onClick=${(event) => { event.stopPropagation(); pickListed(row); }}><span class="unseen">Choose row </span>${name}</button></th>
    <td>${short(label, 24)}</td>
    <td class="number">${chanceText(row.probability, decisionLines.value)}</td>
    ${features.map((one) => html`<td key=${one.name} class=${one.levels ? "" : "number"}>${short(valueText(inHeader(one) ? { ...one, unit: null } : one, row.values[one.name]), 24)}</td>`)}
  </tr>`;
}

function Pager() {
  const { total } = listed.value;
  const { offset } = asked.value;
  const last = Math.min(offset + PAGE_SIZE, total);
  const count = checked.value.size;
  return html`<div class="pager">
    <p>${total === 0 ? "0" : `${(offset + 1).toLocaleString("en-US")}–${last.toLocaleString("en-US")}`} of ${total.toLocaleString("en-US")}</p>
    <button type="button" disabled=${offset === 0} onClick=${() => ask({ offset: Math.max(0, offset - PAGE_SIZE) })}>Previous</button>
    <button type="button" disabled=${last >= total} onClick=${() => ask({ offset: offset + PAGE_SIZE })}>Next</button>
    ${count > 0 && html`<p class="marked">${count} marked <button type="button" class="quiet" onClick=${() => { checked.value = new Set(); }}>Clear</button></p>`}
  </div>`;
}
