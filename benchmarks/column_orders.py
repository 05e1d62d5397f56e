"""How much the order of the columns matters: the design of Kitson and Constantinou (2025) on the bundled networks.

One sample of each network; its first 100 to 100,000 rows; hill climbing on 25 random orders of the columns, and the
default search, with BIC and with the default objective. Measured is their F1: of the arcs and edges of the learned
CPDAG against those of the true one, where a pair of nodes is right if it is joined in the same way. As there, a column
has the levels that occur in its rows.

What was learned is kept in `column_orders.jsonl` in the folder of results, and not learned again: delete it to start
anew. `BENCH_SECONDS` ends the run after so many seconds, and the same command goes on; `BENCH_ROWS=100,1000` takes
samples of these sizes only.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from harness.script import Script, Settings, progress
from harness.tables import Table

#: Those of their 17 networks that are bundled; COVID, DIARRHOEA, FORMED, PROPERTY and SPORTS are not.
NETWORKS = (
    *("asia", "sachs", "child", "insurance", "alarm", "water"),
    *("hailfinder", "hepar2", "win95pts", "mildew", "barley", "pathfinder"),
)
ROWS = (100, 1_000, 10_000, 100_000)
ORDERS = 25
AGAIN = 2  # orders on which the default search is tried, up to so many rows: its graph must be the same
AGAIN_ROWS = 10_000
BIC, DEFAULT = "U+BIC", "Support(3)+MU(c=1)+BDs(1)"
WAYS = (("hc", BIC), ("hc", DEFAULT), ("default", BIC), ("default", DEFAULT))
HEADS = tuple(f"{search}, {'BIC' if objective == BIC else 'default objective'}" for search, objective in WAYS)
#: Left out where they compare algorithms: some variable has one value only in their samples.
SINGLE = frozenset((each, 100) for each in ("insurance", "water", "barley", "hailfinder", "win95pts", "pathfinder"))
SEED = 2025
KEPT = "column_orders.jsonl"
PUBLISHED = Path(__file__).parent / "published" / "column_orders.json"


class Part(NamedTuple):
    """What is learned in one go: a search with an objective on all orders of a sample."""

    network: str
    rows: int
    search: str
    objective: str

    @property
    def orders(self) -> int:
        if self.search == "hc":
            return ORDERS
        return AGAIN if self.rows <= AGAIN_ROWS else 1


class Found(NamedTuple):
    """F1 of every order, and how many graphs there are among them."""

    part: Part
    f1: list[float]
    graphs: int
    seconds: float


@lru_cache(maxsize=2)
def sample(network: str, most: int) -> Any:
    import mapdag as md

    return md.network(network).sample(most, seed=SEED)


def first_rows(network: str, rows: int) -> Any:
    """The first rows of the sample, with the levels that occur in them."""
    import mapdag as md

    whole = sample(network, max(ROWS))
    codes = [np.unique(whole.column(name)[:rows], return_inverse=True)[1] for name in whole.names]
    return md.Dataset.from_codes(np.column_stack(codes), names=whole.names)


def learn(part: Part) -> Found:
    """Learn from all orders of the columns of a part."""
    import mapdag as md

    true, data = md.network(part.network).dag, first_rows(part.network, part.rows)
    goal, rng = true.to_cpdag(), np.random.default_rng(SEED)
    options = {"search": "hc", "order": "columns"} if part.search == "hc" else {}
    start, scores, graphs = time.perf_counter(), [], set()
    for _ in range(part.orders):
        names = [data.names[i] for i in rng.permutation(data.n_columns)]
        dag = md.learn(data.select(names), part.objective, threads=1, **options).dag.reordered(true.nodes)
        scores.append(md.compare(goal, dag.to_cpdag()).f1)
        graphs.add(dag.parent_masks)
    return Found(part, scores, len(graphs), time.perf_counter() - start)


def parts_of(settings: Settings) -> list[Part]:
    """All parts, those that take longest first, so that no process has nothing to do at the end."""
    wanted = [int(each) for each in os.environ.get("BENCH_ROWS", ",".join(map(str, ROWS))).split(",")]
    networks, rows = (NETWORKS[:3], ROWS[:2]) if settings.quick else (NETWORKS, wanted)
    parts = [Part(network, n, *way) for n in rows for way in WAYS[::-1] for network in networks[::-1]]
    return sorted(parts, key=lambda part: -part.rows)


def read_kept(path: Path) -> dict[Part, Found]:
    """What was learned before."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [Found(Part(*part), *rest) for part, *rest in map(json.loads, lines)]
    return {each.part: each for each in found}


def learned(parts: Iterable[Part], path: Path) -> Iterator[Found]:
    """Learn what is missing, in as many processes as there are cores, and keep it."""
    known = read_kept(path)
    yield from (known[part] for part in parts if part in known)
    missing = [part for part in parts if part not in known]
    end = time.monotonic() + float(os.environ.get("BENCH_SECONDS", "inf"))
    if missing:  # kernels are compiled once, and not in all processes at the same time
        for way in WAYS:
            learn(Part("asia", ROWS[0], *way))
    context = multiprocessing.get_context("spawn")
    path.parent.mkdir(parents=True, exist_ok=True)
    with context.Pool(len(os.sched_getaffinity(0))) as pool, path.open("a", encoding="utf-8") as out:
        coming = pool.imap_unordered(learn, missing)
        for done in range(len(missing)):
            try:
                found = coming.next(timeout=min(end - time.monotonic(), 1e6))
            except multiprocessing.TimeoutError:
                progress(f"column orders: time is up with {done} of {len(missing)} parts")
                return  # leaving the pool ends what is under way
            out.write(json.dumps(found) + "\n")
            out.flush()
            progress(f"column orders: {', '.join(map(str, found.part))}: {fmean(found.f1):.3f}, {found.seconds:.0f} s")
            yield found


def mean(values: Iterable[float]) -> float | None:
    several = list(values)
    return round(fmean(several), 3) if several else None


def sizes_of(found: dict[Part, Found], network: str, without: frozenset[tuple[str, int]] = frozenset()) -> list[int]:
    """Sizes that all ways have been tried on, but those to be left out."""
    whole = [n for n in ROWS if all(Part(network, n, *way) in found for way in WAYS)]
    return [n for n in whole if (network, n) not in without]


def figures(found: dict[Part, Found], network: str, sizes: list[int]) -> list[float | None]:
    """Mean F1 over sizes and orders of every way, and the mean deviation over orders with hill climbing and BIC."""
    ours = [mean(fmean(found[Part(network, n, *way)].f1) for n in sizes) for way in WAYS]
    return [*ours, mean(stdev(found[Part(network, n, *WAYS[0])].f1) for n in sizes)]


def by_network(found: dict[Part, Found]) -> Table:
    """One line for each network, one for all of them, and one without what they leave out."""
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    names = ("HC", "Tabu", "Tabu-Stable")
    rows: list[tuple[Any, ...]] = []
    for network in NETWORKS:
        if sizes := sizes_of(found, network):
            theirs = [published["networks"].get(network, {}).get(name) for name in names]
            rows.append((network, f"{sizes[0]:,} to {sizes[-1]:,}", *figures(found, network, sizes), *theirs))
    for label, without, theirs in (
        ("mean", frozenset(), [None] * len(names)),
        ("mean, as they leave out", SINGLE, [published["overall"][name] for name in names]),
    ):
        sizes_by_network = {each: sizes_of(found, each, without) for each in NETWORKS}
        several = [figures(found, network, sizes) for network, sizes in sizes_by_network.items() if sizes]
        rows.append((label, "", *(mean(column) for column in zip(*several, strict=True)), *theirs))
    columns = ("network", "rows", *HEADS, "SD over orders, hc, BIC", *(f"{name}, published" for name in names))
    note = (
        "Means over sizes and orders. Published figures are theirs, on their own samples; those of the last line are "
        "over all 17 networks, ours over the bundled ones. They leave out 100 rows where some variable has one value "
        "only, as we do in that line, and take versions of HAILFINDER and WIN95PTS without columns that are copies."
    )
    return Table("F1 by network", columns, tuple(rows), note)


def by_rows(found: dict[Part, Found]) -> Table:
    """One line for each network and size: F1 with the spread over orders, and graphs."""
    rows: list[tuple[Any, ...]] = []
    for network in NETWORKS:
        for n in ROWS:
            cells: list[Any] = []
            for way in WAYS:
                each = found.get(Part(network, n, *way))
                width = "" if each is None or way[0] != "hc" else f" ({min(each.f1):.3f} to {max(each.f1):.3f})"
                cells.append(None if each is None else f"{fmean(each.f1):.3f}{width}")
            climbed = found.get(Part(network, n, "hc", BIC))
            if any(cells):
                rows.append((network, n, *cells, climbed and climbed.graphs))
    note = f"hc: mean, and the lowest and highest of {ORDERS} orders; graphs are distinct DAGs among them."
    return Table("F1 by network and rows", ("network", "rows", *HEADS, "graphs, hc, BIC"), tuple(rows), note)


def measure(settings: Settings) -> tuple[list[Table], list[Any], Any]:
    parts = parts_of(settings)
    found = {each.part: each for each in learned(parts, settings.out / KEPT)}
    moved = [part for part, each in found.items() if part.search == "default" and each.graphs > 1]
    progress(f"column orders: {len(found)} of {len(parts)} parts; the order changed the default search in {moved}")
    return [by_network(found), by_rows(found)], [], [list(each) for each in found.values()]


if __name__ == "__main__":
    Script("column_orders", "Orders of the columns", __doc__ or "", measure).main()
