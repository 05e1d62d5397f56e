"""One round of colour refinement over rows, levels and columns, compiled; see `mapdag.search.canonical`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.kernels import entry, mix, new_scores, new_words, no_words

_BLOCK = 4096  # rows whose colours stay in the cache
_LANES = 4  # sums that are kept apart: neighbouring rows often have the same level, and one addition waits for another


@entry
def colour_rows(codes: Any, begin: int, end: int, first_level: Any, weights: Any, levels: Any) -> Any:
    """Colour rows by their levels; returns the sum of the colours of the rows that have each level.

    Sums of the blocks of a table add up to those of all its rows.

    Parameters
    ----------
    codes : array (columns, rows)
    begin, end : int
        The rows to look at.
    first_level : int64 array (columns + 1,)
    weights : uint64 array
        How often each row counts; empty: once.
    levels : uint64 array
        Colours.
    """
    seen = no_words(len(levels))
    rows = new_words(_BLOCK)
    for start in range(begin, end, _BLOCK):
        size = min(_BLOCK, end - start)
        for i in range(size):
            rows[i] = 0
        for c in range(len(codes)):
            mine = levels[first_level[c] :]
            for i in range(size):
                rows[i] += mine[np.uint64(codes[c, start + i])]
        for i in range(size):
            rows[i] = mix(rows[i])
            if len(weights):
                rows[i] *= weights[start + i]
        for c in range(len(codes)):
            here = seen[first_level[c] :]
            for i in range(size):
                here[np.uint64(codes[c, start + i])] += rows[i]
    return seen


@entry
def refine(seen: Any, first_level: Any, levels: Any, columns: Any) -> None:
    """Colour levels by their rows, `seen`, and their column, and columns by their levels; in place."""
    for c in range(len(columns)):
        total = mix(np.uint64(first_level[c + 1] - first_level[c]))
        for level in range(first_level[c], first_level[c + 1]):
            levels[level] = mix(levels[level] + mix(seen[level] ^ columns[c]))
            total += levels[level]
        columns[c] = mix(columns[c] ^ mix(total))


@entry
def count_levels(codes: Any, begin: int, end: int, first_level: Any, weights: Any) -> Any:
    """Count every level of every column.

    Parameters
    ----------
    codes : array (columns, rows)
    begin, end : int
        The rows to look at.
    first_level : int64 array (columns + 1,)
    weights : float64 array
        How much each row counts; empty: one.
    """
    counts = new_scores(_LANES, first_level[-1])
    counts[:] = 0
    for c in range(len(codes)):
        here = counts[:, first_level[c] :]
        for i in range(begin, end):
            here[i % _LANES, np.uint64(codes[c, i])] += weights[i] if len(weights) else 1.0
    for lane in range(1, _LANES):
        counts[0] += counts[lane]
    return counts[0]
