"""`StructureLearner`: learning a graph, as an estimator without a target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mapdag.data import Dataset, read
from mapdag.networks import fit
from mapdag.objective import DEFAULT, parse
from mapdag.search import EMResult, learn, structural_em
from mapdag.sklearn.tables import TakesTables, checked_table, named

if TYPE_CHECKING:
    from typing_extensions import Self

    from mapdag.contracts import Likelihood, Objective
    from mapdag.graphs import CPDAG, DAG
    from mapdag.networks import BayesianNetwork
    from mapdag.search import Result

_PASSED_ON = ("search", "required", "forbidden", "tiers", "max_parents", "max_iter", "time_limit")


class StructureLearner(TakesTables):
    """Learn the DAG with the highest posterior score.

    Categories may be strings, numbers or pandas and polars categoricals, whose declared levels are kept. Cut continuous
    columns with `discretize`, or put a ``KBinsDiscretizer(encode="ordinal")`` before this in a pipeline.

    Parameters
    ----------
    objective : str, Objective or Likelihood
        What to maximise: prior + likelihood.
    search : {"orders", "hc", "tabu", "exact"}
        As in `mapdag.learn`.
    levels : mapping, optional
        Declared levels by column, where the data may lack some.
    weighting : {"counts", "survey", "distinct"}, optional
        What the weights that `fit` takes are, as in `mapdag.read`.
    missing : {"error", "drop", "level", "keep"}
        What to do about missing values; as in `mapdag.read`. Where they are kept, and the objective is not for gaps (as
        PNAL is), the graph is learned by `mapdag.structural_em`.
    discretize : str, mapping or Cuts, optional
        How to cut continuous columns, as in `mapdag.read`.
    required, forbidden : sequence of (str, str)
        Arcs that must, or must not, be in the graph.
    tiers : sequence of sequences of str
        Groups of nodes in temporal order.
    max_parents, max_iter, time_limit : optional
        Limits, as in `mapdag.learn`.
    alpha : float, optional
        Imaginary sample size of the parameters, for `network_` and `score`; that of `Result.fit` unless given.
    random_state : int
        Seed of whatever is random.
    n_jobs : int, optional
        Threads; all cores unless given.

    Attributes
    ----------
    dag_ : DAG
        The best graph found. Columns of an array without names are X1, X2, ...
    cpdag_ : CPDAG
        Its equivalence class.
    score_ : float
        Its posterior score.
    result_ : Result
        All there is to know: trace, plots, report.
    network_ : BayesianNetwork
        The graph with probabilities.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the columns had names.

    Examples
    --------
    >>> from mapdag import network
    >>> from mapdag.sklearn import StructureLearner
    >>> table = network("asia").sample(2000, seed=1).to_pandas()
    >>> learner = StructureLearner(objective="BDeu(1)").fit(table)
    >>> learner.dag_.parents("dysp")
    ('bronc', 'either')
    """

    def __init__(
        self,
        *,
        objective: str | Objective | Likelihood = str(DEFAULT),
        search: str = "orders",
        levels: Mapping[str, Sequence[Any] | int] | None = None,
        weighting: str | None = None,
        missing: str = "error",
        discretize: Any = None,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        tiers: Sequence[Sequence[str]] = (),
        max_parents: int | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        alpha: float | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.objective = objective
        self.search = search
        self.levels = levels
        self.weighting = weighting
        self.missing = missing
        self.discretize = discretize
        self.required = required
        self.forbidden = forbidden
        self.tiers = tiers
        self.max_parents = max_parents
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:  # noqa: N803 - scikit-learn's names
        """Learn the graph of the columns of X; y is ignored (`BayesianNetworkClassifier` uses it).

        Parameters
        ----------
        X : array, pandas or polars DataFrame, or Dataset
            One row per observation.
        y : None
            Ignored.
        sample_weight, groups : array, optional
            One value for each row: how many observations it stands for, and which rows belong together (`weights` and
            `groups` of `mapdag.read`).
        """
        del y
        table = self._table(X, reset=True)
        about_rows = {"weights": sample_weight, "groups": groups}
        if not isinstance(table, Dataset) or any(each is not None for each in about_rows.values()):
            reading = {name: getattr(self, name) for name in ("levels", "missing", "discretize", "weighting")}
            table = read(table, **reading, **about_rows)
        options: dict[str, Any] = {name: getattr(self, name) for name in _PASSED_ON}
        seed = 0 if self.random_state is None else self.random_state
        how: Callable[..., Result] = learn
        if table.has_gaps and not parse(self.objective).likelihood.takes_gaps:
            how = structural_em
        self.result_: Result = how(table, self.objective, **options, seed=seed, threads=self.n_jobs)
        self.dag_: DAG = self.result_.dag
        self.cpdag_: CPDAG = self.result_.cpdag
        self.score_: float = self.result_.score
        return self

    @property
    def network_(self) -> BayesianNetwork:
        """The graph with the posterior means of its parameters."""
        check_is_fitted(self)
        alpha = self.result_.fit_alpha if self.alpha is None else self.alpha
        if isinstance(self.result_, EMResult):
            return fit(self.dag_, self.result_.incomplete, alpha=alpha)
        return self.result_.fit(alpha=alpha)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: N803
        """Return the average log-likelihood of rows under the fitted network, for cross-validation and grid searches.

        Levels that the training data lacked must be declared by `levels`, or by categoricals.
        """
        del y
        check_is_fitted(self)
        network, table = self.network_, self._table(X, reset=False)
        if not isinstance(table, Dataset):
            table = read(named(self, table), like=network, codes=False, missing=self.missing)  # type: ignore[arg-type]
        return network.log_likelihood(table) / table.total

    def _table(self, table: Any, *, reset: bool) -> Any:
        """Check a table the way scikit-learn does, and keep what arrays would lose: names, declared levels."""
        if isinstance(table, Dataset):
            names = np.array(table.names, dtype=object)
            if reset:
                self.feature_names_in_, self.n_features_in_ = names, len(names)
            return table
        return checked_table(self, table, reset=reset, gaps=self.missing != "error")
