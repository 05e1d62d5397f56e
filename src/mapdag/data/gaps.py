"""Where the values of a table are missing: by column, by pair, by pattern; and what dropping rows would cost."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import DataError, ParameterError, Setting
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.dataset import Dataset


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
        Different sets of columns that are missing in some row, the empty one included where it occurs.
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
    gone = ~data.known
    which = np.flatnonzero(gone.any(axis=1)).tolist()
    lacking = gone[which]
    both: NDArray[np.int64] = lacking.astype(np.float64) @ lacking.T.astype(np.float64)
    names = [data.names[i] for i in which]
    pairs = itertools.combinations(range(len(names)), 2)
    patterns = np.unique(np.packbits(lacking, axis=0), axis=1).shape[1]
    return Gaps(
        rows=data.n_rows,
        complete=int((~lacking.any(axis=0)).sum()),
        missing={name: int(both[i, i]) for i, name in enumerate(names)},
        together={(names[i], names[j]): int(both[i, j]) for i, j in pairs},
        patterns=patterns,
        is_monotone=is_monotone(lacking),
    )


def is_monotone(missing: NDArray[np.bool_]) -> bool:
    """Tell whether columns, given by row as missing or not, can be ordered so that who lacks one lacks all that follow.

    >>> is_monotone(np.array([[1, 1, 0], [1, 0, 0]], dtype=bool)), is_monotone(np.eye(2, dtype=bool))
    (True, False)
    """
    by_size = missing[np.argsort(missing.sum(axis=1), kind="stable")]
    return all(not np.any(less & ~more) for less, more in itertools.pairwise(by_size))


def refuse_gaps(data: Any, what: str, *ways: str | Setting) -> None:
    """Refuse a data set that has gaps, for something that needs complete rows; `ways` go on with what to do instead."""
    if getattr(data, "has_gaps", False):
        told = ways or ("; read the table with ", Setting("missing", "drop"), " or ", Setting("missing", "level"))
        raise DataError(f"{what} needs complete rows, but the data have gaps ({data.gaps!r})", *told)


def refuse_keep(missing: Any, what: str) -> None:
    """Refuse to keep gaps in a table whose rows are not in memory."""
    if missing == "keep":
        raise ParameterError(
            f'missing="keep" is for tables in memory, not for {what}: read it with mapdag.read, if it fits, or pass '
            'missing="drop" or "level"'
        )
