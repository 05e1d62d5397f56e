"""Scores of single families in one data set: what a search asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.counts import Backend, Counter
from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.data import Dataset


class FamilyScores:
    """Log-likelihood of any family of one data set; nodes are column indices.

    Parameters
    ----------
    data : Dataset
    likelihood : Likelihood
    backend : {"auto", "bitsets", "histogram"}
        How to count; the scores are the same to the last bit.
    """

    def __init__(self, data: Dataset, likelihood: Likelihood, *, backend: Backend = "auto") -> None:
        from mapdag.terms import Terms

        if likelihood.whole_counts and data.weights is not None and data.weights.dtype.kind == "f":
            raise DataError(f"{likelihood} is defined for whole counts only, but the weights of the rows are fractions")
        self.likelihood = likelihood
        self._counter = Counter(data, backend=backend)
        self._terms = Terms(self._counter.total)

    def family(self, child: int, parents: Sequence[int]) -> float:
        """Score of one family."""
        parents = sorted(parents)
        if self.likelihood.from_tables:
            return self.likelihood.score(self._counter.table(child, parents))
        return float(self.likelihood.score_batch(self._counter.family(child, parents), self._terms)[0])

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Scores of one family with each candidate parent added in turn."""
        parents = sorted(parents)
        if self.likelihood.from_tables:
            return np.array([self.family(child, [*parents, extra]) for extra in candidates])
        scores = np.empty(len(candidates))
        for places, batch in self._counter.extensions(child, parents, np.asarray(candidates, dtype=np.int64)):
            scores[places] = self.likelihood.score_batch(batch, self._terms)
        return scores
