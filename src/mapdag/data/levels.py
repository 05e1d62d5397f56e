"""What the values of a column mean: its levels, which of its labels are missing, and whether it can be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.data.codings import TEXT, Coding
from mapdag.data.labels import (
    CONTINUOUS,
    MAX_LEVELS,
    MISSING,
    Matcher,
    are_dates,
    are_integral,
    ordered,
    parse_numbers,
    spelling,
    text_of,
)
from mapdag.data.problems import Problems, listed, rows_text
from mapdag.errors import Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column

#: Levels that missing values may be.
MISSING_LEVELS = ("<missing>", "NA")


@dataclass(frozen=True)
class ReadOptions:
    """What the user said about the columns."""

    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # levels by name; they win over all else
    closed: bool = False  # whether no level may be added to them
    gaps: bool = False  # whether one for missing values may be, all the same; a column then may have no others
    codes: bool | None = None  # whether columns with declared levels hold positions in them; None: to be found out
    missing: Literal["error", "drop", "level"] = "error"  # what to do about missing values
    missing_values: frozenset[str] = frozenset()  # labels that mean "missing", on top of the usual ones
    max_levels: int = 256  # the largest number of levels of a column whose levels the user did not declare
    cut: frozenset[str] = frozenset()  # the columns to be cut into intervals
    cut_numbers: frozenset[str] = frozenset()  # those with known cuts: to be cut if they hold numbers
    cut_continuous: bool = False  # whether to cut those that look continuous, too

    @property
    def missing_texts(self) -> frozenset[str]:
        """Every label that means "missing" unless it is declared."""
        return MISSING | self.missing_values | {spelling(text) for text in self.missing_values}

    def cuts(self, column: Column) -> bool:
        """Tell whether the user wants a column cut."""
        if column.name in self.cut:
            return True
        numbers = column.numbers(self.missing_texts) if column.name in self.cut_numbers else None
        return numbers is not None and not np.isnan(numbers).all()

    def expected(self, name: str) -> tuple[str, ...] | None:
        """Return what a column with declared levels is to hold: their labels or, as codes, "0" to "r-1"."""
        declared = self.declared.get(name)
        return _code_texts(len(declared)) if declared is not None and self.codes else declared


@dataclass
class Coded:
    """A column with its levels; a code equal to their number marks a missing value."""

    name: str
    codes: NDArray[Any]
    levels: tuple[str, ...]
    coding: Coding = TEXT


@dataclass
class Continuous:
    """A column to be cut."""

    name: str
    numbers: NDArray[np.float64]  # by position; NaN: missing
    index: NDArray[Any]  # the position of each row
    rows: NDArray[np.intp] | None = None  # where the rows were in the table
    whole: bool = False  # whether the table says that these are whole numbers


def texts_for_missing(values: str | Iterable[Any]) -> frozenset[str]:
    """Understand the option `missing_values`."""
    return frozenset(text_of(value) for value in ([values] if isinstance(values, str) else values))


def interpret(column: Column, options: ReadOptions, problems: Problems) -> Coded | Continuous | None:
    """Find out what one column means, or note what is wrong with it and return None."""
    if column.kind == "nested":
        problems.add(column.name, f"holds {column.note}, which cannot be categories")
        return None
    declared = options.declared.get(column.name)
    wanted = options.cuts(column)
    if wanted or (declared is None and column.declared is None and is_continuous(column, options)):
        if wanted or options.cut_continuous:
            return _numbers_of(column, options, problems)
        _note_continuous(column, options, problems)
        return None
    texts = options.expected(column.name)
    labels = meanings_of(column, options, texts)
    levels = texts or _own_levels(column, options, labels)
    if declared is None and not _plausible(column, options, levels, problems):
        return None
    coded = encode(column, labels, levels, options, problems)
    if coded is None or not _missing_dealt_with(coded, column, options, problems):
        return None
    if len(coded.levels) > MAX_LEVELS:
        problems.add(column.name, f"has {MAX_LEVELS:,} levels, which leaves no code for missing values")
        return None
    if len(coded.levels) < 2:
        left = "" if column.rows is None else " in the rows that are left"
        what = f"is constant{left} (every value is {coded.levels[0]!r}) and declares no second level"
        second = Setting("levels", {column.name: [coded.levels[0], "..."]})
        problems.add(column.name, what, Setting("drop", [column.name]), second)
        return None
    return coded


def _numbers_of(column: Column, options: ReadOptions, problems: Problems) -> Continuous | None:
    """Return a column that is to be cut as numbers, or note why it cannot be."""
    numbers = column.numbers(options.missing_texts)
    wrong = None
    if numbers is None:
        texts = [text for text in meanings_of(column, options, None) if text is not None]
        wrong = next((text for text in texts if parse_numbers([text]) is None), None)
    if wrong:
        problems.add(column.name, f"cannot be discretized: {wrong!r} is not a number")
    elif numbers is None or np.isnan(numbers).all():
        problems.add(column.name, f"holds no values: all {len(column.index):,} rows are missing")
    elif np.isinf(numbers).any():
        where = rows_text(np.isinf(numbers)[column.index], column.rows)
        problems.add(column.name, f"cannot be discretized: infinite in {where}")
    elif options.missing != "error" or not _note_missing(column, np.isnan(numbers)[column.index], options, problems):
        return Continuous(column.name, numbers, column.index, column.rows, whole=column.coding.type == "integer")
    return None


def is_continuous(column: Column, options: ReadOptions) -> bool:
    """Tell whether a column holds more than a few numbers, not all of them whole."""
    numbers = column.numbers(options.missing_texts)
    if numbers is None:
        return False
    present = numbers[~np.isnan(numbers)]
    return len(present) > CONTINUOUS and not are_integral(present) and len(np.unique(present)) > CONTINUOUS


def _note_continuous(column: Column, options: ReadOptions, problems: Problems) -> None:
    numbers = column.numbers(options.missing_texts)
    assert numbers is not None
    present = np.unique(numbers[~np.isnan(numbers)])
    figures = f"{len(present):,} distinct numbers from {present[0]:.6g} to {present[-1]:.6g}"
    ways = Setting("discretize", {column.name: "quantile"}), Setting("drop", [column.name])
    problems.add(column.name, f"looks continuous ({figures})", *ways)
    if options.missing == "error":
        _note_missing(column, np.isnan(numbers)[column.index], options, problems)


def _code_texts(size: int) -> tuple[str, ...]:
    return tuple(str(code) for code in range(size))


def meanings_of(column: Column, options: ReadOptions, declared: Sequence[str] | None) -> list[str | None]:
    """Return what every position stands for: one of the declared texts, another text, or None for missing."""
    if declared is None and column.declared is not None:
        return [None if label is None or _no_level(label, options) else label for label in column.labels]
    missing = options.missing_texts
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


def missing_positions(column: Column, options: ReadOptions) -> NDArray[np.bool_]:
    """Tell which positions of a column mean "missing", whatever becomes of it."""
    undeclared = column.name not in options.declared and column.declared is None
    if column.kind == "nested":
        return np.zeros(column.n_positions, dtype=bool)
    # The text of numbers in great variety is not made for this.
    if options.cuts(column) or (undeclared and (column.values is not None or is_continuous(column, options))):
        numbers = column.numbers(options.missing_texts)
        if numbers is not None:
            return np.isnan(numbers)
    labels = meanings_of(column, options, options.expected(column.name))
    return np.array([label is None for label in labels], dtype=bool)


def _bare(label: str) -> str:
    """Take off what a text file put around a label: blanks, and quotes that came after a blank."""
    text = label.strip()
    if label[:1].isspace() and len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"').strip()
    return text


def _no_level(label: str, options: ReadOptions) -> bool:
    """Tell whether a category that the column's type declares is no level all the same."""
    return not label.strip() or label in options.missing_values


def _own_levels(column: Column, options: ReadOptions, labels: Sequence[str | None]) -> tuple[str, ...]:
    if column.declared is not None:
        return tuple(label for label in dict.fromkeys(column.declared) if not _no_level(label, options))
    return tuple(ordered(label for label in labels if label is not None))


def _plausible(column: Column, options: ReadOptions, levels: Sequence[str], problems: Problems) -> bool:
    """Check levels that were not declared in the call."""
    if column.declared is None and len(levels) > CONTINUOUS and (column.kind == "temporal" or are_dates(levels)):
        what = f"holds dates or times ({len(levels):,} distinct, {levels[0]!r} to {levels[-1]!r})"
        problems.add(column.name, what)
        return False
    if len(levels) <= options.max_levels:
        return True
    verb = "has" if column.declared is None else "declares"
    what = f"{verb} {len(levels):,} levels, like an identifier (max_levels is {options.max_levels:,})"
    ways = [Setting("drop", [column.name])]
    if parse_numbers(levels) is not None:
        ways.append(Setting("discretize", {column.name: "quantile"}))
    elif parse_numbers([label.replace(",", ".") for label in levels]) is not None:
        what += ", or numbers with decimal commas (to be written with points)"
    if len(levels) <= MAX_LEVELS:
        ways.append(Setting("max_levels", len(levels)))
    problems.add(column.name, what, *ways)
    return False


def encode(
    column: Column, labels: Sequence[str | None], levels: tuple[str, ...], options: ReadOptions, problems: Problems
) -> Coded | None:
    """Turn positions into codes; a label in use that is not a level is a problem."""
    size, index, declared = len(levels), column.index, options.declared.get(column.name, levels)
    dtype = np.min_scalar_type(size + 1)
    code_of: dict[str | None, int] = {label: code for code, label in enumerate(levels)}
    code_of[None] = size
    recode = np.array([code_of.get(label, size + 1) for label in labels], dtype=dtype)
    unchanged = index.dtype == dtype and np.array_equal(recode, np.arange(len(recode)))
    codes = index if unchanged else recode[index]
    if not len(codes) or int(codes.max()) <= size:
        return Coded(column.name, codes, declared, column.coding)
    unknown = codes == size + 1
    values = list(dict.fromkeys(labels[position] for position in np.unique(index[unknown]).tolist()))
    more = f" ({len(values):,} such values: {listed(values, 5)})" if len(values) > 1 else ""
    first = labels[int(index[unknown][0])]
    wanted = f"the codes go from 0 to {size - 1}, for the levels" if options.codes else "the declared levels are"
    what = f"has the value {first!r} in {rows_text(unknown, column.rows)}{more}, but {wanted} {listed(declared)}"
    ways = [Setting("missing_values", values)]
    if not options.closed and not options.codes:
        ways.insert(0, Setting("levels", {column.name: [*levels, *values]}))
    positions = Matcher(_code_texts(size))
    if not options.codes and all(positions(str(value)) is not None for value in values):
        # Where the user left it open, another column is known not to hold codes (see `find_codes`).
        ways.insert(len(ways) if options.codes is None else 0, Setting("codes", True))
    problems.add(column.name, what, *ways)
    return None


def _missing_dealt_with(coded: Coded, column: Column, options: ReadOptions, problems: Problems) -> bool:
    """Deal with missing values, if there are any: an added level, a problem, or nothing yet (rows to be dropped)."""
    size = len(coded.levels)
    if not len(coded.codes) or int(coded.codes.max()) < size:
        return True
    gone = coded.codes == size
    if gone.all() and not options.gaps:
        problems.add(coded.name, f"holds no values: all {len(gone):,} rows are missing")
        return False
    if options.missing == "error" or (options.missing == "level" and not add_missing(coded, options)):
        _note_missing(column, gone, options, problems, coded.levels)
        return False
    return True


def add_missing(coded: Coded, options: ReadOptions) -> bool:
    """Give missing values a level: the declared "<missing>" or "NA" if there is one, else a new last one.

    Returns
    -------
    bool
        False if the declaration has no such level and may not be added to.
    """
    declared = options.declared.get(coded.name)
    for label in MISSING_LEVELS:
        if declared is not None and label in declared:
            coded.codes = np.where(coded.codes == len(declared), declared.index(label), coded.codes)
            return True
    if declared is not None and options.closed and not options.gaps:
        return False
    coded.levels = (*coded.levels, "<missing>" if "NA" in coded.levels else "NA")
    return True


def _note_missing(
    column: Column,
    gone: NDArray[np.bool_],
    options: ReadOptions,
    problems: Problems,
    levels: Sequence[str] | None = None,
) -> bool:
    """Note the rows whose values are missing, if there are any."""
    if not gone.any():
        return False
    found = [column.labels[position] for position in np.unique(column.index[gone]).tolist()]
    written = [label for label in found if label is not None and label.strip()]
    spelling = f" (written {listed(written, 5)})" if written else ""
    ways = [Setting("missing", "drop")]
    if options.missing != "level":
        ways.append(Setting("missing", "level"))
    if levels is not None and written and not options.codes:  # perhaps it is no missing value at all
        ways.append(Setting("levels", {column.name: [*levels, *written]}))
    problems.add(column.name, f"has missing values{spelling} in {rows_text(gone, column.rows)}", *ways)
    return True
