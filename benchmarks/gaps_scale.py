"""How long rows with gaps take: ALARM, 100,000 rows, a fifth of the cells missing completely at random.

Hill climbing under BIC on the complete rows, under PNAL on those with gaps, in turns; the probabilities of the true
graph by EM; structural EM, hard and soft, and what its time goes into. And structural EM for ALARM, 2,500 rows, a tenth
of the cells missing, and for a table like that of a trial: 823 rows, 172 columns of 2 to 8 levels, in blocks of 3 to 15
that are mostly missing together, 5 to 60 % of the rows. Processor seconds count all threads, and hardly depend on what
else runs.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from gaps import with_gaps
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, SHARE, TURNS = int(os.environ.get("BENCH_ROWS", "100000")), 0.2, 9
PARTS = {
    "_first": "the first graph, by PNAL",
    "_fitted": "probabilities of each graph, by EM",
    "_completed": "distributions of all gaps",
    "_learn": "expected counts and search",
}


def timed(function: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a function returns, and its seconds: on the clock, and of processors."""
    clock, used = time.perf_counter(), time.process_time()
    found = function()
    return found, time.perf_counter() - clock, time.process_time() - used


def parts_of(data: Any, how: str) -> tuple[Any, float, float, dict[str, float]]:
    """Structural EM, and the processor seconds of its parts."""
    import mapdag as md
    from mapdag.search.em.steps import Run

    spent: dict[str, float] = defaultdict(float)
    originals = {name: getattr(Run, name) for name in PARTS}
    inside = []

    def watched(name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            inside.append(name)
            found, _, used = timed(lambda: originals[name](*arguments))
            inside.pop()
            if not inside:  # the first graph is learned, too
                spent[name] += used
            return found

        return call

    try:
        for name in PARTS:
            setattr(Run, name, watched(name))
        found, clock, used = timed(lambda: md.structural_em(data, impute=how))
    finally:
        for name, original in originals.items():
            setattr(Run, name, original)
    return found, clock, used, spent


def trial(rows: int = 823, columns: int = 172, seed: int = 0) -> Any:
    """Rows like those of a trial: mixed levels, columns in blocks that are mostly missing together."""
    import mapdag as md

    rng = np.random.default_rng(seed)
    cards = rng.choice([2, 2, 2, 3, 3, 4, 5, 6, 8], columns)
    codes, gone = np.zeros((columns, rows), dtype=np.int64), np.zeros((columns, rows), dtype=np.bool_)
    for v in range(columns):
        first = max(0, v - 25)
        parents = rng.choice(np.arange(first, v), min(int(rng.choice([0, 1, 1, 2, 2, 3])), v - first), replace=False)
        where, size = np.zeros(rows, dtype=np.int64), 1
        for parent in parents:
            where, size = where * cards[parent] + codes[parent], size * cards[parent]
        table = rng.dirichlet(np.full(cards[v], 0.6), size).cumsum(axis=1)
        codes[v] = (rng.random(rows)[:, None] > table[where, :-1]).sum(axis=1)
    v = 0
    while v < columns:
        end, share = v + int(rng.integers(3, 16)), rng.uniform(0.05, 0.6)
        gone[v:end] = rng.random(rows) < 0.8 * share
        gone[v:end] |= rng.random(gone[v:end].shape) < 0.2 * share
        v = end
    levels = {f"v{i}": [str(level) for level in range(card)] for i, card in enumerate(cards)}
    return md.Dataset.from_codes(np.where(gone, -1, codes).T, names=list(levels), levels=levels, gap=-1)


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    import mapdag as md

    net = md.network("alarm")
    rows = 2_000 if settings.quick else ROWS
    small = with_gaps(net.sample(300, seed=2), SHARE, "MCAR", 2)
    md.structural_em(small)  # compiles what is needed
    md.structural_em(small, impute="hard")
    full = net.sample(rows, seed=1)
    data = with_gaps(full, SHARE, "MCAR", 1)
    turns: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(TURNS):
        for name, table, goal in (("BIC, complete", full, "BIC"), ("PNAL, gaps", data, "PNAL")):
            _, clock, used = timed(lambda table=table, goal=goal: md.learn(table, goal, search="hc"))  # type: ignore[misc]
            turns[name].append((clock, used))
    found: list[tuple[Any, ...]] = []
    for name, each in turns.items():
        found.append((f"hill climbing, {name}", *(median(values) for values in zip(*each, strict=True))))
    ratio = median(b[1] / a[1] for a, b in zip(turns["BIC, complete"], turns["PNAL, gaps"], strict=True))
    progress("EM of the true graph")
    fitted, clock, used = timed(lambda: md.fit_em(net.dag, data))
    found.append((f"EM of the true graph, {fitted.iterations} iterations", clock, used))
    profile, taken = [], {}
    for how in ("hard", "soft"):
        progress(f"structural EM, {how}")
        result, clock, used, spent = parts_of(data, how)
        drawn = getattr(result.data, "drawn", 0)
        found.append((f"structural EM, {how}, {len(result.steps)} steps", clock, used))
        taken[how] = used
        profile += [(how, told, spent[name], spent[name] / used) for name, told in PARTS.items()]
    targets = [Target("PNAL with gaps beside BIC without", "<=", 1.5, ratio)]
    limits = dict(zip(("hard", "soft"), (20.0, 60.0), strict=True))
    targets += [Target(f"ALARM, {rows:,} rows, {how}", "<=", limits[how], taken[how], "s") for how in limits]
    few = with_gaps(net.sample(2_500, seed=1), 0.1, "MCAR", 1)
    for name, table, most in (("ALARM, 2,500 rows", few, (2.0, 10.0)), ("a trial's table", trial(), (60.0, 60.0))):
        for how, limit in zip(("hard", "soft"), most, strict=True):
            progress(f"structural EM, {how}, {name}")
            _, clock, used = timed(lambda table=table, how=how: md.structural_em(table, impute=how))  # type: ignore[misc]
            found.append((f"{name}: structural EM, {how}", clock, used))
            targets.append(Target(f"{name}, {how}", "<=", limit, used, "s"))
    gaps = int((~data.known).sum())
    note = f"{rows:,} rows, {gaps:,} gaps; of {drawn:,} gaps ({drawn / gaps:.2%}) the distribution is known by draws."
    tables = [
        Table("Seconds", ("what", "seconds", "processor seconds"), tuple(found), note),
        Table("Where structural EM's time goes", ("gaps", "part", "processor seconds", "share"), tuple(profile)),
    ]
    return tables, targets, None


if __name__ == "__main__":
    Script("gaps_scale", "How long rows with gaps take", __doc__ or "", measure).main()
