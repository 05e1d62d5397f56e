// The graph: cards on hover, the Markov blanket of the node that was clicked, the two views, links from tables.
const graph = (() => {
  const card = document.getElementById("card");
  const watchers = []; // of the choice
  let chosen = -1;

  // Cards ------------------------------------------------------------------------------------------------------------
  function show(content, near) {
    card.replaceChildren(...content.flat(Infinity).filter(Boolean));
    card.hidden = false;
    const gap = 12, w = card.offsetWidth, h = card.offsetHeight;
    const right = near.right + gap, left = near.left - gap - w;
    const cx = right + w < innerWidth ? right : left > 0 ? left : Math.max(gap, innerWidth - w - gap);
    const cy = Math.min(Math.max((near.top + near.bottom) / 2 - h / 2, gap), Math.max(gap, innerHeight - h - gap));
    card.style.left = `${cx}px`;
    card.style.top = `${cy}px`;
  }
  function hide() {
    card.hidden = true;
    for (const each of svg.querySelectorAll(".hot")) each.classList.remove("hot");
  }
  function point(element, event) {
    if (frame.classList.contains("moving")) return;
    hide();
    element.classList.add("hot");
    if (element.dataset.node !== undefined) {
      const i = +element.dataset.node;
      data.arcs.forEach(({ start, end }, n) => { if (start === i || end === i) arcs[n].classList.add("hot"); });
      if (i !== chosen) show(describeNode(i, "card"), element.getBoundingClientRect()); // else the panel has it all
    } else {
      const spot = { left: event.clientX, right: event.clientX, top: event.clientY, bottom: event.clientY };
      show(describeArc(+element.dataset.arc, frame.dataset.view), spot);
    }
  }
  for (const element of [...nodes, ...arcs]) {
    element.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch") point(element, event); });
    element.addEventListener("pointerleave", hide);
  }
  for (const arc of arcs) { // a wider line that nobody sees, easier to point at
    const wide = arc.querySelector(".line").cloneNode();
    wide.setAttribute("class", "hit");
    wide.removeAttribute("stroke-dasharray");
    arc.append(wide);
  }
  svg.addEventListener("wheel", hide, { passive: true });
  window.addEventListener("pointermove", () => { if (frame.classList.contains("moving")) hide(); });

  // Choosing ---------------------------------------------------------------------------------------------------------
  const ROLES = { parent: "parents", child: "children", spouse: "children's other parents" };
  function choose(i) {
    chosen = i;
    frame.classList.toggle("choosing", i >= 0);
    for (const element of nodes) element.removeAttribute("data-role");
    for (const element of arcs) element.classList.remove("near");
    panel.hidden = i < 0;
    hide();
    if (i >= 0) {
      const roles = blanket(i);
      mark(i, roles);
      describe(i, roles);
      uncover(i, [i, ...Object.values(roles).flat()]);
    }
    for (const each of watchers) each(i);
  }
  function mark(i, roles) {
    const members = new Set([i]);
    nodes[i].dataset.role = "chosen";
    for (const [role, list] of Object.entries(roles)) {
      for (const member of list) { nodes[member].dataset.role = role; members.add(member); }
    }
    data.arcs.forEach(({ start, end }, n) => {
      const inside = start === i || end === i || (members.has(start) && children[i].includes(end));
      if (inside) arcs[n].classList.add("near");
    });
  }
  function describe(i, roles) {
    const close = make("button", { type: "button", class: "close", "aria-label": "Close", title: "Let go (Esc)", click: () => choose(-1) }, "×");
    const groups = Object.entries(roles).filter(([, list]) => list.length).map(([role, list]) => [
      make("h4", {}, ROLES[role]),
      make("p", { class: "chips" }, list.map((member) => make("button", { type: "button", class: `chip ${role}`, title: name(member), click: () => goTo(member) }, name(member)))),
    ]);
    const none = groups.length ? [] : [make("p", {}, "Nothing: this node stands alone.")];
    const parts = [close, describeNode(i, "panel"), make("h4", { class: "over" }, "Markov blanket"), groups, none];
    panel.replaceChildren(...parts.flat(Infinity).filter(Boolean));
    panel.scrollTop = 0;
  }
  /** Move what the panel hides into view: the whole blanket if it fits, else the node itself. */
  function uncover(i, members) {
    const [w, h] = camera.free(), gap = 20;
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
    camera.centre(boxes[i].x, boxes[i].y, Math.max(camera.scale, 0.9));
    hide();
  }
  nodes.forEach((element, i) => {
    element.addEventListener("click", () => { if (!camera.dragged) choose(chosen === i ? -1 : i); });
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(chosen === i ? -1 : i);
    });
    element.addEventListener("focus", () => {
      if (!element.matches(":focus-visible")) return;
      const box = element.getBoundingClientRect(), all = svg.getBoundingClientRect();
      const out = box.left < all.left || box.right > all.right || box.top < all.top || box.bottom > all.bottom;
      if (out || camera.far) camera.centre(boxes[i].x, boxes[i].y, Math.max(camera.scale, 0.8));
      point(element);
    });
    element.addEventListener("blur", hide);
  });
  svg.addEventListener("click", (event) => {
    if (!camera.dragged && !event.target.closest(".node")) choose(-1);
  });
  frame.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (panel.contains(document.activeElement) && chosen >= 0) nodes[chosen].focus();
    choose(-1);
    hide();
  });

  // From elsewhere in the page -----------------------------------------------------------------------------------------
  for (const input of document.querySelectorAll("input[name=view]")) {
    input.addEventListener("change", () => { frame.dataset.view = input.value; });
    if (input.checked) frame.dataset.view = input.value; // browsers keep the choice when a page is reloaded
  }
  function linkRows(id, act) {
    const table = document.getElementById(id);
    if (!table) return;
    table.classList.add("linked");
    for (const row of table.tBodies[0].rows) {
      row.tabIndex = 0;
      const go = () => { act(+row.dataset.row); frame.scrollIntoView({ block: "center", behavior: "smooth" }); };
      row.addEventListener("click", go);
      row.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
    }
  }
  linkRows("node-table", goTo);
  linkRows("arc-table", (n) => {
    choose(-1);
    const { start, end } = data.arcs[n], a = boxes[start], b = boxes[end];
    const near = Math.min(svg.clientWidth / (Math.abs(a.x - b.x) + 260), svg.clientHeight / (Math.abs(a.y - b.y) + 160), 1.3);
    camera.centre((a.x + b.x) / 2, (a.y + b.y) / 2, near);
    hide();
    for (const element of [arcs[n], nodes[start], nodes[end]]) element.classList.add("hot");
  });
  return { choose, goTo, hide, watchers, get chosen() { return chosen; } };
})();
