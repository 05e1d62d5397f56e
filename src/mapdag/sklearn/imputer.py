"""`Imputer`: fills the gaps of tables of categories, as a transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mapdag.data import read
from mapdag.data.codings import TEXT
from mapdag.data.meanings import ReadOptions, meanings_of
from mapdag.data.source import open_source
from mapdag.networks.evidence import decoded
from mapdag.networks.imputation import impute
from mapdag.objective import DEFAULT
from mapdag.search import EMResult, structural_em
from mapdag.sklearn.tables import TakesTables, as_evidence, checked_table

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from mapdag.contracts import Likelihood, Objective
    from mapdag.networks import BayesianNetwork


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
        names = open_source(table).names
        left_out = [name for name in _constant(table) if name not in (self.levels or {})]
        self.constant_: dict[str, Any] = {name: _only(table, names, name) for name in left_out}
        data = read(table, levels=self.levels, missing="keep", drop=left_out)
        options: dict[str, Any] = {"impute": self.impute, "seed": self.random_state or 0, "threads": self.n_jobs}
        self.result_: EMResult = structural_em(data, self.objective, **options)
        self.network_: BayesianNetwork = self.result_.network
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Return X with its gaps filled, in the form in which it came."""
        check_is_fitted(self)
        table = checked_table(self, X, reset=False, gaps=True)
        names = open_source(table).names
        filled = impute(
            self.network_,
            as_evidence(table, self.network_),
            how=self.how,  # type: ignore[arg-type]  # checked there
            seed=self.random_state or 0,
            threads=self.n_jobs,
        ).data
        values: dict[str, NDArray[Any]] = {}
        for name in filled.names:
            coding = self.network_.codings.get(name, TEXT)
            values[name] = decoded(filled.levels[name], coding, filled.column(name).astype(np.intp))
        return _put(table, names, values, self.constant_)


def _columns(table: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns of a table as arrays of objects."""
    if hasattr(table, "columns"):
        return {
            name: np.asarray(table[column], dtype=object) for name, column in zip(names, table.columns, strict=True)
        }
    return {name: np.asarray(table[:, i], dtype=object) for i, name in enumerate(names)}


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values are missing: None, NaN, or what is not equal to itself."""
    return np.array([value is None or bool(value != value) for value in values.tolist()], dtype=bool)  # noqa: PLR0124


def _constant(table: Any) -> list[str]:
    """Return the columns that hold one and the same value wherever they hold any."""
    source, options = open_source(table), ReadOptions()
    found = []
    for position, name in enumerate(source.names):
        column = source.pop(position, options)
        if column.kind != "nested" and column.declared is None:  # `read` says what is wrong with the former
            meanings = meanings_of(column, options, None)
            used = {meanings[at] for at in np.unique(column.index).tolist()}
            if len(used - {None}) < 2:
                found.append(name)
    return found


def _only(table: Any, names: Sequence[str], name: str) -> Any:
    """Return the one value that a column holds, or None."""
    values = _columns(table, names)[name]
    return next(iter(values[~_missing(values)].tolist()), None)


def _put(table: Any, names: Sequence[str], values: Mapping[str, NDArray[Any]], constant: Mapping[str, Any]) -> Any:
    """Put values where a table has none."""
    found: dict[int, tuple[NDArray[np.bool_], NDArray[Any]]] = {}  # by position: where, and the whole column
    for i, (name, column) in enumerate(_columns(table, names).items()):
        gone, whole = _missing(column), column.copy()
        if gone.any():
            whole[gone] = values[name][gone] if name in values else constant.get(name)
            found[i] = gone, whole
    if not hasattr(table, "columns"):
        out = np.array(table)
        for i, (_, whole) in found.items():
            out[:, i] = whole
        return out
    if hasattr(table, "with_columns"):
        import polars as pl

        whole_columns = {table.columns[i]: whole.tolist() for i, (_, whole) in found.items()}
        return table.with_columns(
            [pl.Series(name, each, dtype=table[name].dtype) for name, each in whole_columns.items()]
        )
    frame = table.copy()
    for i, (gone, whole) in found.items():
        frame.loc[gone, table.columns[i]] = whole[gone]
    return frame
