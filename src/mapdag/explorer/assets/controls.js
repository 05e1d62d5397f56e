// The controls: what is maximised and how. Each writes into the settings, and follows them.
import { makeDial } from "./dial.js";
import { make } from "./elements.js";
import { change, on, state } from "./state.js";

/** Build the controls from the vocabulary. */
export function startControls(place) {
  const { likelihoods, priors, searches, parameters } = state.vocabulary;
  const dial = (key, title, hint, more = {}) => makeDial({
    id: key, title, hint, ...parameters[key], ...more, act: (value, live) => change({ [key]: key === "support" && !value ? null : value, ...more.also }, { live }),
  });
  const alpha = dial("alpha", "alpha", "Imaginary sample size: how much the prior of the probabilities weighs, in rows");
  const c = dial("c", "c", "Arcs that are expected for each node", { also: { beta: null } });
  const beta = dial("beta", "beta", "Probability that two nodes are joined");
  const support = dial("support", "support", "Rows, on average, for each configuration of a node's parents; 0 for no limit", { log: false, whole: true });
  support.slider.setAttribute("aria-label", "support limit");
  const choose = (id, title, options, act) => {
    const select = make("select", { id, change: () => act(select.value) }, options.map(([value, text, hint]) => make("option", { value, title: hint }, text)));
    return { select, element: make("label", { class: "choice" }, make("span", {}, title), select) };
  };
  const named = (list) => list.map(({ name, title, note }) => [name, title || name, note]);
  const likelihood = choose("likelihood", "Likelihood", named(likelihoods), (value) => change({ likelihood: value }));
  const prior = choose("prior", "Prior", named(priors), (value) => change(priorPatch(value)));
  const search = choose("search", "Search", named(searches), (value) => change({ search: value }));
  const number = choose("prior-number", "given by", [["c", "c, arcs per node"], ["beta", "beta, a probability"]], (value) => {
    change(value === "beta" ? { beta: betaNow() } : { beta: null, c: state.settings.c ?? parameters.c.default });
  });
  const parents = make("input", { type: "number", id: "max-parents", min: 0, max: 30, placeholder: "any", "aria-label": "Most parents of a node",
    change: () => change({ max_parents: parents.value === "" ? null : Math.max(0, Math.round(+parents.value)) }) });
  const notes = { likelihood: make("p", { class: "note" }), prior: make("p", { class: "note" }) };

  place.append(
    make("div", { class: "block", id: "score-card" }),
    make("div", { class: "block" }, make("h2", {}, "Likelihood"), likelihood.element, notes.likelihood, alpha.element, make("div", { id: "learned" })),
    make("div", { class: "block" }, make("h2", {}, "Prior"), prior.element, notes.prior, number.element, c.element, beta.element, support.element),
    make("div", { class: "block" }, make("h2", {}, "Search"), search.element, make("label", { class: "choice" }, make("span", {}, "At most parents"), parents), make("div", { id: "certificate" })),
  );
  for (const [each, hidden] of [[likelihood, "Likelihood"], [prior, "Prior"], [search, "Search"]]) {
    each.select.setAttribute("aria-label", hidden);
    each.element.firstChild.classList.add("hidden");
  }

  /** What the prior's parameter is when it is asked for as beta: the same as c says now. */
  function betaNow() {
    const { c: perNode } = state.settings, n = state.data?.columns.length || 2;
    return +Math.min(0.5, Math.max(1e-6, 2 * (perNode ?? 1) / Math.max(1, n - 1))).toPrecision(3);
  }
  function priorPatch(name) {
    const { parameters: takes } = priors.find((each) => each.name === name), now = state.settings;
    if (takes.includes("c")) return { prior: name, beta: null, c: now.c ?? parameters.c.default };
    return takes.includes("beta") ? { prior: name, beta: now.beta ?? parameters.beta.default } : { prior: name };
  }
  /** Show what the settings are. */
  function follow() {
    const now = state.settings, takes = priors.find((each) => each.name === now.prior)?.parameters || [];
    likelihood.select.value = now.likelihood;
    prior.select.value = now.prior;
    search.select.value = now.search;
    parents.value = now.max_parents ?? "";
    const has = likelihoods.find((each) => each.name === now.likelihood);
    notes.likelihood.textContent = has?.note || "";
    notes.prior.textContent = priors.find((each) => each.name === now.prior)?.note || "";
    alpha.element.hidden = !has?.alpha;
    const byBeta = takes.includes("beta") && (now.beta !== null || !takes.includes("c"));
    number.element.hidden = takes.length < 2;
    number.select.value = byBeta ? "beta" : "c";
    beta.element.hidden = !byBeta;
    c.element.hidden = byBeta || !takes.includes("c");
    alpha.set(now.alpha);
    if (now.c !== null) c.set(now.c);
    if (now.beta !== null) beta.set(now.beta);
    support.set(now.support ?? 0);
  }
  on("settings", follow);
  on("data", () => { // 2 c / (N - 1) is a probability
    c.end(Math.max(2 * parameters.c.low, Math.min(parameters.c.high, 0.499 * (state.data.columns.length - 1))));
    follow();
  });
  follow();
}
