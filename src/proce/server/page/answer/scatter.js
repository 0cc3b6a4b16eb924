// The front as a scatter. It is one control: arrow keys move the pick, a pointer chooses a point.
import { html, useLayoutEffect, useRef, useState } from "../vendor/interface.js";
import { chosen } from "../core/state.js";
import { percent, numberText } from "../core/formats.js";

const WIDEST = 900;
const NARROWEST = 240;
const HEIGHT = 340;
const LEFT = 62;
const BOTTOM = 44;
const PAD = 18;
const N_TICKS = 4;
const FAR_APART = 8;

const tickText = (axis, value, step) => (axis.key === "probability" ? percent(value, step < 0.01 ? 1 : 0) : numberText(value, axis.key === "n_actions" ? 1 : step));

// The width in which the scatter is drawn, so that its letters keep their size.
function useWidth() {
  const box = useRef(null);
  const [width, setWidth] = useState(NARROWEST);
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.min(WIDEST, Math.max(NARROWEST, Math.round(box.current.clientWidth))));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}

export function Scatter({ points, across, up }) {
  const [box, width] = useWidth();
  const x = scale(points.map((point) => point[across.key]), LEFT, width - PAD, across.key);
  const y = scale(points.map((point) => point[up.key]), HEIGHT - BOTTOM, PAD, up.key);
  const place = (point) => [x.at(point[across.key]), y.at(point[up.key])];
  const sorted = points.map((_, index) => index).sort((one, other) => points[one][across.key] - points[other][across.key] || one - other);
  const at = Math.max(0, sorted.indexOf(chosen.value));
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const ends = { Home: 0, End: sorted.length - 1 };
    const next = step ? Math.min(sorted.length - 1, Math.max(0, at + step)) : ends[event.key];
    if (next === undefined) return;
    event.preventDefault();
    chosen.value = sorted[next];
  };
  const choose = (event) => {
    const drawing = event.currentTarget.getBoundingClientRect();
    const here = [(event.clientX - drawing.left) * width / drawing.width, (event.clientY - drawing.top) * HEIGHT / drawing.height];
    const away = points.map((point) => Math.hypot(...place(point).map((one, axis) => one - here[axis])));
    chosen.value = away.indexOf(Math.min(...away));
  };
  const now = points[chosen.value] ?? points[0];
  const order = (index) => (index === chosen.value ? Infinity : points[index].rank ? 1000 - points[index].rank : 0);
  const drawn = [...points.keys()].sort((one, other) => order(one) - order(other));
  return html`<div class="scatter" ref=${box} role="slider" tabindex="0" aria-label=${`Ways of the front, by ${across.label} and ${up.label}`}
      aria-valuemin="1" aria-valuemax=${points.length} aria-valuenow=${at + 1} onKeyDown=${move}
      aria-valuetext=${`${now.rank ? `way ${now.rank}` : `point ${at + 1} of ${points.length}`}: ${across.label} ${tickText(across, now[across.key], 0.01)}, ${up.label} ${tickText(up, now[up.key], 0.01)}`}>
    <svg viewBox=${`0 0 ${width} ${HEIGHT}`} aria-hidden="true" onClick=${choose}>
      ${x.ticks.map((tick) => html`<g key=${`x${tick}`}><line class="grid" x1=${x.at(tick)} x2=${x.at(tick)} y1=${PAD} y2=${HEIGHT - BOTTOM} />
        <text x=${x.at(tick)} y=${HEIGHT - BOTTOM + 18} text-anchor="middle">${tickText(across, tick, x.step)}</text></g>`)}
      ${y.ticks.map((tick) => html`<g key=${`y${tick}`}><line class="grid" x1=${LEFT} x2=${width - PAD} y1=${y.at(tick)} y2=${y.at(tick)} />
        <text x=${LEFT - 8} y=${y.at(tick) + 4} text-anchor="end">${tickText(up, tick, y.step)}</text></g>`)}
      <text class="axis" x=${(LEFT + width - PAD) / 2} y=${HEIGHT - 6} text-anchor="middle">${across.label}${width > 420 ? ` (${across.better === "low" ? "lower" : "higher"} is better)` : ""}</text>
      ${drawn.map((index) => {
        const point = points[index];
        const [left, top] = place(point);
        const kind = `${point.rank ? "ranked" : "other"}${index === chosen.value ? " chosen" : ""}`;
        return html`<g key=${index} class=${kind}>
          ${index === chosen.value && html`<circle class="ring" cx=${left} cy=${top} r=${point.rank ? 15 : 11} />`}
          <circle class=${index === chosen.value ? "dot now" : "dot"} cx=${left} cy=${top} r=${point.rank ? 10 : 5} />
          ${point.rank && html`<text class="rank" x=${left} y=${top + 4} text-anchor="middle">${point.rank}</text>`}
        </g>`;
      })}
    </svg>
  </div>`;
}

// A scale with round ticks: logarithmic where values lie far apart; one value alone stands in the middle.
function scale(values, from, to, key) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  const isLog = key !== "probability" && key !== "n_actions" && low > 0 && high / low > FAR_APART;
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const place = isLog ? Math.log : (value) => value;
  const [start, end] = [place(low), place(high)];
  const margin = (end - start) * 0.06;
  const at = (value) => from + (to - from) * ((place(value) - start + margin) / (end - start + 2 * margin));
  return isLog ? { at, ...logTicks(low, high) } : { at, ...ticks(low, high, key === "n_actions") };
}

function ticks(low, high, isWhole) {
  const raw = (high - low) / N_TICKS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const nice = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const step = isWhole ? Math.max(1, Math.round(nice)) : nice;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.min(20, Math.floor(high / step + 1e-9) - first + 1);
  return { step, ticks: Array.from({ length: count }, (_, index) => Number(((first + index) * step).toPrecision(12))) };
}

function logTicks(low, high) {
  const powers = Array.from({ length: 12 }, (_, index) => 10 ** (Math.floor(Math.log10(low)) + index));
  const all = powers.flatMap((power) => [1, 2, 5].map((one) => Number((one * power).toPrecision(3)))).filter((one) => one >= low && one <= high);
  const found = all.length > 8 ? all.filter((one) => /^[0.]*1/.test(String(one))) : all;
  return { step: found[0] ?? low, ticks: found };
}
