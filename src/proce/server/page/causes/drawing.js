// The drawing of the graph, with what is pointed at told in words; the list beside it says the same.
import { nameText } from "../core/formats.js";
import { schema } from "../core/state.js";
import { html, signal, useEffect, useRef } from "../vendor/interface.js";
import { causesOf, obstacle } from "./edges.js";
import { openPicture } from "./picture.js";
import { add, edges, isNew, label, moves, original, selected } from "./state.js";
import { arrowText, equationText, kindWord, moveText } from "./words.js";

const hovered = signal(null);
const arrowFrom = signal(null); // the cause of an arrow that is being drawn
const refusal = signal(null);
const look = signal(0); // grows when the colours of the page change

const COLOURS = ["paper", "ink", "edge", "faint", "blue", "on-blue", "tint"];

function coloursOf(element) {
  const style = getComputedStyle(element);
  return Object.fromEntries(COLOURS.map((name) => [
    name.replace(/-(.)/, (_, letter) => letter.toUpperCase()), style.getPropertyValue(`--${name}`).trim(),
  ]));
}

const nodes = () => (schema.value?.features ?? []).map((feature) => {
  const change = moves.value.get(feature.name);
  const told = change ? [`${kindWord(change.kind)}: ${moveText(change)}`] : [];
  return { name: feature.name, kind: change?.kind ?? "none", lines: [nameText(feature), ...told] };
});

const arrows = () => edges.value.map((edge) => ({
  edge, isNew: isNew(edge), carries: edge.every((name) => moves.value.has(name)),
}));

// What is known of a feature or an arrow, as sentences.
export function tell({ feature, edge }) {
  if (edge) return [`${label(edge[0])} → ${label(edge[1])}`, `${arrowText(original.value, edge, isNew(edge))}.`];
  const change = moves.value.get(feature);
  const causes = causesOf(edges.value, feature);
  return [
    label(feature),
    change && `${kindWord(change.kind)}: ${moveText(change)}.`,
    causes.length ? `Follows ${causes.map(label).join(", ")}.` : "No cause in this graph.",
    equationText(original.value, feature, causes),
  ].filter(Boolean);
}

// A click while an arrow is being drawn ends it; any other click selects.
function click(subject) {
  const cause = arrowFrom.peek();
  arrowFrom.value = null;
  if (!cause || !subject?.feature) {
    refusal.value = null;
    selected.value = subject;
    return;
  }
  refusal.value = obstacle(edges.peek(), [cause, subject.feature], label);
  if (!refusal.value) add([cause, subject.feature]);
}

function useTheme() {
  useEffect(() => {
    const change = () => { look.value += 1; };
    const media = matchMedia("(prefers-color-scheme: dark)");
    const observer = new MutationObserver(change);
    media.addEventListener("change", change);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      media.removeEventListener("change", change);
      observer.disconnect();
    };
  }, []);
}

export function Drawing({ Tools }) {
  const element = useRef(null);
  const picture = useRef(null);
  const drawn = [edges.value, moves.value, schema.value, selected.value, arrowFrom.value, look.value, original.value];
  useTheme();
  const draw = () => {
    if (!picture.current || !element.current) return;
    picture.current.draw({
      nodes: nodes(), edges: arrows(), selected: selected.value, start: arrowFrom.value, colour: coloursOf(element.current),
    });
  };
  useEffect(() => {
    let ended = false;
    let watch;
    const select = (subject) => {
      element.current?.focus({ preventScroll: true }); // so that keys are about what was clicked
      click(subject);
    };
    openPicture(element.current, { select, hover: (subject) => { hovered.value = subject; } }).then((opened) => {
      if (ended || opened === null) return opened?.end();
      picture.current = opened;
      watch = new ResizeObserver(() => { draw(); opened.fit(); });
      watch.observe(element.current);
      return undefined;
    });
    return () => {
      ended = true;
      watch?.disconnect();
      picture.current?.end();
      picture.current = null;
      hovered.value = null;
      arrowFrom.value = null;
    };
  }, []);
  useEffect(draw, drawn);
  useEffect(() => picture.current?.fit(), [edges.value, moves.value, schema.value]);
  const quit = (event) => {
    if (event.key !== "Escape") return;
    hovered.value = null;
    arrowFrom.value = null;
  };
  return html`<div class="drawing" onKeyDown=${quit}>
    <div class="drawing-tools">
      <button type="button" class="little" aria-label="Zoom in" onClick=${() => picture.current?.zoom(1.25)}>+</button>
      <button type="button" class="little" aria-label="Zoom out" onClick=${() => picture.current?.zoom(0.8)}>−</button>
      <button type="button" class="little" onClick=${() => picture.current?.fit()}>Fit</button>
    </div>
    <div class="drawing-canvas" ref=${element} tabindex="-1" role="img" aria-label=${summary()}></div>
    ${hovered.value && html`<${Hover} subject=${hovered.value} box=${element.current} />`}
    <${Legend} />
    <div class="beside" aria-live="polite">
      ${arrowFrom.value ? html`<p>Now click the effect of ${label(arrowFrom.value)}. <button type="button" class="little"
        onClick=${() => { arrowFrom.value = null; }}>Leave it</button></p>` : html`<${Beside} Tools=${Tools} />`}
      ${refusal.value && html`<p class="problem">${refusal.value}</p>`}
    </div>
  </div>`;
}

const summary = () => `Causal graph of ${schema.value?.features.length ?? 0} features and ${edges.value.length} arrows, `
  + "causes before effects. The list of arrows says the same in words.";

function Hover({ subject, box }) {
  const [name, ...sentences] = tell(subject);
  const { x, y } = subject.at;
  const width = box.clientWidth;
  const side = x > width / 2 ? { right: `${width - x + 30}px` } : { left: `${x + 30}px` };
  return html`<div class="hover" style=${{ ...side, top: `${box.offsetTop + y + 14}px` }}>
    <strong>${name}</strong>${sentences.map((sentence) => html`<span>${sentence}</span>`)}</div>`;
}

function Legend() {
  if (!moves.value.size) return null;
  return html`<ul class="legend">
    <li><span class="mark mark-action" aria-hidden="true"></span>something to do (square, filled)</li>
    <li><span class="mark mark-consequence" aria-hidden="true"></span>expected to follow (round, dashed)</li>
  </ul>`;
}

// What is selected, in words, with what can be done to it.
function Beside({ Tools }) {
  if (!selected.value) return html`<p class="small">Click a feature or an arrow to read about it or to change it; drag to move the drawing.</p>`;
  const [name, ...sentences] = tell(selected.value);
  const { feature, edge } = selected.value;
  return html`<p><strong>${name}</strong></p>
    ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
    <p class="buttons">${edge
      ? html`<${Tools} edge=${edge} />`
      : html`<button type="button" class="little" onClick=${() => { arrowFrom.value = feature; }}>Draw an arrow from here</button>`}</p>`;
}
