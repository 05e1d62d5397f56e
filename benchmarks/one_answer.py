"""Does everybody get the same answer: the default search alone and in company, over threads and weights of one.

Small, sparse samples, where ties are many. Compared are all arcs, and scores to the last bit. Nothing here is timed.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from harness.objectives import study
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

SAMPLES = (("alarm", 51), ("insurance", 98), ("child", 23), ("hailfinder", 100), ("win95pts", 60))
SEEDS = (1, 2, 3)
FEW = ("U+BDeu(10)", "MU(c=1)+BDs(1)", "Support(3)+MU(c=1)+BDs(1)", "U+BIC")
CROWDED = (
    ("insurance", 200, 0.2),
    ("child", 60, 0.2),
    ("hailfinder", 80, 0.1),
    ("andes", 60, 0.05),
    ("water", 40, 0.2),
)


def same(a: Any, b: Any) -> bool:
    return bool(a.dag == b.dag and a.score == b.score and a.trace == b.trace)


def in_company(task: tuple[str, int, int]) -> tuple[int, int]:
    """Objectives whose result is another one when all are learned together, in two orders; and how many there are."""
    import mapdag as md

    network, rows, seed = task
    data = md.network(network).sample(rows, seed=seed)
    objectives = study()
    alone = [md.learn(data, each, threads=1) for each in objectives]
    together = md.learn(data, objectives, threads=1)
    turned = md.learn(data, objectives[::-1], threads=2)[::-1]
    odd = [not (same(a, b) and same(a, c)) for a, b, c in zip(alone, together, turned, strict=True)]
    return sum(odd), len(odd)


def by_circumstances(task: tuple[str, int, float, int, str]) -> list[str]:
    """Circumstances under which the result is another one."""
    import mapdag as md

    network, rows, effort, seed, objective = task
    data = md.network(network).sample(rows, seed=seed)
    weighted = md.Dataset(data.names, data.levels, data.codes, np.ones(rows, dtype=np.int64))
    reference = md.learn(data, objective, threads=1, effort=effort)
    odd = [f"{n} threads" for n in (2, 8) if not same(reference, md.learn(data, objective, threads=n, effort=effort))]
    if not same(reference, md.learn(weighted, objective, effort=effort)):
        odd.append("weights of one")
    return odd


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    seeds = SEEDS[:1] if settings.quick else SEEDS
    samples = SAMPLES[2:3] if settings.quick else SAMPLES
    rows, wrong, total = [], 0, 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        tasks = [(*sample, seed) for sample in samples for seed in seeds]
        progress("one answer: company")
        for task, (odd, cases) in zip(tasks, pool.map(in_company, tasks), strict=True):
            rows.append((*task, cases, odd))
            wrong, total = wrong + odd, total + cases
        company = Table("Alone and in company", ("network", "rows", "seed", "objectives", "that differ"), tuple(rows))
        progress("one answer: threads and weights")
        crowded = CROWDED[1:2] if settings.quick else CROWDED
        cases = [(*sample, seed, each) for sample, seed, each in itertools.product(crowded, seeds, FEW)]
        found = list(pool.map(by_circumstances, cases))
    lines = tuple(
        (network, n, seed, objective, ", ".join(odd) or "none")
        for (network, n, _, seed, objective), odd in zip(cases, found, strict=True)
    )
    columns = ("network", "rows", "seed", "objective", "what makes a difference")
    targets = [
        Target(f"results that company changes, of {total}", "<=", 0, wrong, unit="graphs"),
        Target(
            f"results that threads or weights of one change, of {len(cases)}",
            "<=",
            0,
            sum(map(bool, found)),
            unit="graphs",
        ),
    ]
    return [company, Table("Threads, and weights of one", columns, lines)], targets, None


if __name__ == "__main__":
    Script("one_answer", "One answer", __doc__ or "", measure).main()
