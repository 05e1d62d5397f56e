"""What is certain about the best graph: the arcs of all graphs close to it, and the graphs that come next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mapdag.graphs.masks import members
from mapdag.search.certified.cuts import Other, has_parent
from mapdag.search.certified.tree import TOLERANCE, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mapdag.search.frame.watch import Watch

    Arc = tuple[int, int]


def certain_arcs(tree: Tree, within: float, watch: Watch) -> tuple[list[Arc], list[Arc]]:
    """Find the arcs that all graphs have whose score is so close to the best one; and pairs that are adjacent in all.

    The best graph without an arc, or without both directions, decides; what it lacks besides need not be looked at.
    """
    best = [(p, child) for child, mask in enumerate(tree.best) for p in members(mask)]
    floor = tree.score - within
    arcs, edges = set(best), {(min(arc), max(arc)) for arc in best}

    def meet(parents: Sequence[int]) -> None:
        has = {(p, child) for child, mask in enumerate(parents) for p in members(mask)}
        arcs.intersection_update(has)
        edges.intersection_update({(min(arc), max(arc)) for arc in has})

    for i, j in best:
        for banned, left in (([(i, j)], arcs), ([(i, j), (j, i)], edges)):
            if ((i, j) if left is arcs else (min(i, j), max(i, j))) in left:
                other = _best_without(tree, banned, floor, watch)
                if other is not None:
                    meet(other)
    return sorted(arcs), sorted(edges)


def _best_without(tree: Tree, banned: Sequence[Arc], floor: float, watch: Watch) -> tuple[int, ...] | None:
    """Return a graph above some score that lacks arcs; None if there is none."""
    families = tree.families
    allowed = np.ones(len(families.owner), dtype=np.bool_)
    for parent, child in banned:
        allowed &= ~(has_parent(families, parent) & (families.owner == child))
    left = families.select(allowed)
    if (np.diff(left.starts) == 0).any():
        return None
    other = Tree(left, (), watch, demands=tree.demands, known=tree.pool(), floor=floor)
    other.run()
    return other.best if other.score > floor + TOLERANCE else None


def next_best(tree: Tree, k: int, watch: Watch) -> Iterator[tuple[tuple[int, ...], float]]:
    """Give the graphs from the second to the k-th best, in order; fewer if there are not so many."""
    others, pool = [Other(tree.best)], tree.pool()
    while len(others) < k:
        other = Tree(tree.families, (), watch, demands=[*tree.demands, *others], known=pool)
        other.run()
        if other.score == -math.inf:
            return
        yield other.best, other.score
        others.append(Other(other.best))
        pool = other.pool()
