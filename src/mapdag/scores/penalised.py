"""Penalised likelihoods: the maximised log-likelihood of a family less a penalty for its parameters.

The log-likelihood is the sum of n_ijk log(n_ijk / n_ij) over the positive cells; d = (r - 1) q counts the parameters
over *declared* levels and configurations. That of normalised maximum likelihood is the log of a normaliser instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mapdag.checks import check_number, check_positive
from mapdag.contracts import Likelihood, Recipe, write
from mapdag.scores.fixed import Fixed


@dataclass(frozen=True, repr=False)
class LogLik(Fixed):
    """Maximised log-likelihood, without any penalty: always prefers more arcs."""

    score_equivalent = True
    fixed = Recipe("penalised")


@dataclass(frozen=True, repr=False)
class AIC(Fixed):
    """Akaike's information criterion: log-likelihood - d."""

    score_equivalent = True
    fixed = Recipe("penalised", 1.0)


@dataclass(frozen=True, repr=False)
class BIC(Likelihood):
    """Bayesian information criterion (Schwarz 1978): log-likelihood - k d, k = log(n) / 2 unless given.

    n is the sum of the weights; where it is below 1, k is 0, as parameters never are a gain.

    Examples
    --------
    >>> from mapdag.counts import CountTable
    >>> BIC().score(CountTable.from_dense([[5, 5]]))
    -8.082...
    """

    k: float | None = None
    score_equivalent = True

    def __post_init__(self) -> None:
        if self.k is not None:
            object.__setattr__(self, "k", check_positive("k", self.k))

    def recipe(self, total: float, n_nodes: int) -> Recipe:
        """Half a log n for each parameter, or what was asked for."""
        del n_nodes
        return Recipe("penalised", math.log(max(total, 1)) / 2 if self.k is None else self.k)

    def __str__(self) -> str:
        return write("BIC", k=self.k)


@dataclass(frozen=True, repr=False)
class eBIC(Likelihood):  # noqa: N801 - its name in the literature
    """Extended BIC (Foygel and Drton 2010): BIC - 4 gamma log N for each parent, N the number of nodes."""

    gamma: float = 0.5
    score_equivalent = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_number("gamma", self.gamma, least=0))

    def recipe(self, total: float, n_nodes: int) -> Recipe:
        """The BIC's penalty, and the price of each parent."""
        return Recipe("penalised", math.log(max(total, 1)) / 2, 4 * self.gamma * math.log(n_nodes))

    def __str__(self) -> str:
        return write("eBIC", gamma=self.gamma)


# Normalised maximum likelihood ---------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class fNML(Fixed):  # noqa: N801 - its name in the literature
    """Factorised NML (Silander et al. 2008): log-likelihood - sum over observed j of log C(n_ij, r)."""

    whole_counts = True
    fixed = Recipe("factorised")


@dataclass(frozen=True, repr=False)
class qNML(Fixed):  # noqa: N801 - its name in the literature
    """Quotient NML (Silander et al. 2018): log-likelihood - log C(n, r q) + log C(n, q)."""

    score_equivalent = True
    whole_counts = True
    fixed = Recipe("quotient")
