// Keys, and the dialog that lists them.
import { openDialog } from "./dialog.js";
import { make } from "./elements.js";
import { redo, tell, undo } from "./state.js";

const click = (id) => () => document.getElementById(id).click();
const tool = (name) => () => document.querySelector(`input[name=tool][value=${name}]`).click();

const KEYS = {
  p: ["Pin the graph, or let go", click("pin")], k: ["Keep the graph under a name", click("keep")], l: ["Lay it out anew", click("tidy")],
  v: ["Look", tool("look")], r: ["Require arcs by dragging (or hold Shift)", tool("require")], f: ["Forbid arcs by dragging (or hold Alt)", tool("forbid")],
  t: ["Tiers", click("show-lanes")], b: ["Bars in the nodes", click("show-bars")], o: ["Open a table", click("data-name")],
  "/": ["Find a node", () => document.getElementById("find").focus()], a: ["The slider of alpha", () => document.getElementById("alpha").focus()],
  "?": ["This list", () => help()],
};
const MORE = [["Ctrl Z, Ctrl Shift Z", "Undo, redo"], ["Ctrl S", "Save the session"], ["Tab, Enter", "From node to node, choose"], ["arrows, + and −, 0", "Move, zoom, see all"], ["Esc", "Let go"]];

function help() {
  openDialog("Keys", make("dl", { class: "facts keys-listed" }, [...Object.entries(KEYS).map(([key, [text]]) => [key.toUpperCase(), text]), ...MORE].map(([key, text]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)])),
    make("p", { class: "note" }, "Arcs can be chosen in the list of the tab “Why”, and rules be made in the tab “Rules”, without a mouse."));
}

/** Begin. */
export function startKeys() {
  document.getElementById("undo").addEventListener("click", undo);
  document.getElementById("redo").addEventListener("click", redo);
  document.getElementById("help").addEventListener("click", help);
  window.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input:not([type=range]):not([type=radio]), textarea, select");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) { event.preventDefault(); (event.shiftKey ? redo : undo)(); return; }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "y" && !typing) { event.preventDefault(); redo(); return; }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") { event.preventDefault(); tell("save"); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || typing || document.getElementById("dialog").open) return;
    if (event.key === "Escape") { tell("escape"); return; }
    const known = KEYS[event.key.toLowerCase()];
    if (known) { event.preventDefault(); known[1](); }
  });
}
