// A lock, a range, a direction and an effort for every feature that may be acted on.
import { html, useState } from "../vendor/interface.js";
import { Segments, control } from "../core/controls.js";
import { nameText, numberText, short, valueText } from "../core/formats.js";
import { person } from "../core/state.js";
import {
  EFFORTS, directionOf, effortOf, isLocked, movable, rangeOf, setDirection, setEffort, setLock, setRange, widest,
} from "./settings.js";
import { featureWords } from "./summary.js";

const DIRECTIONS = [{ value: "both", label: "both ways" }, { value: "up", label: "only up" }, { value: "down", label: "only down" }];

export function FeatureLimits() {
  return html`<div class="feature-limits" role="group" aria-labelledby="feature-limits-title">
    <h3 id="feature-limits-title">What may be acted on</h3>
    <p class="small">What is not ticked is in no advice; it may still follow from something else.</p>
    <ul>${movable().map((one, index) => html`<${FeatureLimit} key=${one.name} feature=${one} id=${`limit-${index}`} />`)}</ul>
  </div>`;
}

function FeatureLimit({ feature, id }) {
  const [isOpen, setOpen] = useState(false);
  const locked = isLocked(feature);
  const words = featureWords(feature);
  return html`<li class=${locked ? "locked" : ""}>
    <div class="limit-line">
      <label class="check"><input type="checkbox" checked=${!locked} onChange=${(event) => setLock(feature, !event.target.checked)} />
        <span><span class="unseen">May be acted on: </span>${nameText(feature)}</span></label>
      <span class="small now">${words || short(valueText(feature, person.value?.values[feature.name]))}</span>
      <button type="button" class="quiet unfolds" aria-expanded=${String(isOpen)} aria-controls=${id} disabled=${locked}
        onClick=${() => setOpen(!isOpen)}>Limit<span class="unseen"> ${nameText(feature)}</span></button>
    </div>
    <div id=${id} hidden=${!isOpen || locked}>${isOpen && !locked && html`<${Details} feature=${feature} id=${id} />`}</div>
  </li>`;
}

function Details({ feature, id }) {
  const range = rangeOf(feature);
  const [lowest, highest] = widest(feature);
  const isOrdered = feature.type !== "categorical";
  const step = effortOf(feature);
  const place = (value) => (feature.levels ? feature.levels.findIndex((level) => level.value === value) : value);
  const isEmpty = range !== null && place(range[0]) > place(range[1]);
  const open = { ...feature, may_miss: false };
  const shown = (value, end) => (feature.levels ? value ?? end : value === end ? null : value ?? null);
  return html`<div class="limit-details">
    ${isOrdered && html`<div class="field"><label for=${`${id}-low`}>At least</label>
      ${control(open, shown(range?.[0], lowest), (value) => setRange(feature, value, range?.[1]), { id: `${id}-low`, hint: end(feature, lowest), invalid: isEmpty })}</div>
    <div class="field"><label for=${`${id}-high`}>At most</label>
      ${control(open, shown(range?.[1], highest), (value) => setRange(feature, range?.[0], value), { id: `${id}-high`, hint: end(feature, highest), invalid: isEmpty })}</div>
    ${isEmpty && html`<p class="problem full" role="alert">The lowest is above the highest: nothing lies between.</p>`}`}
    ${isOrdered && feature.action === "free" && html`<div class="field full"><span class="label">Direction</span>
      <${Segments} label=${`Direction of ${nameText(feature)}`} options=${DIRECTIONS} value=${directionOf(feature)}
        onChoose=${(value) => setDirection(feature, value)} /></div>`}
    <div class="field full"><label for=${`${id}-effort`}>Effort: ${EFFORTS[step].words}</label>
      <input id=${`${id}-effort`} type="range" min="0" max="4" step="1" value=${step} aria-valuetext=${EFFORTS[step].words}
        onInput=${(event) => setEffort(feature, Number(event.target.value))} /></div>
  </div>`;
}

const end = (feature, value) => (feature.levels ? undefined : numberText(value, feature.step));
