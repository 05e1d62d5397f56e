// Work in the background of which the page shows what has come so far: one stream at a time for each view.
import { Refusal, post, stream, tab } from "./api.js";

/**
 * Make a worker for one kind of question. `start(body)` asks, `each(line)` is called with what comes, `ended(error)` at the
 * end; a newer start or `stop` ends an older one.
 */
export function makeWorker(path, what, each, ended) {
  let running = null;
  async function start(body) {
    stop();
    const own = running = new AbortController();
    let trouble = null;
    try {
      await stream(path, { ...body, tab }, (line) => { if (running === own) each(line); }, own.signal);
    } catch (error) { trouble = error; }
    if (running !== own) return;
    running = null;
    ended(trouble instanceof Refusal ? trouble.message : "");
  }
  function stop() {
    if (!running) return;
    running.abort();
    running = null;
    post("/api/cancel", { tab, what }).catch(() => {}); // an aborted request says it, too
  }
  return { start, stop, get running() { return Boolean(running); } };
}

/** A bar of progress with words beside it. */
export function showProgress(bar, done, of) {
  bar.max = of;
  bar.value = done;
  bar.textContent = `${done} of ${of}`;
}
