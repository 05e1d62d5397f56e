"""Normalised maximum likelihood scores: the log-likelihood less the log of a normaliser C(n, k).

C(n, k) is the sum of the maximised likelihoods of all samples of size n from k categories; `mapdag.terms.log_regret`
computes it exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.contracts import Likelihood
from mapdag.scores.penalised import log_likelihood

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts import TableBatch
    from mapdag.terms import Terms

    Floats = NDArray[np.float64]

_FAR = 1e250  # beyond so many configurations C(n, r q) / C(n, q) is r^n in double precision


@dataclass(frozen=True, repr=False)
class fNML(Likelihood):  # noqa: N801 - its name in the literature
    """Factorised NML (Silander et al. 2008): log-likelihood - sum over observed j of log C(n_ij, r)."""

    whole_counts = True

    def score_batch(self, batch: TableBatch, terms: Terms) -> Floats:
        """Log fNML of each table."""
        from mapdag.terms import REGRET, XLOGX

        size = len(batch.q)
        cells = np.full(size, XLOGX), np.zeros(size)
        return terms.difference(batch, cells, (np.full(size, REGRET), np.full(size, float(batch.r))))

    def __str__(self) -> str:
        return "fNML"


@dataclass(frozen=True, repr=False)
class qNML(Likelihood):  # noqa: N801 - its name in the literature
    """Quotient NML (Silander et al. 2018): log-likelihood - log C(n, r q) + log C(n, q)."""

    score_equivalent = True
    whole_counts = True

    def score_batch(self, batch: TableBatch, terms: Terms) -> Floats:
        """Log qNML of each table."""
        return log_likelihood(batch, terms) - self._penalty(batch)

    def _penalty(self, batch: TableBatch) -> Floats:
        from mapdag.terms import log_regret

        n = int(batch.total)
        distinct, which = np.unique(batch.q, return_inverse=True)
        penalties = [
            n * math.log(batch.r) if q > _FAR else log_regret(n, batch.r * q) - log_regret(n, q) for q in distinct
        ]
        return np.array(penalties)[which]

    def __str__(self) -> str:
        return "qNML"
