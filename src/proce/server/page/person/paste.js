// A line of a csv file, pasted.
import { html, useState } from "../vendor/interface.js";
import { post } from "../core/api.js";
import { ErrorBox } from "../core/controls.js";
import { say } from "../core/live.js";
import { schema, view } from "../core/state.js";
import { pickValues } from "./pick.js";

export function Paste() {
  const [text, setText] = useState("");
  const [error, setError] = useState(null);
  const [notes, setNotes] = useState([]);
  const read = async (event) => {
    event.preventDefault();
    setError(null);
    setNotes([]);
    try {
      const found = await post("rows/parse", { text }, { query: { view: view.value } });
      setNotes(found.notes);
      if (found.notes.length) say(found.notes.join(" "));
      pickValues(found.values);
    } catch (problem) {
      setError(problem);
    }
  };
  const names = schema.value.features.map((one) => one.name).slice(0, 40).join(",");
  return html`<form class="paste" onSubmit=${read}>
    <label for="pasted">A line of a csv file, with or without the line of names above it</label>
    <textarea id="pasted" class="control code" rows="5" spellcheck=${false} value=${text} placeholder=${names}
      onInput=${(event) => setText(event.target.value)}></textarea>
    <p class="small">Separated by commas, semicolons or tabs. Without names the order is that of the schema.</p>
    <${ErrorBox} error=${error} />
    ${notes.length > 0 && html`<ul class="small">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
    <button type="submit" disabled=${!text.trim()}>Use this line</button>
  </form>`;
}
