"""What the values of a table in pieces mean, and how its rows become codes: found by the code that reads whole tables.

A table in pieces is files of blocks, or partitions on a cluster: `Pieces`. Every distinct value of one of its columns
is an *entry*, taken for one row that stands for many. `decide` makes a `Recoding` of these few; its `Codebook` for each
piece says how the rows there become codes, wherever they are. A table that is not large is looked at as a whole, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mapdag.data.labels import code_dtype
from mapdag.data.preparation import prepare
from mapdag.notices import unsaid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.codings import Coding
    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.source import Source

    #: Which values are missing, by column: rows that have one of them are left out.
    Gone: TypeAlias = Mapping[int, NDArray[np.bool_]]

    #: Given the number of a column, which of its distinct values each row has.
    Positions: TypeAlias = Callable[[int], NDArray[Any]]

#: Rows of a table that is looked at as a whole; more than `MOST_VALUES`, by so much that no column of a larger table
#: can be taken for one that numbers its rows.
READ_ROWS = 2**20


class Pieces(ABC):
    """A table in pieces, of which the distinct values are known here; the rows may be anywhere."""

    names: Sequence[str]
    sizes: Sequence[int]  # the rows of each piece

    @abstractmethod
    def source(self) -> Source:
        """Return the table as columns of entries, each standing for the rows that have it; parts are their numbers."""

    @abstractmethod
    def entries(self, piece: int, column: int) -> NDArray[Any]:
        """Return which entry each distinct value of a column of a piece is."""

    @abstractmethod
    def size(self, column: int) -> int:
        """Return how many entries a column has."""

    def place(self, piece: int, column: int) -> int:  # noqa: ARG002 - files may differ
        """Return where a column is in a piece."""
        return column

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.sizes)

    def fits(self, cells: int) -> bool:
        """Tell whether all rows fit into memory with ease, where so many cells do."""
        return self.n_rows <= READ_ROWS and self.n_rows * len(self.names) <= cells

    def whole(self, positions: Callable[[int, int], NDArray[Any]]) -> Source:
        """Return the table as columns of rows, given which value each row of a column of a piece has."""
        source = self.source()

        def make(name: str, number: int, options: ReadOptions) -> Column:
            column = source.make(name, number, options)
            narrow = np.min_scalar_type(max(self.size(number) - 1, 0))
            index = [
                self.entries(i, number).astype(narrow)[positions(i, self.place(i, number))]
                for i, size in enumerate(self.sizes)
                if size
            ]
            return with_rows(column, np.concatenate(index))

        return replace(source, make=make, sample=None, recount=None)


def with_rows(column: Column, index: NDArray[Any]) -> Column:
    """Return a column of entries with rows, given which entry each has."""
    return replace(column, index=column.index[index], times=None, first=None)


# What is done where the rows are -------------------------------------------------------------------------------------


class Codebook(NamedTuple):
    """How the rows of a piece become codes."""

    columns: tuple[int, ...]  # those that are variables
    codes: tuple[NDArray[Any], ...]  # code of each value of each
    gone: Gone  # rows that have one of these are left out
    cards: tuple[int, ...]  # levels of each
    widths: tuple[int, ...]  # and different codes: one more where it has gaps

    def apply(self, positions: Positions, n_rows: int) -> list[NDArray[Any]]:
        """Return the codes of the rows that remain, column by column."""
        keep = _kept(positions, n_rows, self.gone) if self.gone else slice(None)
        return [codes[positions(column)][keep] for codes, column in zip(self.codes, self.columns, strict=True)]


def left_of(positions: Positions, columns: int, n_rows: int, gone: Gone) -> list[NDArray[np.int64]]:
    """Count, for the values of every column, the rows that remain; the last values may be left out that have none."""
    keep = _kept(positions, n_rows, gone)
    return [np.bincount(positions(column)[keep]) for column in range(columns)]


def _kept(positions: Positions, n_rows: int, gone: Gone) -> NDArray[np.bool_]:
    keep = np.ones(n_rows, dtype=np.bool_)
    for column, missing in gone.items():
        keep &= ~missing[positions(column)]
    return keep


# What is decided here ------------------------------------------------------------------------------------------------

#: Given what is gone from each piece: `left_of` of each.
LeftOf: TypeAlias = "Callable[[Sequence[Gone]], Iterable[Sequence[NDArray[np.int64]]]]"


class _Recount:
    """Counts the rows that remain; remembers what was left out the last time."""

    def __init__(self, table: Pieces, left: LeftOf) -> None:
        self._table, self._left = table, left
        self.gone: dict[int, NDArray[np.bool_]] = {}
        self.counts: dict[str, NDArray[np.int64]] = {}

    def __call__(self, gone: Mapping[str, NDArray[np.bool_]]) -> Mapping[str, NDArray[np.int64]]:
        table = self._table
        self.gone, self.counts = {table.names.index(name): missing for name, missing in gone.items()}, {}
        if not gone:
            return self.counts
        left = [np.zeros(table.size(column), dtype=np.int64) for column in range(len(table.names))]
        pieces = range(len(table.sizes))
        for i, found in zip(pieces, self._left([gone_from(table, i, self.gone) for i in pieces]), strict=True):
            for column, counts in enumerate(left):
                entries, mine = table.entries(i, column), found[table.place(i, column)]
                np.add.at(counts, entries[: len(mine)], mine[: len(entries)])
        self.counts = dict(zip(table.names, left, strict=True))
        return self.counts


def counted(table: Pieces, left: LeftOf) -> Source:
    """Return a table as columns of entries, of which the rows that remain are counted where they are."""
    return replace(table.source(), recount=_Recount(table, left))


def gone_from(table: Pieces, piece: int, gone: Gone) -> Gone:
    """Return which values of a piece are missing, given which entries are."""
    return {table.place(piece, column): missing[table.entries(piece, column)] for column, missing in gone.items()}


@dataclass(frozen=True, eq=False)
class Recoding:
    """How the entries of a table become codes.

    Attributes
    ----------
    table : Pieces
    names : tuple of str
    levels, codings : mapping
    columns : sequence of int
        Where the columns are in the table.
    codes : sequence of arrays
        The code of each entry of each column; the number of levels where it is a gap.
    gone : mapping of int to array
        Which entries are missing, by column of the table: rows that have one are left out.
    """

    table: Pieces
    names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    codings: Mapping[str, Coding]
    columns: Sequence[int]
    codes: Sequence[NDArray[Any]]
    gone: Gone

    @property
    def cards(self) -> tuple[int, ...]:
        """Numbers of levels."""
        return tuple(len(self.levels[name]) for name in self.names)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Numbers of different codes: the levels of each column, and one more where it has gaps."""
        every = zip(self.cards, self.codes, strict=True)
        return np.array([card + bool((codes == card).any()) for card, codes in every])

    def codebook(self, piece: int) -> Codebook:
        """Return how the rows of a piece become codes."""
        table = self.table
        return Codebook(
            tuple(table.place(piece, column) for column in self.columns),
            tuple(codes[table.entries(piece, column)] for codes, column in zip(self.codes, self.columns, strict=True)),
            gone_from(table, piece, self.gone),
            self.cards,
            tuple(self.widths.tolist()),
        )


def decide(table: Pieces, left: LeftOf, options: Mapping[str, Any], *, quiet: bool = False) -> Recoding:
    """Find out what the entries of a table mean, with the options of `read`.

    Parameters
    ----------
    table : Pieces
    left : callable
        Counts the rows that remain.
    options : mapping
    quiet : bool
        Whether all warnings have been said, by whoever looked at the table as a whole.
    """
    with unsaid() if quiet else nullcontext():
        source = counted(table, left)
        prepared = prepare(source, **options)
    recount = source.recount
    assert isinstance(recount, _Recount)
    by_name = {column.name: column for column in prepared.coded()}
    names = tuple(column.name for column in prepared.columns)
    columns = [table.names.index(name) for name in names]
    codes = []
    for name, column in zip(names, columns, strict=True):
        found = np.zeros(table.size(column), dtype=code_dtype([len(by_name[name].levels)], gaps=True))
        found[np.flatnonzero(recount.counts[name]) if recount.counts else slice(None)] = by_name[name].codes
        codes.append(found)
    levels = {name: by_name[name].levels for name in names}
    codings = {name: by_name[name].coding for name in names}
    return Recoding(table, names, levels, codings, columns, codes, recount.gone)
