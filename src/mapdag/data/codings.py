"""What the levels of a column stand for: text, numbers, truth values, or intervals of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import numpy as np

from mapdag.data.cuts import Cuts

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    Examples
    --------
    >>> Coding("integer").values(("1", "2", "4"))
    array([1, 2, 4])
    >>> Coding("float", (0.0, 18.0, 65.0)).values(("[0,18]", "(18,65]"))
    array(['[0,18]', '(18,65]'], dtype=object)
    """

    type: ValueType = "text"
    edges: tuple[float, ...] | None = None

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
    ((0.0, 40.0, 90.0), Coding(type='text', edges=None))
    """
    edges = edges_of(levels)
    return TEXT if edges is None else Coding("float", edges)


def cuts_of(codings: Mapping[str, Coding]) -> Cuts:
    """Return where columns were cut, those that were."""
    return Cuts({name: coding.edges for name, coding in codings.items() if coding.edges is not None})
