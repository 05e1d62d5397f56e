"""Cutting continuous columns into intervals: what was asked for, `discretize`, and how places to cut are found.

The latter works on the sorted distinct values of a column and their counts. A *split* is a number s: the cut lies
between the s-th distinct value and the next.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mapdag.checks import check_whole
from mapdag.data.codings import Coding, Cuts
from mapdag.data.judgement import judge
from mapdag.data.labels import MAX_LEVELS, is_iterable
from mapdag.data.levels import Coded, Continuous, interpret
from mapdag.data.meanings import ReadOptions, texts_for_missing
from mapdag.data.problems import Problems, unknown_names
from mapdag.data.source import chosen_columns, names_in, open_source
from mapdag.errors import CapacityError, DataError, ParameterError
from mapdag.notices import warn
from mapdag.public import public

if TYPE_CHECKING:
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


# Where to cut --------------------------------------------------------------------------------------------------------

#: How much of a bin may change sides, and how much of a width an edge may move, for the sake of a rounder number.
_SLACK = 0.01

#: Losses of information that differ by less than this, per observation, are ties.
_TIE = 1e-9

#: The largest matrix of pairwise tables, 3.2 GB.
_CAPACITY = 20_000

Floats = NDArray[np.float64]


def round_between(low: float, high: float, near: float) -> float:
    """Return the number with the fewest digits in [low, high), the nearest to `near` among equals.

    >>> round_between(1.23456, 1.25, near=1.24), round_between(34, 35, near=34.5)
    (1.24, 34.0)
    """
    bottom, top, middle = (Decimal(repr(float(value))) for value in (low, high, near))
    for exponent in range(max(bottom.adjusted(), top.adjusted()) + 1, -330, -1):
        step = Decimal(1).scaleb(exponent)
        first, last = math.ceil(bottom / step), math.ceil(top / step) - 1
        if first <= last:
            rounded = float(min(max(round(middle / step), first), last) * step)
            if low <= rounded < high:
                return rounded
    return low


# Ways to choose cuts -----------------------------------------------------------------------------------------------


def quantile_splits(counts: Floats, bins: int) -> list[int]:
    """Split the distinct values into bins of about equal counts, none of them empty.

    Each bin in turn takes the values that bring it closest to an equal share of what is left (the fewer, in a tie);
    so a value that fills more than one share costs no bins. There are fewer bins only if there are fewer values.

    >>> quantile_splits(np.array([80.0, 10.0, 10.0]), bins=3)
    [1, 2]
    """
    size, below = len(counts), np.cumsum(counts)
    bins = min(bins, size)
    splits: list[int] = []
    for left in range(bins, 1, -1):
        start = splits[-1] if splits else 0
        used = below[start - 1] if start else 0.0
        target = used + (below[-1] - used) / left
        first, last = start + 1, size - left + 1
        after = min(max(int(np.searchsorted(below, target)) + 1, first), last)
        before = max(after - 1, first)
        splits.append(before if target - below[before - 1] <= below[after - 1] - target else after)
    return splits


def edges_of_splits(values: Floats, counts: Floats, splits: Sequence[int]) -> tuple[float, ...]:
    """Return edges at the splits, as round as the gaps between the values (and a hundredth of a bin) allow."""
    below = np.concatenate([[0.0], np.cumsum(counts)])
    bounds = [0, *splits, len(values)]
    inner = []
    for left, split, right in zip(bounds, bounds[1:], bounds[2:], strict=False):
        slack = _SLACK * min(below[split] - below[left], below[right] - below[split])
        low = int(np.searchsorted(below, below[split] - slack, side="left"))
        high = int(np.searchsorted(below, below[split] + slack, side="right")) - 1
        near = 0.5 * values[split - 1] + 0.5 * values[split]
        inner.append(round_between(float(values[max(low, 1) - 1]), float(values[min(high, len(values) - 1)]), near))
    return _with_ends(values, inner)


def interval_edges(values: Floats, bins: int) -> tuple[float, ...]:
    """Return edges of equal widths, rounded as in `edges_of_splits` but by no more than a hundredth of the width."""
    low, high = float(values[0]), float(values[-1])
    width = (high - low) / bins
    cuts = [low + width * i for i in range(1, bins)]
    splits = np.searchsorted(values, cuts, side="right")
    inner = []
    for cut, split in zip(cuts, splits.tolist(), strict=True):
        bottom = max(float(values[split - 1]), cut - _SLACK * width)
        top = min(float(values[split]) if split < len(values) else np.inf, cut + _SLACK * width)
        inner.append(round_between(bottom, top, cut) if bottom < top else cut)
    return _with_ends(values, inner)


def _with_ends(values: Floats, inner: list[float]) -> tuple[float, ...]:
    """Add round ends that cover all of the data."""
    low, high = float(values[0]), float(values[-1])
    room = _SLACK * (high - low)
    bottom = -round_between(-low, -low + room, -low)
    return (bottom, *inner, round_between(high, high + room, high))


def hartemink_splits(
    codes: Sequence[NDArray[Any]],
    cards: Sequence[int],
    splits: Mapping[int, Sequence[int]],
    bins: Mapping[int, int],
    weights: NDArray[Any] | None = None,
) -> dict[int, list[int]]:
    """Merge neighbouring bins while little of the pairwise mutual information is lost (Hartemink 2001, section 5.2).

    In every round each variable that still has too many bins merges the two neighbours whose merging loses
    least of its total mutual information with all other variables; of equal losses the lowest pair. The
    losses of a round all refer to its start, so that the order of the columns does not matter.

    Parameters
    ----------
    codes : sequence of integer arrays
        The rows of every variable, whether continuous (then binned already) or discrete.
    cards : sequence of int
        Their numbers of levels. A continuous variable may have one more level than bins, for missing values.
    splits : mapping of int to sequence of int
        The starting splits of the continuous variables, by position in `codes`.
    bins : mapping of int to int
        How many bins each of them is to have in the end.
    weights : array, optional
        What each row counts for.

    Returns
    -------
    dict of int to list of int
        The splits that remain.
    """
    left = {variable: list(points) for variable, points in splits.items()}
    table, owners = _burt(codes, cards, weights)
    while any(len(points) >= bins[variable] for variable, points in left.items()):
        levels = np.arange(len(owners))
        keep = np.ones(len(owners), dtype=bool)
        for variable, points in left.items():
            if len(points) < bins[variable]:
                continue
            own = levels[owners == variable][: len(points) + 1]
            losses = _losses(table[own][:, owners != variable], table[own, own], len(codes) - 1)
            lowest = int(np.flatnonzero(losses <= losses.min() + _TIE * table[own, own].sum())[0])
            del points[lowest]
            keep[own[lowest + 1]] = False
        starts = levels[keep]
        table = np.add.reduceat(np.add.reduceat(table, starts, axis=0), starts, axis=1)
        owners = owners[starts]
    return left


def _burt(
    codes: Sequence[NDArray[Any]], cards: Sequence[int], weights: NDArray[Any] | None
) -> tuple[Floats, NDArray[np.intp]]:
    """Return all pairwise tables as one matrix, and which variable each of its rows belongs to."""
    size = sum(cards)
    if size > _CAPACITY:
        raise CapacityError(
            f"hartemink needs a table of {size:,} x {size:,} counts for {len(codes):,} columns; at most "
            f"{_CAPACITY:,} x {_CAPACITY:,} are sensible: give fewer initial_bins or columns"
        )
    owners = np.repeat(np.arange(len(codes)), cards)
    offsets = np.concatenate([[0], np.cumsum(cards)])
    table = np.zeros((len(owners), len(owners)))
    for i, left in enumerate(codes):
        rows = slice(offsets[i], offsets[i + 1])
        scaled = left.astype(np.int64)
        for j in range(i, len(codes)):
            columns = slice(offsets[j], offsets[j + 1])
            pairs = np.bincount(scaled * cards[j] + codes[j], weights=weights, minlength=cards[i] * cards[j])
            table[rows, columns] = pairs.reshape(cards[i], cards[j])
            table[columns, rows] = table[rows, columns].T
    return table, owners


def _losses(joint: Floats, margins: Floats, others: int) -> Floats:
    """Return how much mutual information (times n) merging each level with the next would lose.

    n MI(X, Y) = sum n_xy log n_xy - sum n_x log n_x - sum n_y log n_y + n log n, where merging levels of X leaves the
    last two terms as they are.
    """
    from scipy.special import xlogy

    cells = xlogy(joint, joint).sum(axis=1)
    merged = joint[:-1] + joint[1:]
    sums = margins[:-1] + margins[1:]
    own = xlogy(margins, margins)
    lost_cells = cells[:-1] + cells[1:] - xlogy(merged, merged).sum(axis=1)
    return np.asarray(lost_cells - others * (own[:-1] + own[1:] - xlogy(sums, sums)))
