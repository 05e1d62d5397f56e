"""The distinct values of every column of a packed table, over all its blocks, with their counts.

From these few values it is decided what a table means, by the same code that reads tables into memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.columns import Column, from_objects, from_polars
from mapdag.data.packed.blocks import worst
from mapdag.data.packed.recoding import Pieces, left_of
from mapdag.data.problems import differing
from mapdag.data.source import Source, check_row_names
from mapdag.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from mapdag.data.meanings import ReadOptions
    from mapdag.data.packed.blocks import DistinctColumn
    from mapdag.data.packed.packing import Packed
    from mapdag.data.packed.recoding import Gone

#: DistinctColumn values that are kept of a column, and of all columns together.
MOST_VALUES, _MOST_IN_ALL = 900_000, 2**25

_SHOWN = 3  # of too many
_OPEN = 64  # blocks

#: Values that are gathered before they are counted together.
_GATHERED = 2**20


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct values of a column.

    Attributes
    ----------
    values : polars.Series
        In the order in which they come; null is one of them. If there are too many, the first of them.
    counts : int64 array
        How many rows each has.
    first : int64 array
        The first row of each.
    note : str
        Why they cannot be used: of what type they are, or "many" if there are too many.
    found : int
        How many there are, at least.
    """

    values: pl.Series
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    note: str = ""
    found: int = 0

    @cached_property
    def places(self) -> pl.DataFrame:
        """Where each value is."""
        import polars as pl

        return pl.DataFrame({"value": self.values, "place": np.arange(len(self.values), dtype=np.uint32)})

    def find(self, values: pl.Series) -> NDArray[np.uint32]:
        """Return where each of some values is."""
        import polars as pl

        asked = pl.DataFrame({"value": values.cast(self.values.dtype)})
        found = asked.join(self.places, on="value", how="left", nulls_equal=True, maintain_order="left")
        return found["place"].to_numpy()


class PackedTable(Pieces):
    """Packed sources, one after the other, as one table: blocks are its pieces."""

    def __init__(self, sources: Sequence[Packed]) -> None:
        self.sources = sources
        self.names: list[str] = list(sources[0].about["names"])
        self.sizes = [size for source in sources for size in source.sizes]
        self._order = [_order_of(self.names, s.called, s.about["names"], sources[0]) for s in sources]
        self.way = worst(source.about["way"] for source in sources)

    def check_columns(self, called: str, names: Sequence[str]) -> None:
        """Refuse a file without rows that has other columns; it does not tell whether its lines have row names."""
        whole = names if len(names) == len(self.names) or self.names[0] else ("", *names)
        _order_of(self.names, called, whole, self.sources[0])

    @property
    def called(self) -> str:
        """What it is called in messages."""
        first, *others = self.sources
        return first.called if not others else f"{first.called} and {len(others):,} more"

    @property
    def header(self) -> bool:
        """Whether the names were the first line of a text."""
        return any(source.about.get("header") for source in self.sources)

    @cached_property
    def _pieces(self) -> list[tuple[Packed, Sequence[int], int]]:
        """For each block, its source, where each column is in it, and its number there."""
        every = zip(self.sources, self._order, strict=True)
        return [(source, order, number) for source, order in every for number in range(len(source.sizes))]

    @cached_property
    def block(self) -> Callable[[int], Any]:
        """Opens a block; some stay open."""

        def opened(piece: int) -> Any:
            source, _, number = self._pieces[piece]
            return source.open(number)

        return lru_cache(_OPEN)(opened)

    def place(self, piece: int, column: int) -> int:
        """Return where a column is in a block."""
        return self._pieces[piece][1][column]

    def positions(self, piece: int, column: int) -> NDArray[Any]:
        """Return which value each row of a block has, given where the column is in it."""
        found: NDArray[Any] = self.block(piece).positions(column)
        return found

    def left(self, gone: Sequence[Gone]) -> Iterator[list[NDArray[np.int64]]]:
        """Count the rows of each block that remain."""
        for piece, mine in enumerate(gone):
            yield left_of(partial(self.positions, piece), len(self.names), self.sizes[piece], mine)

    def size(self, column: int) -> int:
        """Return how many entries a column has; one that cannot be used has one."""
        tally = self.tallies[column]
        return 1 if tally.note else len(tally.counts)

    def entries(self, piece: int, column: int) -> NDArray[Any]:
        """Return which entry each distinct value of a column of a block is."""
        tally = self.tallies[column]
        values = self.block(piece).column(self.place(piece, column)).distinct
        return np.zeros(max(len(values), 1), dtype=np.uint32) if tally.note else tally.find(values)

    def source(self) -> Source:
        """Return the table as columns of entries; row names, as R writes them, are left out."""

        def make(name: str, column: int, options: ReadOptions) -> Column:
            return self.column(name, self.tallies[column], options)

        names, columns = self.names, list(range(len(self.names)))
        if any(source.about.get("row_names") for source in self.sources):
            self._check_row_names()
            names, columns = names[1:], columns[1:]
        return Source(names, self.n_rows, columns, make, self.called, header=self.header)

    def _check_row_names(self) -> None:
        """Leave out the first field, for which the header has no name, if it is distinct on every row."""
        tally, width = self.tallies[0], len(self.names)
        # Of very many, not all are compared: within a block they are distinct.
        distinct = tally.note == "many" or len(tally.counts) == self.n_rows
        first = tally.values.head(2) if distinct else [tally.values[int(np.argmax(tally.counts))]]
        check_row_names(self.called, width, [str(value) for value in first], distinct=distinct)

    @cached_property
    def tallies(self) -> list[Tally]:
        """The distinct values of every column."""
        limit = min(MOST_VALUES, _MOST_IN_ALL // len(self.names))
        gathered = [_Gathered(name, limit) for name in self.names]
        start = 0
        for source, order in zip(self.sources, self._order, strict=True):
            for number, size in enumerate(source.sizes):
                block = source.open(number)
                for column, values in zip(order, gathered, strict=True):
                    values.add(block.column(column), start, source)
                start += size
        # A text of which one cell is not written as an integer is a table of text.
        return [values.tally(as_text=self.way in {"text", "cells"}) for values in gathered]

    @cached_property
    def declared(self) -> dict[str, list[str]]:
        """Levels that the files declare: those of all, in order of appearance."""
        found: dict[str, dict[str, None]] = {}
        for source in self.sources:
            for name, labels in source.about.get("declared", {}).items():
                found.setdefault(name, {}).update(dict.fromkeys(labels))
        return {name: list(labels) for name, labels in found.items()}

    @cached_property
    def _varied(self) -> set[str]:
        """Columns of text that have so many values that they are numbers if they all look like it."""
        of_each = [
            {
                name
                for name, varied in zip(source.about["names"], source.about.get("varied", ()), strict=False)
                if varied
            }
            for source in self.sources
        ]
        return set.intersection(*of_each)

    def column(self, name: str, tally: Tally, options: ReadOptions) -> Column:
        """Return the distinct values of a column as if they were its rows, each standing for as many as have it."""
        if tally.note:
            return self._unusable(name, tally)
        numeric = options.missing_texts(name) if name in self._varied and options.takes_numbers(name) else None
        if self.way == "cells":
            made = from_objects(name, tally.values.to_list())
        else:
            made = from_polars(name, tally.values, numeric=numeric if self.way != "typed" else None)
        made.declared = self.declared.get(name, made.declared)
        return replace(made, times=tally.counts, first=tally.first)

    def _unusable(self, name: str, tally: Tally) -> Column:
        note = tally.note
        if note == "many":
            import polars as pl

            numbers = tally.values.cast(pl.Float64, strict=False).null_count() < len(tally.values)
            what = "distinct numbers, more than can be cut here" if numbers else "distinct values"
            note = f"at least {tally.found:,} {what}"
        times = np.array([self.n_rows], dtype=np.int64)
        return Column(name, "nested", np.zeros(1, dtype=np.uint8), texts=[None], note=note, times=times)


def _order_of(names: Sequence[str], called: str, columns: Sequence[str], first: Packed) -> list[int]:
    """Return where the columns of the first source are in another one, which has these columns."""
    found = list(columns)
    if found == list(names):
        return list(range(len(names)))
    if Counter(found) != Counter(names) or len(set(names)) < len(names):
        what = differing(names, found) or "has them in another order, and some names more than once"
        raise DataError(
            f"{called} does not have the columns of {first.called}: it {what}; all files of a table must have "
            "the same columns"
        )
    return [found.index(name) for name in names]


class _Gathered:
    """The distinct values of a column, as blocks come in."""

    def __init__(self, name: str, limit: int) -> None:
        self._name, self._limit = name, limit
        self._frames: list[pl.DataFrame] = []
        self._size = self._merged = 0
        self._dtype: pl.DataType | None = None
        self._note, self._found = "", 0

    def add(self, part: DistinctColumn, start: int, source: Packed) -> None:
        """Add those of a block, the first row of which is given."""
        import polars as pl

        if part.note:
            self._note, self._found = part.note, max(self._found, part.found)
        self._unify(part.distinct.dtype, source)
        if self._note and self._frames:
            return
        frame = pl.DataFrame({"value": part.distinct, "count": part.counts, "first": part.first + start})
        self._frames.append(frame)
        self._size += len(frame)
        if self._size > self._merged + _GATHERED:
            self._merge()

    def _unify(self, dtype: pl.DataType, source: Packed) -> None:
        """Find a type that holds all values so far."""
        import polars as pl

        own = self._dtype
        if own is None or own in (dtype, pl.Null):
            self._dtype = dtype
        elif dtype == pl.Null:
            pass
        elif own.is_integer() and dtype.is_integer():
            self._dtype = pl.Int128() if pl.UInt64 in (own, dtype) or pl.Int128 in (own, dtype) else pl.Int64()
        elif own.is_numeric() and dtype.is_numeric() and {own, dtype} != {pl.Float32(), pl.Float64()}:
            self._dtype = pl.Float64()
        elif source.about["way"] != "typed":
            self._dtype = pl.String()
        else:
            raise DataError(
                f"{source.called}: column {self._name!r} holds {dtype}, but {own} in the files before: all files of a "
                "table must have the same types"
            )

    def _merge(self) -> None:
        import polars as pl

        assert self._dtype is not None
        whole = pl.concat([frame.with_columns(self._cast(frame["value"])) for frame in self._frames])
        grouped = whole.group_by("value", maintain_order=True)
        merged = grouped.agg(pl.col("count").sum(), pl.col("first").min())
        if merged.height > self._limit:
            self._note, self._found = "many", merged.height
            merged = merged.head(_SHOWN)
        self._frames, self._size, self._merged = [merged], merged.height, merged.height

    def _cast(self, values: pl.Series) -> pl.Series:
        """Bring values to the type that holds all; whole numbers next to others may have more digits than a float."""
        assert self._dtype is not None
        cast = values.cast(self._dtype)
        if (
            values.dtype.is_integer()
            and cast.dtype.is_float()
            and not cast.cast(values.dtype, strict=False).equals(values)
        ):
            raise DataError(
                f"column {self._name!r} holds {values.dtype} with more digits than a float has in one file, and "
                f"{self._dtype} in another: all files of a table must have the same types"
            )
        return cast

    def tally(self, *, as_text: bool) -> Tally:
        """Count the same values together."""
        import polars as pl

        assert self._dtype is not None
        if as_text and self._dtype.is_integer():
            self._dtype = pl.String()
        self._merge()
        (frame,) = self._frames
        counts, first = (frame[name].to_numpy() for name in ("count", "first"))
        return Tally(frame["value"], counts, first, self._note, max(self._found, frame.height))
