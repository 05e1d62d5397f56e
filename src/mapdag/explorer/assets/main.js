// The explorer: puts its parts together and opens the table.
import { hideToken, read, showViews, startAddress } from "./address.js";
import { get } from "./api.js";
import { startArcList } from "./arclist.js";
import { barsShown, startBars } from "./bars.js";
import { startCertificate } from "./certificate.js";
import { startControls } from "./controls.js";
import { showTab } from "./dock.js";
import { startEvidence } from "./evidence.js";
import { startExports } from "./exports.js";
import { startGallery, showGallery } from "./gallery.js";
import { startGestures } from "./gestures.js";
import { startHeat } from "./heat.js";
import { startKept } from "./kept.js";
import { startKeys } from "./keys.js";
import { showLanes, startLanes } from "./lanes.js";
import { startLearned } from "./learned.js";
import { learn } from "./learner.js";
import { startLegend } from "./legend.js";
import { startLife } from "./life.js";
import { showTable, startOpening } from "./opening.js";
import { startPin } from "./pin.js";
import { startRules } from "./rules.js";
import { startScoreCard } from "./scorecard.js";
import { openSession, startSession } from "./session.js";
import { graph, picture } from "./stage.js";
import { begin, history, on, state } from "./state.js";
import { startStrength } from "./strength.js";
import { complain } from "./trouble.js";
import { startWhy } from "./why.js";

const hadHash = location.hash.length > 1, query = new URLSearchParams(location.search); // as the page was asked for

async function start() {
  state.vocabulary = await get("/api/vocabulary");
  const asked = read();
  state.settings = asked.settings;
  startControls(document.getElementById("controls"));
  startScoreCard();
  startCertificate();
  startLearned(document.getElementById("learned"));
  startOpening();
  startLegend();
  startPin();
  startGestures();
  startLanes();
  startRules(() => showLanes(true));
  const beliefs = startEvidence({ picture, graph, isWanted: () => state.tab === "evidence" || state.node !== null || barsShown(), redescribe: () => graph.refresh() });
  startBars(beliefs);
  startWhy();
  startArcList();
  startStrength();
  startLife();
  startHeat();
  startGallery();
  startKept(() => showGallery(true));
  startExports();
  startKeys();
  startAddress();
  on("settings", learn);
  on("history", () => {
    document.getElementById("undo").disabled = !history().past.length;
    document.getElementById("redo").disabled = !history().future.length;
  });
  on("opened", () => begin({ ...state.vocabulary.defaults }));
  on("restored", ({ tab }) => showTab(document.getElementById(`tab-${tab}`) ? tab : "chosen"));
  const [session, tables] = await Promise.all([startSession(), get("/api/data").then((found) => found.tables)]);
  hideToken();
  await openFirst(asked, session, tables);
}

async function openFirst(asked, session, tables) {
  const wanted = asked.data || query.get("data"), first = tables.find((table) => table.data === wanted) || tables[0];
  if (first) showTable(first);
  if (session && !hadHash) { await openSession(session); return; }
  if (!first) return;
  begin(hadHash || !first.settings ? asked.settings : { ...state.vocabulary.defaults, ...first.settings });
  showViews(asked);
  if (asked.node) {
    let done = false;
    on("drawn", () => {
      const i = state.data.columns.findIndex(({ name }) => name === asked.node);
      if (!done && i >= 0 && !state.node) graph.goTo(i);
      done = true;
    });
  }
}

start().catch((error) => complain(error.message));
