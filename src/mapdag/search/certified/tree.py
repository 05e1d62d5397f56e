"""Branch and bound: the linear program with cuts, and where that is not enough, one arc after the other is decided."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mapdag.graphs.masks import members
from mapdag.search.certified.cuts import Separator
from mapdag.search.certified.relaxation import Relaxation
from mapdag.search.frame.certificate import TOLERANCE as PROVED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mapdag.search.certified.candidates import Families
    from mapdag.search.certified.clusters import Support
    from mapdag.search.certified.cuts import Cut
    from mapdag.search.frame.watch import Watch

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Decision = tuple[int, int, bool]  # start, end, whether the arc is there

TOLERANCE = PROVED / 2  # what a bound may exceed a score by: rounding errors of adding up have the other half
_WEIGHT = 1e-7  # of a family that counts
_ROWS = 60  # cuts that are added at a time
_FEW = 100  # clusters, below which few nodes are looked at closely
_LARGEST = 7  # nodes of these
_ROUNDS = 10  # rounds of cuts between two looks at what they have brought
_GAIN, _GAIN_LATER = 0.05, 0.15  # share of the gap that they must have closed to go on: at first, and in parts
_WORTH_SHRINKING = 0.85  # of the families left
_WORTH_FORGETTING = 0.25  # of the cuts
_TRIED = 8  # arcs that are tried before one is decided
_STEPS = 60  # of the solver for each
_RELIABLE = 3  # times that an arc was tried until its mean gains are believed


@dataclass(order=True)
class _Node:
    """A part of the search: the graphs that some decisions leave."""

    priority: float  # minus its bound
    number: int
    decisions: tuple[Decision, ...] = field(compare=False)
    arcs: Floats = field(compare=False)


class Tree:
    """Looks for the best graph, and bounds what is left to be looked at.

    Parameters
    ----------
    families : Families
        What graphs may be made of.
    parents : sequence of int
        A graph to begin with, as sets; empty if none is known.
    watch : Watch
    demands : sequence of Cut
        Inequalities that not every graph obeys, but those must that are looked for.
    known : sequence of Cut
        Inequalities that all graphs obey, to begin with.
    floor : float, optional
        Look for any graph above this score instead of the best one.
    constant : float
        What the scores that are told have besides those of the families.
    shortcut : callable, optional
        Finds the best graph otherwise, as sets; asked where cuts are not enough, before arcs are decided.

    Attributes
    ----------
    best : tuple of int
        The best graph so far.
    score : float
        Its score, without what does not depend on the graph; minus infinity if there is none.
    n_cuts, n_nodes : int
        Cuts that were found, parts that were looked at.
    """

    def __init__(
        self,
        families: Families,
        parents: Sequence[int],
        watch: Watch,
        *,
        demands: Sequence[Cut] = (),
        known: Sequence[Cut] = (),
        floor: float | None = None,
        constant: float = 0.0,
        shortcut: Callable[[], Sequence[int]] | None = None,
    ) -> None:
        self.families = families
        self._shortcut = shortcut
        self._constant = constant
        self.demands = tuple(demands)
        self._watch = watch
        self._floor = floor
        self.best: tuple[int, ...] = ()
        self.score = -math.inf
        self._relaxation = Relaxation(families)
        self._relaxation.add([*demands, *known])
        self._limit = self._relaxation.total  # of what is left, once families are gone that no better graph has
        self.n_cuts, self.n_nodes = 0, 0
        n = families.n_nodes
        self._separator = Separator(n, largest=min(_LARGEST, n), threads=watch.threads)
        self._gains, self._times = np.zeros((2, n, n)), np.zeros((2, n, n))
        self._open: list[_Node] = []
        self._number = 0
        if len(parents):
            self._keep(families.find(parents))

    def pool(self) -> list[Cut]:
        """Return the inequalities that all graphs obey and that are in use."""
        return [cut for cut in self._relaxation.cuts if cut not in self.demands]

    @property
    def target(self) -> float:
        """What a graph must exceed to be of interest."""
        return self.score if self._floor is None else self._floor

    @property
    def bound(self) -> float:
        """What no graph exceeds: those that are no better than what is known are not looked at."""
        return max(self._limit, self.target)

    def run(self) -> None:
        """Go on until the bound is that of the best graph, or a limit is reached."""
        try:
            root = self._bound((), math.inf, is_root=True)
            if root is not None and self._shortcut is not None:
                self.settle(self._shortcut())
            elif root is not None:
                heapq.heappush(self._open, root)
            while self._open:
                self._limit = min(self._limit, self._relaxation.total - self._open[0].priority)
                node = heapq.heappop(self._open)
                if self._is_done(-node.priority):
                    break
                try:
                    self._branch(node)
                except BaseException:
                    heapq.heappush(self._open, node)
                    raise
            self._limit = min(self._limit, self.target + TOLERANCE)
        finally:
            self._separator.close()

    def settle(self, best: Sequence[int]) -> None:
        """Take a graph, given as sets of parents, that is known to be the best one."""
        if len(best):
            self._keep(self.families.find(best))
        self._limit = self.score

    def _tell(self) -> None:
        """Tell how far it is, and stop where a limit is reached."""
        self._watch.check()
        n_arcs = sum(parents.bit_count() for parents in self.best)
        told = f"proving (gap {self.bound - self.score:.1f})" if self.best else "proving"
        score, bound = self.score + self._constant, self.bound + self._constant
        self._watch.tell(told, 0, 0, score=score, n_arcs=n_arcs, bound=bound)

    def _is_done(self, bound: float) -> bool:
        """Whether graphs with such a bound need not be looked at."""
        is_found = self._floor is not None and self.score > self._floor + TOLERANCE
        return is_found or self._relaxation.total + bound <= self.target + TOLERANCE

    def _allowed(self, decisions: Sequence[Decision]) -> Bools:
        from mapdag.search.certified.bounds import Decisions, allow

        families = self._relaxation.families
        arcs = np.array(decisions, dtype=np.int64).reshape(-1, 3)
        free = np.empty(len(families.owner), dtype=np.bool_)
        allow(Decisions(arcs[:, 0].copy(), arcs[:, 1].copy(), arcs[:, 2] != 0), families.owner, families.sets, free)
        return free

    def _bound(self, decisions: tuple[Decision, ...], known: float, *, is_root: bool = False) -> _Node | None:
        """Bound what decisions leave, adding cuts as long as that helps; None if nothing better can be there."""
        relaxation = self._relaxation
        relaxation.restrict(self._allowed(decisions))
        self.n_nodes += 1
        bound, before, rounds = known, known, 0
        while True:
            self._tell()
            relaxation.solve()
            bound = min(bound, relaxation.bound())
            if is_root:
                self._limit = min(self._limit, relaxation.total + bound)
            if self._is_done(bound):
                return None
            support, arcs = self._support()
            self._round(arcs)
            if self._is_done(bound):
                return None
            rounds += 1
            if rounds % _ROUNDS == 0:
                least = _GAIN if is_root else _GAIN_LATER
                if before - bound < least * (relaxation.total + bound - self.target):
                    break
                before = bound
            useful = bound - relaxation.margins >= self.target - relaxation.total
            is_worth = useful.sum() < _WORTH_SHRINKING * len(useful) or relaxation.idle > _WORTH_FORGETTING
            if is_root and rounds % _ROUNDS == 0 and is_worth:
                relaxation.shrink(useful | (relaxation.weights > _WEIGHT))
                continue
            if not is_root and not useful.all():
                relaxation.restrict(relaxation.free & useful)
            cuts: list[Cut] = [*self._separator.clusters(support, arcs)[:_ROWS]]
            if len(cuts) < _FEW:
                cuts += self._separator.facets(support, arcs)[:_ROWS]
            if not cuts:
                break
            relaxation.add(cuts)
            self.n_cuts += len(cuts)
        self._number += 1
        return _Node(-bound, self._number, decisions, arcs)

    def _support(self) -> tuple[Support, Floats]:
        from mapdag.search.certified.clusters import support_of, weigh_arcs

        families = self._relaxation.families
        support = support_of(self._relaxation.weights, _WEIGHT, families.owner, families.sets)
        arcs = np.zeros((families.n_nodes, families.n_nodes))
        weigh_arcs(support, arcs)
        return support, arcs

    def _round(self, arcs: Floats) -> None:
        """Make graphs of a fractional one: the best of an order that goes with it, and itself where it is whole."""
        from mapdag.search.certified.bounds import follow_arcs, improve_order

        order = follow_arcs(arcs)
        self._keep(improve_order(order, self.families))
        whole = np.flatnonzero(self._relaxation.weights > 1.0 - _WEIGHT)
        if self.demands and len(whole) == len(order):
            mine = self._relaxation.families
            self._keep(self.families.find([mine.parents(each) for each in whole.tolist()]))

    def _keep(self, graph: Ints) -> None:
        """Keep a graph, given by its families, if it is the best so far and obeys all demands."""
        if (graph < 0).any():
            return
        score = math.fsum(self.families.scores[graph])
        if score > self.score + TOLERANCE and all(self._obeys(cut, graph) for cut in self.demands):
            parents = [self.families.parents(each) for each in graph.tolist()]
            if is_acyclic(parents):
                self.best, self.score = tuple(parents), score

    def _obeys(self, cut: Cut, graph: Ints) -> bool:
        columns, values = cut.row(self.families)
        return float(values[np.isin(columns, graph)].sum()) <= cut.most

    def _branch(self, node: _Node) -> None:
        """Decide one more arc, both ways; where none is left to decide, there is one graph, which is looked at."""
        chosen = self._choose(node)
        if chosen is None:  # its bound is its score, but for the rounding of large numbers
            last = self._relaxation.families.select(self._allowed(node.decisions))
            if (np.diff(last.starts) == 1).all():
                self._keep(self.families.find([last.parents(each) for each in range(len(last.owner))]))
            return
        arc, limits = chosen
        for present, limit in zip((False, True), limits, strict=True):
            if self._is_done(limit):
                self.n_nodes += 1
                continue
            left = self._bound((*node.decisions, (*arc, present)), min(limit, -node.priority))
            if left is not None:
                heapq.heappush(self._open, left)

    def _choose(self, node: _Node) -> tuple[tuple[int, int], list[float]] | None:
        """Choose the arc whose decision promises most, either way; also, what bounds are known for both ways.

        None where nothing is left to decide.
        """
        n = self.families.n_nodes
        undecided = np.minimum(node.arcs, 1.0 - node.arcs)
        undecided[undecided < _WEIGHT] = 0.0
        for parent, child, _ in node.decisions:  # where no graph is left, weights may be anything
            undecided[parent, child] = 0.0
        known = np.where(
            self._times > 0, self._gains / np.maximum(self._times, 1), self._gains.sum() / max(self._times.sum(), 1)
        )
        promise = undecided * (known.prod(axis=0) + 1e-3)
        arcs = [divmod(int(i), n) for i in np.argsort(-promise, axis=None)[:_TRIED] if undecided.flat[i] > 0]
        free = self._allowed(node.decisions)
        arcs = arcs or self._any_arc(free)
        if not arcs:
            return None
        self._relaxation.restrict(free)
        self._relaxation.solve()
        basis = self._relaxation.basis()
        best, chosen, limits = -1.0, arcs[0], [math.inf, math.inf]
        gap = self._relaxation.total - node.priority - self.target
        gap = gap if math.isfinite(gap) else max(abs(node.priority), 1.0)  # no graph is known yet
        for arc in arcs:
            if (self._times[:, arc[0], arc[1]] >= _RELIABLE).all():
                found = [-node.priority, -node.priority]
                gains = known[:, arc[0], arc[1]]
            else:
                found = [self._try(node, (*arc, present), basis) for present in (False, True)]
                gains = np.clip([-node.priority - each for each in found], 0.0, gap)
                self._gains[:, arc[0], arc[1]] += gains
                self._times[:, arc[0], arc[1]] += 1
            if (gains[0] + 1e-3) * (gains[1] + 1e-3) > best:
                best, chosen, limits = (gains[0] + 1e-3) * (gains[1] + 1e-3), arc, found
        self._relaxation.go_to(basis)
        return chosen, limits

    def _any_arc(self, free: Bools) -> list[tuple[int, int]]:
        """Return an arc that only some of the families have that are left, if there is one."""
        families = self._relaxation.families.select(free)
        for child in range(families.n_nodes):
            mine = families.sets[families.starts[child] : families.starts[child + 1]]
            for i, word in enumerate((mine ^ mine[:1]).any(axis=0) * np.bitwise_or.reduce(mine ^ mine[:1], axis=0)):
                if word:
                    return [(64 * i + members(int(word))[0], child)]
        return []

    def _try(self, node: _Node, decision: Decision, basis: object) -> float:
        """Bound what one more decision leaves, roughly."""
        self._watch.check()
        self._relaxation.restrict(self._allowed((*node.decisions, decision)))
        self._relaxation.go_to(basis)
        self._relaxation.solve(_STEPS)
        return min(self._relaxation.bound(), -node.priority)


def is_acyclic(parents: Sequence[int]) -> bool:
    """Whether a graph, given as sets of parents, has no cycle."""
    left = (1 << len(parents)) - 1
    while left:
        free = [child for child in members(left) if not parents[child] & left]
        if not free:
            return False
        for child in free:
            left &= ~(1 << child)
    return True
