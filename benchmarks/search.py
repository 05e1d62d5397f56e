"""The default search against hill climbing, tabu and exact search, on tables whose columns were shuffled.

Scores do not depend on what else the machine does; seconds do. What was measured of a data set is kept in `.search` in
the folder of results, and not measured again: delete it to start anew.
"""

from __future__ import annotations

import hashlib
import json
import time
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from harness import process, published, samples
from harness.objectives import MU_BDS, U_BDEU
from harness.samples import EVERY, SEED, Sample
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target
from harness.timing import timed

OBJECTIVES = (MU_BDS, U_BDEU)
PUBLISHED = {MU_BDS: "bnlearn MU+BDs", U_BDEU: "bnlearn BDeu"}
NAMES = {"hc": "hc", "tabu": "tabu", "orders": "default", "exact": "exact"}
SHUFFLES = 5
#: How often the default search runs where that takes long: its graph is the same for all shuffles whose columns are put
#: into the same canonical order, which is looked at for all of them.
RUNS = {"pathfinder": 2, "andes": 2, "pigs": 1, "diabetes": 1}
QUICK_RUNS = {"diabetes": 2}  # of hill climbing and tabu
#: Networks whose true graph is near the optimum, so that the distance to it says how good a search is.
NEAR = ("alarm", "win95pts", "andes", "pigs")
#: The reference networks of the paper.
PAPER = ("alarm", "andes", "child", "diabetes", "hailfinder", "hepar2", "insurance", "pathfinder", "pigs", "water")
FRESH = tuple(Sample(name, 1_000) for name in PAPER)
EXACT_NODES = 20
#: Samples of small networks that the exact search certifies: a hundred in all.
CERTIFIED = {"asia": 20, "cancer": 10, "earthquake": 10, "survey": 15, "sachs": 20, "child": 25}
SIZES = (115, 230, 345, 575, 805, 1_150)
SAME = 1e-6  # scores closer than this are the same
NOTE = (
    "Means over five shuffles of the columns. hc and tabu break ties by the order of the columns. Where the default "
    "search ran fewer times, the canonical order of the columns was seen to be the same for all five shuffles."
)
BNLEARN = (
    "Lead: over the better of the true DAG and hill climbing in topological order. bnlearn's seconds are published "
    "figures (`published/hill_climbing.json`), not measured here; ours are of the processor, one thread, and still "
    "suffer from others who use its caches."
)
CERTIFIED_NOTE = (
    f"Samples of n = {', '.join(map(str, SIZES))} in turn, no limit on parents. The gap is to the certified score; "
    f"within {SAME:g} counts as found."
)
EXACT_TIMES = ("exact, CPU s", "default, CPU s", "hc, CPU s")
TIMES = ("CPU s", "bnlearn hc, s")
BATCH = 5

Found = dict[tuple[Sample, str], Any]


def learn(data: Any, objective: str, search: str) -> Any:
    """One search as it is timed here; hill climbing and tabu break ties by the order of the columns."""
    import mapdag as md

    order = "columns" if search in {"hc", "tabu"} else "data"
    return md.learn(data, objective, search=search, order=order, threads=None if search == "exact" else 1)


def shuffles_of(data: Any) -> list[Any]:
    """The same table with its columns in other orders."""
    rng = np.random.default_rng(SEED)
    return [data.select([data.names[i] for i in rng.permutation(data.n_columns)]) for _ in range(SHUFFLES)]


def shuffled(network: str, n: str, objective: str, source: str) -> None:
    """Search in all ways on shuffles of one data set.

    The data come from a folder of files, or are "sampled" as all benchmarks do, or sampled with a "fresh" seed.
    """
    import mapdag as md
    from mapdag.search import canonical_order

    true, sample = md.network(network).dag, Sample(network, int(n))
    if source == "fresh":
        data = md.network(network).sample(sample.n, seed=SEED + 1)
    else:
        data = samples.load(sample, None if source == "sampled" else Path(source))
    warm_up()
    tables = shuffles_of(data)
    quick = tables[: QUICK_RUNS.get(network, SHUFFLES)]
    ways = {"hc": quick, "tabu": quick, "orders": tables[: RUNS.get(network, SHUFFLES)]}
    if data.n_columns <= EXACT_NODES:
        ways["exact"] = tables[:1]
    arranged = {tuple(table.names[i] for i in canonical_order(table).columns) for table in tables}
    found = {
        "nodes": data.n_columns,
        "arrangements": len(arranged),
        "true": float(md.score(true, data, objective)),
        "topological": one_run(data.select(list(true.topological_order())), objective, "hc", true),
        "runs": {way: [one_run(table, objective, way, true) for table in ways[way]] for way in ways},
    }
    print(json.dumps(found))


def one_run(table: Any, objective: str, search: str, true: Any) -> dict[str, Any]:
    """Score, distance to the truth and time of one search; a digest of the graph and of its equivalence class."""
    import mapdag as md

    used = time.process_time()
    seconds, result = timed(partial(learn, table, objective, search))
    used = time.process_time() - used
    dag = result.dag.reordered(true.nodes)
    graphs = {"dag": digest(dag.arcs), "cpdag": digest([*dag.to_cpdag().arcs, "edges", *dag.to_cpdag().edges])}
    return {"score": result.score, "shd": md.shd(dag, true), "cpu": used, "seconds": seconds, **graphs}


def digest(parts: Any) -> str:
    """Short name of a graph."""
    return hashlib.sha256(repr(sorted(map(repr, parts))).encode()).hexdigest()[:12]


def certified(network: str, first: str, last: str) -> None:
    """Compare the default search with the exact one on fresh samples of a small network."""
    import mapdag as md

    warm_up()
    true, found = md.network(network).dag, []
    for i in range(int(first), int(last)):
        n = SIZES[i % len(SIZES)]
        data = md.network(network).sample(n, seed=1000 + i)
        for objective in OBJECTIVES:
            runs = {search: one_run(data, objective, search, true) for search in ("exact", "orders", "hc")}
            found.append({"network": network, "rows": n, "objective": objective, "runs": runs})
    print(json.dumps(found))


def warm_up() -> None:
    """Let everything be imported and compiled before anything is timed."""
    import mapdag as md

    data = md.network("asia").sample(200, seed=SEED)
    for search in ("hc", "tabu", "orders", "exact"):
        learn(data, MU_BDS, search)


def run_part(kind: str, *arguments: str) -> None:
    """What runs in processes of its own."""
    {"shuffled": shuffled, "certified": certified}[kind](*arguments)


def kept(settings: Settings, *arguments: object) -> Any:
    """Result of a part, measured now unless it was before; a file that says null leaves the part out."""
    folder = settings.out / ".search"
    folder.mkdir(parents=True, exist_ok=True)
    name = "-".join("files" if each == settings.data else str(each) for each in arguments)
    path = folder / f"{name}.json"
    if not path.exists():
        progress(f"search: {name}")
        path.write_text(json.dumps(process.part(__file__, *arguments)) + "\n", encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def bar_of(here: Any) -> float:
    """What the default search must reach: the score of the true DAG, and of hill climbing in its order."""
    return float(max(here["true"], here["topological"]["score"]))


def best_known(here: Any) -> float:
    """Highest score that anything reached on one data set under one objective."""
    return float(max(bar_of(here), *(run["score"] for runs in here["runs"].values() for run in runs)))


def mean_of(runs: list[dict[str, Any]], what: str) -> float:
    return fmean(run[what] for run in runs)


def below(score: float, best: float) -> str:
    return f"{score - best:.1f}" if best - score > SAME else "0"


def every_search(found: Found, title: str) -> list[Table]:
    """Scores, distances and times of all searches on all data sets, a table for each objective."""
    tables = []
    for objective in OBJECTIVES:
        rows: list[tuple[Any, ...]] = []
        for (sample, mine), here in found.items():
            if mine != objective:
                continue
            best, top = best_known(here), here["topological"]
            rows.append((str(sample), "true DAG", below(here["true"], best), "0", None, None))
            rows.append((str(sample), "hc, topological", below(top["score"], best), str(top["shd"]), None, top["cpu"]))
            for way, runs in here["runs"].items():
                low, high = (f([run["score"] for run in runs]) for f in (min, max))
                span = below(low, best) if high - low < SAME else f"{below(low, best)} to {below(high, best)}"
                graphs = f"{len({run['dag'] for run in runs})} of {len(runs)}"
                rows.append(
                    (str(sample), NAMES[way], span, f"{mean_of(runs, 'shd'):.1f}", graphs, mean_of(runs, "cpu"))
                )
        columns = ("data", "search", "score, from the best known", "SHD, mean", "distinct graphs", "CPU s, mean")
        tables.append(Table(f"{title}, {objective}", columns, tuple(rows), NOTE))
    return tables


def default_search(found: Found) -> Table:
    """The scores that the other tables are relative to, and the time of the default search beside bnlearn's."""
    rows = []
    for (sample, objective), here in found.items():
        runs = here["runs"]["orders"]
        lowest = min(run["score"] for run in runs)
        figures = (here["true"], here["topological"]["score"], lowest)
        lead = lowest - bar_of(here)
        shds = (f"{mean_of(here['runs']['hc'], 'shd'):.1f}", f"{mean_of(runs, 'shd'):.1f}")
        times = (mean_of(runs, "cpu"), bnlearn(sample, objective))
        rows.append((str(sample), objective, *(f"{each:.1f}" for each in figures), f"{lead:+.1f}", *shds, *times))
    columns = ("data", "objective", "true DAG", "hc, topological", "default", "lead", "SHD of hc", "SHD", *TIMES)
    absent = [f"{sample}, {o}" for sample in EVERY for o in OBJECTIVES if (sample, o) not in found]
    note = f"{BNLEARN} Not measured: {'; '.join(absent)}." if absent else BNLEARN
    return Table("The default search, the worst shuffle", columns, tuple(rows), note)


def bnlearn(sample: Sample, objective: str) -> float | None:
    """Published seconds of bnlearn's hill climbing."""
    return published.figures().get(sample.key, {}).get(PUBLISHED[objective])


def targets_of(found: Found) -> list[Target]:
    """What the default search promises on shuffled columns."""
    leads, shds, times, most = [], [], [], 0
    for (sample, objective), here in found.items():
        runs, data = here["runs"]["orders"], f"{sample}, {objective}"
        most = max(most, here["arrangements"], len({run["dag"] for run in runs}))
        lead = min(run["score"] for run in runs) - bar_of(here)
        # The true graph may be the best one, up to rounding in the sum of its families.
        lead = 0.0 if abs(lead) < SAME else lead
        leads.append(Target(f"{data}: score over that of the true DAG and of hc in its order", ">=", 0, lead, "nats"))
        if sample.network in NEAR:
            ratio = mean_of(runs, "shd") / mean_of(here["runs"]["hc"], "shd")
            shds.append(Target(f"{data}: mean SHD over that of hc", "<=", 0.7, ratio, "of hc's"))
        then = bnlearn(sample, objective)
        if then is not None:
            times.append(Target(f"{data}: CPU time against bnlearn's hc", "<=", 1, mean_of(runs, "cpu") / then))
    spread = Target("distinct graphs over shuffles, the most of all data sets", "<=", 1, most, "graphs")
    return [*leads, spread, *shds, *times]


def gap_of(runs: dict[str, Any], way: str) -> float:
    """How far a search stayed below the certified score; 0 where it is the same."""
    gap = float(runs["exact"]["score"] - runs[way]["score"])
    return gap if gap >= SAME else 0.0


def against_exact(rows: list[dict[str, Any]]) -> tuple[Table, list[Target]]:
    """How often the default search finds the best of all graphs."""
    shown: list[tuple[Any, ...]] = []
    targets = []
    for objective in OBJECTIVES:
        for network in [*dict.fromkeys(row["network"] for row in rows), None]:
            mine = [r["runs"] for r in rows if r["objective"] == objective and network in {None, r["network"]}]
            gaps = [[gap_of(runs, way) for runs in mine] for way in ("orders", "hc")]
            hits = [each.count(0.0) for each in gaps]
            times = (fmean(runs[way]["cpu"] for runs in mine) for way in ("exact", "orders", "hc"))
            found = (len(mine), hits[0], max(gaps[0]), hits[1], max(gaps[1]))
            shown.append((objective, network or "all", *found, *times))
            if network is None:
                what = f"{objective}: certified MAP found, {len(mine)} samples of small networks"
                targets.append(Target(what, ">=", 95, 100 * hits[0] / len(mine), "of 100"))
    columns = (
        "objective",
        "network",
        "samples",
        "default finds it",
        "worst gap",
        "hc finds it",
        "worst gap",
        *EXACT_TIMES,
    )
    title = "Against exact search: how often the best graph is found"
    return Table(title, columns, tuple(shown), CERTIFIED_NOTE), targets


def shuffles(settings: Settings, which: tuple[Sample, ...], source: object) -> Found:
    """All data sets under all objectives, but those left out."""
    parts = [(each, objective) for each in which for objective in OBJECTIVES]
    found = {part: kept(settings, "shuffled", part[0].network, part[0].n, part[1], source) for part in parts}
    return {part: here for part, here in found.items() if here is not None}


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    certificates: list[dict[str, Any]] = []
    for network, many in CERTIFIED.items():
        most = 2 if settings.quick else many
        for first in range(0, most, BATCH):
            certificates += kept(settings, "certified", network, first, min(first + BATCH, most)) or []
    found = shuffles(settings, EVERY[:1] if settings.quick else EVERY, settings.data or "sampled")
    others = shuffles(settings, FRESH[2:3] if settings.quick else FRESH, "fresh")
    exact, certain = against_exact(certificates)
    tables = [default_search(found), exact, *every_search(found, "Shuffled columns")]
    tables += every_search(others, "Fresh samples, shuffled columns")
    raw = [{f"{sample}, {o}": here for (sample, o), here in part.items()} for part in (found, others)]
    return tables, [*targets_of(found), *certain], {"data": raw[0], "fresh": raw[1], "certified": certificates}


if __name__ == "__main__":
    Script("search", "Quality of the searches", __doc__ or "", measure, run_part).main()
