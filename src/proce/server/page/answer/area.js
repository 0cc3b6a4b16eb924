// The answer and what stands beside it, as tabs.
import { html, useEffect, useRef } from "../vendor/interface.js";
import { Tabs } from "../core/controls.js";
import { answer, panel } from "../core/state.js";
import { Causes } from "../causes/panel.js";
import { Sharing } from "../sharing/panel.js";
import { WhatIf } from "../what-if/panel.js";
import { Table } from "./table.js";
import { TradeOffs } from "./trade-offs.js";
import { Ways } from "./ways.js";

const PANELS = [
  { key: "ways", label: "Ways", show: Ways },
  { key: "table", label: "Table", show: Table },
  { key: "trade-offs", label: "Trade-offs", show: TradeOffs },
  { key: "causes", label: "Causes", show: Causes },
  { key: "what-if", label: "What if", show: WhatIf },
];

export function AnswerArea() {
  const shown = PANELS.find((one) => one.key === panel.value) ?? PANELS[0];
  const place = useRef(null);
  useEffect(() => {
    if (answer.value !== null) bringIntoView(place.current);
  }, [answer.value]);
  return html`<section class="answer" aria-label="Answer" ref=${place}>
    <div class="answer-head">
      <${Tabs} label="Answer" name="answer" tabs=${PANELS} value=${shown.key} onChoose=${(key) => { panel.value = key; }} />
      <${Sharing} />
    </div>
    <div class="answer-body" role="tabpanel" id="answer-panel" aria-labelledby=${`answer-tab-${shown.key}`} key=${shown.key}><${shown.show} /></div>
  </section>`;
}

// An answer that came below the edge of the window would go unnoticed.
function bringIntoView(element) {
  const { top } = element.getBoundingClientRect();
  if (top > 0.6 * window.innerHeight) element.scrollIntoView({ behavior: "smooth", block: "start" });
}
