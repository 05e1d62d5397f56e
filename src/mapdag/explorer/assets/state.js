// What the page knows and shows, in one place, and who wants to be told of changes. Settings have a history.

export const state = {
  vocabulary: null, // what can be chosen
  data: null, // the table: id, name, columns
  settings: null, // what the controls say
  graph: null, // the last answer: nodes, arcs, score, ...
  pin: null, // {name, arcs}: what the graph is compared with
  kept: [], // [{name, settings, arcs, score, objective, note}]
  notes: "",
  strength: null, // {arcs: Map, of, done, threshold, limit}
  arc: null, // the chosen arc: [from, to]
  node: null, // the chosen node
  tab: "chosen", // the view in the dock
};

const listeners = new Map();

/** Be told of an event: "data", "settings", "graph", "chosen", "pin", "kept", "strength", "tab", "history", "notes". */
export function on(events, act) {
  for (const event of events.split(" ")) listeners.set(event, [...(listeners.get(event) || []), act]);
}

/** Tell of an event. */
export function tell(event, ...about) {
  for (const act of listeners.get(event) || []) act(...about);
}

// Settings and their history ----------------------------------------------------------------------------------------------
const MOST = 200; // steps that can be undone
let past = [], future = [], base = null; // `base` is what settings were before a slider began to move

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Change settings. While a slider moves, `live`, the step is not finished and nothing is recorded. */
export function change(patch, { live = false } = {}) {
  const next = { ...state.settings, ...patch }, moved = !same(next, state.settings);
  base ||= state.settings;
  if (!live) {
    if (!same(next, base)) { past = [...past.slice(1 - MOST), base]; future = []; }
    base = null;
  }
  state.settings = next;
  if (moved) tell("settings", { live });
  if (!live) tell("history");
}

/** Start from these settings, with no history or a given one. */
export function begin(settings, history = []) {
  [state.settings, past, future, base] = [settings, history, [], null];
  tell("settings", { live: false });
  tell("history");
}

export function undo() { step(past, future); }
export function redo() { step(future, past); }

function step(from, to) {
  if (!from.length) return;
  to.push(state.settings);
  [state.settings, base] = [from.pop(), null];
  tell("settings", { live: false });
  tell("history");
}

/** What can be undone and redone. */
export const history = () => ({ past, future });

// Arcs --------------------------------------------------------------------------------------------------------------------
/** The name of an arc in maps. */
export const keyOf = (start, end) => JSON.stringify([start, end]);
export const has = (arcs, start, end) => arcs.some(([a, b]) => a === start && b === end);
export const without = (arcs, start, end) => arcs.filter(([a, b]) => a !== start || b !== end);

/** The arcs of the graph as it is, without what is known of them. */
export const arcsNow = () => state.graph.arcs.map(([a, b]) => [a, b]);

/** What every question to the server is about. */
export const question = () => ({ data: state.data.data, settings: state.settings, arcs: arcsNow() });
