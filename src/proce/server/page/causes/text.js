// The graph as DAGitty text, checked by the server while it is typed.
import { html, useEffect, useId, useRef } from "../vendor/interface.js";
import { stopTyping, text, textProblem, type } from "./state.js";

// The line and column of a position in a text, both from 1.
export function place(words, position) {
  const lines = words.slice(0, position).split("\n");
  return { line: lines.length, column: lines.at(-1).length + 1 };
}

function Problem({ id, area }) {
  const { error, position } = textProblem.value;
  const found = Number.isInteger(position) ? place(text.value, position) : null;
  const show = () => {
    area.current.focus();
    area.current.setSelectionRange(position, Math.min(position + 1, text.value.length));
  };
  return html`<div id=${id} class="problem" role="status">
    ${found && html`<button type="button" class="little" onClick=${show}>Line ${found.line}, column ${found.column}</button> `}
    <span class="words">${error}</span>
  </div>`;
}

export function GraphText() {
  const id = useId();
  const area = useRef(null);
  useEffect(() => stopTyping, []);
  return html`<div class="graph-text">
    <label for=${id}>The same graph as DAGitty text: one arrow a line, such as <code>age -> income</code></label>
    <textarea id=${id} ref=${area} class="control code" rows="16" spellcheck=${false} autocomplete="off" dir="ltr" value=${text.value}
      aria-invalid=${textProblem.value ? "true" : undefined} aria-describedby=${`${id}-state`}
      onInput=${(event) => type(event.target.value)} onBlur=${stopTyping}></textarea>
    ${textProblem.value ? html`<${Problem} id=${`${id}-state`} area=${area} />`
      : html`<p id=${`${id}-state`} class="small" role="status">This can be read; the drawing shows it.</p>`}
  </div>`;
}
