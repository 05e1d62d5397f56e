"""Family scores, each counted once, shared by all objectives that are learned on the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.objective import FamilyScores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.counts import Backend
    from mapdag.data import Dataset

    Floats = NDArray[np.float64]

_WORTH_ASKING = 100_000.0  # nanoseconds of a column from which on Python's threads are worth their overhead


class FamilyCache:
    """Scores of families under several likelihoods at once.

    What is kept, and how it is found, is in `mapdag.search.store`. Small requests are counted and scored there, within
    the compiled search; large ones, weighted rows and one's own likelihoods are asked for here.

    Parameters
    ----------
    data : Dataset
    likelihoods : iterable of Likelihood
        All that will be asked for: a family is counted once for all of them.
    backend : {"auto", "bitsets", "tables", "sorted"}
        How to count.
    threads : int
        Threads to count and score with; the scores do not depend on it.

    Attributes
    ----------
    store, zobrist, native, ensure : tuple, array, tuple, int
        What the compiled search takes: the scores, keys of the nodes, the data (or none, to be asked here), and the
        address of the kernel that adds to the scores.
    """

    def __init__(
        self, data: Dataset, likelihoods: Iterable[Likelihood], *, backend: Backend = "auto", threads: int = 1
    ) -> None:
        from mapdag.search.store import address_of_ensure, new_store

        self.data = data
        self.likelihoods = list(dict.fromkeys(likelihoods))
        self._scores = FamilyScores(data, self.likelihoods, backend=backend, threads=threads)
        n = data.n_columns
        self.store = new_store(n, len(self.likelihoods), columns=2 * n + 16, singles=4 * n + 16)
        self.zobrist = np.random.default_rng(0).integers(0, 2**64, (2 * n, 2), dtype=np.uint64)
        self.native = self._scores.native(serial=threads == 1 or self._scores.estimate() < _WORTH_ASKING)
        self.ensure = address_of_ensure(self.native, self.zobrist, self.store)

    def estimate(self) -> float:
        """Estimate the nanoseconds to count one node without parents with every candidate."""
        return self._scores.estimate()

    @property
    def families(self) -> int:
        """Families counted so far."""
        return int(self.store[7][2])

    def index(self, likelihood: Likelihood) -> int:
        """Row of a likelihood in what the other methods return."""
        return self.likelihoods.index(likelihood)

    def grow(self) -> None:
        """Make room for more scores."""
        from mapdag.search.store import grown

        self.store = grown(self.store)

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Scores of one family under each likelihood."""
        from mapdag.search.store import family_key, find_family, keep_single

        members = np.array(parents, dtype=np.int64)
        scores = np.empty(len(self.likelihoods))
        if not find_family(child, members, len(members), -1, self.zobrist, self.store, scores):
            scores = self._scores.family(child, parents)
            key = family_key(child, members, len(members), -1, self.zobrist)
            while not keep_single(key, scores, self.store):
                self.grow()
        return scores

    def fetch(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> None:
        """Make sure that the store has all that `mapdag.search.climb.refresh` needs for a node."""
        from mapdag.search.store import family_key, find_column, make_column

        own = self.family(child, parents)
        for p in parents:
            self.family(child, [other for other in parents if other != p])
        members = np.array(parents, dtype=np.int64)
        key = family_key(child, members, len(members), -1, self.zobrist)
        place = find_column(key, self.store)
        while place < 0:
            place = make_column(key, self.store)
            if place < 0:
                self.grow()
        self.store[3][place] = own
        missing = np.flatnonzero(wanted & np.isnan(self.store[2][place, 0]))
        if len(missing):
            self.store[2][place][:, missing] = self._scores.extensions(child, parents, missing.tolist())
            self.store[7][2] += len(missing)
