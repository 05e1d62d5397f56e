"""Collecting what is wrong with the columns of a table, and saying it all at once with the way out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mapdag.errors import DataError, MapdagWarning, Setting
from mapdag.wording import did_you_mean, named, near, shortened

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN_COLUMNS = 10
_SHOWN_ROWS = 5
_SHOWN_LETTERS = 60
_GIVE = "pass "
_COMPLETE = 2 / 3  # share of the rows that must be complete for the others to be dropped
_TOGETHER = 3  # more columns than this with the same problem are told of in one line
_SCREEN = 800  # letters of options beyond which nobody reads them
_SINGLE = ("levels", "max_levels")  # options whose value differs from column to column


def quoted(item: object) -> str:
    """Write a name or a label for people, who do not want a whole page of it.

    >>> quoted("Braund, Mr. Owen Harris"), len(quoted("x" * 10_000))
    ("'Braund, Mr. Owen Harris'", 60)
    """
    return shortened(repr(item), _SHOWN_LETTERS)


def listed(items: Iterable[object], limit: int = _SHOWN_COLUMNS) -> str:
    """Write a list for people, the first few and then how many more.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    return named([quoted(item) for item in items], limit)


def rows_text(
    mask: NDArray[np.bool_], rows: NDArray[np.integer[Any]] | None = None, times: NDArray[np.int64] | None = None
) -> str:
    """Say how many rows are marked and which come first, counted from 1.

    `rows` are their places in the table, `times` how many rows of it each stands for, of which it is the first.

    >>> rows_text(np.array([False, True, True]))
    '2 of 3 rows (rows 2, 3)'
    """
    where = np.flatnonzero(mask)
    count, total = (len(where), len(mask)) if times is None else (int(times[where].sum()), int(times.sum()))
    places = where if rows is None else rows[where]
    first = np.sort(places)[:_SHOWN_ROWS]
    shown = ", ".join(f"{row + 1:,}" for row in first)
    dots = ", ..." if count > len(first) else ""
    word = "row" if count == 1 else "rows"
    where_from = "" if times is not None and rows is None else f" ({word} {shown}{dots})"
    return f"{count:,} of {total:,} rows{where_from}"


def unknown_names(unknown: Sequence[str], known: Sequence[str], what: str) -> DataError:
    """Return the error for names that are not columns, with the closest ones."""
    parts = []
    for name in unknown[:_SHOWN_COLUMNS]:
        close = near(name, known, 3)
        folded = [other for other in known if other.casefold().strip() == name.casefold().strip()]
        guesses = list(dict.fromkeys(folded + close))
        parts.append(f"{name!r}" + (f"{did_you_mean(guesses, ' (')})" if guesses else ""))
    more = f" and {len(unknown) - _SHOWN_COLUMNS:,} more" if len(unknown) > _SHOWN_COLUMNS else ""
    return DataError(f"{what}: no column {', '.join(parts)}{more}; the columns are {listed(known)}")


def differing(names: Sequence[str], found: Sequence[str]) -> str:
    """Say which columns a part of a table lacks, and which it has besides; nothing if it has the same.

    >>> differing(["a", "b"], ["b", "c"]), differing(["a", "b"], ["b", "a"])
    ("lacks 'a' and has 'c' besides", '')
    """
    lacking, extra = [name for name in names if name not in found], [name for name in found if name not in names]
    told = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"has {listed(extra)} besides"] * bool(extra)
    return " and ".join(told)


def way_with_missing(gone: NDArray[np.bool_], columns: Iterable[NDArray[Any]]) -> Literal["drop", "level"]:
    """Say what to do about rows that lack a value: drop them, unless they are many or take a level with them.

    A column that is constant without them tells where values are missing, as the wages of those without work are.

    Parameters
    ----------
    gone : array of bool
        The rows.
    columns : iterable of arrays
        The codes of other columns, by row.

    >>> gone = np.arange(8) > 5
    >>> way_with_missing(gone, []), way_with_missing(gone, [gone * 1])
    ('drop', 'level')
    """
    kept = ~gone
    if kept.sum() < _COMPLETE * len(kept):
        return "level"
    return "level" if any(np.ptp(codes[kept]) == 0 < np.ptp(codes) for codes in columns) else "drop"


def _deals(way: Setting, column: str, policy: str) -> bool:
    """Tell whether an option deals with the missing values of a column in this way."""
    by_column = way.value if isinstance(way.value, dict) else {"*": way.value}
    return way.option == "missing" and by_column.get(column, by_column.get("*")) == policy


def _is_short(setting: Setting) -> bool:
    """Tell whether an option is written whole, and somebody reads it."""
    return str(setting) == setting.code() and len(setting.code()) <= _SCREEN


class NoRows(DataError):  # noqa: N818 - what is wrong
    """A table that has columns, but no rows: an error, unless it is one of several files.

    Attributes
    ----------
    called : str
    names : tuple of str
        Of its columns.
    """

    def __init__(self, called: str, names: Sequence[str], what: str = "has no rows") -> None:
        super().__init__(f"{called} {what}")
        self.called, self.names, self.what = called, tuple(names), what

    def __reduce__(self) -> tuple[Any, ...]:
        return NoRows, (self.called, self.names, self.what)


class Problem(NamedTuple):
    """One thing wrong with one column."""

    column: str
    what: str  # with figures
    ways: tuple[Setting, ...]  # the options of `read` that would settle it, the most likely first
    topic: str = ""  # what several columns have in common, if they can be told of together
    where: str = _GIVE  # what to do with the first of the ways

    def told(self) -> list[str | Setting]:
        """Return what is wrong and how to get on, as parts of a message."""
        first, *others = self.ways
        more = [part for way in others for part in (" or ", way)]
        return [f"{quoted(self.column)} {self.what}: {self.where}", first, *more]


def _told_together(problems: Sequence[Problem]) -> list[str | Setting]:
    """Tell of columns that have the same problem, with one way out for all of them."""
    first = problems[0]
    names = listed([problem.column for problem in problems])
    example = f"{quoted(first.column)} {first.what}"
    told = f"{len(problems):,} columns {first.topic}: {names}; for example, {example}: {first.where}"
    options = [way.option for way in first.ways]
    shared: list[Setting] = []
    for position, option in enumerate(options):
        # An option that is about single columns is a way out for all of them only if each of them has it.
        found = [problem.ways[position] for problem in problems if len(problem.ways) > position]
        if len(found) == len(problems) and all(way.option == option for way in found) and option not in _SINGLE:
            shared.append(Setting(option, _together([way.value for way in found])))
    more = [part for way in shared[1:] if len(str(way)) < _SCREEN // 4 for part in (" or ", way)]
    return [told, shared[0] if shared else first.ways[0], *more]


class Problems:
    """The problems found so far, in column order; and doubts, which keep nothing from being read."""

    def __init__(self, dropped: Sequence[str] = ()) -> None:
        self._dropped = dropped  # what is left out already: a hint that forgets it would bring it back
        self._gone: NDArray[np.bool_] | None = None
        self._found: list[Problem] = []
        self._doubts: list[Problem] = []

    def add(self, column: str, what: str, *ways: Setting, topic: str = "", where: str = _GIVE) -> None:
        """Note one more; if no other way is given, the column can be left out."""
        self._found.append(Problem(column, what, ways or (Setting("drop", [column]),), topic, where))

    def doubt(self, column: str, what: str, *ways: Setting) -> None:
        """Note what may not be meant; the first of the ways changes it, the others confirm it."""
        self._doubts.append(Problem(column, what, ways))

    def note_missing(self, gone: NDArray[np.bool_]) -> None:
        """Note which rows lack the value of a column."""
        self._gone = gone if self._gone is None else self._gone | gone

    def settle_missing(self, columns: Iterable[NDArray[Any]]) -> None:
        """Find out which way with missing values is the best, given the codes of columns that have none."""
        if self._gone is not None:
            best = way_with_missing(self._gone, columns)
            self._found = [
                problem._replace(
                    ways=tuple(sorted(problem.ways, key=lambda way: not _deals(way, problem.column, best)))
                )
                for problem in self._found
            ]

    def _kept_up(self, part: Any) -> Any:
        """Add what is left out already to a way out that leaves out more."""
        if not isinstance(part, Setting) or part.option != "drop":
            return part
        return Setting("drop", list(dict.fromkeys([*self._dropped, *part.value])))

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that settle every problem by its first way out."""
        firsts = [(problem.column, problem.ways[0]) for problem in self._found if problem.where == _GIVE]
        dropped = {column for column, way in firsts if way.option == "drop"}
        values: dict[str, list[Any]] = {}
        for column, way in firsts:
            if way.option == "drop" or column not in dropped:
                values.setdefault(way.option, []).append(way.value)
        return tuple(self._kept_up(Setting(option, _together(given))) for option, given in values.items())

    def raise_any(self, names: Collection[str] = ()) -> None:
        """Raise one DataError about all of them, if there are any; the columns must not all be left out."""
        if self._found:
            settings = self.settings
            gone = {name for setting in settings if setting.option == "drop" for name in setting.value}
            if len(names) > 1 and gone.issuperset(names):
                settings = ()
            error = DataError(*self._message(settings))
            error.remedy = settings
            raise error

    def _message(self, settings: tuple[Setting, ...]) -> list[Any]:
        if len(self._found) == 1:
            return ["column ", *map(self._kept_up, self._found[0].told())]
        lines = self._lines()
        last: list[Any] = ["\nAll at once: ", settings]
        if not settings:
            last = ["\nNo column would be left"]
        elif not all(map(_is_short, settings)):
            last = ["\nAll at once: mapdag.check writes the line to paste"]
        if len(lines) == 1:
            return [*map(self._kept_up, lines[0]), *(last if len(last) == 1 else [])]
        columns = list(dict.fromkeys(problem.column for problem in self._found))
        many = f"{len(columns):,} columns cannot be used as they are:"
        told: list[Any] = [many if len(columns) > 1 else f"column {quoted(columns[0])} cannot be used as it is:"]
        told += [part for line in lines[:_SHOWN_COLUMNS] for part in ("\n  ", *line)]
        if len(lines) > _SHOWN_COLUMNS:
            told.append(f"\n  ... and {len(lines) - _SHOWN_COLUMNS:,} more")
        return [*told, *last]

    def _lines(self) -> list[list[str | Setting]]:
        """Tell of every problem; of what many columns share, once."""
        topics: dict[str, list[Problem]] = {}
        for problem in self._found:
            topics.setdefault(problem.topic, []).append(problem)
        lines = []
        for problem in self._found:
            alike = topics[problem.topic]
            if not problem.topic or len(alike) <= _TOGETHER:
                lines.append(problem.told())
            elif problem is alike[0]:
                lines.append(_told_together(alike))
        return lines

    def warning(self) -> MapdagWarning | None:
        """Return one warning about all doubts, if there are any."""
        if not self._doubts:
            return None
        first, *others = self._doubts
        names = f" (so were {listed([problem.column for problem in others])})" if others else ""
        change, *confirm = map(self._kept_up, first.ways)
        sure = [part for way in confirm[:1] for part in (", or ", way, " if that is right")]
        told = f"column {quoted(first.column)} {first.what}, but was read as categories{names}: pass "
        return MapdagWarning(told, change, " to change that", *sure)


def _together(values: Sequence[Any]) -> Any:
    """Return one value that does what all of them do: lists and mappings are joined, else it is the largest."""
    if isinstance(values[0], list):
        return list(dict.fromkeys(item for value in values for item in value))
    if isinstance(values[0], dict):
        return {key: item for value in values for key, item in value.items()}
    return max(values)
