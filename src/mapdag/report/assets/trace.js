// The score trace: the move under the pointer.
import { data } from "./base.js";
import { figure } from "./elements.js";

{
  const chart = document.querySelector(".chart[data-area]");
  const told = document.getElementById("move");
  if (chart && told && data.trace.length) {
    const { left, top, right, bottom, low, high, last } = JSON.parse(chart.dataset.area);
    const mark = chart.querySelector(".mark");
    const scores = [data.trace[0].score - data.trace[0].delta, ...data.trace.map((move) => move.score)];
    const tell = (i) => {
      mark.setAttribute("cx", left + (right - left) * i / last);
      mark.setAttribute("cy", top + (bottom - top) * (high - scores[i]) / (high - low));
      if (!i) { told.textContent = `Start: ${figure(scores[0])}`; return; }
      const { kind, start, end, delta, score } = data.trace[i - 1];
      const arc = start === "" ? "" : ` ${start} → ${end}`;
      told.textContent = `Move ${i}: ${kind}${arc}, ${delta >= 0 ? "+" : ""}${figure(delta)}, score ${figure(score)}`;
    };
    chart.addEventListener("pointermove", (event) => {
      const box = chart.getBoundingClientRect();
      const at = (event.clientX - box.left) / box.width * chart.viewBox.baseVal.width;
      tell(Math.min(Math.max(Math.round((at - left) / (right - left) * last), 0), last));
    });
    chart.addEventListener("pointerleave", () => tell(last));
    tell(last);
  }
}
