"""What a label is: the text of a value, its order, the codes for "missing", and matching against a declaration.

Everything here works on the few distinct values of a column, never on its rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CONTINUOUS",
    "MISSING",
    "Matcher",
    "are_dates",
    "are_integral",
    "ordered",
    "parse_numbers",
    "spelling",
    "text_of",
    "texts_of",
]

#: Text that means "no value was recorded", unless it is declared as a level. "None", "-" and "unknown" are not here:
#: they are ordinary categories in many tables; `missing_values=` adds them where they are not.
MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?", "."})

#: More distinct numbers than this, not all of them whole, look continuous; more distinct dates, like a time line.
CONTINUOUS = 10

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_WHOLE = re.compile(r"(-?(?:0|[1-9]\d*))\.0*", re.ASCII)
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?", re.ASCII
)


def text_of(value: Any) -> str:
    """Return the label of one value: whole floats lose their ".0", so that 1, 1.0 and "1" are one level.

    >>> [text_of(value) for value in (1, 1.0, 0.25, True, "01")]
    ['1', '1', '0.25', 'True', '01']
    """
    if isinstance(value, str):
        return str(value)  # numpy.str_ becomes str
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        # float32 keeps its own shortest text: 0.1, not 0.10000000149011612.
        value = float(str(value)) if isinstance(value, np.floating) else value.item()
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)


def texts_of(numbers: NDArray[Any]) -> list[str]:
    """Return the labels of an array of values."""
    return [text_of(number) for number in numbers]


def ordered(labels: Iterable[str]) -> list[str]:
    """Sort distinct labels: by value when all are numbers, else by code point.

    >>> ordered(["10", "9", "1"]), ordered(["10", "9", "low"])
    (['1', '9', '10'], ['10', '9', 'low'])
    """
    distinct = sorted(set(labels))
    if all(_INTEGER.fullmatch(label) for label in distinct):
        return sorted(distinct, key=int)
    if all(_NUMBER.fullmatch(label) for label in distinct):
        return sorted(distinct, key=float)
    return distinct


def parse_numbers(labels: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the labels as numbers, or None where one of them is not a number."""
    if not labels or not all(_NUMBER.fullmatch(label) for label in labels):
        return None
    return np.array([float(label) for label in labels])


def are_integral(numbers: NDArray[np.float64]) -> bool:
    """Tell whether every number is whole."""
    return bool(np.all(numbers == np.floor(numbers)))


def are_dates(labels: Sequence[str]) -> bool:
    """Tell whether every label is an ISO 8601 date or time stamp."""
    return bool(labels) and all(_DATE.fullmatch(label) for label in labels)


def spelling(label: str) -> str:
    """Reduce the spellings of one value to one: true/TRUE/True, and 1.0 for 1 (but never 01 for 1)."""
    lower = label.lower()
    if lower in {"true", "false"}:
        return lower
    whole = _WHOLE.fullmatch(label)
    return whole[1] if whole else label


class Matcher:
    """Find labels in a declaration: as they are written, else by value where that is unambiguous.

    >>> match = Matcher(("True", "False"))
    >>> match("TRUE"), match("False"), match("maybe")
    (0, 1, None)
    """

    def __init__(self, levels: Sequence[str]) -> None:
        self._exact: Mapping[str, int] = {label: code for code, label in enumerate(levels)}
        loose: dict[str, int | None] = {}
        for code, label in enumerate(levels):
            key = spelling(label)
            loose[key] = None if key in loose else code
        self._loose = loose

    def __call__(self, label: str) -> int | None:
        """Return the code of the label, or None."""
        code = self._exact.get(label)
        return self._loose.get(spelling(label)) if code is None else code
