import { panel } from "../core/state.js";

// Takes values over, for example those of a card, and shows the panel.
export function takeOver(changes, name) {
  panel.value = "what-if";
}
