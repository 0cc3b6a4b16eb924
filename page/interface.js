// What the page is drawn with: elements as values, and state that redraws what depends on it.
export { Fragment, createContext, render } from "preact";
export { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, computed, effect, signal, useComputed, useSignal } from "@preact/signals";
import { h } from "preact";
import htm from "htm";
export const html = htm.bind(h);
