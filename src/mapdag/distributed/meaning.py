"""What the values of all partitions mean, found on the driver by the code that reads tables into memory.

Every distinct value of a column of a piece is an *entry*, which stands for the rows that have it.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.labels import code_dtype
from mapdag.data.packed.blocks import Part
from mapdag.data.packed.meaning import READ_ROWS, source_of
from mapdag.data.packed.tallies import PackedTable
from mapdag.data.preparation import prepare
from mapdag.data.series import from_pandas
from mapdag.data.source import Source
from mapdag.distributed.packing import Distinct, Order, Summary
from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mapdag.data.codings import Coding
    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions

    #: Given which distinct values are missing, by column, of every piece: the rows that remain of every value.
    LeftOf = Callable[[Sequence[Mapping[int, NDArray[np.bool_]]]], Sequence[Sequence[NDArray[np.int64]]]]

_WHOLE_CELLS = 2**25  # of a table that is looked at as a whole


class Entries(ABC):
    """The distinct values of a table that is in pieces."""

    names: Sequence[str]
    summaries: Sequence[Summary]

    @abstractmethod
    def source(self) -> Source:
        """Return the table as columns of entries, each standing for the rows that have it."""

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
        return sum(summary.n_rows for summary in self.summaries)

    def whole_source(self, positions: Sequence[Sequence[NDArray[Any]]]) -> Source:
        """Return the table as columns of rows, given which value each row of each piece has."""
        source = self.source()

        def make(name: str, part: Any, options: ReadOptions) -> Column:
            column = source.make(name, part, options)
            place = self.names.index(name)
            rows = [
                self.entries(i, place)[mine[self.place(i, place)]]
                for i, mine in enumerate(positions)
                if self.summaries[i].n_rows
            ]
            return replace(column, index=column.index[np.concatenate(rows)], times=None, first=None)

        return replace(source, make=make)


class FrameEntries(Entries):
    """Those of pandas DataFrames: as many entries as all pieces have values, alike or not."""

    def __init__(self, names: Sequence[str], summaries: Sequence[Summary], called: Sequence[str]) -> None:
        self.names, self.summaries, self._called = names, summaries, called

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        sizes = [[len(column.counts) for column in summary.columns] for summary in self.summaries]
        return np.cumsum([[0] * len(self.names), *sizes], axis=0)

    def source(self) -> Source:
        """Return the table as columns of entries."""
        return Source(list(self.names), self.n_rows, list(range(len(self.names))), self._column, "the Dask DataFrame")

    def entries(self, piece: int, column: int) -> NDArray[Any]:
        """Return which entry each distinct value of a column of a piece is."""
        return np.arange(*self._starts[piece : piece + 2, column])

    def size(self, column: int) -> int:
        """Return how many entries a column has."""
        return int(self._starts[-1, column])

    def _column(self, name: str, place: int, _: ReadOptions) -> Column:
        columns = [summary.columns[place] for summary in self.summaries]
        starts = np.cumsum([0, *(summary.n_rows for summary in self.summaries)])
        first = np.concatenate([column.first + start for column, start in zip(columns, starts, strict=False)])
        times = np.concatenate([column.counts for column in columns])
        made = from_pandas(name, self._joined(name, columns))
        return replace(made, first=first.astype(np.int64), times=times)

    def _joined(self, name: str, columns: Sequence[Distinct]) -> Any:
        """Put the values of all pieces together, which must be of one type, but for pieces without any."""
        import pandas as pd

        kinds: dict[str, int] = {}
        for piece, column in enumerate(columns):
            if column.distinct.notna().any():
                kinds.setdefault(_kind(column.distinct), piece)
        if len(kinds) > 1:
            (one, first), (other, second) = list(kinds.items())[:2]
            raise DataError(
                f"column {name!r} holds {one} in {self._called[first]}, but {other} in {self._called[second]}: all "
                "partitions must have the same types"
            )
        kind = next(iter(kinds), None)
        series = [column.distinct for column in columns if len(column.distinct)]
        typed = next((each for each in series if kind is None or _kind(each) == kind), columns[0].distinct)
        alike = [each if _kind(each) == kind else pd.Series([None] * len(each), dtype=typed.dtype) for each in series]
        if kind == "categories":
            alike = [each if _kind(each) == kind else typed[:0].reindex(range(len(each))) for each in series]
            try:
                return pd.Series(pd.api.types.union_categoricals(alike))
            except TypeError as error:
                raise DataError(
                    f"column {name!r}: the categories of partitions do not fit together: {error}"
                ) from error
        return pd.concat(alike, ignore_index=True) if alike else typed


def _kind(values: Any) -> str:
    return "categories" if type(values.dtype).__name__ == "CategoricalDtype" else str(values.dtype)


class FileEntries(Entries):
    """Those of files, each of which is some pieces."""

    def __init__(self, files: Sequence[Sequence[Summary]]) -> None:
        self.summaries = [summary for file in files for summary in file]
        self._table = PackedTable([_packed(file) for file in files])
        self.names = self._table.names

    def source(self) -> Source:
        """Return the table as columns of entries."""
        return source_of(self._table, whole=False)

    def entries(self, piece: int, column: int) -> NDArray[Any]:
        """Return which entry each distinct value of a column of a piece is."""
        block, order = self._table.block(piece)
        tally, part = self._table.tallies[column], block.part(order[column])
        return np.zeros(1, dtype=np.int64) if tally.note else tally.find(part.values)

    def place(self, piece: int, column: int) -> int:
        """Return where a column is in a piece."""
        return self._table.block(piece)[1][column]

    def size(self, column: int) -> int:
        """Return how many entries a column has."""
        tally = self._table.tallies[column]
        return 1 if tally.note else len(tally.counts)


def _packed(file: Sequence[Summary]) -> Any:
    """Return what `PackedTable` takes for a packed file."""
    about = dict(file[0].about)

    def block(number: int) -> Any:
        def part(column: int) -> Part:
            return Part(
                *file[number].columns[column][:3], np.empty(0, dtype=np.uint8), *file[number].columns[column][3:]
            )

        return SimpleNamespace(n_rows=file[number].n_rows, part=part)

    sizes = tuple(summary.n_rows for summary in file)
    return SimpleNamespace(
        called=about["called"], key=about["key"], about=about, sizes=sizes, n_rows=sum(sizes), block=block
    )


class _Recount:
    """Counts the rows that remain; remembers what was left out the last time."""

    def __init__(self, table: Entries, left_of: LeftOf) -> None:
        self._table, self._left_of = table, left_of
        self.gone: list[dict[int, NDArray[np.bool_]]] = [{} for _ in table.summaries]
        self.left: dict[str, NDArray[np.int64]] = {}

    def __call__(self, gone: Mapping[str, NDArray[np.bool_]]) -> Mapping[str, NDArray[np.int64]]:
        table = self._table
        places = {table.names.index(name): missing for name, missing in gone.items()}
        pieces = range(len(table.summaries))
        self.gone = [{table.place(i, c): places[c][table.entries(i, c)] for c in places} for i in pieces]
        left = [np.zeros(table.size(c), dtype=np.int64) for c in range(len(table.names))]
        for i, found in enumerate(self._left_of(self.gone)):
            for c, counts in enumerate(left):
                mine = table.entries(i, c)
                np.add.at(counts, mine, found[table.place(i, c)][: len(mine)])
        self.left = dict(zip(table.names, left, strict=True))
        return self.left


@dataclass(frozen=True, eq=False)
class Meaning:
    """What a table means, and how every piece of it becomes codes."""

    names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    codings: Mapping[str, Coding]
    orders: list[Order]
    widths: tuple[int, ...]  # different codes of each column: its levels, and one more where it has gaps


def find_meaning(
    table: Entries, options: Mapping[str, Any], left_of: LeftOf, positions: Callable[[], Sequence[Any]]
) -> Meaning:
    """Find out what a table means, with the options of `read`.

    Parameters
    ----------
    table : Entries
    options : mapping
    left_of : callable
        Counts the rows that remain, see `mapdag.distributed.packing.left_of`, for every piece.
    positions : callable
        Fetches which value each row of each piece has. A small table is looked at as a whole first: some things,
        such as whether a column numbers the rows, only that can tell.
    """
    if table.n_rows <= READ_ROWS and table.n_rows * len(table.names) <= _WHOLE_CELLS:
        prepare(table.whole_source(positions()), **options).coded()
    recount = _Recount(table, left_of)
    with warnings.catch_warnings():
        if table.n_rows <= READ_ROWS:
            warnings.simplefilter("ignore")  # it has been said
        prepared = prepare(replace(table.source(), recount=recount), **options)
    by_name = {column.name: column for column in prepared.coded()}
    names = tuple(column.name for column in prepared.columns)
    cards = tuple(len(by_name[name].levels) for name in names)
    codes = []
    for name in names:
        found = np.zeros(table.size(table.names.index(name)), dtype=code_dtype(cards, gaps=True))
        found[np.flatnonzero(recount.left[name]) if recount.left else slice(None)] = by_name[name].codes
        codes.append(found)
    widths = tuple(card + bool((mine == card).any()) for card, mine in zip(cards, codes, strict=True))
    places = [table.names.index(name) for name in names]
    orders = [
        Order(
            summary.digest,
            tuple(table.place(i, c) for c in places),
            tuple(mine[table.entries(i, c)] for mine, c in zip(codes, places, strict=True)),
            recount.gone[i],
            cards,
            widths,
        )
        for i, summary in enumerate(table.summaries)
    ]
    levels = {name: by_name[name].levels for name in names}
    return Meaning(names, levels, {name: by_name[name].coding for name in names}, orders, widths)
