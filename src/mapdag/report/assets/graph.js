// The graph: cards on hover, the Markov blanket of the node that was clicked. Elements may come and go: listeners are on
// the picture, not on them.
import { make } from "./elements.js";
import { makeCard } from "./card.js";

const ROLES = { parent: "parents", child: "children", spouse: "children's other parents" };

/**
 * Let a picture be asked. `known()` returns the indexed network that it shows, `tellNode(i, where)` and `tellArc(n)` what
 * is known of one, as elements (`where` is "card" or "panel"), `chooseArc(n)`, where given, what a click on an arc does.
 */
export function makeGraph({ picture, camera, card, panel, known, tellNode, tellArc, chooseArc = null }) {
  const { frame, svg } = picture, { show, hide: hideCard } = makeCard(card);
  const watchers = []; // of the choice
  let chosen = -1, under = null;

  // Pointing -----------------------------------------------------------------------------------------------------------
  function hide() {
    hideCard();
    for (const each of svg.querySelectorAll(".hot")) each.classList.remove("hot");
  }
  function point(element, event) {
    if (frame.classList.contains("moving")) return;
    hide();
    element.classList.add("hot");
    if (element.dataset.node !== undefined) {
      const i = +element.dataset.node;
      known().arcs.forEach(({ start, end }, n) => { if (start === i || end === i) picture.arcs[n]?.classList.add("hot"); });
      if (i !== chosen) show(tellNode(i, "card"), element.getBoundingClientRect()); // else the panel has it all
    } else if (element.dataset.arc !== undefined) {
      const spot = { left: event.clientX, right: event.clientX, top: event.clientY, bottom: event.clientY };
      show(tellArc(+element.dataset.arc), spot);
    }
  }
  svg.addEventListener("pointerover", (event) => {
    const element = event.target.closest(".node, .arc");
    if (event.pointerType === "touch" || element === under) return;
    if (under) hide();
    under = element;
    if (element) point(element, event);
  });
  svg.addEventListener("pointerleave", () => { under = null; hide(); });
  svg.addEventListener("wheel", hide, { passive: true });
  window.addEventListener("pointermove", () => { if (frame.classList.contains("moving")) hide(); });

  // Choosing -----------------------------------------------------------------------------------------------------------
  function choose(i) {
    chosen = i;
    refresh();
    hide();
    if (i >= 0) uncover(i, [i, ...Object.values(known().blanket(i)).flat()]);
    for (const each of watchers) each(i);
  }
  /** Mark and describe what is chosen, in the network as it is now. */
  function refresh() {
    frame.classList.toggle("choosing", chosen >= 0);
    for (const element of picture.nodes) element.removeAttribute("data-role");
    for (const element of picture.arcs) element.classList.remove("near");
    panel.hidden = chosen < 0;
    if (chosen < 0) return;
    const roles = known().blanket(chosen);
    mark(chosen, roles);
    describe(chosen, roles);
  }
  function mark(i, roles) {
    const members = new Set([i]), { arcs, children } = known();
    picture.nodes[i].dataset.role = "chosen";
    for (const [role, list] of Object.entries(roles)) {
      for (const member of list) { picture.nodes[member].dataset.role = role; members.add(member); }
    }
    arcs.forEach(({ start, end }, n) => {
      const inside = start === i || end === i || (members.has(start) && children[i].includes(end));
      if (inside) picture.arcs[n].classList.add("near");
    });
  }
  function describe(i, roles) {
    const { name } = known();
    const close = make("button", { type: "button", class: "close", "aria-label": "Close", title: "Let go (Esc)", click: () => choose(-1) }, "×");
    const groups = Object.entries(roles).filter(([, list]) => list.length).map(([role, list]) => [
      make("h4", {}, ROLES[role]),
      make("p", { class: "chips" }, list.map((member) => make("button", { type: "button", class: `chip ${role}`, title: name(member), click: () => goTo(member) }, name(member)))),
    ]);
    const none = groups.length ? [] : [make("p", {}, "Nothing: this node stands alone.")];
    const parts = [close, tellNode(i, "panel"), make("h4", { class: "over" }, "Markov blanket"), groups, none];
    panel.replaceChildren(...parts.flat(Infinity).filter(Boolean));
    panel.scrollTop = 0;
  }
  /** Move what the panel hides into view: the whole blanket if it fits, else the node itself. */
  function uncover(i, members) {
    const [w, h] = camera.free(), gap = 20, { boxes } = picture;
    const ends = (list) => {
      const corners = list.flatMap((k) => [camera.spot(boxes[k].x - boxes[k].w / 2, boxes[k].y - boxes[k].h / 2), camera.spot(boxes[k].x + boxes[k].w / 2, boxes[k].y + boxes[k].h / 2)]);
      return [0, 1].map((axis) => [Math.min(...corners.map((at) => at[axis])), Math.max(...corners.map((at) => at[axis]))]);
    };
    const all = ends(members), own = ends([i]);
    const [dx, dy] = [w, h].map((room, axis) => {
      const [from, to] = all[axis][1] - all[axis][0] < room - 2 * gap ? all[axis] : own[axis];
      return to > room - gap ? room - gap - to : from < gap ? gap - from : 0;
    });
    camera.move(dx, dy);
  }
  function goTo(i) {
    choose(i);
    camera.centre(picture.boxes[i].x, picture.boxes[i].y, Math.max(camera.scale, 0.9));
    hide();
  }
  /** Look at an arc. */
  function goToArc(n) {
    choose(-1);
    const { start, end } = known().arcs[n], a = picture.boxes[start], b = picture.boxes[end];
    const near = Math.min(svg.clientWidth / (Math.abs(a.x - b.x) + 260), svg.clientHeight / (Math.abs(a.y - b.y) + 160), 1.3);
    camera.centre((a.x + b.x) / 2, (a.y + b.y) / 2, near);
    hide();
    for (const element of [picture.arcs[n], picture.nodes[start], picture.nodes[end]]) element.classList.add("hot");
  }
  svg.addEventListener("click", (event) => {
    if (camera.dragged) return;
    const element = event.target.closest(".node, .arc");
    if (element?.dataset.node !== undefined) choose(chosen === +element.dataset.node ? -1 : +element.dataset.node);
    else if (element?.dataset.arc !== undefined && chooseArc) chooseArc(+element.dataset.arc);
    else choose(-1);
  });
  svg.addEventListener("keydown", (event) => {
    const element = event.target.closest(".node");
    if (!element || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    choose(chosen === +element.dataset.node ? -1 : +element.dataset.node);
  });
  frame.addEventListener("focusin", (event) => { // on the picture itself it would make the picture a stop of Tab
    const element = event.target.closest(".node");
    if (!element?.matches(":focus-visible")) return;
    const box = element.getBoundingClientRect(), all = svg.getBoundingClientRect(), { x, y } = picture.boxes[+element.dataset.node];
    const out = box.left < all.left || box.right > all.right || box.top < all.top || box.bottom > all.bottom;
    if (out || camera.far) camera.centre(x, y, Math.max(camera.scale, 0.8));
    point(element);
  });
  frame.addEventListener("focusout", hide);
  frame.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (panel.contains(document.activeElement) && chosen >= 0) picture.nodes[chosen].focus();
    choose(-1);
    hide();
  });
  return { choose, refresh, goTo, goToArc, hide, watchers, get chosen() { return chosen; } };
}
