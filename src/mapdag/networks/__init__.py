"""Bayesian networks as values: a DAG, the levels of its nodes and their conditional probability tables.

`BayesianNetwork` is the value, `fit` estimates one from data. Files are the business of `mapdag.io`, the bundled
networks that of `mapdag.reference`, and learning graphs that of other layers.
"""

from __future__ import annotations

from mapdag.networks.answers import Explanation, Marginals
from mapdag.networks.distribution import Distribution
from mapdag.networks.divergence import kl_divergence
from mapdag.networks.em import EM, fit_em
from mapdag.networks.estimation import fit
from mapdag.networks.imputation import Imputation, impute
from mapdag.networks.network import BayesianNetwork
from mapdag.networks.pooling import PooledEstimate, pool_estimates
from mapdag.networks.probabilities import CPT
from mapdag.networks.standardization import AdjustedEffect, adjusted_effect

__all__ = [
    "CPT",
    "EM",
    "AdjustedEffect",
    "BayesianNetwork",
    "Distribution",
    "Explanation",
    "Imputation",
    "Marginals",
    "PooledEstimate",
    "adjusted_effect",
    "fit",
    "fit_em",
    "impute",
    "kl_divergence",
    "pool_estimates",
]
