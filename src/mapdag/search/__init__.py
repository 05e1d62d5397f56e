"""Searches for the DAG with the highest posterior score. Files and printing are unknown here."""

from mapdag.search.cache import FamilyCache
from mapdag.search.constraints import Constraints
from mapdag.search.learning import SEARCHES, learn
from mapdag.search.result import Move, Result
from mapdag.search.run import Options, Progress, as_dataset

__all__ = ["SEARCHES", "Constraints", "FamilyCache", "Move", "Options", "Progress", "Result", "as_dataset", "learn"]
