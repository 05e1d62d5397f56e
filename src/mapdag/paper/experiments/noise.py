"""Arcs that are learned where there are none: independent columns.

By hill climbing, and in the best graph of all, where saturated families bring them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mapdag.checks import check_positive, check_whole
from mapdag.data import Dataset
from mapdag.objective import DEFAULT
from mapdag.search import learn

NOISE_OBJECTIVES = (
    "U+BDeu(1)",
    "MU(1/2)+BDeu(1)",
    "MU(c=1)+BDeu(1)",
    "U+BDs(1)",
    "MU(1/2)+BDs(1)",
    "MU(c=1)+BDs(1)",
)
SATURATION_OBJECTIVES = ("U+BDeu(1)", "MU(c=1)+BDs(1)", str(DEFAULT))


class NoisePoint(NamedTuple):
    """Arcs learned from one table of noise under one objective; every one of them is wrong."""

    nodes: int
    rows: int
    replicate: int
    objective: str
    arcs: int


class SaturationPoint(NamedTuple):
    """Arcs of the best graph of all, on one table of noise under one objective; every one of them is wrong."""

    levels: int
    rows: int
    replicate: int
    objective: str
    arcs: int


def noise_table(
    nodes: int,
    rows: int,
    *,
    seed: int | Sequence[int],
    levels: Sequence[int] = (2, 3, 4),
    concentration: float = 1.0,
) -> Dataset:
    """Draw a table of independent columns.

    Parameters
    ----------
    nodes, rows : int
    seed : int or sequence of int
    levels : sequence of int
        Numbers of levels, taken in turn.
    concentration : float
        Each column's probabilities come from a symmetric Dirichlet distribution with this parameter: 1 gives columns as
        uneven as real ones, large values give even ones.

    Examples
    --------
    >>> noise_table(3, 10, seed=1).cards.tolist()
    [2, 3, 4]
    """
    nodes = check_whole("nodes", nodes, least=1)
    rows = check_whole("rows", rows, least=1)
    concentration = check_positive("concentration", concentration)
    rng = np.random.default_rng(seed)
    cards = [levels[i % len(levels)] for i in range(nodes)]
    columns = [rng.choice(r, size=rows, p=rng.dirichlet([concentration] * r)) for r in cards]
    return Dataset.from_codes(np.column_stack(columns), names=[f"X{i + 1}" for i in range(nodes)], levels=cards)


def even_noise(columns: int, rows: int, levels: int, *, seed: int | Sequence[int]) -> Dataset:
    """Draw a table of independent columns whose levels are all equally probable.

    Examples
    --------
    >>> even_noise(3, 10, 5, seed=1).cards.tolist()
    [5, 5, 5]
    """
    codes = np.random.default_rng(seed).integers(0, levels, (rows, columns))
    return Dataset.from_codes(codes, names=[f"X{i + 1}" for i in range(columns)], levels=[levels] * columns)


def arcs_learned(data: Dataset, objectives: Sequence[str], **options: Any) -> Iterator[tuple[str, int]]:
    """Learn from a table, and give the number of arcs under each objective."""
    for objective, result in zip(objectives, learn(data, list(objectives), **options), strict=True):
        yield objective, result.dag.n_arcs


def noise_arcs(
    nodes: Sequence[int] = (5, 10, 20, 50, 100, 200),
    rows: Sequence[int] = (50, 100, 200, 500, 1000, 2000, 5000),
    *,
    objectives: Sequence[str] = NOISE_OBJECTIVES,
    replicates: int = 10,
    seed: int = 1,
    concentration: float = 1.0,
    progress: Callable[[str], None] | None = None,
) -> tuple[NoisePoint, ...]:
    """Learn from noise by hill climbing, and count the arcs.

    Parameters
    ----------
    nodes, rows : sequence of int
        All combinations are tried.
    objectives : sequence of str
    replicates : int
        Tables for each combination.
    seed : int
    concentration : float
        See `noise_table`.
    progress : callable, optional
        Told what is being done.

    Examples
    --------
    >>> points = noise_arcs([10], [50], objectives=["U+BDeu(1)", "MU(c=1)+BDs(1)"], replicates=2)
    >>> [(point.objective, point.replicate) for point in points][:2]
    [('U+BDeu(1)', 0), ('MU(c=1)+BDs(1)', 0)]
    """
    found = []
    for columns, n in itertools.product(nodes, rows):
        if progress is not None:
            progress(f"noise: {columns} columns, {n} rows")
        for replicate in range(replicates):
            data = noise_table(columns, n, seed=[seed, columns, n, replicate], concentration=concentration)
            for objective, arcs in arcs_learned(data, objectives, search="hc", order="columns"):
                found.append(NoisePoint(columns, n, replicate, objective, arcs))
    return tuple(found)


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
    for r, n in itertools.product(levels, rows):
        if progress is not None:
            progress(f"saturation: {r} levels, {n} rows")
        for replicate in range(replicates):
            data = even_noise(columns, n, r, seed=[seed, r, n, replicate])
            for objective, arcs in arcs_learned(data, objectives, search="exact"):
                found.append(SaturationPoint(r, n, replicate, objective, arcs))
    return tuple(found)
