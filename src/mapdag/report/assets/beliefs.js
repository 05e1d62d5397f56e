// What if: distributions of all nodes, which follow when a level is said to be observed.
import { figure, make } from "./elements.js";
import { makeEngine } from "./engines.js";

const FIRST = 48; // monitors to begin with

/** A probability in per cent. */
export const percent = (p) => (p === 0 ? "0" : p === 1 ? "100 %" : p < 0.0005 ? "<0.1 %" : p > 0.9995 ? ">99.9 %" : `${(100 * p).toFixed(1)} %`);

/**
 * Show the distributions of a network that `load` gives: as monitors in `grid`, filtered and in an order, with the
 * evidence in every element of the class "evidence". `showNode(i)` looks at a node in the graph.
 */
export function makeBeliefs({ picture, grid, filter, order, rest, showNode }) {
  const evidence = new Map(), live = new Set(), watchers = []; // `live` are monitors that follow
  let most = FIRST, network, tables, plan, ask, before, now;

  /** How far a distribution has moved: half the sum of the absolute differences. */
  const shift = (i) => (now.marginals ? before.marginals[i].reduce((sum, p, k) => sum + Math.abs(p - now.marginals[i][k]), 0) / 2 : 0);

  // Monitors -----------------------------------------------------------------------------------------------------------
  function monitor(i, heading = true) {
    const { label, namedCodes } = tables, element = make("div", { class: "monitor", "data-node": i });
    const lines = namedCodes(i).map((code) => {
      const bar = make("i"), mark = make("u"), value = make("strong");
      const button = make("button", { type: "button", "data-level": code, title: label(i, code), disabled: plan.kind === "none", click: () => observe(i, code) },
        bar, mark, make("span", {}, label(i, code)), value);
      return { code, button, bar, mark, value };
    });
    const unnamed = network.nodes[i].r - lines.length, others = unnamed ? make("p", { class: "help" }) : null;
    element.refresh = () => {
      const values = now.marginals && now.marginals[i];
      for (const { code, button, bar, mark, value } of lines) {
        const p = values ? values[code] : NaN, old = before.marginals[i][code];
        button.dataset.p = p;
        button.setAttribute("aria-pressed", String(evidence.get(i) === code));
        bar.style.width = `${values ? 100 * p : 0}%`;
        mark.style.left = `${100 * old}%`;
        mark.hidden = !evidence.size;
        value.textContent = values ? percent(p) : "–";
      }
      element.classList.toggle("given", evidence.has(i));
      if (others) others.textContent = `${figure(unnamed, 0)} other levels${values ? `: ${percent(Math.max(0, 1 - lines.reduce((sum, { code }) => sum + values[code], 0)))}` : ""}`;
    };
    const title = heading ? make("h4", {}, make("button", { type: "button", class: "link", title: "Show in the graph", click: () => showNode(i) }, network.name(i))) : null;
    element.append(...[title, make("div", { class: "levels" }, lines.map(({ button }) => button)), others].filter(Boolean));
    live.add(element);
    if (now) element.refresh();
    return element;
  }

  // Evidence -----------------------------------------------------------------------------------------------------------
  function observe(i, code) {
    if (evidence.get(i) === code) evidence.delete(i);
    else evidence.set(i, code);
    update();
  }
  /** How probable the evidence is, in words. */
  function probability() {
    if (now.log === -Infinity) return plan.kind === "exact" ? "This evidence is impossible: its probability under the network is zero." : `None of ${figure(plan.rows, 0)} samples agrees with this evidence.`;
    if (!now.marginals) return `Too few samples agree with this evidence: ${now.matching} of ${figure(plan.rows, 0)}. Take some of it back.`;
    const p = Math.exp(now.log), text = p >= 0.001 ? p.toPrecision(3) : now.log > -690 ? p.toExponential(2).replace("-", "−") : `10^${figure(now.log / Math.LN10, 0)}`;
    return plan.kind === "exact" ? `Probability of the evidence: ${text}` : `Probability of the evidence: about ${text} (${figure(now.matching, 0)} of ${figure(plan.rows, 0)} samples)`;
  }
  function tell() {
    const { label } = tables, { name } = network;
    for (const bar of document.querySelectorAll(".evidence")) {
      bar.classList.toggle("impossible", !now.marginals);
      if (!evidence.size) { bar.replaceChildren(...(bar.closest("#whatif") && plan.kind !== "none" ? [make("span", {}, "No evidence yet.")] : [])); continue; }
      const chips = [...evidence].map(([i, code]) => make("button", { type: "button", class: "chip", title: "Take it back", click: () => observe(i, code) }, `${name(i)} = ${label(i, code)} ×`));
      bar.replaceChildren(...chips, make("button", { type: "button", class: "clear", click: () => { evidence.clear(); update(); } }, "Clear"), make("span", { class: "probability", "data-log": now.log }, probability()));
    }
  }
  function shade() {
    picture.frame.classList.toggle("shifted", evidence.size > 0);
    picture.nodes.forEach((element, i) => {
      element.classList.toggle("given", evidence.has(i));
      element.style.setProperty("--shift", evidence.size ? Math.sqrt(shift(i)).toFixed(3) : 0); // small changes are seen, too
    });
  }
  function update() {
    now = ask(evidence);
    before ||= evidence.size ? ask(new Map()) : now;
    tell();
    shade();
    if (order.value === "change") list();
    for (const element of live) {
      if (element.isConnected) element.refresh();
      else live.delete(element);
    }
    for (const each of watchers) each({ evidence, now, before });
  }

  // All of them --------------------------------------------------------------------------------------------------------
  function list() {
    const wanted = filter.value.trim().toLowerCase(), { nodes, name } = network;
    let found = nodes.map((_, i) => i).filter((i) => name(i).toLowerCase().includes(wanted));
    if (order.value === "change" && evidence.size) found = found.map((i) => [evidence.has(i) ? 2 : shift(i), i]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).map(([, i]) => i);
    const active = document.activeElement, at = grid.contains(active) ? [active.closest(".monitor").dataset.node, active.dataset.level] : null;
    grid.replaceChildren(...found.slice(0, most).map((i) => monitor(i)));
    if (at && at[1] !== undefined) grid.querySelector(`.monitor[data-node="${at[0]}"] [data-level="${at[1]}"]`)?.focus({ preventScroll: true });
    const more = found.length - most;
    rest.replaceChildren(...(found.length ? more > 0 ? [`${figure(most, 0)} of ${figure(found.length, 0)} nodes. `, make("button", { type: "button", class: "link", click: () => { most += 4 * FIRST; list(); } }, "Show more")] : [] : ["No such node."]));
  }
  filter.addEventListener("input", () => { if (!network) return; most = FIRST; list(); });
  order.addEventListener("change", () => { if (network) list(); });

  /** Show another network of the same nodes, or the first one. Evidence stays. */
  function load(itsNetwork, itsTables, itsPlan) {
    [network, tables, plan, before] = [itsNetwork, itsTables, itsPlan, undefined];
    ask = makeEngine(network, tables, plan);
    update();
    list();
  }
  return { monitor, observe, load, watchers, evidence, get loaded() { return Boolean(network); } };
}
