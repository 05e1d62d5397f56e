"""Layered drawing, the last step: where in its layer each vertex is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mapdag.plots.programs import differences, minimise

if TYPE_CHECKING:
    from mapdag.plots.layers import Layered

Rows: TypeAlias = Sequence[Sequence[int]]
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# What it costs an edge to lean: most between two dummies, so that long edges run straight.
_LEAN = (1.0, 2.0, 8.0)
_OPTIMAL = 3000  # links up to which the optimum takes less than a second
_SWEEPS = 12


def place(graph: Layered, rows: Rows, widths: Sequence[float], gap: float) -> Floats:
    """Find the horizontal centres of all vertices: short and straight edges, no two boxes closer than `gap`.

    The optimum of a linear program, or something like it where that takes too long.
    """
    links = np.array(graph.links, dtype=np.int64).reshape(-1, 2)
    half = np.array([*(width / 2 for width in widths), *([0.0] * (len(graph.layer) - graph.n_real))])
    lean = np.array(_LEAN)[(links >= graph.n_real).sum(axis=1)]
    x = (_optimum if len(links) <= _OPTIMAL else _swept)(rows, links, lean, half, gap)
    left: float = (x - half).min()
    return np.asarray(x - left, dtype=np.float64)


def _optimum(rows: Rows, links: Ints, lean: Floats, half: Floats, gap: float) -> Floats:
    """Minimise the weighted sum of abs(x_a - x_b) over the links."""
    from scipy.sparse import block_array, eye_array

    n, m = len(half), len(links)
    beside = np.array([pair for row in rows for pair in pairwise(row)], dtype=np.int64).reshape(-1, 2)
    apart = half[beside].sum(axis=1) + gap
    # Unknowns: the places, and how far each link leans. a - b <= lean, b - a <= lean, left - right <= -apart.
    across, one = differences(links, n), eye_array(m)
    matrix = block_array([[across, -one], [-across, -one], [differences(beside, n), None]])
    limits = np.concatenate([np.zeros(2 * m), -apart])
    return minimise(np.concatenate([np.zeros(n), lean]), matrix, limits)[:n]


def _swept(rows: Rows, links: Ints, lean: Floats, half: Floats, gap: float) -> Floats:
    """Sweep down and up: pull each layer towards its neighbours, as far as the boxes beside leave room.

    Within a layer that is an isotonic regression: least squares with a least distance between neighbours.
    """
    from scipy.optimize import isotonic_regression

    n = len(half)
    order = [np.array(row, dtype=np.int64) for row in rows]
    offset = [np.concatenate([[0.0], np.cumsum(half[row[:-1]] + half[row[1:]] + gap)]) for row in order]
    x = np.empty(n)
    for row, at in zip(order, offset, strict=True):
        x[row] = at - at[-1] / 2
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        own, other = (links[:, 1], links[:, 0]) if down else (links[:, 0], links[:, 1])
        weight = np.bincount(own, weights=lean, minlength=n)
        layers = list(zip(order, offset, strict=True))
        for row, at in layers[1:] if down else layers[-2::-1]:
            pull = np.bincount(own, weights=lean * x[other], minlength=n)[row]
            heavy = weight[row]
            wanted = np.where(heavy > 0, pull / np.maximum(heavy, 1e-9), x[row])
            x[row] = at + isotonic_regression(wanted - at, weights=np.maximum(heavy, 0.01)).x
    return x
