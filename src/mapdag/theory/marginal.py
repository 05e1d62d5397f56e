"""BDeu and BDs of one table as functions of alpha, with their limits (Theorems 2, 3 and 4), and BIC beside them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.scores import BIC, BDeu, BDs
from mapdag.theory.alphas import of_table
from mapdag.theory.effective import effective_parameters

if TYPE_CHECKING:
    from mapdag.counts import CountTable


class Limits(NamedTuple):
    """What a function of alpha tends to."""

    zero: float
    infinity: float


@of_table
def log_bdeu(table: CountTable, alpha: float) -> float:
    """Log BDeu of a table.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> log_bdeu(CountTable.from_dense([[10, 1]]), [0.01, 0.1, 1, 10, 100]).round(2).tolist()
    [-8.31, -6.14, -4.83, -5.91, -7.31]
    """
    return BDeu(alpha).score(table)


@of_table
def log_bds(table: CountTable, alpha: float) -> float:
    """Log BDs of a table: that of BDeu at alpha q / q_obs."""
    return BDs(alpha).score(table)


@of_table
def log_bdeu_leading(table: CountTable, alpha: float) -> float:
    """Leading term of log BDeu as alpha goes to 0 (proof of Theorem 2): the difference to `log_bdeu` vanishes.

    With a = alpha / (r q): ``d_EP log a - q_obs log r + sum of log Gamma(n_ijk) - sum of log Gamma(n_ij)``.
    """
    log_a = math.log(alpha) - math.log(table.r) - math.log(table.q)
    return effective_parameters(table) * log_a + _constant(table)


def _constant(table: CountTable) -> float:
    """Part of the leading term that depends on the counts alone."""
    from scipy.special import gammaln

    gammas = float(np.sum(gammaln(table.counts)) - np.sum(gammaln(table.n_ij)))
    return gammas - table.q_obs * math.log(table.r)


def log_bdeu_limits(table: CountTable) -> Limits:
    """Limits of log BDeu, and of log BDs: Theorem 2 as alpha goes to 0, and no information as it goes to infinity.

    As alpha goes to 0 that is minus infinity, or ``-q_obs log r`` where d_EP = 0; at the other end every row has
    probability 1/r.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> log_bdeu_limits(CountTable.from_dense([[10, 1]]))
    Limits(zero=-inf, infinity=-7.62...)
    """
    zero = -math.inf if effective_parameters(table) else -table.q_obs * math.log(table.r)
    return Limits(zero, -table.total * math.log(table.r))


@of_table
def log_bds_over_bdeu(table: CountTable, alpha: float) -> float:
    """Log of BDs / BDeu at the same alpha."""
    return BDs(alpha).score(table) - BDeu(alpha).score(table)


def log_bds_over_bdeu_limits(table: CountTable) -> Limits:
    """Limits of log BDs / BDeu: ``d_EP log(q / q_obs)`` as alpha goes to 0 (Theorem 3), 0 at infinity (Theorem 4).

    Examples
    --------
    >>> from mapdag import CountTable
    >>> sparse = CountTable.from_dense([[2, 1], [1, 2], [1, 2], [0, 0], [0, 0], [0, 0], [0, 0], [2, 1]])
    >>> round(math.exp(log_bds_over_bdeu_limits(sparse).zero), 9)
    16.0
    """
    return Limits(effective_parameters(table) * (math.log(table.q) - math.log(table.q_obs)), 0.0)


@of_table
def bic_gap(table: CountTable, alpha: float) -> float:
    """Log BDeu - BIC: what is left of "BIC -> log BDeu" at this sample size."""
    return BDeu(alpha).score(table) - BIC().score(table)


@of_table
def bic_gap_limit(table: CountTable, alpha: float) -> float:
    """Limit of `bic_gap` when every count is multiplied by more and more: a constant where all cells are positive.

    With a = alpha / (r q) and p the observed frequencies, the sum over configurations of ``sum over k of (a - 1/2) log
    p_jk - (r-1)/2 log p_j + (r-1)/2 log 2 pi + log Gamma(r a) - r log Gamma(a)``. Every empty
    cell adds (1/2 - a) log n, and every configuration without rows (r-1)/2 log n: with those the gap has no limit.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> counts = np.array([[30, 10], [15, 45]])
    >>> round(bic_gap_limit(CountTable.from_dense(counts), 1), 4)
    -0.6189
    >>> round(bic_gap(CountTable.from_dense(counts * 100_000), 1), 4)
    -0.6189
    """
    r, q, n = table.r, table.q, table.total
    a = alpha / (r * q)
    empty = r * table.q_obs - len(table.counts)
    slope = empty * (0.5 - a) + (q - table.q_obs) * (r - 1) / 2
    if slope:
        return math.copysign(math.inf, slope)
    log_p = np.log(table.counts / np.repeat(table.n_ij, np.diff(table.offsets)))
    constant = (r - 1) / 2 * math.log(2 * math.pi) + math.lgamma(r * a) - r * math.lgamma(a)
    by_configuration = constant - (r - 1) / 2 * np.log(table.n_ij / n)
    return float((a - 0.5) * log_p.sum() + by_configuration.sum())
