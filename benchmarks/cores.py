"""One search, and many of them, with 1 to all threads of this machine, beside what its cores and its memory allow.

BENCH_THREADS lists the numbers of threads (by default 1, 2, 4, ... up to the cores), BENCH_CASES the cases, by what
their names begin with. The result is the same to the last bit with any number of threads, or this fails.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from harness import process, synthetic
from harness.objectives import MU_BDS
from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target
from harness.timing import timed

_WORDS = 1 << 27  # of memory that are read for the bandwidth
_TURNS = 50_000_000  # of arithmetic that cores do


class Case(NamedTuple):
    """What is timed with every number of threads."""

    name: str
    data: Callable[[], Any]
    run: Callable[[Any, int], Any]  # with so many threads: what must be the same
    target: float | None = None  # of 16 threads against 1


def sampled(network: str, rows: int) -> Any:
    import mapdag as md

    return md.network(network).sample(rows, seed=SEED)


def climb(data: Any, threads: int) -> Any:
    import mapdag as md

    found = md.learn(data, MU_BDS, search="hc", order="columns", threads=threads)
    return found.dag, found.score


def search(data: Any, threads: int, effort: float = 1.0) -> Any:
    import mapdag as md

    found = md.learn(data, threads=threads, effort=effort)
    return found.dag, found.score


def resample(data: Any, threads: int) -> Any:
    import mapdag as md

    return md.bootstrap(data, R=64, threads=threads).arcs()


CASES = (
    Case("hc, DIABETES, 100,000 rows", partial(sampled, "diabetes", 10**5), climb, 9),
    Case("hc, ALARM, 10,000,000 rows", partial(sampled, "alarm", 10**7), climb, 8),
    Case("hc, 2,000 nodes, 5,000 rows", partial(synthetic.sparse, 2_000, 5_000, seed=SEED), climb),
    Case("default search, ALARM, 5,000 rows", partial(sampled, "alarm", 5_000), search),
    Case("default search, ALARM, 1,000,000 rows", partial(sampled, "alarm", 10**6), search),
    Case("default search, ANDES, 5,785 rows", partial(sampled, "andes", 5_785), search, 8),
    Case("default search, PIGS, 5,618 rows", partial(sampled, "pigs", 5_618), search, 8),
    Case(
        "effort=0, 2,000 nodes, 5,000 rows",
        partial(synthetic.sparse, 2_000, 5_000, seed=SEED),
        partial(search, effort=0),
    ),
    Case("bootstrap of 64, ALARM, 5,000 rows", partial(sampled, "alarm", 5_000), resample, 12),
)
SMALL = (
    Case("hc, DIABETES, 1,000 rows", partial(sampled, "diabetes", 10**3), climb),
    Case("default search, ALARM, 1,000 rows", partial(sampled, "alarm", 10**3), search),
)


WIDE = "hc, 10,000 nodes, 5,000 rows"


def one_wide(threads: str) -> None:
    """Climb with many nodes, and print what it took; nothing else happens in this process."""
    data = synthetic.sparse(10_000, 5_000, seed=SEED)
    climb(sampled("diabetes", 3_000), int(threads))
    process.forget_peak()
    seconds, _ = timed(partial(climb, data, int(threads)))
    print(json.dumps({"seconds": seconds, "peak": process.memory("VmHWM") / 1024}))


def wide(threads: int) -> tuple[Table, list[Target]]:
    """Time and memory with very many nodes, and all threads."""
    found = process.part(__file__, str(threads))
    row = (threads, found["seconds"], found["peak"])
    targets = [Target(WIDE, "<=", 60, row[1], "s"), Target(f"{WIDE}, peak of memory", "<=", 4, row[2], "GiB")]
    return Table(WIDE, ("threads", "s", "peak, GiB"), (row,)), targets if threads >= 16 else []


@njit(nogil=True)  # type: ignore[untyped-decorator]
def total(words: Any) -> Any:
    found = np.uint64(0)
    for i in range(len(words)):
        found += words[i]
    return found


@njit(nogil=True)  # type: ignore[untyped-decorator]
def mix(turns: int, seed: int) -> Any:
    """Arithmetic in which each step waits for the one before."""
    x, found = np.uint64(seed), np.uint64(0)
    for _ in range(turns):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        found += x
    return found


@njit(nogil=True)  # type: ignore[untyped-decorator]
def tabulate(turns: int, seed: int) -> Any:
    """Tables that are counted in the cache, as families are: as many steps at a time as a core can take."""
    rows = 1 << 15
    cells, codes, table = np.empty(rows, np.uint32), np.empty((4, rows), np.uint8), np.zeros((4, 2048), np.int32)
    x = np.uint64(seed)
    for i in range(rows):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        cells[i] = (x & np.uint64(127)) * np.uint64(16)
        for k in range(4):
            codes[k, i] = (x >> np.uint64(8 + 4 * k)) & np.uint64(15)
    for _ in range(turns // rows):
        for i in range(rows):
            cell = cells[i]
            table[0, cell + codes[0, i]] += 1
            table[1, cell + codes[1, i]] += 1
            table[2, cell + codes[2, i]] += 1
            table[3, cell + codes[3, i]] += 1
    return table.sum()


def alone(steps: list[int]) -> Table:
    """How much more threads do together that share nothing, not even memory: what a search can gain at most."""
    rates: dict[str, list[float]] = {}
    for kernel in (mix, tabulate):
        kernel(1 << 15, 1)
        for threads in steps:
            with ThreadPoolExecutor(threads) as pool:
                turns, each = [_TURNS] * threads, range(1, threads + 1)
                best = min(timed(lambda: list(pool.map(kernel, turns, each)))[0] for _ in range(5))  # noqa: B023
            rates.setdefault(kernel.__name__, []).append(threads / best)
    rows = [(k, *(each[i] / each[0] for each in rates.values())) for i, k in enumerate(steps)]
    return Table("Threads that share nothing", ("threads", "arithmetic, speed-up", "tables, speed-up"), tuple(rows))


def bandwidth(steps: list[int]) -> Table:
    """GB per second that threads read from memory."""
    words = np.arange(_WORDS, dtype=np.uint64)
    total(words[:8])
    rows = []
    for threads in steps:
        with ThreadPoolExecutor(threads) as pool:
            best = min(timed(lambda: list(pool.map(total, np.array_split(words, threads))))[0] for _ in range(5))  # noqa: B023
        rows.append((threads, words.nbytes / best / 1e9))
    return Table("Bandwidth of memory", ("threads", "GB/s"), tuple(rows))


def curve(case: Case, steps: list[int]) -> tuple[Table, list[Target]]:
    """Seconds with each number of threads, and the speed-up over one."""
    data = case.data()
    rows, expected, one = [], None, None
    for threads in steps:
        case.run(sampled("alarm", 300), threads)  # loads the kernels, or compiles them
        climb(sampled("diabetes", 3_000), threads)  # and those of threads that help
        seconds, found = timed(partial(case.run, data, threads))
        if seconds < 3:
            seconds = min(seconds, *(timed(partial(case.run, data, threads))[0] for _ in range(2)))
        expected, one = found if expected is None else expected, one or seconds
        if found != expected:
            raise RuntimeError(f"{case.name}: the result must not depend on the number of threads")
        rows.append((threads, seconds, one / seconds))
        progress(f"cores: {case.name}, {threads} threads: {seconds:.2f} s, {one / seconds:.2f} times")
    targets = []
    if case.target is not None and steps[0] == 1 and steps[-1] >= 16:
        targets = [Target(f"{case.name}, {steps[-1]} threads against 1", ">=", case.target, rows[-1][2])]
    elif case.target is not None and steps[0] == 1 and steps[-1] == 2:
        targets = [Target(f"{case.name}, 2 threads against 1", ">=", 1.7, rows[-1][2])]
    return Table(case.name, ("threads", "s", "speed-up"), tuple(rows)), targets


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    cores = len(os.sched_getaffinity(0))
    steps = [int(k) for k in os.environ.get("BENCH_THREADS", "").split(",") if k]
    steps = steps or sorted({1, cores, *(k for k in (2, 4, 8) if k < cores)})
    wanted = tuple(each for each in os.environ.get("BENCH_CASES", "").split(";") if each) or ("",)
    tables, targets = [alone(steps), bandwidth(steps)], []
    for case in SMALL if settings.quick else CASES:
        if case.name.startswith(wanted):
            table, found = curve(case, steps)
            tables.append(table)
            targets += found
    if not settings.quick and steps[-1] >= 16 and WIDE.startswith(wanted):  # a few threads take long
        table, found = wide(steps[-1])
        tables.append(table)
        targets += found
    return tables, targets, None


if __name__ == "__main__":
    Script("cores", "Cores", __doc__ or "", measure, one_wide).main()
