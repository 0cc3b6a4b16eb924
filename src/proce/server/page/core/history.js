// Values that can be taken back and done again: what was, what is, what was taken back.

const MAX_STEPS = 200;

// A history that begins with a value.
export const begin = (value) => ({ past: [], present: value, future: [] });

// The history after a step to a new value; what had been taken back is forgotten.
export const advance = (history, value) => ({
  past: [...history.past, history.present].slice(-MAX_STEPS),
  present: value,
  future: [],
});

// The history with its last step ending elsewhere: typing on in one field is one step.
export const amend = (history, value) => ({ ...history, present: value, future: [] });

// The history one step back, or as it is where there is none.
export function undo(history) {
  if (!history.past.length) return history;
  return {
    past: history.past.slice(0, -1),
    present: history.past.at(-1),
    future: [history.present, ...history.future],
  };
}

// The history one step forth again, or as it is where there is none.
export function redo(history) {
  if (!history.future.length) return history;
  const [present, ...future] = history.future;
  return { past: [...history.past, history.present], present, future };
}

// "undo", "redo" or null: what the keys of an event ask for.
export function historyKey(event) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return null;
  const key = event.key.toLowerCase();
  if (key === "z") return event.shiftKey ? "redo" : "undo";
  return key === "y" && !event.shiftKey ? "redo" : null;
}
