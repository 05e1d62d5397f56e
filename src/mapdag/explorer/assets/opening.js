// Opening a table: a file that is dropped or chosen, or a sample of a bundled network. What is wrong with a file is said in
// the reader's own sentences, and the ways out are buttons.
import { get, post, upload } from "./api.js";
import { openDialog } from "./dialog.js";
import { figure, make } from "./elements.js";
import { openSession } from "./session.js";
import { state, tell } from "./state.js";
import { announce, complain, hush } from "./trouble.js";

const file = document.getElementById("file"), welcome = document.getElementById("welcome"), frame = document.getElementById("frame");
let busy = false;

/** Show a table that the server has. */
export function showTable(table) {
  state.data = table;
  state.graph = state.strength = state.pin = null;
  welcome.hidden = true;
  document.getElementById("data-name").textContent = table.name;
  const weighted = table.total && Math.abs(table.total - table.rows) > 1e-9 ? `${figure(table.total, Number.isInteger(table.total) ? 0 : 1)} in ` : "";
  document.getElementById("data-size").textContent = `${weighted}${figure(table.rows, 0)} rows · ${figure(table.columns.length, 0)} columns`;
  document.title = `${table.name} · mapdag explorer`;
  tell("data");
  tell("pin");
  if (table.warnings?.length) complain(table.warnings.join(" "));
  announce(`${table.name}: ${table.rows} rows, ${table.columns.length} columns`);
}

/** Options as the server takes them: texts or lists of texts. */
function query(name, options) {
  const parts = new URLSearchParams({ name });
  for (const [key, value] of Object.entries(options)) for (const each of [value].flat()) parts.append(key, each);
  return parts;
}

/** Read a file with these options, on the server. Resolves to whether it could be read. */
export async function readFile(chosen, options = {}) {
  const { limits } = state.vocabulary;
  if (limits?.body && chosen.size > limits.body) {
    complain(`${chosen.name} has ${figure(chosen.size / 2 ** 20, 1)} MB; at most ${figure(limits.body / 2 ** 20, 0)} MB can be dropped here. Open larger files from the command line: mapdag explore FILE.`);
    return false;
  }
  if (chosen.name.endsWith(".json") && chosen.size < 2 ** 24) {
    const session = await sessionIn(chosen);
    if (session) { openSession(session); return true; }
  }
  setBusy(true);
  try {
    showTable(await upload(`/api/data?${query(chosen.name, options)}`, chosen));
    tell("opened");
    return true;
  } catch (error) {
    const ways = error.advice?.map(({ text, option }) => [text, () => readFile(chosen, { ...options, ...option })]) || [];
    complain(error.message, ways);
    return false;
  } finally {
    setBusy(false);
  }
}
async function sessionIn(chosen) {
  try {
    const found = JSON.parse(await chosen.text());
    return found?.format === "mapdag-explore" ? found : null;
  } catch { return null; }
}

/** Draw a sample of a bundled network. */
export async function readNetwork(network, rows, seed) {
  setBusy(true);
  try {
    showTable(await post("/api/data", { network, rows, seed }));
    tell("opened");
  } catch (error) { complain(error.message); } finally { setBusy(false); }
}
function setBusy(now) {
  busy = now;
  document.getElementById("working").hidden = !now;
}

// The form --------------------------------------------------------------------------------------------------------------------
function form(done) {
  const choose = make("button", { type: "button", class: "primary", click: () => file.click() }, "Choose a file");
  const networks = make("select", { "aria-label": "Network", id: "network" }, state.vocabulary.networks.map(({ name, nodes }) => make("option", { value: name, selected: name === "alarm" }, `${name}, ${figure(nodes, 0)} nodes`)));
  const rows = make("input", { type: "number", id: "rows", value: 5000, min: 1, max: state.vocabulary.limits?.rows || 1e7, "aria-label": "Rows" });
  const seed = make("input", { type: "number", id: "seed", value: 1, min: 0, "aria-label": "Seed" });
  const draw = make("button", { type: "button", id: "draw", click: () => { if (!busy) { done(); readNetwork(networks.value, Math.round(+rows.value), Math.round(+seed.value)); } } }, "Draw a sample");
  return [
    make("p", {}, "Drop a table anywhere on this page: CSV, Parquet, Arrow, spreadsheets saved as text; or a session file."),
    make("p", { class: "actions" }, choose),
    make("p", { class: "or" }, "or a sample of a bundled network"),
    make("p", { class: "actions sample-form" }, networks, make("label", {}, "rows ", rows), make("label", {}, "seed ", seed), draw),
  ];
}

/** Begin. */
export function startOpening() {
  welcome.append(make("div", { class: "welcome" }, make("h1", {}, "How much does your graph depend on the prior?"), form(() => {})));
  document.getElementById("data-name").addEventListener("click", openForm);
  file.addEventListener("change", () => { if (file.files[0]) { document.getElementById("dialog").close(); readFile(file.files[0]); } file.value = ""; });
  let inside = 0;
  const show = (now) => document.body.classList.toggle("dropping", now);
  window.addEventListener("dragenter", (event) => { if (event.dataTransfer?.types.includes("Files")) { inside += 1; show(true); } });
  window.addEventListener("dragleave", () => { inside = Math.max(0, inside - 1); if (!inside) show(false); });
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    inside = 0;
    show(false);
    hush();
    if (event.dataTransfer.files[0]) readFile(event.dataTransfer.files[0]);
  });
  frame.classList.add("open");
}

/** Show the form, and the tables that the server has, in a dialog. */
export async function openForm() {
  if (!welcome.hidden) { file.click(); return; }
  const tables = await get("/api/data").then((found) => found.tables, () => []);
  const close = openDialog("Open a table", form(() => close()),
    tables.length > 1 ? [make("p", { class: "or" }, "or one that is open already"), make("ul", { class: "tables" }, tables.map((table) => make("li", {}, make("button", { type: "button", click: () => { close(); showTable(table); tell("opened"); } }, `${table.name}, ${figure(table.rows, 0)} rows`))))] : null);
}
