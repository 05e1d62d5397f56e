"""What the values of a packed table mean: their codes, found by the code that reads tables into memory.

A table that is not large is read as such, from its blocks. Of a larger one, every distinct value of a column is taken
for one row that stands for many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.labels import code_dtype
from mapdag.data.preparation import prepare
from mapdag.data.problems import listed
from mapdag.data.source import Source
from mapdag.errors import DataError
from mapdag.notices import warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.data.codings import Coding
    from mapdag.data.columns import Column
    from mapdag.data.dataset import Dataset
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.packed.tallies import PackedTable, Tally

#: Rows of a table that is read as a whole, from its blocks; more than `MOST_VALUES`, by so much that no column of a
#: larger table can be taken for one that numbers its rows.
READ_ROWS = 2**20

_READ_CELLS = 2**27  # and its cells

_SAMPLED_BLOCKS, _SAMPLED_ROWS = 64, 2**16  # of a larger one, for a look at single rows


@dataclass(frozen=True, eq=False)
class Meaning:
    """How the distinct values of a packed table become codes.

    Attributes
    ----------
    names : tuple of str
    levels : mapping
    codings : mapping
    columns : sequence of int
        Where the columns are in the packed table.
    codes : sequence of arrays
        The code of each distinct value of each column; the number of levels where it is a gap.
    gone : mapping of int to array
        Which distinct values are missing, by column of the packed table: rows that have one are left out.
    """

    names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    codings: Mapping[str, Coding]
    columns: Sequence[int]
    codes: Sequence[NDArray[Any]]
    gone: Mapping[int, NDArray[np.bool_]]

    @property
    def widths(self) -> NDArray[np.int64]:
        """Numbers of different codes: the levels of each column, and one more where it has gaps."""
        cards = [len(self.levels[name]) for name in self.names]
        return np.array([card + bool((codes == card).any()) for card, codes in zip(cards, self.codes, strict=True)])

    def encode(self, table: PackedTable, block: int) -> NDArray[Any]:
        """Return the codes of the rows of a block that remain."""
        rows = _Rows(table, block)
        keep = rows.kept(self.gone)
        coded = [
            codes[rows.entries(column)][rows.positions(column)]
            for codes, column in zip(self.codes, self.columns, strict=True)
        ]
        found = np.array(coded, dtype=code_dtype(self.widths.tolist()))
        return found if keep is None else found[:, keep]


class _Rows:
    """The rows of one block of a table."""

    def __init__(self, table: PackedTable, number: int) -> None:
        self._table = table
        self._block, self._order = table.block(number)

    @classmethod
    def of(cls, table: PackedTable) -> Iterator[_Rows]:
        """Give all blocks."""
        return (cls(table, number) for number in range(table.n_blocks))

    def entries(self, column: int) -> NDArray[np.uint32]:
        """Return which of the table's distinct values those of the block are."""
        return self._table.tallies[column].find(self._block.part(self._order[column]).values)

    def positions(self, column: int) -> NDArray[Any]:
        """Return which of the block's distinct values each row has."""
        return self._block.positions(self._order[column])

    def kept(self, gone: Mapping[int, NDArray[np.bool_]]) -> NDArray[np.bool_] | None:
        """Tell which rows have no missing value, or return None if all are kept."""
        if not gone:
            return None
        keep = np.ones(self._block.n_rows, dtype=bool)
        for column, missing in gone.items():
            keep &= ~missing[self.entries(column)][self.positions(column)]
        return keep


class _Recount:
    """Counts the rows that remain; remembers what was left out the last time."""

    def __init__(self, table: PackedTable) -> None:
        self._table = table
        self.gone: dict[int, NDArray[np.bool_]] = {}
        self.left: dict[str, NDArray[np.int64]] = {}

    def __call__(self, gone: Mapping[str, NDArray[np.bool_]]) -> Mapping[str, NDArray[np.int64]]:
        table = self._table
        self.gone, self.left = {table.names.index(name): missing for name, missing in gone.items()}, {}
        if not gone:
            return self.left
        tallies = table.tallies
        left = [np.zeros(1 if tally.note else len(tally.counts), dtype=np.int64) for tally in tallies]
        for rows in _Rows.of(table):
            keep = rows.kept(self.gone)
            assert keep is not None
            for column, (tally, counts) in enumerate(zip(tallies, left, strict=True)):
                if tally.note:
                    counts[0] += int(keep.sum())
                    continue
                entries = rows.entries(column)
                np.add.at(counts, entries, np.bincount(rows.positions(column)[keep], minlength=len(entries)))
        self.left = dict(zip(table.names, left, strict=True))
        return self.left


def read_packed(table: PackedTable, options: Mapping[str, Any]) -> Dataset | Meaning:
    """Find out what a packed table means, with the options of `read`."""
    if is_small(table):
        return prepare(source_of(table, whole=True), **options).dataset()
    source = source_of(table, whole=False)
    recount = source.recount
    assert isinstance(recount, _Recount)
    prepared = prepare(source, **options)
    coded = prepared.coded()
    by_name = {column.name: column for column in coded}
    names = tuple(column.name for column in prepared.columns)
    codes = []
    for name in names:
        column = by_name[name]
        found = np.zeros(
            len(table.tallies[table.names.index(name)].counts), dtype=code_dtype([len(column.levels)], gaps=True)
        )
        found[np.flatnonzero(recount.left[name]) if name in recount.left else slice(None)] = column.codes
        codes.append(found)
    return Meaning(
        names,
        {name: by_name[name].levels for name in names},
        {name: by_name[name].coding for name in names},
        [table.names.index(name) for name in names],
        codes,
        recount.gone,
    )


def is_small(table: PackedTable) -> bool:
    """Tell whether all rows of a table fit into memory with ease."""
    return table.n_rows <= READ_ROWS and table.n_rows * len(table.names) <= _READ_CELLS


def source_of(table: PackedTable, *, whole: bool) -> Source:
    """Return a packed table as a source of columns: whole ones, or their distinct values for rows."""

    def make(name: str, position: int, options: ReadOptions) -> Column:
        column = table.column(name, table.tallies[position], options)
        return _with_rows(column, _index(table, position, column)) if whole else column

    def make_sample(name: str, position: int, options: ReadOptions) -> Column:
        column = table.column(name, table.tallies[position], options)
        return _with_rows(column, _sampled(table, position, column))

    names, positions = table.names, list(range(len(table.names)))
    if any(source.about.get("row_names") for source in table.sources):
        _check_row_names(table, table.tallies[0])
        names, positions = names[1:], positions[1:]
    source = Source(names, table.n_rows, positions, make, table.called, header=table.header)
    return source if whole else replace(source, sample=replace(source, make=make_sample), recount=_Recount(table))


def _index(table: PackedTable, column: int, made: Column) -> NDArray[Any]:
    """Return which distinct value each row of a table has."""
    if made.kind == "nested":
        return np.zeros(table.n_rows, dtype=np.uint8)
    dtype = np.min_scalar_type(max(len(table.tallies[column].counts) - 1, 0))
    return np.concatenate([rows.entries(column).astype(dtype)[rows.positions(column)] for rows in _Rows.of(table)])


def _with_rows(column: Column, index: NDArray[Any]) -> Column:
    """Return a column of distinct values with rows, given which value each has."""
    return replace(column, index=column.index[index], times=None, first=None)


def _sampled(table: PackedTable, column: int, made: Column) -> NDArray[Any]:
    """Return which distinct value some rows have, from all over a table."""
    blocks = np.unique(np.linspace(0, table.n_blocks - 1, _SAMPLED_BLOCKS).astype(np.intp)).tolist()
    found = []
    for number in blocks:
        rows, size = _Rows(table, number), table.sizes[number]
        chosen = np.linspace(0, size - 1, min(size, -(-_SAMPLED_ROWS // len(blocks)))).astype(np.intp)
        nested = made.kind == "nested"
        found.append(chosen * 0 if nested else rows.entries(column)[rows.positions(column)[chosen]].astype(np.intp))
    return np.concatenate(found)


def _check_row_names(table: PackedTable, tally: Tally) -> None:
    """Leave out the first field, for which the header has no name, if it can be row names: distinct on every row."""
    width = len(table.names)
    told = f"{table.called}: every line has {width:,} fields, but the header has {width - 1:,} names"
    # Of very many, not all are compared: within a block they are distinct.
    if tally.note != "many" and len(tally.counts) < table.n_rows:
        twice = tally.values[int(np.argmax(tally.counts))]
        raise DataError(
            f"{told}; the first field cannot be row names, as R writes them: {str(twice)!r} is on more than one row. "
            "Write one name per column"
        )
    shown = listed([str(value) for value in tally.values.head(2)])
    warn(f"{told}: the first field ({shown}, ...), distinct on every row, was taken for R's row names and left out")
