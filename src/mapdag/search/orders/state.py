"""An order of the nodes under search: its arrays, and the way from Python to the compiled search."""

from __future__ import annotations

import math
from collections import deque
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.graphs.acyclicity import topological_order
from mapdag.graphs.masks import transpose
from mapdag.search.cache import Ask
from mapdag.search.cache.status import ASK, CONVERGED, CROWDED, PAUSED
from mapdag.search.cache.store import HALT
from mapdag.search.orders.explore import collect, explore, new_start
from mapdag.search.orders.sample import rows_of
from mapdag.search.orders.seeds import new_seeds
from mapdag.search.orders.trees import DONE, PAUSE, larger_trees, new_trees, turn_over, with_address
from mapdag.search.warmup import wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.kernels import Bools
    from mapdag.search.cache import FamilyCache
    from mapdag.search.cache.store import Problem, Store
    from mapdag.search.orders.budget import Budget
    from mapdag.search.orders.graph import Graph
    from mapdag.search.orders.lists import Families
from mapdag.search.orders.trees import Trees

_TREE_NODES = 32  # for each node of the network, for a start
_MOST_NODES = 4_000_000  # of trees that are kept for other explorations
_PATIENCE = 1e8  # estimated nanoseconds of counting after which limits and Ctrl-C are looked at


class Basis:
    """What all explorations of one search have in common.

    Parameters
    ----------
    objective : Objective
        Only the part of its prior that is a sum over arcs is looked at.
    cache : FamilyCache
    candidates : bool array (nodes, nodes), optional
        ``[i, j]``: whether i is looked at as a parent of j, where that is allowed; all are unless given.
    budget : Budget, optional
        Of the work that looking at pairs of parents is counted in, and bounded by.
    """

    def __init__(
        self, objective: Objective, cache: FamilyCache, candidates: Bools | None = None, *, budget: Budget | None = None
    ) -> None:
        self.objective = objective
        self.cache = cache
        seeds = new_seeds(cache.data.n_columns, rows_of(cache.data))
        self._n_paired = seeds.n_paired if budget is None else budget.pairs(cache.data, seeds.n_paired)
        self._candidates = candidates
        self._spare: deque[Trees] = deque()  # of explorations that are done
        rules = cache.rules(objective)
        n = cache.data.n_columns
        must = rules.fixed & ~rules.allowed.T
        padded = np.zeros((n, (n + 63) // 64 * 64), dtype=np.bool_)
        padded[:, :n] = must.T
        self.first = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
        late = np.flatnonzero(must.any(axis=0)).tolist()
        self.before = {x: frozenset(np.flatnonzero(must[:, x]).tolist()) for x in late}
        wait_for("orders", "explore")

    def problem(self, *, shares: bool) -> Problem:
        """Return what compiled code takes; `shares` where threads help with one exploration."""
        problem = self.cache.problem(self.objective, shares=shares)
        if self._candidates is None:
            return problem
        rules = problem.rules
        allowed = np.ascontiguousarray(rules.allowed & (self._candidates | rules.fixed | rules.fixed.T))
        return problem._replace(rules=rules._replace(allowed=allowed, open=allowed.sum(axis=0) == len(allowed) - 1))

    def trees(self, problem: Problem, store: Store, *, fresh: bool = False) -> Trees:
        """Return trees for one exploration, with what others have found in them unless they shall be `fresh`."""
        with suppress(IndexError):
            if not fresh:
                trees = self._spare.pop()
                turn_over(trees)
                return trees
        n = self.cache.data.n_columns
        trees = new_trees(n, rows_of(self.cache.data), _TREE_NODES * n + 64, 4 * _TREE_NODES * n + 256)
        seeds = trees.seeds  # those who lead triples are among those who lead pairs
        seeds = seeds._replace(n_paired=self._n_paired, n_leading=min(seeds.n_leading, self._n_paired))
        trees = trees._replace(seeds=seeds)
        return with_address(trees, problem, store)

    def take_back(self, trees: Trees) -> None:
        """Keep trees that nobody looks at any more for another exploration."""
        if len(trees.own) <= _MOST_NODES:
            self._spare.append(trees)

    def state(
        self, sequence: Sequence[int], *, alone: bool = False, thorough: bool = False, most: float = math.inf
    ) -> OrderState:
        """Begin an exploration, in this thread.

        Parameters
        ----------
        sequence : sequence of int
            The order to begin with.
        alone : bool
            Whether the threads of the cache have nothing else to do.
        thorough : bool
            Whether it shall also tell the families that all explorations begin with.
        most : float
            Work after which it ends where it is.
        """
        return OrderState(self, sequence, alone=alone, thorough=thorough, most=most)

    def shuffled(self, rng: np.random.Generator) -> list[int]:
        """Return a random order, required arcs permitting."""
        waiting = rng.permutation(self.cache.data.n_columns).tolist()
        sequence: list[int] = []
        left = set(waiting)
        while waiting:
            ready = [x for x in waiting if not left.intersection(self.before.get(x, ()))]
            sequence += ready
            left.difference_update(ready)
            waiting = [x for x in waiting if x in left]
        return sequence


def order_of(masks: Sequence[int]) -> list[int]:
    """Return an order of the nodes of a graph, given as the parents of each."""
    return topological_order(masks, transpose(masks))


class OrderState:
    """An order under search, with the best parents of each node among its predecessors.

    It shares the scores of families with others, and nothing else: what it finds depends on where it starts.

    Attributes
    ----------
    families : Families or None
        What it has met, when all is done; nothing where it was cut short before all nodes had parents.
    is_cut : bool
        Whether it ended before it was done, with the most work that it may do.
    """

    def __init__(self, basis: Basis, sequence: Sequence[int], *, alone: bool, thorough: bool, most: float) -> None:
        self._basis = basis
        self._desk = basis.cache.desk()
        self._helped = basis.cache if alone else None
        self._thorough = thorough
        self._problem = basis.problem(shares=alone)
        # In trees that others have grown, it would come further with the same work.
        self._trees = basis.trees(self._problem, self._desk.store, fresh=most < math.inf)
        self._most = most
        self.is_cut = False
        self._start = new_start(sequence)
        self._done = 0.0  # estimated nanoseconds of counting, when all is done
        self.families: Families | None = None

    @property
    def graph(self) -> Graph:
        """The graph that it has come to, when all is done; not to be changed."""
        return self._start.now

    @property
    def work(self) -> float:
        """Estimated nanoseconds of counting that the sets of parents tried so far are worth, cached or not."""
        return self._done or float(self._trees.work[DONE])

    def arguments(self) -> tuple[Any, ...]:
        """Return what the compiled search takes."""
        return self._start, self._problem, self._desk.store, self._trees

    def step(self) -> bool:
        """Go on for a while; tells whether all is done. What is asked for is fetched."""
        asks = self.advance()
        if isinstance(asks, bool):
            return asks
        self._basis.cache.fetch(asks)
        return False

    def advance(self) -> bool | list[Ask]:
        """Go on for a while; tells whether all is done, or what must be fetched first."""
        if self._helped is not None:
            self._helped.staff()
        self._trees.work[PAUSE] = min(self._trees.work[DONE] + _PATIENCE, self._most)
        before = self._start.order.cursor.tolist()
        with self._desk.open() as store:
            status = explore(*self.arguments())
            asked_to_wait = bool(store.used[HALT])
        if self._helped is not None and status == CONVERGED:
            self._helped.dismiss()
        if status == CONVERGED:
            self._done = self.work
            self.families = collect(self._start.now, self._trees, self._thorough)
            self._basis.take_back(self._trees)
        elif status == CROWDED:
            self._trees = larger_trees(self._trees, 3 * len(self._trees.own), 3 * len(self._trees.value))
        elif status == ASK:
            return self._asks()
        elif status == PAUSED and self.work > self._most and not asked_to_wait:
            # A pause may also have come from moves or from other threads: then it goes on to where work is asked for.
            return self._start.order.cursor.tolist() == before and self._cut()
        else:
            self._desk.help(status)
        return bool(status == CONVERGED)

    def _cut(self) -> bool:
        """End with the graph of the order as it is now, if all nodes have parents."""
        order, trees, now = self._start.order, self._trees, self._start.now
        self._done, self.is_cut = self.work, True
        if (order.position >= 0).all():
            now.parents[:], now.scores[:] = trees.kept[order.nodes], trees.best[order.nodes]
            self.families = collect(now, trees, self._thorough)
        return True

    def _asks(self) -> list[Ask]:
        """Return what is asked for; while seeds are looked for, for all pairs or triples of the child at once."""
        ask = self._desk.ask()
        trees = self._trees
        if trees.planted[ask.child] < 0 or trees.roots[ask.child] >= 0:
            return [ask]
        allowed, nodes = self._problem.rules.allowed[:, ask.child], np.arange(len(trees.roots))
        paired, tripled = trees.seeds.paired, trees.seeds.tripled
        if len(ask.parents) == 1:
            return [
                Ask(ask.child, (a,), allowed & (nodes != a) & (~paired | (nodes > a)))
                for a in np.flatnonzero(paired).tolist()
            ]
        if len(ask.parents) == 2:
            return [
                Ask(ask.child, (a, b), allowed & (~tripled | (nodes > b)))
                for a, b in combinations(np.flatnonzero(tripled).tolist(), 2)
            ]
        return [ask]
