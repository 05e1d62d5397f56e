"""Is learning alpha and c better than choosing them: distance to the truth and predictive loss, by objective.

Samples of the study's ten networks, of all its sizes, with their columns shuffled, default search. `learned` is
Support(3)+MU(c=auto)+BDs(alpha=auto). The others have alpha 1, 5 or 10 and c 1 or 2; Steck's alpha; BIC; or the one of
the six fixed choices with the lowest loss in five-fold cross-validation. Predictive loss is the log loss of 10,000 new
rows, per row, with alpha = 1 in all estimates of probabilities, and with the alpha of the objective.

All cases take many hours of a core. Results are kept in `results/learned_alpha_cases.jsonl`, so that the benchmark can
be run in pieces, the cheapest cases first: BENCH_SECONDS limits the time, BENCH_PROCESSES the cores, BENCH_NETWORKS
and BENCH_REPLICATES the cases; the tables show what there is. Seconds are CPU seconds of one thread.
"""

from __future__ import annotations

import json
import math
import os
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

NETWORKS = (
    "child",
    "insurance",
    "water",
    "alarm",
    "hailfinder",
    "hepar2",
    "andes",
    "pathfinder",
    "pigs",
    "diabetes",
)
SIZES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # rows for each parameter
FIXED = {f"alpha={alpha}, c={c}": f"Support(3)+MU(c={c})+BDs({alpha})" for c in (1, 2) for alpha in (1, 5, 10)}
GOALS = {
    "learned": "Support(3)+MU(c=auto)+BDs(alpha=auto)",
    "learned alpha, c=1": "Support(3)+MU(c=1)+BDs(alpha=auto)",
    "learned c, alpha=1": "Support(3)+MU(c=auto)+BDs(1)",
    "learned, BDeu": "Support(3)+MU(c=auto)+BDeu(alpha=auto)",
    **FIXED,
    "BIC": "BIC",
    "Steck": "Support(3)+U+BDeu(alpha_S)",
    "cross-validated": "",
}
BASE = "alpha=1, c=1"
PROFILES = (("child", 2.0), ("alarm", 1.0), ("hailfinder", 0.5))  # samples whose profiles are drawn
STAGES = (
    ("learned", BASE),
    ("learned alpha, c=1", "learned c, alpha=1", "learned, BDeu"),
    tuple(goal for goal in FIXED if goal != BASE),
    ("BIC",),
    ("Steck", "cross-validated"),
)
ROUNDS, FOLDS = 10, 5
TEST_ROWS = 10_000
KEPT = Path(__file__).parent / "results" / "learned_alpha_cases.jsonl"

Case = tuple[str, float, int, str]  # network, size, replicate, goal


@cache
def truth(name: str) -> tuple[Any, Any]:
    """Return a network and its test rows."""
    import mapdag as md

    network = md.network(name)
    return network, network.sample(TEST_ROWS, seed=987_654)


def sample(name: str, size: float, replicate: int) -> Any:
    """Draw the rows of a case, columns shuffled."""
    network, _ = truth(name)
    n = max(math.floor(size * network.n_parameters + 0.5), 2)
    key = [NETWORKS.index(name), round(10 * size), replicate]
    seed = int(np.random.SeedSequence(key).generate_state(1)[0])
    data = network.sample(n, seed=seed)
    return data.select([data.names[i] for i in np.random.default_rng(key).permutation(data.n_columns)])


def learn(data: Any, goal: str, replicate: int) -> Any:
    """Learn under one of the goals."""
    import mapdag as md
    from mapdag.theory import find_alpha_star

    if goal == "Steck":
        found = {}

        def at(alpha: float) -> Any:
            found[alpha] = md.learn(data, f"Support(3)+U+BDeu({alpha!r})", threads=1)
            return found[alpha].dag

        path = find_alpha_star(data, at, max_rounds=ROUNDS)
        return next(each for each in reversed(found.values()) if each.dag is path.dag)
    if goal == "cross-validated":
        goals = list(FIXED.values())
        chosen = md.cross_validate(data, goals, folds=FOLDS, seed=replicate, threads=1).best
        return md.learn(data, chosen, threads=1)
    return md.learn(data, GOALS[goal], threads=1)


def measured(case: Case) -> dict[str, Any]:
    """Learn, and judge by the truth."""
    import mapdag as md

    warnings.simplefilter("ignore")
    name, size, replicate, goal = case
    network, test = truth(name)
    data = sample(name, size, replicate)
    began = time.process_time()
    result = learn(data, goal, replicate)
    seconds = time.process_time() - began
    alpha = getattr(result.objective.likelihood, "alpha", 1.0)
    try:
        losses = [-result.fit(alpha=each).log_likelihood(test) / TEST_ROWS for each in (1.0, alpha)]
    except md.errors.CapacityError:  # PATHFINDER's largest node may have 22 parents
        losses = [math.nan, math.nan]
    return {
        "shd": md.shd(result.dag, network.dag),
        "loss": losses[0],
        "own_loss": losses[1],
        "arcs": result.dag.n_arcs,
        "seconds": round(seconds, 3),
        "objective": str(result.objective),
        "rows": data.n_rows,
    }


def cost(case: Case) -> float:
    """Guess how long a case takes, to begin with the cheapest."""
    network, _ = truth(case[0])
    rows = case[1] * network.n_parameters
    times = 40 if case[3] == "cross-validated" else 10 if case[3] == "Steck" else 1
    return times * len(network.dag.nodes) ** 2 * (rows + 2_000)


def cases(settings: Settings) -> list[Case]:
    """Return all cases in the order in which they are done."""
    if settings.quick:
        return [("child", 0.5, 1, goal) for goal in ("learned", BASE, "BIC")]
    names = os.environ.get("BENCH_NETWORKS", ",".join(NETWORKS)).split(",")
    replicates = range(1, int(os.environ.get("BENCH_REPLICATES", "5")) + 1)
    stages = [
        sorted(
            ((name, size, r, goal) for name in names for size in SIZES for r in replicates for goal in goals), key=cost
        )
        for goals in STAGES
    ]
    return [case for stage in stages for case in stage]


def known() -> dict[Case, dict[str, Any]]:
    """Return what was measured before."""
    if not KEPT.exists():
        return {}
    lines = map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())
    return {tuple(line["case"]): line["found"] for line in lines}


def measure_all(wanted: list[Case], *, keep: bool) -> dict[Case, dict[str, Any]]:
    """Measure cases until the time is up; what was measured before is not measured again."""
    found = known() if keep else {}
    until = time.monotonic() + float(os.environ.get("BENCH_SECONDS", "inf"))
    left = [case for case in wanted if case not in found]
    workers = int(os.environ.get("BENCH_PROCESSES", os.cpu_count() or 1))
    with ProcessPoolExecutor(workers) as pool:
        running: dict[Any, Case] = {}
        while left or running:
            while left and len(running) < workers and time.monotonic() < until:
                case = left.pop(0)
                running[pool.submit(measured, case)] = case
            if not running:
                break
            done = next(as_completed(running))
            case = running.pop(done)
            found[case] = done.result()
            if keep:
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"case": case, "found": found[case]}) + "\n")
    if left:
        progress(f"{len(wanted) - len(left)} of {len(wanted)} cases are done")
    return found


def compare(found: dict[Case, dict[str, Any]], goal: str, base: str, figure: str) -> list[tuple[Any, ...]]:
    """Return network, size, pairs, means and the paired difference with its standard error, for every cell."""
    pairs: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    for (name, size, replicate, which), figures in found.items():
        other = found.get((name, size, replicate, base))
        if which == goal and other is not None and not math.isnan(figures[figure] - other[figure]):
            pairs[name, size].append((figures[figure], other[figure]))
    rows = []
    for name, size in sorted(pairs, key=lambda cell: (NETWORKS.index(cell[0]), cell[1])):
        cell = pairs[name, size]
        gaps = [a - b for a, b in cell]
        error = stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.nan
        rows.append((name, size, len(cell), fmean(a for a, _ in cell), fmean(b for _, b in cell), fmean(gaps), error))
    return rows


def cells(found: dict[Case, dict[str, Any]]) -> Table:
    """Learned against alpha = c = 1, cell by cell."""
    loss = {(row[0], row[1]): row[5] for row in compare(found, "learned", BASE, "loss")}
    own = {(row[0], row[1]): row[5] for row in compare(found, "learned", BASE, "own_loss")}
    rows = []
    for name, size, n, mine, other, gap, error in compare(found, "learned", BASE, "shd"):
        here = [figures for (a, b, _, goal), figures in found.items() if (a, b, goal) == (name, size, "learned")]
        there = [figures for (a, b, _, goal), figures in found.items() if (a, b, goal) == (name, size, BASE)]
        times = math.exp(fmean(math.log(a["seconds"] / b["seconds"]) for a, b in zip(here, there, strict=False)))
        cell = name, size, here[0]["rows"], n, mine, other, gap, error
        rows.append((*cell, loss.get((name, size)), own.get((name, size)), times))
    heads = ("network", "n/p", "rows", "samples", "SHD, learned", f"SHD, {BASE}", "difference", "standard error")
    more = ("loss", "loss with own alpha", "times the CPU time")
    note = f"Differences are learned - ({BASE}), means over samples: below 0 is better."
    return Table("Learned against alpha = 1, c = 1", (*heads, *more), tuple(rows), note)


def against(found: dict[Case, dict[str, Any]]) -> Table:
    """Learned against every other goal, over all cells that have both."""
    from scipy.stats import wilcoxon

    rows = []
    for goal in GOALS:
        shd = compare(found, "learned", goal, "shd")
        if goal == "learned" or not shd:
            continue
        told: list[Any] = [goal, len(shd), fmean(row[3] for row in shd), fmean(row[4] for row in shd)]
        for figure in ("shd", "loss", "own_loss"):
            gaps = [row[5] for row in compare(found, "learned", goal, figure)]
            better = sum(gap < 0 for gap in gaps)
            p = float(wilcoxon(gaps).pvalue) if any(gaps) else 1.0
            told += [f"{better} / {sum(gap > 0 for gap in gaps)}", p]
        rows.append(tuple(told))
    heads = ("goal", "cells", "SHD, learned", "SHD, goal")
    more = [f"{each}{told}" for each in ("SHD", "loss", "own loss") for told in (": better / worse", ", p")]
    note = (
        "Cells (network and size) in which learned values are better and worse; Wilcoxon's signed-rank test over cells."
    )
    return Table("Learned against others", (*heads, *more), tuple(rows), note)


def noise() -> Table:
    """Arcs learned from the tables of noise of the support benchmark."""
    import mapdag as md
    from support import CASES, KINDS, MORE_CASES
    from support import noise as draw

    wanted = [(kind, *case) for kind in KINDS[:2] for case in (*CASES, *MORE_CASES)]
    goals = (GOALS["learned"], FIXED[BASE], "BIC", "U+BDeu(1)")
    rows = []
    for kind, levels, n in wanted:
        results = md.learn(draw(kind, levels, n, 10, 1), list(goals))
        rows.append((kind, levels, n, getattr(results[0].objective.likelihood, "alpha", 1.0)))
        rows[-1] += tuple(result.dag.n_arcs for result in results)
    total = ("all", 0, 0, math.nan, *(sum(row[4 + i] for row in rows) for i in range(len(goals))))
    heads = ("columns", "levels", "rows", "learned alpha", "learned", BASE, "BIC", "U+BDeu(1)")
    return Table("Arcs in 22 tables of noise", heads, (*rows, total), "Ten independent columns; the truth is 0.")


def draw_profiles(path: Path) -> None:
    """Draw joint score, distance to the truth and held-out loss by alpha, for three samples; as SVG."""
    from matplotlib.figure import Figure

    import mapdag as md
    from mapdag.objective.hyperparameters import log_alpha_prior

    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplots(3, len(PROFILES), sharex=True)
    alphas = np.geomspace(0.1, 100, 19)

    def joint_score(alpha: float, result: Any) -> float:
        return log_alpha_prior(alpha) + result.learned.score

    for column, (name, size) in enumerate(PROFILES):
        network, test = truth(name)
        data = sample(name, size, 1)
        learned = md.learn(data, GOALS["learned"])
        results = [md.learn(data, f"Support(3)+MU(c=auto)+BDs({alpha!r})") for alpha in alphas.tolist()]
        told = [learned, *results]
        at = [learned.learned.alpha, *alphas.tolist()]
        rows = (
            ("joint score", [learned.learned.score, *map(joint_score, alphas.tolist(), results)]),
            ("SHD", [md.shd(each.dag, network.dag) for each in told]),
            (
                "log loss",
                [-each.fit(alpha=a).log_likelihood(test) / TEST_ROWS for a, each in zip(at, told, strict=True)],
            ),
        )
        for row, (title, values) in enumerate(rows):
            axis = axes[row, column]
            axis.plot(alphas, values[1:], color="#3a6ea5")
            axis.plot(at[:1], values[:1], "o", color="#c0392b")
            axis.set_xscale("log")
            if column == 0:
                axis.set_ylabel(title)
        axes[0, column].set_title(f"{name}, {data.n_rows:,} rows")
        axes[2, column].set_xlabel("alpha")
    figure.savefig(path, metadata={"Date": None})


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    """Measure, compare, and say which targets are met."""
    wanted = cases(settings)
    found = measure_all(wanted, keep=not settings.quick)
    shd, loss = (compare(found, "learned", BASE, figure) for figure in ("shd", "own_loss"))
    same = compare(found, "learned", BASE, "loss")
    worse = sum(row[5] > 2 * row[6] and row[5] > 0 for row in shd)
    ratio = fmean(row[3] for row in shd) / fmean(row[4] for row in shd)
    if not settings.quick:
        draw_profiles(Path(__file__).parents[1] / "docs" / "img" / "learned.svg")
    tables = [against(found), cells(found), noise()]
    arcs = tables[-1].rows[-1][4]
    times = [row[-1] for row in tables[1].rows]
    targets = [
        Target("mean SHD, relative to alpha = c = 1", "<=", 0.95, ratio, unit="graphs"),
        Target("cells whose SHD is worse by more than two standard errors", "<=", 0, worse, unit="graphs"),
        Target("share of cells with lower loss, own alpha", ">=", 0.8, fmean(row[5] < 0 for row in loss), unit="nats"),
        Target("the same with alpha = 1 in the estimates", ">=", 0.8, fmean(row[5] < 0 for row in same), unit="nats"),
        Target("arcs in 22 tables of noise", "<=", 4, arcs, unit="graphs"),
        Target("CPU time, relative to alpha = c = 1, geometric mean", "<=", 3, math.exp(fmean(map(math.log, times)))),
        Target("CPU time, relative to alpha = c = 1, the worst cell", "<=", 5, max(times)),
    ]
    return tables, targets, None


if __name__ == "__main__":
    Script("learned_alpha", "Learned alpha and c", __doc__ or "", measure).main()
