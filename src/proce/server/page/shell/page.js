// The frame of the page: the header, one screen, and what stands in the way of showing it.
import { html, useEffect } from "../vendor/interface.js";
import { tokenWanted } from "../core/api.js";
import { ErrorBox, Skeleton } from "../core/controls.js";
import { said } from "../core/live.js";
import { schema, screen } from "../core/state.js";
import { LinkNotice } from "../sharing/panel.js";
import { Header } from "./header.js";
import { keepLoaded, loadError, tries, waiting } from "./loading.js";
import { SCREENS } from "./screens.js";
import { SignIn } from "./sign-in.js";

export function Page() {
  useEffect(keepLoaded, []);
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <${Header} />
    <main id="content" tabindex="-1"><${LinkNotice} /><${Content} /></main>
    <p class="unseen" role="status" aria-live="polite">${said.value}</p>
    ${tokenWanted.value !== null && html`<${SignIn} />`}`;
}

function Content() {
  if (schema.value !== null) {
    const found = SCREENS.find((one) => one.key === screen.value) ?? SCREENS[0];
    return html`<${found.show} key=${found.key} />`;
  }
  if (loadError.value !== null) {
    return html`<div class="lonely"><h1>The page cannot start</h1><${ErrorBox} error=${loadError.value}>
      <button type="button" onClick=${() => { loadError.value = null; tries.value += 1; }}>Try again</button><//></div>`;
  }
  if (tokenWanted.value !== null) return null;
  return html`${waiting.value && html`<p class="lead" role="status">${waiting.value}</p>`}<${Skeleton} />`;
}
