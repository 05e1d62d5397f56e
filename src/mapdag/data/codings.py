"""What the levels of a column stand for: text, numbers, truth values, or intervals of numbers, with their `Cuts`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from mapdag.data.problems import unknown_names
from mapdag.errors import ParameterError
from mapdag.notices import warn
from mapdag.wording import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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


#: What a column held before its values became labels.
ValueType = Literal["text", "integer", "float", "boolean"]

_Value = TypeVar("_Value")
_INTERVAL = re.compile(r"[\[(]([^,]+),([^,]+)[\])]")


@dataclass(frozen=True, slots=True)
class Coding:
    """How the values of a column became its levels, so that values can be coded, and levels decoded, again.

    Attributes
    ----------
    type : {"text", "integer", "float", "boolean"}
        What the column held. The columns of a text file hold text.
    edges : tuple of float, optional
        The edges of the intervals that a column of numbers was cut into, the outer ones included.
    lumped : tuple of str
        Rare labels that became the level "other".

    Examples
    --------
    >>> Coding("integer").values(("1", "2", "4"))
    array([1, 2, 4])
    >>> Coding("float", (0.0, 18.0, 65.0)).values(("[0,18]", "(18,65]"))
    array(['[0,18]', '(18,65]'], dtype=object)
    """

    type: ValueType = "text"
    edges: tuple[float, ...] | None = None
    lumped: tuple[str, ...] = ()

    def values(self, levels: Sequence[str]) -> NDArray[Any]:
        """Return what the levels stand for, in the type of the column; text where some level is no such value."""
        text: NDArray[Any] = np.array(levels, dtype=object)
        if self.edges is not None or self.type == "text":
            return text
        if self.type == "boolean":
            known = {"true": True, "false": False}
            found = [known.get(level.lower()) for level in levels]
            return text if None in found else np.array(found, dtype=bool)
        try:
            return np.array([int(level) if self.type == "integer" else float(level) for level in levels])
        except ValueError:  # a level for missing values, for example
            return text


#: A column of text.
TEXT = Coding()


class Sealed(dict[str, _Value]):
    """A dict that nobody can change: what a value is made of. Copies of it, and what JSON makes of it, are plain."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed; dict(...) makes a copy that can")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (dict(self),))


def kept_codings(codings: Mapping[str, Coding], names: Iterable[str]) -> Sealed[Coding]:
    """Return the codings of some columns, those of plain text left out."""
    return Sealed({name: codings[name] for name in names if codings.get(name, TEXT) != TEXT})


def interval_levels(edges: Sequence[float], levels: Sequence[str]) -> list[str]:
    """Return the level that each interval of a column that was cut has.

    Its name among the levels, in whatever order; where the levels have names of their own, they are in the order of the
    intervals.

    >>> interval_levels((0.0, 40.0, 90.0), ("(40,90]", "[0,40]")), interval_levels((0.0, 40.0, 90.0), ("young", "old"))
    (['[0,40]', '(40,90]'], ['young', 'old'])
    """
    names = Cuts({"": edges}).labels("")
    are_intervals = bool(set(names) & set(levels)) or edges_of(levels) is not None  # be it others
    return list(names if are_intervals else levels[: len(names)])


def interval_numbers(edges: Sequence[float], levels: Sequence[str]) -> NDArray[np.intp]:
    """Return which interval each level of a column that was cut is; -1 for one that is none, such as that of gaps.

    >>> interval_numbers((0.0, 40.0, 90.0), ("(40,90]", "[0,40]", "NA"))
    array([ 1,  0, -1])
    """
    names = interval_levels(edges, levels)
    return np.array([names.index(level) if level in names else -1 for level in levels], dtype=np.intp)


def edges_of(levels: Sequence[str]) -> tuple[float, ...] | None:
    """Return the edges of the intervals that levels are the names of, or None; one for missing values may follow them.

    >>> edges_of(("(-inf,2.5]", "(2.5,40]", "NA"))
    (-inf, 2.5, 40.0)
    >>> edges_of(("low", "high")), edges_of(("(0,1]", "(5,9]"))
    (None, None)
    """
    ends = [match.groups() for match in map(_INTERVAL.fullmatch, levels) if match is not None]
    try:
        edges = Cuts({"": [float(ends[0][0]), *(float(high) for _, high in ends)]})
    except (IndexError, ValueError):
        return None
    return edges[""] if edges.labels("") == tuple(levels[: len(ends)]) else None


def coding_of(levels: Sequence[str]) -> Coding:
    """Return what levels stand for, by their names alone: intervals, or text.

    >>> coding_of(("[0,40]", "(40,90]")).edges, coding_of(("low", "high"))
    ((0.0, 40.0, 90.0), Coding(type='text', edges=None, lumped=()))
    """
    edges = edges_of(levels)
    return TEXT if edges is None else Coding("float", edges)


def cuts_of(codings: Mapping[str, Coding]) -> Cuts:
    """Return where columns were cut, those that were."""
    return Cuts({name: coding.edges for name, coding in codings.items() if coding.edges is not None})
