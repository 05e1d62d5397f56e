// The card with the score: which search found the graph, how fast, what it is made of, and what was counted for it.
import { facts, figure, make } from "./elements.js";
import { on, state } from "./state.js";

const time = (seconds) => (seconds < 1 ? `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(1)} s`);

/** Begin. */
export function startScoreCard() {
  const place = document.getElementById("score-card"), working = document.getElementById("working");
  let timer = 0;
  on("graph", (answer) => {
    const { score, arcs, search, final, seconds, counted, objective, prior_part: prior, likelihood_part: likelihood, thin = [], stopped, warnings = [], certificate } = answer;
    const compelled = arcs.filter((arc) => arc[2]).length, title = state.vocabulary.searches.find((each) => each.name === search)?.title || search;
    place.replaceChildren(
      make("p", { class: "score" }, make("strong", { id: "score" }, figure(score, 2)), make("span", {}, " log posterior")),
      make("p", { class: `found ${final ? "final" : "first"}`, id: "found" }, final ? title : `${title}; the search follows`, make("span", {}, ` · ${time(seconds)}`)),
      facts([
        ["arcs", make("span", { id: "arc-count" }, `${figure(arcs.length, 0)}, ${arcs.length > compelled ? figure(arcs.length - compelled, 0) : "none"} reversible`)],
        prior === undefined || prior === null ? null : ["prior", figure(prior, 2)],
        likelihood === undefined || likelihood === null ? null : ["likelihood", figure(likelihood, 2)],
        ["families counted", make("span", { id: "counted" }, figure(counted ?? 0, 0))],
        final && stopped && stopped !== "converged" ? ["search", stopped] : null,
      ]),
      ...(thin.length ? [make("p", { class: "notice warning", id: "thin" }, `${thin.length === 1 ? "1 family is" : `${figure(thin.length, 0)} families are`} thin: their nodes have a dotted border.`)] : []),
      ...warnings.map((text) => make("p", { class: "notice warning" }, text)),
      ...(certificate ? [make("p", { class: "note proved", id: "certified" }, typeof certificate === "string" ? certificate : certificate.text || `gap ${figure(certificate.gap ?? 0, 2)}`)] : []),
      make("code", { class: "objective", id: "objective" }, objective || ""),
    );
  });
  on("asked", () => { clearTimeout(timer); timer = setTimeout(() => { working.hidden = false; }, 250); });
  on("idle trouble", () => { clearTimeout(timer); working.hidden = true; });
  on("drawn", ({ thin = [] }) => {
    const names = new Set(thin.map(({ node }) => node));
    for (const each of document.querySelectorAll("#frame .node")) each.classList.toggle("thin", names.has(each.getAttribute("aria-label")));
  });
}
