"""Posterior scores: prior + likelihood, their notation, and the score of a whole graph. Search is unknown here."""

from mapdag.objective.families import FamilyScores
from mapdag.objective.notation import DEFAULT, LIKELIHOODS, PRIORS, parse
from mapdag.objective.scoring import Score, align, score

__all__ = ["DEFAULT", "LIKELIHOODS", "PRIORS", "FamilyScores", "Score", "align", "parse", "score"]
