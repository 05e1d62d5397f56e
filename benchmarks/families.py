"""What MU+BDs costs per family evaluated, against U+BDeu on the same data."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness import samples
from harness.objectives import MU_BDS, U_BDEU
from harness.samples import EVERY
from harness.script import Script, Settings, progress
from harness.tables import Table, geometric_mean
from harness.targets import Target
from harness.timing import Rounds, take_turns, timed

OBJECTIVES = (U_BDEU, MU_BDS)


def per_family(data: Any, rounds: Rounds, **options: Any) -> dict[str, tuple[float, int]]:
    """Nanoseconds a family under each objective, and the number of families."""
    import mapdag as md

    def learn(objective: str) -> Any:
        return md.learn(data, objective, search="hc", order="columns", threads=1, **options)

    turns = {objective: partial(timed, partial(learn, objective)) for objective in OBJECTIVES}
    found = take_turns(turns, rounds)
    return {key: (each.best / each.value.families * 1e9, each.value.families) for key, each in found.items()}


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    import mapdag as md

    rounds = Rounds(least=2, most=3, budget=1.0) if settings.quick else Rounds(least=3, most=25, budget=3.0)
    rows, climbs, sames = [], [], []
    for sample in EVERY[:6] if settings.quick else EVERY:
        progress(f"families: {sample}")
        data = samples.load(sample, settings.data)
        start = md.learn(data, U_BDEU, search="hc", order="columns", threads=1).dag
        (eu, n_eu), (sparse, n_sparse) = per_family(data, rounds).values()
        (eu_same, n_same), (sparse_same, n_other) = per_family(data, rounds, start=start, max_iter=1).values()
        climbs.append(sparse / eu)
        sames.append(sparse_same / eu_same)
        rows.append(
            (str(sample), n_eu, n_sparse, eu, sparse, climbs[-1], n_same, n_other, eu_same, sparse_same, sames[-1])
        )
    rows.append(
        ("geometric mean", *[None] * 4, geometric_mean(climbs), *[None] * 4, geometric_mean(sames)),
    )
    columns = (
        "data",
        "families, U+BDeu",
        "families, MU+BDs",
        "ns each, U+BDeu",
        "ns each, MU+BDs",
        "ratio, climbs",
        "neighbours, U+BDeu",
        "neighbours, MU+BDs",
        "ns each, U+BDeu",
        "ns each, MU+BDs",
        "ratio, neighbours",
    )
    note = (
        "Left, whole climbs: the two take different paths, and so evaluate different families. Right, the same "
        "families for both, but for those of at most one move: all neighbours of the graph that U+BDeu learned."
    )
    targets = [
        Target(f"MU+BDs against U+BDeu per family, {what}, {how}", "<=", 1.1, measured)
        for what, found in (("whole climbs", climbs), ("neighbours of one graph", sames))
        for how, measured in (("the worst", max(found)), ("geometric mean", geometric_mean(found)))
    ]
    return [Table("Per family evaluated", columns, tuple(rows), note)], targets, None


if __name__ == "__main__":
    Script("families", "Cost of a family", __doc__ or "", measure).main()
