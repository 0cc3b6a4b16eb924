// A link that restores the view: the state is kept by the server, the address has an opaque id only.
import { show } from "../answer/run.js";
import { get, post } from "../core/api.js";
import { chosen, restore, snapshot } from "../core/state.js";

// Saves the view; resolves to the address that restores it.
export async function savedAddress() {
  const { id } = await post("views", { state: snapshot() });
  const address = new URL(location.href);
  address.hash = `view=${encodeURIComponent(id)}`;
  return address.href;
}

const idOf = (hash) => /^#view=([^&]+)$/.exec(hash)?.[1] ?? null;

// Why a view cannot be shown, in words.
function refusal(error) {
  if (error.status === 404) return "The view behind this link is gone: it was removed, or the link was cut. Ask for a new one.";
  if (error.status === 403) return "The view behind this link was saved by an auditor. Sign in with an auditor's token to open it.";
  return error.message;
}

// Opens the view that the address names; resolves to null, or to why it could not be opened.
export async function openAddress() {
  const id = idOf(location.hash);
  if (id === null) return null;
  try {
    const { state } = await get(`views/${id}`);
    restore(state);
    if (state.answer) {
      await show(state.answer.record, state.answer.row);
      chosen.value = state.chosen;
    }
    return null;
  } catch (error) {
    return refusal(error);
  }
}
