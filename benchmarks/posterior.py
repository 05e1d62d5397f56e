"""The posterior over graphs: chains against exact sums, two seeds against each other, and who is calibrated.

- Chains against exact probabilities of all arcs on random and bundled networks of 5 to 18 nodes.
- Two runs with different seeds, of one objective on one sample: the largest difference of any arc.
- Arcs of simulated networks (10 nodes): log loss, AUC and reliability of posterior probabilities and of bootstrap
  strengths (strength times direction), under four objectives. Probability tables are drawn from the prior of K2.

Chains are stopped by CPU seconds, twice the seconds that are promised on two cores, so that figures are the same on a
busy machine. What is done is kept in `results/posterior_cases.jsonl`: BENCH_SECONDS limits what is added to it,
BENCH_CASES takes only cases whose name starts so (`exact`, `seeds alarm`, `calibration`).
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from harness import kept
from harness.objectives import MU_BDS, U_BDEU
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

KEPT = Path(__file__).parent / "results" / "posterior_cases.jsonl"
CORES = 2  # that promises are made for
SEEDS = (
    ("child", 1_000, 10, 0.02), ("child", 5_000, 10, 0.02),
    ("insurance", 1_000, 10, 0.02), ("insurance", 5_000, 10, 0.02),
    ("alarm", 1_000, 10, 0.02), ("alarm", 5_000, 10, 0.02),
    ("hailfinder", 1_000, 30, 0.03), ("hepar2", 1_000, 30, 0.03), ("win95pts", 1_000, 30, 0.03),
    ("pathfinder", 1_000, 60, 0.05), ("andes", 1_000, 300, None), ("pigs", 1_000, 300, None),
)  # fmt: skip
EXACT_SECONDS, EXACT_ERROR = 5, 0.02
REFERENCE = ("cancer", "earthquake", "survey", "asia", "sachs")
CALIBRATED = (U_BDEU, MU_BDS, "MU(c=auto)+BDs(alpha=auto)", "U+K2")  # K2 has the prior that tables are drawn from
NETWORKS, NODES, RESAMPLES = 30, 10, 100

Case = tuple[Any, ...]


def random_network(n: int, arcs_per_node: float, seed: int) -> Any:
    """Draw a network: a random order, arcs by chance, two or three levels, probabilities uniform."""
    import mapdag as md

    rng = np.random.default_rng(seed)
    order, names = rng.permutation(n), [f"X{i}" for i in range(n)]
    chance = min(2 * arcs_per_node / (n - 1), 1.0)
    arcs = [(names[order[i]], names[order[j]]) for j in range(n) for i in range(j) if rng.random() < chance]
    dag = md.DAG(names)
    for a, b in arcs:
        if len(dag.parents(b)) < 4:
            dag = dag.with_arc(a, b)
    cards = {name: int(rng.integers(2, 4)) for name in names}
    cpts = {x: rng.dirichlet(np.ones(cards[x]), [cards[p] for p in dag.parents(x)]) for x in names}
    return md.BayesianNetwork(dag, cards, cpts)


def by_chains(data: Any, objective: str, seed: int, cpu: float, error: float) -> tuple[Any, float]:
    """Run chains until the error or so many CPU seconds are reached; also, what they took."""
    import mapdag as md

    began = time.process_time()

    def tell(found: Any) -> None:
        if found.phase in ("settling", "sampling") and time.process_time() - began > cpu:
            raise KeyboardInterrupt

    found = md.posterior(
        data, objective, method="chains", seed=seed, progress=tell, error=error, sweeps=10**8, threads=CORES
    )
    return found, time.process_time() - began


def exact_cases() -> list[Case]:
    """Forty: bundled networks under two objectives and sizes, and random ones of 5 to 18 nodes."""
    cases: list[Case] = [
        ("exact", name, rows, objective)
        for name in REFERENCE for rows in (100, 1_000) for objective in (U_BDEU, MU_BDS)
    ]  # fmt: skip
    for k in range(20):
        n = (5, 7, 8, 9, 10, 11, 12, 13, 14, 15)[k % 10] if k < 16 else (16, 17, 18, 18)[k - 16]
        cases.append(("exact", f"random {n} {k}", (50, 200, 1_000)[k % 3], (U_BDEU, MU_BDS)[k % 2]))
    return cases


def against_exact(case: Case) -> dict[str, Any]:
    import mapdag as md

    _, name, rows, objective = case
    if name.startswith("random"):
        n, seed = map(int, name.split()[1:])
        data = random_network(n, 1.5, seed).sample(rows, seed=seed)
    else:
        data = md.network(name).sample(rows, seed=1)
    exact = md.arc_posteriors(data, objective, over="dags")
    found, seconds = by_chains(data, objective, 1, CORES * EXACT_SECONDS, 0.005)
    off = float(abs(found.probabilities - exact.probabilities).max())
    told = float(found.convergence.error.max())
    return {"off": off, "cpu": seconds, "told": told, "stopped": found.stopped, "left_out": found.left_out}


def two_seeds(case: Case) -> dict[str, Any]:
    import mapdag as md

    _, name, rows, seconds, limit = case
    data = md.network(name).sample(rows, seed=1)
    try:
        runs = [by_chains(data, MU_BDS, seed, CORES * seconds, 1e-9) for seed in ((1, 2) if limit else (1,))]
    except md.errors.MapdagError as error:
        return {"failed": str(error)}
    first, last = runs[0][0], runs[-1][0]
    return {
        "off": float(abs(first.probabilities - last.probabilities).max()) if limit else None,
        "cpu": max(cpu for _, cpu in runs),
        "sweeps": first.convergence.sweeps,
        "told": float(first.convergence.error.max()),
        "r_hat": float(first.convergence.r_hat.max()),
        "left_out": first.left_out,
        "advice": first.advice,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def calibration(case: Case) -> dict[str, Any]:
    import mapdag as md

    _, objective, rows, seed = case
    network = random_network(NODES, 1.25, 1_000 + seed)
    data = network.sample(rows, seed=seed)
    pairs = ~np.eye(NODES, dtype=bool)
    found = md.posterior(data, objective, draws=1)
    resampled = md.bootstrap(data, found.objective, R=RESAMPLES, seed=seed)
    shares = resampled.halves / (2 * RESAMPLES)
    place = [data.names.index(node) for node in network.dag.nodes]
    true = np.zeros((NODES, NODES), dtype=int)
    true[np.ix_(place, place)] = network.dag.to_adjacency()
    return {
        "true": true[pairs].tolist(),
        "posterior": found.probabilities[pairs].round(5).tolist(),
        "bootstrap": shares[pairs].round(5).tolist(),
    }


def figures(shares: Any, true: Any) -> tuple[float, float, float]:
    """Log loss (shares kept within .005 of 0 and 1), area under the ROC curve, and calibration error in ten bins."""
    from scipy.stats import rankdata

    kept_in = np.clip(shares, 0.005, 0.995)
    loss = -np.where(true, np.log(kept_in), np.log(1 - kept_in)).mean()
    ones = int(true.sum())
    area = (rankdata(shares)[true == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(true) - ones))
    bins = np.minimum((shares * 10).astype(int), 9)
    apart = sum(abs((shares - true)[bins == b].sum()) for b in range(10)) / len(true)
    return float(loss), float(area), float(apart)


def reliability(shares: Any, true: Any) -> list[tuple[str, int, float, float]]:
    """By tenths of the share: how many arcs, their mean share, and how many of them are there."""
    bins = np.minimum((shares * 10).astype(int), 9)
    return [
        (f"{b / 10:.1f} to {(b + 1) / 10:.1f}", int((bins == b).sum()), *(v[bins == b].mean() for v in (shares, true)))
        for b in range(10)
        if (bins == b).any()
    ]


def every_case(*, quick: bool) -> list[Case]:
    seeds = [("seeds", *each) for each in SEEDS]
    sizes = 3 if quick else NETWORKS
    judged = [("calibration", each, rows, s) for s in range(sizes) for rows in (100, 500) for each in CALIBRATED]
    cases = [*seeds, *exact_cases(), *judged]
    if quick:
        cases = [*seeds[:1], *exact_cases()[:3], *judged]
    asked = os.environ.get("BENCH_CASES", "")
    return [case for case in cases if " ".join(map(str, case)).startswith(tuple(asked.split(",")))]


def measured(case: Case, known: dict[Case, dict[str, Any]]) -> dict[str, Any]:
    del known
    progress("posterior: " + " ".join(map(str, case)))
    return {"exact": against_exact, "seeds": two_seeds, "calibration": calibration}[case[0]](case)


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    import mapdag as md

    md.posterior(md.network("asia").sample(100, seed=1), method="chains", sweeps=500)  # compiles what there is
    found = kept.measure_all(every_case(quick=settings.quick), measured, None if settings.quick else KEPT)
    tables, targets = [], []
    exact = {case: each for case, each in found.items() if case[0] == "exact"}
    if exact:
        rows = [(*case[1:], each["off"], each["told"], each["cpu"]) for case, each in exact.items()]
        columns = "network", "rows", "objective", "largest difference", "told", "CPU s"
        note = "Told: the largest Monte Carlo error that the run reports itself."
        tables.append(Table("Chains against exact probabilities", columns, tuple(rows), note))
        worst = max(each["off"] for each in exact.values())
        targets.append(Target(f"{len(exact)} exact cases, largest difference", "<=", EXACT_ERROR, worst, unit="graphs"))
    tables += _seeds(found, targets)
    tables += _calibration(found)
    return tables, targets, None


def _seeds(found: dict[Case, dict[str, Any]], targets: list[Target]) -> list[Table]:
    runs = {case: each for case, each in found.items() if case[0] == "seeds"}
    rows = []
    for (_, name, size, seconds, limit), each in runs.items():
        if "failed" in each:
            rows.append((name, size, CORES * seconds, *[None] * 6, each["failed"]))
            continue
        numbers = (each[key] for key in ("cpu", "off", "told", "r_hat", "left_out", "mib"))
        rows.append((name, size, CORES * seconds, *numbers, each["advice"]))
        if limit:
            targets.append(Target(f"{name} {size}: two seeds", "<=", limit, each["off"], unit="graphs"))
    columns = "network", "rows", "CPU s allowed", "CPU s", "difference", "told", "R-hat", "left out", "MiB", "advice"
    return [Table("Two seeds", columns, tuple(rows), f"{MU_BDS}, four chains.")] if rows else []


def _calibration(found: dict[Case, dict[str, Any]]) -> list[Table]:
    rows, tables = [], []
    for objective in CALIBRATED:
        for size in (100, 500):
            mine = [each for case, each in found.items() if case[:3] == ("calibration", objective, size)]
            if not mine:
                continue
            true = np.concatenate([each["true"] for each in mine])
            for how in ("posterior", "bootstrap"):
                shares = np.concatenate([each[how] for each in mine])
                rows.append((objective, size, how, *figures(shares, true)))
                if size == 100:
                    columns = "share", "arcs", "mean share", "there"
                    tables.append(Table(f"{objective}, {size} rows: {how}", columns, tuple(reliability(shares, true))))
    columns = "objective", "rows", "", "log loss", "AUC", "calibration error"
    note = f"Arcs of {NETWORKS} random networks of {NODES} nodes, both directions of each pair."
    return [Table("Arcs of simulated networks", columns, tuple(rows), note), *tables] if rows else []


if __name__ == "__main__":
    Script("posterior", "The posterior over graphs", __doc__ or "", measure).main()
