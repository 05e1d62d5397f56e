// The certificate: how far the best of all graphs can be from the one that is shown.
import { stream, tab } from "./api.js";
import { figure, make } from "./elements.js";
import { arcsNow, on, question, state } from "./state.js";

/** Begin. */
export function startCertificate() {
  const place = document.getElementById("certificate"), told = make("p", { class: "note", id: "bound", role: "status" });
  const button = make("button", { type: "button", id: "certify", click: () => (running ? running.abort() : prove()) }, "How far from the best?");
  let running = null, about = "";
  place.append(button, told);

  async function prove() {
    const own = running = new AbortController();
    about = JSON.stringify([state.settings, arcsNow()]);
    button.textContent = "Stop";
    told.textContent = "Looking for a bound …";
    try {
      await stream("/api/certify", { ...question(), tab }, (line) => { if (line.kind === "bound") show(line); }, own.signal);
    } catch (error) {
      told.textContent = error.name === "AbortError" ? "Stopped." : error.message;
    }
    if (running === own) { running = null; button.textContent = "How far from the best?"; }
  }
  function show({ score, bound, gap, text, final }) {
    const sure = gap !== null && gap <= 1e-6;
    told.classList.toggle("proved", sure);
    told.textContent = text || (sure ? `Proved: no graph scores above ${figure(score)}.` : `No graph scores above ${figure(bound)}: at most ${figure(gap, 2)} nats better than this one.`);
    told.dataset.gap = gap;
    told.classList.toggle("open", !final);
  }
  on("drawn data", () => {
    if (!about || (state.graph && about === JSON.stringify([state.settings, arcsNow()]))) return;
    about = "";
    running?.abort();
    told.textContent = "";
    told.classList.remove("proved");
    delete told.dataset.gap;
  });
}
