"""Luck: how often the default search finds the optimum of samples whose optimum was proved, and by how much it misses.

Proofs are costly, so the optima are kept with the results, each under the name of its instance with the version that
proved it; `BENCH_PROVE=1` proves those that are missing, within a minute each. Samples are drawn from bundled networks
with seed 1. Without others on the machine, CPU seconds are those that one waits, with one thread.
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


class Instance(NamedTuple):
    """A sample, and what is to be maximised on it."""

    network: str
    rows: int
    objective: str

    def __str__(self) -> str:
        return f"{self.network} {self.rows}, {self.objective}, {MOST} parents"

    def draw(self) -> Any:
        """Draw the sample."""
        import mapdag as md

        return md.network(self.network).sample(self.rows, seed=samples.SEED)


def instances(settings: Settings) -> list[Instance]:
    """All instances; those of the two smallest networks, where it must be quick."""
    names = list(ROWS)[:2] if settings.quick else list(ROWS)
    return [Instance(name, rows, goal) for name in names for rows in ROWS[name] for goal in GOALS]


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
    rows, misses, total = [], [], []
    for name in dict.fromkeys(each.network for each in instances(settings)):
        for goal in GOALS:
            cases = [each for each in instances(settings) if each.network == name and each.objective == goal]
            proved = [each for each in cases if optima.get(str(each), {}).get("proved")]
            found = []
            for each in proved:
                progress(f"luck: {each}")
                score, seconds = search(each)
                missed = optima[str(each)]["score"] - score
                found.append((missed, seconds))
                if missed > CLOSE:
                    misses.append((str(each), missed))
            if found:
                lost, times = zip(*found, strict=True)
                rows.append((name, goal, len(found), sum(x <= CLOSE for x in lost), max(lost), sum(times)))
                total += lost
    share = 100.0 * sum(each <= CLOSE for each in total) / max(len(total), 1)
    columns = ("network", "objective", "proved", "found", "worst miss", "CPU s of the default")
    note = f"{len(total)} instances, at most {MOST} parents; the default finds {share:.0f} of 100 optima."
    tables = [
        Table("The default search on certified instances", columns, tuple(rows), note),
        Table("What it misses, in nats", ("instance", "miss"), tuple(sorted(misses, key=lambda each: -each[1])), ""),
    ]
    targets = [
        Target("certified instances", ">=", 60, len(total), unit="tables"),
        Target("optima that the default search finds", ">=", 95, share, unit="of 100"),
        Target("by how much it misses at most", "<=", 2, max(total, default=0.0), unit="nats"),
    ]
    return tables, targets, {"optima": optima}


if __name__ == "__main__":
    Script("luck", "Luck", __doc__ or "", measure).main()
