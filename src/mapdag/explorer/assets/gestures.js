// Drawing rules: drag from one node to another with the tool Require or Forbid, or with Shift or Alt held.
import { border } from "./arrows.js";
import { forbid, require_, ruleOf } from "./rules.js";
import { camera, picture } from "./stage.js";
import { state } from "./state.js";

const { frame, svg } = picture, rubber = svg.querySelector(".rubber");

/** The tool in use: "look", "require" or "forbid". */
export function useTool(name) {
  frame.dataset.tool = name;
  document.querySelector(`input[name=tool][value=${name}]`).checked = true;
}

const nodeAt = (x, y) => document.elementFromPoint(x, y)?.closest?.(".node");

/** Begin. */
export function startGestures() {
  for (const input of document.querySelectorAll("input[name=tool]")) input.addEventListener("change", () => useTool(input.value));
  let from = -1, kind = "", over = null;

  frame.addEventListener("pointerdown", (event) => { // before the camera hears of it
    const node = event.target.closest?.(".nodes .node"), tool = frame.dataset.tool;
    kind = event.shiftKey ? "require" : event.altKey ? "forbid" : tool === "look" ? "" : tool;
    if (!node || !kind || event.button) return;
    event.stopPropagation();
    event.preventDefault();
    from = +node.dataset.node;
    frame.classList.add("linking", kind);
  }, { capture: true });
  window.addEventListener("pointermove", (event) => {
    if (from < 0) return;
    const node = nodeAt(event.clientX, event.clientY), to = node ? +node.dataset.node : -1, at = svg.getBoundingClientRect(), view = camera.view();
    over?.classList.remove("target");
    over = to >= 0 && to !== from ? node : null;
    over?.classList.add("target");
    const end = over ? picture.boxes[to] : { x: view.x + (event.clientX - at.left) / camera.scale, y: view.y + (event.clientY - at.top) / camera.scale };
    const [x, y] = border(picture.boxes[from], end), [ex, ey] = over ? border(end, picture.boxes[from]) : [end.x, end.y];
    rubber.setAttribute("d", `M${x.toFixed(1)} ${y.toFixed(1)}L${ex.toFixed(1)} ${ey.toFixed(1)}`);
  });
  const stop = (act) => (event) => {
    if (from < 0) return;
    const to = over ? +over.dataset.node : -1, names = state.data.columns.map(({ name }) => name);
    over?.classList.remove("target");
    rubber.removeAttribute("d");
    frame.classList.remove("linking", "require", "forbid");
    const [a, b] = [names[from], names[to]];
    [from, over] = [-1, null];
    if (!act || to < 0) return;
    event.preventDefault();
    if (kind === "require" && ruleOf(a, b) !== "required") require_(a, b);
    if (kind === "forbid" && ruleOf(a, b) !== "forbidden") forbid(a, b);
  };
  window.addEventListener("pointerup", stop(true));
  window.addEventListener("pointercancel", stop(false));
}
