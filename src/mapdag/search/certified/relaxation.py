"""The linear program over families: fractional graphs that obey the cuts found so far, and a bound that is safe.

Every child has one family in all, fractions of several allowed. Whatever the solver does in floating point, the bound
does not depend on it: for any multipliers y >= 0 of the cuts, no graph that obeys them has a score above

    sum over children of max over families of (score - sum of y times coefficient) + sum of y times limit,

which is what is computed here, from the scores themselves (weak duality).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from mapdag.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.search.certified.candidates import Families
    from mapdag.search.certified.cuts import Cut

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_IDLE = 1e-6  # slack of a row that does nothing
_MISSING = 100.0  # what it costs to have no family, more than what any graph lacks
_FIRST = 250  # families of each child that the solver begins with, the best ones
_PRICE = 1e-6  # what a family must promise to be handed to the solver
_PRICED = 20  # of each child, at a time


class Relaxation:
    """The families that may still be in a better graph, the cuts, and their linear program.

    Scores are taken relative to the best family of each child, so that they are at most 0, and so is any bound. The
    solver has those families only that it may need; others are handed over when the bound says so, which is always over
    all of them.

    Parameters
    ----------
    families : Families
    """

    def __init__(self, families: Families) -> None:
        self.families = families
        self._best = np.maximum.reduceat(families.scores, families.starts[:-1])
        self.total = math.fsum(self._best)
        self.cuts: list[Cut] = []
        worst = np.minimum.reduceat(families.scores, families.starts[:-1])
        self._missing = math.fsum(self._best - worst) + _MISSING
        self._columns: list[Ints] = []
        self._values: list[Floats] = []
        rank = np.arange(len(families.owner)) - families.starts[families.owner]
        self._rebuild(np.flatnonzero(rank < _FIRST))

    @property
    def n_nodes(self) -> int:
        """Children."""
        return self.families.n_nodes

    def _rebuild(self, inside: Ints) -> None:
        """Hand some families and all cuts to a new solver: a column for no family of each child, then the families."""
        self._solver, self._infinity = _new_solver()
        n, size = self.n_nodes, len(self.families.owner)
        self._costs = self.families.scores - self._best[self.families.owner]
        self._joined: tuple[Ints, Ints, Floats] | None = None
        self._limits = np.array([cut.most for cut in self.cuts])
        self._inside, self._place = inside, np.full(size, -1)
        self._place[inside] = n + np.arange(len(inside))
        costs = np.concatenate([np.full(n, self._missing), -self._costs[inside]])
        width = len(costs)
        every = np.zeros(width), np.full(width, self._infinity), 0, np.zeros(width, dtype=np.int32)
        self._solver.addCols(width, costs, *every, np.zeros(0, dtype=np.int32), np.zeros(0))
        owner = self.families.owner[inside]
        rows = [np.append(n + np.flatnonzero(owner == child), child) for child in range(n)]
        self._hand_over(rows, [np.ones(len(each)) for each in rows], np.ones(n), np.ones(n))
        self._add_rows(self._columns, self._values, self._limits)
        self.multipliers, self._slack = np.zeros(len(self.cuts)), np.zeros(len(self.cuts))
        self.weights = np.zeros(size)
        self.free = np.ones(size, dtype=np.bool_)

    def _hand_over(self, columns: Sequence[Ints], values: Sequence[Floats], lower: Floats, upper: Floats) -> None:
        """Add rows to what the solver has."""
        if columns:
            sizes = np.array([len(each) for each in columns])
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
            entries = np.concatenate(columns).astype(np.int32), np.concatenate(values)
            self._solver.addRows(len(columns), lower, upper, int(sizes.sum()), starts, *entries)

    def _add_rows(self, columns: Sequence[Ints], values: Sequence[Floats], limits: Floats) -> None:
        """Add rows of cuts, as far as the solver has their families."""
        places = [self._place[each] for each in columns]
        known = [each >= 0 for each in places]
        left = [[each[which] for each, which in zip(kind, known, strict=True)] for kind in (places, values)]
        for row in np.flatnonzero(limits < 0.0):  # demands: children without families meet them, at their cost
            left[0][row] = np.append(left[0][row], np.arange(self.n_nodes))
            left[1][row] = np.append(left[1][row], np.full(self.n_nodes, limits[row]))
        self._hand_over(left[0], left[1], np.full(len(columns), -self._infinity), limits)

    def add(self, cuts: Sequence[Cut]) -> None:
        """Add cuts."""
        rows = [cut.row(self.families) for cut in cuts]
        columns, values = [each for each, _ in rows], [each for _, each in rows]
        limits = np.array([cut.most for cut in cuts])
        self._add_rows(columns, values, limits)
        self.cuts += cuts
        self._columns += columns
        self._values += values
        self._limits = np.concatenate([self._limits, limits])
        self.multipliers, self._slack = (
            np.concatenate([each, np.zeros(len(cuts))]) for each in (self.multipliers, self._slack)
        )
        self._joined = None

    @property
    def idle(self) -> float:
        """Share of the cuts that do nothing."""
        return float(((self.multipliers <= 0) & (self._slack >= _IDLE)).mean()) if len(self._slack) else 0.0

    def restrict(self, free: Bools) -> None:
        """Allow some families only."""
        changed = self._inside[(free != self.free)[self._inside]]
        if len(changed):
            upper = np.where(free[changed], self._infinity, 0.0)
            places = self._place[changed].astype(np.int32)
            self._solver.changeColsBounds(len(changed), places, np.zeros(len(changed)), upper)
        self.free = free

    def solve(self, most: int | None = None) -> None:
        """Solve the linear program; or take at most so many steps, with the families that the solver has."""
        self._solver.setOptionValue("simplex_iteration_limit", 2**31 - 1 if most is None else most)
        while True:
            self._solver.run()
            found = self._solver.getSolution()
            if len(found.row_dual) == self.n_nodes + len(self.cuts):  # otherwise what was known before serves
                duals = -np.array(found.row_dual)[self.n_nodes :]
                self.multipliers = np.where(np.isfinite(duals), np.maximum(duals, 0.0), 0.0)
                self.weights = np.zeros(len(self.free))
                self.weights[self._inside] = np.array(found.col_value)[self.n_nodes :]
                self._slack = self._limits - np.array(found.row_value)[self.n_nodes :]
            if most is not None or len(self._inside) == len(self.free) or not self._price():
                return

    def _price(self) -> bool:
        """Hand over the families that promise most; tells whether there were any."""
        self.bound()
        owner = self.families.owner
        outside = self.free & (self._place < 0)
        inside = np.full(self.n_nodes, np.inf)  # what the best family lacks that the solver has
        known = self._inside[self.free[self._inside]]
        np.minimum.at(inside, owner[known], self.margins[known])
        promise = np.where(outside, inside[owner] - self.margins, -np.inf)
        wanted = np.flatnonzero(promise > _PRICE)
        if not len(wanted):
            return False
        order = wanted[np.lexsort((-promise[wanted], owner[wanted]))]
        first = np.searchsorted(owner[order], owner[order])
        self._admit(np.sort(order[np.arange(len(order)) - first < _PRICED]))
        return True

    def _admit(self, new: Ints) -> None:
        """Hand families over to the solver."""
        n, width = self.n_nodes, len(new)
        ends, columns, values = self._rows()
        table = csr_array((values, columns, ends), shape=(len(self.cuts), len(self.free)))[:, new].tocsc()
        starts = table.indptr + np.arange(width + 1)  # each also has a one in the row of its child
        entries = np.insert(table.indices + n, table.indptr[:-1], self.families.owner[new]).astype(np.int32)
        every = np.insert(table.data, table.indptr[:-1], 1.0)
        bounds = np.zeros(width), np.full(width, self._infinity)
        self._solver.addCols(
            width, -self._costs[new], *bounds, len(entries), starts[:-1].astype(np.int32), entries, every
        )
        self._place[new] = n + len(self._inside) + np.arange(width)
        self._inside = np.concatenate([self._inside, new])

    def _rows(self) -> tuple[Ints, Ints, Floats]:
        """All cuts: where the row of each ends, families, coefficients."""
        if self._joined is None:
            ends = np.cumsum([0, *(len(each) for each in self._columns)])
            columns = np.concatenate([np.empty(0, dtype=np.int64), *self._columns])
            self._joined = ends, columns, np.concatenate([np.empty(0), *self._values])
        return self._joined

    def bound(self) -> float:
        """What no graph that has allowed families only exceeds, whatever the solver did; minus infinity: there is none.

        Relative to the sum of the best families. `margins` gets what each family lacks to the best one of its child.
        """
        from mapdag.search.certified.bounds import adjust

        adjusted = adjust(self._costs, *self._rows(), self.multipliers)
        tops = np.full(self.n_nodes, -np.inf)
        np.maximum.at(tops, self.families.owner[self.free], adjusted[self.free])
        self.margins = tops[self.families.owner] - adjusted
        found = math.fsum(tops) + math.fsum(self.multipliers * self._limits)
        return found if found > _MISSING / 2 - self._missing else -math.inf  # lower than all graphs that there could be

    def basis(self) -> Any:
        """Where the solver stands, to go on from there later."""
        return self._solver.getBasis()

    def go_to(self, basis: Any) -> None:
        """Go on from somewhere else."""
        self._solver.setBasis(basis)

    def shrink(self, families: Bools) -> None:
        """Forget all families but some, and the cuts that do nothing."""
        basis, n = self._solver.getBasis(), self.n_nodes
        useful = (self.multipliers > 0) | (self._slack < _IDLE)
        stays = families[self._inside]
        column_status = [*basis.col_status[:n], *_chosen(basis.col_status[n:], stays)]
        row_status = [*basis.row_status[:n], *_chosen(basis.row_status[n:], useful)]
        place = np.full(len(families), -1)
        place[families] = np.arange(families.sum())
        self.families = self.families.select(families)
        multipliers, weights, slack = self.multipliers[useful], self.weights[families], self._slack[useful]
        self.cuts = _chosen(self.cuts, useful)
        rows = zip(_chosen(self._columns, useful), _chosen(self._values, useful), strict=True)
        left = [(place[columns], values) for columns, values in rows]
        self._columns = [columns[columns >= 0] for columns, _ in left]
        self._values = [values[columns >= 0] for columns, values in left]
        self._rebuild(place[self._inside[stays]])
        self.multipliers, self.weights, self._slack = multipliers, weights, slack
        basis.col_status, basis.row_status = column_status, row_status
        self._solver.setBasis(basis)


def _chosen(items: Sequence[Any], which: Bools) -> list[Any]:
    return [item for item, wanted in zip(items, which.tolist(), strict=True) if wanted]


def check_solver() -> Any:
    """Return the module of the solver of linear programs, or say what is missing."""
    try:
        import highspy
    except ImportError:
        raise MissingExtraError("certified search needs HiGHS: pip install 'mapdag[exact]'") from None
    return highspy


def _new_solver() -> tuple[Any, float]:
    """Make a solver of linear programs, and what it calls infinity."""
    highspy = check_solver()
    solver = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "presolve": "off", "simplex_strategy": 1}.items():
        solver.setOptionValue(name, value)
    return solver, highspy.kHighsInf
