"""Columns as children: rows in which a variable was set say nothing of what its parents do to it.

A variable that was set in some rows gets a second version of its column, in which these rows are gaps. A family is
counted with that version of its child and with the full columns of its parents; as families leave out rows that lack a
member, all ways to count leave out the right rows (Cooper and Yoo 1999, "Causal discovery from a mixture of
experimental and observational data").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mapdag.data.dataset import Dataset
from mapdag.data.labels import code_dtype
from mapdag.wording import free_name

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ChildColumns:
    """A data set as it is counted.

    Attributes
    ----------
    table : Dataset
        The data set itself where nothing was set; else with one more column for each variable that was set.
    columns : int64 array (columns of the table,)
        The column that stands for each as a child.
    totals : float64 array (columns of the table,)
        Observations that there are of each as a child.
    """

    table: Dataset
    columns: NDArray[np.int64]
    totals: NDArray[np.float64]


def child_columns(data: Dataset, total: float) -> ChildColumns:
    """Add the columns of variables that were set as children, of rows that count so much in all."""
    cards = data.cards
    n = len(cards)
    if data.interventions is None:
        return ChildColumns(data, np.arange(n), np.full(n, float(total)))
    was_set = [i for i, name in enumerate(data.names) if name in data.interventions.names]
    levels, names = dict(data.levels), list(data.names)
    codes = np.empty((n + len(was_set), data.n_rows), dtype=code_dtype(cards.tolist(), gaps=True))
    codes[:n] = data.codes
    columns = np.arange(n + len(was_set))
    for at, i in enumerate(was_set, n):
        codes[at] = np.where(data.interventions.rows_of(data.names[i]), cards[i], data.codes[i])
        columns[i] = at
        names.append(free_name(data.names[i], levels))
        levels[names[-1]] = data.levels[data.names[i]]
    table = Dataset._trusted(tuple(names), levels, codes, data.weights, None, has_gaps=True)  # noqa: SLF001
    return ChildColumns(table, columns, np.append(data.totals, data.totals[was_set]))
