"""`Cuts`: where continuous columns are cut; and ways to find such places: quantiles, equal widths, Hartemink's.

The latter work on the sorted distinct values of a column and their counts. A *split* is a number s: the cut lies
between the s-th distinct value and the next.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mapdag.data.problems import unknown_names
from mapdag.errors import CapacityError, ParameterError
from mapdag.notices import warn
from mapdag.wording import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: How much of a bin may change sides, and how much of a width an edge may move, for the sake of a rounder number.
_SLACK = 0.01

#: Losses of information that differ by less than this, per observation, are ties.
_TIE = 1e-9

#: The largest matrix of pairwise tables, 3.2 GB.
_CAPACITY = 20_000

Floats = NDArray[np.float64]


class Cuts(Mapping[str, tuple[float, ...]]):
    """The edges of the intervals into which columns are cut: a read-only mapping, name -> edges.

    The intervals are closed on the right; the first is closed on the left too. Pass it as `discretize=` to `read`
    to cut training and test data alike.

    Parameters
    ----------
    edges : mapping of str to sequence of float
        For every column its edges in increasing order, the outer ones included (they may be infinite).

    Examples
    --------
    >>> from mapdag.data import Cuts
    >>> cuts = Cuts({"age": [0, 18, 65, 110]})
    >>> cuts.labels("age")
    ('[0,18]', '(18,65]', '(65,110]')
    >>> cuts.codes("age", [18, 40, 66])
    array([0, 1, 2])
    """

    __slots__ = ("_edges",)

    def __init__(self, edges: Mapping[str, Sequence[float]]) -> None:
        self._edges = {str(name): _checked(str(name), values) for name, values in edges.items()}

    def __getitem__(self, name: str) -> tuple[float, ...]:
        return self._edges[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._edges)

    def __len__(self) -> int:
        return len(self._edges)

    def __hash__(self) -> int:
        return hash(tuple(self._edges.items()))

    def __repr__(self) -> str:
        return f"Cuts({self._edges!r})"

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the names of the intervals of a column."""
        texts = [_edge_text(edge) for edge in self._of(name)]
        pairs = list(itertools.pairwise(texts))
        first = "[" if math.isfinite(self[name][0]) else "("
        last = "]" if math.isfinite(self[name][-1]) else ")"
        return tuple(
            f"{first if i == 0 else '('}{low},{high}{last if i == len(pairs) - 1 else ']'}"
            for i, (low, high) in enumerate(pairs)
        )

    def codes(self, name: str, values: ArrayLike) -> NDArray[np.intp]:
        """Return the interval of every value, counted from 0; values beyond the ends go to the end intervals.

        Warns
        -----
        MapdagWarning
            If there are such values.
        """
        edges, numbers = self._of(name), np.asarray(values, dtype=np.float64)
        outside = int(np.count_nonzero((numbers < edges[0]) | (numbers > edges[-1])))
        if outside:
            warn(
                f"{plural(outside, 'value')} of {name!r} {'lies' if outside == 1 else 'lie'} outside "
                f"[{_edge_text(edges[0])},{_edge_text(edges[-1])}], the range of the table that the cuts were chosen "
                "from: what is beyond an end counts for the interval there",
            )
        return np.searchsorted(np.array(edges[1:-1]), numbers, side="left")

    def _of(self, name: str) -> tuple[float, ...]:
        if name not in self._edges:
            raise unknown_names([str(name)], list(self._edges), "these cuts")
        return self._edges[name]


def _checked(name: str, values: Sequence[float]) -> tuple[float, ...]:
    try:
        edges = tuple(float(value) + 0.0 for value in values)  # -0.0 becomes 0.0
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"the cut points of {name!r} must be numbers, got {values!r:.80}") from None
    inner = edges[1:-1]
    # The first interval may hold a single value, as in "[0,0]", "(0,5]".
    increasing = all(low < high for low, high in itertools.pairwise(edges[1:])) and edges[:1] <= edges[1:2]
    if not inner or not increasing or not all(math.isfinite(edge) for edge in inner):
        raise ParameterError(f"the cut points of {name!r} must be numbers in increasing order, got {list(values)!r}")
    return edges


def _edge_text(edge: float) -> str:
    """Write an edge with as few characters as give the same number back."""
    if not math.isfinite(edge):
        return "inf" if edge > 0 else "-inf"
    exact = Decimal(repr(edge)).normalize()
    return format(exact, "f") if -6 <= exact.adjusted() <= 15 else str(exact)


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
