"""An order of the columns that the data alone decide, whatever their order in the file, the names, labels or rows.

A search that breaks ties by the order of the columns gives the same graph for any arrangement of the table if it first
puts the columns into this order. They are sorted by how much each tells (entropy), then, since small samples have many
columns with the same counts, by a colour that is refined until it no longer helps: a row is coloured by the levels it
has, a level by the rows that have it, a column by its levels. Columns that are alike in all this are copies of each
other up to the labels, or can trade places without changing the table (but for designs of rare symmetry); nothing in
the data can tell them apart, and their names decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data import Dataset


@dataclass(frozen=True)
class CanonicalOrder:
    """Columns in an order that depends on nothing but the data.

    Attributes
    ----------
    columns : tuple of int
        Indices of the columns.
    alike : tuple of tuples of int
        Groups of columns that the data cannot tell apart; their names decide.
    """

    columns: tuple[int, ...]
    alike: tuple[tuple[int, ...], ...]


def canonical_order(data: Dataset) -> CanonicalOrder:
    """Put the columns of a table into their canonical order.

    Examples
    --------
    >>> import mapdag as md
    >>> table = md.read({"a": [0, 0, 1, 1], "copy of a": [1, 1, 0, 0], "b": [0, 0, 0, 1]})
    >>> canonical_order(table)
    CanonicalOrder(columns=(2, 0, 1), alike=((0, 1),))
    """
    from mapdag.search.refining import refine

    n = data.n_columns
    first_level = np.concatenate([[0], np.cumsum(data.cards)])
    weights = _whole(data.weights)
    levels, columns = np.zeros(first_level[-1], dtype=np.uint64), np.zeros(n, dtype=np.uint64)
    refine(data.codes, first_level, weights, levels, columns)
    colours = 0
    while colours < n:
        colours = len(np.unique(columns))
        for _ in range(2):  # a round may pass something on without yet telling more columns apart
            if colours < n:
                refine(data.codes, first_level, weights, levels, columns)
        if len(np.unique(columns)) == colours:
            break
    ranks = np.argsort(np.argsort(data.names, kind="stable"), kind="stable")
    found = np.lexsort((ranks, columns, _entropies(data)))
    return CanonicalOrder(tuple(found.tolist()), _groups(found, columns))


def _whole(weights: NDArray[np.generic] | None) -> NDArray[np.uint64]:
    """Weights as whole numbers; fractions by the bits that stand for them."""
    if weights is None:
        return np.empty(0, dtype=np.uint64)
    if weights.dtype.kind == "f":
        return np.ascontiguousarray(weights, dtype=np.float64).view(np.uint64)
    return weights.astype(np.uint64)


def _entropies(data: Dataset) -> NDArray[np.float64]:
    """Entropy of every column: a sum over the sorted counts, so that neither rows nor labels matter."""
    found = np.empty(data.n_columns)
    for i in range(data.n_columns):
        counts = np.sort(np.bincount(data.codes[i], weights=data.weights, minlength=int(data.cards[i])))
        shares = counts[counts > 0] / data.total
        found[i] = -float(np.sum(shares * np.log(shares)))
    return found


def _groups(order: NDArray[np.intp], columns: NDArray[np.uint64]) -> tuple[tuple[int, ...], ...]:
    """Columns of the same colour, where there are several, in order."""
    groups: dict[int, list[int]] = {}
    for i in order.tolist():
        groups.setdefault(int(columns[i]), []).append(i)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
