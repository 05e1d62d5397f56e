"""Family scores, each counted once, shared by all objectives that are learned on the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.objective import FamilyScores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.counts import Backend
    from mapdag.data import Dataset

    Floats = NDArray[np.float64]


class FamilyCache:
    """Scores of families under several likelihoods at once.

    Parents are given as bitmasks. What is kept is columns: the scores of one family with each other node added in turn.

    Parameters
    ----------
    data : Dataset
    likelihoods : iterable of Likelihood
        All that will be asked for: a family is counted once for all of them.
    backend : {"auto", "bitsets", "histogram"}
        How to count.
    threads : int
        Threads to count and score with; the scores do not depend on it.

    Attributes
    ----------
    families : int
        Families counted so far.
    """

    def __init__(
        self, data: Dataset, likelihoods: Iterable[Likelihood], *, backend: Backend = "auto", threads: int = 1
    ) -> None:
        self.data = data
        self.likelihoods = list(dict.fromkeys(likelihoods))
        self.families = 0
        self._scores = FamilyScores(data, self.likelihoods, backend=backend, threads=threads)
        self._columns: dict[tuple[int, int], Floats] = {}
        self._singles: dict[tuple[int, int], Floats] = {}

    def index(self, likelihood: Likelihood) -> int:
        """Row of a likelihood in what the other methods return."""
        return self.likelihoods.index(likelihood)

    def family(self, child: int, parents: int) -> Floats:
        """Score of one family under each likelihood."""
        found = self._singles.get((child, parents))
        if found is not None:
            return found
        for member in members(parents):
            column = self._columns.get((child, parents ^ (1 << member)))
            if column is not None and not np.isnan(column[0, member]):
                return column[:, member]
        self.families += 1
        scores = self._scores.family(child, list(members(parents)))
        self._singles[child, parents] = scores
        return scores

    def column(self, child: int, parents: int, candidates: NDArray[np.bool_]) -> Floats:
        """Scores with each candidate added to the parents, one row per likelihood, one column per node.

        Entries of nodes that are no candidates may be missing (not a number).
        """
        column = self._columns.get((child, parents))
        if column is None:
            column = np.full((len(self.likelihoods), len(candidates)), np.nan)
            self._columns[child, parents] = column
        wanted = candidates & np.isnan(column[0])
        wanted[child] = False
        for member in members(parents):
            wanted[member] = False
        places = np.flatnonzero(wanted)
        if len(places):
            self.families += len(places)
            column[:, places] = self._scores.extensions(child, list(members(parents)), places.tolist())
        return column


def members(mask: int) -> Iterator[int]:
    """Positions of the bits of a mask, in order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
