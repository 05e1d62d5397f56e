"""Graphs as values: DAGs, their equivalence classes, distances between them, random ones, all of them.

`DAG` and `CPDAG` never change; every method that "changes" one returns another. Inside they are tuples of
integers used as bitsets (`masks`), and the algorithms work on those. Nothing here knows of data, scores or
probabilities.
"""

from __future__ import annotations

from mapdag.graphs.census import all_dags, arc_correlation, arc_probability, dag_codes, n_dags, pattern_probability
from mapdag.graphs.cpdag import CPDAG
from mapdag.graphs.dag import DAG
from mapdag.graphs.distance import Comparison, compare, hamming, shd
from mapdag.graphs.experiments import NextExperiments, next_experiments
from mapdag.graphs.meek import meek_closure, to_cpdag
from mapdag.graphs.random import random_dag, uniform_dag

__all__ = [
    "CPDAG",
    "DAG",
    "Comparison",
    "NextExperiments",
    "all_dags",
    "arc_correlation",
    "arc_probability",
    "compare",
    "dag_codes",
    "hamming",
    "meek_closure",
    "n_dags",
    "next_experiments",
    "pattern_probability",
    "random_dag",
    "shd",
    "to_cpdag",
    "uniform_dag",
]
