// What the lines mean: only those kinds that are in the picture.
import { make, makeSvg } from "./elements.js";
import { on, state } from "./state.js";

const KINDS = [
  ["compelled", () => true, "compelled"],
  ["reversible", () => true, "reversible"],
  ["compelled since-new", () => state.pin, "new since the pin"],
  ["compelled since-turned", () => state.pin, "turned"],
  ["ghost gone", () => state.pin, "gone"],
  ["ghost missed", () => state.strength, "strong in resamples, not in the graph"],
  ["compelled required", () => state.settings?.required.length, "required"],
  ["ghost forbidden", () => state.settings?.forbidden.length, "forbidden"],
];

function sample(classes) {
  return makeSvg("svg", { viewBox: "0 0 48 14", class: "sample", "aria-hidden": "true" },
    makeSvg("g", { class: `arc ${classes}`, fill: "none" }, makeSvg("path", { class: "line", d: "M2 7H38" }), makeSvg("path", { class: "head", d: "M46 7L38 3L38 11Z" })));
}

/** Begin. */
export function startLegend() {
  const place = document.getElementById("keys");
  let before = "";
  on("drawn pin strength settings", () => {
    const shown = KINDS.filter(([, when]) => when()), now = shown.map(([classes]) => classes).join();
    if (now === before) return;
    before = now;
    place.replaceChildren(...shown.map(([classes, , text]) => make("li", {}, sample(classes), text)));
  });
}
