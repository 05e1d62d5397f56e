"""The proof: families that the best graph may have, and branch and bound over them, with limits and Ctrl-C obeyed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mapdag.checks import check_number, check_whole
from mapdag.errors import ParameterError
from mapdag.families import Criterion, FamilyScores
from mapdag.graphs import DAG
from mapdag.graphs.masks import mask_of, members
from mapdag.search.certified.asking import AskedLattice
from mapdag.search.certified.candidates import Families, words_of
from mapdag.search.certified.certainty import certain_arcs, next_best
from mapdag.search.certified.counting import PACE, WORK, CountedLattice
from mapdag.search.certified.cuts import Adjacent
from mapdag.search.certified.dynamic import AT_ONCE, enumerate_all, find_best, is_small, seconds_for_all
from mapdag.search.certified.relaxation import check_solver
from mapdag.search.certified.tree import Tree, is_acyclic
from mapdag.search.exact.lattice import TIE, Lattice
from mapdag.search.exact.succession import ranked_graphs
from mapdag.search.frame.certificate import Certificate
from mapdag.search.frame.watch import Watch
from mapdag.search.orders.search import search_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.certified.candidates import Enumeration
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result

    Graph = tuple[int, ...]  # parents of each node, as sets

_FIRST = 0.4  # of the time, for the default search
_MANY = 300_000  # rows of which it draws a sample, which there is none of where rows are completed by expected counts
_SHARE = 0.2  # of what all families would take: for those that are needed, if these can be found so quickly
_FEW = 8  # nodes for which all graphs can be ranked in no time
_EQUAL = 1e-11  # the same between sums of the same scores of families
_TIE = 1e-6  # differences of scores that count as none, relative to them
_ROUNDING = 1e-13  # of a sum of thousands of numbers, relative to it


class Proof:
    """A bound on all graphs, and the best graph met on the way.

    Parameters
    ----------
    objective, cache, options, within, ranks
        As in `search_certified`.
    """

    def __init__(
        self,
        objective: Objective,
        cache: FamilyCache,
        options: Options,
        *,
        within: float | None = None,
        ranks: int = 1,
    ) -> None:
        if not objective.prior.is_arcwise:
            raise ParameterError(
                f"certified search needs a prior that is a sum over arcs, and {objective.prior} looks at whole graphs; "
                "use another prior or another search"
            )
        if within is not None:
            within = check_number("within", within, least=0)
        ranks = check_whole("ranks", ranks, least=1)
        check_solver()
        self.watch = Watch(options)
        self._objective, self._cache, self._options = objective, cache, options
        self._constant = objective.prior.constant(cache.data.names)
        self._enumeration: Enumeration | None = None
        self._tree: Tree | None = None
        self._has_larger = False
        self._within, self._ranks = within, ranks
        self._certain: tuple[list[tuple[int, int]], list[tuple[int, int]]] = [], []
        self._ranked: list[tuple[tuple[int, ...], float]] = []
        self.families = 0

    def search(self) -> Result:
        """Find a graph with the default search, in a part of the time that there is."""
        limit = self._options.time_limit
        some = self._options if limit is None else replace(self._options, time_limit=_FIRST * limit)
        data = self._cache.data
        has_sample = data.has_rows or data.n_rows <= _MANY
        found = search_orders(self._objective, self._cache, some, effort=1.0 if has_sample else 0.0)
        self.watch.stopped = found.stopped
        self.families = found.families
        return found

    def run(self, graphs: Sequence[DAG]) -> None:
        """Bound all graphs, beginning with some that are known."""
        if self.watch.stopped == "interrupted" or self.watch.left < 0:
            return
        self.watch.stopped = "converged"
        with self.watch:
            self.watch.work("", [lambda: self._run([masks_of(graph) for graph in graphs])])

    def _run(self, graphs: Sequence[Graph]) -> None:
        slack = self._within or 0.0
        self._enumerate(graphs, slack)
        self._prove(graphs)
        assert self._tree is not None
        if self._within is not None:
            self._certain = certain_arcs(self._tree, self._within, self.watch)
        if self._ranks > 1:
            self._rank(slack)

    def _rank(self, slack: float) -> None:
        """Find the graphs that come next; those so far are kept when a limit ends it."""
        assert self._tree is not None
        data = self._cache.data
        if data.n_columns <= _FEW and not data.drops_rows:
            self._rank_all()
            return
        # Families that only worse graphs have. A family that is worse by just that much may be in the last of them.
        needed = self._tree.score - self._score_of_rank(self._tree.best) + _TIE * max(1.0, abs(self._tree.score))
        if needed > slack:
            self._enumerate([self._tree.best], needed)
            self._prove([self._tree.best])
        self._ranked.append((self._tree.best, self._tree.score))
        for each in next_best(self._tree, self._ranks, self.watch):
            self._ranked.append(each)

    def _rank_all(self) -> None:
        """Find them by the dynamic program over all graphs, where nodes are few: there may be very many."""
        left = None if math.isinf(self.watch.left) else max(self.watch.left, 1e-3)
        options = replace(self._options, time_limit=left, progress=None)
        lattice = Lattice(self._cache, self._objective, options, copies=2)
        with lattice.watch:
            for _, parents in ranked_graphs(lattice, self._ranks):
                score = math.fsum(self._scores([(child, tuple(members(mask))) for child, mask in enumerate(parents)]))
                self._ranked.append((parents, score))
        self.watch.check()

    def _score_of_rank(self, best: Graph) -> float:
        """Return what the k best graphs have at least: as many are found among the neighbours of the best one."""
        rules = self._cache.rules(self._objective)
        n = len(best)
        arcs = [(p, child) for p in range(n) for child in range(n) if rules.allowed[p, child]]
        graphs = []
        for p, child in arcs:
            other = list(best)
            other[child] ^= 1 << p
            if other[child].bit_count() <= rules.max_parents and is_acyclic(other) and not rules.fixed[p, child]:
                graphs.append((child, other[child]))
        scores = self._scores([(child, tuple(members(mask))) for child, mask in graphs])
        old = dict(enumerate(self._scores([(child, tuple(members(mask))) for child, mask in enumerate(best)])))
        gains = sorted((score - old[child] for (child, _), score in zip(graphs, scores, strict=True)), reverse=True)
        total = math.fsum(old.values())
        return total + gains[self._ranks - 2] if len(gains) > self._ranks - 2 else -math.inf

    def _scores(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> list[float]:
        """Scores of families, with the log prior of their arcs."""
        which = self._cache.index(self._objective)
        odds = self._objective.prior.log_odds(self._cache.data.names)
        self._cache.score(families)
        return [
            float(self._cache.family(child, parents)[which]) + math.fsum(odds[p, child] for p in parents)
            for child, parents in families
        ]

    def _enumerate(self, graphs: Sequence[Graph], slack: float) -> None:
        objective, cache, watch = self._objective, self._cache, self.watch
        criteria = [cache.criterion(objective)]
        if criteria[0].limits and not cache.data.refines:
            criteria.append(Criterion(objective.likelihood))
        scores = FamilyScores(cache.data, criteria, engine=cache.engine, threads=watch.threads)
        seconds = math.inf
        found: Enumeration | None
        # Tallies of rows with gaps are not sums of larger ones, which that one takes them from.
        if scores.is_compiled and not cache.data.drops_rows:
            seconds = math.inf if slack else self._seconds_for_all()
            work = min(WORK, _SHARE * seconds / PACE)
            found = CountedLattice(objective, cache, watch, scores, slack=slack, work=work).enumerate()
        else:
            found = AskedLattice(objective, cache, watch, scores, slack=slack).enumerate()
        self._accept(found, graphs)
        if not found.complete and seconds / watch.threads < watch.left / 2:
            found = enumerate_all(objective, cache, self._options, watch)
            if found is not None:
                self._accept(found, graphs)

    def _accept(self, found: Enumeration, graphs: Sequence[Graph]) -> None:
        """Take families as those that there are."""
        self.families += found.scored
        self._enumeration = replace(found, families=self._with_larger(found, graphs))

    def _seconds_for_all(self) -> float:
        """Seconds of one core that families of all sizes take; infinite where their number of parents is limited."""
        data = self._cache.data
        is_limited = self._cache.rules(self._objective).max_parents < data.n_columns - 1
        return math.inf if is_limited else seconds_for_all(data.n_columns, data.n_rows)

    def _with_larger(self, found: Enumeration, graphs: Sequence[Graph]) -> Families:
        """Add the families of known graphs that are larger than those that were looked at."""
        larger = sorted(
            {
                (child, tuple(members(mask)))
                for graph in graphs
                for child, (mask, known) in enumerate(zip(graph, found.families.find(graph), strict=True))
                if mask.bit_count() > found.most and known < 0
            }
        )
        self._has_larger = bool(larger)
        if not larger:
            return found.families
        every = found.families
        owner = np.concatenate([every.owner, [child for child, _ in larger]])
        words = words_of([mask_of(parents) for _, parents in larger], every.sets.shape[1])
        scores = np.concatenate([every.scores, self._scores(larger)])
        order = np.lexsort((-scores, owner))
        starts = np.searchsorted(owner[order], np.arange(every.n_nodes + 1))
        return Families(np.concatenate([every.sets, words])[order], scores[order], owner[order], starts)

    def _prove(self, graphs: Sequence[Graph]) -> None:
        assert self._enumeration is not None
        rules = self._cache.rules(self._objective)
        either = np.argwhere(np.triu(rules.fixed & rules.fixed.T)).tolist()
        families = self._enumeration.families
        known = max(graphs, key=lambda each: _score(families, each))
        demands = [Adjacent(i, j) for i, j in either]
        small = is_small(families)

        def shortcut() -> Sequence[int]:
            return find_best(families, rules.fixed & rules.allowed & rules.allowed.T, self.watch)

        self._tree = Tree(
            families,
            known,
            self.watch,
            demands=demands,
            constant=self._constant,
            shortcut=shortcut if small else None,
        )
        if small and families.n_nodes <= AT_ONCE and self._within is None and self._ranks == 1:
            self._tree.settle(shortcut())
        else:
            self._tree.run()

    def best(self, known: DAG) -> DAG:
        """Return the best graph: one that was known, unless a better one was met."""
        if self._tree is None or _score(self._tree.families, masks_of(known)) >= self._tree.score:
            return known
        return DAG.from_parent_masks(self._cache.data.names, self._tree.best, check=False)

    def certificate(self, score: float, graph: DAG | None = None) -> Certificate:
        """Certify a graph with some score; of equally good graphs, the ranks begin with this one."""
        found, names = self._enumeration, self._cache.data.names
        arcs, edges = (tuple((names[i], names[j]) for i, j in each) for each in self._certain)
        ranked = tuple(
            (DAG.from_parent_masks(names, parents, check=False), value + self._constant)
            for parents, value in self._in_order(() if graph is None else masks_of(graph))
        )
        return Certificate(
            score=score,
            bound=self._bound(score),
            among=self._among(),
            complete=found is not None and found.complete,
            scored=found.scored if found else 0,
            families=len(found.families.owner) if found else 0,
            cuts=self._tree.n_cuts if self._tree else 0,
            nodes=self._tree.n_nodes if self._tree else 0,
            within=self._within,
            arcs=arcs,
            edges=edges,
            ranked=ranked,
        )

    def _in_order(self, graph: Graph) -> list[tuple[tuple[int, ...], float]]:
        """Return the ranked graphs, found in order but for 1e-6, of equals those with fewer arcs first.

        This one comes first if it is as good as the first.
        """
        ranked = sorted(self._ranked, key=lambda each: TIE * sum(mask.bit_count() for mask in each[0]) - each[1])
        if not ranked or not graph:
            return ranked
        best = ranked[0][1]
        value = math.fsum(self._scores([(child, tuple(members(mask))) for child, mask in enumerate(graph)]))
        if best - value > _EQUAL * max(1.0, abs(best)):
            return ranked
        # Where more graphs are as good as there are ranks, it takes the place of the last of them.
        return [(tuple(graph), value), *(each for each in ranked if each[0] != tuple(graph))][: len(ranked)]

    def _bound(self, score: float) -> float:
        """What no graph exceeds, with an allowance for the rounding errors of adding up."""
        if self._tree is None:
            return math.inf
        bound = self._tree.bound + self._constant
        return max(bound + _ROUNDING * abs(bound), score)

    def _among(self) -> str:
        found = self._enumeration
        if found is None or (found.complete and not found.limited):
            told = "all graphs"
        else:
            told = f"graphs with at most {found.most} {'parent' if found.most == 1 else 'parents'}"
            told += " (and the larger families of the graph itself)" if self._has_larger else ""
        limits = self._options.constraints
        support = self._objective.prior.support
        further = [] if support is None else [f"that Support({support:g}) allows"]
        if limits.required or limits.forbidden or limits.tiers:
            further.append("that obey the constraints")
        return " ".join([told, *([" and ".join(further)] if further else [])])


def masks_of(dag: DAG) -> tuple[int, ...]:
    """Parents of each node of a graph, as sets."""
    return tuple(mask_of(dag.parent_indices(i)) for i in range(len(dag.nodes)))


def _score(families: Families, parents: Sequence[int]) -> float:
    """Score of a graph, minus infinity if it has a family that is not there."""
    found = families.find(parents)
    return math.fsum(families.scores[found]) if (found >= 0).all() else -math.inf
