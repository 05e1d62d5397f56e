"""Log-probabilities of rows; where they have gaps (`gaps`), of what is known of them.

Without gaps, everything goes through the rows in blocks that stay in the cache: per node, the position of every row's
entry in the table, and its log.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data import ScannedDataset
from mapdag.data.problems import rows_text
from mapdag.errors import DataError
from mapdag.networks.completed import Completed
from mapdag.networks.inputs import cell_numbers, matched_codes, needed_columns
from mapdag.networks.sparse_tables import SparseTable, held_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.data.labels import Codes
    from mapdag.networks.cpts import Floats
    from mapdag.networks.network import BayesianNetwork

_ROWS = 2**13


def log_likelihood(network: BayesianNetwork, data: Any) -> float:
    """Return the sum of the log-probabilities of the rows, times their weights."""
    table = needed_columns(data, network.nodes, network)
    if isinstance(table, ScannedDataset):
        return math.fsum(log_likelihood(network, part) for part in table.parts())
    if isinstance(table, Completed):
        return _expected_log_likelihood(network, table)
    rows = log_by_row(network, table)
    return float(rows.sum() if table.weights is None else (rows * table.weights).sum())


def _expected_log_likelihood(network: BayesianNetwork, table: Completed) -> float:
    """Return the expected log-probability of completed rows; cells that are not expected count nothing."""
    total = 0.0
    for node in network.nodes:
        counts = table.expected([*network.parents(node), node])
        total += float((counts[counts > 0] * _log(network.cpts[node])[counts > 0]).sum())
    return total


def log_by_row(network: BayesianNetwork, data: Any) -> Floats:
    """Return the log-probability of every row."""
    table = needed_columns(data, network.nodes, network)
    if table.has_gaps:
        return _log_by_row_with_gaps(network, table)
    codes = matched_codes(network.levels, table, network.nodes)
    held = [held_tables(network.cpts)[node] for node in network.nodes]
    ready = [each if isinstance(each, SparseTable) else _log(each).ravel() for each in held]
    tables = [(_members(network, node), log) for node, log in zip(network.nodes, ready, strict=True)]
    total, was_set = np.zeros(table.n_rows), _set_rows(table)
    for block in _blocks(table.n_rows):
        for members, log in tables:
            if isinstance(log, SparseTable):
                logs = _log(log[tuple(codes[name][block] for name, _ in members)])
            else:
                logs = log[_cells(codes, members, block)]
            node = members[-1][0]
            if node in was_set:
                logs[was_set[node][block]] = 0.0
            total[block] += logs
    return total


def _set_rows(table: Dataset) -> dict[str, NDArray[np.bool_]]:
    """Return the rows in which each variable was set, of those that were."""
    if table.interventions is None:
        return {}
    return {name: table.interventions.rows_of(name) for name in table.interventions.names}


def _log_by_row_with_gaps(network: BayesianNetwork, table: Dataset) -> Floats:
    """Return the log-probability of what is known of every row, given what was set."""
    from mapdag.networks.gaps import codes_with_gaps, log_known
    from mapdag.networks.intervention import intervened

    codes = codes_with_gaps(network, table)
    if table.interventions is None:
        return log_known(network, codes)
    total = np.empty(table.n_rows)
    for target, rows in zip(table.interventions.targets, table.experiments(), strict=True):
        mine = [name for name in target if name in network.levels]
        for name in mine:
            _refuse_unknown(name, codes[network.dag.index.position(name), rows] == len(network.levels[name]), rows)
        # All levels being equally probable, a known one counts for as much in every row.
        free = math.fsum(math.log(len(network.levels[name])) for name in mine)
        total[rows] = log_known(intervened(network, {}, mine), np.ascontiguousarray(codes[:, rows])) + free
    return total


def _refuse_unknown(name: str, unknown: NDArray[np.bool_], rows: NDArray[np.intp]) -> None:
    if unknown.any():
        where = np.zeros(int(rows.max()) + 1, dtype=np.bool_)
        where[rows[unknown]] = True
        raise DataError(f"{name!r} was set in {rows_text(where)}, but to what is missing there")


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
