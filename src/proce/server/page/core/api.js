// Everything that is asked of the server. Errors have the words of the server.
import { signal } from "../vendor/interface.js";

const TOKEN_KEY = "proce.token";
const ANSWER_MILLISECONDS = 60_000;
const RETURN_MILLISECONDS = 2_000;
const MAX_TRIES = 2_000;
const root = new URL(".", document.baseURI);

// Set to the reason when the server wants a token; the sign-in shows it.
export const tokenWanted = signal(null);
// Grows with every new token, so that what failed is asked again.
export const signIns = signal(0);

// Grows when a server that could not be reached is back.
export const returns = signal(0);

export class ApiError extends Error {
  constructor(status, message, fields = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.fields = fields;
  }

  // What was said about one field of the request, or about what lies below it.
  about(field) {
    const found = this.fields.find((one) => one.field === field)
      ?? this.fields.find((one) => one.field.startsWith(`${field}.`) || one.field.startsWith(`${field}[`));
    return found ? found.message : null;
  }
}

export function signIn(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
  tokenWanted.value = null;
  signIns.value += 1;
}

export function signOut() {
  sessionStorage.removeItem(TOKEN_KEY);
  tokenWanted.value = "You are signed out. Enter a token to go on.";
}

export const hasToken = () => sessionStorage.getItem(TOKEN_KEY) !== null;

// The answer of the server as it is, for streams and files; an error status is thrown.
export async function response(path, { method = "GET", query, body, signal: stop, timeout = ANSWER_MILLISECONDS } = {}) {
  const address = new URL(path, root);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") address.searchParams.set(name, value);
  }
  const headers = { Accept: "*/*" };
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const stops = [stop, timeout ? AbortSignal.timeout(timeout) : null].filter(Boolean);
  let answer;
  try {
    answer = await fetch(address, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: stops.length ? AbortSignal.any(stops) : undefined,
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    throw stop?.aborted ? stop.reason : unreached(error);
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

async function json(path, options) {
  const answer = await response(path, options);
  try {
    return await answer.json();
  } catch (error) {
    if (options?.signal?.aborted) throw options.signal.reason;
    throw unreached(error);
  }
}

export const get = (path, query, options) => json(path, { ...options, query });
export const post = (path, body, options) => json(path, { ...options, method: "POST", body });
export const remove = (path, options) => json(path, { ...options, method: "DELETE" });

export const isAbort = (error) => error?.name === "AbortError";

// Asks now and then whether a server that was gone is back, so that the page comes back by itself.
let isWatching = false;
async function watchForReturn() {
  if (isWatching) return;
  isWatching = true;
  for (let tries = 0; tries < MAX_TRIES && isWatching; tries += 1) {
    await new Promise((resolve) => { setTimeout(resolve, RETURN_MILLISECONDS); });
    const { status } = await fetch(new URL("health", root), { cache: "no-store" }).then((answer) => answer.json()).catch(() => ({}));
    if (status !== "ok") continue;
    isWatching = false;
    returns.value += 1;
  }
  isWatching = false;
}

function unreached(error) {
  const late = error?.name === "TimeoutError";
  if (!late) watchForReturn();
  const message = late
    ? "The server took too long to answer. Try again."
    : "The server cannot be reached. The page tries again by itself.";
  return new ApiError(0, message);
}

async function refusal(answer) {
  let told = {};
  try {
    told = await answer.json();
  } catch {
    // An answer of something between the page and the server has other words.
  }
  const message = typeof told.message === "string" ? told.message : `The server answered ${answer.status}.`;
  if (answer.status === 401) tokenWanted.value = message;
  return new ApiError(answer.status, message, Array.isArray(told.fields) ? told.fields : []);
}
