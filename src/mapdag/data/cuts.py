"""`Cuts`: where continuous columns are cut, and the names of the intervals; how to choose the cuts is in `binning`."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.problems import unknown_names
from mapdag.errors import MapdagWarning, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Cuts", "round_between"]


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
            warnings.warn(
                f"{outside:,} values of {name!r} lie outside [{_edge_text(edges[0])},{_edge_text(edges[-1])}], "
                "the range of the table that the cuts were chosen from: they count for the first and the last interval",
                MapdagWarning,
                stacklevel=2,
            )
        return np.searchsorted(np.array(edges[1:-1]), numbers, side="left")

    def _of(self, name: str) -> tuple[float, ...]:
        if name not in self._edges:
            raise unknown_names([str(name)], list(self._edges), "these cuts")
        return self._edges[name]


def _checked(name: str, values: Sequence[float]) -> tuple[float, ...]:
    try:
        edges = tuple(float(value) + 0.0 for value in values)  # -0.0 becomes 0.0
    except (TypeError, ValueError):
        raise ParameterError(f"the cut points of {name!r} must be numbers, got {values!r}") from None
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
