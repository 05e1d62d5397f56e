// A slider with a number beside it, on a logarithmic or an ordinary scale.
import { make } from "./elements.js";

const STEPS = 1000;

/** Three digits are enough for a slider. */
export const rounded = (value) => +value.toPrecision(3);

/** Scales: from a number to a share of the slider, and back. */
const scales = {
  log: (low, high) => ({ share: (value) => Math.log(value / low) / Math.log(high / low), value: (share) => low * (high / low) ** share }),
  linear: (low, high) => ({ share: (value) => (value - low) / (high - low), value: (share) => low + (high - low) * share }),
};

/**
 * Make a dial: `title`, `low`, `high`, `log`, whole numbers or not. `act(value, live)` is called while it moves (live) and
 * when it has come to rest.
 */
export function makeDial({ id, title, hint, low, high, log = true, whole = false, act }) {
  let scale = scales[log ? "log" : "linear"](low, high);
  const tidy = (value) => (whole ? Math.round(value) : rounded(value));
  const slider = make("input", { type: "range", id, min: 0, max: STEPS, step: 1, "aria-label": title });
  const field = make("input", { type: "number", id: `${id}-value`, step: "any", min: whole ? 0 : null, "aria-label": `${title}, as a number`, inputmode: "decimal" });
  const label = make("label", { for: id, title: hint }, title);
  const element = make("div", { class: "dial" }, make("div", { class: "head" }, label, field), slider);
  function set(value) {
    const share = Math.min(1, Math.max(0, scale.share(value)));
    slider.value = Math.round(share * STEPS);
    slider.style.setProperty("--share", share);
    slider.setAttribute("aria-valuetext", String(value));
    if (document.activeElement !== field) field.value = value;
  }
  const moved = (live) => () => {
    const value = tidy(scale.value(slider.value / STEPS));
    set(value);
    field.value = value;
    act(value, live);
  };
  slider.addEventListener("input", moved(true));
  slider.addEventListener("change", moved(false));
  field.addEventListener("change", () => {
    const value = +field.value;
    if (field.value === "" || !Number.isFinite(value) || value < 0 || (log && value <= 0)) return;
    set(value);
    act(whole ? Math.round(value) : value, false);
  });
  /** Let the slider end elsewhere. */
  const end = (most) => { scale = scales[log ? "log" : "linear"](low, most); };
  return { element, set, end, slider, field };
}
