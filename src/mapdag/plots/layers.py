"""Layered drawing, step by step: which layer a node is in, its order there, and its place.

The three steps of Sugiyama, Tagawa and Toda (1981). Layers and places are the optima of linear programs, as in Gansner,
Koutsofios, North and Vo (1993), "A technique for drawing directed graphs"; the order starts from igraph's and is
refined in `crossings`. Vertices are numbers here; names, boxes and curves are in other modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import MissingExtraError
from mapdag.plots.crossings import refine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Edge = tuple[int, int]

# What it costs an edge to lean: most between two dummies, so that long edges run straight.
_LEAN = (1.0, 2.0, 8.0)


@dataclass(frozen=True)
class Layered:
    """A connected graph with dummy vertices where an edge passes through a layer.

    Attributes
    ----------
    n_real : int
        Vertices below this number are nodes, the others dummies.
    layer : tuple of int
        Layer of each vertex, from 0 at the top.
    chains : tuple of tuple of int
        For each edge its vertices from the top to the bottom.
    """

    n_real: int
    layer: tuple[int, ...]
    chains: tuple[tuple[int, ...], ...]

    @property
    def links(self) -> list[Edge]:
        """The edges of the graph with dummies: each joins two layers next to each other."""
        return [pair for chain in self.chains for pair in pairwise(chain)]


def assign_layers(n: int, edges: Sequence[Edge]) -> Layered:
    """Put every vertex below its parents so that the edges are as short as can be in all.

    Examples
    --------
    >>> assign_layers(4, [(0, 1), (1, 2), (0, 2), (3, 2)])
    Layered(n_real=4, layer=(0, 1, 2, 1, 1), chains=((0, 1), (1, 2), (0, 4, 2), (3, 2)))
    """
    layer = _layers(n, edges).tolist()
    chains = []
    for a, b in edges:
        dummies = range(len(layer), len(layer) + layer[b] - layer[a] - 1)
        layer.extend(range(layer[a] + 1, layer[b]))
        chains.append((a, *dummies, b))
    return Layered(n, tuple(layer), tuple(chains))


def order_layers(graph: Layered) -> list[list[int]]:
    """Order the vertices of every layer, with few crossings."""
    links = graph.links
    layout = (
        _igraph()
        .Graph(n=len(graph.layer), edges=links, directed=True)
        .layout_sugiyama(layers=list(graph.layer), maxiter=200)
    )
    x = [point[0] for point in layout.coords]
    rows: list[list[int]] = [[] for _ in range(max(graph.layer) + 1)]
    for vertex in sorted(range(len(graph.layer)), key=lambda v: (x[v], v)):
        rows[graph.layer[vertex]].append(vertex)
    return refine(rows, links)


def place(graph: Layered, rows: Sequence[Sequence[int]], widths: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Find the horizontal centres of all vertices: short and straight edges, no two boxes closer than `gap`.

    Minimises the weighted sum of abs(x_a - x_b) over the links, subject to the order within the layers.
    """
    links = np.array(graph.links, dtype=np.int64).reshape(-1, 2)
    n, m = len(graph.layer), len(links)
    beside = np.array([pair for row in rows for pair in pairwise(row)], dtype=np.int64).reshape(-1, 2)
    half = np.array([*(width / 2 for width in widths), *([0.0] * (n - graph.n_real))])
    apart = half[beside].sum(axis=1) + gap
    lean = np.array(_LEAN)[(links >= graph.n_real).sum(axis=1)]
    # Unknowns: the places, and how far each link leans. lean >= a - b, lean >= b - a, right - left >= apart.
    each, shift = np.arange(m), n + np.arange(m)
    entries = [
        *_entries(each, links[:, 0], 1.0),
        *_entries(each, links[:, 1], -1.0),
        *_entries(each, shift, -1.0),
        *_entries(m + each, links[:, 0], -1.0),
        *_entries(m + each, links[:, 1], 1.0),
        *_entries(m + each, shift, -1.0),
        *_entries(2 * m + np.arange(len(beside)), beside[:, 0], 1.0),
        *_entries(2 * m + np.arange(len(beside)), beside[:, 1], -1.0),
    ]
    limits = np.concatenate([np.zeros(2 * m), -apart])
    x = _solve(np.concatenate([np.zeros(n), lean]), entries, limits)[:n]
    left: float = (x - half).min()
    return np.asarray(x - left, dtype=np.float64)


def _layers(n: int, edges: Sequence[Edge]) -> NDArray[np.int64]:
    """Minimise the sum of the lengths of the edges, each at least 1; the optimum is whole."""
    if not edges:
        return np.zeros(n, dtype=np.int64)
    ends = np.array(edges, dtype=np.int64)
    cost = np.bincount(ends[:, 1], minlength=n) - np.bincount(ends[:, 0], minlength=n)
    each = np.arange(len(ends))
    entries = [*_entries(each, ends[:, 0], 1.0), *_entries(each, ends[:, 1], -1.0)]
    layer = np.rint(_solve(cost, entries, -np.ones(len(ends)))).astype(np.int64)
    return np.asarray(layer - layer.min(), dtype=np.int64)


def _entries(rows: NDArray[np.int64], columns: NDArray[np.int64], value: float) -> list[NDArray[Any]]:
    return [rows, columns, np.full(len(rows), value)]


def _solve(cost: NDArray[Any], entries: list[NDArray[Any]], limits: NDArray[Any]) -> NDArray[np.float64]:
    """Minimise cost @ x subject to A @ x <= limits and x >= 0."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows, columns, values = (np.concatenate(entries[part::3]) for part in range(3))
    matrix = coo_array((values, (rows, columns)), shape=(len(limits), len(cost))).tocsr()
    found = linprog(cost, A_ub=matrix, b_ub=limits, bounds=(0, None), method="highs")  # type: ignore[call-overload]  # sparse, too
    assert found.status == 0, found.message
    return np.asarray(found.x, dtype=np.float64)


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise MissingExtraError("drawing graphs needs igraph: pip install 'mapdag[plots]'") from None
    return igraph


def check_installed() -> None:
    """Raise `MissingExtraError` now rather than after a long computation."""
    _igraph()
