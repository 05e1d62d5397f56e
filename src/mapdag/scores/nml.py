"""Normalised maximum likelihood scores: the log-likelihood less the log of a normaliser C(n, k).

C(n, k) is the sum of the maximised likelihoods of all samples of size n from k categories; `log_regret` in
`mapdag.terms` computes it exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from mapdag.contracts import Recipe
from mapdag.scores.fixed import Fixed


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
