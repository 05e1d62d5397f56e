"""What only several columns together tell: counts of an aggregated table, copies, what is missing with what."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.gaps import is_monotone, missing_together
from mapdag.data.judgement import judge
from mapdag.data.labels import are_integral
from mapdag.data.problems import listed
from mapdag.data.rows import distinct_rows
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions

_MANY_ROWS = 0.1  # share of the rows, with gaps, that would be missed
_COUNT_NAMES = re.compile(
    r"(freq|frequency|frequencies|freqs|n|count|counts|cnt|n_?obs|0)\d*|n[_. ]?(rows|obs|cases)|(count|freq)[_. ].*"
    r"|.*[_. ](count|freq)|(?P<vague>(num|number|size|obs|observed|cases|total|value|values|weight|weights)\d*)",
    re.IGNORECASE,
)
_AGGREGATED = 10_000  # rows up to which a table may be one of counts
_LEAST_ROWS = 4
_LEAST_COUNT = 3  # that some row must have: 0 and 1 are levels
_FILLED = 0.25  # share of the cells that have a row, unless the counts are in order
_WELL_FILLED = 0.5  # the same where the name says little
_RECURRING = 4  # rows for each value of a number that is part of a design

_COPY = 0.01  # rows in which a near-copy differs, at most
_LEAST_DIFFERENT = 5  # rows that must have another value than most, or everything says the same of it
_PARALLEL = 0.999  # correlation of numbers that say the same
_PAIRED = 200  # columns that are compared with each other
_SAMPLE = 20_000  # rows for that
_REPEATS = 5  # rows for each value of a column, if it is to say anything that another one has to follow


def may_have_counts(names: Sequence[str], n_rows: int) -> bool:
    """Tell whether it is worth looking for a column of counts."""
    return _LEAST_ROWS <= n_rows <= _AGGREGATED and any(_COUNT_NAMES.fullmatch(name) for name in names)


def count_column(columns: Sequence[Column], options: ReadOptions) -> str | None:
    """Find the column that counts how often the combination of the others occurred, if the table is such a table."""
    named = [column for column in columns if _COUNT_NAMES.fullmatch(column.name) and _holds_counts(column, options)]
    # What `groupby(...).size().reset_index()` makes is called 0, and last; else 0 is one of several categories.
    named = [column for column in named if column.name != "0" or column is columns[-1]]
    named.sort(key=lambda column: not column.name[-1:].isdigit())
    for column in reversed(named):  # the last, as a rule; but "count" rather than "count2011"
        others = [other for other in columns if other is not column and not _COUNT_NAMES.fullmatch(other.name)]
        others = [other for other in others if not _is_judged(other, options, "index")]
        if others and all(_is_factor(other, options) for other in others) and _is_design(column, others):
            return column.name
    return None


def _holds_counts(column: Column, options: ReadOptions) -> bool:
    if column.declared is not None or column.name in options.declared or column.name in options.cut | options.uncut:
        return False
    numbers = column.numbers(options.missing_texts(column.name))
    if numbers is None:
        return False
    by_row = numbers[column.index]
    return bool(np.all(by_row >= 0) and np.ptp(by_row) > 0 and by_row.max() >= _LEAST_COUNT) and are_integral(by_row)


def _is_judged(column: Column, options: ReadOptions, kind: str) -> bool:
    if column.declared is not None or column.name in options.declared:
        return kind == "category"
    return judge(column, options).kind == kind


def _is_factor(column: Column, options: ReadOptions) -> bool:
    """Tell whether a column can be part of a design: a category, or numbers that recur."""
    # Every combination has one row, however often it occurred.
    if _is_judged(column, replace(options, weight=math.inf), "category"):
        return True
    return _RECURRING * len(np.unique(column.index)) <= len(column.index)


def _is_design(counts: Column, others: Sequence[Column]) -> bool:
    """Tell whether the rows are distinct, and fill a good part of all combinations or are ordered by their counts."""
    codes = [np.unique(other.index, return_inverse=True)[1].reshape(-1) for other in others]
    codes.sort(key=lambda code: -int(code.max()))
    n_rows, cells = len(counts.index), 1
    chosen: list[NDArray[Any]] = []
    combinations = 1
    for code in codes:
        sizes = [int(each.max()) + 1 for each in (*chosen, code)]
        more = len(distinct_rows(np.array([*chosen, code]), sizes)[0])
        if more > combinations:  # else it follows from the others, such as groups of ages from ages
            chosen.append(code)
            combinations, cells = more, math.prod(sizes)
    if combinations < n_rows:
        return False
    values = counts.numbers(())
    name = _COUNT_NAMES.fullmatch(counts.name)
    vague = name is not None and name["vague"] is not None
    ordered = not vague and values is not None and bool(np.all(np.diff(values[counts.index]) <= 0))
    return ordered or n_rows >= (_WELL_FILLED if vague else _FILLED) * cells


# Copies and dependencies -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Twin:
    """A column that another one determines."""

    known: str
    follows: str
    mutual: bool  # whether it determines the other as well
    differing: int = 0  # rows in which that fails


def twins(columns: Mapping[str, NDArray[Any]]) -> list[Twin]:
    """Find columns that say the same, nearly the same, or follow from another; given as positions, by row."""
    names = list(columns)[:_PAIRED]
    n_rows = len(columns[names[0]]) if names else 0
    rows = np.arange(n_rows) if n_rows <= _SAMPLE else np.linspace(0, n_rows - 1, _SAMPLE).astype(np.intp)
    codes = {name: np.unique(columns[name][rows], return_inverse=True)[1].reshape(-1) for name in names}
    sizes = {name: int(code.max()) + 1 for name, code in codes.items()}
    usable = [name for name in names if sizes[name] > 1 and _REPEATS * sizes[name] <= len(rows)]
    found = []
    for i, first in enumerate(usable):
        for second in usable[i + 1 :]:
            forward, backward = (
                _failures(codes[a], codes[b], sizes[a], sizes[b]) for a, b in ((first, second), (second, first))
            )
            limit = _COPY * len(rows)
            if forward is not None and backward is not None and max(forward, backward) <= limit:
                found.append(Twin(first, second, mutual=True, differing=max(forward, backward)))
            elif forward == 0:
                found.append(Twin(first, second, mutual=False))
            elif backward == 0:
                found.append(Twin(second, first, mutual=False))
    return found


def _failures(known: NDArray[Any], follows: NDArray[Any], n_known: int, n_follows: int) -> int | None:
    """Count the rows that the best rule from one column to the other gets wrong; None where little is to be told."""
    table = np.bincount(known * n_follows + follows, minlength=n_known * n_follows).reshape(n_known, n_follows)
    wrong = len(known) - int(table.max(axis=1).sum())
    without = len(known) - int(table.sum(axis=0).max())
    return wrong if without >= _LEAST_DIFFERENT and 10 * wrong <= without else None


def parallels(columns: Mapping[str, NDArray[np.float64]]) -> list[tuple[str, str, float]]:
    """Find pairs of numeric columns that are the same up to units or a scale, and their correlations.

    That of the ranks counts as well: quantiles of a number and of its logarithm are the same.
    """
    names = [name for name in list(columns)[:_PAIRED] if np.ptp(columns[name]) > 0]
    if len(names) < 2:
        return []
    n_rows = len(columns[names[0]])
    rows = slice(None) if n_rows <= _SAMPLE else np.linspace(0, n_rows - 1, _SAMPLE).astype(np.intp)
    with np.errstate(all="ignore"):
        plain = np.corrcoef([columns[name] for name in names])
        ranked = np.corrcoef([_ranks(columns[name][rows]) for name in names])
    found = np.where(np.abs(ranked) > np.abs(plain), ranked, plain)
    pairs = np.argwhere(np.triu(np.abs(found) >= _PARALLEL, k=1))
    return [(names[i], names[j], float(found[i, j])) for i, j in pairs.tolist()]


def _ranks(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each number; equal ones share theirs."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - counts / 2)[place.reshape(-1)]


# Missing values ----------------------------------------------------------------------------------------------------


def describe_missing(missing: Mapping[str, NDArray[np.bool_]]) -> list[str]:
    """Say which rows lack values, and which columns lack them together, given the columns that do."""
    if not missing:
        return []
    table = np.array(list(missing.values()))
    n_rows, incomplete = table.shape[1], int(table.any(axis=0).sum())
    have = "has" if incomplete == 1 else "have"
    notes = [f"{incomplete:,} of {n_rows:,} rows {have} missing values, in {plural(len(missing), 'column')}"]
    groups: dict[bytes, list[str]] = {}
    for name, rows in missing.items():
        groups.setdefault(np.packbits(rows).tobytes(), []).append(name)
    notes += [
        f"{listed(names, 5)} are missing in the same {_rows(int(missing[names[0]].sum()))}"
        for names in groups.values()
        if len(names) > 1
    ]
    if len(groups) > 1 and is_monotone(missing_together(table)):
        notes.append("the pattern is monotone: rows that lack one column lack all that are missing more often")
    if incomplete > _MANY_ROWS * n_rows:
        notes.append(
            "structural EM learns from all that is known, without leaving out rows or adding levels: "
            "mapdag.structural_em, or mapdag learn --em"
        )
    return notes


def _rows(count: int) -> str:
    return "row" if count == 1 else f"{count:,} rows"
