// Rules are checked by the server while they are typed; an error is shown where it is.
import { html } from "../vendor/interface.js";
import { isAbort, post } from "./api.js";
import { view } from "./state.js";

const CHECK_MILLISECONDS = 250;

// The rule once more, with the place of the error marked.
export function RuleProblem({ text, verdict }) {
  const at = verdict.position;
  const isPlaced = Number.isInteger(at) && at >= 0;
  return html`${isPlaced && html`<p class="place"><code>${text.slice(0, at)}<mark>${text.slice(at, at + 1) || "␣"}</mark>${text.slice(at + 1)}</code></p>`}
    <p class="problem">${verdict.error}</p>`;
}

// Checks when typing has paused; `onVerdicts` gets {text: {ok, error, position}}.
export function checkSoon(texts, onVerdicts) {
  const typed = [...new Set(texts.map((text) => text.trim()).filter(Boolean))];
  if (typed.length === 0) return undefined;
  const stop = new AbortController();
  const timer = setTimeout(async () => {
    try {
      const { rules } = await post("rules/check", { rules: typed }, { signal: stop.signal, query: { view: view.value } });
      onVerdicts(Object.fromEntries(rules.map((one, index) => [typed[index], one])));
    } catch (error) {
      if (isAbort(error)) return;
      onVerdicts(Object.fromEntries(typed.map((text) => [text, { ok: false, error: error.message, position: null }])));
    }
  }, CHECK_MILLISECONDS);
  return () => {
    clearTimeout(timer);
    stop.abort();
  };
}
