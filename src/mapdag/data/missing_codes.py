"""Values that look like codes for "missing": 9 and 99 beyond a gap, "unknown", "refused". Found by distinct values.

The rules were set by looking at the columns of a thousand public tables. They suspect; the user decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.labels import parse_numbers, spelling, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions

_NO_ANSWER = re.compile(
    r"[<(\[*]?(-+|\?+|n\.?k\.?|dk|dk/na|na/dk|d/k|unk|unknown|uncertain/unknown"
    r"|unknown[/ ](missing|not (stated|reported))"
    r"|(not|un) ?(known|stated|reported|recorded|ascertained|available|specified|disclosed)|unspecified|undisclosed"
    r"|(response )?missing|(item )?non-?response|no (answer|response|data|reply)|did not (answer|respond)"
    r"|(do(es)?n[o']?['o]? ?t|do not|does not|can'?t|cannot) (know|say|choose|remember|recall)( yet)?"
    r"|dont know|refus(e|ed|al)( to (answer|say))?|declined?( to (answer|say|state))?|prefer(red)? not to (say|answer)"
    r"|(don'?t know|dk)[/, ]+(refused|no answer|na|missing)|no answer[/, ]+(refused|don'?t know))[>)\]*]?",
    re.IGNORECASE,
)
_NOT_ASKED = re.compile(r"[<(\[]?(not applicable|inapplicable|not asked|iap|legitimate skip)[>)\]]?", re.IGNORECASE)

_DIGITS = ("9", "8", "7")  # refused, not known and the like are often 7, 8 and 9, or 97, 98 and 99
_MOST_CODES = 3
_GAP = 4  # steps between a code and what is not one; fewer if many rows have the code
_SMALL_GAP = 2
_FEW = 12  # distinct values up to which steps are those of a scale
_STEPS = 5  # as many times the largest of the last steps must the gap of an amount be
_LAST = 10  # steps that are looked at
_LEAST_ROWS = 20  # of a table in which numbers can be told to be apart
_LEAST = 5  # rows of a code that is not far from the other values
_SHORT, _MANY = 3, 20  # letters of abbreviations, and labels among which they are others
_REFUSALS = 0.2  # share of the rows


def suspects(column: Column, options: ReadOptions) -> tuple[str, ...]:
    """Return the values of a column that may mean "missing", in order; none where the user said which do.

    Examples
    --------
    >>> import numpy as np
    >>> from mapdag.data.columns import from_numpy
    >>> from mapdag.data.meanings import ReadOptions
    >>> suspects(from_numpy("smoke", np.array([0, 1, 2, 3, 9] * 5)), ReadOptions())
    ('9',)
    >>> suspects(from_numpy("answer", np.array(["yes", "no", "Don't know", "no"])), ReadOptions())
    ("Don't know",)
    """
    declared = column.declared is not None or column.name in options.declared
    if declared or column.kind in {"nested", "boolean", "temporal"} or column.name in options.missing_values:
        return ()
    counts = column.tally()
    if column.values is not None:
        return _of_numbers(column.values.astype(np.float64), counts)
    known = options.missing_texts(column.name)
    labels: dict[str, int] = {}
    for label, count in zip(column.labels, counts.tolist(), strict=True):
        text = "" if label is None else label.strip()
        if count and text not in known and spelling(text) not in known:
            labels[text] = labels.get(text, 0) + count
    most = _REFUSALS * sum(labels.values())
    words = [
        text
        for text, count in labels.items()
        if _NO_ANSWER.fullmatch(text)
        and not (text.isupper() and len(text) <= _SHORT and len(labels) > _MANY)  # DK is Denmark, too
        and not (text.lower() == "refused" and count > most)  # that is what was found out
    ]
    others = [text for text in labels if text not in words]
    if words and len(others) < 2:
        return ()  # what is left would be constant
    numbers = parse_numbers(others)
    if numbers is None:
        return tuple(words)
    found = _of_numbers(numbers, np.array([labels[text] for text in others]))
    return (*words, *found)


def not_asked(labels: Sequence[str | None]) -> list[str]:
    """Return those labels that say that a question does not apply, which is an answer of its own.

    >>> not_asked(["yes", "no", "Not applicable", None])
    ['Not applicable']
    """
    return [label.strip() for label in labels if label is not None and _NOT_ASKED.fullmatch(label.strip())]


def _of_numbers(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[str, ...]:
    """Return the numbers, as text, that may be codes."""
    used = np.isfinite(values) & (counts > 0)
    distinct, place = np.unique(values[used], return_inverse=True)
    rows = np.bincount(place.reshape(-1), weights=counts[used], minlength=len(distinct)).astype(np.float64)
    if len(distinct) < 3 or rows.sum() < _LEAST_ROWS:
        return ()
    low, high = _below(distinct, rows), _above(distinct, rows)
    if len(distinct) - low - high < 2:
        return ()
    found = [*distinct[:low], *distinct[len(distinct) - high :]]
    return tuple(text_of(float(value)) for value in found)


def _is_code(text: str, digits: Sequence[str] = _DIGITS) -> bool:
    """Tell whether a number is one that people choose for missing values: 9, 98, 888, 99.9, 9997."""
    bare = text.replace(".", "").lstrip("-")
    return bare[-1:] in digits and set(bare[:-1]) <= {"9", bare[-1:]} and len(set(bare[:-1])) < 2


def _above(distinct: NDArray[np.float64], rows: NDArray[np.float64]) -> int:
    """Count the codes above all other values."""
    most = 0
    texts = [text_of(float(value)) for value in distinct[-_MOST_CODES:]][::-1]
    while most < len(texts) and _is_code(texts[most]) and len(texts[most]) == len(texts[0]):
        most += 1
    for size in range(min(most, len(distinct) - 2), 0, -1):
        rest, codes = distinct[:-size], distinct[-size:]
        if texts[0][-1] != "9" and len(texts[0]) <= 2:
            continue  # 7, 8, 77 and 88 alone are numbers like any other
        if _is_apart(float(codes[0] - rest[-1]), np.diff(rest)[::-1], rows[-size:], rows[:-size]):
            return size
    return 0


def _below(distinct: NDArray[np.float64], rows: NDArray[np.float64]) -> int:
    """Count the codes below all other values, which are then the only negative ones."""
    size = int((distinct < 0).sum())
    if not 0 < size <= 2 * _MOST_CODES or size > len(distinct) - 2:
        return 0
    texts = [text_of(float(value)) for value in distinct[:size]]
    if not all(re.fullmatch(r"-\d", text) or _is_code(text) for text in texts):
        return 0
    rest, count = distinct[size:], rows[:size].sum()
    gap = float(rest[0] - distinct[size - 1])
    if rest[0] > -distinct[0] and len(rest) > _FEW:
        return size if count > 1 else 0  # far from all others, which are amounts
    usual = all(_is_code(text) for text in texts) or -distinct[0] == size  # -1, or from -1 on
    if not usual:
        return 0
    if len(rest) > _FEW and size == 1 and count >= max(_LEAST, 2 * np.median(rows[size:])):
        return size  # more frequent than single amounts are
    return size if gap >= 2 * np.diff(rest)[:_LAST].max() else 0


def _is_apart(gap: float, steps: NDArray[np.float64], codes: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Tell whether codes are too far from the other values to be of their kind.

    Parameters
    ----------
    gap : float
    steps : array
        Between the others, from the highest down.
    codes, others : array
        The rows that have each code and each of the others.
    """
    if len(others) <= _FEW and np.all(steps == 1):
        return gap >= _GAP or (gap >= _SMALL_GAP and codes.sum() >= max(_LEAST, others[-1]))
    far = gap >= _STEPS * steps[:_LAST].max()
    return bool(far and (codes.sum() > 1 or gap >= 2 * steps.sum()))
