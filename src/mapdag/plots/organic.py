"""Drawing by forces, for graphs that layers would make a ribbon of: joined nodes attract, all others repel each other.

Fruchterman and Reingold (1991), "Graph drawing by force-directed placement", with a mild pull towards the middle; the
result is stretched to the shape of a window, and boxes that overlap are pushed apart. Directions of arcs play no part.
No randomness: the same graph is drawn the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Edge = tuple[int, int]

Floats: TypeAlias = NDArray[np.float64]

_STEPS = 260
_MODES = 12  # nodes from which the modes of a graph are worth finding
_APART = 62.0  # what joined nodes settle at, before boxes are pushed apart
_PULL = 0.018  # towards the middle
_PATIENCE = 8  # rounds of pushing boxes apart before there is more room
_GROW = 1.04
_TOUCHING = 1e-3
_DENSE = 0.6  # of that, where boxes may overlap for a start


def spread(
    widths: Sequence[float] | Floats, height: float, edges: Sequence[Edge], *, gap: float, shape: float
) -> Floats:
    """Place the boxes of a connected graph: joined ones near each other, none on top of another.

    Parameters
    ----------
    widths : sequence of float
        Of the boxes.
    height : float
        Of every box.
    edges : sequence of (int, int)
    gap : float
        The least distance between two boxes.
    shape : float
        Width / height that the whole should have, about.

    Returns
    -------
    array (nodes, 2)
        Centres; the corner of the whole is at 0, 0.

    Examples
    --------
    >>> spread([40, 40], 26, [(0, 1)], gap=16, shape=1.7).shape
    (2, 2)
    """
    size = np.column_stack([np.asarray(widths, dtype=np.float64), np.full(len(widths), height)]) + gap
    stretch = np.array([shape, 1.0]) / np.sqrt(shape)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    places = _settle(_first(len(widths), ends), ends) * stretch * _DENSE
    places = _separated(places, size)
    return np.asarray(places - (places - (size - gap) / 2).min(axis=0), dtype=np.float64)


def _first(n: int, ends: NDArray[np.int64]) -> Floats:
    """Begin with the slowest modes of the graph, in which neighbours are close; a spiral breaks what ties remain."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import eigsh

    turn = np.arange(n) * 2.399963  # the golden angle
    spiral = np.column_stack([np.cos(turn), np.sin(turn)]) * np.sqrt(np.arange(n) + 0.5)[:, None]
    if n < _MODES:
        return spiral * _APART
    a, b, each = ends[:, 0], ends[:, 1], np.arange(n)
    degree = np.bincount(ends.ravel(), minlength=n)
    tie = -1.0 / np.sqrt(degree[a] * degree[b])
    values = np.concatenate([tie, tie, np.full(n, 1.01)])  # the normalised Laplacian, a little more than it
    where = np.concatenate([a, b, each]), np.concatenate([b, a, each])
    _, vectors = eigsh(coo_array((values, where), shape=(n, n)).tocsc(), k=3, sigma=0.0, v0=1.0 + np.cos(turn) / 2)
    slow = vectors[:, 1:] * np.sign(vectors[np.abs(vectors[:, 1:]).argmax(axis=0), [1, 2]])
    return np.asarray((slow * n + 0.05 * spiral) * _APART / np.sqrt(n), dtype=np.float64)


def _settle(at: Floats, ends: NDArray[np.int64]) -> Floats:
    """Move all nodes along the forces between them, in ever smaller steps."""
    n, (start, end) = len(at), (ends[:, 0], ends[:, 1])
    at = at.astype(np.float32)
    degree = np.bincount(ends.ravel(), minlength=n)
    tie = (1.0 / np.sqrt(np.maximum(np.minimum(degree[start], degree[end]), 1)))[:, None]
    heat = _APART * np.sqrt(n) / 4
    for step in range(_STEPS):
        x, y = at[:, 0], at[:, 1]
        dx, dy = x[:, None] - x[None, :], y[:, None] - y[None, :]
        push = _APART**2 / (dx * dx + dy * dy + np.float32(1.0))
        force = np.column_stack([(dx * push).sum(axis=1), (dy * push).sum(axis=1)]).astype(np.float64)
        lean = (at[start] - at[end]).astype(np.float64)
        length = np.hypot(lean[:, 0], lean[:, 1])[:, None]
        pull = lean * length / _APART * tie
        for axis in (0, 1):
            force[:, axis] += np.bincount(end, pull[:, axis], n) - np.bincount(start, pull[:, axis], n)
        force -= _PULL * np.sqrt(n) * (at - at.mean(axis=0))
        size = np.hypot(force[:, 0], force[:, 1])[:, None] + 1e-9
        at += (force / size * np.minimum(size, heat * (1 - step / _STEPS) ** 1.5 + 0.5)).astype(np.float32)
    return at.astype(np.float64)


def _separated(at: Floats, size: Floats) -> Floats:
    """Push boxes apart that overlap, along the shorter way; where there is no end to it, make more room for all."""
    from scipy.spatial import KDTree

    n, turn, largest = len(at), 0, size.max(axis=0)
    while len(pairs := KDTree(at / largest).query_pairs(1.0, p=np.inf, output_type="ndarray")):
        a, b = pairs.T
        apart = at[a] - at[b]
        lack = (size[a] + size[b]) / 2 - np.abs(apart)
        hit = (lack > _TOUCHING).all(axis=1)
        if not hit.any():
            break
        turn += 1
        if turn % _PATIENCE == 0:
            at = at * _GROW
            continue
        a, b, apart, lack = a[hit], b[hit], apart[hit], lack[hit]
        move = np.where(apart < 0, -1.0, 1.0) * (lack + _TOUCHING) / 2
        move[np.arange(len(a)), (lack[:, 0] < lack[:, 1]).astype(int)] = 0.0
        times = np.maximum(np.bincount(np.concatenate([a, b]), minlength=n), 1)
        for axis in (0, 1):
            total = np.bincount(a, move[:, axis], n) - np.bincount(b, move[:, axis], n)
            at[:, axis] += 1.2 * total / np.sqrt(times)
    return at
