"""The quantities of sections 2 and 3 of the paper, each as a function of a count table and alpha, with its limits.

The paper is Scutari, "Beyond Uniform Priors in Bayesian Network Structure Learning". Every `alpha` is one number or an
array of them. Exact counts of DAGs, for the uniform prior, are in `mapdag.graphs`; experiments that need a search, in
`mapdag.paper.experiments`.
"""

from __future__ import annotations

from mapdag.theory.diagnosis import Diagnosis, diagnose
from mapdag.theory.effective import effective_alpha, effective_degrees_of_freedom, effective_parameters
from mapdag.theory.entropies import (
    LimitPoint,
    conditional_entropy,
    entropy,
    largest_entropy,
    limit_curves,
    posterior_entropy,
    sparse_posterior_entropy,
)
from mapdag.theory.factors import (
    EXAMPLE_1,
    EXAMPLE_2,
    Example,
    favours_arc,
    log_bayes_factor,
    log_bdeu_factor,
    log_bdeu_factor_limits,
    log_bds_factor,
    log_bds_factor_leading,
    log_bds_factor_limits,
    log_implicit_prior_ratio,
    log_prior_odds,
    threshold,
)
from mapdag.theory.findings import ArcSupport, FamilySparsity
from mapdag.theory.inclusion import (
    approximate_arc_correlation,
    approximate_arc_probability,
    expected_arcs,
    inclusion_probabilities,
)
from mapdag.theory.marginal import (
    Limits,
    bic_gap,
    bic_gap_limit,
    log_bdeu,
    log_bdeu_leading,
    log_bdeu_limits,
    log_bds,
    log_bds_over_bdeu,
    log_bds_over_bdeu_limits,
)
from mapdag.theory.optimum import AlphaPath, alpha_star, find_alpha_star

__all__ = [
    "EXAMPLE_1",
    "EXAMPLE_2",
    "AlphaPath",
    "ArcSupport",
    "Diagnosis",
    "Example",
    "FamilySparsity",
    "LimitPoint",
    "Limits",
    "alpha_star",
    "approximate_arc_correlation",
    "approximate_arc_probability",
    "bic_gap",
    "bic_gap_limit",
    "conditional_entropy",
    "diagnose",
    "effective_alpha",
    "effective_degrees_of_freedom",
    "effective_parameters",
    "entropy",
    "expected_arcs",
    "favours_arc",
    "find_alpha_star",
    "inclusion_probabilities",
    "largest_entropy",
    "limit_curves",
    "log_bayes_factor",
    "log_bdeu",
    "log_bdeu_factor",
    "log_bdeu_factor_limits",
    "log_bdeu_leading",
    "log_bdeu_limits",
    "log_bds",
    "log_bds_factor",
    "log_bds_factor_leading",
    "log_bds_factor_limits",
    "log_bds_over_bdeu",
    "log_bds_over_bdeu_limits",
    "log_implicit_prior_ratio",
    "log_prior_odds",
    "posterior_entropy",
    "sparse_posterior_entropy",
    "threshold",
]
