// The graph: zoom and pan, cards on hover, the Markov blanket of the node that was clicked, the two views.
{
  const frame = document.getElementById("frame");
  const svg = frame.querySelector("svg");
  const layer = svg.querySelector(".view");
  const card = document.getElementById("card");
  const panel = document.getElementById("details");
  const nodes = [...svg.querySelectorAll(".node")];
  const arcs = [...svg.querySelectorAll(".arc")];
  const width = +frame.dataset.width, height = +frame.dataset.height;
  const FAR = 0.42; // below this scale labels cannot be read
  const MOST = 4;
  let x = 0, y = 0, k = 1, least = 0.02, chosen = -1;

  // Moving -----------------------------------------------------------------------------------------------------------
  function apply() {
    layer.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(5)})`);
    svg.classList.toggle("far", k < FAR);
    svg.classList.toggle("remote", k < FAR / 2.5);
    frame.dataset.scale = k.toFixed(4);
  }
  function fit() {
    const w = svg.clientWidth, h = svg.clientHeight;
    k = Math.min(w / width, h / height, 1.5);
    least = k * 0.6;
    x = (w - k * width) / 2;
    y = (h - k * height) / 2;
    apply();
  }
  function zoom(factor, px = svg.clientWidth / 2, py = svg.clientHeight / 2) {
    const next = Math.min(Math.max(k * factor, least), MOST);
    x = px - (px - x) * next / k;
    y = py - (py - y) * next / k;
    k = next;
    apply();
  }
  function centre(cx, cy, scale = k) {
    k = Math.min(Math.max(scale, least), MOST);
    x = (svg.clientWidth - (panel.hidden ? 0 : panel.offsetWidth)) / 2 - k * cx;
    y = svg.clientHeight / 2 - k * cy;
    apply();
  }
  const middle = (element) => {
    const box = element.getBBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };

  svg.addEventListener("wheel", (event) => {
    const out = event.deltaY > 0;
    if (out && k <= least * 1.67) return; // all is in view: let the page scroll on
    event.preventDefault();
    hide();
    const at = svg.getBoundingClientRect();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 18 : 1);
    zoom(Math.exp(-Math.max(-240, Math.min(240, pixels)) * 0.0018), event.clientX - at.left, event.clientY - at.top);
  }, { passive: false });

  const held = new Map(); // pointers that are down: one moves, two pinch
  let moved = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held.set(event.pointerId, [event.clientX, event.clientY]);
    moved = 0;
  });
  window.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (held.size === 2) {
      const [, other] = [...held].find(([id]) => id !== event.pointerId);
      const at = svg.getBoundingClientRect();
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      zoom(apart(now) / Math.max(apart(before), 1), (now[0] + other[0]) / 2 - at.left, (now[1] + other[1]) / 2 - at.top);
    } else {
      x += now[0] - before[0];
      y += now[1] - before[1];
      apply();
    }
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (moved > 4) { frame.classList.add("moving"); hide(); }
    held.set(event.pointerId, now);
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    window.addEventListener(kind, (event) => { held.delete(event.pointerId); frame.classList.remove("moving"); });
  }

  const buttons = {
    in: () => zoom(1.35), out: () => zoom(1 / 1.35), fit,
    full: () => (document.fullscreenElement ? document.exitFullscreen() : frame.parentElement.requestFullscreen()),
  };
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", buttons[button.dataset.zoom]);
  if (!document.fullscreenEnabled) document.querySelector("[data-zoom=full]").remove();
  const keys = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": fit, Escape: () => { choose(-1); hide(); },
    ArrowLeft: () => { x += 60; apply(); }, ArrowRight: () => { x -= 60; apply(); },
    ArrowUp: () => { y += 60; apply(); }, ArrowDown: () => { y -= 60; apply(); },
  };
  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

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
      if (i !== chosen) show(describeNode(i), element.getBoundingClientRect()); // else the panel has it all
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

  // Choosing ---------------------------------------------------------------------------------------------------------
  const ROLES = { parent: "parents", child: "children", spouse: "children's other parents" };
  function choose(i) {
    chosen = i;
    frame.classList.toggle("choosing", i >= 0);
    for (const element of nodes) element.removeAttribute("data-role");
    for (const element of arcs) element.classList.remove("near");
    panel.hidden = i < 0;
    if (i < 0) return;
    const roles = blanket(i);
    const members = new Set([i]);
    nodes[i].dataset.role = "chosen";
    for (const [role, list] of Object.entries(roles)) {
      for (const member of list) { nodes[member].dataset.role = role; members.add(member); }
    }
    data.arcs.forEach(({ start, end }, n) => {
      const inside = start === i || end === i || (members.has(start) && children[i].includes(end));
      if (inside) arcs[n].classList.add("near");
    });
    const close = make("button", { type: "button", class: "close", "aria-label": "Close", title: "Let go (Esc)", click: () => choose(-1) }, "×");
    const groups = Object.entries(roles).filter(([, list]) => list.length).map(([role, list]) => [
      make("h4", {}, ROLES[role]),
      make("p", { class: "chips" }, list.map((member) => make("button", { type: "button", class: `chip ${role}`, click: () => goTo(member) }, name(member)))),
    ]);
    const none = groups.length ? null : make("p", {}, "Nothing: this node stands alone.");
    panel.replaceChildren(close, ...describeNode(i).flat(Infinity).filter(Boolean), make("h4", { class: "over" }, "Markov blanket"), ...groups.flat(), ...(none ? [none] : []));
    panel.scrollTop = 0;
    uncover(i, [...members]);
  }
  /** Move what the panel hides into view: the whole blanket if it fits, else the node itself. */
  function uncover(i, members) {
    const free = svg.clientWidth - panel.offsetWidth - 30;
    if (free < 200) return;
    const sides = (list) => {
      const boxes = list.map((member) => nodes[member].getBBox());
      return [Math.min(...boxes.map((b) => b.x)) * k + x, Math.max(...boxes.map((b) => b.x + b.width)) * k + x];
    };
    let [left, right] = sides(members);
    if (right - left > free) [left, right] = sides([i]);
    if (right > free) x -= right - free;
    else if (left < 20) x += 20 - left;
    apply();
  }
  function goTo(i) {
    choose(i);
    centre(...middle(nodes[i]), Math.max(k, 0.9));
    hide();
  }
  nodes.forEach((element, i) => {
    element.addEventListener("click", () => { if (moved <= 4) choose(chosen === i ? -1 : i); });
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(chosen === i ? -1 : i);
    });
    element.addEventListener("focus", () => {
      if (!element.matches(":focus-visible")) return;
      const box = element.getBoundingClientRect(), all = svg.getBoundingClientRect();
      const out = box.left < all.left || box.right > all.right || box.top < all.top || box.bottom > all.bottom;
      if (out || k < FAR) centre(...middle(element), Math.max(k, 0.8));
      point(element);
    });
    element.addEventListener("blur", hide);
  });
  svg.addEventListener("click", (event) => {
    if (moved <= 4 && !event.target.closest(".node")) choose(-1);
  });

  // From elsewhere in the page -----------------------------------------------------------------------------------------
  for (const input of document.querySelectorAll("input[name=view]")) {
    input.addEventListener("change", () => { frame.dataset.view = input.value; });
    if (input.checked) frame.dataset.view = input.value; // browsers keep the choice when a page is reloaded
  }
  const find = document.getElementById("find");
  find.addEventListener("change", () => {
    const wanted = find.value.trim().toLowerCase();
    if (!wanted) return;
    let i = data.nodes.findIndex((node) => node.name.toLowerCase() === wanted);
    if (i < 0) i = data.nodes.findIndex((node) => node.name.toLowerCase().includes(wanted));
    find.setAttribute("aria-invalid", String(i < 0));
    if (i >= 0) goTo(i);
  });
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
    const ends = [nodes[data.arcs[n].start], nodes[data.arcs[n].end]];
    choose(-1);
    const [[ax, ay], [bx, by]] = ends.map(middle);
    const near = Math.min(svg.clientWidth / (Math.abs(ax - bx) + 260), svg.clientHeight / (Math.abs(ay - by) + 160), 1.3);
    centre((ax + bx) / 2, (ay + by) / 2, near);
    hide();
    for (const element of [arcs[n], ...ends]) element.classList.add("hot");
  });

  // The frame ----------------------------------------------------------------------------------------------------------
  svg.removeAttribute("viewBox"); // from here on the scale is ours
  frame.style.setProperty("--tall", height);
  frame.classList.add("ready");
  fit();
  let last = [svg.clientWidth, svg.clientHeight];
  new ResizeObserver(() => {
    const now = [svg.clientWidth, svg.clientHeight];
    if (now[0] !== last[0] || now[1] !== last[1]) { last = now; fit(); }
  }).observe(svg);
  window.addEventListener("beforeprint", fit);
}
