// The dock: tabs, of which one is shown.
import { on, state, tell } from "./state.js";

const tabs = [...document.querySelectorAll("#tabs [role=tab]")], nameOf = (tab) => tab.id.slice(4);

/** Show a view of the dock. */
export function showTab(name, { focus = false } = {}) {
  state.tab = name;
  for (const tab of tabs) {
    const shown = nameOf(tab) === name;
    tab.setAttribute("aria-selected", String(shown));
    tab.tabIndex = shown ? 0 : -1;
    document.getElementById(`panel-${nameOf(tab)}`).hidden = !shown;
    if (shown && focus) tab.focus();
  }
  tell("tab", name);
}

tabs.forEach((tab, k) => {
  tab.addEventListener("click", () => showTab(nameOf(tab)));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    showTab(nameOf(tabs[(k + step + tabs.length) % tabs.length]), { focus: true });
  });
});
on("chosen", () => { if ((state.arc || state.node) && state.tab !== "evidence") showTab("chosen"); });

/** Act when a view is shown, now or later. */
export function whenShown(name, act) {
  on("tab", (shown) => { if (shown === name) act(); });
}
