// Requests made of the state, and the state found in a request.
import { NO_LIMITS, graphEdit, limits, person, schema, session, view, wanted } from "./state.js";

// Who is asked about, in the fields of POST /explanations.
function personFields({ row, values, edits }) {
  if (row === null) return { rows: [values] };
  const typed = Object.keys(edits ?? {}).length > 0;
  return typed ? { row_ids: [row], values: edits } : { row_ids: [row] };
}

// The limits and the graph without what is not set.
export function limitFields() {
  const fields = {};
  for (const [name, value] of Object.entries(limits.value)) {
    const isEmpty = value === null || (typeof value === "object" && Object.keys(value).length === 0);
    if (!isEmpty) fields[name] = value;
  }
  if (limits.value.vary) fields.vary = limits.value.vary;
  if (wanted.value !== null) fields.target = wanted.value;
  if (graphEdit.value) fields.graph = graphEdit.value;
  return fields;
}

export const requestOf = () => ({ ...personFields(person.value), ...limitFields() });

// The body of POST /what-if on the person.
export function whatIfBody(changes = {}) {
  const { row, values, edits } = person.value;
  const body = { changes, view: view.value };
  if (row === null) body.row = values;
  else {
    body.row_id = row;
    if (Object.keys(edits ?? {}).length) body.row = edits;
  }
  if (wanted.value !== null) body.target = wanted.value;
  if (graphEdit.value) body.graph = graphEdit.value;
  return body;
}

export function limitsOf(request) {
  const found = { ...NO_LIMITS };
  for (const name of Object.keys(NO_LIMITS)) {
    if (request[name] !== null && request[name] !== undefined) found[name] = request[name];
  }
  if (found.target === schema.value?.default_target) found.target = null;
  // The server writes down the time that it allows everybody.
  if (found.budget_seconds === session.value?.limits.seconds) found.budget_seconds = null;
  return found;
}
