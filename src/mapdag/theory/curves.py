"""The curves of the paper's figures 3.2 and 3.3: everything about one pair of tables as alpha runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mapdag.theory.entropies import posterior_entropy, sparse_posterior_entropy
from mapdag.theory.factors import log_bdeu_factor, log_bds_factor
from mapdag.theory.marginal import log_bds_over_bdeu

if TYPE_CHECKING:
    from mapdag.counts import CountTable


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
