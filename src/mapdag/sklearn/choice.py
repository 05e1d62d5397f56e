"""Which of several graphs, and which imaginary sample size, predicts a target best: by leaving out row after row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.networks.estimation import count_cells
from mapdag.networks.inputs import cell_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.graphs import DAG

    Floats = NDArray[np.float64]


def left_out_loss(dag: DAG, data: Dataset, target: str, alphas: Sequence[float]) -> Floats:
    """Return the log loss of a target in every observation, its probabilities estimated from all others.

    The graph is given: only the parameters are estimated anew. Taking one observation away changes a single cell of
    each table, so that nothing needs to be counted again. For each alpha, the mean over observations.
    """
    actual = data.column(target)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)
    once = np.minimum(weights, 1.0)  # what is taken away: one of the observations that a row stands for
    rows = np.arange(data.n_rows)
    logs = np.zeros((len(alphas), data.n_rows, len(data.levels[target])))
    for member in (target, *dag.children(target)):
        family = [*dag.parents(member), member]
        counts = count_cells(data, family)
        cells = _by_level(data, family, target, counts)
        cells[rows, actual] -= once
        totals = np.zeros_like(cells)  # of the target's own family: the same for all of its levels
        if member != target:
            totals = _by_level(data, family[:-1], target, counts.sum(axis=-1))
            totals[rows, actual] -= once
        for i, alpha in enumerate(alphas):
            imaginary = alpha / counts.size
            logs[i] += np.log(cells + imaginary) - np.log(totals + imaginary * counts.shape[-1])
    logs -= logs.max(axis=2, keepdims=True)
    losses = np.log(np.exp(logs).sum(axis=2)) - logs[:, rows, actual]
    return np.asarray(losses @ weights / weights.sum())


def _by_level(data: Dataset, nodes: list[str], target: str, counts: Floats) -> Floats:
    """Return the entries of a table that belong to each row, one for each level of the target."""
    axis, others = nodes.index(target), [name for name in nodes if name != target]
    flat = np.moveaxis(counts, axis, -1).reshape(-1, counts.shape[axis])
    if not others:
        return np.repeat(flat, data.n_rows, axis=0)
    cards = [len(data.levels[name]) for name in others]
    chosen: Floats = flat[cell_numbers([data.column(name) for name in others], cards)]
    return chosen
