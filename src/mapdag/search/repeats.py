"""Whether rows repeat, or nearly repeat, each other far more often than independent rows do.

No score can see that: rows that were copied, or that belong to one household, are evidence again and again for what
sets them apart. They are seen by their neighbours: in how many columns does a row differ from the other row that is
most like it? That is compared with rows drawn from a simple network of the same columns, which has what few parents
explain, but not that rows are copies of each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.data.groups import effective
from mapdag.data.problems import listed
from mapdag.data.rows import row_keys
from mapdag.errors import Setting
from mapdag.notices import warn
from mapdag.objective import parse
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.graphs import DAG

#: The largest ratio of neighbours' differences to those of independent rows at which rows are taken to belong together.
#: Of 330 public tables only panels, choices by the same people and districts were below it (docs/howto/clusters.md).
MAX_RATIO = 0.33

_SIMPLE = "Support(30)+MU(c=1)+BDs(1)"  # learns nothing from clusters of fewer rows
_SIMPLE_PARENTS = 2
_LEAST_ROWS, _LEAST_COLUMNS = 100, 4
_LEAST_DIFFERENCE = 0.5  # columns in which independent neighbours must differ, for the comparison to say anything
_ALIKE = 0.5  # share of rows with a copy from which on copies are what is wrong
_MOST_DIFFER, _RARER, _TELLING = 0.1, 3, 0.05  # shares of neighbours that differ in a column that rows share
_FEWER = 0.5  # combinations of these columns, at most, for each that independent rows have
_NAMED = 3
_MANY_PARENTS = 4  # of some node, which call for a look
_COPIED = 0.8  # share of rows with a copy that does, in tables of so many cells
_COUNTED_CELLS = 2 * 10**7
_QUERIES, _LEAST_QUERIES = 100, 20
_CELLS = 4 * 10**8  # that are compared at most, unless these are too few for the least number of rows


@dataclass(frozen=True)
class Repeats:
    """What speaks against independent rows, and what they may be counted as.

    Attributes
    ----------
    rows, distinct : int
        Rows, and how many of them are different.
    nearest : float
        In how many columns a row differs from the other row that is most like it, on average.
    expected : float
        The same in as many independent rows from a simple network.
    columns : tuple of str
        Rows that are alike in these are one observation under ``weighting="distinct"``; none where this is empty.
    observations : int
        How many there are then.
    """

    rows: int
    distinct: int
    nearest: float
    expected: float
    columns: tuple[str, ...] = ()
    observations: int = 0

    @property
    def parts(self) -> tuple[str | Setting, ...]:
        """What to say of it, as parts of a message."""
        found = (
            f"rows repeat each other: a row differs from the other row that is most like it in {self.nearest:.2g} "
            f"columns, on average, where independent rows would in {self.expected:.2g}; {self.distinct:,} of "
            f"{plural(self.rows, 'row')} are distinct. "
        )
        found += "Each was counted as one observation: if they are not independent, some arcs have no support. "
        say: tuple[str | Setting, ...] = "Pass ", Setting("groups", "COLUMN"), " to say which rows belong together, "
        if self.columns:
            inside = "" if self.observations == self.distinct else f" in {listed(self.columns, _NAMED)}"
            once = f" to count those that are alike{inside} once ({plural(self.observations, 'observation')}), "
            say = (*say, Setting("weighting", "distinct"), once)
        return (found, *say, "or ", Setting("weighting", "counts"), " if the rows are independent")

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


def calls_for_a_look(data: Dataset, graphs: Sequence[DAG]) -> bool:
    """Tell whether it is worth looking for repeats: some node has many parents, or most rows have a copy."""
    if not can_look(data):
        return False
    many = any(len(dag.parent_indices(i)) >= _MANY_PARENTS for dag in graphs for i in range(len(dag.nodes)))
    return many or (data.codes.size <= _COUNTED_CELLS and _share_of_copies(_hashes(data.codes)) >= _COPIED)


def can_look(data: Dataset) -> bool:
    """Tell whether repeats can be found in a data set, of which nothing says what its rows count as."""
    said = data.weights is not None or data.groups is not None or data.weighting is not None
    if said or data.has_gaps or data.engine != "cores":
        return False
    few = data.n_rows < _LEAST_ROWS or data.n_columns < _LEAST_COLUMNS
    return not few and data.codes.size * _LEAST_QUERIES <= 10 * _CELLS


def find_repeats(data: Dataset, threads: int | None = None) -> Repeats | None:
    """Find out whether rows repeat each other; `can_look` tells whether that can be found out."""
    from mapdag.networks import fit
    from mapdag.search.plan import Plan

    if not can_look(data):
        return None
    plan = Plan.make(search="hc", max_parents=_SIMPLE_PARENTS, threads=threads, catch_interrupt=False)
    arranged, _ = plan.arrange(data)
    simple = plan.run(arranged, [parse(_SIMPLE)], checked=True)[0]
    drawn = fit(simple.dag, arranged, alpha=1).sample(data.n_rows, seed=0)
    expected, nearest = _neighbours(drawn), _neighbours(arranged)
    if expected.mean < _LEAST_DIFFERENCE or nearest.mean > MAX_RATIO * expected.mean:
        return None
    found = Repeats(data.n_rows, _count_distinct(data), nearest.mean, expected.mean)
    if nearest.copied >= _ALIKE:
        return replace(found, columns=data.names, observations=found.distinct)
    shared = _shared(nearest.differing, expected.differing)
    alike = [name for name, is_shared in zip(arranged.names, shared.tolist(), strict=True) if is_shared]
    if not alike:
        return found
    here, there = (_count_distinct(each.select(alike)) for each in (data, drawn))
    if here > _FEWER * there:
        return found
    return replace(found, columns=tuple(name for name in data.names if name in set(alike)), observations=here)


def tell_repeats(data: Dataset, threads: int | None = None) -> Repeats | None:
    """Return what `find_repeats` finds, with a warning if that is anything."""
    found = find_repeats(data, threads)
    if found is not None:
        warn(*found.parts)
    return found


def count_once(data: Dataset) -> Dataset:
    """Return the rows of a data set, those that repeat each other as one observation (``weighting="distinct"``).

    These are rows that are alike; or, where `find_repeats` finds that rows share some of the columns only, rows that
    are alike in these, as groups.
    """
    found = find_repeats(data)
    alike = data if found is None or not found.columns else data.select(found.columns)
    _, first, group = np.unique(_keys(alike), return_index=True, return_inverse=True)
    if found is None or found.observations == found.distinct or not found.columns:
        return replace(data.take(np.sort(first)), weighting="counts")
    groups = group.reshape(-1).astype(np.int64)
    return replace(data, weights=effective(None, groups, None), groups=groups)


class _Neighbours(NamedTuple):
    """How some rows differ from the other rows that are most like them."""

    mean: float  # in how many columns, on average
    copied: float  # share of them that do in none
    differing: NDArray[np.float64]  # share of them that do in each column


def _neighbours(data: Dataset) -> _Neighbours:
    """Compare some rows with all others; which they are does not depend on their order.

    What was set in rows counts as one more column in which they differ.
    """
    codes, n_rows = data.codes, data.n_rows
    experiments = np.zeros(n_rows, dtype=np.uint16) if data.interventions is None else data.interventions.codes
    queries = min(max(_CELLS // codes.size, _LEAST_QUERIES), _QUERIES, n_rows)
    chosen = np.argsort(_hashes(codes), kind="stable")[np.linspace(0, n_rows - 1, queries).astype(np.intp)]
    least, found = np.empty(queries), np.empty((queries, len(codes)), dtype=np.bool_)
    for place, row in enumerate(chosen.tolist()):
        total = (experiments != experiments[row]).astype(np.uint16)
        for column in codes:
            total += column != column[row]
        total[row] = len(codes) + 1
        least[place] = total.min()
        nearest = np.flatnonzero(total == total.min())
        found[place] = (codes[:, nearest] != codes[:, row, None]).mean(axis=1) > 1 / 2
    return _Neighbours(float(least.mean()), float((least == 0).mean()), found.mean(axis=0))


def _shared(here: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell in which columns neighbours differ so much more rarely than independent ones that rows share them."""
    shared: NDArray[np.bool_] = (here <= _MOST_DIFFER) & (_RARER * here <= expected) & (expected >= _TELLING)
    return shared


def _count_distinct(data: Dataset) -> int:
    return len(np.unique(_keys(data)))


def _keys(data: Dataset) -> NDArray[Any]:
    """Return a key for each row; rows in which different variables were set are not alike."""
    cards = data.cards + int(data.has_gaps)
    if data.interventions is None:
        return row_keys(data.codes, cards)
    codes = np.vstack([data.codes, data.interventions.codes])
    return row_keys(codes, np.append(cards, len(data.interventions.targets)))


def _hashes(codes: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each row, the same for rows that are alike."""
    found = np.zeros(codes.shape[1], dtype=np.uint64)
    factors = np.random.default_rng(0).integers(1, 2**63, len(codes), dtype=np.uint64)
    for factor, column in zip(factors, codes, strict=True):
        found += factor * column.astype(np.uint64)
    return found


def _share_of_copies(hashes: NDArray[np.uint64]) -> float:
    counts = np.unique(hashes, return_counts=True)[1]
    return 1.0 - float((counts == 1).sum()) / len(hashes)
