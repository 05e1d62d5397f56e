"""`ScannedDataset`: a table of categories whose rows are in files, block by block."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np

from mapdag.data.codings import TEXT, Sealed, kept_codings
from mapdag.data.columns import Column
from mapdag.data.dataset import Dataset
from mapdag.data.labels import code_dtype
from mapdag.data.packed.packing import READING_THREADS
from mapdag.data.source import Source
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.tasks import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from mapdag.data.codings import Coding
    from mapdag.data.labels import Codes, LevelsLike
    from mapdag.data.meanings import ReadOptions
    from mapdag.data.rows import Weights
    from mapdag.tables import Table

_SHOWN_ROWS = 5
_SAMPLED_ROWS = 2**16  # for a look at single rows


class Blocks(Protocol):
    """Rows that are elsewhere, in blocks."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of each."""

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of different codes of each column: its levels, and one more where it has gaps."""

    def __len__(self) -> int: ...

    def codes(self, number: int, columns: Sequence[int] | None = None) -> NDArray[Any]:
        """Return the codes of a block, one row per column, made on demand; of some columns only, if these are given."""

    def select(self, columns: Sequence[int]) -> Blocks:
        """Return some of the columns."""


def _called(function: Callable[..., Any], blocks: Blocks, number: int, arguments: tuple[Any, ...]) -> Any:
    return function(blocks.codes(number), *arguments)


class ScannedDataset(Dataset):
    """A table of categories that is not in memory: its rows are read block by block, whenever they are counted.

    Made by `scan`. Whatever goes by counts works on it as on a `Dataset`, with the same results to the last bit:
    `learn` (but for exact search), `score`, `fit`, `diagnose`, reports. What needs the rows themselves wants a
    `Dataset`: `to_dataset` if they fit into memory, or a `sample`.

    Attributes
    ----------
    names, levels, codings, n_rows, n_columns, cards
        As those of a `Dataset`.
    blocks : Blocks
        The rows: ``blocks.codes(i)`` are those of the i-th block, one row per column.

    Examples
    --------
    >>> import tempfile, pathlib, mapdag as md
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> md.write_table(md.network("asia").sample(1000, seed=1), folder / "asia.csv")
    >>> data = md.scan(folder / "asia.csv", cache=folder)
    >>> data
    ScannedDataset(1,000 rows, 8 columns, 2 levels each, 1 block)
    >>> data.sample(100, seed=1)
    Dataset(100 rows, 8 columns, 2 levels each)
    >>> md.learn(data).score == md.learn(data.to_dataset()).score
    True
    """

    __slots__ = ("_observed", "blocks")

    blocks: Blocks
    _observed: dict[str, Any]

    @property
    def engine(self) -> Any:  # type: ignore[override]
        """Who counts it, unless the user says otherwise."""
        return getattr(self.blocks, "engine", "blocks")

    def __init__(
        self,
        names: Sequence[str],
        levels: Mapping[str, tuple[str, ...]],
        blocks: Blocks,
        codings: Mapping[str, Coding] | None = None,
    ) -> None:
        sealed = levels if isinstance(levels, Sealed) else Sealed({name: levels[name] for name in names})
        parts: dict[str, Any] = {
            "names": tuple(names),
            "levels": sealed,
            "weights": None,
            "groups": None,
            "weighting": None,
            "interventions": None,
            "has_gaps": any(width > len(sealed[name]) for name, width in zip(names, blocks.widths, strict=True)),
            "blocks": blocks,
            "_observed": {},
        }
        for name, value in {**parts, "codings": kept_codings(codings or {}, names)}.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ScannedDataset, (self.names, self.levels, self.blocks, self.codings))

    @property
    def codes(self) -> Codes:
        """All rows at once, which are not in memory."""
        return self._not_in_memory("this")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.blocks.sizes)

    @property
    def widths(self) -> NDArray[np.int64]:
        """Number of different codes that each variable may have: its levels, and one more where it has gaps."""
        return np.array(self.blocks.widths, dtype=np.int64)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each value is known, of all rows at once, which are not in memory."""
        return self._not_in_memory("this")

    def complete_rows(self) -> ScannedDataset:
        """Return the rows in which no value is missing, which is for `scan` where there are others."""
        if self.has_gaps:
            raise DataError("rows with gaps are left out when a table is scanned: pass ", Setting("missing", "drop"))
        return self

    @property
    def n_gaps(self) -> int:
        """Number of values that are missing."""
        with_gaps = [
            name for name, width in zip(self.names, self.widths, strict=True) if width > len(self.levels[name])
        ]
        return sum(self.n_rows - int(self.observed(name).sum()) for name in with_gaps)

    def __repr__(self) -> str:
        blocks = f", {len(self.blocks):,} block{'s' if len(self.blocks) != 1 else ''})"
        return super().__repr__().removesuffix(")").replace("Dataset", "ScannedDataset", 1) + blocks

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScannedDataset):
            return NotImplemented
        if self.names != other.names or dict(self.levels) != dict(other.levels) or self.n_rows != other.n_rows:
            return False
        if self.blocks == other.blocks:
            return True
        if self.blocks.sizes != other.blocks.sizes:
            return self.to_dataset() == other.to_dataset()
        return all(np.array_equal(self.blocks.codes(i), other.blocks.codes(i)) for i in range(len(self.blocks)))

    def __hash__(self) -> int:
        return hash((self.names, self.n_rows))

    # Rows --------------------------------------------------------------------------------------------------------

    def to_dataset(self) -> Dataset:
        """Return the same table in memory, which takes one byte for each row and column (two beyond 256 levels)."""
        codes = np.empty((self.n_columns, self.n_rows), dtype=self._dtype)
        start = 0
        for number, size in enumerate(self.blocks.sizes):
            codes[:, start : start + size] = self.blocks.codes(number)
            start += size
        return self._in_memory(codes)

    def parts(self) -> Iterator[Dataset]:
        """Give the blocks one after the other, each as a table in memory."""
        for number in range(len(self.blocks)):
            yield self._in_memory(self.blocks.codes(number).astype(self._dtype, copy=False))

    def head(self, n: int = _SHOWN_ROWS) -> Dataset:
        """Return the first rows."""
        return self.take(np.arange(min(n, self.n_rows)))

    def sample(self, n: int, *, seed: int = 0) -> Dataset:
        """Return some of the rows, drawn without replacement, in the order of the table."""
        if not 0 < n <= self.n_rows:
            raise ParameterError(f"n must be between 1 and the number of rows ({self.n_rows:,}), got {n!r}")
        drawn = np.random.default_rng(seed).choice(self.n_rows, n, replace=False, shuffle=False)
        return self.take(np.sort(drawn))

    def take(self, rows: ArrayLike) -> Dataset:
        """Return some of the rows, in memory: positions (repeats allowed) or a mask."""
        positions = self._places(rows)
        codes = np.empty((self.n_columns, len(positions)), dtype=self._dtype)
        order = np.argsort(positions, kind="stable")
        ends = np.cumsum(self.blocks.sizes)
        places = np.searchsorted(positions[order], [0, *ends])
        for number, size in enumerate(self.blocks.sizes):
            mine = order[places[number] : places[number + 1]]
            if len(mine):
                codes[:, mine] = self.blocks.codes(number)[:, positions[mine] - (ends[number] - size)]
        return self._in_memory(codes)

    @property
    def _dtype(self) -> type[np.uint8 | np.uint16]:
        """Of the codes of rows in memory."""
        return code_dtype(self.cards.tolist(), gaps=self.has_gaps)

    def _in_memory(self, codes: Codes) -> Dataset:
        """Return some rows as a table in memory."""
        return Dataset._trusted(self.names, self.levels, codes, None, self.codings, self.has_gaps)  # noqa: SLF001

    def row(self, i: int) -> dict[str, str | None]:
        """Return the labels of one row, counted from 0."""
        if not -self.n_rows <= i < self.n_rows:
            raise ParameterError(f"row must be between 0 and {self.n_rows - 1:,}, got {i}")
        return self.take([i]).row(0)

    def column(self, name: str) -> Codes:
        """Return the codes of one column, in memory."""
        place = [self.index(name)]
        return np.concatenate([self.blocks.codes(number, place)[0] for number in range(len(self.blocks))])

    def observed(self, name: str) -> Weights:
        """Count the observations of every declared level of a column."""
        place = self.index(name)
        if name not in self._observed:
            size = len(self.levels[name])
            every = (self.blocks.codes(number, [place])[0] for number in range(len(self.blocks)))
            self._observed[name] = sum(np.bincount(codes, minlength=size)[:size] for codes in every)
        counts: Weights = self._observed[name]
        return counts.copy()

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the sum of ``function(codes, *arguments)`` over the blocks, wherever these are.

        The function is one that another process can import.
        """
        total = getattr(self.blocks, "total", None)
        if total is not None:
            return total(function, *arguments)
        makers = (partial(_called, function, self.blocks, number, arguments) for number in range(len(self.blocks)))
        return reduce(add, in_order(makers, READING_THREADS))

    def select(self, names: Iterable[str]) -> ScannedDataset:
        """Return some of the columns, in the order given; their rows stay where they are."""
        chosen = self._chosen(names)
        levels = Sealed({name: self.levels[name] for name in chosen})
        places = [self.names.index(name) for name in chosen]
        return ScannedDataset(chosen, levels, self.blocks.select(places), self.codings)

    def with_levels(self, levels: LevelsLike) -> Dataset:  # noqa: ARG002 - the same as for other datasets
        """Declare levels anew, which is for `scan`."""
        raise DataError("the levels of a scanned table are declared when it is scanned: pass levels= to mapdag.scan")

    def aggregated(self) -> Dataset:
        """Return the distinct rows, of which there may be too many."""
        return self._not_in_memory("aggregated")

    def to_table(self, most: int | None = None, *, weights: str = "weight") -> Table:
        """Return the first rows, or all of them if they fit into memory."""
        if most is None:
            return self.to_dataset().to_table(weights=weights)
        table = self.head(most).to_table(weights=weights)
        return replace(table, title=repr(self), left=max(self.n_rows - most, 0))

    def _shown(self) -> Table:
        shown = self.head()._shown()  # noqa: SLF001
        return replace(shown, title=repr(self), left=max(self.n_rows - _SHOWN_ROWS, 0))

    def _not_in_memory(self, what: str) -> NoReturn:
        size = self.n_rows * self.n_columns * (1 if self.cards.max() <= 256 else 2) / 2**20
        raise DataError(
            f"{what} needs all rows in memory, and those of a scanned table are in files: pass data.to_dataset() if "
            f"they fit ({size:,.0f} MiB), or data.sample(n)"
        )


def source_of_scanned(data: ScannedDataset) -> Source:
    """Return the levels of a scanned table as a source of columns, each standing for the rows that have it."""
    rows = np.unique(np.linspace(0, data.n_rows - 1, _SAMPLED_ROWS).astype(np.intp))
    some = data.take(rows)

    def make(name: str, index: NDArray[Any], _: ReadOptions) -> Column:
        levels = data.levels[name]
        labels = (*levels, None) if data.has_gaps else levels
        return Column(name, "text", index, labels, declared=levels, coding=data.codings.get(name, TEXT))

    def make_counted(name: str, index: NDArray[Any], options: ReadOptions) -> Column:
        counts = data.observed(name)
        return replace(make(name, index, options), times=np.append(counts, data.n_rows - counts.sum())[: len(index)])

    names, positions = list(data.names), [np.arange(width) for width in data.widths]
    sample = Source(names, some.n_rows, list(some.codes), make)
    return Source(names, data.n_rows, list(positions), make_counted, sample=sample)
