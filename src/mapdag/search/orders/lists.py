"""Lists of the families that are known, for each child the best first: whoever has an order need only look them up.

A family is left out if a smaller set of parents is at least as good: whatever the order, that one serves as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.kernels import Bools, Floats, Ints, Words, entry, inner, new_bools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.search.orders.graph import Graph

_ROOM = 2048  # families of a child that are kept, at most


class Families(NamedTuple):
    """Families of any children, in any order."""

    children: Ints  # (families,)
    sets: Words  # (families, words) parents
    scores: Floats  # (families,) log-odds included


class Lists(NamedTuple):
    """Families of all children, those of a child together, the best first."""

    sets: Words  # (families, words) parents
    scores: Floats  # (families,)
    starts: Ints  # (children + 1,) where those of each child begin
    anybody: Words  # (children, words) who is in some set of each child

    def families(self) -> Families:
        """Return the same as families."""
        return Families(np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts)), self.sets, self.scores)


def families_of(graph: Graph) -> Families:
    """Return the families of a graph."""
    return Families(np.arange(len(graph.scores)), graph.parents, graph.scores)


def make_lists(parts: Sequence[Families], must: Words) -> Lists:
    """List families, without those that others can stand for, or that lack a parent that they must have.

    Parameters
    ----------
    parts : sequence of Families
        With the smallest one of each child that is allowed; the same one may be there many times.
    must : uint64 array (children, words)
        Who must be a parent of each child.
    """
    children, sets, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    usable = (scores > -np.inf) & ~(must[children] & ~sets).any(axis=1)
    children, sets, scores = children[usable], sets[usable], scores[usable]
    sizes = np.bitwise_count(sets).sum(axis=1)
    order = np.lexsort((*sets.T, sizes, -scores, children))
    children, sets, scores = children[order], np.ascontiguousarray(sets[order]), scores[order]
    starts = np.searchsorted(children, np.arange(len(must) + 1))
    kept = _sift(sets, starts, must)
    children, sets, scores = children[kept], np.ascontiguousarray(sets[kept]), scores[kept]
    starts = np.searchsorted(children, np.arange(len(must) + 1))
    anybody = np.zeros_like(must)
    np.bitwise_or.at(anybody, children, sets)
    return Lists(sets, scores, starts, anybody)


@entry
def _sift(sets: Words, starts: Ints, must: Words) -> Bools:
    """Say which families are to be kept, of each child the best first."""
    kept = new_bools(len(sets))
    for child in range(len(starts) - 1):
        room = _ROOM
        for i in range(starts[child], starts[child + 1]):
            kept[i] = room > 0 or _is_within(sets[i], must[child])
            j = starts[child]
            while kept[i] and j < i:
                kept[i] = not (kept[j] and _is_within(sets[j], sets[i]))
                j += 1
            room -= kept[i]
    return kept


@inner
def _is_within(one: Words, other: Words) -> bool:
    """Whether all members of a set are in another one."""
    for w in range(len(one)):
        if one[w] & ~other[w]:
            return False
    return True


@inner
def look_up(child: int, before: Words, lists: Lists) -> int:
    """Find the best family of a child whose parents are among some nodes; -1 if there is none."""
    for i in range(lists.starts[child], lists.starts[child + 1]):
        if _is_within(lists.sets[i], before):
            return i
    return -1
