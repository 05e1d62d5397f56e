"""Networks of the graphs that a posterior has: posterior means of their probabilities, and draws of these.

Given a graph, the probabilities of each configuration are Dirichlet: the pseudo-counts of the score, plus the counts.
Scores that have none get one imaginary row, as `mapdag.fit` does. Families recur from graph to graph, so that their
tables are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.networks import BayesianNetwork, fit
from mapdag.networks.cpts import check_size
from mapdag.networks.estimation import count_cells
from mapdag.networks.gaps import codes_with_gaps, fill
from mapdag.objective import USUAL_ALPHA
from mapdag.scores import BD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.contracts import Likelihood
    from mapdag.data import Dataset
    from mapdag.graphs import DAG

    Floats = NDArray[np.float64]
    Family = tuple[str, tuple[str, ...]]

_KEPT = 1 << 25  # entries of all tables that are kept: 256 MiB


def pseudo_count(likelihood: Likelihood, counts: Floats, n_nodes: int) -> float:
    """Return what is added to each cell of a family.

    Parameters
    ----------
    likelihood : Likelihood
    counts : float array
        One axis per parent, the last for the node.
    n_nodes : int

    Examples
    --------
    >>> from mapdag import BIC, K2, BDs
    >>> counts = np.array([[2.0, 1.0], [0.0, 0.0]])
    >>> [pseudo_count(each, counts, 2) for each in (BDs(1), K2(), BIC())]
    [0.5, 1.0, 0.25]
    """
    r, q = counts.shape[-1], counts.size // counts.shape[-1]
    q_obs = max(int(counts.any(axis=-1).sum()), 1)
    if isinstance(likelihood, BD) and callable(likelihood.a):
        return float(likelihood.a(r, q, q_obs))
    recipe = likelihood.recipe(float(counts.sum()), n_nodes)
    kind = "" if recipe is None else recipe.kind
    if recipe is not None and kind in ("each", "declared", "observed"):
        return recipe.x / {"each": 1, "declared": r * q, "observed": r * q_obs}[kind]
    return USUAL_ALPHA / (r * q)


class DirichletNetworks:
    """Networks of graphs on the columns of one table.

    Parameters
    ----------
    data : Dataset
        Where it has gaps, means are those that EM converges to, and draws are given a draw of the gaps.
    likelihood : Likelihood
        Has the pseudo-counts.
    """

    def __init__(self, data: Dataset, likelihood: Likelihood) -> None:
        self._data, self._likelihood = data, likelihood
        self._levels = {node: data.levels[node] for node in data.names}
        self._cells: dict[Family, Floats] = {}
        self._size = 0

    def mean(self, dag: DAG) -> BayesianNetwork:
        """Return the posterior means of the probabilities of a graph."""
        if self._data.has_gaps:
            return fit(dag, self._data, alpha=self._alpha)
        check_size(dag, self._levels)
        cpts = {}
        for node in dag.nodes:
            cells = self._dirichlet(node, dag.parents(node), self._data)
            cpts[node] = cells / cells.sum(axis=-1, keepdims=True)
        return self._network(dag, cpts)

    def draw(self, dag: DAG, nodes: Sequence[str], rng: np.random.Generator) -> BayesianNetwork:
        """Draw the probabilities of some nodes, whose parents are among them, in a graph from their posterior."""
        data = self._data
        if data.has_gaps:
            known = fit(dag, data, alpha=self._alpha)
            filled = fill(known, codes_with_gaps(known, data), draws=1, seed=int(rng.integers(1 << 62)))
            data = self._filled(known, filled[0])
        part = dag.subgraph(nodes)
        check_size(part, self._levels)
        return self._network(
            part, {node: _drawn(self._dirichlet(node, part.parents(node), data), rng) for node in nodes}
        )

    @property
    def _alpha(self) -> float:
        alpha = getattr(self._likelihood, "alpha", USUAL_ALPHA)
        return alpha if isinstance(alpha, float) else USUAL_ALPHA

    def _network(self, dag: DAG, cpts: Mapping[str, Floats]) -> BayesianNetwork:
        levels = {node: self._levels[node] for node in dag.nodes}
        codings = {node: coding for node, coding in self._data.codings.items() if node in levels}
        return BayesianNetwork._trusted(dag, levels, cpts, codings)  # noqa: SLF001 - right by construction

    def _filled(self, network: BayesianNetwork, codes: NDArray[np.integer]) -> Dataset:
        from mapdag.data import Dataset

        levels = {node: network.levels[node] for node in network.nodes}
        return Dataset.from_codes(codes.T, names=list(network.nodes), levels=levels, weights=self._data.weights)

    def _dirichlet(self, node: str, parents: tuple[str, ...], data: Dataset) -> Floats:
        """Return the parameters of a family: counts and pseudo-counts."""
        family = node, parents
        if data is self._data and family in self._cells:
            return self._cells[family]
        counts = count_cells(data, [*parents, node])
        found = counts + pseudo_count(self._likelihood, counts, len(self._levels))
        if data is self._data and self._size + found.size <= _KEPT:
            self._cells[family] = found
            self._size += found.size
        return found


def _drawn(parameters: Floats, rng: np.random.Generator) -> Floats:
    """Draw from the Dirichlet distribution of each configuration, in logs: parameters may be tiny."""
    logs = np.log(rng.standard_gamma(parameters + 1)) + np.log1p(-rng.random(parameters.shape)) / parameters
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    found: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return found
