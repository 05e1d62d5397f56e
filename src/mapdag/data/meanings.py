"""What the user said about the columns, and what each of their values then means: a label, or that it is missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mapdag.data.columns import is_missing
from mapdag.data.labels import MISSING, Matcher, is_iterable, spelling, text_of, tidied
from mapdag.data.problems import unknown_names
from mapdag.errors import ParameterError
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column


#: More levels than this are taken for a mistake, unless the user says how many there may be.
USUAL_LEVELS = 256

#: Levels that missing values may be.
MISSING_LEVELS = ("<missing>", "NA")

#: The level of values that are none, where these are wanted (`ReadOptions.lenient`).
UNSEEN = "<unseen>"

#: What stands where there is no code, because a value is missing or is no level.
MISSING_CODE, NO_LEVEL = -1, -2

#: What stands for every column in mappings from columns.
EVERY_COLUMN = "*"

#: What to do about missing values.
Policy: TypeAlias = Literal["error", "drop", "level", "keep"]

POLICIES: tuple[Policy, ...] = ("error", "drop", "level", "keep")

#: Labels that mean "missing", by column; None for those of every column.
MissingTexts: TypeAlias = Mapping[str | None, frozenset[str]]


@dataclass(frozen=True)
class ReadOptions:
    """What the user said about the columns."""

    declared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # levels by name; they win over all else
    closed: bool = False  # whether no level may be added to them
    gaps: bool = False  # whether one for missing values may be, all the same; a column then may have no others
    lenient: bool = False  # whether what is no declared level becomes the level `UNSEEN`, with a warning
    codes: bool | None = None  # whether columns with declared levels hold positions in them; None: to be found out
    truths: bool = False  # whether 0 and 1 may be truth values: they are known not to be positions
    missing: Policy = "error"  # what to do about missing values
    missing_by: Mapping[str, Policy] = field(default_factory=dict)  # the same of single columns
    missing_values: MissingTexts = field(default_factory=dict)  # labels that mean "missing", on top of the usual ones
    most: int | None = None  # `max_levels`: up to so many levels are meant, more are a mistake
    cut: frozenset[str] = frozenset()  # the columns to be cut into intervals
    cut_numbers: frozenset[str] = frozenset()  # those with known cuts: to be cut if they hold numbers
    cut_continuous: bool = False  # whether to cut those that look continuous, too
    uncut: frozenset[str] = frozenset()  # the columns that are categories even if they look continuous
    asked: Any = None  # what `discretize` was, for the sake of hints that add to it
    first: str | None = None  # the first column of the table, which may number its rows
    weight: float = 1.0  # how many observations a row stands for, on average

    def missing_of(self, name: str) -> Policy:
        """Return what to do about the missing values of a column."""
        return self.missing_by.get(name, self.missing)

    @property
    def drops_rows(self) -> bool:
        """Whether rows are left out for what some column lacks."""
        return "drop" in {self.missing, *self.missing_by.values()}

    @property
    def keeps_gaps(self) -> bool:
        """Whether the missing values of some column stay gaps."""
        return "keep" in {self.missing, *self.missing_by.values()}

    def missing_values_of(self, name: str) -> frozenset[str]:
        """Return the labels of a column that the user said mean "missing"."""
        return self.missing_values.get(None, frozenset()) | self.missing_values.get(name, frozenset())

    def missing_texts(self, name: str) -> frozenset[str]:
        """Return every label of a column that means "missing" unless it is declared."""
        given = self.missing_values_of(name)
        return MISSING | given | {spelling(text) for text in given}

    @property
    def max_levels(self) -> int:
        """The largest number of levels of a column whose levels the user did not declare."""
        return USUAL_LEVELS if self.most is None else self.most

    def insists(self, size: int) -> bool:
        """Tell whether the user said that so many levels are no mistake."""
        return self.most is not None and size <= self.most

    def cuts(self, column: Column) -> bool:
        """Tell whether the user wants a column cut."""
        if column.name in self.cut:
            return True
        numbers = column.numbers(self.missing_texts(column.name)) if column.name in self.cut_numbers else None
        return numbers is not None and not np.isnan(numbers).all()

    def takes_numbers(self, name: str) -> bool:
        """Tell whether numbers in great variety, written as text, can only be meant to be cut."""
        return name not in self.declared and name not in self.uncut and self.most is None

    def expected(self, name: str) -> tuple[str, ...] | None:
        """Return what a column with declared levels is to hold: their labels or, as codes, "0" to "r-1"."""
        declared = self.declared.get(name)
        return code_texts(len(declared)) if declared is not None and self.codes else declared


def missing_policy(given: Any, names: Collection[str]) -> tuple[Policy, dict[str, Policy]]:
    """Understand the option `missing` for a table with these columns: for every column, and for single ones.

    >>> missing_policy({"*": "keep", "income": "level"}, ["income", "age"]), missing_policy("drop", ["age"])
    (('keep', {'income': 'level'}), ('drop', {}))
    """
    ways = given if isinstance(given, Mapping) else {EVERY_COLUMN: given}
    for name, way in ways.items():
        if not isinstance(way, str) or way not in POLICIES:
            where = f" of {name!r}" if isinstance(given, Mapping) else ""
            also = "" if where else ", or a mapping from columns to these"
            raise ParameterError(f'missing{where} must be "error", "drop", "level" or "keep"{also}, got {brief(way)}')
    unknown = [str(name) for name in ways if name != EVERY_COLUMN and str(name) not in names]
    if unknown:
        raise unknown_names(unknown, list(names), "missing")
    single = {str(name): way for name, way in ways.items() if name != EVERY_COLUMN}
    return ways.get(EVERY_COLUMN, "error"), single


def missing_option(values: Any, names: Collection[str] | None = None) -> list[str] | dict[str, list[str]]:
    """Check the option `missing_values`, for a table with these columns if they are known; return it with texts.

    >>> missing_option([-9, "refused"], ["smoke", "age"]), missing_option({"age": 99}, ["smoke", "age"])
    (['-9', 'refused'], {'age': ['99']})
    """
    if not isinstance(values, Mapping):
        return _missing_list(values)
    if names is not None:
        unknown = [str(name) for name in values if str(name) not in names and name != EVERY_COLUMN]
        if unknown:
            raise unknown_names(unknown, list(names), "missing_values")
    return {str(name): _missing_list(each, str(name)) for name, each in values.items()}


def _missing_list(values: Any, name: str = "") -> list[str]:
    """Return the texts of values that mean "missing"; nulls are missing anyway."""
    what = "missing_values" + (f" of {name!r}" if name else "")
    listed = [values] if isinstance(values, str) or (name and isinstance(values, int | float | np.number)) else values
    if isinstance(listed, bytes | bytearray | Mapping) or not is_iterable(listed) or hasattr(listed, "columns"):
        also = "" if name else ", or a mapping from columns to such"
        raise ParameterError(f"{what} must be a text or a list of values{also}, got {values!r:.80}")
    listed = list(listed)
    for value in listed:
        if not isinstance(value, str) and (isinstance(value, bytes | bytearray) or is_iterable(value)):
            raise ParameterError(f"{what} must be single values, got {value!r:.80} among them")
    return [text_of(value) for value in listed if not is_missing(value)]


def texts_for_missing(values: Any, names: Collection[str]) -> MissingTexts:
    """Understand the option `missing_values` for a table with these columns: by column, None standing for every one."""
    given = missing_option(values, names)
    if not isinstance(given, dict):
        return {None: frozenset(given)}
    every = None if EVERY_COLUMN in names else EVERY_COLUMN
    return {None if name == every else name: frozenset(texts) for name, texts in given.items()}


def code_texts(size: int) -> tuple[str, ...]:
    """Return the texts of codes from 0."""
    return tuple(str(code) for code in range(size))


def meanings_of(column: Column, options: ReadOptions, declared: Sequence[str] | None) -> list[str | None]:
    """Return what every position stands for: one of the declared texts, another text, or None for missing."""
    if declared is None and column.declared is not None:
        return [None if label is None or no_level(label, column.name, options) else label for label in column.labels]
    missing = options.missing_texts(column.name)
    match = Matcher(declared, truths=options.truths) if declared is not None else None
    meanings: list[str | None] = []
    for label in column.labels:
        if label is None:
            meanings.append(None)
            continue
        text = label.strip()
        if match is not None and declared is not None:
            exact = match(label)
            code = match(text) if exact is None else exact
            if code is not None:
                meanings.append(declared[code])
                continue
        meanings.append(None if not text or text in missing or spelling(text) in missing else text)
    return meanings if declared is not None or column.kind == "number" else tidied(meanings)


def codes_by_position(column: Column, levels: Sequence[str]) -> NDArray[np.intp]:
    """Return the code of the level that every position stands for; `MISSING_CODE`, or `NO_LEVEL` for anything else."""
    known: dict[str | None, int] = {None: MISSING_CODE, **{label: code for code, label in enumerate(levels)}}
    return np.array([known.get(text, NO_LEVEL) for text in meanings_of(column, ReadOptions(), levels)], dtype=np.intp)


def missing_positions(column: Column, options: ReadOptions) -> NDArray[np.bool_]:
    """Tell which positions of a column mean "missing", whatever becomes of it."""
    undeclared = column.name not in options.declared and column.declared is None
    if column.kind == "nested":
        return np.zeros(column.n_positions, dtype=bool)
    # The text of numbers in great variety is not made for this.
    if options.cuts(column) or (undeclared and column.values is not None):
        numbers = column.numbers(options.missing_texts(column.name))
        if numbers is not None:
            return np.isnan(numbers)
    labels = meanings_of(column, options, options.expected(column.name))
    return np.array([label is None for label in labels], dtype=bool)


def no_level(label: str, name: str, options: ReadOptions) -> bool:
    """Tell whether a category that the type of a column declares is no level all the same."""
    return not label.strip() or label in options.missing_values_of(name)
