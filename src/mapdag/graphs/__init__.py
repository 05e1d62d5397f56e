"""Graphs as values: DAGs, their equivalence classes, distances between them, random ones.

`DAG` and `CPDAG` never change; every method that "changes" one returns another. Inside they are tuples of
integers used as bitsets (`bitsets`), and the algorithms work on those. Nothing here knows of data, scores or
probabilities.
"""

from __future__ import annotations

from mapdag.graphs.cpdag import CPDAG
from mapdag.graphs.dag import DAG
from mapdag.graphs.distance import Comparison, compare, hamming, shd
from mapdag.graphs.meek import meek_closure, to_cpdag
from mapdag.graphs.random import random_dag

__all__ = [
    "CPDAG",
    "DAG",
    "Comparison",
    "compare",
    "hamming",
    "meek_closure",
    "random_dag",
    "shd",
    "to_cpdag",
]
