"""Layered drawing, the first two steps: which layer a node is in, and its order there.

The steps of Sugiyama, Tagawa and Toda (1981). Layers, and places in `coordinates`, are optima of linear programs, as in
Gansner, Koutsofios, North and Vo (1993), "A technique for drawing directed graphs"; the order starts from igraph's
and is refined in `crossings`. Vertices are numbers here; names, boxes and curves are in other modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import MissingExtraError
from mapdag.plots.crossings import reduce_crossings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Edge = tuple[int, int]


def differences(pairs: NDArray[np.int64], n: int) -> Any:
    """Return the sparse matrix that makes x_a - x_b of n unknowns, a row for each pair (a, b)."""
    from scipy.sparse import coo_array

    row = np.arange(len(pairs))
    entries = np.repeat([1.0, -1.0], len(pairs))
    return coo_array((entries, (np.concatenate([row, row]), pairs.T.ravel())), shape=(len(pairs), n))


def minimise(cost: NDArray[Any], matrix: Any, limits: NDArray[Any]) -> NDArray[np.float64]:
    """Minimise cost @ x subject to matrix @ x <= limits and x >= 0."""
    from scipy.optimize import linprog

    found = linprog(cost, A_ub=matrix.tocsr(), b_ub=limits, bounds=(0, None), method="highs")
    assert found.status == 0, found.message
    return np.asarray(found.x, dtype=np.float64)


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
    return reduce_crossings(rows, links)


def _layers(n: int, edges: Sequence[Edge]) -> NDArray[np.int64]:
    """Minimise the sum of the lengths of the edges, each at least 1; the optimum is whole."""
    if not edges:
        return np.zeros(n, dtype=np.int64)
    ends = np.array(edges, dtype=np.int64)
    cost = np.bincount(ends[:, 1], minlength=n) - np.bincount(ends[:, 0], minlength=n)
    layer = np.rint(minimise(cost, differences(ends, n), -np.ones(len(ends)))).astype(np.int64)
    return np.asarray(layer - layer.min(), dtype=np.int64)


def _igraph() -> Any:
    try:
        import igraph
    except ImportError:
        raise MissingExtraError("drawing graphs needs igraph: pip install 'mapdag[plots]'") from None
    return igraph


def check_installed() -> None:
    """Raise `MissingExtraError` now rather than after a long computation."""
    _igraph()
