"""Searches for the DAG with the highest posterior score. Files and printing are unknown here."""

from mapdag.search.best import best_dags
from mapdag.search.cache import FamilyCache
from mapdag.search.canonical import CanonicalOrder, canonical_order
from mapdag.search.constraints import Constraints
from mapdag.search.learning import SEARCHES, LearnOptions, Plan, SearchOptions, hill_climb, learn, tabu
from mapdag.search.posterior import ArcPosteriors, arc_posteriors
from mapdag.search.result import Move, Result
from mapdag.search.run import Options, Progress

__all__ = [
    "SEARCHES",
    "ArcPosteriors",
    "CanonicalOrder",
    "Constraints",
    "FamilyCache",
    "LearnOptions",
    "Move",
    "Options",
    "Plan",
    "Progress",
    "Result",
    "SearchOptions",
    "arc_posteriors",
    "best_dags",
    "canonical_order",
    "hill_climb",
    "learn",
    "tabu",
]
