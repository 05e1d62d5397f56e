"""Fewer crossings: the order of the vertices within layers, refined by medians and swaps of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    Edge = tuple[int, int]
    Rows = list[list[int]]

_SWEEPS = 24
_PATIENCE = 6  # sweeps without progress
_WORK = 60_000  # links to look at in all sweeps together: dense graphs get fewer of them


def reduce_crossings(rows: Sequence[Sequence[int]], links: Sequence[Edge]) -> Rows:
    """Sweep down and up, sorting each layer by the medians of its neighbours, then swapping; keep the best order.

    Examples
    --------
    >>> reduce_crossings([[0, 1], [2, 3]], [(0, 3), (1, 2)])
    [[1, 0], [2, 3]]
    """
    n = sum(map(len, rows))
    above: Rows = [[] for _ in range(n)]
    below: Rows = [[] for _ in range(n)]
    for a, b in links:
        below[a].append(b)
        above[b].append(a)
    sweeps = min(_SWEEPS, 1 + _WORK // (len(links) + 1))
    current = [list(row) for row in rows]
    _swap(current, above, below, sweeps)
    best, fewest, stale = [list(row) for row in current], count_crossings(current, links), 0
    for sweep in range(sweeps):
        if not fewest or stale == _PATIENCE:
            break
        down = sweep % 2 == 0
        in_turn = current if down else current[::-1]
        for fixed, row in pairwise(in_turn):
            _sort(row, fixed, above if down else below)
        _swap(current, above, below, sweeps)
        crossings = count_crossings(current, links)
        stale += 1
        if crossings < fewest:
            best, fewest, stale = [list(row) for row in current], crossings, 0
    return best


def count_crossings(rows: Sequence[Sequence[int]], links: Sequence[Edge]) -> int:
    """Count the pairs of links between the same two layers that cross.

    Examples
    --------
    >>> count_crossings([[0, 1], [2, 3]], [(0, 3), (1, 2)])
    1
    """
    place = {vertex: i for row in rows for i, vertex in enumerate(row)}
    layer = {vertex: i for i, row in enumerate(rows) for vertex in row}
    between: dict[int, list[tuple[int, int]]] = {}
    for a, b in links:
        between.setdefault(layer[a], []).append((place[a], place[b]))
    total = 0
    for ends in between.values():
        top, bottom = np.array(ends).T
        total += int(((top[:, None] < top) & (bottom[:, None] > bottom)).sum())
    return total


def _sort(row: list[int], fixed: Sequence[int], neighbours: Rows) -> None:
    """Sort a layer by the medians of its neighbours in the fixed one; vertices without any stay where they are."""
    place = {vertex: i for i, vertex in enumerate(fixed)}
    keys = {vertex: median(place[other] for other in neighbours[vertex]) for vertex in row if neighbours[vertex]}
    free = [i for i, vertex in enumerate(row) if vertex in keys]
    for i, vertex in zip(free, sorted((row[i] for i in free), key=keys.__getitem__), strict=True):
        row[i] = vertex


def _swap(rows: Rows, above: Rows, below: Rows, most: int) -> None:
    """Swap neighbours in a layer while that takes away crossings, at most so many times each."""
    place = {vertex: i for row in rows for i, vertex in enumerate(row)}
    for _ in range(most):
        better = False
        for row in rows:
            for i in range(len(row) - 1):
                a, b = row[i], row[i + 1]
                gain = _gain(place, above[a], above[b]) + _gain(place, below[a], below[b])
                if gain > 0:
                    row[i], row[i + 1] = b, a
                    place[a], place[b] = i + 1, i
                    better = True
        if not better:
            return


def _gain(place: dict[int, int], of_left: list[int], of_right: list[int]) -> int:
    """Crossings that go away when two neighbours swap, less those that come."""
    gain = 0
    for a in of_left:
        for b in of_right:
            gain += (place[a] > place[b]) - (place[a] < place[b])
    return gain
