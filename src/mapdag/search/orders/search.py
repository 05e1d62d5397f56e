"""Search over orders of the nodes: the default, for quality.

Hill climbing gives a first order. Then each node in turn is moved to its best position, its parents and those of the
nodes it passes being chosen anew among their predecessors (`sweep`). Where nothing gains, arcs are turned round at
random and the search goes on, keeping what is not worse. The same is done from random orders, and what they do better
in one place or another is taken over (`recombination`). Last, single arcs are tried once more. With many rows, most of
that is done on a share of them (`sample`).
With few nodes all of that is not needed: there the best of all graphs is found as fast.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.checks import check_number
from mapdag.graphs import DAG
from mapdag.graphs.masks import mask_of, members
from mapdag.search.climbing.moves import tie
from mapdag.search.climbing.walk import Walk
from mapdag.search.exact.search import search_exactly
from mapdag.search.frame.watch import EarlyEnd
from mapdag.search.orders.recombination import graph_of, recombine
from mapdag.search.orders.sample import draw
from mapdag.search.orders.state import Basis
from mapdag.search.orders.team import Team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.kernels import Bools
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result
    from mapdag.search.orders.recombination import Graph
    from mapdag.search.orders.state import OrderState
    from mapdag.search.orders.team import Errand

_ROUNDS, _ROUNDS_PER_NODE = 120.0, 0.6  # arcs turned round from each order
_AGAIN = 8  # times that the search goes on from the best graph, when orders bring nothing new
_STARTS = 30  # orders to start from, and one more for every so many nodes, unless the work allows fewer
_NODES_PER_START = 10
_FRUITLESS = 5  # starts in a row without a gain after which the search ends, and one more for so many nodes
_NODES_PER_FRUITLESS = 40
# How much counting the search may take, in passes over all pairs of nodes (hill climbing takes two or three).
_PASSES = 24_000.0
_PASSES_PER_NODE = 80.0
_MANY = 300_000  # rows from which on most of the search is done on a share of them
_SHARE = 1 / 16
_FEWEST, _MOST = 100_000, 2_000_000  # rows of such a sample
_STARTS_ON_ALL, _AGAIN_ON_ALL, _ROUNDS_ON_ALL = 8, 1, 0.1  # what is done on all of them, then
_ORDERS = 0  # explorations from orders; higher generations are those from the best graph
_FEW = 11  # nodes for which all graphs are gone through
_EXACT = 1e8  # nanoseconds that this may take at least
_EXACT_SHARE = 1 / 8  # of the work that the search may take
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
    effort = check_number("effort", effort, least=0)
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
        self._effort = effort
        prior = walk.objective.prior
        self._arcwise = prior.is_arcwise
        # What the score has besides the likelihood and the log-odds of the arcs.
        odds = np.broadcast_to(walk.problem.odds, walk.rules.allowed.shape)
        arcs = math.fsum(odds[p, child] for child in range(len(walk.nodes)) for p in walk.start.parent_indices(child))
        self._rest = prior.log_prior(walk.start) - arcs
        fixed = walk.rules.fixed
        self._pairs = np.argwhere(fixed).tolist()
        self._finely = not (fixed & fixed.T).any()  # pairs may have to be adjacent, no matter how
        self._everybody = self._basis = Basis(walk.objective, walk.cache)
        n = len(walk.nodes)
        self._rounds = round(effort * (_ROUNDS + _ROUNDS_PER_NODE * n))
        self._patience = _FRUITLESS + n // _NODES_PER_FRUITLESS
        self._starts = max(round(effort * (_STARTS + n / _NODES_PER_START)), 1)
        self._again = _AGAIN if self._rounds else 0
        self._most_work = effort * (_PASSES + _PASSES_PER_NODE * n) * n * walk.cache.estimate()
        self._most_exact = max(self._most_work * _EXACT_SHARE, effort * _EXACT)
        self._graph: Sequence[int] = ()  # where to begin
        self._graphs: list[Sequence[int]] = []  # and where else, if not with random orders
        self.met: list[Graph] = []  # from all orders

    def run(self) -> None:
        """Search from several orders, then polish the best graph; or, with few nodes, find the best of all."""
        walk = self._walk
        n, rows = len(walk.nodes), walk.cache.data.n_rows
        if self._arcwise and n <= _FEW and _EXACT_ROW * rows * 2**n <= self._most_exact:
            self._take_best()
            return
        self._graph = _masks_of(walk.best())
        if rows > _MANY and walk.cache.data.weights is None and self._starts > 1:
            self._search_sample()
        with Team(self._begin, walk.cache, walk.watch) as team:
            try:
                best = self._gather(team)
            except BaseException:  # a limit was reached, or Ctrl-C: what is known counts
                self._stop(team)
                raise
        self._polish(best)

    def _search_sample(self) -> None:
        """Search on a share of the rows; on all of them, only go on from what that has brought."""
        walk = self._walk
        n = walk.cache.data.n_rows
        sample = draw(walk.cache.data, min(max(n * _SHARE, _FEWEST), _MOST) / n, threads=walk.watch.threads)
        if sample is None:
            return
        walk.tell("searching", 0, self._starts)
        limit = walk.options.time_limit
        half = None if limit is None else max(limit - walk.watch.seconds, 1e-3) / 2  # the other half is for all rows
        general = replace(walk.options, time_limit=half, progress=None, max_iter=None)
        options = replace(general, catch_interrupt=False, engine=None)  # the sample is in memory
        other = Walk(walk.objective, options.make_cache(sample, [walk.objective]), options)
        search = _Search(other, self._effort)
        try:
            with other.watch:
                other.begin()
                other.climb()
                search.run()
        except KeyboardInterrupt:  # what is known counts
            self._offer(self._scored([_masks_of(other.best())])[0])
            raise
        walk.watch.check()
        graphs = [self._graph, *(each.masks() for each in search.met), _masks_of(other.best())]
        best, *others = self._scored(graphs)
        for each in others:
            self._improve(best, each)
        self._graph = best.masks()
        self._graphs = [self._graph, *graphs[1:_STARTS_ON_ALL]]
        self._starts, self._again, self._rounds = len(self._graphs), _AGAIN_ON_ALL, round(self._rounds * _ROUNDS_ON_ALL)
        # On all rows only these are looked at as parents at first.
        self._basis = Basis(walk.objective, walk.cache, _company(graphs))

    def _scored(self, graphs: Sequence[Sequence[int]]) -> list[Graph]:
        """Score graphs that were found on other rows; families that are thinner than allowed lose their parents."""
        walk = self._walk
        families = [[(x, tuple(members(mask))) for x, mask in enumerate(masks)] for masks in graphs]
        walk.cache.score(family for graph in families for family in graph)
        odds = np.broadcast_to(walk.problem.odds, walk.rules.allowed.shape)
        row = walk.cache.index(walk.objective)
        found = []
        for graph in families:
            kept = [parents if walk.cache.family(x, parents)[row] > -np.inf else () for x, parents in graph]
            scores = [
                walk.cache.family(x, parents)[row] + sum(odds[p, x] for p in parents) for x, parents in enumerate(kept)
            ]
            found.append(graph_of([mask_of(parents) for parents in kept], scores))
        return found

    def _begin(self, errand: Errand) -> OrderState:
        """Set out from a random order, or go on from the best graph so far."""
        rng = np.random.default_rng([self._walk.options.seed, *errand])
        basis = self._basis if errand[0] == _ORDERS else self._everybody
        state = basis.state(alone=self._starts == 1 and not self._again)
        if errand[0] == _ORDERS and self._graphs:
            state.load_masks(self._graphs[errand[1]])
        elif errand[0] == _ORDERS and errand[1]:
            state.shuffle(rng)
        else:
            state.load_masks(self._graph)
        state.begin(rng, self._rounds, self._most_work)
        return state

    def _gather(self, team: Team) -> Graph:
        """Put the best graph together from those that are met from one order after the other, and from it again.

        Threads that would have nothing to do begin explorations that may not be needed.
        """
        threads = self._walk.watch.threads
        eager = threads if threads > self._patience else 0
        state = team.get([(_ORDERS, each) for each in range(min(max(self._patience + 1, eager), self._starts))])
        best, work, number, generation, gained = state.best.copy(), state.work, 1, _ORDERS, True
        self.met.append(state.best)
        self._offer(best)
        while gained:
            fruitless = 0
            while number < self._starts and fruitless < self._patience and work <= self._most_work:
                self._walk.tell("searching", number, self._starts)
                ahead = min(number + max(self._patience - fruitless, eager), self._starts)
                state = team.get([(_ORDERS, each) for each in range(number, ahead)])
                self.met.append(state.best)
                work, number = work + state.work, number + 1
                fruitless = 0 if self._improve(best, state.best) else fruitless + 1
            team.let_go()
            self._graph, generation, gained = best.masks(), generation + 1, False
            errands = [(generation, each) for each in range(self._again)]
            while errands and work <= self._most_work:
                state = team.get(errands)
                errands.pop(0)
                work += state.work
                gained = self._improve(best, state.best) or gained
            gained = gained and number < self._starts and work <= self._most_work
        for graph in self.met:
            recombine(best, graph, self._finely)
        return best

    def _improve(self, best: Graph, other: Graph) -> bool:
        """Improve the best graph with parts of another one; tells whether that gained something."""
        before = _score(best)
        recombine(best, other, self._finely)
        self._offer(best)
        return _score(best) - before > tie(before)

    def _finish(self, state: OrderState) -> None:
        while not state.step():
            self._walk.watch.check()

    def _stop(self, team: Team) -> None:
        """Keep the best of what was met so far, whatever the limits say."""
        team.stop()
        for state in team.under_way:
            if state.is_known:
                with suppress(EarlyEnd):
                    self._offer(state.best)

    def _take_best(self) -> None:
        """Find the best of all graphs; kept if it is better by more than a tie."""
        walk = self._walk
        # Ctrl-C is caught where the graph so far is known.
        options = replace(walk.options, catch_interrupt=False, progress=None, time_limit=None)
        best = search_exactly(walk.objective, walk.cache, options)
        if best.converged and best.score - walk.best_score > tie(best.score):
            walk.adopt(_masks_of(best.dag), best.score)
        walk.tell("searching", 1, 1)
        walk.watch.check()

    def _offer(self, graph: Graph) -> None:
        """Keep a graph if it is the best so far."""
        score = _score(graph) + self._rest
        if self._arcwise and score - self._walk.best_score > tie(score) and self._is_legal(masks := graph.masks()):
            self._walk.adopt(masks, score)

    def _is_legal(self, masks: Sequence[int]) -> bool:
        """Whether all pairs are adjacent that must be (a limit on parents may have kept one apart)."""
        return all(masks[j] >> i & 1 or masks[i] >> j & 1 for i, j in self._pairs)

    def _polish(self, best: Graph) -> None:
        """Climb from the best graph, search from where that leads, and so on until nothing gains."""
        walk = self._walk
        while True:
            self._offer(best)
            before = walk.best_score
            dag = walk.best() if self._arcwise else DAG.from_parent_masks(walk.nodes, best.masks(), check=False)
            walk.jump(dag, note=not self._arcwise)
            walk.climb()
            if not walk.best_score - before > tie(before) or not self._arcwise:
                return
            state = self._everybody.state(alone=True)
            state.load_masks(_masks_of(walk.best()))
            state.begin(np.random.default_rng(0), 0, 0.0)
            self._finish(state)
            best = state.best


def _masks_of(dag: DAG) -> list[int]:
    """Parents of each node of a graph, as bit masks."""
    return [sum(1 << p for p in dag.parent_indices(i)) for i in range(len(dag.nodes))]


def _company(graphs: Sequence[Sequence[int]]) -> Bools:
    """Nodes that are adjacent, or have a child in common, in any of some graphs."""
    n = len(graphs[0])
    found = np.zeros((n, n), dtype=np.bool_)
    for masks in graphs:
        for child, mask in enumerate(masks):
            family = [child, *members(mask)]
            found[np.ix_(family, family)] = True
    return found


def _score(graph: Graph) -> float:
    return math.fsum(graph.scores.tolist())
