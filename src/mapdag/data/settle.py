"""Settling what a column means: its levels, which of its labels are missing values, and whether it can be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.data.checks import MAX_LEVELS
from mapdag.data.labels import (
    CONTINUOUS,
    MISSING,
    Matcher,
    are_dates,
    are_integral,
    ordered,
    parse_numbers,
    spelling,
)
from mapdag.data.problems import Problem, Problems, Way, listed, rows_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column

__all__ = [
    "Continuous",
    "Rules",
    "Settled",
    "add_missing",
    "encode",
    "expected_texts",
    "is_continuous",
    "meanings_of",
    "missing_positions",
    "numbers_of",
    "settle",
]


@dataclass(frozen=True)
class Rules:
    """What the user said about the columns.

    Parameters
    ----------
    declared : mapping
        Levels by column name; they win over everything else.
    closed : bool
        Whether no level may be added to them.
    codes : bool, optional
        Whether columns with declared levels hold positions in them instead of labels. None is False as long as nobody
        found out (see `coding`).
    missing : {"error", "drop", "level"}
        What to do about missing values.
    missing_values : frozenset of str
        Labels that mean "missing", on top of the usual ones.
    max_levels : int
        The largest number of levels of a column whose levels the user did not declare.
    cut : frozenset of str
        The columns to be cut into intervals.
    cut_continuous : bool
        Whether to cut those that look continuous, too.
    """

    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    closed: bool = False
    codes: bool | None = None
    missing: Literal["error", "drop", "level"] = "error"
    missing_values: frozenset[str] = frozenset()
    max_levels: int = 256
    cut: frozenset[str] = frozenset()
    cut_continuous: bool = False

    @property
    def missing_texts(self) -> frozenset[str]:
        """Every label that means "missing" unless it is declared."""
        return MISSING | self.missing_values | {spelling(text) for text in self.missing_values}


@dataclass
class Settled:
    """A column with its levels; a code equal to their number marks a missing value."""

    name: str
    codes: NDArray[Any]
    levels: tuple[str, ...]


@dataclass
class Continuous:
    """A column to be cut: its numbers by position (NaN: missing), the position of each row, and where the rows were."""

    name: str
    numbers: NDArray[np.float64]
    index: NDArray[Any]
    rows: NDArray[np.intp] | None = None


def settle(column: Column, rules: Rules, problems: Problems) -> Settled | Continuous | None:
    """Settle one column, or note what is wrong with it and return None."""
    if column.kind == "nested":
        problems.add(Problem(column.name, f"holds {column.note}, which cannot be categories"))
        return None
    declared = rules.declared.get(column.name)
    undeclared = declared is None and column.declared is None
    if column.name in rules.cut or (undeclared and rules.cut_continuous and is_continuous(column, rules)):
        return numbers_of(column, rules, problems)
    if undeclared and is_continuous(column, rules):
        problems.add(_continuous_problem(column, rules))
        if rules.missing == "error":
            _note_missing(column, rules, problems)
        return None
    texts = expected_texts(column.name, rules)
    labels = meanings_of(column, rules, texts)
    levels = texts or _own_levels(column, rules, labels)
    if declared is None and not _plausible(column, rules, levels, problems):
        return None
    settled = encode(column, labels, levels, rules, problems)
    if settled is None or not _missing_settled(settled, column, rules, problems):
        return None
    if len(settled.levels) > MAX_LEVELS:
        problems.add(Problem(column.name, f"has {MAX_LEVELS:,} levels, which leaves no code for missing values"))
        return None
    if len(settled.levels) < 2:
        left = "" if column.rows is None else " in the rows that are left"
        what = f"is constant{left} (every value is {settled.levels[0]!r}) and declares no second level"
        ways = (("drop", None), ("levels", [settled.levels[0], "..."]))
        problems.add(Problem(column.name, what, ways))
        return None
    return settled


def numbers_of(column: Column, rules: Rules, problems: Problems) -> Continuous | None:
    """Return a column that is to be cut as numbers, or note why it cannot be."""
    numbers = column.numbers(rules.missing_texts)
    if numbers is None:
        texts = [text for text in meanings_of(column, rules, None) if text is not None]
        wrong = next((text for text in texts if parse_numbers([text]) is None), None)
        empty = f"holds no values: all {len(column.index):,} rows are missing"
        problems.add(Problem(column.name, f"cannot be discretized: {wrong!r} is not a number" if wrong else empty))
        return None
    if np.isinf(numbers).any():
        what = f"cannot be discretized: infinite in {rows_text(np.isinf(numbers)[column.index], column.rows)}"
        problems.add(Problem(column.name, what))
        return None
    if np.isnan(numbers).all():
        problems.add(Problem(column.name, f"holds no values: all {len(column.index):,} rows are missing"))
        return None
    if np.isnan(numbers).any() and rules.missing == "error" and _note_missing(column, rules, problems):
        return None
    return Continuous(column.name, numbers, column.index, column.rows)


def is_continuous(column: Column, rules: Rules) -> bool:
    """Tell whether a column holds more than a few numbers, not all of them whole."""
    numbers = column.numbers(rules.missing_texts)
    if numbers is None:
        return False
    present = numbers[~np.isnan(numbers)]
    return len(present) > CONTINUOUS and not are_integral(present) and len(np.unique(present)) > CONTINUOUS


def _continuous_problem(column: Column, rules: Rules) -> Problem:
    present = np.unique(column.numbers(rules.missing_texts))  # type: ignore[arg-type]
    present = present[~np.isnan(present)]
    figures = f"{len(present):,} distinct numbers from {present[0]:.6g} to {present[-1]:.6g}"
    return Problem(column.name, f"looks continuous ({figures})", (("discretize", "quantile"), ("drop", None)))


def expected_texts(name: str, rules: Rules) -> tuple[str, ...] | None:
    """Return what a column with levels declared by the user is to hold: their labels or, as codes, "0" to "r-1"."""
    declared = rules.declared.get(name)
    return _code_texts(len(declared)) if declared is not None and rules.codes else declared


def _code_texts(size: int) -> tuple[str, ...]:
    return tuple(str(code) for code in range(size))


def meanings_of(column: Column, rules: Rules, declared: Sequence[str] | None) -> list[str | None]:
    """Return what every position stands for: one of the declared texts, another text, or None for missing."""
    if declared is None and column.declared is not None:
        return [None if label is None or _no_level(label, rules) else label for label in column.labels]
    missing = rules.missing_texts
    match = Matcher(declared or ())
    meanings: list[str | None] = []
    for label in column.labels:
        if label is None:
            meanings.append(None)
            continue
        text = _bare(label) if column.blanks else label
        exact = match(label)
        code = match(text) if exact is None else exact
        if declared is not None and code is not None:
            meanings.append(declared[code])
        else:
            meanings.append(None if not text.strip() or text in missing or spelling(text) in missing else text)
    return meanings


def missing_positions(column: Column, rules: Rules) -> NDArray[np.bool_]:
    """Tell which positions of a column mean "missing", whatever becomes of it."""
    undeclared = column.name not in rules.declared and column.declared is None
    if column.kind == "nested":
        return np.zeros(column.n_positions, dtype=bool)
    # The text of numbers in great variety is not made for this.
    if column.name in rules.cut or (undeclared and (column.values is not None or is_continuous(column, rules))):
        numbers = column.numbers(rules.missing_texts)
        if numbers is not None:
            return np.isnan(numbers)
    labels = meanings_of(column, rules, expected_texts(column.name, rules))
    return np.array([label is None for label in labels], dtype=bool)


def _bare(label: str) -> str:
    """Take off what a text file put around a label: blanks, and quotes that came after a blank."""
    text = label.strip()
    if label[:1].isspace() and len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"').strip()
    return text


def _no_level(label: str, rules: Rules) -> bool:
    """Tell whether a category that the column's type declares is no level all the same."""
    return not label.strip() or label in rules.missing_values


def _own_levels(column: Column, rules: Rules, labels: Sequence[str | None]) -> tuple[str, ...]:
    if column.declared is not None:
        return tuple(label for label in dict.fromkeys(column.declared) if not _no_level(label, rules))
    return tuple(ordered(label for label in labels if label is not None))


def _plausible(column: Column, rules: Rules, levels: Sequence[str], problems: Problems) -> bool:
    """Check levels that were not declared in the call."""
    if column.declared is None and len(levels) > CONTINUOUS and (column.kind == "temporal" or are_dates(levels)):
        what = f"holds dates or times ({len(levels):,} distinct, {levels[0]!r} to {levels[-1]!r})"
        problems.add(Problem(column.name, what))
        return False
    if len(levels) <= rules.max_levels:
        return True
    verb = "has" if column.declared is None else "declares"
    what = f"{verb} {len(levels):,} levels, like an identifier (max_levels is {rules.max_levels:,})"
    ways: list[Way] = [("drop", None)]
    if parse_numbers(levels) is not None:
        ways.append(("discretize", "quantile"))
    elif parse_numbers([label.replace(",", ".") for label in levels]) is not None:
        what += ", or numbers with decimal commas (to be written with points)"
    if len(levels) <= MAX_LEVELS:
        ways.append(("max_levels", len(levels)))
    problems.add(Problem(column.name, what, tuple(ways)))
    return False


def encode(
    column: Column, labels: Sequence[str | None], levels: tuple[str, ...], rules: Rules, problems: Problems
) -> Settled | None:
    """Turn positions into codes; a label in use that is not a level is a problem."""
    size, index, declared = len(levels), column.index, rules.declared.get(column.name, levels)
    dtype = np.uint8 if size + 2 <= 2**8 else np.uint16 if size + 2 <= 2**16 else np.uint32
    code_of: dict[str | None, int] = {label: code for code, label in enumerate(levels)}
    code_of[None] = size
    recode = np.array([code_of.get(label, size + 1) for label in labels], dtype=dtype)
    unchanged = index.dtype == dtype and np.array_equal(recode, np.arange(len(recode)))
    codes = index if unchanged else recode[index]
    if not len(codes) or int(codes.max()) <= size:
        return Settled(column.name, codes, declared)
    unknown = codes == size + 1
    values = list(dict.fromkeys(labels[position] for position in np.unique(index[unknown]).tolist()))
    more = f" ({len(values):,} such values: {listed(values, 5)})" if len(values) > 1 else ""
    first = labels[int(index[unknown][0])]
    wanted = f"the codes go from 0 to {size - 1}, for the levels" if rules.codes else "the declared levels are"
    what = f"has the value {first!r} in {rows_text(unknown, column.rows)}{more}, but {wanted} {listed(declared)}"
    ways: list[Way] = [("missing_values", values)]
    if not rules.closed and not rules.codes:
        ways.insert(0, ("levels", [*levels, *values]))
    positions = Matcher(_code_texts(size))
    if not rules.codes and all(positions(str(value)) is not None for value in values):
        # Where the user left it open, another column is known not to hold codes (see `coding`).
        ways.insert(len(ways) if rules.codes is None else 0, ("codes", True))
    problems.add(Problem(column.name, what, tuple(ways)))
    return None


def _missing_settled(settled: Settled, column: Column, rules: Rules, problems: Problems) -> bool:
    """Deal with missing values, if there are any: an added level, a problem, or nothing yet (rows to be dropped)."""
    size = len(settled.levels)
    if not len(settled.codes) or int(settled.codes.max()) < size:
        return True
    gone = settled.codes == size
    if gone.all():
        problems.add(Problem(settled.name, f"holds no values: all {len(gone):,} rows are missing"))
        return False
    if rules.missing == "error" or (rules.missing == "level" and not add_missing(settled, rules)):
        problems.add(_missing_problem(column, gone, rules, settled.levels))
        return False
    return True


def add_missing(settled: Settled, rules: Rules) -> bool:
    """Give missing values a level: the declared "<missing>" or "NA" if there is one, else a new last one.

    Returns
    -------
    bool
        False if the declaration has no such level and may not be added to.
    """
    declared = rules.declared.get(settled.name)
    for label in ("<missing>", "NA"):
        if declared is not None and label in declared:
            settled.codes = np.where(settled.codes == len(declared), declared.index(label), settled.codes)
            return True
    if declared is not None and rules.closed:
        return False
    settled.levels = (*settled.levels, "<missing>" if "NA" in settled.levels else "NA")
    return True


def _note_missing(column: Column, rules: Rules, problems: Problems) -> bool:
    """Note missing values in a column of numbers, if there are any."""
    numbers = column.numbers(rules.missing_texts)
    gone = np.isnan(numbers)[column.index] if numbers is not None else np.zeros(0, dtype=bool)
    if gone.any():
        problems.add(_missing_problem(column, gone, rules))
    return bool(gone.any())


def _missing_problem(
    column: Column, gone: NDArray[np.bool_], rules: Rules, levels: Sequence[str] | None = None
) -> Problem:
    found = [column.labels[position] for position in np.unique(column.index[gone]).tolist()]
    written = [label for label in found if label is not None and label.strip()]
    spelling = f" (written {listed(written, 5)})" if written else ""
    ways: list[Way] = [("missing", "drop")]
    if rules.missing != "level":
        ways.append(("missing", "level"))
    if levels is not None and written and not rules.codes:  # perhaps it is no missing value at all
        ways.append(("levels", [*levels, *written]))
    return Problem(column.name, f"has missing values{spelling} in {rows_text(gone, column.rows)}", tuple(ways))
