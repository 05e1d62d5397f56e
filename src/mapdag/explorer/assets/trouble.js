// Trouble: what went wrong, in a sentence, with buttons where there is a way out.
import { make } from "./elements.js";
import { history, on, undo } from "./state.js";

const place = document.getElementById("trouble");
let fleeting = false; // whether the next graph ends it

/** Show a sentence; `ways` are [text, act]. */
export function complain(sentence, ways = []) {
  fleeting = false;
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

on("trouble", (error) => {
  complain(error.message, history().past.length ? [["Undo", undo]] : []);
  fleeting = true;
});
on("graph", () => { if (fleeting) hush(); });
on("data", hush);
