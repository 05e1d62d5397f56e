"""Family scores, each counted once, shared by all objectives that are learned on the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.objective import FamilyScores
from mapdag.search.constraints import Constraints
from mapdag.search.limits import criterion_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.counts import Backend
    from mapdag.data import Dataset
    from mapdag.objective import Criterion

    Floats = NDArray[np.float64]

_STEP = 64  # nodes to be paired with others before anybody may look at the clock
_WORTH_ASKING = 100_000.0  # nanoseconds of a column from which on Python's threads are worth their overhead


class FamilyCache:
    """Scores of families under several objectives at once, their priors left aside.

    What is kept, and how it is found, is in `mapdag.search.store`. Small requests are counted and scored there, within
    the compiled search; large ones, weighted rows and one's own likelihoods are asked for here.

    Parameters
    ----------
    data : Dataset
    objectives : iterable of Objective
        All that will be asked for: a family is counted once for all of them.
    constraints : Constraints, optional
        What the graphs must obey: required arcs win against `Support`.
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
        self,
        data: Dataset,
        objectives: Iterable[Objective],
        *,
        constraints: Constraints | None = None,
        backend: Backend = "auto",
        threads: int = 1,
    ) -> None:
        from mapdag.search.store import address_of_ensure, new_store

        self.data = data
        obeyed = constraints or Constraints()
        by_objective = {each: criterion_of(each, data, obeyed) for each in objectives}
        self._criteria = criteria = list(dict.fromkeys(by_objective.values()))
        self._rows = {each: criteria.index(criterion) for each, criterion in by_objective.items()}
        self._scores = FamilyScores(data, criteria, backend=backend, threads=threads)
        n = data.n_columns
        self.store = new_store(n, len(criteria), columns=2 * n + 16, singles=4 * n + 16)
        self.zobrist = np.random.default_rng(0).integers(0, 2**64, (2 * n, 2), dtype=np.uint64)
        self.native = self._scores.native(serial=threads == 1 or self._scores.estimate() < _WORTH_ASKING)
        self.ensure = address_of_ensure(self.native, self.zobrist, self.store)
        self._paired = np.eye(n, dtype=np.bool_)

    def estimate(self) -> float:
        """Estimate the nanoseconds to count one node without parents with every candidate."""
        return self._scores.estimate()

    @property
    def families(self) -> int:
        """Families counted so far."""
        return int(self.store[7][2])

    def criterion(self, objective: Objective) -> Criterion:
        """Return what an objective judges families by."""
        return self._criteria[self._rows[objective]]

    def index(self, objective: Objective) -> int:
        """Row of an objective in what the other methods return."""
        return self._rows[objective]

    def grow(self) -> None:
        """Make room for more scores."""
        from mapdag.search.store import grown

        self.store = grown(self.store, 2 * len(self.store[2]), 2 * len(self.store[6]))

    def family(self, child: int, parents: Sequence[int]) -> Floats:
        """Scores of one family under each likelihood and limit; minus infinity where it is thinner than allowed."""
        from mapdag.search.store import family_key, find_family, keep_single

        members = np.array(parents, dtype=np.int64)
        scores = np.empty(len(self._criteria))
        if not find_family(child, members, len(members), -1, self.zobrist, self.store, scores):
            scores = self._scores.family(child, parents)
            key = family_key(child, members, len(members), -1, self.zobrist)
            while not keep_single(key, scores, self.store):
                self.grow()
        return scores

    def pair_up(self, wanted: NDArray[np.bool_]) -> Iterator[int]:
        """Score every node alone and with each single parent that is wanted, ``wanted[parent, child]``, in steps.

        Both directions of a pair share one table. Yields how many nodes are done; nothing where all is known, where
        there are no rows, or where Python must be asked.
        """
        from mapdag.search.store import fill_pairs, find_roots

        n = self.data.n_columns
        if not self._scores.is_compiled or self.data.n_rows == 0 or not (wanted & ~self._paired).any():
            return
        while self.store[7][0] + n > len(self.store[2]):
            self.grow()
        places = find_roots(self.zobrist, self.store)
        missing = wanted & np.isnan(self.store[2][places, 0]).T
        self.store[7][2] += int(missing.sum()) + int(np.isnan(self.store[3][places, 0]).sum())

        def fill(children: NDArray[np.int64]) -> None:
            fill_pairs(children, missing, places, self._scores.native(), *self.store[2:4])

        for first in range(0, n, _STEP):
            self._scores.share(fill, np.arange(first, min(first + _STEP, n)))
            yield min(first + _STEP, n)
        self._paired |= wanted

    def fetch(self, child: int, parents: Sequence[int], wanted: NDArray[np.bool_]) -> None:
        """Make sure that the store has all that `mapdag.search.climb.refresh` needs for a node."""
        from mapdag.search.store import family_key, find_column, find_family, keep_single, make_column

        def key_of(members: NDArray[np.int64]) -> Any:
            return family_key(child, members, len(members), -1, self.zobrist)

        members, scores = np.array(sorted(parents), dtype=np.int64), np.empty(len(self._criteria))
        key = key_of(members)
        place = find_column(key, self.store)
        while place < 0:
            place = make_column(key, self.store)
            if place < 0:
                self.grow()
        missing = np.flatnonzero(wanted & np.isnan(self.store[2][place, 0]))
        families = [members, *(np.delete(members, i) for i in range(len(members)))]
        unknown = [
            each
            for each in families
            if len(each) and not find_family(child, each, len(each), -1, self.zobrist, self.store, scores)
        ]
        column = [(child, members.tolist(), missing.tolist())] if len(missing) else []
        singles = [(child, each[:-1].tolist(), each[-1:].tolist()) for each in unknown]
        found = self._scores.several(column + singles)
        if column:
            self.store[2][place][:, missing] = found[0]
            self.store[7][2] += len(missing)
        for each, answer in zip(unknown, found[len(column) :], strict=True):
            while not keep_single(key_of(each), answer[:, 0], self.store):
                self.grow()
        self.store[3][place] = self.family(child, members.tolist())
        for each in families[1:]:
            self.family(child, each.tolist())  # also without any parent
