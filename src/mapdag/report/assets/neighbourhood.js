// The neighbourhood of the chosen node, drawn by itself: the same boxes and lines in other places, the others out of sight.
import { arrow } from "./arrows.js";
import { figure } from "./elements.js";
import { layOut } from "./layers.js";

const NEIGHBOURS = 120; // the most nodes that are drawn

/** All nodes within some steps, nearest first. */
function within({ nodes, arcs }, i, steps) {
  const joined = nodes.map(() => []);
  for (const { start, end } of arcs) { joined[start].push(end); joined[end].push(start); }
  const members = [i], far = new Map([[i, 0]]);
  for (const each of members) {
    if (far.get(each) === steps) break;
    for (const other of joined[each]) if (!far.has(other)) { far.set(other, far.get(each) + 1); members.push(other); }
  }
  return members;
}

/** Let a choice, `radius`, decide how much around the chosen node is shown; `say` tells what that is. */
export function makeNeighbourhood({ picture, camera, graph, known, radius, say }) {
  const { frame, boxes } = picture;
  let home = null; // where everything is when all of it is shown

  function remember() {
    home = {
      boxes: boxes.map((box) => ({ ...box })),
      paths: picture.arcs.map((arc) => [...arc.querySelectorAll("path")].map((path) => [path, path.getAttribute("d")])),
    };
  }
  function restore() {
    home.boxes.forEach((box, i) => { Object.assign(boxes[i], box); picture.nodes[i].removeAttribute("transform"); });
    for (const paths of home.paths) for (const [path, d] of paths) path.setAttribute("d", d);
    for (const element of [...picture.nodes, ...picture.arcs]) element.classList.remove("away");
    frame.classList.remove("near-only");
    home = null;
  }
  /** Take the neighbourhood view back, without a move of the camera, so that the picture can change. */
  function leave() {
    if (home) restore();
  }
  function update() {
    const i = graph.chosen, steps = +radius.value, { arcs, name } = known();
    if (!steps || i < 0) {
      if (home) { restore(); camera.show(); }
      say(steps ? "Choose a node to see its neighbourhood." : "");
      return;
    }
    if (!home) remember();
    const all = within(known(), i, steps), members = all.slice(0, NEIGHBOURS), inside = new Set(members);
    const kept = arcs.map((_, n) => n).filter((n) => inside.has(arcs[n].start) && inside.has(arcs[n].end));
    const { places: at, routes } = layOut(members, kept.map((n) => [arcs[n].start, arcs[n].end]), home.boxes.map((box) => box.w), home.boxes.map((box) => box.x));
    for (const [k, spot] of at) Object.assign(boxes[k], spot);
    for (const arc of picture.arcs) arc.classList.add("away");
    kept.forEach((n, k) => {
      const paths = arrow(boxes[arcs[n].start], boxes[arcs[n].end], routes[k]);
      picture.arcs[n].classList.remove("away");
      for (const path of picture.arcs[n].querySelectorAll("path")) path.setAttribute("d", paths[path.getAttribute("class")]);
    });
    picture.nodes.forEach((element, k) => {
      element.classList.toggle("away", !inside.has(k));
      if (inside.has(k)) element.setAttribute("transform", `translate(${boxes[k].x - home.boxes[k].x} ${boxes[k].y - home.boxes[k].y})`);
    });
    frame.classList.add("near-only");
    const left = Math.min(...members.map((k) => boxes[k].x - boxes[k].w / 2)), right = Math.max(...members.map((k) => boxes[k].x + boxes[k].w / 2));
    const ys = members.map((k) => boxes[k].y), top = Math.min(...ys), bottom = Math.max(...ys);
    camera.show({ x: left - 24, y: top - 64, w: right - left + 48, h: bottom - top + 100 });
    const cut = all.length > members.length ? `the nearest ${members.length} of ${figure(all.length, 0)} nodes` : `${members.length} of ${figure(picture.nodes.length, 0)} nodes`;
    say(`${name(i)} and what is within ${steps === 1 ? "1 step" : `${steps} steps`}: ${cut}`);
  }
  radius.addEventListener("change", update);
  graph.watchers.push(update);
  return { update, leave };
}
