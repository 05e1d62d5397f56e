"""Scores of single families in one data set: what a search asks for."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts import Backend, Counter
from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.data import Dataset
    from mapdag.terms import Terms

_WORTH_A_THREAD = 400_000.0  # nanoseconds of counting that outweigh the hand-over to a thread


class FamilyScores:
    """Log-likelihoods of any family of one data set, several likelihoods from one count; nodes are column indices.

    Parameters
    ----------
    data : Dataset
    likelihoods : sequence of Likelihood
    backend : {"auto", "bitsets", "histogram"}
        How to count; the scores are the same to the last bit.
    threads : int
        How many threads may share a large request; the scores are the same to the last bit.
    """

    def __init__(
        self, data: Dataset, likelihoods: Sequence[Likelihood], *, backend: Backend = "auto", threads: int = 1
    ) -> None:
        for likelihood in likelihoods:
            if likelihood.whole_counts and data.weights is not None and data.weights.dtype.kind == "f":
                raise DataError(f"{likelihood} is defined for whole counts, but the weights of the rows are fractions")
        self.likelihoods = tuple(likelihoods)
        self._from_counts = [(i, each) for i, each in enumerate(likelihoods) if not each.from_tables]
        self._from_tables = [(i, each) for i, each in enumerate(likelihoods) if each.from_tables]
        self._counter = Counter(data, backend=backend)
        self._threads = threads
        self._own = threading.local()  # the memo of a thread's terms

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, thread_name_prefix="mapdag")

    @property
    def _terms(self) -> Terms:
        if not hasattr(self._own, "terms"):
            from mapdag.terms import Terms

            self._own.terms = Terms(self._counter.total)
        terms: Terms = self._own.terms
        return terms

    def family(self, child: int, parents: Sequence[int]) -> NDArray[np.float64]:
        """Score of one family under each likelihood."""
        parents = sorted(parents)
        scores = np.empty(len(self.likelihoods))
        if self._from_counts:
            batch = self._counter.family(child, parents)
            for i, likelihood in self._from_counts:
                scores[i] = likelihood.score_batch(batch, self._terms)[0]
        if self._from_tables:
            table = self._counter.table(child, parents)
            for i, likelihood in self._from_tables:
                scores[i] = likelihood.score(table)
        return scores

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Scores of one family with each candidate parent added in turn, one row per likelihood."""
        parents = sorted(parents)
        scores = np.empty((len(self.likelihoods), len(candidates)))
        if self._from_counts:
            every = np.asarray(candidates, dtype=np.int64)
            work = self._counter.estimate(child, parents, every)
            parts = min(self._threads, len(every), int(work / _WORTH_A_THREAD) + 1)
            runs = [np.arange(part, len(every), parts) for part in range(parts)]
            if parts == 1:
                self._extend(child, parents, every, runs[0], scores)
            else:
                list(self._pool.map(lambda run: self._extend(child, parents, every, run, scores), runs))
        if self._from_tables:
            for place, candidate in enumerate(candidates):
                table = self._counter.table(child, sorted([*parents, candidate]))
                for i, likelihood in self._from_tables:
                    scores[i, place] = likelihood.score(table)
        return scores

    def _extend(
        self, child: int, parents: Sequence[int], candidates: NDArray[np.int64], run: NDArray[np.int64], scores: Any
    ) -> None:
        """Fill in the scores of some of the candidates."""
        for places, batch in self._counter.extensions(child, parents, candidates[run]):
            for i, likelihood in self._from_counts:
                scores[i, run[places]] = likelihood.score_batch(batch, self._terms)
