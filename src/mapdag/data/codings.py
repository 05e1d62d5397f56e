"""What the levels of a column stand for: text, numbers, truth values, or intervals of numbers."""

from __future__ import annotations

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


def cuts_of(codings: Mapping[str, Coding]) -> Cuts:
    """Return where columns were cut, those that were."""
    return Cuts({name: coding.edges for name, coding in codings.items() if coding.edges is not None})
