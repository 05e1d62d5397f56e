"""Search over orders of the nodes: the default, for quality.

Hill climbing gives a first order. From it and from random ones, each node in turn is moved to its best position, its
parents and those of the nodes it passes being chosen anew among their predecessors (`explore`). All families met on the
way are listed, and the best graph is put together from them (`assembly`); from there it is explored again, which finds
more families, and so on. Last, single arcs are tried once more. With many rows, most of that is done on a share of them
(`sample`). With few nodes all of that is not needed: there the best of all graphs is found as fast.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data import ScannedDataset
from mapdag.errors import CapacityError
from mapdag.graphs import DAG
from mapdag.graphs.masks import mask_of, members
from mapdag.search.climbing.moves import tie
from mapdag.search.climbing.walk import Walk
from mapdag.search.exact.lattice import nanoseconds_for_all
from mapdag.search.exact.search import search_exactly
from mapdag.search.orders.assembly import new_assembly, put_together
from mapdag.search.orders.budget import Budget, check_effort
from mapdag.search.orders.graph import graph_of
from mapdag.search.orders.lists import families_of, make_lists
from mapdag.search.orders.sample import draw, rows_of
from mapdag.search.orders.state import Basis, order_of
from mapdag.search.orders.team import Team
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.kernels import Bools
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result
    from mapdag.search.orders.budget import Effort
    from mapdag.search.orders.graph import Graph
    from mapdag.search.orders.lists import Families
    from mapdag.search.orders.state import OrderState
    from mapdag.search.orders.team import Errand

_STARTS, _NODES_PER_START = 6, 40  # orders to start from, and one more for so many nodes
_ASSEMBLIES = 8  # random orders from which graphs are put together at a time
_TOPS = 3  # of which so many, the best ones, are explored
_FRESH = 2  # and so many random orders
_FRUITLESS = 2  # times in a row that this gains nothing, after which the search ends
_GENERATIONS = 30  # times that it is done, at most
# How much counting the search may take, in passes over all pairs of nodes (hill climbing takes two or three).
_PASSES = 24_000.0
_PASSES_PER_NODE = 80.0
_MANY = 300_000  # rows from which on most of the search is done on a share of them
_SHARE = 1 / 16
_FEWEST, _MOST = 100_000, 2_000_000  # rows of such a sample
_STARTS_ON_ALL = 8  # graphs of the sample from which the search goes on, on all rows
_FIRST_SHARE = 0.6  # of the work that the search may do as a whole, for orders that do not come from graphs
_ORDERS = 0  # explorations from orders; higher generations are those from graphs
_EXACT = 2e9  # nanoseconds of one core that going through all graphs may take
_FEW = 11  # nodes for which it may take longer:
_EXACT_SHARE = 1 / 8  # of the work that the search may take
_EXACT_ROW = 3.0  # nanoseconds that it takes for each row and set of so few nodes, more or less


def search_orders(objective: Objective, cache: FamilyCache, options: Options, *, effort: Effort = 1.0) -> Result:
    """Climb, search over orders, and climb again.

    Parameters
    ----------
    objective, cache, options
        What to maximise, on which data, under which constraints and limits.
    effort : float or "full"
        How much to do, as a multiple of what is usual; 0: from one order only. With few nodes, any but a small one
        finds the best of all graphs. With many, work is bounded as well: "full" does what is usual without that bound.
    """
    multiple, most = check_effort(effort)
    walk = Walk(objective, cache, options)
    budget = Budget(most)
    with walk.watch:
        walk.begin()
        walk.climb()
        if len(walk.nodes) > 1:
            _Search(walk, multiple, budget).run()
    return replace(walk.result(), left_out=budget.left_out)


class _Search:
    """The steps of `search_orders` after the first climb."""

    def __init__(self, walk: Walk, effort: float, budget: Budget) -> None:
        self._walk = walk
        self._effort = effort
        self.budget = budget
        prior = walk.objective.prior
        self._arcwise = prior.is_arcwise
        # What the score has besides the likelihood and the log-odds of the arcs.
        self._odds = np.broadcast_to(walk.problem.odds, walk.rules.allowed.shape)
        arcs = math.fsum(
            self._odds[p, child] for child in range(len(walk.nodes)) for p in walk.start.parent_indices(child)
        )
        self._rest = prior.log_prior(walk.start) - arcs
        fixed = walk.rules.fixed
        self._pairs = np.argwhere(fixed).tolist()
        # Pairs may have to be adjacent, no matter how: then what a node may have for parents depends on the order.
        self._assembles = effort > 0 and not (fixed & fixed.T).any()
        self._everybody = self._basis = Basis(walk.objective, walk.cache, budget=budget)
        n = len(walk.nodes)
        self._starts = max(round(effort * (_STARTS + n / _NODES_PER_START)), 1)
        self._assemblies, self._fresh = (max(round(effort * each), 1) for each in (_ASSEMBLIES, _FRESH))
        self._most_work = effort * (_PASSES + _PASSES_PER_NODE * n) * n * walk.cache.estimate(rows_of(walk.cache.data))
        self._orders: list[Sequence[int]] = []  # where to begin; then random orders
        self._best: Graph | None = None
        self._met: list[Families] = []
        self.graphs: list[Graph] = []  # from all orders

    def run(self) -> None:
        """Search from several orders, then polish the best graph; or, with few nodes, find the best of all."""
        walk = self._walk
        if self._arcwise and self._is_small() and self._take_best():
            return
        self._orders = [order_of(_masks_of(walk.best()))]
        if rows_of(walk.cache.data) > _MANY and self._starts > 1:
            self._search_sample()
        with Team(self._begin, walk.cache, walk.watch) as team:
            self._gather(team)
        self._polish()

    def _is_small(self) -> bool:
        """Whether all graphs can be gone through in so much time as the search may take: the same on any machine."""
        walk = self._walk
        n, rows = len(walk.nodes), rows_of(walk.cache.data)
        if n <= _FEW and _EXACT_ROW * rows * 2**n <= self._most_work * _EXACT_SHARE:
            return True
        return nanoseconds_for_all(walk.cache.data, walk.objective, walk.rules) <= self._effort * _EXACT

    def _search_sample(self) -> None:
        """Search on a share of the rows; on all of them, only go on from what that has brought."""
        walk = self._walk
        n = rows_of(walk.cache.data)
        sample = draw(walk.cache.data, min(max(n * _SHARE, _FEWEST), _MOST) / n, threads=walk.watch.threads)
        if sample is None:
            return
        walk.tell("searching", 0, self._starts)
        limit = walk.options.time_limit
        half = None if limit is None else max(limit - walk.watch.seconds, 1e-3) / 2  # the other half is for all rows
        general = replace(walk.options, time_limit=half, progress=None, max_iter=None)
        options = replace(general, catch_interrupt=False, engine=None)  # the sample is in memory
        other = Walk(walk.objective, options.make_cache(sample, [walk.objective]), options)
        search = _Search(other, self._effort, Budget(self.budget.most))
        try:
            with other.watch:
                other.begin()
                other.climb()
                search.run()
        except KeyboardInterrupt:  # what is known counts
            self._offer(self._scored([_masks_of(other.best())])[0])
            raise
        walk.watch.check()
        if search.budget.left_out:
            self.budget.leave_out(f"on a sample of rows, {search.budget.left_out}")
        graphs = [_masks_of(walk.best()), _masks_of(other.best()), *(each.masks() for each in search.graphs)]
        for graph in self._scored(graphs):
            self._met.append(families_of(graph))
            self._accept(graph)
        self._orders = list(map(order_of, graphs[:_STARTS_ON_ALL]))
        self._starts, self._fresh = len(self._orders), 0
        # On all rows only these are looked at as parents at first.
        self._basis = Basis(walk.objective, walk.cache, _company(graphs))

    def _scored(self, graphs: Sequence[Sequence[int]]) -> list[Graph]:
        """Score graphs that were found on other rows; thin families lose their parents, but for required ones."""
        families = [[(x, tuple(members(mask))) for x, mask in enumerate(masks)] for masks in graphs]
        scores = self._score([family for graph in families for family in graph])
        found = []
        for graph in families:
            kept = [parents if scores[x, parents] > -np.inf else self._required(x) for x, parents in graph]
            scores |= self._score([family for family in enumerate(kept) if family not in scores])
            found.append(graph_of(list(map(mask_of, kept)), [scores[family] for family in enumerate(kept)]))
        return found

    def _score(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> dict[tuple[int, tuple[int, ...]], float]:
        """Scores of families, with the log-odds of their arcs."""
        cache = self._walk.cache
        cache.score(families)
        row = cache.index(self._walk.objective)
        return {(x, each): cache.family(x, each)[row] + sum(self._odds[p, x] for p in each) for x, each in families}

    def _begin(self, errand: Errand) -> OrderState:
        """Set out from an order that is given, or from a random one."""
        generation, number = errand
        basis = self._basis if generation == _ORDERS else self._everybody
        if number < len(self._orders):
            sequence = self._orders[number]
        else:
            sequence = basis.shuffled(np.random.default_rng([self._walk.options.seed, *errand]))
        # Where nothing is known yet, even one exploration may be too much work.
        most = self.budget.left if errand == (_ORDERS, 0) and not self._met else math.inf
        return basis.state(sequence, alone=self._starts == 1, thorough=number == 0, most=most)

    def _gather(self, team: Team) -> None:
        """Explore orders, put graphs together from the families that are met, explore these, and so on."""
        generation = fruitless = 0
        work = self._explore(team, generation, self._starts)
        while self._assembles and fruitless < _FRUITLESS and generation < _GENERATIONS and work <= self._most_work:
            if not self.budget.lasts():
                self._leave_out_assemblies(generation)
                return
            generation += 1
            before = self._score_so_far
            graphs = self._assemble(generation)
            self._orders = [order_of(each.masks()) for each in graphs[:_TOPS]]
            work += self._explore(team, generation, len(self._orders) + self._fresh)
            gained = self._score_so_far - before > tie(before)
            fruitless = 0 if gained else fruitless + 1

    @property
    def _score_so_far(self) -> float:
        return -math.inf if self._best is None else self._best.score()

    def _explore(self, team: Team, generation: int, size: int) -> float:
        """Explore from so many orders; returns the work that took."""
        work = 0.0
        errands = [(generation, each) for each in range(size)]
        while errands and (self._best is None or work <= self._most_work):
            share = _FIRST_SHARE if generation == _ORDERS and self._assembles else 1.0
            if size > len(errands) and not self.budget.lasts(share):
                if generation == _ORDERS:
                    self.budget.leave_out(f"{size - len(errands)} of {plural(size, 'order')} explored")
                else:
                    self._leave_out_assemblies(generation)
                break
            done = len(self.graphs)
            self._walk.tell("searching", done, done + len(errands) + _FRUITLESS * (_TOPS + self._fresh))
            state = team.get(errands)
            errands.pop(0)
            work += state.work
            if state.is_cut:
                self.budget.cut()
                self.budget.leave_out("the first order not followed to its end")
            if state.families is None:
                break
            self.budget.explored(state.work, state.families, len(self._walk.nodes))
            self._met.append(state.families)
            self.graphs.append(state.graph)
            self._accept(state.graph)
        team.let_go()
        return work

    def _leave_out_assemblies(self, done: int) -> None:
        self.budget.leave_out(f"{done} of up to {_GENERATIONS} rounds of assembly")

    def _assemble(self, generation: int) -> list[Graph]:
        """Put graphs together from all families that were met, the best first, each once."""
        basis, walk = self._everybody, self._walk
        if generation == 1:
            self._met.append(self._smallest())
        lists = make_lists(self._met, basis.first)
        self._met = [lists.families()]
        assert self._best is not None
        seeds = [[walk.options.seed, generation, 0, each] for each in range(self._assemblies + 1)]
        starts = []
        for number, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            sequence = basis.shuffled(rng) if number else order_of(self._best.masks())
            starts.append(new_assembly(sequence, rng))
        graphs = put_together(lists, starts, len(walk.nodes), walk.watch)
        self.budget.assembled(lists, len(starts))
        for each in graphs:
            self._accept(each)
        different = {tuple(each.masks()): each for each in graphs}
        return sorted(different.values(), key=lambda each: -each.score())

    def _required(self, node: int) -> tuple[int, ...]:
        """Parents that a node must have."""
        return tuple(sorted(self._everybody.before.get(node, ())))

    def _smallest(self) -> Families:
        """Return the smallest families that are allowed: those of the arcs that must be there."""
        must = list(map(self._required, range(len(self._walk.nodes))))
        scores = self._score(list(enumerate(must)))
        graph = graph_of(list(map(mask_of, must)), [scores[family] for family in enumerate(must)])
        return families_of(graph)

    def _accept(self, graph: Graph) -> None:
        """Take a graph for the best one so far if it is."""
        score = graph.score()
        if self._best is None or score - self._score_so_far > tie(score):
            self._best = graph
        self._offer(graph)

    def _take_best(self) -> bool:
        """Find the best of all graphs, kept if it is better by more than a tie; tells whether there was memory."""
        walk = self._walk
        # Ctrl-C is caught where the graph so far is known.
        left = None if walk.options.time_limit is None else max(walk.watch.left, 1e-3)
        options = replace(walk.options, catch_interrupt=False, progress=None, time_limit=left)
        try:
            best = search_exactly(walk.objective, *self._counted_here(options))
        except CapacityError:
            return False
        if best.converged and best.score - walk.best_score > tie(best.score):
            walk.adopt(_masks_of(best.dag), best.score)
        walk.tell("searching", 1, 1)
        walk.watch.check()
        return True

    def _counted_here(self, options: Options) -> tuple[FamilyCache, Options]:
        """Return a cache, and options, with which this machine's cores count, unless there are too many rows to fetch.

        Other engines would be asked for every family.
        """
        cache = self._walk.cache
        if cache.counts_here or rows_of(cache.data) > _MANY:
            return cache, options
        here = replace(options, engine="cores", device="cpu")
        data = cache.data.to_dataset() if isinstance(cache.data, ScannedDataset) else cache.data
        return here.make_cache(data, [self._walk.objective]), here

    def _offer(self, graph: Graph) -> None:
        """Keep a graph if it is the best so far."""
        score = graph.score() + self._rest
        if self._arcwise and score - self._walk.best_score > tie(score) and self._is_legal(masks := graph.masks()):
            self._walk.adopt(masks, score)

    def _is_legal(self, masks: Sequence[int]) -> bool:
        """Whether all pairs are adjacent that must be (a limit on parents may have kept one apart)."""
        return all(masks[j] >> i & 1 or masks[i] >> j & 1 for i, j in self._pairs)

    def _polish(self) -> None:
        """Climb from the best graph, search from where that leads, and so on until nothing gains."""
        walk = self._walk
        if self._best is None:  # there was no work left for a single order
            return
        best = self._best
        while True:
            self._offer(best)
            before = walk.best_score
            dag = walk.best() if self._arcwise else DAG.from_parent_masks(walk.nodes, best.masks(), check=False)
            walk.jump(dag, note=not self._arcwise)
            walk.climb()
            if not walk.best_score - before > tie(before) or not self._arcwise or not self.budget.lasts():
                return
            state = self._everybody.state(order_of(_masks_of(walk.best())), alone=True)
            while not state.step():
                walk.watch.check()
            best = state.graph


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
