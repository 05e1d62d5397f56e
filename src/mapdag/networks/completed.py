"""`Completed`: rows with gaps as a network completes them, of which there are expected counts, but no codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np

from mapdag.counts.expected import ExpectedEngine, Posterior
from mapdag.data.codings import Sealed, kept_codings
from mapdag.data.dataset import Dataset
from mapdag.data.labels import check_names
from mapdag.data.problems import unknown_names
from mapdag.errors import DataError
from mapdag.tables import Column, Table
from mapdag.wording import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mapdag.data.codings import Coding
    from mapdag.data.labels import Codes, LevelsLike
    from mapdag.data.rows import Weights

_SHOWN = 12  # levels


class Completed(Dataset):
    """Rows with gaps that a network has completed: a gap counts as all that it may hold, by its probability.

    Made by `structural_em`. Whatever goes by counts works on it as on a `Dataset`: `score`, `fit`, `learn` and
    `certify` (ties are broken by the order of the columns), reports; counts are expected ones, not whole. Single
    completed rows are for `impute`.

    Attributes
    ----------
    posterior : Posterior
        What is known, and the distributions of the gaps given that.
    least : float
        Configurations of parents that are expected in fewer rows do not count as observed.
    drawn : int
        Gaps whose distribution is known by draws only: those that depend on so many others that these cannot be listed.
    """

    __slots__ = ("_engine", "drawn", "least", "posterior")

    posterior: Posterior
    least: float
    drawn: int
    _engine: ExpectedEngine | None

    #: Who counts it: nobody else can.
    engine: ClassVar[Any] = ExpectedEngine

    has_rows: ClassVar[bool] = False

    def __init__(
        self,
        names: Sequence[str],
        levels: Mapping[str, tuple[str, ...]],
        posterior: Posterior,
        codings: Mapping[str, Coding] | None = None,
        least: float = 0.0,
        drawn: int = 0,
    ) -> None:
        sealed = levels if isinstance(levels, Sealed) else Sealed({name: levels[name] for name in names})
        weights = posterior.weights
        weights.flags.writeable = False
        parts: dict[str, Any] = {
            "names": tuple(names),
            "levels": sealed,
            "weights": weights,
            "groups": None,
            "weighting": None,
            "has_gaps": False,
            "interventions": None,
            "posterior": posterior,
            "least": least,
            "drawn": drawn,
            "_engine": None,
        }
        for name, value in {**parts, "codings": kept_codings(codings or {}, names)}.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Completed, (self.names, self.levels, self.posterior, self.codings, self.least, self.drawn))

    @property
    def codes(self) -> Codes:
        """There are none."""
        return self._has_no_rows("this")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.posterior.codes.shape[1])

    @property
    def total(self) -> int | float:
        """The sum of the weights of the rows, or their number."""
        return math.fsum(self.posterior.weights)

    @property
    def refines(self) -> bool:
        """Whether a larger set of parents has at least as many configurations that are expected often enough."""
        return not self.least

    def expected(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the expected counts of all cells of some columns, one axis for each."""
        if self._engine is None:
            object.__setattr__(self, "_engine", ExpectedEngine(self))
        assert self._engine is not None
        return self._engine.expected([self.index(name) for name in names])

    def observed(self, name: str) -> Weights:
        """Return the expected counts of every declared level of a column."""
        counts: Weights = self.expected([name])
        return counts

    def to_table(self, most: int | None = None, *, weights: str = "weight") -> Table:  # noqa: ARG002 - there are no rows
        """Return, for each level of each column, in how many rows it is known, and expected."""
        cells = [(name, i) for name in self.names for i in range(len(self.levels[name]))]
        shown = cells[:most]
        counts = [self.observed(name) for name in self.names]
        known = [
            np.bincount(codes, weights=self.posterior.weights, minlength=card)[:card]
            for codes, card in zip(self.posterior.codes, self.posterior.cards.tolist(), strict=True)
        ]
        n = len(shown)
        return Table(
            [
                Column("column", [name for name, _ in shown]),
                Column("level", [self.levels[name][i] for name, i in shown]),
                Column("known", np.concatenate(known)[:n], ",.6g", right=True),
                Column("expected", np.concatenate(counts)[:n], ",.6g", right=True),
            ],
            title=repr(self),
            left=len(cells) - n,
            rest="more levels",
        )

    def _shown(self) -> Table:
        return self.to_table(_SHOWN)

    def select(self, names: Iterable[str]) -> Completed:
        """Return some of the columns, in the order given."""
        chosen = check_names([names] if isinstance(names, str) else list(names))
        unknown = [name for name in chosen if name not in self.levels]
        if unknown:
            raise unknown_names(unknown, self.names, "this dataset")
        posterior = self.posterior.select([self.names.index(name) for name in chosen])
        levels = Sealed({name: self.levels[name] for name in chosen})
        return Completed(chosen, levels, posterior, self.codings, self.least, self.drawn)

    def __repr__(self) -> str:
        known = "" if not self.drawn else f", {plural(self.drawn, 'gap')} by draws"
        return super().__repr__().replace("Dataset", "Completed", 1).removesuffix(")") + f"{known})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Completed):
            return NotImplemented
        same = (self.names, dict(self.levels), self.least) == (other.names, dict(other.levels), other.least)
        return same and all(map(np.array_equal, self.posterior, other.posterior))

    def __hash__(self) -> int:
        return hash((self.names, self.n_rows))

    # What needs rows -----------------------------------------------------------------------------------------------

    def row(self, i: int) -> dict[str, str | None]:  # noqa: ARG002
        """There are none."""
        return self._has_no_rows("row")

    def take(self, rows: ArrayLike) -> Dataset:  # noqa: ARG002
        """There are none."""
        return self._has_no_rows("take")

    def with_levels(self, levels: LevelsLike) -> Dataset:  # noqa: ARG002
        """Levels were declared when the table was read."""
        return self._has_no_rows("with_levels")

    def aggregated(self) -> Dataset:
        """There are none."""
        return self._has_no_rows("aggregated")

    def _has_no_rows(self, what: str) -> NoReturn:
        raise DataError(
            f"{what} needs single rows, but those of a completed table are known by expected counts only: take the "
            "rows with their gaps (`incomplete` of the result), or fill these with mapdag.impute"
        )
