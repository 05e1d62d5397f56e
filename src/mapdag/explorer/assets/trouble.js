// Trouble: what went wrong, in a sentence, with buttons where there is a way out.
import { make } from "./elements.js";
import { on } from "./state.js";

const place = document.getElementById("trouble");

/** Show a sentence; `ways` are [text, act]. */
export function complain(sentence, ways = []) {
  place.replaceChildren(
    make("p", {}, sentence),
    ways.length ? make("p", { class: "actions" }, ways.map(([text, act], k) => make("button", { type: "button", class: k ? null : "primary", click: () => { hush(); act(); } }, text))) : "",
    make("button", { type: "button", class: "close", "aria-label": "Close", click: hush }, "×"));
  place.hidden = false;
}

/** Take it away again. */
export function hush() {
  place.hidden = true;
  place.replaceChildren();
}

/** Say something that needs no answer, to those who listen. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

on("trouble", (error) => complain(error.message));
on("graph data", hush);
