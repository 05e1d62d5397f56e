"""Penalised likelihoods: the maximised log-likelihood of a family less a penalty for its parameters.

d = (r - 1) q counts the parameters over *declared* levels and configurations.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.contracts import Likelihood, check_positive, write
from mapdag.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts import TableBatch
    from mapdag.terms import Terms

    Floats = NDArray[np.float64]


def log_likelihood(batch: TableBatch, terms: Terms) -> Floats:
    """Maximised log-likelihood: sum of n_ijk log(n_ijk / n_ij) over the positive cells."""
    from mapdag.terms import XLOGX

    each = np.full(len(batch.q), XLOGX), np.zeros(len(batch.q))
    return terms.difference(batch, each, each)


class Penalised(Likelihood):
    """Maximised log-likelihood less a penalty."""

    score_equivalent = True

    @abstractmethod
    def penalty(self, batch: TableBatch) -> Floats:
        """What to take off each table's log-likelihood."""

    def score_batch(self, batch: TableBatch, terms: Terms) -> Floats:
        """Penalised log-likelihood of each table."""
        return log_likelihood(batch, terms) - self.penalty(batch)


@dataclass(frozen=True, repr=False)
class LogLik(Penalised):
    """Maximised log-likelihood, without any penalty: always prefers more arcs."""

    def penalty(self, batch: TableBatch) -> Floats:
        """Nothing."""
        return np.zeros(len(batch.q))

    def __str__(self) -> str:
        return "LogLik"


@dataclass(frozen=True, repr=False)
class AIC(Penalised):
    """Akaike's information criterion: log-likelihood - d."""

    def penalty(self, batch: TableBatch) -> Floats:
        """One for each parameter."""
        return (batch.r - 1) * batch.q

    def __str__(self) -> str:
        return "AIC"


@dataclass(frozen=True, repr=False)
class BIC(Penalised):
    """Bayesian information criterion (Schwarz 1978): log-likelihood - k d, k = log(n) / 2 unless given.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> BIC().score(CountTable.from_dense([[5, 5]]))
    -8.082...
    """

    k: float | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", check_positive("k", self.k))

    def penalty(self, batch: TableBatch) -> Floats:
        """Half a log n for each parameter, or what was asked for."""
        k = math.log(max(batch.total, 1)) / 2 if self.k is None else self.k
        return (batch.r - 1) * batch.q * k

    def __str__(self) -> str:
        return write("BIC", k=self.k)


@dataclass(frozen=True, repr=False)
class eBIC(Penalised):  # noqa: N801 - its name in the literature
    """Extended BIC (Foygel and Drton 2010): BIC - 4 gamma log N for each parent, N the number of nodes."""

    gamma: float = 0.5

    def __post_init__(self) -> None:
        if not (isinstance(self.gamma, (int, float)) and 0 <= self.gamma < math.inf):
            raise ParameterError(f"gamma must be a number of at least 0, got {self.gamma!r}")
        object.__setattr__(self, "gamma", float(self.gamma))

    def penalty(self, batch: TableBatch) -> Floats:
        """The BIC's, and the price of each parent."""
        return BIC().penalty(batch) + 4 * self.gamma * batch.n_parents * math.log(batch.n_nodes)

    def __str__(self) -> str:
        return write("eBIC", gamma=self.gamma)
