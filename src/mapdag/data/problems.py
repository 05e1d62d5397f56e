"""Collecting what is wrong with the columns of a table, and saying it all at once with the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.errors import DataError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN_COLUMNS = 10
_SHOWN_ROWS = 5


def listed(items: Iterable[object], limit: int = _SHOWN_COLUMNS) -> str:
    """Write a list for people, the first few and then how many more.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    texts = [repr(item) for item in items]
    more = f" and {len(texts) - limit:,} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more


def rows_text(mask: NDArray[np.bool_], rows: NDArray[np.intp] | None = None) -> str:
    """Say how many rows are marked and which come first, counted from 1; `rows` are their places in the table.

    >>> rows_text(np.array([False, True, True]))
    '2 of 3 rows (rows 2, 3)'
    """
    where = np.flatnonzero(mask)
    first = where[:_SHOWN_ROWS] if rows is None else rows[where[:_SHOWN_ROWS]]
    shown = ", ".join(f"{row + 1:,}" for row in first)
    dots = ", ..." if len(where) > _SHOWN_ROWS else ""
    word = "row" if len(where) == 1 else "rows"
    return f"{len(where):,} of {len(mask):,} rows ({word} {shown}{dots})"


def unknown_names(unknown: Sequence[str], known: Sequence[str], what: str) -> DataError:
    """Return the error for names that are not columns, with the closest ones."""
    parts = []
    for name in unknown[:_SHOWN_COLUMNS]:
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        folded = [other for other in known if other.casefold().strip() == name.casefold().strip()]
        guesses = list(dict.fromkeys(folded + close))
        parts.append(f"{name!r}" + (f" (did you mean {' or '.join(map(repr, guesses))}?)" if guesses else ""))
    more = f" and {len(unknown) - _SHOWN_COLUMNS:,} more" if len(unknown) > _SHOWN_COLUMNS else ""
    return DataError(f"{what}: no column {', '.join(parts)}{more}; the columns are {listed(known)}")


class Problem(NamedTuple):
    """One thing wrong with one column."""

    column: str
    what: str  # with figures
    ways: tuple[Setting, ...]  # the options of `read` that would settle it, the most likely first

    def told(self) -> list[str | Setting]:
        """Return what is wrong and how to get on, as parts of a message."""
        first, *others = self.ways
        more = [part for way in others for part in (" or ", way)]
        return [f"{self.column!r} {self.what}: pass ", first, *more]


class Problems:
    """The problems found so far, in column order."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def add(self, column: str, what: str, *ways: Setting) -> None:
        """Note one more; if no other way is given, the column can be left out."""
        self._found.append(Problem(column, what, ways or (Setting("drop", [column]),)))

    def raise_any(self) -> None:
        """Raise one DataError about all of them, if there are any."""
        if not self._found:
            return
        if len(self._found) == 1:
            raise DataError("column ", *self._found[0].told())
        columns = list(dict.fromkeys(problem.column for problem in self._found))
        shown = set(columns[:_SHOWN_COLUMNS])
        lines = [part for problem in self._found if problem.column in shown for part in ("\n  ", *problem.told())]
        if len(columns) > _SHOWN_COLUMNS:
            lines.append(f"\n  ... and {len(columns) - _SHOWN_COLUMNS:,} more columns")
        many = f"{len(columns):,} columns cannot be used as they are:"
        head = many if len(columns) > 1 else f"column {columns[0]!r} cannot be used as it is:"
        raise DataError(head, *lines, "\nAll at once: ", self._all_at_once())

    def _all_at_once(self) -> tuple[Setting, ...]:
        """Return the settings that settle every problem by its first way out."""
        firsts = [(problem.column, problem.ways[0]) for problem in self._found]
        dropped = {column for column, way in firsts if way.option == "drop"}
        values: dict[str, list[Any]] = {}
        for column, way in firsts:
            if way.option == "drop" or column not in dropped:
                values.setdefault(way.option, []).append(way.value)
        return tuple(Setting(option, _together(given)) for option, given in values.items())


def _together(values: Sequence[Any]) -> Any:
    """Return one value that does what all of them do: lists and mappings are joined, else it is the largest."""
    if isinstance(values[0], list):
        return list(dict.fromkeys(item for value in values for item in value))
    if isinstance(values[0], dict):
        return {key: item for value in values for key, item in value.items()}
    return max(values)
