// Learning: the settings go to the server, graphs come back. While a slider moves, the next request waits for the first
// answer to the last one, so that the graph follows as fast as the server answers, never faster.
import { stream, tab } from "./api.js";
import { state, tell } from "./state.js";

let sequence = 0, running = null, wanted = false, answered = true;

/** Learn with the settings as they are now; tells "graph" with each answer, "asked" and "idle", "trouble" if refused. */
export function learn() {
  if (!state.data) return;
  if (running && !answered) { wanted = true; return; }
  running?.abort();
  start();
}

async function start() {
  const own = new AbortController(), number = sequence += 1;
  [running, wanted, answered] = [own, false, false];
  const begun = performance.now();
  tell("asked", number);
  try {
    const body = { data: state.data.data, tab, sequence: number, settings: state.settings, then_default: true };
    await stream("/api/learn", body, (line) => hear(line, number, begun), own.signal);
  } catch (error) {
    if (error.name !== "AbortError") tell("trouble", error);
  }
  if (running !== own) return;
  running = null;
  answered = true;
  if (wanted) start();
  else tell("idle", number);
}

function hear(line, number, begun) {
  if (number !== sequence) return;
  if (line.kind === "progress" && line.text) tell("progress", line.text);
  if (line.kind !== "graph") return;
  state.graph = line;
  tell("graph", { ...line, sequence: number, since: performance.now() - begun });
  answered = true;
  if (wanted) { // a newer wish has waited for this
    running.abort();
    start();
  }
}
