"""Theorem 5 at finite alphas: how often its rule agrees with the Bayes factor itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.counts import CountTable
from mapdag.theory import (
    effective_degrees_of_freedom,
    favours_arc,
    log_bdeu_factor,
    log_bds_factor,
    log_bds_factor_leading,
    log_implicit_prior_ratio,
)

if TYPE_CHECKING:
    from mapdag.theory import Example


class AgreementPoint(NamedTuple):
    """Share of random pairs of tables on which a rule and a Bayes factor agree, at one alpha.

    Attributes
    ----------
    alpha : float
    pairs : int
        With d_EDF other than 0, and an implicit prior ratio other than 1.
    bds : float
        Theorem 5's rule against the sign of the log Bayes factor under BDs.
    bdeu : float
        The sign of d_EDF against that under BDeu.
    without_prior : float
        The sign of d_EDF alone against the log Bayes factor under BDs.
    leading : float
        The leading term of the log Bayes factor under BDs, constants included, against all of it.
    """

    alpha: float
    pairs: int
    bds: float
    bdeu: float
    without_prior: float
    leading: float


def random_pair(rng: np.random.Generator) -> Example:
    """Draw a child with one parent and with one more, from few rows of uneven independent columns."""
    from mapdag.theory import Example

    r, first, second = rng.integers(2, 5, size=3)
    rows = int(rng.integers(5, 40))
    child, a, b = (rng.choice(k, size=rows, p=rng.dirichlet([0.7] * k)) for k in (r, first, second))
    full = np.zeros((first, second, r), dtype=np.int64)
    np.add.at(full, (a, b, child), 1)
    return Example(
        "random", CountTable.from_dense(full.sum(axis=1)), CountTable.from_dense(full.reshape(first * second, r))
    )


def threshold_agreement(
    alphas: Sequence[float] = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4), *, pairs: int = 500, seed: int = 1
) -> tuple[AgreementPoint, ...]:
    """Compare the rules with the Bayes factors on random tables.

    Examples
    --------
    >>> [point.bds for point in threshold_agreement([1e-30], pairs=20)]
    [1.0]
    """
    rng = np.random.default_rng(seed)
    drawn: list[Example] = []
    while len(drawn) < pairs:
        pair = random_pair(rng)
        if effective_degrees_of_freedom(*pair.tables) and log_implicit_prior_ratio(*pair.tables):
            drawn.append(pair)
    gained = np.array([effective_degrees_of_freedom(*pair.tables) for pair in drawn])
    found = []
    for alpha in alphas:
        rule = np.array([favours_arc(*pair.tables, alpha) for pair in drawn], dtype=object)
        bds = np.array([log_bds_factor(*pair.tables, alpha) for pair in drawn]) > 0
        leading = np.array([log_bds_factor_leading(*pair.tables, alpha) for pair in drawn]) > 0
        bdeu = np.array([log_bdeu_factor(*pair.tables, alpha) for pair in drawn]) > 0
        found.append(
            AgreementPoint(
                alpha=float(alpha),
                pairs=len(drawn),
                bds=float(np.mean(rule == bds)),
                bdeu=float(np.mean((gained < 0) == bdeu)),
                without_prior=float(np.mean((gained < 0) == bds)),
                leading=float(np.mean(leading == bds)),
            )
        )
    return tuple(found)
