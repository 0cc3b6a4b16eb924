// Rules that are typed, checked while typing; an error is shown where it is.
import { html, useEffect, useState } from "../vendor/interface.js";
import { RuleProblem, checkSoon } from "../core/rules.js";
import { limits, schema } from "../core/state.js";
import { setTypedRules, typedRules } from "./settings.js";

const MAX_LENGTH = 2_000;

export function Rules() {
  const kept = typedRules();
  const [texts, setTexts] = useState(kept.length ? kept : [""]);
  const [verdicts, setVerdicts] = useState({});
  useEffect(() => {
    const typed = texts.map((text) => text.trim()).filter(Boolean);
    if (typed.join("\n") !== kept.join("\n")) setTexts(kept.length ? kept : [""]);
  }, [limits.value.rules]);
  useEffect(() => checkSoon(texts, setVerdicts), [texts]);
  const write = (next) => {
    setTexts(next.length ? next : [""]);
    setTypedRules(next.map((text) => text.trim()).filter(Boolean));
  };
  const { rules } = schema.value;
  return html`<div class="rules" role="group" aria-labelledby="rules-title">
    <h3 id="rules-title">Rules</h3>
    <p class="small">cf. is the person after the change, x. before it, as in <code>cf.age >= x.age</code>. Levels stand in quotes; <code>=></code> says
      that one thing asks for another.</p>
    ${texts.map((text, index) => html`<${RuleField} key=${index} text=${text} index=${index} verdict=${verdicts[text.trim()]}
      onInput=${(value) => write(texts.map((one, place) => (place === index ? value : one)))}
      onRemove=${texts.length > 1 || text ? () => write(texts.filter((_, place) => place !== index)) : null} />`)}
    <button type="button" class="quiet" onClick=${() => setTexts([...texts, ""])}>Add a rule</button>
    ${rules.length > 0 && html`<details><summary>${rules.length === 1 ? "1 rule always holds" : `${rules.length} rules always hold`}</summary>
      <ul class="small">${rules.map((rule) => html`<li><code>${rule}</code></li>`)}</ul></details>`}
  </div>`;
}

function RuleField({ text, index, verdict, onInput, onRemove }) {
  const isWrong = verdict && !verdict.ok;
  const id = `rule-${index}`;
  return html`<div class="rule">
    <label class="unseen" for=${id}>Rule ${index + 1}</label>
    <input id=${id} class="control code" type="text" spellcheck=${false} autocomplete="off" maxlength=${MAX_LENGTH} value=${text}
      aria-invalid=${isWrong ? "true" : undefined} aria-describedby=${`${id}-verdict`} onInput=${(event) => onInput(event.target.value)} />
    ${onRemove && html`<button type="button" class="quiet" onClick=${onRemove}>Remove<span class="unseen"> rule ${index + 1}</span></button>`}
    <div id=${`${id}-verdict`} class="verdict-of-rule" role="status">${text.trim() && verdict && (verdict.ok
      ? html`<p class="small">✓ understood</p>` : html`<${RuleProblem} text=${text.trim()} verdict=${verdict} />`)}</div>
  </div>`;
}
