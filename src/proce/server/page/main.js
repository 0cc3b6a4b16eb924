// Starts the page.
import { html, render } from "./vendor/interface.js";
import { Page } from "./shell/page.js";

const place = document.getElementById("page");
place.replaceChildren();
render(html`<${Page} />`, place);
