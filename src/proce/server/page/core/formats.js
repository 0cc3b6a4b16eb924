// Values, names and shares as a person reads them; the same rules as in reports.

const MAX_NAME = 60;

export function numberText(value, step = null) {
  if (Math.abs(value) >= 1e15) return withMinus(value.toPrecision(6));
  const places = step ? decimals(step) : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return withMinus(value.toLocaleString("en-US", {
    minimumFractionDigits: step ? places : 0, maximumFractionDigits: Math.min(places, 15),
  }));
}

const MINUS = "−";

// A number with a minus sign in the place of a hyphen; nothing is minus zero.
const withMinus = (text) => (/[1-9]/.test(text) ? text.replaceAll("-", MINUS) : text.replace(/^-/, ""));

function decimals(step) {
  const text = String(step);
  if (text.includes("e-")) return Number(text.split("e-")[1]);
  return text.includes(".") ? text.split(".")[1].length : 0;
}

// A value of a feature, with its unit or its label.
export function valueText(feature, value) {
  if (value === null || value === undefined) return "missing";
  if (feature?.levels) {
    const level = feature.levels.find((one) => one.value === value);
    return oneLine(level ? level.label : String(value));
  }
  if (typeof value !== "number") return oneLine(String(value));
  return withUnit(numberText(value, feature?.step), feature?.unit);
}

// $2,000, 5%, 12 months, 1 month.
export function withUnit(text, unit) {
  if (!unit) return text;
  const sign = /^[^\s\w]*\p{Sc}\s*/u.exec(unit)?.[0] ?? "";
  let after = unit.slice(sign.length).trimStart();
  if (text === "1" || text === `${MINUS}1`) after = after.replace(/^(\w{2,}[^s\W])s\b/, "$1");
  const blank = after === "" || /^[%‰°/]/.test(after) ? "" : "\u00a0";
  const minus = text.startsWith(MINUS) && sign ? MINUS : "";
  return `${minus}${sign}${text.slice(minus.length)}${blank}${after}`;
}

// A probability, which is never 0% or 100%: nothing is certain.
export function percent(share, places = 0) {
  if (share === null || share === undefined) return "not known";
  const smallest = 10 ** -places;
  const shown = Number((share * 100).toFixed(places));
  if (shown >= 100) return `over ${(100 - smallest).toFixed(places)}%`;
  if (shown <= 0) return `under ${smallest.toFixed(places)}%`;
  return `${shown.toFixed(places)}%`;
}

// A probability that reads as none of the lines at which a model decides, unless it is there.
export function chanceText(share, lines) {
  if (share === null || share === undefined) return percent(share);
  const isAway = (line) => Math.abs(share - line) > 1e-12;
  for (const places of [0, 1, 2, 3]) {
    const text = percent(share, places);
    if (lines.every((line) => !isAway(line) || text !== percent(line, places))) return text;
  }
  const line = lines.find((one) => isAway(one) && percent(share, 3) === percent(one, 3));
  return `just ${share > line ? "over" : "under"} ${percent(line)}`;
}

// Two shares, with decimals where they would read the same.
export function percents(first, second) {
  for (const places of [0, 1, 2]) {
    const texts = [percent(first, places), percent(second, places)];
    if (texts[0] !== texts[1] || first === second || places === 2) return texts;
  }
}

export const oneLine = (text) => text.replace(/\s+/g, " ").trim();

// A name that may be very long, with its middle left out.
export function short(text, length = MAX_NAME) {
  const line = oneLine(text);
  const letters = [...line.slice(0, 4 * length + 20)];
  if (letters.length <= length && line.length <= 4 * length + 20) return line;
  const end = Math.floor(length / 3);
  return `${letters.slice(0, length - end - 1).join("").trimEnd()}…${[...line.slice(-4 * end)].slice(-end).join("").trimStart()}`;
}

export const nameText = (feature) => short(feature.label || feature.name);

export function joined(parts) {
  if (parts.length < 2) return parts.join("");
  return `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

export const plural = (count, noun, more = `${noun}s`) =>
  `${count.toLocaleString("en-US")} ${count === 1 ? noun : more}`;

// How a feature is named in a rule: cf.savings, or cf["hours per week"].
export function ruleName(side, name) {
  return /^[A-Za-z_]\w*$/.test(name) ? `${side}.${name}` : `${side}[${JSON.stringify(name)}]`;
}

export const dateText = (iso) => (iso ? new Date(iso).toLocaleString() : "");
