"""`Imputer`: fills the gaps of tables of categories, as a transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mapdag.data import read
from mapdag.data.codings import TEXT
from mapdag.data.filling import with_values
from mapdag.data.meanings import ReadOptions, meanings_of, missing_positions
from mapdag.data.source import open_source
from mapdag.errors import DataError
from mapdag.networks.evidence import decoded
from mapdag.networks.imputation import impute
from mapdag.objective import DEFAULT
from mapdag.search import EMResult, structural_em
from mapdag.sklearn.tables import TakesTables, as_evidence, checked_table, missing_cells, named

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from mapdag.contracts import Likelihood, Objective
    from mapdag.networks import BayesianNetwork


_CUT = (
    "\n(an Imputer fills tables of categories, and has no such options: cut numbers before, as with mapdag.discretize, "
    "or leave these columns to others with a ColumnTransformer)"
)

_LEAVE_OUT = (
    "\n(options of mapdag.read, of which an Imputer has levels: leave these columns to others with a ColumnTransformer)"
)


class Imputer(OneToOneFeatureMixin, TransformerMixin, TakesTables):  # type: ignore[misc]  # scikit-learn has no types
    """Fill what is missing in tables of categories by a Bayesian network that is learned from them.

    Parameters
    ----------
    objective : str, Objective or Likelihood
        What structural EM maximises: prior + likelihood.
    impute : {"soft", "hard"}
        As in `mapdag.structural_em`.
    how : {"marginal", "joint", "draw"}
        As in `mapdag.impute`; "marginal" is right most often.
    levels : mapping, optional
        Declared levels by column, where the data may lack some.
    random_state : int
        Seed of draws.
    n_jobs : int, optional
        Threads; all cores unless given.

    Attributes
    ----------
    result_ : EMResult
        What was learned; columns that hold one value, or none, have no part in it.
    network_ : BayesianNetwork
        The graph with probabilities.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the columns had names.

    Examples
    --------
    >>> from mapdag import network
    >>> from mapdag.sklearn import Imputer
    >>> table = network("asia").sample(1000, seed=1).to_pandas()
    >>> table.loc[::5, "either"] = None
    >>> filled = Imputer(objective="BDeu(1)").fit_transform(table)
    >>> int(filled.isna().sum().sum())
    0
    """

    missing = "keep"

    def __init__(
        self,
        *,
        objective: str | Objective | Likelihood = str(DEFAULT),
        impute: str = "soft",
        how: str = "marginal",
        levels: Mapping[str, Sequence[Any] | int] | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.objective = objective
        self.impute = impute
        self.how = how
        self.levels = levels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's names
        """Learn from the rows of X, whatever they lack; y is ignored."""
        del y
        table = checked_table(self, X, reset=True, gaps=True)
        constant = {name: value for name, value in _constant(table).items() if name not in (self.levels or {})}
        self.constant_: dict[str, Any] = constant
        try:
            data = read(table, levels=self.levels, missing="keep", drop=list(constant))
        except DataError as error:
            if not error.remedy:
                raise
            cut = any(setting.option == "discretize" for setting in error.settings)
            raise DataError(*error.parts, _CUT if cut else _LEAVE_OUT) from error
        options: dict[str, Any] = {"impute": self.impute, "seed": self.random_state or 0, "threads": self.n_jobs}
        self.result_: EMResult = structural_em(data, self.objective, **options)
        self.network_: BayesianNetwork = self.result_.network
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return X with its gaps filled, in the form in which it came."""
        check_is_fitted(self)
        table = checked_table(self, X, reset=False, gaps=True)
        filled = impute(
            self.network_,
            as_evidence(named(self, table), self.network_),
            how=self.how,  # type: ignore[arg-type]  # checked there
            seed=self.random_state or 0,
            threads=self.n_jobs,
        ).data
        values: dict[str, NDArray[Any]] = {}
        for name in filled.names:
            coding = self.network_.codings.get(name, TEXT)
            values[name] = decoded(filled.levels[name], coding, filled.column(name).astype(np.intp))
        found: dict[int, tuple[NDArray[np.bool_], list[Any]]] = {}  # by position: where, and what goes there
        for i, (name, gone) in enumerate(missing_cells(named(self, table), self.network_).items()):
            if gone.any() and (name in values or self.constant_.get(name) is not None):
                found[i] = gone, values[name][gone].tolist() if name in values else [self.constant_[name]] * gone.sum()
        return with_values(table, found)


def _constant(table: Any) -> dict[str, Any]:
    """Return the columns that hold one and the same value wherever they hold any, and that value, or None."""
    source, options = open_source(table), ReadOptions()
    found: dict[str, Any] = {}
    for position, name in enumerate(source.names):
        column = source.pop(position, options)
        if column.kind != "nested" and column.declared is None:  # `read` says what is wrong with the former
            known = ~missing_positions(column, options)[column.index]
            meanings = meanings_of(column, options, None)
            if len({meanings[at] for at in np.unique(column.index[known]).tolist()}) < 2:
                found[name] = _cell(table, int(np.argmax(known)), position) if known.any() else None
    return found


def _cell(table: Any, row: int, position: int) -> Any:
    """Return one cell of a table."""
    if hasattr(table, "iloc"):
        return table.iloc[row, position]
    return table[row, position]
