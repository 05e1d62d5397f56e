"""Finding the distinct rows of a table of codes in memory proportional to the rows, whatever the levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["distinct_rows"]

_KEY_LIMIT = 2**62


def distinct_rows(
    codes: NDArray[Any],
    cards: NDArray[np.int64] | Sequence[int],
    weights: NDArray[np.int64] | NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.int64] | NDArray[np.float64]]:
    """Return the first position of every distinct row, in lexicographic order, and how often (or how much) it occurs.

    Parameters
    ----------
    codes : array of shape (columns, rows)
        One row per variable.
    cards : sequence of int
        The number of levels of each.
    weights : array of shape (rows,), optional
        What each row counts for; 1 by default.
    """
    key = np.zeros(codes.shape[1], dtype=np.int64)
    size = 1
    for column, card in zip(codes, cards, strict=True):
        if size * int(card) > _KEY_LIMIT:
            # Ranks keep the order of the rows so far, and leave room for the columns to come.
            distinct, key = np.unique(key, return_inverse=True)
            key = key.reshape(-1).astype(np.int64, copy=False)
            size = len(distinct)
        key *= int(card)
        key += column
        size *= int(card)
    if weights is None:
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        return first, counts.astype(np.int64, copy=False)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    sums: NDArray[Any] = np.zeros(len(first), dtype=weights.dtype)
    np.add.at(sums, inverse.reshape(-1), weights)
    return first, sums
