"""Exact Kullback-Leibler distances between networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.errors import CapacityError, NetworkError
from mapdag.networks.cpts import refuse_undefined
from mapdag.networks.network import check_network

if TYPE_CHECKING:
    from mapdag.graphs import DAG
    from mapdag.networks.cpts import Floats
    from mapdag.networks.network import BayesianNetwork


def kl_divergence(truth: BayesianNetwork, other: BayesianNetwork, *, max_entries: int = 2**24) -> float:
    r"""Exact Kullback-Leibler divergence of a network from the true one, in natural logs.

    .. math:: KL(P \| Q) = \sum_x P(x) \log \frac{P(x)}{Q(x)}
        = \sum_i E_P \log P(X_i \mid \Pi^P_i) - \sum_i E_P \log Q(X_i \mid \Pi^Q_i)

    Each expectation needs the joint distribution of one family of `other` in `truth`, which variable elimination finds
    without a sum over all combinations of levels.

    Parameters
    ----------
    truth, other : BayesianNetwork
        With the same nodes and the same levels, in any order.
    max_entries : int
        The most entries that an intermediate table may have.

    Returns
    -------
    float
        Never negative; infinite where `other` rules out what can happen.

    Raises
    ------
    CapacityError
        If `truth` is too densely connected for the families of `other`; a large sample of `truth` and the difference of
        the mean log-likelihoods estimate the same.
    NetworkError
        If nodes or levels differ, or a probability that is needed is undefined (NaN).

    Examples
    --------
    >>> from mapdag import fit, network
    >>> asia = network("asia")
    >>> round(kl_divergence(asia, fit(asia.dag, asia.sample(1000, seed=1))), 3)
    0.007
    >>> kl_divergence(asia, asia)
    0.0
    """
    _check_same(check_network("truth", truth), check_network("other", other))
    refuse_undefined(truth.cpts, "a Kullback-Leibler distance")
    same = other.reordered(truth.nodes)
    total = 0.0
    for node in truth.nodes:
        mine, table = truth.cpts[node], _relabelled(truth, same, node)
        # An equal family that is estimated equally contributes nothing, and needs no query.
        if truth.parents(node) != same.parents(node) or not np.array_equal(table, mine):
            own = _expected_log(truth, truth.dag, node, mine, max_entries)
            total += own - _expected_log(truth, same.dag, node, table, max_entries)
    return max(total, 0.0)


def _check_same(truth: BayesianNetwork, other: BayesianNetwork) -> None:
    if set(truth.nodes) != set(other.nodes):
        odd = sorted(set(truth.nodes) ^ set(other.nodes))[:5]
        raise NetworkError(f"the networks must have the same nodes; only one of them has {odd}")
    for node in truth.nodes:
        if set(truth.levels[node]) != set(other.levels[node]):
            raise NetworkError(
                f"the networks must have the same levels; {node!r} has {list(truth.levels[node])[:5]} in one and "
                f"{list(other.levels[node])[:5]} in the other"
            )


def _relabelled(truth: BayesianNetwork, network: BayesianNetwork, node: str) -> Floats:
    """Return a table of `network` with levels in the order of `truth`."""
    table = network.cpts[node]
    for axis, name in enumerate((*network.parents(node), node)):
        if network.levels[name] != truth.levels[name]:
            order = [network.levels[name].index(level) for level in truth.levels[name]]
            table = np.take(table, order, axis=axis)
    return table


def _expected_log(truth: BayesianNetwork, dag: DAG, node: str, table: Floats, max_entries: int) -> float:
    """Expectation under `truth` of the log of a node's probability given its parents in `dag`, by its table there."""
    family = (*dag.parents(node), node)
    if table.size > max_entries:
        raise CapacityError(
            f"the family of {node!r} has {table.size:,} cells, more than max_entries={max_entries:,}; estimate the "
            "distance from a large sample instead"
        )
    joint = truth.query(family, max_entries=max_entries).values
    possible = joint > 0
    needed = table[possible]
    if np.isnan(needed).any():
        raise NetworkError(f"some probabilities of {node!r} are undefined (NaN) where the truth needs them")
    with np.errstate(divide="ignore"):
        return float(np.sum(joint[possible] * np.log(needed)))
