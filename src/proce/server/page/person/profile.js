// The person's values, each among those of the training data; with a way, where it leads.
import { html } from "../vendor/interface.js";
import { nameText, short, valueText } from "../core/formats.js";
import { answer, chosen, person, schema } from "../core/state.js";

export function Profile() {
  const changes = new Map((answer.value?.ways.front[chosen.value]?.changes ?? []).map((one) => [one.feature, one]));
  return html`<section class="card profile" aria-labelledby="profile-title">
    <h2 id="profile-title">The values</h2>
    <p class="small key"><span class="swatch half" aria-hidden="true"></span> half of all people
      <span class="swatch most" aria-hidden="true"></span> nine in ten
      <span class="swatch here" aria-hidden="true"></span> this person
      ${changes.size > 0 && html`<span class="swatch there" aria-hidden="true"></span> after the way shown`}</p>
    <table class="values"><caption class="unseen">The values of this person, each among those of the training data</caption><tbody>
      ${schema.value.features.map((one) => html`<${Line} key=${one.name} feature=${one} value=${person.value.values[one.name]} change=${changes.get(one.name)} />`)}
    </tbody></table>
  </section>`;
}

function Line({ feature, value, change }) {
  const moves = change && change.before_text !== change.after_text;
  return html`<tr class=${moves ? `moved ${change.kind}` : ""}>
    <th scope="row">${nameText(feature)}</th>
    <td class="strip-cell">${feature.quantiles ? html`<${Strip} ...${{ feature, value, after: moves ? change.after : null }} />` : share(feature, value)}</td>
    <td class="number">${short(valueText(feature, value), 28)}${moves && html`<span class="becomes"><span aria-hidden="true">→ </span><span class="unseen">becomes </span>${short(change.after_text, 28)}</span>`}</td>
  </tr>`;
}

function share(feature, value) {
  const at = feature.levels?.findIndex((level) => level.value === value) ?? -1;
  if (at < 0 || !feature.shares) return null;
  return html`<span class="share-words">${Math.round(100 * feature.shares[at])} of 100 have this</span>`;
}

function Strip({ feature, value, after }) {
  const marks = feature.quantiles;
  const numbers = [marks[1], marks[19], value, after].filter((one) => typeof one === "number");
  const low = Math.min(...numbers);
  const span = Math.max(...numbers) - low || 1;
  const place = (number) => `${(100 * (number - low) / span).toFixed(2)}%`;
  const band = (from, to) => ({ left: place(from), width: `${(100 * (to - from) / span).toFixed(2)}%` });
  const isNumber = typeof value === "number";
  return html`<span class="strip" role="img" aria-label=${isNumber ? words(marks, value) : "missing"}>
    <span class="most" style=${band(marks[1], marks[19])}></span>
    <span class="half" style=${band(marks[5], marks[15])}></span>
    ${isNumber && typeof after === "number" && html`<span class="way" style=${band(Math.min(value, after), Math.max(value, after))}></span>`}
    ${isNumber && html`<span class="here" style=${{ left: place(value) }}></span>`}
    ${typeof after === "number" && html`<span class="there" style=${{ left: place(after) }}></span>`}
  </span>`;
}

function words(marks, value) {
  const below = marks.filter((mark) => mark < value).length;
  return `higher than about ${Math.min(95, Math.max(0, 5 * (below - 1)))} of 100`;
}
