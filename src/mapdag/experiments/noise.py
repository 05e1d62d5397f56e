"""Arcs that are learned where there are none: independent columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mapdag.checks import check_positive, check_whole
from mapdag.data import Dataset
from mapdag.search import learn

NOISE_OBJECTIVES = (
    "U+BDeu(1)",
    "MU(1/2)+BDeu(1)",
    "MU(c=1)+BDeu(1)",
    "U+BDs(1)",
    "MU(1/2)+BDs(1)",
    "MU(c=1)+BDs(1)",
)


class NoisePoint(NamedTuple):
    """Arcs learned from one table of noise under one objective; every one of them is wrong."""

    nodes: int
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
    check_whole("nodes", nodes, least=1)
    check_whole("rows", rows, least=1)
    check_positive("concentration", concentration)
    rng = np.random.default_rng(seed)
    cards = [levels[i % len(levels)] for i in range(nodes)]
    columns = [rng.choice(r, size=rows, p=rng.dirichlet([concentration] * r)) for r in cards]
    return Dataset.from_codes(np.column_stack(columns), names=[f"X{i + 1}" for i in range(nodes)], levels=cards)


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
    for n_nodes in nodes:
        for n_rows in rows:
            if progress is not None:
                progress(f"noise: {n_nodes} columns, {n_rows} rows")
            for replicate in range(replicates):
                data = noise_table(
                    n_nodes, n_rows, seed=[seed, n_nodes, n_rows, replicate], concentration=concentration
                )
                results = learn(data, list(objectives), search="hc", order="columns")
                for objective, result in zip(objectives, results, strict=True):
                    found.append(NoisePoint(n_nodes, n_rows, replicate, objective, result.dag.n_arcs))
    return tuple(found)
