// A logarithmic axis, for strips and maps.
import { make } from "./elements.js";

/** Where a value lies between two ends, from 0 to 1. */
export const along = (value, low, high) => Math.min(1, Math.max(0, Math.log(value / low) / Math.log(high / low)));

/** A number on an axis. */
export const tick = (value) => (value >= 1 || value === 0 ? String(+value.toPrecision(3)) : String(+value.toPrecision(2)).replace(/^0\./, "."));

/** Some powers of ten between two ends; the ends themselves where there are too few. */
function ticks(low, high) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9), step = Math.ceil((last - first + 1) / 4);
  const found = [];
  for (let power = first; power <= last; power += step) found.push(10 ** power);
  return found.length > 1 ? found : [low, high];
}

/** The axis as an element, its ticks by per cent. */
export function axis(low, high) {
  return make("div", { class: "axis", "aria-hidden": "true" }, ticks(low, high).map((value) => {
    const mark = make("span", {}, tick(value));
    const share = along(value, low, high);
    mark.style.left = `${100 * share}%`;
    mark.style.transform = `translateX(${-100 * share}%)`; // at the ends, beside rather than below them
    return mark;
  }));
}
