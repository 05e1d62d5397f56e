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
from typing import TYPE_CHECKING, Any

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
    from mapdag.search.canonical.colours import refine

    n = data.n_columns
    first_level = np.concatenate([[0], np.cumsum(data.cards)])
    weights = _whole(data.weights)
    levels, columns = np.zeros(first_level[-1], dtype=np.uint64), np.zeros(n, dtype=np.uint64)

    def go_round() -> None:
        refine(data.sum(_coloured, first_level, weights, levels), first_level, levels, columns)

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
    ranks = np.argsort(np.argsort(data.names, kind="stable"), kind="stable")
    found = np.lexsort((ranks, columns, _entropies(data)))
    return CanonicalOrder(tuple(found.tolist()), _groups(found, columns))


def _pairs(data: Dataset, groups: tuple[tuple[int, ...], ...]) -> NDArray[np.uint64]:
    """How well each column tells those of some groups: a likelihood, exact whatever the order of rows and levels."""
    from mapdag.counts import Request
    from mapdag.families import FamilyScores
    from mapdag.scores import LogLik

    every = range(data.n_columns)
    found = np.zeros((data.n_columns, data.n_columns))
    requests = [Request(i, (), tuple(j for j in every if j != i)) for group in groups for i in group]
    for request, scores in zip(requests, FamilyScores(data, [LogLik()]).scores(requests), strict=True):
        found[request.child, request.candidates] = scores[0]
    return (found + 0.0).view(np.uint64)


def _refine_by_pairs(columns: NDArray[np.uint64], scores: NDArray[np.uint64]) -> None:
    """Colour columns by what each other one, and which, tells of them; in place."""
    for _ in range(2):
        told = _mix(scores + _mix(columns))
        np.fill_diagonal(told, 0)
        columns[:] = _mix(columns ^ _mix(told.sum(axis=1, dtype=np.uint64)))


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble words, as in `mapdag.search.canonical.colours`."""
    z = words + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
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


def _entropies(data: Dataset) -> NDArray[np.float64]:
    """Entropy of every column: a sum over the sorted counts, so that neither rows nor labels matter."""
    found = np.empty(data.n_columns)
    every = data.sum(_level_counts, data.cards, data.exact_weights)
    for i, own in enumerate(np.split(every, np.cumsum(data.cards)[:-1])):
        counts = np.sort(own)
        shares = counts[counts > 0] / counts.sum()
        found[i] = -float(np.sum(shares * np.log(shares)))
    return found


def _coloured(codes: NDArray[Any], *arguments: Any) -> NDArray[np.uint64]:
    """Call a kernel by way of a function that other processes find, and compile or load themselves."""
    from mapdag.search.canonical.colours import colour_rows

    codes.setflags(write=False)  # of one type, whoever made them
    found: NDArray[np.uint64] = colour_rows(codes, *arguments)
    return found


def _level_counts(codes: NDArray[Any], cards: NDArray[np.int64], weights: NDArray[Any] | None) -> NDArray[Any]:
    """Count the rows of every level of every column, one column after the other."""
    return np.concatenate([np.bincount(x, weights, minlength=r) for x, r in zip(codes, cards.tolist(), strict=True)])


def _groups(order: NDArray[np.intp], columns: NDArray[np.uint64]) -> tuple[tuple[int, ...], ...]:
    """Columns of the same colour, where there are several, in order."""
    groups: dict[int, list[int]] = {}
    for i in order.tolist():
        groups.setdefault(int(columns[i]), []).append(i)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)
