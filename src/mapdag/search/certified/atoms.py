"""Rows that no parents tell apart, and what they leave of the likelihood of any family.

Rows that are equal in all candidate parents of a node are an *atom*: they have their configuration in common, whatever
the parents are. Where the node itself differs among them, no family predicts all of them well. See
`docs/certified.md` for the bound and its proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Atoms(NamedTuple):
    """For each node, what its atoms say."""

    likelihood: Floats  # (nodes,) log-likelihood with all candidates as parents: that of no family is higher
    ends: Ints  # (nodes + 1,) where the gains of each begin
    gains: Floats  # what it gains when one row after the other is taken out of atoms, of each level one, highest first
    sums: Floats  # (gains + 1,) of all gains before


def find_atoms(codes: NDArray[np.unsignedinteger], cards: Ints, allowed: Bools) -> Atoms:
    """Find what the atoms of each node say.

    Parameters
    ----------
    codes : array (nodes, rows)
    cards : int array (nodes,)
    allowed : bool array (nodes, nodes)
        Arcs, `allowed[parent, child]`.
    """
    found = [_judge(_count(codes, cards, allowed[:, child], child)) for child in range(len(cards))]
    gains = [gain for _, gain in found]
    ends = np.cumsum([0, *(len(gain) for gain in gains)])
    every = np.concatenate([*gains, np.empty(0)])
    return Atoms(
        np.array([likelihood for likelihood, _ in found]), ends, every, np.concatenate([[0.0], every.cumsum()])
    )


def _count(codes: NDArray[np.unsignedinteger], cards: Ints, parents: Bools, child: int) -> Ints:
    """Levels of a node in each atom, those with several levels only."""
    ids, size = np.zeros(codes.shape[1], dtype=np.int64), 1
    rows = np.arange(codes.shape[1])
    for parent in np.flatnonzero(parents).tolist():
        keys = ids * cards[parent] + codes[parent, rows]
        counts = np.bincount(keys, minlength=size * cards[parent])
        shared = counts[keys] > 1  # a row that is alone stays alone
        rows, keys = rows[shared], keys[shared]
        names = np.cumsum(counts > 1) - 1
        ids, size = names[keys], int((counts > 1).sum())
        if not size:
            break
    table = np.bincount(ids * cards[child] + codes[child, rows], minlength=size * cards[child])
    table = table.reshape(size, cards[child])
    return table[(table > 0).sum(axis=1) > 1]


def _judge(table: Ints) -> tuple[float, Floats]:
    """Log-likelihood of atoms, and what it gains by taking rows out, highest first."""
    totals = table.sum(axis=1)
    likelihood = float(xlogy(table, table).sum() - xlogy(totals, totals).sum())
    # The gain is highest for the rarest levels, and smaller for each row more.
    counts = np.sort(np.where(table > 0, table, np.iinfo(np.int64).max), axis=1)
    is_level = counts < np.iinfo(np.int64).max
    counts = np.where(is_level, counts, 1)
    left = totals[:, None] - np.arange(table.shape[1])
    gains = _step(np.maximum(left, 1)) - _step(counts)
    return likelihood, np.sort(gains[is_level])[::-1]


def _step(n: Ints) -> Floats:
    """What one row more adds to n log n, the last of n."""
    return np.asarray(xlogy(n, n) - xlogy(n - 1, n - 1), dtype=np.float64)
