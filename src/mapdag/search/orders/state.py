"""An order of the nodes under search: its arrays, the graph it stands for, and ways to change it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mapdag.graphs import DAG
from mapdag.graphs.masks import members
from mapdag.search.cache.status import CONVERGED, CROWDED
from mapdag.search.orders.sweep import Order, new_order, sweep
from mapdag.search.orders.trees import larger_trees, new_trees, with_address
from mapdag.search.warmup import wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.cache.store import Problem, Store
    from mapdag.search.orders.trees import Trees

_BUDGET = 64  # nodes looked at before limits and Ctrl-C are looked at


class OrderState:
    """An order under search, with the best parents of each node among its predecessors.

    Parameters
    ----------
    objective : Objective
        Only the part of its prior that is a sum over arcs is looked at.
    cache : FamilyCache
    """

    def __init__(self, objective: Objective, cache: FamilyCache) -> None:
        self.names = cache.data.names
        n = len(self.names)
        self._desk = cache.desk()
        self._problem = cache.problem(objective)
        trees = new_trees(n, cache.data.n_rows, 16 * n + 64, 64 * n + 256)
        self._trees = with_address(trees, self._problem, cache.store)
        wait_for("orders", "sweep")
        rules = self._problem.rules
        self._order = new_order(list(range(n)))
        self._masks, self._masked = [0] * n, np.full(n, -1, dtype=np.int64)  # of which tree nodes
        self._pairs = np.argwhere(rules.fixed).tolist()
        self.either_way = bool((rules.fixed & rules.fixed.T).any())  # whether pairs must be adjacent, no matter how
        must = rules.fixed & ~rules.allowed.T
        self._before = [frozenset(np.flatnonzero(must[:, x]).tolist()) for x in range(n)]

    @property
    def score(self) -> float:
        """Likelihood and log-odds of the graph; the order must be at rest."""
        return math.fsum(self.scores())

    @property
    def work(self) -> float:
        """Estimated nanoseconds of counting that the sets of parents tried so far are worth, cached or not."""
        return float(self._trees.work[0])

    def log_odds(self, dag: DAG) -> float:
        """Log-odds of the arcs of a graph."""
        odds = self._problem.odds
        return math.fsum(odds[p, child] for child in range(len(self.names)) for p in dag.parent_indices(child))

    def load_dag(self, dag: DAG) -> None:
        """Go on from an order of a graph; every node is looked at."""
        position = {name: i for i, name in enumerate(self.names)}
        self.load([position[name] for name in dag.topological_order()])
        self.dirty_all()

    def dirty_all(self) -> None:
        """Have every node looked at again."""
        self._order.dirty[:] = True

    def load(self, sequence: Sequence[int]) -> None:
        """Go on from another order; the nodes that get other parents become dirty."""
        self._order.sequence[:] = sequence
        self._order.position[:] = -1
        self._order.cursor[:] = 0

    def shuffle(self, rng: np.random.Generator) -> None:
        """Put all nodes into a random order, required arcs permitting; every node is looked at."""
        waiting, left = rng.permutation(len(self.names)).tolist(), set(range(len(self.names)))
        sequence: list[int] = []
        while waiting:
            ready = [x for x in waiting if not left.intersection(self._before[x])]
            sequence += ready
            left.difference_update(ready)
            waiting = [x for x in waiting if x in left]
        self.load(sequence)
        self.dirty_all()

    def tuck(self, rng: np.random.Generator) -> None:
        """Turn an arc into a random node round: its end goes before its start with its ancestors; or the other way."""
        masks, sequence = self.masks(), self._order.sequence.tolist()
        ends = [x for x, mask in enumerate(masks) if mask]
        if not ends:
            return
        end = ends[int(rng.integers(len(ends)))]
        parents = members(masks[end])
        start = parents[int(rng.integers(len(parents)))]
        if start in self._before[end]:
            return
        first, last = sequence.index(start), sequence.index(end)
        between = sequence[first : last + 1]
        moved = _ancestors(end, between, masks) if rng.integers(2) else _descendants(start, between, masks)
        if start in moved:
            between = [x for x in between if x not in moved or x == end] + [x for x in between if x in moved]
        else:
            between = [x for x in between if x in moved] + [x for x in between if x not in moved]
        if self._obeys(between):
            self.load(sequence[:first] + between + sequence[last + 1 :])

    def _obeys(self, sequence: Sequence[int]) -> bool:
        """Whether no node comes before one that must be its parent."""
        later = set(sequence)
        for x in sequence:
            later.remove(x)
            if later.intersection(self._before[x]):
                return False
        return True

    def is_legal(self, masks: Sequence[int]) -> bool:
        """Whether all pairs are adjacent that must be (a limit on parents may have kept one apart)."""
        return all(masks[j] >> i & 1 or masks[i] >> j & 1 for i, j in self._pairs)

    def keep(self) -> Order:
        """Return the order and the parents, to be brought back later."""
        return Order(*(part.copy() for part in self._order))

    def restore(self, kept: Order) -> None:
        """Bring back what `keep` returned."""
        for part, old in zip(self._order, kept, strict=True):
            part[:] = old

    def arguments(self) -> tuple[Order, int, Problem, Store, Trees]:
        """Return what the compiled search takes."""
        return self._order, _BUDGET, self._problem, self._desk.store, self._trees

    def step(self) -> bool:
        """Move some dirty nodes to their best positions; tells whether none is left."""
        with self._desk.open():
            status = sweep(*self.arguments())
        if status == CROWDED:
            self._trees = larger_trees(self._trees, 2 * len(self._trees.own), 2 * len(self._trees.value))
        else:
            self._desk.help(status)
        return bool(status == CONVERGED)

    def scores(self) -> list[float]:
        """Likelihood and log-odds of each family."""
        found: list[float] = self._trees.best[self._order.nodes].tolist()
        return found

    def masks(self) -> list[int]:
        """Parents of each node, as bit masks."""
        now = self._order.nodes
        for x in np.flatnonzero(now != self._masked).tolist():
            self._masks[x] = int.from_bytes(self._trees.kept[now[x]].tobytes(), "little")
        self._masked[:] = now
        return list(self._masks)

    def dag_of(self, masks: Sequence[int]) -> DAG:
        """Return a graph as a value."""
        return DAG.from_parent_masks(self.names, masks, check=False)


def _ancestors(end: int, between: Sequence[int], masks: Sequence[int]) -> set[int]:
    """Return a node and its ancestors among those before it, but for the first."""
    found, wanted = {end}, masks[end]
    for x in between[-2:0:-1]:
        if wanted >> x & 1:
            found.add(x)
            wanted |= masks[x]
    return found


def _descendants(start: int, between: Sequence[int], masks: Sequence[int]) -> set[int]:
    """Return a node and its descendants among those after it, but for the last."""
    found, known = {start}, 1 << start
    for x in between[1:-1]:
        if masks[x] & known:
            found.add(x)
            known |= 1 << x
    return found
