// Which screens there are.
import { Cohort } from "../cohort/screen.js";
import { Log } from "../log/screen.js";
import { PersonScreen } from "../person/screen.js";

export const SCREENS = [
  { key: "person", label: "One person", show: PersonScreen },
  { key: "many", label: "Many people", show: Cohort },
  { key: "log", label: "Log", show: Log },
];
