"""Probability tables that hold the observed configurations of the parents, and one row for all others.

A node with many parents has more configurations than there are rows in any data. What an estimate says of those that
were not observed is the same for all: the mean of the prior. So the table takes as much room as the data, not the
product of the levels. Where something needs a whole table, it is written out if it is not too large.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import CapacityError, NetworkError, Setting
from mapdag.networks.cpts import MAX_ENTRIES, MAX_PARENTS, Floats, Levels, checked_cpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DENSE_ENTRIES = 2**16
"""Tables of up to so many entries are always held as a whole."""

SPARSE_SHARE = 1 / 4
"""Larger ones are, too, where more than this share of the configurations was observed."""

MAX_CELLS = 2**62
"""Entries that a table may have, held or not: their numbers must be whole numbers of 64 bits."""

_WRITTEN = 2**24
"""Entries that a file in a format for whole tables may have, where not all are held."""

_FEWER = Setting("max_parents", 4)


@dataclass(frozen=True, eq=False, slots=True)
class SparseTable:
    """The probabilities of a node given its parents, where few configurations have probabilities of their own.

    Parameters
    ----------
    shape : tuple of int
        Of the whole table: the levels of each parent, and last those of the node.
    configurations : int64 array (configurations,)
        Those held, by number, ascending; the last parent changes fastest.
    rows : float array (configurations, levels)
        Their probabilities.
    rest : float array (levels,)
        Those of all other configurations.
    """

    shape: tuple[int, ...]
    configurations: NDArray[np.int64]
    rows: Floats
    rest: Floats

    @property
    def size(self) -> int:
        """Entries of the whole table."""
        return math.prod(self.shape)

    @property
    def n_configurations(self) -> int:
        """Configurations of the parents, held or not."""
        return math.prod(self.shape[:-1])

    @property
    def n_undefined(self) -> int:
        """Configurations whose probabilities are not a number."""
        others = self.n_configurations - len(self.configurations)
        return int(np.isnan(self.rows[:, 0]).sum()) + others * bool(np.isnan(self.rest[0]))

    def first_rest(self) -> int:
        """Return the first configuration that is not held."""
        gaps = np.flatnonzero(self.configurations != np.arange(len(self.configurations)))
        return int(gaps[0]) if len(gaps) else len(self.configurations)

    def all(self) -> bool:
        """Whether no probability is zero."""
        return bool(self.rows.all() and self.rest.all())

    def rows_at(self, numbers: NDArray[np.int64]) -> Floats:
        """Return the probabilities for configurations, by number: one axis more, for the levels."""
        if not len(self.configurations):
            return np.broadcast_to(self.rest, (*numbers.shape, len(self.rest)))
        places = np.minimum(np.searchsorted(self.configurations, numbers), len(self.configurations) - 1)
        found: Floats = self.rows[places]
        found[self.configurations[places] != numbers] = self.rest
        return found

    def __getitem__(self, codes: tuple[Any, ...]) -> Floats:
        """Return rows, given the levels of all parents, or entries, given that of the node, too."""
        numbers = np.zeros(1, dtype=np.int64)
        for card, mine in zip(self.shape[:-1], codes, strict=False):
            numbers = numbers * card + np.asarray(mine, dtype=np.int64)
        if len(codes) == len(self.shape):
            numbers, levels = np.broadcast_arrays(numbers, np.asarray(codes[-1], dtype=np.int64))
            rows = np.take_along_axis(self.rows_at(numbers), levels[..., None], axis=-1)[..., 0]
        else:
            rows = self.rows_at(numbers)
        return rows if any(np.ndim(mine) for mine in codes) else rows[0]

    def transpose(self, *axes: int) -> SparseTable:
        """Put the parents into another order; the node stays the last."""
        parts = np.unravel_index(self.configurations, self.shape[:-1])
        shape = tuple(self.shape[axis] for axis in axes)
        numbers = np.zeros(len(self.configurations), dtype=np.int64)
        for axis in axes[:-1]:
            numbers = numbers * self.shape[axis] + parts[axis]
        order = np.argsort(numbers)
        return SparseTable(shape, numbers[order], self.rows[order], self.rest)

    def dense(self) -> Floats:
        """Return the whole table, which must not be too large."""
        table = np.tile(self.rest, (self.n_configurations, 1))
        table[self.configurations] = self.rows
        return table.reshape(self.shape)

    def seal(self) -> None:
        """Make it read-only."""
        for part in (self.configurations, self.rows, self.rest):
            part.flags.writeable = False


def equal_tables(one: Any, other: Any) -> bool:
    """Tell whether two tables, arrays or sparse, have the same probabilities."""
    if one.shape != other.shape:
        return False
    if isinstance(one, SparseTable) and isinstance(other, SparseTable):
        numbers = np.union1d(one.configurations, other.configurations)
        return np.array_equal(one.rest, other.rest, equal_nan=True) and np.array_equal(
            one.rows_at(numbers), other.rows_at(numbers), equal_nan=True
        )
    first, second = (each.dense() if isinstance(each, SparseTable) else each for each in (one, other))
    return np.array_equal(first, second, equal_nan=True)


def checked_sparse(
    node: str, parents: Sequence[str], levels: Levels, table: SparseTable, *, tolerance: float, allow_undefined: bool
) -> SparseTable:
    """Return a sparse table with rows that sum to one, or say what is wrong with it, as `checked_cpt` does."""
    shape = tuple(len(levels[name]) for name in (*parents, node))
    if table.shape != shape or table.size > MAX_CELLS:
        raise NetworkError(f"the probabilities of {node!r} must have shape {shape}, got {table.shape}")
    numbers = table.configurations
    if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < table.n_configurations and (np.diff(numbers) > 0).all()):
        raise NetworkError(f"the configurations of the parents of {node!r} must be there once each, and exist")
    rows = np.vstack([table.rows, table.rest])
    named = {node: levels[node], "row": tuple(map(str, range(len(rows))))}
    rows = checked_cpt(node, ["row"], named, rows, tolerance=tolerance, allow_undefined=allow_undefined)
    return replace(table, rows=rows[:-1], rest=rows[-1])


class MixedTables(Mapping[str, Floats]):
    """The tables of a network, some of which are sparse: those are written out whenever they are asked for.

    Attributes
    ----------
    held : mapping
        All of them as they are held.
    """

    __slots__ = ("held",)

    def __init__(self, held: Mapping[str, Any]) -> None:
        self.held = held

    def __getitem__(self, node: str) -> Floats:
        table = self.held[node]
        if not isinstance(table, SparseTable):
            return table
        parents = len(table.shape) - 1
        if table.size > MAX_ENTRIES or parents > MAX_PARENTS:
            raise CapacityError(
                f"the whole probability table of {node!r} given {parents} parents has {table.size:,} entries, more "
                f"than the {MAX_ENTRIES:,} that there is room for: learn fewer parents, as by ",
                _FEWER,
            )
        whole = table.dense()
        whole.flags.writeable = False
        return whole

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


def held_tables(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of a network as they are held: arrays, or sparse."""
    return tables.held if isinstance(tables, MixedTables) else tables


def refuse_large(tables: Mapping[str, Floats], what: str) -> None:
    """Refuse sparse tables where `what` writes whole ones, if these are too large together."""
    held = held_tables(tables)
    sizes = {node: table.size for node, table in held.items()}
    total = sum(sizes.values())
    if total > _WRITTEN and any(isinstance(table, SparseTable) for table in held.values()):
        largest = max(sizes, key=sizes.__getitem__)
        raise CapacityError(
            f"{what} needs whole probability tables: {total:,} entries, most of them for {largest!r} given "
            f"{len(held[largest].shape) - 1} parents; write .json, which holds the observed configurations, or learn "
            "fewer parents, as by ",
            _FEWER,
        )


@dataclass(frozen=True, eq=False)
class ObservedCells:
    """How many rows fall into each observed cell of a family; parts of a table are added up."""

    cells: NDArray[np.int64]
    counts: NDArray[Any]

    def __add__(self, other: ObservedCells) -> ObservedCells:
        cells, back = np.unique(np.concatenate([self.cells, other.cells]), return_inverse=True)
        return ObservedCells(cells, np.bincount(back, weights=np.concatenate([self.counts, other.counts])))

    def by_configuration(self, levels: int) -> tuple[NDArray[np.int64], Floats]:
        """Return the observed configurations, and the counts of each level of the node in them."""
        configurations, back = np.unique(self.cells // levels, return_inverse=True)
        counts = np.zeros((len(configurations), levels))
        counts[back, self.cells % levels] = self.counts
        return configurations, counts


def count_observed(codes: NDArray[Any], cards: Sequence[int], weights: NDArray[Any] | None) -> ObservedCells:
    """Count the rows of the cells of a family that occur; the node comes last."""
    cells = np.zeros(codes.shape[1], dtype=np.int64)
    for mine, card in zip(codes, cards, strict=True):
        cells = cells * card + mine
    found, back = np.unique(cells, return_inverse=True)
    return ObservedCells(found, np.bincount(back, weights=weights, minlength=len(found)).astype(np.float64))
