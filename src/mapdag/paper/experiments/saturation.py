"""The best graph of all on independent columns with even levels: arcs that saturated families bring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mapdag.data import Dataset
from mapdag.objective import DEFAULT
from mapdag.search import learn

SATURATION_OBJECTIVES = ("U+BDeu(1)", "MU(c=1)+BDs(1)", str(DEFAULT))


class SaturationPoint(NamedTuple):
    """Arcs of the best graph of all, on one table of noise under one objective; every one of them is wrong."""

    levels: int
    rows: int
    replicate: int
    objective: str
    arcs: int


def even_noise(columns: int, rows: int, levels: int, *, seed: int | Sequence[int]) -> Dataset:
    """Draw a table of independent columns whose levels are all equally probable.

    Examples
    --------
    >>> even_noise(3, 10, 5, seed=1).cards.tolist()
    [5, 5, 5]
    """
    codes = np.random.default_rng(seed).integers(0, levels, (rows, columns))
    return Dataset.from_codes(codes, names=[f"X{i + 1}" for i in range(columns)], levels=[levels] * columns)


def saturated_arcs(
    levels: Sequence[int] = (2, 3, 5, 10, 20),
    rows: Sequence[int] = (50, 100, 200, 500, 1000, 2000),
    *,
    columns: int = 10,
    objectives: Sequence[str] = SATURATION_OBJECTIVES,
    replicates: int = 5,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> tuple[SaturationPoint, ...]:
    """Find the best graph of all on noise by exact search, and count its arcs.

    Parameters
    ----------
    levels, rows : sequence of int
        All combinations are tried.
    columns : int
    objectives : sequence of str
    replicates : int
        Tables for each combination.
    seed : int
    progress : callable, optional
        Told what is being done.

    Examples
    --------
    >>> points = saturated_arcs([5], [100], columns=6, replicates=1)
    >>> [(point.objective, point.arcs > 0) for point in points][1:]
    [('MU(c=1)+BDs(1)', True), ('Support(m=3)+MU(c=1)+BDs(alpha=1)', False)]
    """
    found = []
    for r in levels:
        for n in rows:
            if progress is not None:
                progress(f"saturation: {r} levels, {n} rows")
            for replicate in range(replicates):
                data = even_noise(columns, n, r, seed=[seed, r, n, replicate])
                results = learn(data, list(objectives), search="exact")
                for objective, result in zip(objectives, results, strict=True):
                    found.append(SaturationPoint(r, n, replicate, objective, result.dag.n_arcs))
    return tuple(found)
