// Learned values: alpha, and c or beta, as the data have them, and the joint score of their graph by alpha.
import { makeSvg, make } from "./elements.js";
import { change, on, question, state } from "./state.js";
import { makeWorker } from "./streaming.js";

const WIDTH = 240, HEIGHT = 64, EDGE = 6, DEPTH = 50; // the picture, and the nats below the best that it shows

/** Build the button and the picture. */
export function startLearned(place) {
  const told = make("p", { class: "note", role: "status" }), picture = make("div", { class: "profile" });
  const button = make("button", { type: "button", id: "learn-values", title: "Take the values with the highest joint score of graph and values",
    click: () => (worker.running ? stop() : start()) }, "Learn alpha and c from the data");
  let taken = "";
  place.append(button, told, picture);

  const worker = makeWorker("/api/values", "values", (line) => {
    if (line.kind === "progress") told.textContent = line.text;
    if (line.kind === "values") take(line);
  }, (trouble) => { button.textContent = "Learn alpha and c from the data"; if (trouble) told.textContent = trouble; });

  function start() {
    button.textContent = "Stop";
    told.textContent = "Learning …";
    picture.replaceChildren();
    worker.start(question());
  }
  function stop() {
    worker.stop();
    button.textContent = "Learn alpha and c from the data";
    told.textContent = "Stopped.";
  }
  function take({ alpha, c, beta, text, profile }) {
    told.textContent = `Learned: ${text}.`;
    const now = { ...state.settings }, patch = {};
    if (profile.length) patch.alpha = alpha;
    if (now.prior === "MU") Object.assign(patch, { c, beta });
    picture.replaceChildren(...(profile.length ? [draw(profile, alpha)] : []));
    change(patch);
    taken = JSON.stringify({ ...now, ...patch });
  }
  // The values are those of other settings once these change.
  on("settings data", () => {
    if (!taken || taken === JSON.stringify(state.settings)) return;
    taken = "";
    told.textContent = "";
    picture.replaceChildren();
  });
}

/** Draw the joint score by alpha, the learned one marked. */
function draw(profile, alpha) {
  const best = Math.max(...profile.map(([, score]) => score)), near = profile.filter(([, score]) => score > best - DEPTH);
  const [low, high] = [near[0][0], near[near.length - 1][0]].map(Math.log10);
  const x = (value) => EDGE + (WIDTH - 2 * EDGE) * (Math.log10(value) - low) / (high - low || 1);
  const y = (score) => EDGE + (HEIGHT - 2 * EDGE) * (best - score) / DEPTH;
  const at = near.reduce((found, each) => (Math.abs(each[0] - alpha) < Math.abs(found[0] - alpha) ? each : found));
  return makeSvg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve-of-alpha", role: "img", "aria-label": `Joint score by alpha, from ${near[0][0]} to ${near[near.length - 1][0]}; learned: ${alpha}` },
    makeSvg("polyline", { points: near.map(([value, score]) => `${x(value).toFixed(1)},${y(score).toFixed(1)}`).join(" ") }),
    makeSvg("circle", { cx: x(at[0]).toFixed(1), cy: y(at[1]).toFixed(1), r: 3.5 }));
}
