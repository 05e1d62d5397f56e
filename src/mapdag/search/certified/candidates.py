"""The families that the best graph may have: all that are allowed, but for those that a subset can stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.errors import CapacityError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.objective.constraints import Rules

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]


class Families(NamedTuple):
    """Families of all children, those of a child together, the best first."""

    sets: Words  # (families, words) parents
    scores: Floats  # (families,) likelihood and log prior of the arcs
    owner: Ints  # (families,) the child
    starts: Ints  # (nodes + 1,) where those of each child begin

    @property
    def n_nodes(self) -> int:
        """Children."""
        return len(self.starts) - 1

    def select(self, which: Ints | NDArray[np.bool_]) -> Families:
        """Return some of the families, in the same order."""
        owner = self.owner[which]
        starts = np.searchsorted(owner, np.arange(len(self.starts)))
        return Families(np.ascontiguousarray(self.sets[which]), self.scores[which], owner, starts)

    def find(self, parents: Sequence[int]) -> Ints:
        """Where the families of a graph are, given as sets of parents; -1 for one that is not here."""
        found = np.full(len(parents), -1, dtype=np.int64)
        for child, wanted in enumerate(words_of(parents, self.sets.shape[1])):
            first, last = self.starts[child], self.starts[child + 1]
            same = np.flatnonzero((self.sets[first:last] == wanted).all(axis=1))
            if len(same):
                found[child] = first + same[0]
        return found

    def parents(self, which: int) -> int:
        """Return the parents of a family, as a set."""
        return sum(int(word) << 64 * i for i, word in enumerate(self.sets[which]))


def words_of(sets: Sequence[int], n_words: int) -> Words:
    """Sets of nodes as words."""
    mask = (1 << 64) - 1
    return np.array([[each >> 64 * i & mask for i in range(n_words)] for each in sets], dtype=np.uint64)


@dataclass(frozen=True)
class Enumeration:
    """Which families there are, and what was left out.

    Attributes
    ----------
    families : Families
    scored : int
        How many were scored.
    most : int
        Parents of the largest sets that were looked at.
    complete : bool
        Whether all larger ones are ruled out by the constraints, the prior or their scores.
    limited : bool
        Whether it is the limit on parents that has ruled some of them out.
    """

    families: Families
    scored: int
    most: int
    complete: bool
    limited: bool = False


def join(parts: Sequence[tuple[Words, Floats]]) -> Families:
    """Put the families of all children together: sets of parents and scores, the best first."""
    sizes = [len(scores) for _, scores in parts]
    return Families(
        sets=np.concatenate([sets for sets, _ in parts]),
        scores=np.concatenate([scores for _, scores in parts]),
        owner=np.repeat(np.arange(len(parts)), sizes),
        starts=np.cumsum([0, *sizes]),
    )


def most_parents(rules: Rules) -> tuple[int, bool]:
    """Most parents that a node may have, as far as keys of sets go, and whether that was asked for."""
    n = len(rules.allowed)
    is_limited, room = rules.max_parents < n - 1, 64 // n.bit_length() - 1
    if is_limited and rules.max_parents > room:
        way_out = Setting("max_parents", room)
        raise CapacityError(
            f"enumerating the families of {n} nodes takes at most {room} parents for each; set ", way_out
        )
    return min(rules.max_parents, room), is_limited
