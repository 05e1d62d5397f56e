"""Luck: how often the default search finds the optimum of samples whose optimum was proved, and by how much it misses.

Proofs are costly, so the optima are kept with the results, each under the name of its instance with the version that
proved it; `BENCH_PROVE=1` proves those that are missing, within a minute each. Samples are drawn from bundled networks:
with seed 1, on which numbers of the search were chosen, and with seed 2, which nobody had looked at when they were.
Without others on the machine, CPU seconds are those that one waits, with one thread.
"""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from harness import results, samples
from harness.objectives import MU_BDS, U_BDEU
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

#: Networks, from small to large, and numbers of rows.
ROWS = {
    "asia": (100, 1_000, 10_000),
    "sachs": (100, 1_000, 10_000),
    "child": (100, 300, 1_000, 5_000),
    "insurance": (100, 300, 1_000, 5_000),
    "water": (300, 1_000, 5_000),
    "alarm": (300, 1_000, 5_000, 10_000),
    "hepar2": (300, 1_000, 5_000),
    "win95pts": (300, 1_000),
}
GOALS = (MU_BDS, f"U+{U_BDEU}", "BIC")
MOST, SECONDS = 3, 60.0  # parents; seconds that a proof may take
CLOSE = 1e-6  # nats within which two scores are the same
SEEDS = (samples.SEED, 2)  # of the samples


class Instance(NamedTuple):
    """A sample, and what is to be maximised on it."""

    network: str
    rows: int
    objective: str
    seed: int

    def __str__(self) -> str:
        told = f"{self.network} {self.rows}, {self.objective}, {MOST} parents"
        return told if self.seed == samples.SEED else f"{told}, seed {self.seed}"

    def draw(self) -> Any:
        """Draw the sample."""
        import mapdag as md

        return md.network(self.network).sample(self.rows, seed=self.seed)


def instances(settings: Settings) -> list[Instance]:
    """All instances; those of the two smallest networks, where it must be quick."""
    names = list(ROWS)[:2] if settings.quick else list(ROWS)
    return [
        Instance(name, rows, goal, seed) for seed in SEEDS for name in names for rows in ROWS[name] for goal in GOALS
    ]


def prove(instance: Instance) -> dict[str, Any]:
    """Certify one instance; nothing but the bound where that takes too long."""
    import mapdag as md

    found = md.learn(
        instance.draw(), instance.objective, search="certified", max_parents=MOST, time_limit=SECONDS, threads=1
    )
    told = found.certificate
    return {"score": found.score, "bound": told.bound, "proved": bool(told.proved), "version": md.__version__}


def look_up(settings: Settings) -> dict[str, dict[str, Any]]:
    """Optima that were proved before, and new ones where they are asked for."""
    before = results.read("luck")
    known: dict[str, dict[str, Any]] = dict(before.raw["optima"]) if before and before.raw else {}
    if os.environ.get("BENCH_PROVE") or settings.quick:
        for instance in instances(settings):
            if str(instance) not in known:
                progress(f"luck: proving {instance}")
                known[str(instance)] = prove(instance)
    return known


def search(instance: Instance) -> tuple[float, float]:
    """Score and CPU seconds of the default search."""
    import mapdag as md

    data = instance.draw()
    start = time.process_time()
    score = md.learn(data, instance.objective, max_parents=MOST, threads=1).score
    return score, time.process_time() - start


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    import mapdag as md

    md.learn(md.network("child").sample(100, seed=1), threads=1)  # compiles what there is to be compiled
    optima = look_up(settings)
    proved = [each for each in instances(settings) if optima.get(str(each), {}).get("proved")]
    found = {}
    for each in proved:
        progress(f"luck: {each}")
        score, seconds = search(each)
        found[each] = optima[str(each)]["score"] - score, seconds
    columns = ("network", "objective", "proved", "found", "worst miss", "CPU s of the default")
    tables = []
    for seed in SEEDS:
        rows = []
        for name, goal in dict.fromkeys((each.network, each.objective) for each in proved if each.seed == seed):
            some = [found[each] for each in proved if (each.network, each.objective, each.seed) == (name, goal, seed)]
            lost, times = zip(*some, strict=True)
            rows.append((name, goal, len(some), sum(x <= CLOSE for x in lost), max(lost), sum(times)))
        hits = [found[each][0] <= CLOSE for each in proved if each.seed == seed]
        note = f"{len(hits)} instances, at most {MOST} parents; the default finds {sum(hits)} optima."
        tables.append(
            Table(f"The default search on certified instances, samples of seed {seed}", columns, tuple(rows), note)
        )
    misses = sorted(((str(each), lost) for each, (lost, _) in found.items() if lost > CLOSE), key=lambda each: -each[1])
    tables.append(Table("What it misses, in nats", ("instance", "miss"), tuple(misses), ""))
    share = 100.0 * (1 - len(misses) / max(len(found), 1))
    targets = [
        Target("certified instances", ">=", 60, len(found), unit="tables"),
        Target("optima that the default search finds", ">=", 95, share, unit="of 100"),
        Target("by how much it misses at most", "<=", 2, max((lost for _, lost in misses), default=0.0), unit="nats"),
    ]
    return tables, targets, {"optima": optima}


if __name__ == "__main__":
    Script("luck", "Luck", __doc__ or "", measure).main()
