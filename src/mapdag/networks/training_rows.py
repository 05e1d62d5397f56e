"""Whether a network was estimated from the very rows that it is to predict: its probabilities then are their shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data import Dataset
from mapdag.errors import MapdagError
from mapdag.networks.estimation import count_cells, estimate
from mapdag.networks.inputs import rows_as_evidence
from mapdag.notices import unsaid

if TYPE_CHECKING:
    from mapdag.networks.cpts import Floats
    from mapdag.networks.network import BayesianNetwork

_LEAST_ROWS = 20  # of which no others have the same shares by chance
_MOST_ROWS = 1_000_000  # that are looked at
_NEAR = 1e-5  # files may round


def is_estimated_from(network: BayesianNetwork, data: Any) -> bool:
    """Tell whether the probabilities of a network are those that `fit` finds in some rows, whatever its alpha was.

    Only the rows in which all nodes are known count, as where incomplete ones were dropped. Weights are those of a
    dataset.

    Examples
    --------
    >>> import mapdag as md
    >>> train, test = (md.network("asia").sample(500, seed=seed) for seed in (1, 2))
    >>> learned = md.fit(md.network("asia").dag, train, alpha=3)
    >>> is_estimated_from(learned, train), is_estimated_from(learned, test)
    (True, False)
    """
    table = _complete_rows(network, data)
    if table is None or network.n_undefined:
        return False
    alpha: float | None = None
    for node in sorted(network.nodes, key=lambda each: len(network.parents(each))):
        if not isinstance(network.cpts[node], np.ndarray):
            continue  # a sparse table: the others tell
        counts = count_cells(table, [*network.parents(node), node])
        if alpha is None:
            alpha = _alpha_of(counts, network.cpts[node])
            if alpha is None:
                return False
        found = estimate(counts, alpha, "bayes") if alpha > 0 else estimate(counts, 1.0, "mle")
        told = ~np.isnan(found)
        if not np.allclose(found[told], network.cpts[node][told], rtol=_NEAR, atol=_NEAR):
            return False
    return alpha is not None


def _complete_rows(network: BayesianNetwork, data: Any) -> Dataset | None:
    try:
        with unsaid():
            evidence = rows_as_evidence(data, network.nodes, network)
    except MapdagError:
        return None
    if len(evidence.codes) < len(network.nodes) or not _LEAST_ROWS <= evidence.n_rows <= _MOST_ROWS:
        return None
    keep = np.ones(evidence.n_rows, dtype=bool)
    for known in evidence.known.values():
        keep &= known
    if keep.sum() < _LEAST_ROWS:
        return None
    codes = np.array([evidence.codes[node][keep] for node in network.nodes])
    weights = data.weights[keep] if isinstance(data, Dataset) and data.weights is not None else None
    return Dataset._trusted(network.nodes, network.levels, codes, weights)  # noqa: SLF001 - right by construction


def _alpha_of(counts: Floats, cpt: Floats) -> float | None:
    """Return the imaginary sample size with which these counts give these probabilities of a node without parents."""
    size, total = counts.shape[-1], float(counts.sum())
    off = cpt - 1 / size
    best = int(np.argmax(np.abs(off)))
    if counts.ndim > 1 or abs(off[best]) < _NEAR:
        return 1.0  # whatever alpha was; the usual one
    alpha = (float(counts[best]) - float(cpt[best]) * total) / float(off[best])
    if abs(alpha) < _NEAR * total and abs(alpha) < _NEAR * 100:
        return 0.0
    return alpha if 0 < alpha < total * 1e6 else None
