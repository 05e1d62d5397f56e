"""Exact search: the best of all graphs, by dynamic programming over sets of nodes (Silander and Myllymaki 2006)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mapdag.errors import GraphError
from mapdag.graphs import DAG
from mapdag.search.climbing.search import climb_hills
from mapdag.search.exact.lattice import Child, Lattice, layers
from mapdag.search.frame.result import make_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

# Graphs are taken as equal within this much for every choice that is made on the way to one of them. Of at most thirty
# nodes with two choices each, all together stay below `mapdag.search.exact.lattice.TIE`: an arc more is never taken.
_EQUAL = 2.0**-32


def search_exactly(objective: Objective, cache: FamilyCache, options: Options) -> Result:
    """Find the graph with the highest score of all, the one with the fewest arcs among equals.

    Every arc is charged 2^-26, which decides between graphs of equal score; so a graph with a higher score by less than
    that for each of its additional arcs is passed over. What is equal even so is decided by the order of the columns:
    arcs go from earlier to later ones where there is a choice.

    There is no graph before the end: where a limit or Ctrl-C ends the search early, the result is that of hill
    climbing, marked as stopped.

    Parameters
    ----------
    objective, cache, options
        What to maximise, on which data, under which constraints and limits. The prior must be a sum over arcs. `start`,
        `max_iter` and `seed` have no meaning here.
    """
    lattice = Lattice(cache, objective, options)
    with lattice.watch:
        choice = _Lists(lattice) if lattice.in_lists else Tables.of(lattice)
        return result_of(best_parents(lattice, choice), lattice)
    return climb_instead(lattice, options)


def climb_instead(lattice: Lattice, options: Options) -> Result:
    """Climb, as the search was stopped early."""
    quick = climb_hills(lattice.objective, lattice.cache, replace(options, time_limit=None, cancel=None, progress=None))
    return replace(quick, stopped=lattice.watch.stopped, seconds=lattice.watch.seconds)


def result_of(parents: Sequence[int], lattice: Lattice) -> Result:
    """Make a result of a graph."""
    dag = DAG.from_parent_masks(lattice.data.names, parents, check=False)
    return make_result(dag, lattice.objective, lattice.cache, lattice.watch, families=lattice.watch.families)


def best_within(lattice: Lattice, scores: Floats) -> Floats:
    """Turn scores of families into the best within each set of predecessors, in place; returns the best of each set.

    That is the score of the best graph on each set of nodes.
    """
    from mapdag.search.exact.subsets import find_sinks, take_best

    def improve(child: Child) -> None:
        take_best(scores[child.start : child.start + child.size], child.pinned)

    lattice.watch.work("choosing parents", [partial(improve, child) for child in lattice.children])
    best = np.empty(1 << lattice.n_nodes)
    families = lattice.families_with(scores)
    stretches = [[partial(find_sinks, *each, families, best) for each in layer] for layer in layers(lattice.n_nodes)]
    lattice.watch.work_in_layers("choosing sinks", stretches)
    _check_possible(best)
    return best


def _check_possible(best: Floats) -> None:
    if not np.isfinite(best[-1]):
        raise GraphError("no graph obeys the constraints and the prior")


def best_parents(lattice: Lattice, choice: Tables | _Lists) -> list[int]:
    """Parents of each node in the best graph, as sets."""
    best = choice.best
    parents = [0] * lattice.n_nodes
    left = (1 << lattice.n_nodes) - 1
    while left:
        # The last of the columns that can come last in the best graph on these nodes.
        for child in reversed(lattice.children):
            before = left & ~(1 << child.node)
            if left != before and best[before] + choice.score(child, before) >= best[left] - _EQUAL:
                parents[child.node] = child.nodes(choice.parents(child, before))
                left = before
                break
    return parents


class Tables:
    """The best parents within every set of predecessors, all looked up.

    Parameters
    ----------
    scores, best : float arrays
        As `best_within` leaves them.
    """

    def __init__(self, scores: Floats, best: Floats) -> None:
        self._scores, self.best = scores, best

    @classmethod
    def of(cls, lattice: Lattice) -> Tables:
        """Score all families."""
        scores = lattice.scores()
        return cls(scores, best_within(lattice, scores))

    def score(self, child: Child, before: int) -> float:
        """Score of the best parents among some predecessors."""
        return float(self._scores[child.start + child.place(before)])

    def parents(self, child: Child, before: int) -> int:
        """Place of the best parents among some predecessors, the smallest among equals."""
        place = child.place(before)
        enough = self._scores[child.start + place] - _EQUAL
        for i in reversed(range(len(child.candidates))):
            bit = 1 << i
            # The score within a set is that of the set itself once nothing more can be dropped.
            if place & bit and not child.pinned & bit and self._scores[child.start + (place ^ bit)] >= enough:
                place ^= bit
        return place


class _Lists:
    """For every child the sets of parents that score higher than all their subsets: less memory, more time."""

    def __init__(self, lattice: Lattice) -> None:
        from mapdag.search.exact.subsets import ParentSets, find_sinks_in_lists

        self._lists = lattice.undominated("scoring")
        lists = [self._lists[child.node] for child in lattice.children]
        sets = [
            child.nodes(p) for child, (places, _) in zip(lattice.children, lists, strict=True) for p in places.tolist()
        ]
        every = ParentSets(
            sets=np.array(sets, dtype=np.int64),
            scores=np.concatenate([values for _, values in lists]),
            starts=np.cumsum([0, *(len(places) for places, _ in lists)]),
            pins=np.array([child.nodes(child.pinned) for child in lattice.children], dtype=np.int64),
        )
        self.best = np.empty(1 << lattice.n_nodes)
        stretches = [
            [partial(find_sinks_in_lists, *each, every, self.best) for each in layer]
            for layer in layers(lattice.n_nodes)
        ]
        lattice.watch.work_in_layers("choosing sinks", stretches)
        _check_possible(self.best)

    def score(self, child: Child, before: int) -> float:
        """Score of the best parents among some predecessors."""
        _, values = self._fitting(child, before)
        return float(values[0]) if len(values) else -np.inf

    def parents(self, child: Child, before: int) -> int:
        """Place of the best parents among some predecessors, the smallest among equals."""
        places, values = self._fitting(child, before)
        return int(places[values >= values[0] - _EQUAL].min())

    def _fitting(self, child: Child, before: int) -> tuple[Ints, Floats]:
        places, values = self._lists[child.node]
        place = child.place(before)
        fit = (places & ~place == 0) & (place & child.pinned & ~places == 0)
        return places[fit], values[fit]
