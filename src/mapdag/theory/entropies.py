"""Entropies of a family: empirical, and of the posterior estimates under BDeu and BDs (Theorem 1).

The paper's conditional entropies are plain sums over observed configurations; the usual one, weighted by their
probabilities, has its own name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.theory.alphas import of_table
from mapdag.theory.factors import log_bdeu_factor, log_bds_factor
from mapdag.theory.marginal import log_bds_over_bdeu

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts import CountTable


def entropy(table: CountTable) -> float:
    """Empirical conditional entropy H(X | P), summed over observed configurations without weights, as in the paper.

    The limit of both posterior entropies as alpha goes to 0.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> round(entropy(CountTable.from_dense([[2, 1], [1, 2], [1, 2], [2, 1]])), 3)
    2.546
    """
    return float(_entropies(table, 0.0).sum())


def largest_entropy(table: CountTable) -> float:
    """Limit of both posterior entropies as alpha goes to infinity: log r in each observed configuration."""
    return table.q_obs * math.log(table.r)


@of_table
def posterior_entropy(table: CountTable, alpha: float) -> float:
    """H(X | P; alpha), the entropy of BDeu's posterior estimates (Theorem 1): pseudo-counts alpha / (r q).

    It grows with alpha, from `entropy` to `largest_entropy`.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> table = CountTable.from_dense([[2, 1], [1, 2], [1, 2], [2, 1]])
    >>> posterior_entropy(table, [0.01, 1, 100]).round(3).tolist()
    [2.546, 2.58, 2.77]
    """
    return float(_entropies(table, alpha / (table.r * table.q)).sum())


@of_table
def sparse_posterior_entropy(table: CountTable, alpha: float) -> float:
    """H~(X | P; alpha), the entropy of BDs' posterior estimates: pseudo-counts alpha / (r q_obs)."""
    return float(_entropies(table, alpha / (table.r * table.q_obs)).sum())


def conditional_entropy(table: CountTable) -> float:
    """Textbook conditional entropy: configurations weighted by their observed frequencies."""
    return float((_entropies(table, 0.0) * table.n_ij).sum() / table.total)


def _entropies(table: CountTable, a: float) -> NDArray[np.float64]:
    """Entropy of the estimates (a + n_ijk) / (r a + n_ij) in each observed configuration."""
    n_ij = table.n_ij
    per_configuration = np.diff(table.offsets)
    p = (table.counts + a) / np.repeat(n_ij + table.r * a, per_configuration)
    positive = np.add.reduceat(-p * np.log(p), table.offsets[:-1]) if len(p) else np.zeros(0)
    if a == 0:
        return np.asarray(positive)
    empty = a / (n_ij + table.r * a)
    return np.asarray(positive - (table.r - per_configuration) * empty * np.log(empty))


# Curves --------------------------------------------------------------------------------------------------------------


class LimitPoint(NamedTuple):
    """One alpha: logs of BDs / BDeu and of the Bayes factors, and the entropies of the larger family.

    Attributes
    ----------
    alpha : float
    log_ratio : float
        Log of BDs / BDeu for the family with the arc.
    log_bdeu_factor, log_bds_factor : float
        Log Bayes factors of G+ against G-.
    posterior_entropy, sparse_posterior_entropy : float
        Of the family with the arc, under BDeu's and under BDs' estimates.
    """

    alpha: float
    log_ratio: float
    log_bdeu_factor: float
    log_bds_factor: float
    posterior_entropy: float
    sparse_posterior_entropy: float


def limit_curves(with_arc: CountTable, without: CountTable, alphas: Sequence[float]) -> tuple[LimitPoint, ...]:
    """Follow one pair of tables over many alphas.

    Examples
    --------
    >>> from mapdag.theory import EXAMPLE_1
    >>> round(limit_curves(*EXAMPLE_1.tables, [1e-6, 1])[0].log_ratio, 5)
    2.77259
    """
    columns = zip(
        alphas,
        log_bds_over_bdeu(with_arc, list(alphas)),
        log_bdeu_factor(with_arc, without, list(alphas)),
        log_bds_factor(with_arc, without, list(alphas)),
        posterior_entropy(with_arc, list(alphas)),
        sparse_posterior_entropy(with_arc, list(alphas)),
        strict=True,
    )
    return tuple(LimitPoint(*map(float, point)) for point in columns)
