// The session: everything that one works on, in a file that reopens. With --session FILE the server writes it, else the
// browser saves it.
import { get, post } from "./api.js";
import { makeMenu, save } from "./dialog.js";
import { readNetwork, showTable } from "./opening.js";
import { begin, history, on, state, tell } from "./state.js";
import { announce, complain } from "./trouble.js";

let file = null; // where the server saves it

/** All that a session file has. */
export function sessionNow() {
  const { settings, kept, notes, pin, data, arc, node, tab } = state;
  return { format: "mapdag-explore", version: 1, name: data?.name, source: data?.source ?? null, fingerprint: data?.fingerprint ?? null, settings, graphs: kept, notes, pin, history: history().past.slice(-50), view: { arc, node, tab } };
}

/** Go on from a session: its table must be open, or one that can be drawn again. */
export async function openSession(session) {
  const { source, fingerprint, name } = session;
  if (source && (!state.data || (fingerprint && state.data.fingerprint !== fingerprint))) {
    const open = await get("/api/data").then(({ tables }) => tables.find((each) => each.fingerprint === fingerprint), () => null);
    if (open) showTable(open);
    else if (source.network) await readNetwork(source.network, source.rows, source.seed);
    else if (!state.data) { complain(`This session is about ${name || source.file}. Open that table first, then the session.`); return; }
    if (fingerprint && state.data?.fingerprint !== fingerprint) complain(`This session is about another table, ${name || source.file}: its settings were taken all the same.`);
  }
  restore(session);
}
function restore({ settings, graphs = [], notes = "", pin = null, history: past = [], view = {} }) {
  Object.assign(state, { kept: graphs, notes, pin, arc: view.arc || null });
  begin({ ...state.vocabulary.defaults, ...settings }, past);
  tell("kept");
  if (state.arc) tell("chosen");
  tell("restored", view);
  tell("pin");
  announce("The session is open.");
}

async function keep() {
  const session = sessionNow();
  if (!file) { save(`${(state.data?.name || "session").replace(/\.[^.]+$/, "")}.session.json`, new Blob([JSON.stringify(session, null, 1)], { type: "application/json" })); return; }
  try { await post("/api/session", session); announce("The session is saved."); } catch (error) { complain(error.message); }
}

/** Begin; resolves to the session that the server has, if any. */
export async function startSession() {
  makeMenu(document.getElementById("session"), document.getElementById("session-menu"), () => [
    [file ? "Save" : "Save to a file", keep, file || "everything: settings, graphs, notes"],
    ["Open a session", () => document.getElementById("file").click(), "a file that was saved before"],
    ["Copy the address", async () => { try { await navigator.clipboard.writeText(location.href); announce("Copied."); } catch { complain("The browser did not let the page copy: the address is above."); } }, "settings and views are in it"],
  ]);
  on("save", keep);
  const found = await get("/api/session").catch(() => null);
  file = found?.file || null;
  return found?.session || null;
}
