// Follows an explanation to its end, also over a broken stream.
import { ApiError, get, isAbort, response } from "./api.js";

const ENDED = new Set(["done", "failed", "cancelled", "interrupted"]);
const SILENCE_MILLISECONDS = 45_000;
const MAX_LOST = 40; // attempts in a row that bring nothing
const MAX_WAIT_MILLISECONDS = 3_000;

export const hasEnded = (record) => ENDED.has(record.status);

// Resolves to {status, error}. `onProgress` gets what the server tells while it works, `onLost` is
// called with true when the stream broke and with false when it is back.
export async function follow(id, { onProgress = () => {}, onLost = () => {}, signal } = {}) {
  for (let lost = 0; lost < MAX_LOST; lost += 1) {
    try {
      const end = await read(id, onProgress, () => { lost = 0; onLost(false); }, signal);
      if (end) return end;
      const record = await get(`explanations/${encodeURIComponent(id)}`, {}, { signal });
      if (hasEnded(record)) return { status: record.status, error: record.error };
    } catch (error) {
      if (isAbort(error) || (error.status >= 400 && error.status < 500)) throw error;
      onLost(true);
    }
    await pause(Math.min(250 * 2 ** lost, MAX_WAIT_MILLISECONDS), signal);
  }
  throw new ApiError(0, "The server cannot be reached. What was started may have gone on: look into the log.");
}

async function read(id, onProgress, onAlive, signal) {
  const silence = new AbortController();
  const stops = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
  const path = `explanations/${encodeURIComponent(id)}/events`;
  const answer = await response(path, { signal: stops, timeout: 0 });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let timer;
  try {
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MILLISECONDS);
      const { done, value } = await reader.read();
      if (done) return null;
      onAlive();
      const blocks = (text + value).replaceAll("\r\n", "\n").split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const { event, data } = parse(block);
        if (event === "progress") onProgress(data);
        if (event === "end") return data;
      }
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw error.status ? error : new ApiError(0, "The stream broke.");
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function parse(block) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return { event, data: data.length ? JSON.parse(data.join("\n")) : null };
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}
