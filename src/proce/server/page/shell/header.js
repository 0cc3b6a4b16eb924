// Title, the model's classes, the screens, the view and the theme.
import { html, useState } from "../vendor/interface.js";
import { hasToken } from "../core/api.js";
import { Segments } from "../core/controls.js";
import { short } from "../core/formats.js";
import { isAuditor, schema, screen, session, view } from "../core/state.js";
import { chooseView, leave } from "./loading.js";
import { SCREENS } from "./screens.js";

const VIEWS = [
  { value: "applicant", label: "Applicant", title: "Without protected features" },
  { value: "auditor", label: "Auditor", title: "With protected features" },
];
const THEMES = ["system", "light", "dark"];

export function Header() {
  return html`<header class="top">
    <div class="brand">
      <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="7" /><path d="M7 22h7l4-12h7" /><circle cx="25" cy="10" r="3" /></svg>
      <div><p class="title">${schema.value?.title ? short(schema.value.title, 40) : "ProCE"}</p><p class="classes">${classes()}</p></div>
    </div>
    <nav class="screens" aria-label="Screens">
      ${SCREENS.map((one) => html`<button type="button" key=${one.key} aria-current=${screen.value === one.key ? "page" : undefined}
        onClick=${() => { screen.value = one.key; }}>${one.label}</button>`)}
    </nav>
    <div class="tools">
      ${isAuditor.value && html`<${Segments} label="View" options=${VIEWS} value=${view.value} onChoose=${chooseView} />`}
      <${Theme} />
      ${session.value?.token_required && hasToken() && html`<button type="button" class="quiet" onClick=${leave}>Sign out</button>`}
    </div>
  </header>`;
}

function classes() {
  const known = schema.value?.classes;
  if (!known) return "";
  return known.slice(0, 4).map((one) => short(one.label, 24)).join(" or ") + (known.length > 4 ? ` or ${known.length - 4} more` : "");
}

function Theme() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? "system");
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const change = () => {
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("proce.theme", next);
    } catch {
      // Kept for this visit only.
    }
    setTheme(next);
  };
  return html`<button type="button" class="quiet theme" onClick=${change} title=${`Change to ${next}`}>
    <span class="unseen">Theme: ${theme}. Change to ${next}.</span><span aria-hidden="true">${{ system: "◐", light: "☀", dark: "☾" }[theme]}</span> <span class="name" aria-hidden="true">${theme}</span></button>`;
}
