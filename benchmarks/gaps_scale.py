"""How long rows with gaps take: ALARM, 100,000 rows, a fifth of the cells missing completely at random.

Hill climbing under BIC on the complete rows, under PNAL on those with gaps, in turns; the probabilities of the true
graph by EM; structural EM under BIC, hard and soft, and what its time goes into. Processor seconds count all threads,
and do not depend on what else runs.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, Any

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
    from mapdag.search.em.search import _Run

    spent: dict[str, float] = defaultdict(float)
    originals = {name: getattr(_Run, name) for name in PARTS}
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
            setattr(_Run, name, watched(name))
        found, clock, used = timed(lambda: md.structural_em(data, "BIC", impute=how))
    finally:
        for name, original in originals.items():
            setattr(_Run, name, original)
    return found, clock, used, spent


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    import mapdag as md

    net = md.network("alarm")
    rows = 2_000 if settings.quick else ROWS
    small = with_gaps(net.sample(300, seed=2), SHARE, "MCAR", 2)
    md.structural_em(small, "BIC")  # compiles what is needed
    md.structural_em(small, "BIC", impute="hard")
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
    profile = []
    for how in ("hard", "soft"):
        progress(f"structural EM, {how}")
        result, clock, used, spent = parts_of(data, how)
        drawn = getattr(result.data, "drawn", 0)
        found.append((f"structural EM, {how}, {len(result.steps)} steps", clock, used))
        profile += [(how, told, spent[name], spent[name] / used) for name, told in PARTS.items()]
    gaps = int((~data.known).sum())
    note = f"{rows:,} rows, {gaps:,} gaps; of {drawn:,} gaps ({drawn / gaps:.2%}) the distribution is known by draws."
    tables = [
        Table("Seconds", ("what", "seconds", "processor seconds"), tuple(found), note),
        Table("Where structural EM's time goes", ("gaps", "part", "processor seconds", "share"), tuple(profile)),
    ]
    return tables, [Target("PNAL with gaps beside BIC without", "<=", 1.5, ratio)], None


if __name__ == "__main__":
    Script("gaps_scale", "How long rows with gaps take", __doc__ or "", measure).main()
