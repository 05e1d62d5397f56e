"""Silander's picture: how the number of learned arcs depends on alpha."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mapdag.paper.experiments.noise import arcs_learned
from mapdag.reference import network


class AlphaPoint(NamedTuple):
    """Arcs learned from one sample of a network under one score at one alpha."""

    network: str
    rows: int
    true_arcs: int
    replicate: int
    score: str
    alpha: float
    arcs: int


def alpha_sensitivity(
    networks: Sequence[str] = ("alarm", "insurance", "hailfinder", "win95pts"),
    *,
    rows: int = 1000,
    scores: Sequence[str] = ("U+BDeu", "U+BDs", "MU(c=1)+BDeu", "MU(c=1)+BDs"),
    alphas: Sequence[float] | None = None,
    replicates: int = 3,
    seed: int = 1,
    progress: Callable[[str], None] | None = None,
) -> tuple[AlphaPoint, ...]:
    """Learn from samples of known networks by hill climbing, with one alpha after the other.

    Parameters
    ----------
    networks : sequence of str
        Bundled networks.
    rows : int
        Rows of each sample.
    scores : sequence of str
        Objectives without their alpha.
    alphas : sequence of float, optional
        13 from 0.1 to 100 unless given.
    replicates : int
        Samples of each network.
    seed : int
    progress : callable, optional
        Told what is being done.

    Examples
    --------
    >>> points = alpha_sensitivity(["asia"], rows=200, scores=["U+BDeu"], alphas=[1, 100], replicates=1)
    >>> [(point.alpha, point.true_arcs) for point in points]
    [(1.0, 8), (100.0, 8)]
    """
    values = [float(a) for a in (np.logspace(-1, 2, 13) if alphas is None else alphas)]
    objectives = {f"{score}({alpha!r})": (score, alpha) for score in scores for alpha in values}
    found = []
    for name in networks:
        truth = network(name)
        for replicate in range(replicates):
            if progress is not None:
                progress(f"alpha: {name}, sample {replicate + 1}")
            data = truth.sample(rows, seed=[seed, replicate])
            learned = arcs_learned(data, list(objectives), search="hc", order="columns")
            for objective, arcs in learned:
                found.append(AlphaPoint(name, rows, truth.dag.n_arcs, replicate, *objectives[objective], arcs))
    return tuple(found)
