"""Collecting what is wrong with the columns of a table, and saying it all at once with the way out."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mapdag.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Problem", "Problems", "Way", "listed", "rows_text", "unknown_names"]

#: An option of `read`, and what it gets for the column; `drop` gets the name alone.
Way: TypeAlias = "tuple[str, Any]"

_SHOWN_COLUMNS = 10
_SHOWN_ROWS = 5
_SHOWN_ITEMS = 25


def listed(items: Iterable[object], limit: int = _SHOWN_COLUMNS) -> str:
    """Write a list for people, the first few and then how many more.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    texts = [repr(item) for item in items]
    more = len(texts) - limit
    if more > 0:
        return f"{', '.join(texts[:limit])} and {more:,} more"
    return ", ".join(texts)


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


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one column.

    Parameters
    ----------
    column : str
        Its name.
    what : str
        What is wrong, with figures.
    ways : tuple of Way
        The options of `read` that would settle it, the most likely first.
    """

    column: str
    what: str
    ways: tuple[Way, ...] = (("drop", None),)

    def __str__(self) -> str:
        """Say what is wrong and how to get on."""
        ways = [_option(option, {self.column: value}) for option, value in self.ways]
        return f"{self.column!r} {self.what}: pass {' or '.join(ways)}"


@dataclass
class Problems:
    """The problems found so far, in column order."""

    found: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        """Note one more."""
        self.found.append(problem)

    def raise_any(self) -> None:
        """Raise one DataError about all of them, if there are any."""
        if not self.found:
            return
        if len(self.found) == 1:
            raise DataError(f"column {self.found[0]}")
        columns = list(dict.fromkeys(problem.column for problem in self.found))
        shown = set(columns[:_SHOWN_COLUMNS])
        lines = [f"  {problem}" for problem in self.found if problem.column in shown]
        if len(columns) > _SHOWN_COLUMNS:
            lines.append(f"  ... and {len(columns) - _SHOWN_COLUMNS:,} more columns")
        count = f"{len(columns):,} columns" if len(columns) > 1 else f"column {columns[0]!r}"
        head = f"{count} cannot be used as they are:" if len(columns) > 1 else f"{count} cannot be used as it is:"
        raise DataError("\n".join([head, *lines, f"All at once: {self._all_at_once()}"]))

    def _all_at_once(self) -> str:
        """Write the options that settle every problem by its first way out."""
        options: dict[str, dict[str, Any]] = {}
        dropped = {problem.column for problem in self.found if problem.ways[0][0] == "drop"}
        for problem in self.found:
            option, value = problem.ways[0]
            if option == "drop" or problem.column not in dropped:
                options.setdefault(option, {})[problem.column] = value
        return ", ".join(_option(option, values) for option, values in options.items())


def _option(option: str, values: Mapping[str, Any]) -> str:
    """Write one option of `read` as a user would type it; `values` holds what it gets for each column."""
    if option == "drop":
        return f"drop={_quoted(list(values))}"
    if option == "missing_values":
        return f"missing_values={_quoted(list(dict.fromkeys(text for texts in values.values() for text in texts)))}"
    if option == "codes":
        return "codes=True"
    if option in {"missing", "max_levels"}:
        return f"{option}={_quoted(max(values.values()))}"
    return f"{option}={_quoted(values)}"


def _quoted(value: Any) -> str:
    """Write a value in Python's notation with double quotes; long lists are cut short."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(key)}: {_quoted(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        items = [*value[:_SHOWN_ITEMS], "..."] if len(value) > _SHOWN_ITEMS else value
        return "[" + ", ".join("..." if item == "..." else _quoted(item) for item in items) + "]"
    return json.dumps(value, ensure_ascii=False)
