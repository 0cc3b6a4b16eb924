// What is said aloud to people who listen to the page.
import { signal } from "../vendor/interface.js";

export const said = signal("");

export function say(text) {
  said.value = text;
}
