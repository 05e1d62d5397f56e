"""What the values of a column mean: its levels, which of its labels are missing, and whether it can be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import TEXT, Coding
from mapdag.data.judgement import RARE, Judgement, judge
from mapdag.data.labels import MAX_LEVELS, Matcher, half_character, ordered, parse_numbers
from mapdag.data.meanings import EVERY_COLUMN, MISSING_LEVELS, UNSEEN, code_texts, meanings_of, no_level
from mapdag.data.problems import Problems, listed, quoted
from mapdag.errors import Setting
from mapdag.notices import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.meanings import Policy, ReadOptions

#: Values that often mean "not known" where they are not declared.
_NO_ANSWER = re.compile(
    r"-|-?9{1,4}|-[1-9]|none|n/?a\.?|unknown|missing|refused|no answer|don'?t know|dk", re.IGNORECASE
)

_NO_ROOM = f"has {MAX_LEVELS:,} levels, which leaves no code for missing values"

#: Where levels are declared that come from another table or from a network.
_WHERE = "declare it where these levels come from: read that table, and learn, with "


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
    times: NDArray[np.int64] | None = None  # how many rows of the table each one stands for, unless it is one
    whole: bool = False  # whether the table says that these are whole numbers


def interpret(column: Column, options: ReadOptions, problems: Problems) -> Coded | Continuous | None:
    """Find out what one column means, or note what is wrong with it and return None."""
    declared = options.declared.get(column.name)
    if options.cuts(column) and column.kind != "nested":
        return _numbers_of(column, options, problems)
    if column.kind == "nested" or (declared is None and column.declared is None and column.name not in options.uncut):
        found = judge(column, options)
        if found.kind == "numeric" and options.cut_continuous:
            return _numbers_of(column, options, problems)
        if not _accepted(column, found, options, problems):
            return None
    texts = options.expected(column.name)
    labels = meanings_of(column, options, texts)
    levels = texts or _own_levels(column, options, labels)
    if _refused(column, levels, options, problems):
        return None
    coded = encode(column, labels, levels, options, problems)
    if coded is None or not _missing_dealt_with(coded, column, options, problems):
        return None
    if len(coded.levels) > MAX_LEVELS:
        problems.add(column.name, _NO_ROOM)
        return None
    if len(coded.levels) < 2:
        left = "" if column.rows is None else " in the rows that are left"
        what = f"is constant{left} (every value is {coded.levels[0]!r}) and declares no second level"
        second = Setting("levels", {column.name: [coded.levels[0], "..."]})
        problems.add(column.name, what, Setting("drop", [column.name]), second, topic="are constant")
        return None
    return coded


def _numbers_of(column: Column, options: ReadOptions, problems: Problems) -> Continuous | None:
    """Return a column that is to be cut as numbers, or note why it cannot be."""
    numbers = column.numbers(options.missing_texts(column.name))
    wrong = None
    if numbers is None:
        texts = [text for text in meanings_of(column, options, None) if text is not None]
        wrong = next((text for text in texts if parse_numbers([text]) is None), None)
    if wrong:
        problems.add(column.name, f"cannot be discretized: {wrong!r} is not a number")
    elif numbers is None or np.isnan(numbers).all():
        problems.add(column.name, f"holds no values: all {column.n_rows:,} rows are missing")
    elif np.isinf(numbers).any():
        where = column.told(np.isinf(numbers)[column.index])
        problems.add(column.name, f"cannot be discretized: infinite in {where}")
    elif options.missing_of(column.name) != "error" or not _note_missing(
        column, np.isnan(numbers)[column.index], options, problems
    ):
        whole = column.coding.type == "integer"
        return Continuous(column.name, numbers, column.index, column.rows, column.times, whole)
    return None


#: What many columns of a kind have in common, for messages.
_TOPICS = {"numeric": "look continuous", "date": "hold dates or times", "text": "are no categories"}


def _accepted(column: Column, found: Judgement, options: ReadOptions, problems: Problems) -> bool:
    """Note what a column seems to be, if not a category; tell whether it may be read as one all the same."""
    if found.kind == "category" and found.sure:
        return True
    name, leave_out = column.name, Setting("drop", [column.name])
    if found.kind == "category" and found.many:
        ways = [Setting("lump", {name: RARE}), Setting("max_levels", found.many), leave_out]
        problems.add(name, found.why, *ways, topic="have many levels")
        return False
    if found.kind == "numeric":
        ways = [cut_setting(options, name)]
        if found.codes:
            ways.append(cut_setting(options, name, way="none"))
    else:
        ways = [leave_out]
        if found.odd:
            ways.append(_as_missing(options, name, found.odd))
        if found.many:
            ways.append(Setting("max_levels", found.many))
        if found.numeric and found.kind == "identifier":
            ways.append(cut_setting(options, name, way="quantile"))
    if not found.sure:
        problems.doubt(name, found.why, *ways)
        return True
    problems.add(name, found.why, *ways, topic=_TOPICS.get(found.kind, "look like identifiers"))
    if found.kind == "numeric" and options.missing_of(name) == "error":
        numbers = column.numbers(options.missing_texts(column.name))
        if numbers is not None:
            _note_missing(column, np.isnan(numbers)[column.index], options, problems)
    return False


def _as_missing(options: ReadOptions, name: str, labels: Sequence[str]) -> Setting:
    """Return what to pass to have some labels of a column mean "missing", on top of what was passed already."""
    before = {EVERY_COLUMN if key is None else key: sorted(each) for key, each in options.missing_values.items()}
    return Setting("missing_values", {**{key: each for key, each in before.items() if each}, name: list(labels)})


def cut_setting(options: ReadOptions, name: str, way: str | None = None) -> Setting:
    """Return what to pass to have a column cut that looks continuous, on top of what was passed already.

    By default that is the one option that cuts all such columns; with a `way`, it is about this column alone.
    """
    asked = options.asked if isinstance(options.asked, dict) else {}
    if way is not None:
        default = {"*": options.asked} if isinstance(options.asked, str) else {}
        return Setting("discretize", {**default, **asked, name: way})
    return Setting("discretize", {**asked, "*": "quantile"} if asked else "quantile")


def _refused(column: Column, levels: Sequence[str], options: ReadOptions, problems: Problems) -> bool:
    """Note more levels than there may be, or one that no file can hold; tell whether that is so."""
    half = half_character(levels)
    if half is not None:
        problems.add(
            column.name, f"has the value {half!r}: half of a pair of characters", Setting("drop", [column.name])
        )
    elif column.name not in options.declared and len(levels) > options.max_levels:
        _note_many(column, levels, options, problems)
    else:
        return False
    return True


def _note_many(column: Column, levels: Sequence[str], options: ReadOptions, problems: Problems) -> None:
    """Note more levels than are likely, which the column's type declares or the user insists on."""
    verb = "has" if column.declared is None else "declares"
    what = f"{verb} {len(levels):,} levels, like an identifier (max_levels is {options.max_levels:,})"
    ways = [Setting("drop", [column.name])]
    if len(levels) <= MAX_LEVELS:
        ways.append(Setting("max_levels", len(levels)))
    problems.add(column.name, what, *ways, topic="look like identifiers")


def _own_levels(column: Column, options: ReadOptions, labels: Sequence[str | None]) -> tuple[str, ...]:
    if column.declared is not None:
        return tuple(label for label in dict.fromkeys(column.declared) if not no_level(label, column.name, options))
    return tuple(ordered(label for label in labels if label is not None))


def _as_they_come(index: NDArray[Any]) -> list[int]:
    positions, first = np.unique(index, return_index=True)
    return [int(position) for position in positions[np.argsort(first)]]


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
    if options.lenient and column.name in options.declared and not options.codes:
        return _with_unseen(column, codes, declared, unknown)
    # In the order of the rows: positions depend on what else polars has read.
    values = list(dict.fromkeys(labels[position] for position in _as_they_come(index[unknown])))
    more = f" ({len(values):,} such values: {listed(values, 5)})" if len(values) > 1 else ""
    first = labels[int(index[unknown][0])]
    wanted = f"the codes go from 0 to {size - 1}, for the levels" if options.codes else "the declared levels are"
    figures = f"{column.told(unknown)}{more}"
    what = f"has the value {quoted(first)} in {figures}, but {wanted} {listed(declared)}"
    positions, added = Matcher(code_texts(size)), ["..."] if options.codes else values
    declaration = Setting("levels", {column.name: [*declared, *added]})
    ways = [] if options.closed else [declaration]
    if not options.codes and all(positions(str(value)) is not None for value in values):
        # Where the user left it open, another column is known not to hold codes (see `find_codes`).
        ways.insert(len(ways) if options.codes is None else 0, Setting("codes", True))
    if all(_NO_ANSWER.fullmatch(str(value)) for value in values):
        ways.append(Setting("missing_values", values))
    if ways:
        problems.add(column.name, what, *ways)
    else:  # the levels are not for this table to change
        problems.add(column.name, what, declaration, where=_WHERE)
    return None


def _with_unseen(column: Column, codes: NDArray[Any], declared: tuple[str, ...], unknown: NDArray[np.bool_]) -> Coded:
    """Give values that are no level one of their own, after the others, and say so."""
    values = list(dict.fromkeys(column.labels[position] for position in _as_they_come(column.index[unknown])))
    warn(
        f"column {quoted(column.name)} has {listed(values, 5)} in {column.told(unknown)}, not among its levels "
        f"{listed(declared, 5)}: taken for not known; pass ",
        *(Setting("unseen", "error"), " to refuse such rows"),
    )
    size = len(declared)
    return Coded(column.name, np.where(codes < size, codes, 2 * size + 1 - codes), (*declared, UNSEEN), column.coding)


def _missing_dealt_with(coded: Coded, column: Column, options: ReadOptions, problems: Problems) -> bool:
    """Deal with missing values, if there are any: an added level, a problem, or nothing (they are kept, or dropped)."""
    size, policy = len(coded.levels), options.missing_of(coded.name)
    if not len(coded.codes) or int(coded.codes.max()) < size:
        return True
    gone = coded.codes == size
    if gone.all() and not options.gaps and not (policy == "keep" and size >= 2):  # declared, hence meant
        problems.add(coded.name, f"holds no values: all {column.n_rows:,} rows are missing", topic="hold no values")
        return False
    if policy == "keep" and size == MAX_LEVELS:
        problems.add(coded.name, _NO_ROOM)
        return False
    if policy == "error" or (policy == "level" and not add_missing(coded, options)):
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
            coded.codes = np.where(coded.codes == len(coded.levels), declared.index(label), coded.codes)
            return True
    if declared is not None and options.closed and not options.gaps:
        return False
    coded.levels = (*coded.levels, "<missing>" if "NA" in coded.levels else "NA")
    return True


def _policy_setting(options: ReadOptions, name: str, policy: Policy) -> Setting:
    """Return what to pass to have missing values dealt with, on top of what was passed already."""
    if not options.missing_by:
        return Setting("missing", policy)
    return Setting("missing", {**options.missing_by, name if name in options.missing_by else "*": policy})


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
    if column.times is None:  # else it is not known which columns lack values in the same rows
        problems.note_missing(gone)
    found = [column.labels[position] for position in np.unique(column.index[gone]).tolist()]
    written = [label for label in found if label is not None and label.strip()]
    spelling = f" (written {listed(written, 5)})" if written else ""
    policies: tuple[Policy, ...] = (
        ("drop", "keep") if options.missing_of(column.name) == "level" else ("drop", "level", "keep")
    )
    ways = [_policy_setting(options, column.name, policy) for policy in policies]
    if levels is not None and written and not options.codes:  # perhaps it is no missing value at all
        ways.append(Setting("levels", {column.name: [*levels, *written]}))
    what = f"has missing values{spelling} in {column.told(gone)}"
    problems.add(column.name, what, *ways, topic="have missing values")
    return True
