"""Exact search: the best of all graphs, by dynamic programming over sets of nodes (Silander and Myllymaki 2006)."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import GraphError
from mapdag.graphs import DAG
from mapdag.search.climbing import climb_hills
from mapdag.search.constraints import complete_start, make_rules
from mapdag.search.lattice import Child, Lattice
from mapdag.search.result import Result
from mapdag.search.watch import EarlyEndError, Watch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.run import Options

    Floats = NDArray[np.float64]

# Graphs are taken as equal within this much for every choice that is made on the way to one of them. Of at most thirty
# nodes with two choices each, all together stay below `mapdag.search.lattice.TIE`: an arc more is never taken.
_EQUAL = 2.0**-32
_STRETCH = 1 << 20  # sets between two looks at the limits


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
    lattice = open_lattice(objective, cache, options)
    try:
        parents = _best_parents(lattice)
    except (EarlyEndError, KeyboardInterrupt) as end:
        return stopped_early(end, objective, cache, options, lattice.watch)
    return as_result(parents, lattice, cache)


def open_lattice(objective: Objective, cache: FamilyCache, options: Options, **details: Any) -> Lattice:
    """Prepare all that is computed exactly, or say why it cannot be."""
    watch = Watch(options)
    nodes = cache.data.names
    rules = make_rules(options.constraints, objective.prior, nodes)
    complete_start(None, rules, nodes)  # raises where no graph obeys the rules
    return Lattice(cache.data, objective, rules, watch, **details)


def stopped_early(
    end: EarlyEndError | KeyboardInterrupt, objective: Objective, cache: FamilyCache, options: Options, watch: Watch
) -> Result:
    """Climb instead; or raise Ctrl-C again where it is not to be caught."""
    if isinstance(end, KeyboardInterrupt) and not options.catch_interrupt:
        raise end
    quick = climb_hills(objective, cache, replace(options, time_limit=None, cancel=None, progress=None))
    reason = end.reason if isinstance(end, EarlyEndError) else "interrupted"
    return replace(quick, stopped=reason, seconds=watch.seconds)


def as_result(parents: list[int], lattice: Lattice, cache: FamilyCache) -> Result:
    """Make a result of a graph, its score added up anew from its families."""
    objective, nodes, allowed = lattice.objective, cache.data.names, lattice.rules.allowed
    dag = DAG.from_parent_masks(nodes, parents, check=False)
    which = cache.index(objective.likelihood)
    parts = [float(cache.family(i, dag.parent_indices(i))[which]) for i in range(len(nodes))]
    arcs = [(p, child) for child in range(len(nodes)) for p in dag.parent_indices(child)]
    return Result(
        dag=dag,
        objective=objective,
        log_prior=objective.prior.log_prior(dag),
        log_likelihood=math.fsum(parts),
        trace=(),
        families=lattice.watch.families,
        seconds=lattice.watch.seconds,
        stopped="converged",
        data=cache.data,
        knowledge=tuple((nodes[a], nodes[b]) for a, b in arcs if not allowed[b, a]),
    )


def best_within(lattice: Lattice, scores: Floats) -> Floats:
    """Turn scores of families into the best within each set of predecessors, in place; returns the best of each set.

    That is the score of the best graph on each set of nodes.
    """
    from mapdag.search.subsets import find_sinks, take_best

    def improve(child: Child) -> None:
        take_best(scores[child.start : child.start + child.size], child.pinned)

    lattice.watch.work("choosing parents", [partial(improve, child) for child in lattice.children])
    best = np.empty(1 << lattice.n_nodes)
    starts, places = lattice.starts(), lattice.places()
    stretches = [
        partial(find_sinks, first, min(first + _STRETCH, len(best)), scores, starts, places, best)
        for first in range(0, len(best), _STRETCH)
    ]
    lattice.watch.work("choosing sinks", stretches, in_turn=True)
    if not np.isfinite(best[-1]):
        raise GraphError("no graph obeys the constraints and the prior")
    return best


def _best_parents(lattice: Lattice) -> list[int]:
    """Parents of each node in the best graph, as sets."""
    scores = lattice.scores()
    best = best_within(lattice, scores)
    parents = [0] * lattice.n_nodes
    left = (1 << lattice.n_nodes) - 1
    while left:
        child, before = last_node(left, lattice, scores, best)
        parents[child.node] = child.nodes(chosen(child, before, scores))
        left = before
    return parents


def last_node(nodes: int, lattice: Lattice, scores: Floats, best: Floats) -> tuple[Child, int]:
    """Node that can come last in the best graph on a set, the last column of those; and the set without it."""
    for child in reversed(lattice.children):
        if nodes >> child.node & 1:
            before = nodes & ~(1 << child.node)
            if best[before] + scores[child.start + child.place(before)] >= best[nodes] - _EQUAL:
                return child, before
    raise AssertionError("a set of nodes without a best last one")


def chosen(child: Child, before: int, scores: Floats) -> int:
    """Place of the best set of parents among some predecessors, given the best scores within each set of these."""
    place = child.place(before)
    enough = scores[child.start + place] - _EQUAL
    for i in reversed(range(len(child.candidates))):
        bit = 1 << i
        # What was dropped is in no best set: the score within a set is that of the set itself once no more can be.
        if place & bit and not child.pinned & bit and scores[child.start + (place ^ bit)] >= enough:
            place ^= bit
    return place
