// The address: settings, what is chosen and what is shown are behind the #, so that a link brings them back.
import { settled } from "./clock.js";
import { showTab } from "./dock.js";
import { begin, on, state, tell } from "./state.js";

let written = "";

/** Settings that differ from the defaults, and what is shown. */
function compose() {
  const parts = new URLSearchParams(), { defaults } = state.vocabulary;
  const changed = Object.fromEntries(Object.entries(state.settings).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(defaults[key])));
  if (state.data) parts.set("data", state.data.data);
  for (const [key, value] of Object.entries(changed)) parts.set(key, typeof value === "string" ? value : JSON.stringify(value));
  if (state.arc) parts.set("arc", JSON.stringify(state.arc));
  if (state.node) parts.set("node", state.node);
  if (state.tab !== "chosen") parts.set("view", state.tab);
  if (document.getElementById("frame").dataset.view === "class") parts.set("graph", "class");
  if (state.pin) {
    const place = new Map(state.data.columns.map(({ name }, i) => [name, i]));
    parts.set("pin", state.pin.arcs.map(([a, b]) => `${place.get(a)}-${place.get(b)}`).join("."));
  }
  return parts.toString();
}

/** What an address says: `{data, settings, arc, node, tab, pin}`. */
export function read(hash = location.hash) {
  const parts = new URLSearchParams(hash.slice(1)), { defaults } = state.vocabulary, settings = { ...defaults };
  for (const [key, value] of Object.entries(defaults)) {
    const text = parts.get(key);
    if (text === null) continue;
    try { settings[key] = typeof value === "string" ? text : JSON.parse(text); } catch { /* what cannot be read stays as it is */ }
  }
  const parsed = (key) => { try { return JSON.parse(parts.get(key)); } catch { return null; } };
  return { data: parts.get("data"), settings, arc: parsed("arc"), node: parts.get("node"), tab: parts.get("view"), graph: parts.get("graph"), pin: parts.get("pin") };
}

/** Show what an address says about views; settings are taken before. */
export function showViews({ arc, tab, graph, pin }) {
  const names = state.data.columns.map(({ name }) => name);
  if (pin) {
    const arcs = pin.split(".").map((pair) => pair.split("-").map((i) => names[+i])).filter(([a, b]) => a !== undefined && b !== undefined);
    state.pin = { name: "the pinned graph", arcs };
    tell("pin");
  }
  if (graph === "class") document.querySelector("input[name=view][value=class]").click();
  if (Array.isArray(arc) && arc.length === 2 && arc.every((each) => names.includes(each))) { state.arc = arc; tell("chosen"); }
  if (document.getElementById(`tab-${CSS.escape(tab || "")}`)) showTab(tab);
}

/** Begin: write the address as things change, and follow it when somebody else does. */
export function startAddress() {
  const write = settled(() => {
    written = compose();
    window.history.replaceState(null, "", `${location.pathname}${location.search}#${written}`);
  }, 120);
  on("settings chosen tab pin view data", write);
  window.addEventListener("hashchange", () => {
    if (!state.data || location.hash.slice(1) === written) return;
    const found = read();
    begin(found.settings);
    showViews(found);
  });
}

/** Take the token out of the address bar; inside a frame it stays for reloads. */
export function hideToken() {
  const address = new URL(location.href);
  if (window.top !== window || !address.searchParams.has("token")) return;
  address.searchParams.delete("token");
  address.searchParams.delete("data"); // it is behind the # from now on
  window.history.replaceState(null, "", address);
}
