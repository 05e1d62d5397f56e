"""Where everything goes: connected parts in layers, or by forces, packed side by side, lone nodes in rows below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mapdag.plots.layers import Layered, assign_layers, differences, minimise, order_layers
from mapdag.plots.organic import spread

if TYPE_CHECKING:
    Edge = tuple[int, int]
    from mapdag.plots.layers import Layered


Point: TypeAlias = tuple[float, float]

BOX_HEIGHT = 26.0
MARGIN = 12.0
_GAP = 16.0  # between two boxes, or arcs, in a layer
_BETWEEN = 44.0  # between two parts
_LAYERS_APART = (44.0, 150.0)  # least and most, box to box
_STEEP = 0.09  # how far layers are moved apart for every pixel that an arc between them travels sideways
_SHAPE = 1.7  # width / height that packing aims at


@dataclass(frozen=True)
class Arrangement:
    """Centres of the boxes, and for every edge the points it passes between its two boxes, from top to bottom."""

    width: float
    height: float
    places: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True)
class _Part:
    """A connected part, laid out by itself: its nodes and edges by their numbers in the whole."""

    width: float
    height: float
    places: dict[int, Point]
    routes: dict[int, tuple[Point, ...]]


def arrange(widths: Sequence[float], edges: Sequence[Edge], *, layered: bool = True) -> Arrangement:
    """Arrange the boxes and edges of a graph.

    Parameters
    ----------
    widths : sequence of float
        Of the boxes.
    edges : sequence of (int, int)
        Upper and lower node; no cycles.
    layered : bool
        Nodes in layers, every one below its parents; otherwise by forces, which fill a window better if there are
        hundreds of them. Edges pass no points then.

    Examples
    --------
    >>> layout = arrange([40, 40, 40], [(0, 1)])
    >>> [y for _, y in layout.places]
    [25.0, 95.0, 165.0]
    """
    groups = _connected(len(widths), edges)
    lay_out = _in_layers if layered else _by_forces
    parts = [lay_out(nodes, numbers, widths, edges) for nodes, numbers in groups if numbers]
    parts.sort(key=lambda part: -part.width * part.height)
    lone = [nodes[0] for nodes, numbers in groups if not numbers]
    wanted = max(
        math.sqrt(_SHAPE * sum((p.width + _BETWEEN) * (p.height + _BETWEEN) for p in parts)),
        max((part.width for part in parts), default=0.0),
        math.sqrt(_SHAPE * sum((widths[i] + _GAP) * (BOX_HEIGHT + _GAP) for i in lone)),
    )
    corners, bottom = _shelves([(part.width, part.height) for part in parts], wanted, _BETWEEN, top=MARGIN)
    places: dict[int, Point] = {}
    routes: dict[int, tuple[Point, ...]] = {}
    for part, (left, top) in zip(parts, corners, strict=True):
        places |= {node: (left + x, top + y) for node, (x, y) in part.places.items()}
        routes |= {edge: tuple((left + x, top + y) for x, y in points) for edge, points in part.routes.items()}
    spots, bottom = _shelves([(widths[i], BOX_HEIGHT) for i in lone], wanted, _GAP, top=bottom)
    places |= {i: (x + widths[i] / 2, y + BOX_HEIGHT / 2) for i, (x, y) in zip(lone, spots, strict=True)}
    right = max((x + widths[i] / 2 for i, (x, _) in places.items()), default=0.0)
    right = max([right, *(x for points in routes.values() for x, _ in points)])
    lowest = max((y for _, y in places.values()), default=0.0) + BOX_HEIGHT / 2
    return Arrangement(
        round(right + MARGIN, 2),
        round(lowest + MARGIN, 2),
        tuple(places[i] for i in range(len(widths))),
        tuple(routes[i] for i in range(len(edges))),
    )


def _connected(n: int, edges: Sequence[Edge]) -> list[tuple[list[int], list[int]]]:
    """Split into connected parts: their nodes and the numbers of their edges, in the order of their first nodes."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    joined = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    count, part = connected_components(joined, directed=False)
    parts: list[tuple[list[int], list[int]]] = [([], []) for _ in range(count)]
    for i in range(n):
        parts[part[i]][0].append(i)
    for number, (a, _) in enumerate(edges):
        parts[part[a]][1].append(number)
    return parts


def _in_layers(nodes: list[int], numbers: list[int], widths: Sequence[float], edges: Sequence[Edge]) -> _Part:
    local = {node: i for i, node in enumerate(nodes)}
    graph = assign_layers(len(nodes), [(local[edges[e][0]], local[edges[e][1]]) for e in numbers])
    own = [widths[node] for node in nodes]
    x = place(graph, order_layers(graph), own, _GAP).tolist()
    right = max([*(x[i] + width / 2 for i, width in enumerate(own)), *x[len(nodes) :]])
    tops = _tops(graph, x)
    places = {node: (x[i], tops[graph.layer[i]] + BOX_HEIGHT / 2) for node, i in local.items()}
    routes = {
        e: tuple((x[v], tops[graph.layer[v]] + y) for v in chain[1:-1] for y in (0.0, BOX_HEIGHT))
        for e, chain in zip(numbers, graph.chains, strict=True)
    }
    return _Part(right, tops[-1] + BOX_HEIGHT, places, routes)


def _by_forces(nodes: list[int], numbers: list[int], widths: Sequence[float], edges: Sequence[Edge]) -> _Part:
    local = {node: i for i, node in enumerate(nodes)}
    own = np.array([widths[node] for node in nodes])
    ends = [(local[edges[e][0]], local[edges[e][1]]) for e in numbers]
    at = spread(own, BOX_HEIGHT, ends, gap=_GAP, shape=_SHAPE)
    right, bottom = (at + np.column_stack([own, np.full(len(own), BOX_HEIGHT)]) / 2).max(axis=0).tolist()
    places = {node: (float(at[i, 0]), float(at[i, 1])) for node, i in local.items()}
    return _Part(right, bottom, places, dict.fromkeys(numbers, ()))


def _tops(graph: Layered, x: Sequence[float]) -> list[float]:
    """Find where each layer begins: the further to the side arcs go, the more room they get."""
    aside = [0.0] * max(graph.layer)
    for a, b in graph.links:
        aside[graph.layer[a]] = max(aside[graph.layer[a]], abs(x[a] - x[b]))
    least, most = _LAYERS_APART
    tops = [0.0]
    for each in aside:
        tops.append(tops[-1] + BOX_HEIGHT + min(max(least, 30.0 + _STEEP * each), most))
    return tops


def _shelves(
    sizes: Sequence[tuple[float, float]], width: float, gap: float, *, top: float
) -> tuple[list[Point], float]:
    """Put boxes on shelves of this width, one after the other; returns their corners and where the next shelf goes."""
    corners: list[Point] = []
    left, depth = MARGIN, 0.0
    for wide, high in sizes:
        if left > MARGIN and left + wide > MARGIN + width * 1.001:
            top, left, depth = top + depth + gap, MARGIN, 0.0
        corners.append((left, top))
        left, depth = left + wide + gap, max(depth, high)
    return corners, top + depth + gap if sizes else top


# Coordinates ---------------------------------------------------------------------------------------------------------

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
