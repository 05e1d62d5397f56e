// Dialogs and menus.
import { make } from "./elements.js";

const dialog = document.getElementById("dialog");

/** Show a dialog with a title; returns a function that closes it. */
export function openDialog(title, ...content) {
  dialog.setAttribute("aria-label", title);
  dialog.replaceChildren(make("button", { type: "button", class: "close", "aria-label": "Close", click: () => dialog.close() }, "×"), make("h2", {}, title), ...content.flat(Infinity).filter(Boolean));
  if (!dialog.open) dialog.showModal();
  return () => dialog.close();
}
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

/** Let a button open a menu: `items()` are [text, act, hint]. */
export function makeMenu(button, menu, items) {
  const close = () => { menu.hidden = true; button.setAttribute("aria-expanded", "false"); };
  button.addEventListener("click", () => {
    if (!menu.hidden) { close(); return; }
    menu.replaceChildren(...items().map(([text, act, hint]) => make("button", { type: "button", role: "menuitem", title: hint, click: () => { close(); button.focus(); act(); } }, text, hint ? make("small", {}, hint) : null)));
    menu.hidden = false;
    button.setAttribute("aria-expanded", "true");
    menu.firstChild?.focus();
  });
  menu.addEventListener("keydown", (event) => {
    const all = [...menu.children], step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { close(); button.focus(); event.stopPropagation(); }
    if (!step) return;
    event.preventDefault();
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
  });
  document.addEventListener("pointerdown", (event) => { if (!menu.hidden && !menu.parentElement.contains(event.target)) close(); });
}

/** Hand a file to the user. */
export function save(name, content) {
  const address = URL.createObjectURL(content), link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
