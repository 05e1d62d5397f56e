"""An order of the columns that the data alone decide, whatever their order in the file, the names, labels or rows.

A search that breaks ties by the order of the columns gives the same graph for any arrangement of the table if it first
puts the columns into this order. They are sorted by how much each tells (entropy), then, since small samples have many
columns with the same counts, by a colour that is refined until it no longer helps: a row is coloured by the levels it
has, a level by the rows that have it, a column by its levels. That does not get anywhere where all levels are equally
frequent, as after cutting numbers at quantiles, so then a column is also coloured by how well each other one tells it.
Columns that are alike in all this are copies of each other up to the labels, or can trade places without changing the
table (but for designs of rare symmetry); nothing in the data can tell them apart, and their names decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts.children import child_columns
from mapdag.counts.passes import sealed
from mapdag.tasks import pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mapdag.data import Dataset

_WORTH_A_THREAD = 1 << 13  # rows


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


def canonical_order(data: Dataset, *, threads: int = 1) -> CanonicalOrder:
    """Put the columns of a table into their canonical order, with so many threads.

    Examples
    --------
    >>> import mapdag as md
    >>> table = md.read({"a": [0, 0, 1, 1], "copy of a": [1, 1, 0, 0], "b": [0, 0, 0, 1]})
    >>> canonical_order(table)
    CanonicalOrder(columns=(2, 0, 1), alike=((0, 1),))
    """
    from mapdag.search.canonical.colours import refine

    n, counted = data.n_columns, child_columns(data, data.total)
    table, as_child = counted.table, counted.columns[:n]
    first_level = np.concatenate([[0], np.cumsum(table.widths)])  # gaps are a level like others here
    weights = _whole(data.weights)
    levels, every_column = np.zeros(first_level[-1], dtype=np.uint64), np.zeros(table.n_columns, dtype=np.uint64)
    columns = every_column[:n]

    def go_round() -> None:
        refine(_sum(table, threads, _coloured, first_level, weights, levels), first_level, levels, every_column)
        if table.n_columns > n:  # columns differ if they were set in different rows
            columns[:] = np.where(as_child < n, columns, _mix(columns ^ _mix(every_column[as_child])))

    go_round()
    scores: NDArray[np.uint64] | None = None
    while True:
        colours = len(np.unique(columns))
        for _ in range(2):  # a round may pass something on without yet telling more columns apart
            if colours < n:
                go_round()
        if colours == n:
            break
        if len(np.unique(columns)) == colours:
            every = np.arange(n)
            scores = _pairs(data, _groups(every, columns)) if scores is None else scores
            _refine_by_pairs(columns, scores)
            if len(np.unique(columns)) == colours:
                break
    ranks = np.argsort(sorted(range(n), key=data.names.__getitem__), kind="stable")
    found = np.lexsort((ranks, columns, _entropies(data, first_level[: n + 1], threads)))
    return CanonicalOrder(tuple(found.tolist()), _groups(found, columns))


def _pairs(data: Dataset, groups: tuple[tuple[int, ...], ...]) -> NDArray[np.uint64]:
    """How well each column tells those of some groups: a likelihood, exact whatever the order of rows and levels."""
    from mapdag.counts import Request
    from mapdag.families import FamilyScores
    from mapdag.scores import NAL

    every = range(data.n_columns)
    found = np.zeros((data.n_columns, data.n_columns))
    requests = [Request(i, (), tuple(j for j in every if j != i)) for group in groups for i in group]
    for request, scores in zip(requests, FamilyScores(data, [NAL()]).scores(requests), strict=True):
        found[request.child, request.candidates] = scores[0]
    return (found + 0.0).view(np.uint64)


def _refine_by_pairs(columns: NDArray[np.uint64], scores: NDArray[np.uint64]) -> None:
    """Colour columns by what each other one, and which, tells of them; in place."""
    for _ in range(2):
        told = _mix(scores + _mix(columns))
        np.fill_diagonal(told, 0)
        columns[:] = _mix(columns ^ _mix(told.sum(axis=1, dtype=np.uint64)))


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble words, as compiled code does."""
    from mapdag.kernels import mix

    mixed: NDArray[np.uint64] = mix.py_func(words)  # type: ignore[attr-defined]
    return mixed


def _whole(weights: NDArray[np.generic] | None) -> NDArray[np.uint64]:
    """Weights as whole numbers; fractions as odd numbers made of the bits that stand for them, but zero as zero."""
    if weights is None:
        return np.empty(0, dtype=np.uint64)
    if weights.dtype.kind == "f":
        fractions = np.ascontiguousarray(weights, dtype=np.float64)
        whole: NDArray[np.uint64] = _mix(fractions.view(np.uint64)) | np.uint64(1)
        whole[fractions == 0] = 0
        return whole
    return weights.astype(np.uint64)


def _entropies(data: Dataset, first_level: NDArray[np.int64], threads: int) -> NDArray[np.float64]:
    """Entropy of every column: a sum over the sorted counts, so that neither rows nor labels matter."""
    weights = data.exact_weights
    each = np.empty(0) if weights is None else weights.astype(np.float64)
    counts: NDArray[Any] = _sum(data, threads, _counted, first_level, each)
    column = np.repeat(np.arange(data.n_columns), np.diff(first_level))[counts > 0]
    counts = counts[counts > 0]
    counts = counts[np.lexsort((counts, column))]
    totals = np.bincount(column, counts, minlength=data.n_columns)
    shares = counts / totals[column]
    found: NDArray[Any] = -np.bincount(column, shares * np.log(shares), minlength=data.n_columns)
    return found


def _sum(data: Dataset, threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Sum a function of the rows: by threads where many are in memory, without weights, whose sums have an order."""
    rows = max(-(-data.n_rows // (4 * threads)), 1)  # the last thread should not keep the others waiting
    if threads == 1 or data.weights is not None or data.engine != "cores" or rows < _WORTH_A_THREAD:
        return data.sum(function, *arguments)
    parts = [(i, min(i + rows, data.n_rows)) for i in range(0, data.n_rows, rows)]
    return reduce(np.add, pool(threads).map(lambda part: function(data.codes, *arguments, part=part), parts))


# Kernels are called by way of functions that other processes find, and compile or load themselves.


def _coloured(codes: NDArray[Any], *arguments: Any, part: tuple[int, int] | None = None) -> Any:
    from mapdag.search.canonical.colours import colour_rows

    return colour_rows(sealed(codes), *(part or (0, codes.shape[1])), *arguments)


def _counted(codes: NDArray[Any], *arguments: Any, part: tuple[int, int] | None = None) -> Any:
    from mapdag.search.canonical.colours import count_levels

    return count_levels(sealed(codes), *(part or (0, codes.shape[1])), *arguments)


def _groups(order: NDArray[np.intp], columns: NDArray[np.uint64]) -> tuple[tuple[int, ...], ...]:
    """Columns of the same colour, where there are several, in order."""
    groups: dict[int, list[int]] = {}
    for i in order.tolist():
        groups.setdefault(int(columns[i]), []).append(i)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
