"""The rules that names, levels, codes and weights of a dataset obey: the one place where they are checked."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mapdag.data.labels import text_of
from mapdag.data.problems import listed, rows_text, unknown_names
from mapdag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAX_LEVELS",
    "MAX_TOTAL",
    "Codes",
    "LevelsLike",
    "check_names",
    "check_weights",
    "code_dtype",
    "declared_levels",
    "label_list",
]

#: Codes are stored in at most 16 bits.
MAX_LEVELS = 2**16

#: The sum of all weights stays below this, so that every count is exact as an integer and as a float.
MAX_TOTAL = 2**53

#: Level labels by column name, or one entry per column; an integer r stands for the labels "0" .. "r-1".
LevelsLike: TypeAlias = "Mapping[str, Sequence[Any] | int] | Sequence[Sequence[Any] | int]"

#: One contiguous row of codes per variable.
Codes: TypeAlias = "NDArray[np.unsignedinteger[Any]]"


def code_dtype(cards: Sequence[int]) -> type[np.uint8 | np.uint16]:
    """Return the narrowest type that holds the codes of every variable."""
    return np.uint8 if max(cards) <= 256 else np.uint16


def check_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Return the names, which must be unique and not empty."""
    if isinstance(names, str):
        raise DataError(f"names must be a sequence of column names, got the text {names!r}")
    if not len(names):
        raise DataError("a dataset needs at least one column")
    for position, name in enumerate(names):
        if not isinstance(name, str) or not name:
            raise DataError(f"column names must be non-empty text; column {position + 1} is named {name!r}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"column names must be unique; {listed(twice)} occur more than once")
    return tuple(str(name) for name in names)


def label_list(labels: Sequence[Any] | int, name: str) -> tuple[str, ...]:
    """Return the declared labels of one column as text, checked."""
    if isinstance(labels, bool | str) or not (isinstance(labels, int | np.integer) or hasattr(labels, "__iter__")):
        raise DataError(f"levels of {name!r} must be a list of labels or their number, got {labels!r}")
    if isinstance(labels, int | np.integer):
        labels = range(int(labels))
    texts = tuple(text_of(label) for label in labels)
    if not texts:
        raise DataError(f"levels of {name!r}: at least one is needed")
    if len(texts) > MAX_LEVELS:
        raise DataError(f"levels of {name!r}: {len(texts):,} are declared, at most {MAX_LEVELS:,} are possible")
    if len(set(texts)) < len(texts):
        twice = [label for label, count in Counter(texts).items() if count > 1]
        raise DataError(f"levels of {name!r}: {listed(twice)} are declared more than once")
    if "" in texts:
        raise DataError(f"levels of {name!r}: a label is empty")
    return texts


def declared_levels(levels: LevelsLike | None, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what is declared, by name: all columns for a sequence, possibly some for a mapping."""
    if levels is None:
        return {}
    if isinstance(levels, Mapping):
        given = {str(name): labels for name, labels in levels.items()}
        unknown = [name for name in given if name not in set(names)]
        if unknown:
            raise unknown_names(unknown, names, "levels")
        return {name: label_list(given[name], name) for name in names if name in given}
    if isinstance(levels, str) or not hasattr(levels, "__len__"):
        raise DataError(f"levels must be a mapping from column names or a list with one entry each, got {levels!r}")
    if len(levels) != len(names):
        raise DataError(f"levels has {len(levels):,} entries for {len(names):,} columns")
    return {name: label_list(labels, name) for name, labels in zip(names, levels, strict=True)}


def check_weights(weights: Any, n_rows: int, what: str = "weights") -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the weights as int64 where all are whole, else as float64.

    None may be negative or not finite, and their sum must be less than 2**53: up to there every count is exact, beyond
    it sums would lose units as floats and then overflow as integers.

    >>> check_weights([2.0, 1.0], 2), check_weights([0.5, 1.0], 2)
    (array([2, 1]), array([0.5, 1. ]))
    """
    array = _as_numbers(weights)
    if array.ndim != 1 or len(array) != n_rows:
        raise DataError(f"{what} must be one number per row ({n_rows:,}), got shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise DataError(f"{what} must be numbers, got {array.dtype}")
    bad = ~np.isfinite(array)
    if bad.any():
        raise DataError(f"{what} must be finite: missing or infinite in {rows_text(bad)}")
    bad = array < 0
    if bad.any():
        raise DataError(f"{what} must not be negative: {array[bad][0]:g} in {rows_text(bad)}")
    total: int | float = int(array.max(initial=0))
    if total < MAX_TOTAL:  # else one of them is too much already, and may not fit the types below
        if array.dtype.kind == "f" and not np.all(array == np.floor(array)):
            array = array.astype(np.float64)
            total = float(array.sum())
        else:
            array = array.astype(np.int64)
            # Halves of 32 bits: their sums cannot overflow.
            total = (int((array >> 32).sum()) << 32) + int((array & 0xFFFFFFFF).sum())
    if total >= MAX_TOTAL:
        shown = f"{total:,}" if total < 2**64 else f"{total:.3g}"
        raise DataError(f"{what} must add up to less than 2**53 ({MAX_TOTAL:,}), got at least {shown}")
    return array


def _as_numbers(weights: Any) -> NDArray[Any]:
    """Return an array; numbers that came as Python objects (integers beyond 64 bits do) become floats."""
    array = np.asarray(weights)
    if array.dtype.kind != "O" or not all(isinstance(weight, numbers.Real) for weight in array.flat):
        return array
    try:
        return array.astype(np.float64)
    except OverflowError:  # an integer beyond the largest float
        return np.where(array > MAX_TOTAL, float(MAX_TOTAL), array).astype(np.float64)
