// Finding a node by its name while it is typed: a list of matches, or word that there are none.
import { figure, make } from "./elements.js";

const MATCHES = 10; // the most that are listed

/** Let a field with a list below find nodes; `names()` are those of all, `goTo(i)` goes to one, `say` tells all. */
export function makeFinder({ field, list, names: all, goTo, say }) {
  let names = [];
  let found = [], active = 0;

  function look() {
    names = all().map((each) => each.toLowerCase());
    const wanted = field.value.trim().toLowerCase();
    // Whole names first, then beginnings, then the rest, each in the order of the data.
    const rank = (text) => (text === wanted ? 0 : text.startsWith(wanted) ? 1 : text.includes(wanted) ? 2 : 3);
    found = wanted ? names.map((text, i) => [rank(text), i]).filter(([each]) => each < 3).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i) : [];
    active = 0;
    field.setAttribute("aria-invalid", String(wanted !== "" && !found.length));
    tell(wanted !== "");
  }
  function tell(open) {
    list.hidden = !open;
    field.setAttribute("aria-expanded", String(open && found.length > 0));
    if (!open) return;
    const options = found.slice(0, MATCHES).map((i, k) => make("li", {
      role: "option", id: `match-${k}`, "aria-selected": String(k === active), title: all()[i], pointerdown: (event) => { event.preventDefault(); go(i); },
    }, all()[i]));
    const rest = found.length - options.length;
    const word = found.length ? (rest > 0 ? `${figure(rest, 0)} more` : "") : `no such node among ${figure(names.length, 0)}`;
    list.replaceChildren(...options, ...(word ? [make("li", { class: "word", role: "presentation" }, word)] : []));
    say(found.length ? "" : "no such node");
    if (found.length) field.setAttribute("aria-activedescendant", `match-${active}`);
    else field.removeAttribute("aria-activedescendant");
  }
  function go(i) {
    field.value = all()[i];
    tell(false);
    goTo(i);
  }
  field.addEventListener("input", look);
  field.addEventListener("focus", () => { if (field.value) look(); });
  field.addEventListener("blur", () => tell(false));
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      const shown = Math.min(found.length, MATCHES);
      active = (active + step + shown) % shown;
      tell(true);
    } else if (event.key === "Enter") {
      if (list.hidden) look();
      if (found.length) go(found[active]);
    } else if (event.key === "Escape") {
      tell(false);
    } else {
      return;
    }
    event.preventDefault();
  });
}
