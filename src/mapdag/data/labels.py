"""What a label is: the text of a value, its order, the texts for "missing"; and what declarations of levels obey.

Everything here works on the few distinct values of a column, never on its rows.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mapdag.data.problems import listed, unknown_names
from mapdag.errors import DataError
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Text that means "no value was recorded", unless it is declared as a level. "None", "-" and "unknown" are not here:
#: they are ordinary categories in many tables; `missing_values=` adds them where they are not.
MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?", "."})

#: Codes are stored in at most 16 bits.
MAX_LEVELS = 2**16

#: Level labels by column name, or one entry per column; an integer r stands for the labels "0" .. "r-1".
LevelsLike: TypeAlias = "Mapping[str, Sequence[Any] | int] | Sequence[Sequence[Any] | int]"

#: One contiguous row of codes per variable.
Codes: TypeAlias = "NDArray[np.unsignedinteger[Any]]"

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:,(\d+))?", re.ASCII)
_THOUSANDS = 3  # digits in a group
_DIGITS = 4000  # Python reads and writes whole numbers up to some more than that
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_WHOLE = re.compile(r"(-?(?:0|[1-9]\d*))\.0*", re.ASCII)
_PLAIN = re.compile(r"[+-]?(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII)
_CLOCK = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[AP]M|[+-]\d{2}:?\d{2}))?)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2\d{{2,4}}"
    rf"|\d{{1,2}}[- ]{_MONTH}[- ]\d{{2,4}}|{_MONTH}[- ]\d{{1,2}},? \d{{4}}|{_MONTH}[- ]\d{{4}}|\d{{4}}[- ]{_MONTH}"
    rf"|\d{{4}}-\d{{2}}|\d{{4}}[- ]?[QW]\d{{1,2}}){_CLOCK}",
    re.ASCII | re.IGNORECASE,
)
_MONTHS, _MONTH_NAMES = 12, ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_THREE_NUMBERS = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2\d{2,4}", re.ASCII)
_SPAN = re.compile(r" (?:-|\u2013|to|until|bis) |\u2013")
_MIDNIGHT = re.compile(
    r"(?:(?<=\d{4}[-/.]\d\d[-/.]\d\d)|(?<=\d\d[-/.]\d\d[-/.]\d{4}))[T ]00:00:00(?:\.0+)?(?=$|Z|[+-])", re.ASCII
)
_FRACTION = re.compile(r"(:\d\d)(\.\d*?)0*(?!\d)", re.ASCII)
_NANOSECONDS = {"W": 604_800 * 10**9, "D": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9, "s": 10**9,
                "ms": 10**6, "us": 1_000, "ns": 1}  # fmt: skip


def text_of(value: Any) -> str:
    """Return the label of one value: whole floats lose their ".0", so that 1, 1.0 and "1" are one level.

    >>> [text_of(value) for value in (1, 1.0, 0.25, True, "01")]
    ['1', '1', '0.25', 'True', '01']
    """
    if isinstance(value, str):
        return str(value)  # numpy.str_ becomes str
    if isinstance(value, dt.date | dt.time | dt.timedelta | np.datetime64 | np.timedelta64):
        return _time_text(value)
    if isinstance(value, np.longdouble) and np.longdouble(float(value)) != value:
        return str(value)  # more digits than a float has
    if isinstance(value, np.generic):
        # float32 keeps its own shortest text: 0.1, not 0.10000000149011612.
        value = float(str(value)) if isinstance(value, np.floating) else value.item()
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    try:
        return str(value)
    except ValueError as error:  # Python's limit for whole numbers
        raise DataError(f"a value cannot be written as a label: {error}") from None


def _time_text(value: Any) -> str:
    """Return the label of a date, a time or a span of time, the same whichever library it comes from.

    >>> text_of(np.datetime64("2020-01-31T05:00:00.500000")), text_of(dt.datetime(2020, 1, 31, 5, 0, 0, 500_000))
    ('2020-01-31 05:00:00.5', '2020-01-31 05:00:00.5')
    >>> text_of(np.timedelta64(36, "h")), text_of(dt.timedelta(days=1.5))
    ('1 day, 12:00:00', '1 day, 12:00:00')
    """
    if isinstance(value, dt.timedelta):
        value = getattr(value, "asm8", value)  # of pandas: it may have nanoseconds
    if isinstance(value, np.timedelta64):
        unit, size = np.datetime_data(value.dtype)
        if unit not in _NANOSECONDS:
            return str(value)
        whole, rest = divmod(int(value.astype(np.int64)) * size * _NANOSECONDS[unit], 1_000)
        try:
            text = str(dt.timedelta(microseconds=whole))
        except OverflowError:
            return str(value)
        value = f"{text}{'' if '.' in text else '.000000'}{rest:03d}" if rest else text
    return clock_text(str(value).replace("T", " "))


def clock_text(text: str) -> str:
    """Write the time in a text with as few digits as it needs.

    >>> clock_text("05:00:00.500"), clock_text("2020-01-31 05:00:00.000000+01:00")
    ('05:00:00.5', '2020-01-31 05:00:00+01:00')
    """
    return _FRACTION.sub(lambda found: found[1] + found[2].rstrip("."), text)


def texts_of(numbers: NDArray[Any]) -> list[str]:
    """Return the labels of an array of values."""
    return [text_of(number) for number in numbers]


def ordered(labels: Iterable[str]) -> list[str]:
    """Sort distinct labels: by value when all are numbers, by time when all are dates or spans of them, else as text.

    >>> ordered(["10", "9", "1"]), ordered(["10", "9", "low"])
    (['1', '9', '10'], ['10', '9', 'low'])
    >>> ordered(["Feb 2020", "Jan 2020", "Dec 2019"]), ordered(["1/2/2020 - 3/2/2020", "12/5/2019 - 1/2/2020"])
    (['Dec 2019', 'Jan 2020', 'Feb 2020'], ['12/5/2019 - 1/2/2020', '1/2/2020 - 3/2/2020'])
    """
    distinct = sorted(set(labels))
    if all(_INTEGER.fullmatch(label) for label in distinct):
        return sorted(distinct, key=int if max(map(len, distinct), default=0) < _DIGITS else Decimal)
    if all(_NUMBER.fullmatch(label) for label in distinct):
        return sorted(distinct, key=float)
    times = _times(distinct)
    return distinct if times is None else sorted(distinct, key=times.__getitem__)


def _times(labels: Sequence[str]) -> dict[str, Any] | None:
    """Return when the dates, or spans of dates, that labels are begin and end; None where they are others."""
    spans = [_SPAN.split(label) for label in labels]
    if not labels or not all(1 <= len(parts) <= 2 and are_dates(parts) for parts in spans):
        return None
    every = [part for parts in spans for part in parts]
    firsts = [(int(found[1]), int(found[3])) for found in map(_THREE_NUMBERS.match, every) if found]
    day_first = any(first > _MONTHS for first, _ in firsts) or (
        not any(second > _MONTHS for _, second in firsts) and any("." in part for part in every)
    )
    return {label: tuple(_time_key(part, day_first=day_first) for part in parts)
            for label, parts in zip(labels, spans, strict=True)}  # fmt: skip


def _time_key(label: str, *, day_first: bool) -> tuple[Any, ...]:
    """Return what a date sorts by: year, month, day, and the time of day."""
    date, _, clock = label.partition(":")
    digits, month = [int(digit) for digit in re.findall(r"\d+", date)], re.search(_MONTH, date, re.IGNORECASE)
    if clock:  # the hour stands before the colon
        clock = f"{digits.pop():02d}:{clock}"
        if "pm" in clock.lower():
            clock = f"~{clock}"
        clock = re.sub(r"^(~?)12:", r"\g<1>00:", clock) if re.search("[ap]m", clock, re.IGNORECASE) else clock
    if month is not None:
        number = _MONTH_NAMES.index(month[0][:3].lower()) + 1
        if len(digits) == 1:
            return _year(digits[0]), number, 0, clock
        year = max(digits) if max(digits) > 31 else digits[-1]
        return _year(year), number, next(iter(digits[:1])), clock
    three = _THREE_NUMBERS.match(date)
    if three is not None:
        first, second, year = digits[:3]
        return _year(year), *((second, first) if day_first else (first, second)), clock
    return *digits[:3], *[0] * (3 - len(digits[:3])), clock


def _year(year: int) -> int:
    """Return the year that two digits stand for."""
    return year if year >= 100 else year + (2000 if year < 70 else 1900)


def parse_numbers(labels: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the labels as numbers, or None where one of them is not a number."""
    if not labels or not all(_NUMBER.fullmatch(label) for label in labels):
        return None
    return np.array([float(label) for label in labels])


def parse_decimal_commas(labels: Sequence[str]) -> NDArray[np.float64] | None:
    """Return labels with decimal commas as numbers; None where they are others, or the commas may mark thousands.

    >>> parse_decimal_commas(["1,5", "-12"]), parse_decimal_commas(["1,500", "20,000"])
    (array([  1.5, -12. ]), None)
    """
    found = [_DECIMAL_COMMA.fullmatch(label) for label in labels]
    if not all(found) or not any(match and match[1] and len(match[1]) != _THOUSANDS for match in found):
        return None
    return np.array([float(label.replace(",", ".")) for label in labels])


def are_integral(numbers: NDArray[np.float64]) -> bool:
    """Tell whether every number is whole."""
    return bool(np.all(numbers == np.floor(numbers)))


def are_dates(labels: Sequence[str]) -> bool:
    """Tell whether every label is a date or a time stamp, as people and programs write them."""
    return bool(labels) and all(_DATE.fullmatch(label) for label in labels)


def spelling(label: str) -> str:
    """Reduce the spellings of one value to one: true/TRUE/True, 1.0 for 1 (but never 01 for 1), days at midnight.

    Whatever `tidied` writes in another way is the same label here.

    >>> [spelling(label) for label in ("TRUE", "1.0", "1.50", "+2", "01", "2020-01-31 00:00:00")]
    ['true', '1', '1.5', '2', '01', '2020-01-31']
    """
    lower = label.lower()
    if lower in {"true", "false"}:
        return lower
    return _written(label) if _is_plain(label) else _MIDNIGHT.sub("", label)


def _is_plain(label: str) -> bool:
    """Tell whether a label is a number without leading zeros, which may mean something."""
    return _NUMBER.fullmatch(label) is not None and _PLAIN.fullmatch(label) is not None


def _written(number: str) -> str:
    """Write a plain number as columns of numbers have it; whole ones may be longer than a float is exact."""
    if _INTEGER.fullmatch(number):
        return "0" if number == "-0" else number.removeprefix("+")
    whole = _WHOLE.fullmatch(number)
    if whole:
        return _written(whole[1])
    text = text_of(float(number))
    return text if _is_exactly(number, text) else number


def _is_exactly(number: str, text: str) -> bool:
    """Tell whether a float's text is the number that was written: it may have had more digits, or be beyond floats."""
    try:
        return Decimal(number) == Decimal(text)
    except InvalidOperation:  # exponents beyond a billion billion
        return False


def tidied(labels: Sequence[str | None]) -> list[str | None]:
    """Write the labels of a column of text as those of numbers and truth values are, if all are such.

    So a table has the same labels, whether a program took its cells for numbers before it came here or not.

    >>> tidied(["18.0", "7", None]), tidied(["TRUE", "false"]), tidied(["18.0", "old"]), tidied(["007", "18.0"])
    (['18', '7', None], ['True', 'False'], ['18.0', 'old'], ['007', '18.0'])
    """
    present = {label for label in labels if label is not None}
    known: Mapping[str, str] = {}
    if all(label.lower() in {"true", "false"} for label in present):
        known = {label: label.capitalize() for label in present}
    elif all(map(_is_plain, present)):
        known = {label: _written(label) for label in present}
    elif all(_MIDNIGHT.search(label) for label in present):
        known = {label: _MIDNIGHT.sub("", label) for label in present}
    return [None if label is None else known.get(label, label) for label in labels]


class Matcher:
    """Find labels in a declaration: as they are written, else by value where that is unambiguous.

    Parameters
    ----------
    levels : sequence of str
        The declaration.
    truths : bool
        Whether 0 and 1 may stand for False and True, or these for them; where they may be positions, they do not.

    Examples
    --------
    >>> match = Matcher(("True", "False"))
    >>> match("TRUE"), match("False"), match("maybe")
    (0, 1, None)
    >>> Matcher(("1.5", "2"))("2.00"), Matcher(("0", "1"), truths=True)("True")
    (1, 1)
    """

    def __init__(self, levels: Sequence[str], *, truths: bool = False) -> None:
        self._exact: Mapping[str, int] = {label: code for code, label in enumerate(levels)}
        loose: dict[str, int | None] = {}
        for code, label in enumerate(levels):
            key = spelling(label)
            loose[key] = None if key in loose else code
        for truth, number in (("true", "1"), ("false", "0")) if truths else ():
            loose.setdefault(truth, loose.get(number))
            loose.setdefault(number, loose.get(truth))
        self._loose = loose

    def __call__(self, label: str) -> int | None:
        """Return the code of the label, or None."""
        code = self._exact.get(label)
        return self._loose.get(spelling(label)) if code is None else code


def is_iterable(value: Any) -> bool:
    """Tell whether one can go through a value: arrays without an axis only look like it."""
    try:
        iter(value)
    except TypeError:
        return False
    return True


# Declarations of levels -------------------------------------------------------------------------------------------


def code_dtype(cards: Sequence[int], *, gaps: bool = False) -> type[np.uint8 | np.uint16]:
    """Return the narrowest type that holds the codes of every variable, that of a gap included where there are any."""
    return np.uint8 if max(cards) + gaps <= 256 else np.uint16


def check_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Return the names, which must be unique and not empty."""
    if isinstance(names, str | set | frozenset | Mapping):
        what = f"the text {names!r}" if isinstance(names, str) else brief(names)
        raise DataError(f"names must be a sequence of column names, got {what}")
    if not len(names):
        raise DataError("a dataset needs at least one column")
    for position, name in enumerate(names):
        if not isinstance(name, str) or not name or half_character([name]):
            raise DataError(f"column names must be non-empty text; column {position + 1} is named {name!r}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"column names must be unique; {listed(twice)} occur more than once")
    return tuple(str(name) for name in names)


def label_list(labels: Sequence[Any] | int, name: str) -> tuple[str, ...]:
    """Return the declared labels of one column as text, checked."""
    if isinstance(labels, bool | str | bytes | bytearray | set | frozenset | Mapping):
        raise DataError(f"levels of {name!r} must be a list of labels, in order, or their number, got {labels!r:.80}")
    if isinstance(labels, int | np.integer):
        labels = range(min(max(int(labels), 0), sys.maxsize))
    if not is_iterable(labels):
        raise DataError(f"levels of {name!r} must be a list of labels, in order, or their number, got {labels!r:.80}")
    texts = tuple(text_of(label) for label in islice(labels, MAX_LEVELS + 1))
    if not texts:
        raise DataError(f"levels of {name!r}: at least one is needed")
    if len(texts) > MAX_LEVELS:
        declared = f"{len(labels):,}" if hasattr(labels, "__len__") else "more"
        raise DataError(f"levels of {name!r}: {declared} are declared, at most {MAX_LEVELS:,} are possible")
    if len(set(texts)) < len(texts):
        twice = [label for label, count in Counter(texts).items() if count > 1]
        raise DataError(f"levels of {name!r}: {listed(twice)} are declared more than once")
    if "" in texts:
        raise DataError(f"levels of {name!r}: a label is empty")
    if (half := half_character(texts)) is not None:
        raise DataError(f"levels of {name!r}: {half!r} has half of a pair of characters")
    return texts


def half_character(texts: Iterable[str]) -> str | None:
    """Return a text that no file can hold, because it has half of a pair of characters, if there is one."""
    every = list(texts)
    try:
        "".join(every).encode()
    except UnicodeEncodeError:
        return next((text for text in every if any("\ud800" <= letter <= "\udfff" for letter in text)), None)
    return None


def declared_levels(levels: LevelsLike | None, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what is declared, by name: all columns for a sequence, possibly some for a mapping."""
    if levels is None:
        return {}
    if isinstance(levels, Mapping):
        given, known = {str(name): labels for name, labels in levels.items()}, set(names)
        unknown = [name for name in given if name not in known]
        if unknown:
            raise unknown_names(unknown, names, "levels")
        return {name: label_list(given[name], name) for name in names if name in given}
    if isinstance(levels, str | bytes | set | frozenset) or not hasattr(levels, "__len__") or not is_iterable(levels):
        raise DataError(f"levels must be a mapping from column names or a list with one entry each, got {levels!r:.80}")
    if len(levels) != len(names):
        raise DataError(f"levels has {len(levels):,} entries for {len(names):,} columns")
    return {name: label_list(labels, name) for name, labels in zip(names, levels, strict=True)}
