// How arcs look: compelled or reversible, new or turned since the pin, as thick as they are strong, required, too weak.
import { has, keyOf, state } from "./state.js";

const PLAIN = 1.4, THIN = 0.7, THICK = 3.4, FORBIDDEN = 80; // the most forbidden arcs that are drawn

/** Strength and direction of an arc among the resamples, or null. */
export function strengthOf(start, end) {
  const arcs = state.strength?.arcs;
  if (!arcs) return null;
  const there = arcs.get(keyOf(start, end)), back = arcs.get(keyOf(end, start));
  if (there) return { strength: there[0], direction: there[1] };
  return back ? { strength: back[0], direction: 1 - back[1] } : { strength: 0, direction: 0 };
}

/** What became of an arc since the pinned graph. */
export function sincePin(start, end) {
  if (!state.pin || has(state.pin.arcs, start, end)) return "";
  return has(state.pin.arcs, end, start) ? "turned" : "new";
}

/** Classes and width of an arc of the graph. */
export function look({ arcs, name }, n) {
  const { start, end, reversible } = arcs[n], [a, b] = [name(start), name(end)];
  const classes = [reversible ? "reversible" : "compelled"], found = strengthOf(a, b), since = sincePin(a, b);
  if (since) classes.push(`since-${since}`);
  if (has(state.settings.required, a, b)) classes.push("required");
  if (found && found.strength < state.strength.limit) classes.push("weak");
  if (state.arc && state.arc[0] === a && state.arc[1] === b) classes.push("picked");
  return { classes, width: found ? THIN + (THICK - THIN) * found.strength : since ? 2 : PLAIN };
}

/** Arcs that are not in the graph but shown: gone since the pin, forbidden, strong among the resamples. */
export function ghosts({ place }) {
  const found = [], now = state.graph.arcs, taken = new Set();
  const add = (a, b, kind) => {
    const [start, end] = [place(a), place(b)], pair = [start, end].sort().join();
    if (start === undefined || end === undefined || taken.has(pair + kind)) return;
    taken.add(pair + kind);
    found.push({ start, end, kind });
  };
  for (const [a, b] of state.pin?.arcs || []) if (!has(now, a, b) && !has(now, b, a)) add(a, b, "gone");
  for (const [a, b] of state.settings.forbidden.slice(0, FORBIDDEN)) add(a, b, "forbidden");
  for (const [key, [strength, direction]] of state.strength?.arcs || []) {
    const [a, b] = JSON.parse(key);
    if (strength >= state.strength.limit && !has(now, a, b) && !has(now, b, a)) add(...(direction >= 0.5 ? [a, b] : [b, a]), "missed");
  }
  return found;
}
