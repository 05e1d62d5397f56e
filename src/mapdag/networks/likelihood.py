"""Log-probabilities of rows, and predictions of one column from the others.

Everything goes through the rows in blocks that stay in the cache: per node, the position of every row's entry in the
table, and its log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.problems import rows_text
from mapdag.errors import NetworkError
from mapdag.networks.cpts import Floats, refuse_undefined
from mapdag.networks.inputs import cell_numbers, matched_codes, needed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mapdag.data.labels import Codes
    from mapdag.networks.network import BayesianNetwork

_ROWS = 2**13
_TIE = 1e-12  # relative: levels that differ by rounding only are equally probable


def log_likelihood(network: BayesianNetwork, data: Any) -> float:
    """Return the sum of the log-probabilities of the rows, times their weights."""
    table = needed_columns(data, network.nodes, network)
    rows = log_by_row(network, table)
    return float(rows.sum() if table.weights is None else (rows * table.weights).sum())


def log_by_row(network: BayesianNetwork, data: Any) -> Floats:
    """Return the log-probability of every row."""
    table = needed_columns(data, network.nodes, network)
    codes = matched_codes(network.levels, table, network.nodes)
    tables = [(_members(network, node), _log(network.cpts[node]).ravel()) for node in network.nodes]
    total = np.zeros(table.n_rows)
    for block in _blocks(table.n_rows):
        for members, log_table in tables:
            total[block] += log_table[_cells(codes, members, block)]
    return total


def predict_proba(network: BayesianNetwork, data: Any, node: str) -> Floats:
    """Return the distribution of one node in every row, given the others."""
    dag = network.dag
    refuse_undefined({member: network.cpts[member] for member in (node, *dag.children(node))}, "predicting")
    blanket = dag.markov_blanket(node)
    table = needed_columns(data, blanket, network)
    codes = matched_codes(network.levels, table, blanket)
    r = len(network.levels[node])
    tables = []
    for member in (node, *dag.children(node)):
        family = _members(network, member)
        axis = [name for name, _ in family].index(node)
        # With the node's axis last, a row's entries for all of its levels are next to each other.
        log_table = np.moveaxis(_log(network.cpts[member]), axis, -1).reshape(-1, r)
        tables.append(([each for each in family if each[0] != node], log_table))
    result = np.empty((table.n_rows, r))
    for block in _blocks(table.n_rows):
        logs = np.zeros((block.stop - block.start, r))
        for family, log_table in tables:
            logs += log_table[_cells(codes, family, block)]
        best = logs.max(axis=1, keepdims=True)
        values = np.exp(logs - np.where(np.isneginf(best), 0.0, best))
        with np.errstate(invalid="ignore"):  # 0 / 0, that is NaN, where no level is possible
            result[block] = values / values.sum(axis=1, keepdims=True)
    return result


def predict(network: BayesianNetwork, data: Any, node: str) -> NDArray[np.str_]:
    """Return the most probable level of one node in every row, given the others."""
    probabilities = predict_proba(network, data, node)
    impossible = np.isnan(probabilities[:, 0])
    if impossible.any():
        raise NetworkError(
            f"{rows_text(impossible)} cannot happen whatever the level of {node!r}, so there is nothing to predict; "
            "predict_proba marks them with NaN"
        )
    best = probabilities.max(axis=1, keepdims=True, initial=0.0)
    codes = np.argmax(probabilities >= best * (1 - _TIE), axis=1)
    labels: NDArray[np.str_] = np.array(network.levels[node], dtype=np.str_)[codes]
    return labels


def _blocks(n_rows: int) -> Iterator[slice]:
    for start in range(0, n_rows, _ROWS):
        yield slice(start, min(start + _ROWS, n_rows))


def _members(network: BayesianNetwork, node: str) -> list[tuple[str, int]]:
    """Return the family of a node, in the order of the axes of its table, with the number of levels of each."""
    return [(name, len(network.levels[name])) for name in (*network.parents(node), node)]


def _cells(codes: Mapping[str, Codes], members: list[tuple[str, int]], block: slice) -> NDArray[np.intp]:
    """Return the position of every row of the block in the table of these nodes; 0 for an empty family."""
    if not members:
        return np.zeros(block.stop - block.start, dtype=np.intp)
    return cell_numbers([codes[name][block] for name, _ in members], [card for _, card in members])


def _log(table: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(table)
    return logs
