"""Samples, test sets and orders of columns: each a function of the seed and of what it is for, and of nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mapdag.study.design import is_file, n_rows, network_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.data import Dataset
    from mapdag.graphs import CPDAG
    from mapdag.networks import BayesianNetwork
    from mapdag.study.cells import Task


@dataclass(frozen=True)
class Truth:
    """A reference network, its equivalence class, and its test set."""

    network: BayesianNetwork
    cpdag: CPDAG
    test: Dataset


def entropy(seed: int, *key: str | int) -> Sequence[int]:
    """Entropy for `numpy.random.SeedSequence`: the seed, and a digest of what the random numbers are for."""
    digest = hashlib.sha256("\0".join(map(str, key)).encode()).digest()
    return [seed, *np.frombuffer(digest, dtype="<u4").tolist()]


def load_network(source: str) -> BayesianNetwork:
    """Load a bundled network by its name, or read a file."""
    if is_file(source):
        from mapdag.io import read_network

        return read_network(source)
    from mapdag.reference import network

    return network(source)


@lru_cache(maxsize=4)
def load_truth(source: str, seed: int, test_rows: int) -> Truth:
    """Load a network and draw its test set, which is the same for all samples."""
    network = load_network(source)
    test = network.sample(test_rows, seed=entropy(seed, "test", network_name(source)))
    return Truth(network, network.dag.to_cpdag(), test)


def draw_sample(task: Task, network: BayesianNetwork) -> Dataset:
    """Draw the sample of a task, its columns in the order of the network's file."""
    n = n_rows(task.size, network.n_parameters)
    return network.sample(n, seed=entropy(task.seed, "sample", task.network, task.size, task.replicate))


def column_order(task: Task, names: Sequence[str]) -> tuple[str, ...]:
    """Order of the columns that a task learns from: that of the file, or a random one for each sample."""
    if task.columns == "file":
        return tuple(names)
    key = np.random.SeedSequence(entropy(task.seed, "columns", task.network, task.size, task.replicate))
    return tuple(names[i] for i in np.random.default_rng(key).permutation(len(names)))
