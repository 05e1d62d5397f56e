// Tiers: lanes from early to late, between which nodes are dragged, or moved with the arrow keys.
import { make } from "./elements.js";
import { change, on, state } from "./state.js";

const place = document.getElementById("lanes"), button = document.getElementById("show-lanes");
let dragged = null;

/** Show the lanes, or the graph again. */
export function showLanes(wanted = place.hidden) {
  place.hidden = !wanted;
  button.setAttribute("aria-pressed", String(wanted));
  document.getElementById("frame").classList.toggle("with-lanes", wanted);
  if (wanted) update();
}

const tiers = () => (state.settings.tiers || []).map((tier) => [...tier]);

/** Put a node into a lane: a tier, one past the last for a new tier, or -1 for none. */
function put(name, lane) {
  const next = tiers().map((tier) => tier.filter((each) => each !== name));
  if (lane >= 0) {
    while (next.length <= lane) next.push([]);
    next[lane].push(name);
  }
  change({ tiers: next.filter((tier) => tier.length) });
  place.querySelector(`[data-name="${CSS.escape(name)}"]`)?.focus();
}

function update() {
  if (place.hidden || !state.data) return;
  const now = tiers(), placed = new Set(now.flat()), free = state.data.columns.map(({ name }) => name).filter((name) => !placed.has(name));
  place.replaceChildren(
    make("p", { class: "lane-head" }, make("span", {}, now.length ? "No arc goes from a later tier to an earlier one. " : "Drag nodes into tiers, from early to late; or use the arrow keys. ", make("strong", { id: "lane-cost", role: "status" })),
      make("button", { type: "button", click: () => change({ tiers: [] }), disabled: !now.length }, "Clear"), make("button", { type: "button", class: "primary", click: () => showLanes(false) }, "Done")),
    ...now.map((names, k) => lane(k, `Tier ${k + 1}`, k === 0 ? "earliest" : k === now.length - 1 ? "latest" : "", names)),
    lane(now.length, "New tier", "drop here", []),
    lane(-1, "Free", "no tier", free));
}
function lane(number, title, hint, names) {
  return make("div", { class: `lane ${names.length ? "" : "empty"}`, "data-lane": number, role: "group", "aria-label": title },
    make("span", { class: "lane-title" }, title, hint ? make("small", {}, hint) : null),
    make("div", { class: "lane-nodes" }, names.map((name) => chip(name, number))));
}
function chip(name, lane) {
  const last = tiers().length;
  return make("button", {
    type: "button", class: "lane-node", "data-name": name, "aria-label": `${name}, ${lane < 0 ? "in no tier" : `tier ${lane + 1}`}; arrow keys move it`,
    keydown: (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = lane < 0 ? (step < 0 ? last : -1) : lane + step > last || (lane + step === last && tiers()[lane].length === 1) ? -1 : Math.max(0, lane + step);
      if (next !== lane) put(name, next);
    },
    pointerdown: (event) => begin(event, name),
  }, name);
}

// Dragging ------------------------------------------------------------------------------------------------------------------
function begin(event, name) {
  if (event.button) return;
  event.preventDefault();
  event.target.focus();
  const shadow = event.target.cloneNode(true);
  shadow.classList.add("shadow");
  dragged = { name, shadow, source: event.target, from: [event.clientX, event.clientY] };
}
window.addEventListener("pointermove", (event) => {
  if (!dragged) return;
  const { shadow, source, from } = dragged;
  if (!shadow.isConnected) {
    if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 4) return;
    document.body.append(shadow);
    source.classList.add("lifted");
  }
  Object.assign(shadow.style, { left: `${event.clientX}px`, top: `${event.clientY}px` });
  const under = laneAt(event);
  for (const each of place.querySelectorAll(".lane")) each.classList.toggle("over", each === under);
});
const laneAt = (event) => document.elementsFromPoint(event.clientX, event.clientY).find((each) => each.classList.contains("lane"));
window.addEventListener("pointerup", (event) => {
  if (!dragged) return;
  const { name, shadow, source } = dragged, under = laneAt(event), moved = shadow.isConnected;
  dragged = null;
  shadow.remove();
  source.classList.remove("lifted");
  for (const each of place.querySelectorAll(".over")) each.classList.remove("over");
  if (moved && under) put(name, +under.dataset.lane);
});

/** Begin. */
export function startLanes() {
  button.addEventListener("click", () => showLanes());
  on("settings", update);
  on("data escape", () => showLanes(false));
}
