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


class Relaxation:
    """The families that may still be in a better graph, the cuts, and their linear program.

    Scores are taken relative to the best family of each child, so that they are at most 0, and so is any bound.

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
        self._rebuild()

    @property
    def n_nodes(self) -> int:
        """Children."""
        return self.families.n_nodes

    def _rebuild(self) -> None:
        """Hand all families and cuts to a new solver."""
        self._solver, self._infinity = _new_solver()
        n, size = self.n_nodes, len(self.families.owner)
        self._costs = self.families.scores - self._best[self.families.owner]
        every = np.concatenate([-self._costs, np.full(n, self._missing)])
        nothing = np.zeros(0, dtype=np.int32)
        self._solver.addCols(
            size + n, every, np.zeros(size + n), np.full(size + n, self._infinity), 0,
            np.zeros(size + n, dtype=np.int32), nothing, np.zeros(0),
        )  # fmt: skip
        members = np.split(np.arange(size), self.families.starts[1:-1])
        rows = [np.append(each, size + child) for child, each in enumerate(members)]
        self._add_rows(rows, [np.ones(len(each)) for each in rows], np.ones(n), np.ones(n))
        limits = np.array([cut.most for cut in self.cuts])
        self._add_rows(self._columns, self._values, np.full(len(limits), -self._infinity), limits)
        self.multipliers = np.zeros(len(self.cuts))
        self.weights = np.zeros(size)
        self.free = np.ones(size, dtype=np.bool_)
        self._joined: tuple[Ints, Ints, Floats] | None = None

    def _add_rows(self, columns: Sequence[Ints], values: Sequence[Floats], lower: Floats, upper: Floats) -> None:
        if not columns:
            return
        sizes = np.array([len(each) for each in columns])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        entries = np.concatenate(columns).astype(np.int32), np.concatenate(values)
        self._solver.addRows(len(columns), lower, upper, int(sizes.sum()), starts, *entries)

    def add(self, cuts: Sequence[Cut]) -> None:
        """Add cuts."""
        rows = [cut.row(self.families) for cut in cuts]
        columns, values = [each for each, _ in rows], [each for _, each in rows]
        self._add_rows(columns, values, np.full(len(cuts), -self._infinity), np.array([cut.most for cut in cuts]))
        self.cuts += cuts
        self._columns += columns
        self._values += values
        self.multipliers = np.concatenate([self.multipliers, np.zeros(len(cuts))])
        self._joined = None

    def restrict(self, free: Bools) -> None:
        """Allow some families only."""
        changed = np.flatnonzero(free != self.free)
        if len(changed):
            upper = np.where(free[changed], self._infinity, 0.0)
            self._solver.changeColsBounds(len(changed), changed.astype(np.int32), np.zeros(len(changed)), upper)
        self.free = free

    def solve(self, most: int | None = None) -> bool:
        """Solve the linear program, in at most so many steps; tells whether it was solved."""
        solver = self._solver
        solver.setOptionValue("simplex_iteration_limit", 2**31 - 1 if most is None else most)
        solver.run()
        found = solver.getSolution()
        if len(found.row_dual) == self.n_nodes + len(self.cuts):  # otherwise what was known before serves
            multipliers = -np.array(found.row_dual)[self.n_nodes :]
            self.multipliers = np.where(np.isfinite(multipliers), np.maximum(multipliers, 0.0), 0.0)
            self.weights = np.array(found.col_value)[: len(self.free)]
            self._slack = np.array([cut.most for cut in self.cuts]) - np.array(found.row_value)[self.n_nodes :]
        return str(solver.getModelStatus()).endswith("kOptimal")

    def bound(self) -> float:
        """What no graph that has allowed families only exceeds, whatever the solver did; minus infinity: there is none.

        Relative to the sum of the best families. `margins` gets what each family lacks to the best one of its child.
        """
        from mapdag.search.certified.bounds import adjust

        if self._joined is None:
            ends = np.cumsum([0, *(len(each) for each in self._columns)])
            columns = np.concatenate([np.empty(0, dtype=np.int64), *self._columns])
            self._joined = ends, columns, np.concatenate([np.empty(0), *self._values])
        adjusted = adjust(self._costs, *self._joined, self.multipliers)
        tops = np.full(self.n_nodes, -np.inf)
        np.maximum.at(tops, self.families.owner[self.free], adjusted[self.free])
        self.margins = tops[self.families.owner] - adjusted
        limits = np.array([cut.most for cut in self.cuts])
        return math.fsum(tops) + math.fsum(self.multipliers * limits)

    def basis(self) -> Any:
        """Where the solver stands, to go on from there later."""
        return self._solver.getBasis()

    def go_to(self, basis: Any) -> None:
        """Go on from somewhere else."""
        self._solver.setBasis(basis)

    def shrink(self, families: Bools) -> None:
        """Forget all families but some, and the cuts that do nothing."""
        basis = self._solver.getBasis()
        n = self.n_nodes
        useful = (self.multipliers > 0) | (self._slack < _IDLE)
        column_status = [*_chosen(basis.col_status[: len(families)], families), *basis.col_status[len(families) :]]
        row_status = [*basis.row_status[:n], *_chosen(basis.row_status[n:], useful)]
        place = np.full(len(families), -1)
        place[families] = np.arange(families.sum())
        self.families = self.families.select(families)
        multipliers = self.multipliers[useful]
        self.cuts = _chosen(self.cuts, useful)
        rows = zip(_chosen(self._columns, useful), _chosen(self._values, useful), strict=True)
        left = [(place[columns], values) for columns, values in rows]
        self._columns = [columns[columns >= 0] for columns, _ in left]
        self._values = [values[columns >= 0] for columns, values in left]
        weights = self.weights[families]
        self._rebuild()
        self.multipliers, self.weights = multipliers, weights
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
