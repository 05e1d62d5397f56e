"""Independent draws from the exact posterior over graphs: back through the dynamic program, layer by layer.

The first layer has the nodes without parents, each next one those whose parents all come before, one of them in the
layer before (Kuipers and Moffa 2015). Given what comes before, the weight of each choice of a layer follows from sums
over all graphs on the rest, by inclusion and exclusion.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.search.exact.lattice import Child, Lattice

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_CHUNK = 512  # families that are looked at together


class ExactSums(NamedTuple):
    """What graphs are drawn from."""

    lattice: Lattice
    single: Floats  # log weight of each family, by child and place
    within: Floats  # log sum of a child's families within each set of predecessors
    rest: Floats  # (sets,) log sum over all graphs on the nodes outside of each set


class LayerDraws:
    """Draws graphs one by one.

    Parameters
    ----------
    sums : ExactSums
    rng : numpy Generator
    """

    def __init__(self, sums: ExactSums, rng: np.random.Generator) -> None:
        self._sums, self._rng = sums, rng
        self._children = {child.node: child for child in sums.lattice.children}
        self._pins = {child.node: child.nodes(child.pinned) for child in sums.lattice.children}
        self._sorted: dict[int, tuple[Ints, Floats]] = {}
        self._layers: dict[tuple[int, int], tuple[Ints, Floats]] = {}

    def draw(self) -> list[int]:
        """Draw a graph: the parents of each node, as sets."""
        n = self._sums.lattice.n_nodes
        parents, before, layer = [0] * n, 0, 0
        while before != (1 << n) - 1:
            added = self._draw_layer(before, layer)
            for x in range(n):
                if added >> x & 1:
                    parents[x] = self._draw_parents(x, before, layer)
            before, layer = before | added, added
        return parents

    def _within(self, x: int, before: int) -> float:
        child = self._children[x]
        return float(self._sums.within[child.start + child.place(before)])

    def _draw_layer(self, before: int, layer: int) -> int:
        """Draw who comes next."""
        known = self._layers.get((before, layer))
        if known is None:
            known = self._weigh_layers(before, layer)
            self._layers[before, layer] = known
            if len(self._layers) > 1 << 12:
                self._layers.clear()
        sets, cumulated = known
        at = np.searchsorted(cumulated, self._rng.random() * cumulated[-1], side="right")
        return int(sets[min(at, len(sets) - 1)])

    def _weigh_layers(self, before: int, layer: int) -> tuple[Ints, Floats]:
        """All sets that may come next, with their cumulated weights."""
        n, rest = self._sums.lattice.n_nodes, self._sums.rest
        nodes = [x for x in range(n) if not before >> x & 1]
        sets, logs, shares = np.zeros(1, dtype=np.int64), np.zeros(1), np.ones(1)
        for x in nodes:
            own = self._within(x, before)
            more = np.where(sets & self._pins[x] == 0, logs + own, -np.inf)
            shares = np.concatenate([shares, shares * self._share_of_layer(x, before, layer, own)])
            sets, logs = np.concatenate([sets, sets | 1 << x]), np.concatenate([logs, more])
        with np.errstate(invalid="ignore"):
            weights = np.exp(logs + rest[before | sets] - rest[before])
        weights[~np.isfinite(weights)] = 0.0
        for i in range(len(nodes)):  # from "at least these" to "exactly these"
            pairs = weights.reshape(-1, 2, 1 << i)
            pairs[:, 0] -= pairs[:, 1]
        weights = np.maximum(weights * shares, 0.0)
        weights[0] = 0.0
        kept = np.flatnonzero(weights)
        return sets[kept], np.cumsum(weights[kept])

    def _share_of_layer(self, x: int, before: int, layer: int, own: float) -> float:
        """Share of a node's families among those before that have one of the last layer."""
        if not layer or self._pins[x] & layer or own == -math.inf:
            return 1.0
        return -math.expm1(min(self._within(x, before & ~layer) - own, 0.0))

    def _draw_parents(self, x: int, before: int, layer: int) -> int:
        """Draw the parents of a node among those before, one of them in the last layer."""
        child = self._children[x]
        places, scores = self._by_score(child)
        fits, newest, pinned = child.place(before), child.place(layer), child.pinned
        own = self._within(x, before)
        left = self._rng.random() * self._share_of_layer(x, before, layer, own)
        found = -1
        for first in range(0, len(places), _CHUNK):
            some = places[first : first + _CHUNK]
            good = (some & ~fits == 0) & (some & pinned == fits & pinned)
            if layer:
                good &= some & newest != 0
            which = np.flatnonzero(good)
            if len(which):
                cumulated = np.cumsum(np.exp(scores[first + which] - own))
                at = int(np.searchsorted(cumulated, left, side="right"))
                found = int(some[which[min(at, len(which) - 1)]])
                if at < len(which):
                    break
                left -= float(cumulated[-1])
        return child.nodes(found)

    def _by_score(self, child: Child) -> tuple[Ints, Floats]:
        """Families of a child, the most probable first."""
        if child.node not in self._sorted:
            scores = self._sums.single[child.start : child.start + child.size]
            order = np.argsort(-scores, kind="stable")
            order = order[: int(np.isfinite(scores).sum())]
            self._sorted[child.node] = order, scores[order]
        return self._sorted[child.node]
