"""Search over orders of the nodes: the default, for quality.

Hill climbing gives a first order. Then each node in turn is moved to its best position, its parents and those of the
nodes it passes being chosen anew among their predecessors (`sweep`). Where nothing gains, arcs are turned round at
random and the search goes on, keeping what is not worse. The same is done from random orders, and what they do better
in one place or another is taken over (`recombination`). Last, single arcs are tried once more.
With few nodes all of that is not needed: there the best of all graphs is found as fast.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING

from mapdag.checks import check_number
from mapdag.graphs.acyclicity import topological_order
from mapdag.graphs.masks import transpose
from mapdag.search.climbing.moves import TOLERANCE
from mapdag.search.climbing.walk import Walk
from mapdag.search.exact.search import search_exactly
from mapdag.search.orders.recombination import recombine
from mapdag.search.orders.state import OrderState

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result
    from mapdag.search.orders.recombination import Graph

_STARTS = 12  # orders to start from, and one more for every so many nodes, unless the work allows fewer
_NODES_PER_START = 30
_FRUITLESS = 4  # starts in a row without a gain after which the search ends, and one more for so many nodes
_NODES_PER_FRUITLESS = 80
# How much counting the search may take, in passes over all pairs of nodes (hill climbing takes two or three).
_PASSES = 3000.0
_PASSES_PER_NODE = 10.0
_FEW = 11  # nodes for which all graphs are gone through
_EXACT = 1e8  # nanoseconds that this may take at least
_EXACT_ROW = 3.0  # nanoseconds that it takes for each row and set of nodes, more or less


def search_orders(objective: Objective, cache: FamilyCache, options: Options, *, effort: float = 1.0) -> Result:
    """Climb, search over orders, and climb again.

    Parameters
    ----------
    objective, cache, options
        What to maximise, on which data, under which constraints and limits.
    effort : float
        How much to do, as a multiple of what is usual; 0: from one order, without turning arcs round at random. With
        few nodes, any but a small one finds the best of all graphs.
    """
    check_number("effort", effort, least=0)
    walk = Walk(objective, cache, options)
    with walk.watch:
        walk.begin()
        walk.climb()
        if len(walk.nodes) > 1:
            _Search(walk, effort).run()
    return walk.result()


class _Search:
    """The steps of `search_orders` after the first climb."""

    def __init__(self, walk: Walk, effort: float) -> None:
        self._walk = walk
        self._orders = OrderState(walk.objective, walk.cache)
        prior = walk.objective.prior
        self._arcwise = prior.is_arcwise
        # What the score has besides the likelihood and the log-odds of the arcs.
        self._rest = prior.log_prior(walk.start) - self._orders.log_odds(walk.start)
        n = len(walk.nodes)
        self._rounds = round(effort * (n + 50))
        self._patience = _FRUITLESS + n // _NODES_PER_FRUITLESS
        self._starts = round(effort * (_STARTS + n / _NODES_PER_START))
        self._most_work = effort * (_PASSES + _PASSES_PER_NODE * n) * n * walk.cache.estimate()
        self._most_exact = max(self._most_work, effort * _EXACT)

    def run(self) -> None:
        """Search from several orders, then polish the best graph; or, with few nodes, find the best of all."""
        walk, orders = self._walk, self._orders
        n, rows = len(walk.nodes), walk.cache.data.n_rows
        if self._arcwise and n <= _FEW and _EXACT_ROW * rows * 2**n <= self._most_exact:
            self._take_best()
            return
        orders.load_dag(walk.best())
        best = self._explore(self._rounds)
        fruitless = 0
        met: list[Graph] = []
        mix = partial(recombine, finely=not orders.either_way)
        for start in range(1, self._starts):
            walk.tell("searching", start, self._starts)
            if orders.work > self._most_work or fruitless == self._patience:
                break
            before = math.fsum(best[1])
            orders.shuffle(walk.rng)
            met.append(self._explore(self._rounds))
            best = mix(best, met[-1])
            self._offer(best)
            self._return_to(best)
            best = mix(best, self._explore(self._rounds // 4))
            fruitless = 0 if math.fsum(best[1]) - before > TOLERANCE else fruitless + 1
        self._polish(reduce(mix, met, best))

    def _take_best(self) -> None:
        """Find the best of all graphs; kept if it is better by more than a tie."""
        walk = self._walk
        # Ctrl-C is caught where the graph so far is known.
        options = replace(walk.options, catch_interrupt=False, progress=None, time_limit=None)
        best = search_exactly(walk.objective, walk.cache, options)
        if best.converged and best.score - walk.best_score > TOLERANCE:
            masks = [sum(1 << p for p in best.dag.parent_indices(i)) for i in range(len(best.dag.nodes))]
            walk.adopt(masks, best.score)
        walk.tell("searching", 1, 1)
        walk.watch.check()

    def _explore(self, rounds: int) -> Graph:
        """Come to rest, then turn arcs round at random, keeping what is not worse; the best graph met."""
        walk, orders = self._walk, self._orders
        self._sweep()
        best, score = self._graph(), orders.score
        self._offer(best)
        for _ in range(rounds):
            if orders.work > self._most_work:
                break
            kept = orders.keep()
            orders.tuck(walk.rng)
            self._sweep()
            best = recombine(best, self._graph())
            self._offer(best)
            if orders.score < score - TOLERANCE:
                orders.restore(kept)
            score = max(score, orders.score)
        return best

    def _sweep(self) -> None:
        while not self._orders.step():
            self._walk.watch.check()

    def _graph(self) -> Graph:
        return self._orders.masks(), self._orders.scores()

    def _offer(self, graph: Graph) -> None:
        """Keep a graph if it is the best so far."""
        score = math.fsum(graph[1]) + self._rest
        if self._arcwise and score - self._walk.best_score > TOLERANCE and self._orders.is_legal(graph[0]):
            self._walk.adopt(graph[0], score)

    def _polish(self, best: Graph) -> None:
        """Climb from the best graph, search from where that leads, and so on until nothing gains."""
        walk, orders = self._walk, self._orders
        while True:
            self._offer(best)
            before = walk.best_score
            walk.jump(walk.best() if self._arcwise else orders.dag_of(best[0]), note=not self._arcwise)
            walk.climb()
            if not walk.best_score - before > TOLERANCE or not self._arcwise:
                return
            orders.load_dag(walk.best())
            self._sweep()
            best = self._graph()

    def _return_to(self, graph: Graph) -> None:
        self._orders.load(topological_order(graph[0], transpose(graph[0])))
        self._sweep()
