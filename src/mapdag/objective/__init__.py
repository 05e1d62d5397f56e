"""Posterior scores: prior + likelihood, their notation, and the score of a whole graph. Search is unknown here."""

from mapdag.objective.hyperparameters import (
    USUAL_ALPHA,
    Hyperparameters,
    concrete,
    find_hyperparameters,
    usual_values,
)
from mapdag.objective.notation import DEFAULT, LIKELIHOODS, PRIORS, Goal, parse, parse_all
from mapdag.objective.scoring import Score, align, score
from mapdag.objective.support import (
    USUAL,
    ThinFamily,
    limits_of,
    most_configurations,
    observed_configurations,
    thin_families,
    thin_sentence,
)

__all__ = [
    "DEFAULT",
    "LIKELIHOODS",
    "PRIORS",
    "USUAL",
    "USUAL_ALPHA",
    "Goal",
    "Hyperparameters",
    "Score",
    "ThinFamily",
    "align",
    "concrete",
    "find_hyperparameters",
    "limits_of",
    "most_configurations",
    "observed_configurations",
    "parse",
    "parse_all",
    "score",
    "thin_families",
    "thin_sentence",
    "usual_values",
]
