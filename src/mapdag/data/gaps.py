"""Where the values of a table are missing: by column, by pair, by pattern; and what dropping rows would cost."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import DataError, Setting
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.dataset import Dataset

_ROWS = 1 << 16  # that are looked at at a time
_PATTERNS = 1 << 22  # that are told apart


@dataclass(frozen=True, repr=False)
class Gaps(Tabular):
    """Where the values of a data set are missing; made by `Dataset.gaps`.

    Attributes
    ----------
    rows : int
        Rows of the data set.
    complete : int
        Those in which nothing is missing; dropping the others loses the rest.
    missing : mapping of str to int
        Rows in which each column is missing, for the columns that have such.
    together : mapping of pairs of str to int
        Rows in which both are missing, for the pairs of such columns, in the order of the columns.
    patterns : int
        Different sets of columns that are missing in some row, the empty one included where it occurs; not counted
        beyond the first four million or so.
    is_monotone : bool
        Whether the columns can be ordered so that rows which lack one lack all that follow.

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.read({"a": ["x", "y", None, "x"], "b": ["u", None, None, "v"]}, missing="keep")
    >>> print(data.gaps)
    2 of 4 rows have gaps, in 2 columns; 3 patterns, monotone
    column  missing  share
    b             2    50%
    a             1    25%
    >>> data.gaps.together
    {('a', 'b'): 1}
    """

    rows: int
    complete: int
    missing: Mapping[str, int]
    together: Mapping[tuple[str, str], int]
    patterns: int
    is_monotone: bool

    def __bool__(self) -> bool:
        return bool(self.missing)

    def __repr__(self) -> str:
        if not self.missing:
            return f"no gaps in {plural(self.rows, 'row')}"
        lost = self.rows - self.complete
        have = "has" if lost == 1 else "have"
        where = f"{lost:,} of {self.rows:,} rows {have} gaps, in {plural(len(self.missing), 'column')}"
        return f"{where}; {plural(self.patterns, 'pattern')}{', monotone' if self.is_monotone else ''}"

    def to_table(self, most: int | None = None) -> Table:
        """Return the columns that have gaps, those with most of them first."""
        names = sorted(self.missing, key=lambda name: -self.missing[name])
        shown = names[:most]
        counts = np.array([self.missing[name] for name in shown], dtype=np.int64)
        columns = [
            Column("column", shown),
            Column("missing", counts, ",", right=True),
            Column("share", counts / max(self.rows, 1), ".0%", right=True),
        ]
        return Table(columns, title=repr(self), left=len(names) - len(shown), rest="more columns")


def describe_gaps(data: Dataset) -> Gaps:
    """Find where the values of a data set are missing."""
    if not data.has_gaps:
        return Gaps(data.n_rows, data.n_rows, {}, {}, min(data.n_rows, 1), is_monotone=True)
    cards = data.cards
    which = np.flatnonzero(data.widths > cards)
    names, found = [data.names[i] for i in which], data.sum(_lacking, which, cards[which])
    both, pairs = found.together, itertools.combinations(range(len(names)), 2)
    return Gaps(
        rows=data.n_rows,
        complete=found.complete,
        missing={name: int(both[i, i]) for i, name in enumerate(names)},
        together={(names[i], names[j]): int(both[i, j]) for i, j in pairs},
        patterns=len(found.patterns),
        is_monotone=is_monotone(both),
    )


@dataclass(frozen=True)
class _Lacking:
    """What some rows lack; that of others can be added."""

    together: NDArray[np.int64]  # (columns, columns) rows that lack both
    complete: int  # those that lack nothing
    patterns: NDArray[np.void]  # different sets of columns that are lacking, as bits

    def __add__(self, other: _Lacking) -> _Lacking:
        joined = np.concatenate([self.patterns, other.patterns])
        patterns = joined[:_PATTERNS] if max(len(self.patterns), len(other.patterns)) >= _PATTERNS else _sets(joined)
        return _Lacking(self.together + other.together, self.complete + other.complete, patterns)


def _lacking(codes: NDArray[Any], which: NDArray[np.intp], cards: NDArray[np.int64]) -> _Lacking:
    """Find what rows lack in some columns, not too many rows at a time."""
    found: _Lacking | None = None
    for first in range(0, max(codes.shape[1], 1), _ROWS):
        gone = codes[which, first : first + _ROWS] == cards[:, None]
        bits = np.ascontiguousarray(np.packbits(gone, axis=0).T)
        sets = _sets(bits.view(np.dtype((np.void, bits.shape[1]))).ravel())
        mine = _Lacking(missing_together(gone), int((~gone.any(axis=0)).sum()), sets)
        found = mine if found is None else found + mine
    assert found is not None
    return found


def _sets(patterns: NDArray[np.void]) -> NDArray[np.void]:
    """Tell sets of columns apart; there may be as many as rows."""
    return np.unique(patterns)[:_PATTERNS]


def missing_together(gone: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the rows that lack each two columns, given for each column and row whether it is missing."""
    as_numbers = gone.astype(np.float64)  # whose products are fast, and exact
    return (as_numbers @ as_numbers.T).astype(np.int64)


def is_monotone(together: NDArray[np.int64]) -> bool:
    """Tell whether columns can be ordered so that rows which lack one lack all that follow.

    Parameters
    ----------
    together : array (columns, columns)
        How many rows lack both; on the diagonal, the one.

    Examples
    --------
    >>> is_monotone(np.array([[2, 1], [1, 1]])), is_monotone(np.eye(2, dtype=int))
    (True, False)
    """
    order = np.argsort(np.diag(together), kind="stable")
    return all(together[less, more] == together[less, less] for less, more in itertools.pairwise(order))


def refuse_gaps(data: Any, what: str, *ways: str | Setting) -> None:
    """Refuse a data set that has gaps, for something that needs complete rows; `ways` go on with what to do instead."""
    if getattr(data, "has_gaps", False):
        told = ways or ("; read the table with ", Setting("missing", "drop"), " or ", Setting("missing", "level"))
        raise DataError(f"{what} needs complete rows, but the data have gaps ({data.gaps!r})", *told)
