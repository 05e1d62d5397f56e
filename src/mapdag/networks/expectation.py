"""Expected counts of rows with gaps: for every family, the sum over rows of the distribution of its cells.

That is the E step of EM, for rows that `completion` leaves to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.networks.elimination import Order, best_order, check_capacity
from mapdag.networks.factors import CALL, Families, indicator
from mapdag.networks.propagation import Beliefs, calibrate
from mapdag.networks.questions import MAX_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mapdag.networks.cpts import Floats

_BLOCK = 2**22
"""Entries of all tables together, times rows, that are computed at a time: 32 MiB."""


class Group(NamedTuple):
    """Rows that are computed together."""

    rows: NDArray[np.intp]
    sure: list[int]  # the nodes that all of them know
    order: Order  # in which the others are eliminated


def expected_counts(
    families: Families, codes: NDArray[Any], known: NDArray[np.bool_], weights: Floats | None = None
) -> tuple[list[Floats], Floats]:
    """Return the expected counts of the cells of every family, given rows with gaps.

    Parameters
    ----------
    families : Families
        Of a network without undefined probabilities.
    codes : array of shape (nodes, rows)
        Whatever where a level is not known.
    known : boolean array of shape (nodes, rows)
        Whether it is.
    weights : array of shape (rows,), optional
        How many observations each row stands for.

    Returns
    -------
    counts : list of arrays
        For every node, in the shape of its table.
    log : array of shape (rows,)
        The log-probability of what is known. Rows that are impossible have minus infinity, and count nowhere.
    """
    single = np.array(families.cards) == 1
    codes, known = np.where(single[:, None], 0, codes), known | single[:, None]
    counts, log = [np.zeros(families.table(i).shape) for i in range(len(families.cards))], np.empty(codes.shape[1])
    for group in groups_of(families, known):
        size = max(1, _BLOCK // max(group.order.total, 1))
        for start in range(0, len(group.rows), size):
            rows = group.rows[start : start + size]
            sure = {i: codes[i, rows] for i in group.sure}
            unsure = [i for i in group.order.nodes if known[i, rows].any()]
            beliefs = calibrate(
                [families.factor(i, sure) for i in range(len(counts))]
                + [indicator(i, families.cards[i], codes[i, rows], known[i, rows]) for i in unsure],
                group.order.nodes,
            )
            log[rows] = beliefs.log
            weight = np.where(np.isneginf(log[rows]), 0.0, 1.0 if weights is None else weights[rows])
            for node in range(len(counts)):
                counts[node] += _cells(families, node, sure, beliefs, weight)
    return counts, log


def groups_of(families: Families, known: NDArray[np.bool_], *, apart: bool = False) -> Iterator[Group]:
    """Take all rows together if that is cheaper than by which nodes they know, else one such pattern after another.

    `apart`: in any case one pattern after another.
    """
    patterns, which = np.unique(np.packbits(known, axis=0), axis=1, return_inverse=True)
    together = _group(families, np.arange(known.shape[1]), np.asarray(known.all(axis=1)))
    cost = patterns.shape[1] * len(families.cards) * CALL
    if not apart and together.order.largest <= MAX_ENTRIES and together.order.total * known.shape[1] <= cost:
        yield together
        return
    for pattern in range(patterns.shape[1]):
        rows = np.flatnonzero(which.ravel() == pattern)
        group = _group(families, rows, known[:, rows[0]])
        what = f"the expected counts of row {int(rows[0]) + 1:,} would need tables"
        check_capacity(group.order.total, MAX_ENTRIES, what)
        yield group


def entries_of(families: Families, known: NDArray[np.bool_], most: int) -> int:
    """Count the entries of all tables that rows need, one pattern after the other as in `groups_of`, up to `most`."""
    total = 0
    for pattern in known.T:
        total += _group(families, np.arange(1), pattern).order.total
        if total > most:
            break
    return total


def _group(families: Families, rows: NDArray[np.intp], sure: NDArray[np.bool_]) -> Group:
    scopes = [
        [member for member in family if not sure[member]]
        for family in map(families.members, range(len(families.cards)))
    ]
    return Group(rows, np.flatnonzero(sure).tolist(), best_order(scopes, families.cards, ()))


def _cells(families: Families, node: int, sure: dict[int, NDArray[Any]], beliefs: Beliefs, weight: Floats) -> Floats:
    """Return the weighted sum over rows of the distribution of the cells of one family."""
    family, shape = families.members(node), families.table(node).shape
    free = [axis for axis, member in enumerate(family) if member not in sure]
    axes = [axis for axis, member in enumerate(family) if member in sure]
    joint = np.nan_to_num(beliefs.joint([family[axis] for axis in free])) if free else np.ones(1)
    flat = (joint * weight).reshape(-1, len(weight))
    cells = families.cells(node, sure) if axes else np.zeros(len(weight), dtype=np.intp)
    n_cells = int(np.prod([shape[axis] for axis in axes], dtype=np.int64))
    sums = np.array([np.bincount(cells, weights=each, minlength=n_cells) for each in flat])
    order = np.argsort([*free, *axes])
    turned: Floats = sums.reshape([shape[axis] for axis in (*free, *axes)]).transpose(order)
    return turned
