// Bars in the nodes: the distribution of every node, in the graph. Click a level to observe it.
import { percent } from "./beliefs.js";
import { makeSvg } from "./elements.js";
import { SHOWN, WIDE } from "./layout.js";
import { drawing, makeRoom, picture } from "./stage.js";
import { on, state, tell } from "./state.js";

const MOST = 60, LINE = 15; // nodes that can have bars; pixels of a level
const button = document.getElementById("show-bars");
let shown = false, observe = () => {}, latest = null;

/** Whether nodes have bars now. */
export const barsShown = () => shown;

/** Begin; `beliefs` has the distributions. */
export function startBars(beliefs) {
  observe = (i, code) => { if (beliefs.loaded) beliefs.observe(i, code); };
  button.addEventListener("click", () => show(!shown));
  on("beliefs", (all) => { latest = all; if (shown) fill(); });
  on("data", () => {
    latest = null;
    const many = state.data.columns.length > MOST;
    button.disabled = many;
    button.title = many ? `Bars are for up to ${MOST} nodes: the tab “What if” has all of them` : "Distributions in the nodes; click a level to observe it (B)";
    if (shown) show(false);
  });
}

function show(wanted) {
  shown = wanted;
  button.setAttribute("aria-pressed", String(shown));
  picture.frame.classList.toggle("with-bars", shown);
  for (const each of picture.svg.querySelectorAll(".bars")) each.remove();
  if (shown) picture.nodes.forEach(build);
  makeRoom(shown ? state.data.columns.map(({ levels }) => levels.length) : null);
  picture.nodes.forEach((_, i) => { if (picture.boxes[i]) drawing.putNode(i); });
  if (shown && latest) fill();
  tell("bars");
}

function build(node, i) {
  const { levels } = state.data.columns[i], wide = Math.max(+node.firstChild.getAttribute("width"), WIDE);
  const lines = levels.slice(0, SHOWN).map((level, code) => {
    const line = makeSvg("g", { class: "level", "data-level": code, transform: `translate(6 ${26 + code * LINE})`, role: "button", "aria-label": level },
      makeSvg("rect", { class: "ground", width: wide - 12, height: LINE - 2, rx: 3 }),
      makeSvg("rect", { class: "amount", width: 0, height: LINE - 2, rx: 3 }),
      makeSvg("text", { x: 5, y: LINE / 2 - 1, "text-anchor": "start" }, level.length > 12 ? `${level.slice(0, 11)}…` : level),
      makeSvg("text", { x: wide - 16, y: LINE / 2 - 1, "text-anchor": "end", class: "value" }));
    line.addEventListener("click", (event) => { event.stopPropagation(); observe(i, code); });
    return line;
  });
  node.append(makeSvg("g", { class: "bars", "data-wide": wide - 12 }, lines));
}

function fill() {
  const { now, evidence } = latest;
  picture.nodes.forEach((node, i) => {
    const bars = node.querySelector(".bars");
    if (!bars) return;
    for (const line of bars.children) {
      const code = +line.dataset.level, p = now.marginals ? now.marginals[i][code] : NaN;
      line.classList.toggle("observed", evidence.get(i) === code);
      line.children[1].setAttribute("width", Number.isNaN(p) ? 0 : (p * bars.dataset.wide).toFixed(1));
      line.children[3].textContent = Number.isNaN(p) ? "–" : percent(p);
    }
  });
}
