"""Dynamic programming for few nodes: all families, and the best graph of those that matter, over all sets of nodes."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mapdag.errors import CapacityError
from mapdag.search.certified.candidates import Enumeration, join, words_of
from mapdag.search.exact.lattice import Lattice, layers
from mapdag.search.frame.memory import fits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.certified.candidates import Families
    from mapdag.search.exact.lattice import Child
    from mapdag.search.exact.subsets import ParentSets
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.watch import Watch

    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

MOST_NODES = 24  # whose sets are gone through
AT_ONCE = 20  # nodes at most for which that takes no longer than to set up a linear program
_COUNTED, _SCORED = 1.5e-8, 5e-7  # seconds of one core for each set and row, and for each family
_LONGEST = 300.0  # seconds of one core that all families may take


def seconds_for_all(n_nodes: int, n_rows: int) -> float:
    """Seconds of one core that it takes to score all families of all sizes; infinite where that is too long."""
    if n_nodes > MOST_NODES:
        return math.inf
    needed = 2.0**n_nodes * (_COUNTED * n_rows + _SCORED * n_nodes / 2)
    return needed if needed <= _LONGEST else math.inf


def enumerate_all(objective: Objective, cache: FamilyCache, options: Options, watch: Watch) -> Enumeration | None:
    """Score all families of all sizes, and keep those that no subset can stand for; None if they need too much memory.

    Scores are those of other enumerations but for the last bits.
    """
    try:
        lattice = Lattice(cache, objective, options, charge=0.0, copies=0)
    except CapacityError:
        return None
    lattice.watch = watch
    before = watch.families
    found = lattice.undominated("enumerating")

    def listed(child: Child) -> tuple[Words, Floats]:
        places, values = found[child.node]
        sets = words_of([child.nodes(place) for place in places.tolist()], 1)
        return sets.reshape(-1, 1), values + lattice.base[child.node]

    families = join([listed(child) for child in lattice.children])
    return Enumeration(families, watch.families - before, lattice.n_nodes - 1, complete=True)


def is_small(families: Families) -> bool:
    """Whether the best graph can be found by going through all sets of nodes."""
    return families.n_nodes <= MOST_NODES and fits(2 * 8.0 * 2**families.n_nodes)


def find_best(families: Families, pinned: NDArray[np.bool_], watch: Watch) -> tuple[int, ...]:
    """Find the best graph of all that families make, as sets of parents; empty if there is none.

    Parameters
    ----------
    families : Families
    pinned : bool array (nodes, nodes)
        Arcs that must be there if the parent comes before the child.
    watch : Watch
    """
    from mapdag.search.exact.subsets import ParentSets, find_sinks_in_lists

    n = families.n_nodes
    sets = families.sets[:, 0].astype(np.int64)
    pins = (pinned.astype(np.int64) << np.arange(n)[:, None]).sum(axis=0)
    lists = ParentSets(sets, families.scores, families.starts.astype(np.int64), pins)
    best = np.empty(1 << n)
    stretches = [[partial(find_sinks_in_lists, *each, lists, best) for each in layer] for layer in layers(n)]
    watch.work_in_layers("choosing sinks", stretches)
    return _read_off(lists, best) if np.isfinite(best[-1]) else ()


def _read_off(lists: ParentSets, best: Floats) -> tuple[int, ...]:
    """Read the best graph off the scores of the best graphs on all sets of nodes: its last node, and so on."""
    sets, scores, starts, pins = lists
    n = len(pins)
    parents, left = [0] * n, (1 << n) - 1
    while left:
        for node in range(n - 1, -1, -1):
            before = left & ~(1 << node)
            mine = slice(starts[node], starts[node + 1])
            fit = np.flatnonzero((sets[mine] & ~before == 0) & (pins[node] & before & ~sets[mine] == 0))
            if left == before or not len(fit):
                continue
            first = starts[node] + fit[0]
            if best[before] + scores[first] == best[left]:
                parents[node], left = int(sets[first]), before
                break
    return tuple(parents)
