// A logarithmic axis, for strips and maps.
import { make } from "./elements.js";

/** Where a value lies between two ends, from 0 to 1. */
export const along = (value, low, high) => Math.min(1, Math.max(0, Math.log(value / low) / Math.log(high / low)));

/** A number on an axis. */
export const tick = (value) => (value >= 1 || value === 0 ? String(+value.toPrecision(3)) : String(+value.toPrecision(2)).replace(/^0\./, "."));

/** Powers of ten between two ends; the ends themselves where there are too few. */
export function ticks(low, high) {
  const found = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * 1.0001; power += 1) found.push(10 ** power);
  return found.length > 1 ? found : [low, high];
}

/** The axis as an element, its ticks by per cent. */
export function axis(low, high) {
  return make("div", { class: "axis", "aria-hidden": "true" }, ticks(low, high).map((value) => {
    const mark = make("span", {}, tick(value));
    mark.style.left = `${100 * along(value, low, high)}%`;
    return mark;
  }));
}
