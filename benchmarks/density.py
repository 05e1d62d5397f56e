"""Held-out log-likelihood of binary tables that others use to compare density estimators.

Tables are files `<name>.train.csv.gz` and `<name>.test.csv.gz` of 0 and 1, without a header, in the folder that
BENCH_DENSITY names, as in https://github.com/UCLA-StarAI/Density-Estimation-Datasets. `learned` is
Support(3)+MU(c=auto)+BDs(alpha=auto), and its probabilities are estimated with the alpha that was learned; those of all
others, the peers' graphs included, with alpha = 1.

Ours are learned with the default search, and with hill climbing. Every run is a process of its own, which ends after
BENCH_LIMIT CPU seconds (900). Results are kept in `results/density_cases.jsonl`; BENCH_SECONDS and BENCH_TABLES (names
with commas between) limit what is added to them. Seconds are CPU seconds of one thread.
"""

from __future__ import annotations

import gzip
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import kept
from harness.process import part
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

NAMES = (
    "nltcs",
    "mushrooms",
    "dna",
    "plants",
    "nips",
    "accidents",
    "pumsb_star",
    "jester",
    "baudio",
    "bnetflix",
    "bbc",
)
OURS = {
    "learned": "Support(3)+MU(c=auto)+BDs(alpha=auto)",
    "alpha=1, c=1": "Support(3)+MU(c=1)+BDs(1)",
    "BIC": "BIC",
    "U+BDeu(1)": "U+BDeu(1)",
}
PEERS = ("pyAgrum HC, BDeu(1)", "pgmpy HC, BDeu(1)")
LIMIT = int(os.environ.get("BENCH_LIMIT", "900"))
KEPT = Path(__file__).parent / "results" / "density_cases.jsonl"

Codes = NDArray[np.int8]
Case = tuple[str, str, str]  # table, search, contender


def read(table: str, which: str) -> Codes:
    """Read a table."""
    path = Path(os.environ["BENCH_DENSITY"]) / f"{table}.{which}.csv.gz"
    with gzip.open(path, "rt", encoding="ascii") as file:
        return np.loadtxt(file, delimiter=",", dtype=np.int8, ndmin=2)


def learn_peer(name: str, codes: Codes) -> tuple[Any, float]:
    """Return the matrix of a peer's graph, and its CPU seconds."""
    import benchpress

    run = benchpress.PEERS[name](codes)
    began = time.process_time()
    return run(), time.process_time() - began


def run(table: str, search: str, name: str) -> None:
    """Learn from one table, and print what there is to keep."""
    import mapdag as md

    warnings.simplefilter("ignore")
    binary = [("0", "1")] * read(table, "test").shape[1]
    train, test = (md.Dataset.from_codes(read(table, which), levels=binary) for which in ("train", "test"))
    figures: dict[str, Any] = {}
    if name in OURS:
        began = time.process_time()
        result = md.learn(train, OURS[name], threads=1, search=search)
        seconds = time.process_time() - began
        network = result.fit()
        figures = {"objective": str(result.objective), "alpha": result.fit_alpha}
    else:
        graph, seconds = learn_peer(name, read(table, "train"))
        network = md.fit(md.DAG.from_adjacency(graph, train.names), train, alpha=1)
    figures |= {
        "held_out": network.log_likelihood(test) / test.n_rows,
        "arcs": network.dag.n_arcs,
        "seconds": seconds,
        "rows": train.n_rows,
        "columns": train.n_columns,
    }
    print(json.dumps(figures))


def measured(case: Case, _: Any) -> dict[str, Any]:
    """Run a case in a process of its own."""
    found = part(__file__, *case, cpu_limit=LIMIT) or {"limit": LIMIT}
    progress(f"{case}: {found.get('held_out', 'limit reached')}")
    return found


def cases(settings: Settings) -> list[Case]:
    """Return all cases in the order in which they are done: our two objectives on all tables before the others."""
    if settings.quick:
        return [("nltcs", "hc", name) for name in (*OURS, PEERS[0])]
    names = os.environ.get("BENCH_TABLES", ",".join(NAMES)).split(",")
    first = [(name, "orders", goal) for name in names for goal in tuple(OURS)[:2]]
    climbed = [(name, "hc", goal) for name in names for goal in OURS]
    peers = [(name, "hc", peer) for name in names for peer in PEERS]
    others = [(name, "orders", goal) for name in names for goal in tuple(OURS)[2:]]
    return [*first, *climbed, *peers, *others]


def table_of(found: dict[kept.Case, dict[str, Any]], search: str) -> Table:
    """Held-out log-likelihood per row, by table and contender."""
    names = [name for name in dict.fromkeys([*NAMES, *(key[0] for key in found)]) if any(k[0] == name for k in found)]
    contenders = (*OURS, *(PEERS if search == "hc" else ()))
    rows = []
    for name in names:
        mine = [found.get((name, search, contender)) for contender in contenders]
        some = [each for each in mine if each and "limit" not in each]
        if some:
            cells = [cell(each) for each in mine]
            alpha = found.get((name, search, "learned"), {}).get("alpha")
            rows.append((name, some[0]["rows"], some[0]["columns"], alpha, *cells))
    how = "hill climbing" if search == "hc" else "default search"
    heads = ("table", "rows", "columns", "learned alpha", *contenders)
    note = "Nats for each test row, higher is better; - where it was not run."
    return Table(f"Held-out log-likelihood, {how}", heads, tuple(rows), note)


def cell(figures: dict[str, Any] | None) -> str:
    """Show the log-likelihood with three decimals, which differences need."""
    if figures is None:
        return "-"
    return f"over {figures['limit']} s" if "limit" in figures else f"{figures['held_out']:.3f}"


def gains(found: dict[kept.Case, dict[str, Any]]) -> list[float]:
    """Return what learning gains over alpha = c = 1, by table: by the default search, else by hill climbing."""
    gained = []
    for name in dict.fromkeys(key[0] for key in found):
        for search in ("orders", "hc"):
            pair = [found.get((name, search, goal), {}).get("held_out") for goal in tuple(OURS)[:2]]
            if None not in pair:
                gained.append(pair[0] - pair[1])
                break
    return gained


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    """Measure, compare, and say which targets are met."""
    if "BENCH_DENSITY" not in os.environ:
        raise SystemExit("BENCH_DENSITY must name a folder of <name>.train.csv.gz and <name>.test.csv.gz")
    found = kept.measure_all(cases(settings), measured, None if settings.quick else KEPT)
    better = sum(gain > 0 for gain in gains(found))
    target = Target(f"tables of {len(gains(found))} on which learned is better", ">=", 11, better, unit="tables")
    tables = [table_of(found, search) for search in ("orders", "hc")]
    return [table for table in tables if table.rows], [target], None


if __name__ == "__main__":
    Script("density", "Density estimation", __doc__ or "", measure, run).main()
