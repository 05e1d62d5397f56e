"""Searches for the DAG with the highest posterior score. Files and printing are unknown here."""

from mapdag.objective.constraints import Constraints
from mapdag.progress import Progress
from mapdag.search.cache import FamilyCache
from mapdag.search.canonical.columns import CanonicalOrder, canonical_order
from mapdag.search.certified.certify import certify
from mapdag.search.em.result import EMResult, EMStep
from mapdag.search.em.search import structural_em
from mapdag.search.exact.posterior import ArcPosteriors, arc_posteriors
from mapdag.search.exact.ranking import best_dags
from mapdag.search.frame.certificate import Certificate
from mapdag.search.frame.options import Options
from mapdag.search.frame.result import Move, Result
from mapdag.search.plan import SEARCHES, LearnOptions, Plan, SearchOptions, hill_climb, learn, tabu

__all__ = [
    "SEARCHES",
    "ArcPosteriors",
    "CanonicalOrder",
    "Certificate",
    "Constraints",
    "EMResult",
    "EMStep",
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
    "certify",
    "hill_climb",
    "learn",
    "structural_em",
    "tabu",
]
