// How probable somebody believes an arc to be: a slider that makes it part of the prior (CS).
import { makeDial } from "./dial.js";
import { make } from "./elements.js";
import { change, state } from "./state.js";

let before = null; // the prior to go back to

const beliefIn = (a, b) => state.settings.elicited?.find(([x, y]) => x === a && y === b)?.[2];

/** Say, or take back with null, how probable an arc is. */
function believe(a, b, p, live) {
  const others = (state.settings.elicited || []).filter(([x, y]) => !(x === a && y === b));
  const elicited = p === null ? others : [...others, [a, b, p]];
  if (state.settings.prior !== "CS") before = { prior: state.settings.prior, beta: state.settings.beta, c: state.settings.c };
  const prior = elicited.length ? { prior: "CS" } : before || { prior: "MU", beta: null, c: 1 };
  change({ elicited, ...prior }, { live });
}

/** The slider for an arc. */
export function startElicitation(a, b) {
  const now = beliefIn(a, b);
  const dial = makeDial({ id: "belief", title: "I believe in this arc", hint: "Its probability before seeing the data, elicited from somebody who knows", low: 0.01, high: 0.98, log: false, act: (p, live) => believe(a, b, p, live) });
  dial.set(now ?? 0.33);
  const clear = make("button", { type: "button", class: "quiet", id: "belief-clear", hidden: now === undefined, click: () => believe(a, b, null, false) }, "Take back");
  return [make("h4", { class: "over" }, "What you believe"), dial.element, make("p", { class: "note" }, now === undefined ? "Moving it makes the prior CS: what you believe of single arcs, and nothing else. " : "Part of the prior CS. ", clear)];
}
