// The pin: a graph with which all later ones are compared. New arcs, arcs that are gone and turned ones stand out.
import { arcsNow, has, on, state, tell } from "./state.js";
import { announce } from "./trouble.js";

const button = document.getElementById("pin");

/** Compare with the graph as it is from now on, or no longer. */
export function togglePin() {
  if (!state.graph) return;
  state.pin = state.pin ? null : { name: state.graph.objective, arcs: arcsNow() };
  tell("pin");
}

/** Compare with a graph that was kept. */
export function pinTo({ name, arcs }) {
  state.pin = { name, arcs };
  tell("pin");
}

/** How many arcs are new, gone, turned since the pin. */
export function sinceCounts(arcs = arcsNow(), pinned = state.pin.arcs) {
  const fresh = arcs.filter(([a, b]) => !has(pinned, a, b)), turned = fresh.filter(([a, b]) => has(pinned, b, a));
  const gone = pinned.filter(([a, b]) => !has(arcs, a, b) && !has(arcs, b, a));
  return { new: fresh.length - turned.length, gone: gone.length, turned: turned.length };
}

/** Begin. */
export function startPin() {
  button.addEventListener("click", togglePin);
  const update = () => {
    button.setAttribute("aria-pressed", String(Boolean(state.pin)));
    button.textContent = "Pin";
    if (!state.pin || !state.graph) return;
    const since = sinceCounts();
    button.textContent = `Pinned: +${since.new} −${since.gone} ⇄${since.turned}`;
    button.title = `Compared with ${state.pin.name}: ${since.new} new, ${since.gone} gone, ${since.turned} turned. Click to let go (P)`;
  };
  on("pin drawn", update);
  on("pin", () => announce(state.pin ? "The graph is pinned." : "Nothing is pinned."));
}
