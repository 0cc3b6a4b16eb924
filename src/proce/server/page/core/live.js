// What is said aloud to people who listen to the page.
import { signal } from "../vendor/interface.js";

export const said = signal("");

export function say(text) {
  said.value = text;
}

// Gives the focus a place, the first there is, where what had it is gone from the page.
export function keepFocus(...selectors) {
  const now = document.activeElement;
  if (now !== null && now !== document.body) return;
  const places = selectors.map((selector) => document.querySelector(selector));
  places.find((place) => place !== null)?.focus({ preventScroll: true });
}
