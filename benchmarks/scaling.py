"""How the time of hill climbing grows with rows, nodes, threads and objectives."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from harness import process, samples, synthetic
from harness.objectives import MU_BDS, study
from harness.samples import PEERS, SEED
from harness.script import Script, Settings, progress
from harness.tables import Table, geometric_mean
from harness.targets import Target
from harness.timing import Rounds, best_of, take_turns, timed

Found = tuple[Table, list[Target]]


def learn(data: Any, objective: Any = MU_BDS, threads: int = 1) -> Any:
    """The full hill climb, as it is timed everywhere here."""
    import mapdag as md

    return md.learn(data, objective, search="hc", order="columns", threads=threads)


def rounds_of(settings: Settings) -> Rounds:
    return Rounds(least=1, most=3, budget=1.0) if settings.quick else Rounds(least=3, most=15, budget=8.0)


def in_rows(settings: Settings) -> Found:
    """Rows of ALARM, from a thousand to ten million."""
    import mapdag as md

    sizes = [10**3, 10**4, 10**5, 10**6, *([] if settings.quick else [10**7])]
    data = md.network("alarm").sample(sizes[-1], seed=SEED)
    learn(md.network("alarm").sample(500, seed=SEED))
    rows, flat = [], []
    for n in sizes:
        progress(f"scaling: {n:,} rows")
        part = md.Dataset(data.names, data.levels, data.codes[:, :n])
        timing = best_of(partial(learn, part), rounds_of(settings))
        families = timing.value.families
        each = timing.best / n / families * 1e12
        if n >= 10**5:
            flat.append(each)
        rows.append((n, timing.best, families, timing.best / families * 1e6, each))
    columns = ("rows", "s", "families", "microseconds a family", "picoseconds a row and family")
    table = Table("Rows of ALARM, MU+BDs, 1 thread", columns, tuple(rows))
    what = f"time per row and family, ALARM, 10^5 to 10^{len(str(sizes[-1])) - 1} rows, most against least"
    return table, [Target(what, "<=", 1.5, max(flat) / min(flat))]


def in_nodes(settings: Settings) -> Found:
    """Nodes of synthetic sparse networks; each in a process of its own, for its peak of memory."""
    sizes = [50, 100, 200, 500, *([] if settings.quick else [1_000, 2_000])]
    rows = []
    for nodes in sizes:
        progress(f"scaling: {nodes:,} nodes")
        found = process.part(__file__, nodes, 5_000)
        rows.append((nodes, found["seconds"], found["families"], found["arcs"], found["truth"], found["peak_mib"]))
    columns = ("nodes", "s", "families", "arcs", "expected", "peak memory, MiB")
    table = Table("Nodes of sparse networks, 5,000 rows, MU+BDs, 1 thread", columns, tuple(rows))
    targets = []
    if sizes[-1] == 2_000:
        targets = [
            Target("2,000 nodes, 5,000 rows", "<=", 300, rows[-1][1], "s"),
            Target("2,000 nodes, 5,000 rows: peak memory", "<=", 4, rows[-1][5] / 1024, "GiB"),
        ]
    return table, targets


def one_size(nodes: str, n: str) -> None:
    """Learn one synthetic network in this process; the kernels are loaded, and the peak forgotten, beforehand."""
    data = synthetic.sparse(int(nodes), int(n), seed=SEED)
    learn(synthetic.sparse(10, 200, seed=SEED))
    process.forget_peak()
    seconds, result = timed(partial(learn, data))
    most = Rounds(least=0, most=3, budget=20.0)
    seconds = min([seconds, *(best_of(partial(learn, data), most).seconds if seconds < 20 else [])])
    peak = process.memory("VmHWM")
    found = {"seconds": seconds, "families": result.families, "arcs": result.dag.n_arcs, "peak_mib": peak}
    print(json.dumps({**found, "truth": round(1.5 * int(nodes))}))


def in_threads(settings: Settings) -> Found:
    """One thread against two, the same result."""
    import mapdag as md

    n = 10**5 if settings.quick else 10**6
    progress(f"scaling: threads, {n:,} rows")
    data = md.network("alarm").sample(n, seed=SEED)
    turns = {str(k): partial(timed, partial(learn, data, threads=k)) for k in (1, 2)}
    found = take_turns(turns, rounds_of(settings))
    one, two = found["1"], found["2"]
    if one.value.dag != two.value.dag or one.value.score != two.value.score:
        raise RuntimeError("the result must not depend on the number of threads")
    speed_up = one.best / two.best
    rows = (("1", one.best, 1.0, one.spread), ("2", two.best, speed_up, two.spread))
    table = Table(f"Threads, ALARM, {n:,} rows, MU+BDs", ("threads", "s", "speed-up", "median over best"), rows)
    return table, [Target(f"2 threads against 1, alarm {n:,} rows", ">=", 1.7, speed_up)]


def in_objectives(settings: Settings) -> Found:
    """The first k of the paper's 31 objectives, sharing one cache."""
    every = study()
    counts = [1, 2, 4, 8, 16, len(every)]
    rows, worst = [], []
    for sample in (PEERS[0], PEERS[2], PEERS[4]):
        progress(f"scaling: objectives, {sample}")
        data = samples.load(sample, settings.data)
        turns = {str(k): partial(timed, partial(learn, data, every[:k])) for k in counts}
        found = take_turns(turns, rounds_of(settings))
        singles = [best_of(partial(learn, data, each), Rounds(1, 3, 0.5)).best for each in every]
        times = [found[str(k)].best for k in counts]
        mean = sum(singles) / len(singles)
        worst.append(times[-1] / times[0])
        rows.append((str(sample), *times, worst[-1], times[-1] / mean, sum(singles) / times[-1]))
    rows.append(("geometric mean", *[None] * len(counts), geometric_mean(worst), None, None))
    columns = (
        "data",
        *(f"{k} objectives, s" if k > 1 else "1 objective, s" for k in counts),
        "31 against the first",
        "31 against the mean of single ones",
        "one by one against shared",
    )
    note = "The first objective is MU(c=1)+BDs(1). One by one: the sum of the times of 31 searches that share nothing."
    table = Table("Objectives of the paper's study, 1 thread", columns, tuple(rows), note)
    return table, [Target("31 objectives against one, the worst of the data sets", "<=", 5, max(worst))]


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    learn(samples.load(PEERS[0], None), study())  # loads the kernels, or compiles them
    found = [part(settings) for part in (in_objectives, in_threads, in_nodes, in_rows)]
    return [table for table, _ in found], [target for _, targets in found for target in targets], None


if __name__ == "__main__":
    Script("scaling", "Scaling", __doc__ or "", measure, one_size).main()
