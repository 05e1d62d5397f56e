"""The Bayesian Dirichlet scores: one formula (the paper's equation 3), several rules for the pseudo-counts.

BD(X | P) = product over configurations j of Gamma(a_ij) / Gamma(a_ij + n_ij) times the product over levels k of
Gamma(a_ijk + n_ijk) / Gamma(a_ijk), with a_ij = r a_ijk. Configurations and cells that were not observed contribute
nothing, so only positive counts matter. Taking the first factor out of each rising factorial gives

    log BD = d_EP log a - q_obs log r + sum over cells of R(a, n_ijk) - sum over configurations of R(r a, n_ij),

d_EP being the effective number of parameters: the form in which small pseudo-counts lose no digits.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
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


_TINY = 1e-300  # below this a pseudo-count is known by its log only


class Dirichlet(Likelihood):
    """Bayesian Dirichlet score with the same pseudo-count in every cell that has a chance to be observed.

    A subclass is a rule (r, q, q_obs) -> a.
    """

    @abstractmethod
    def pseudo_count(self, r: int, q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """Pseudo-count a_ijk of each table."""

    def log_pseudo_count(self, r: int, log_q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """Log of the same where it is too small for the floats: more than 1e300 configurations."""
        return np.log(self.pseudo_count(r, np.exp(log_q), q_obs))

    def score_batch(self, batch: TableBatch, terms: Terms) -> Floats:
        """Log BD of each table."""
        from mapdag.terms import RISING_EACH, RISING_ONCE

        q_obs = batch.q_obs
        a = self.pseudo_count(batch.r, batch.q, q_obs)
        log_a = np.log(np.maximum(a, _TINY))
        if (a < _TINY).any():
            log_a = np.where(a < _TINY, self.log_pseudo_count(batch.r, batch.log_q, q_obs), log_a)
        # Large pseudo-counts: take log a off every factor, not only the first, to keep what is left small.
        large = a >= batch.total
        kinds = np.where(large, RISING_EACH, RISING_ONCE)
        rest = terms.difference(batch, (kinds, a), (kinds, a * batch.r))
        first = (batch.n_positive - q_obs) * log_a - q_obs * math.log(batch.r)
        return rest + np.where(large, -batch.total * math.log(batch.r), first)


@dataclass(frozen=True, repr=False)
class BDeu(Dirichlet):
    """Bayesian Dirichlet equivalent uniform score (Heckerman et al. 1995): a = alpha / (r q).

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> BDeu(alpha=1).score(CountTable.from_dense([[10, 1]]))
    -4.827...
    """

    alpha: float = 1.0
    score_equivalent = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_positive("alpha", self.alpha))

    def pseudo_count(self, r: int, q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """Alpha spread over all declared cells."""
        del q_obs
        return self.alpha / (r * q)

    def log_pseudo_count(self, r: int, log_q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """Log of the pseudo-count, for any number of configurations."""
        del q_obs
        return math.log(self.alpha) - math.log(r) - log_q

    def __str__(self) -> str:
        return write("BDeu", alpha=self.alpha)


@dataclass(frozen=True, repr=False)
class BDs(Dirichlet):
    """Bayesian Dirichlet sparse score (the paper's equation 9): a = alpha / (r q_obs) where n_ij > 0.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> dense = CountTable.from_dense([[3, 0], [0, 3], [0, 3], [3, 0]])
    >>> sparse = CountTable.from_dense([[3, 0], [0, 3], [0, 3], [0, 0], [0, 0], [0, 0], [0, 0], [3, 0]])
    >>> BDs(alpha=1).score(dense) == BDs(alpha=1).score(sparse)
    True
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_positive("alpha", self.alpha))

    def pseudo_count(self, r: int, q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """Alpha spread over the cells of observed configurations."""
        del q
        return self.alpha / (r * np.maximum(q_obs, 1))

    def __str__(self) -> str:
        return write("BDs", alpha=self.alpha)


@dataclass(frozen=True, repr=False)
class K2(Dirichlet):
    """K2 score (Cooper and Herskovits 1991): a = 1."""

    def pseudo_count(self, r: int, q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """One in every cell."""
        del r, q_obs
        return np.ones_like(q)

    def __str__(self) -> str:
        return "K2"


@dataclass(frozen=True, repr=False)
class BDJ(Dirichlet):
    """BD score with Jeffreys' prior (Suzuki 2016): a = 1/2."""

    def pseudo_count(self, r: int, q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """One half in every cell."""
        del r, q_obs
        return np.full_like(q, 0.5)

    def __str__(self) -> str:
        return "BDJ"


@dataclass(frozen=True, repr=False)
class BD(Dirichlet):
    """BD score with any pseudo-count.

    Parameters
    ----------
    a : float or callable
        The pseudo-count a_ijk, or a rule ``(r, q, q_obs) -> a``.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> table = CountTable.from_dense([[2, 1], [1, 2]])
    >>> BD(1).score(table) == K2().score(table)
    True
    >>> BD(lambda r, q, q_obs: 10 / (r * q)).score(table) == BDeu(alpha=10).score(table)
    True
    """

    a: float | Callable[[int, float, int], float]

    def __post_init__(self) -> None:
        if not callable(self.a):
            object.__setattr__(self, "a", check_positive("a", self.a))

    def pseudo_count(self, r: int, q: Floats, q_obs: NDArray[np.int64]) -> Floats:
        """Pseudo-count that was asked for."""
        if not callable(self.a):
            return np.full_like(q, self.a)
        values = [self.a(r, each, int(observed)) for each, observed in zip(q.tolist(), q_obs, strict=True)]
        for value, each, observed in zip(values, q, q_obs, strict=True):
            if not (value > 0 and math.isfinite(value)):
                raise ParameterError(
                    f"the rule of BD must give a positive number, got {value!r} for r={r}, q={each:g}, q_obs={observed}"
                )
        return np.array(values, dtype=np.float64)

    def __str__(self) -> str:
        return write("BD", a=getattr(self.a, "__name__", "rule") if callable(self.a) else self.a)
