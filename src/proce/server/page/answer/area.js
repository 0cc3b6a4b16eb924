// The answer and what stands beside it, as tabs.
import { html } from "../vendor/interface.js";
import { Tabs } from "../core/controls.js";
import { panel } from "../core/state.js";
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
  return html`<section class="answer" aria-label="Answer">
    <div class="answer-head">
      <${Tabs} label="Answer" name="answer" tabs=${PANELS} value=${shown.key} onChoose=${(key) => { panel.value = key; }} />
      <${Sharing} />
    </div>
    <div class="answer-body" role="tabpanel" id="answer-panel" aria-labelledby=${`answer-tab-${shown.key}`} key=${shown.key}><${shown.show} /></div>
  </section>`;
}
