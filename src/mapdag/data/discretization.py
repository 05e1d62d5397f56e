"""Cutting continuous columns into intervals: what was asked for, and `discretize`; where cuts go is found by `cuts`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from mapdag.checks import check_whole
from mapdag.data.codings import Coding
from mapdag.data.cuts import Cuts, edges_of_splits, hartemink_splits, interval_edges, quantile_splits
from mapdag.data.judgement import judge
from mapdag.data.labels import MAX_LEVELS, is_iterable
from mapdag.data.levels import Coded, Continuous, interpret
from mapdag.data.meanings import ReadOptions, texts_for_missing
from mapdag.data.problems import Problems, unknown_names
from mapdag.data.source import chosen_columns, names_in, open_source
from mapdag.errors import DataError, ParameterError
from mapdag.notices import warn
from mapdag.public import public

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.options import MissingValues

#: A method by name, as in "quantile" or "interval(5)"; a number of quantiles; cut points; or none, for categories.
_Way: TypeAlias = "str | int | Sequence[float] | None"

#: What `read(discretize=...)` takes: a method for all continuous columns; ways by column, "*" standing for all other
#: continuous ones; or cuts chosen before.
Discretization: TypeAlias = "str | Mapping[str, _Way] | Cuts"

_OTHERS = "*"

_METHODS = ("quantile", "interval", "hartemink")
_NOTATION = re.compile(r"\s*(\w+)\s*(?:\(\s*([0-9]+)\s*\))?\s*")
_DIGITS = 18


@dataclass(frozen=True)
class Method:
    """A way to choose cuts."""

    name: str = "quantile"
    bins: int = 3
    initial_bins: int = 60

    def __post_init__(self) -> None:
        if self.name not in _METHODS:
            raise ParameterError(f"discretize must be one of {', '.join(map(repr, _METHODS))}, got {self.name!r}")
        if not _is_count(self.bins) or self.bins < 2:
            raise ParameterError(f"bins must be at least 2, got {self.bins!r}")
        for name, value in (("bins", self.bins), ("initial_bins", self.initial_bins)):
            if check_whole(name, value) > MAX_LEVELS:
                raise ParameterError(f"{name} must be at most {MAX_LEVELS:,}, got {value:,}")
        if self.name == "hartemink" and self.initial_bins <= self.bins:
            raise ParameterError(f"initial_bins must be more than bins ({self.bins}), got {self.initial_bins!r}")


@dataclass(frozen=True)
class Discretizer:
    """What to cut, and how."""

    default: Method | None = None  # for every column that looks continuous
    columns: Mapping[str, Method | tuple[float, ...]] = field(default_factory=dict)  # for single ones: or the edges
    uncut: frozenset[str] = frozenset()  # the columns that are categories, even if they look continuous

    @classmethod
    def of(cls, option: Discretization | None, names: Collection[str] = ()) -> Discretizer:
        """Understand the option `discretize=` of `read`, for a table with these columns."""
        if option is None:
            return cls()
        if isinstance(option, str):
            return cls(_method(option))
        if isinstance(option, Cuts):
            return cls(columns=dict(option)).checked(names)
        if isinstance(option, Mapping):
            ways = {str(name): _way(str(name), way) for name, way in option.items()}
            default = None if _OTHERS in names else ways.pop(_OTHERS, None)
            if isinstance(default, tuple):
                raise ParameterError(f'discretize: "{_OTHERS}" needs a method, since cut points are of one column')
            uncut = frozenset(name for name, way in ways.items() if way is None)
            columns = {name: way for name, way in ways.items() if way is not None}
            return cls(default, columns, uncut).checked(names)
        raise ParameterError(f"discretize must be a method, a mapping from columns or Cuts, got {option!r}")

    def knowing(self, edges: Mapping[str, tuple[float, ...]]) -> Discretizer:
        """Return the same with cuts for columns about which nothing was asked."""
        return replace(self, columns={**edges, **self.columns})

    def checked(self, names: Collection[str]) -> Discretizer:
        """Return the same, if the columns to be cut are there."""
        unknown = [name for name in (*self.columns, *self.uncut) if name not in names]
        if unknown:
            raise unknown_names(unknown, list(names), "discretize")
        return self

    def choose(
        self, continuous: Sequence[Continuous], others: Sequence[Coded], weights: NDArray[Any] | None = None
    ) -> Cuts:
        """Choose the edges of every continuous column."""
        edges: dict[str, tuple[float, ...]] = {}
        jointly: list[tuple[Continuous, Method]] = []
        for column in continuous:
            way = self.columns.get(column.name, self.default)
            if not isinstance(way, Method):
                edges[column.name] = way or ()
            elif way.name == "hartemink":
                jointly.append((column, way))
            else:
                tally = _tally(column, weights)
                if way.name == "interval":
                    edges[column.name] = interval_edges(tally.values, way.bins)
                else:
                    _warn_few(column.name, tally, way.bins)
                    splits = quantile_splits(tally.counts, way.bins)
                    edges[column.name] = edges_of_splits(tally.values, tally.counts, splits)
        if jointly:
            done = Cuts(edges)
            fixed = [*others, *(cut(column, done) for column in continuous if column.name in done)]
            edges.update(_hartemink(jointly, fixed, weights))
        return Cuts({column.name: edges[column.name] for column in continuous})


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _method(notation: str) -> Method:
    parts = _NOTATION.fullmatch(notation)
    if parts is None:
        raise ParameterError(f'discretize must read like "quantile" or "quantile(4)", got {notation!r}')
    if parts[2] is not None and len(parts[2]) > _DIGITS:
        raise ParameterError(
            f"discretize: bins must be at most {MAX_LEVELS:,}, got a number of {len(parts[2]):,} digits"
        )
    return Method(parts[1]) if parts[2] is None else Method(parts[1], int(parts[2]))


def _way(name: str, way: Any) -> Method | tuple[float, ...] | None:
    if way is None:
        return None
    if isinstance(way, str):
        return None if way == "none" else _method(way)
    if _is_count(way):
        return Method(bins=int(way))
    if not isinstance(way, bytes | bytearray | Mapping) and is_iterable(way):
        return Cuts({name: (-np.inf, *way, np.inf)})[name]
    raise ParameterError(f"discretize: {name!r} needs a method, a number of bins or cut points, got {way!r}")


def _hartemink(
    jointly: Sequence[tuple[Continuous, Method]], fixed: Sequence[Coded], weights: NDArray[Any] | None
) -> dict[str, tuple[float, ...]]:
    if len(jointly) + len(fixed) < 2:
        raise ParameterError("discretize: hartemink needs at least two columns")
    if any(column.times is not None for column, _ in jointly):
        raise ParameterError(
            "discretize: hartemink needs all rows in memory, and this table is too large to be read at once: choose "
            "the cuts on some of its rows, with mapdag.discretize, and pass them as discretize=; or pass "
            'discretize="quantile"'
        )
    tallies = [_tally(column, weights) for column, _ in jointly]
    codes, cards, starts, bins = [], [], {}, {}
    for i, ((column, method), tally) in enumerate(zip(jointly, tallies, strict=True)):
        _warn_few(column.name, tally, method.bins)
        starts[i], bins[i] = quantile_splits(tally.counts, method.initial_bins), method.bins
        bin_of = np.searchsorted(starts[i], np.arange(len(tally.values)), side="right")
        codes.append(np.append(bin_of, len(starts[i]) + 1)[tally.ranks][column.index])
        cards.append(len(starts[i]) + 2)
    codes += [column.codes for column in fixed]
    cards += [len(column.levels) + 1 for column in fixed]
    splits = hartemink_splits(codes, cards, starts, bins, weights)
    return {
        column.name: edges_of_splits(tally.values, tally.counts, splits[i])
        for i, ((column, _), tally) in enumerate(zip(jointly, tallies, strict=True))
    }


class _Tally(NamedTuple):
    values: NDArray[np.float64]  # distinct, in order
    counts: NDArray[np.float64]
    ranks: NDArray[np.intp]  # of every position among the values; missing: beyond the last


def _tally(column: Continuous, weights: NDArray[Any] | None) -> _Tally:
    """Count the distinct values of a column."""
    counting = weights if column.times is None else column.times
    found = np.bincount(column.index, weights=counting, minlength=len(column.numbers)).astype(np.float64)
    used = (found > 0) & ~np.isnan(column.numbers)
    values, inverse = np.unique(column.numbers[used], return_inverse=True)
    if len(values) < 2:
        raise DataError(
            f"column {column.name!r} cannot be discretized, as it has fewer than two distinct values: "
            "leave it out by drop="
        )
    ranks = np.full(len(column.numbers), len(values), dtype=np.intp)
    ranks[used] = inverse.reshape(-1)
    counts = np.bincount(inverse.reshape(-1), weights=found[used]).astype(np.float64)
    return _Tally(values, counts, ranks)


def _warn_few(name: str, tally: _Tally, bins: int) -> None:
    distinct = len(tally.values)
    if distinct < bins:
        warn(f"column {name!r} has only {distinct} distinct values: too few for {bins} bins")


def cut(column: Continuous, cuts: Cuts) -> Coded:
    """Return the intervals of a column as codes."""
    labels = cuts.labels(column.name)
    values = column.numbers[column.index]
    present = ~np.isnan(values)
    codes = np.full(len(values), len(labels), dtype=np.intp)
    codes[present] = cuts.codes(column.name, values[present])
    return Coded(column.name, codes, labels, Coding("integer" if column.whole else "float", cuts[column.name]))


@public()
def discretize(
    table: Any,
    method: str = "quantile",
    *,
    bins: int = 3,
    columns: Iterable[str] | None = None,
    initial_bins: int = 60,
    drop: str | Iterable[str] = (),
    missing_values: MissingValues = (),
) -> Cuts:
    """Choose where to cut continuous columns into intervals.

    Parameters
    ----------
    table : path, DataFrame, Arrow table, array, dict or Dataset
        Whatever `read` takes.
    method : {"quantile", "interval", "hartemink"}
        "quantile": bins of about equal counts, none empty. "interval": bins of equal width. "hartemink": start from
        `initial_bins` quantiles and merge neighbours as long as little is lost of the pairwise mutual information
        with all other columns, continuous and discrete (Hartemink 2001); in a tie, the lowest pair.
    bins : int
        The number of intervals.
    columns : iterable of str, optional
        The columns to cut; by default those that `read` would call continuous.
    initial_bins : int
        The number of quantiles to start from ("hartemink" only).
    drop : str or iterable of str
        Columns to leave out of account.
    missing_values : str, iterable or mapping
        Further labels that mean "missing", as in `read`; missing values are left out of account (to "hartemink", a
        level).

    Returns
    -------
    Cuts
        The edges of each column's intervals, to be passed to `read` as `discretize=`: the same for training and
        test data.

    Warns
    -----
    MapdagWarning
        If a column has too few distinct values for so many bins.

    Examples
    --------
    >>> from mapdag.data import discretize, read
    >>> train = {"dose": [i / 10 for i in range(20)], "sick": ["no"] * 12 + ["yes"] * 8}
    >>> cuts = discretize(train, "quantile", bins=2)
    >>> cuts
    Cuts({'dose': (0.0, 0.9, 1.9)})
    >>> read(train, discretize=cuts).levels["dose"]
    ('[0,0.9]', '(0.9,1.9]')
    """
    chosen = Method(method, bins, initial_bins)
    source, dropped = open_source(table), names_in(drop)
    positions = chosen_columns(source, dropped)
    wanted = None if columns is None else names_in(columns, "columns")
    discretizer = Discretizer(chosen) if wanted is None else Discretizer(columns=dict.fromkeys(wanted, chosen))
    discretizer.checked(positions)
    options = ReadOptions(
        missing="level",
        missing_values=texts_for_missing(missing_values, source.names),
        cut=frozenset(discretizer.columns),
        cut_continuous=wanted is None,
    )
    problems = Problems(dropped)
    continuous: list[Continuous] = []
    others: list[Coded] = []
    for name, position in positions.items():
        if method != "hartemink" and wanted is not None and name not in wanted:
            continue
        column = source.pop(position, options)
        # Columns that are not to be cut, and whatever is wrong with them, matter to one method only.
        looks_continuous = (
            name not in options.cut and column.declared is None and judge(column, options).kind == "numeric"
        )
        if method == "hartemink" or name in options.cut or looks_continuous:
            found = interpret(column, options, problems)
            if isinstance(found, Continuous):
                continuous.append(found)
            elif found is not None:
                others.append(found)
    problems.raise_any()
    if not continuous:
        raise DataError("no column looks continuous: name the columns to cut by columns=")
    return discretizer.choose(continuous, others)
