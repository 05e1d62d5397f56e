"""Certified search: the default search, then a bound on all graphs that falls until it meets the best one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import ParameterError
from mapdag.graphs import DAG
from mapdag.graphs.masks import mask_of, members
from mapdag.search.certified.candidates import Families, Lattice, words_of
from mapdag.search.certified.cuts import Adjacent
from mapdag.search.certified.relaxation import check_solver
from mapdag.search.certified.tree import Tree
from mapdag.search.frame.certificate import Certificate
from mapdag.search.frame.result import make_result
from mapdag.search.frame.watch import Watch
from mapdag.search.orders.search import search_orders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.certified.candidates import Enumeration
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result


def search_certified(objective: Objective, cache: FamilyCache, options: Options) -> Result:
    """Find the best graph and prove it, or bound how far it can be.

    The default search finds a graph. Then all families are scored that the best graph may have, and a linear program
    over them, with more and more inequalities that graphs obey, bounds the score of every graph from above; where that
    is not enough, graphs are divided into those with and without an arc. When a limit or Ctrl-C ends it, the best graph
    and the bound so far are returned.

    Parameters
    ----------
    objective, cache, options
        What to maximise, on which data, under which constraints and limits. The prior must be a sum over arcs. Where
        the number of parents is not limited, families are looked at as far as is feasible; `Certificate.among` says
        how far.
    """
    proof = Proof(objective, cache, options)
    known = proof.search()
    proof.run([known.dag])
    found = make_result(proof.best(known.dag), objective, cache, proof.watch, families=proof.families, trace=known.trace)
    return replace(found, certificate=proof.certificate(found.score))


class Proof:
    """A bound on all graphs, and the best graph met on the way.

    Parameters
    ----------
    objective, cache, options
        As in `search_certified`.
    """

    def __init__(self, objective: Objective, cache: FamilyCache, options: Options) -> None:
        if not objective.prior.is_arcwise:
            raise ParameterError(
                f"certified search needs a prior that is a sum over arcs, and {objective.prior} looks at whole graphs; "
                "use another prior or another search"
            )
        check_solver()
        self.watch = Watch(options)
        self._objective, self._cache, self._options = objective, cache, options
        self._constant = objective.prior.constant(cache.data.names)
        self._enumeration: Enumeration | None = None
        self._tree: Tree | None = None
        self._has_larger = False
        self.families = 0

    def search(self) -> Result:
        """Find a graph with the default search."""
        found = search_orders(self._objective, self._cache, self._options)
        self.watch.stopped = found.stopped
        self.families = found.families
        return found

    def run(self, graphs: Sequence[DAG]) -> None:
        """Bound all graphs, beginning with some that are known."""
        if self.watch.stopped not in ("converged", "max_iter"):
            return
        self.watch.stopped = "converged"
        with self.watch:
            self.watch.work("enumerating", [lambda: self._enumerate(graphs)])
            self.watch.work("proving", [lambda: self._prove(graphs)])

    def _enumerate(self, graphs: Sequence[DAG]) -> None:
        lattice = Lattice(self._objective, self._cache, self.watch)
        found = lattice.enumerate()
        self.families += found.scored
        self._enumeration = replace(found, families=self._with_larger(found, graphs))

    def _with_larger(self, found: Enumeration, graphs: Sequence[DAG]) -> Families:
        """Add the families of known graphs that are larger than those that were looked at."""
        n_words = found.families.sets.shape[1]
        larger = {
            (child, parents)
            for graph in graphs
            for child in range(len(graph.nodes))
            if len(parents := tuple(graph.parent_indices(child))) > found.most
        }
        if not larger:
            return found.families
        self._has_larger = True
        which = self._cache.index(self._objective)
        odds = self._objective.prior.log_odds(self._cache.data.names)
        self._cache.score(sorted(larger))
        scores = [
            float(self._cache.family(*family)[which]) + math.fsum(odds[p, family[0]] for p in family[1])
            for family in sorted(larger)
        ]
        every = found.families
        owner = np.concatenate([every.owner, [child for child, _ in sorted(larger)]])
        sets = np.concatenate([every.sets, words_of([mask_of(parents) for _, parents in sorted(larger)], n_words)])
        both = np.concatenate([every.scores, scores])
        order = np.lexsort((-both, owner))
        starts = np.searchsorted(owner[order], np.arange(every.n_nodes + 1))
        return Families(sets[order], both[order], owner[order], starts)

    def _prove(self, graphs: Sequence[DAG]) -> None:
        assert self._enumeration is not None
        rules = self._cache.rules(self._objective)
        either = np.argwhere(np.triu(rules.fixed & rules.fixed.T)).tolist()
        families = self._enumeration.families
        known = max((masks_of(graph) for graph in graphs), key=lambda each: _score(families, each))
        self._tree = Tree(families, known, self.watch, cuts=[Adjacent(i, j) for i, j in either])
        self._tree.run()

    def best(self, known: DAG) -> DAG:
        """Return the best graph: one that was known, unless a better one was met."""
        if self._tree is None or _score(self._tree.families, masks_of(known)) >= self._tree.score:
            return known
        return DAG.from_parent_masks(self._cache.data.names, self._tree.best, check=False)

    def certificate(self, score: float) -> Certificate:
        """Certify a graph with some score."""
        found = self._enumeration
        return Certificate(
            score=score,
            bound=math.inf if self._tree is None else max(self._tree.bound + self._constant, score),
            among=self._among(),
            complete=found is not None and found.complete,
            scored=found.scored if found else 0,
            families=len(found.families.owner) if found else 0,
            cuts=self._tree.n_cuts if self._tree else 0,
            nodes=self._tree.n_nodes if self._tree else 0,
        )

    def _among(self) -> str:
        found = self._enumeration
        if found is None or found.complete:
            told = "all graphs"
        else:
            told = f"graphs with at most {found.most} {'parent' if found.most == 1 else 'parents'}"
            told += " (and the larger families of the graph itself)" if self._has_larger else ""
        limits = self._options.constraints
        constrained = limits.required or limits.forbidden or limits.tiers
        return told + (" that obey the constraints" if constrained else "")


def masks_of(dag: DAG) -> list[int]:
    """Parents of each node of a graph, as sets."""
    return [mask_of(dag.parent_indices(i)) for i in range(len(dag.nodes))]


def _score(families: Families, parents: Sequence[int]) -> float:
    """Score of a graph, minus infinity if it has a family that is not there."""
    found = families.find(parents)
    return math.fsum(families.scores[found]) if (found >= 0).all() else -math.inf
