"""`BayesianNetworkClassifier`: the network of the features and the target, used to predict the target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from mapdag.checks import check_positive, is_one_of
from mapdag.data import Dataset, read
from mapdag.data.discretization import Discretizer
from mapdag.data.labels import is_iterable, text_of
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.networks import fit
from mapdag.networks.estimation import count_cells
from mapdag.networks.inputs import cell_numbers
from mapdag.notices import unsaid
from mapdag.objective import DEFAULT
from mapdag.sampling import posterior
from mapdag.search import learn
from mapdag.sklearn.tables import Survey, TakesTables, as_evidence, checked_table, named
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from mapdag.contracts import Likelihood, Objective
    from mapdag.graphs import DAG
    from mapdag.networks import BayesianNetwork
    from mapdag.sampling import Posterior
    from mapdag.search import Result

    Floats = NDArray[np.float64]


_PASSED_ON = ("forbidden", "tiers", "max_parents", "time_limit")
_STRUCTURES = ("free", "augmented", "naive")
_ALPHAS = (1.0, 3.0, 10.0, 30.0, 100.0)


class BayesianNetworkClassifier(ClassifierMixin, TakesTables):  # type: ignore[misc]  # scikit-learn has no types
    """Learn the network of the features and the target, and predict the target by it.

    Features may be strings, booleans, numbers or categoricals. Numbers are cut into intervals, which are stored and
    used for new rows. Values that are missing in new rows, and categories that the training data lacked, are treated
    as not observed.

    Parameters
    ----------
    objective : str, Objective or Likelihood
        What the structure maximises: prior + likelihood.
    structure : {"auto", "free", "augmented", "naive"}
        "free": any graph; features that matter little are left out, which may cost accuracy. "augmented": the target is
        a parent of every feature, and the arcs among the features are learned. "naive": no arcs among them, as in naive
        Bayes. "auto": the one of these that predicts the target best in each row of the training data, its parameters
        being estimated from all others; with `required`, `forbidden` or `tiers`, "free".
    search : {"orders", "hc", "tabu", "exact"}
        As in `mapdag.learn`.
    discretize : str, mapping, Cuts or None
        How to cut numbers: a method for all features with numbers that are not whole or have more than ten values, or
        ways by feature, as in `mapdag.read`. None takes whole numbers as categories and refuses others.
    missing : {"level", "error"}
        Missing values in the training data: one more level of their column, or an error.
    required, forbidden : sequence of (str, str)
        Arcs that must, or must not, be in the graph.
    tiers : sequence of sequences of str
        Groups of nodes in temporal order.
    max_parents, time_limit : optional
        Limits, as in `mapdag.learn`.
    target : str, optional
        What the target is called in the graph: the name of y if it has one, else "y", unless given.
    prune : bool
        Keep only the Markov blanket of the target in `network_`: nothing else matters in rows without gaps.
    alpha : float, optional
        Imaginary sample size of the parameters; chosen among 1, 3, 10, 30 and 100 in the same way unless given.
    averaged : bool
        Predict by all graphs, weighed by their posterior probability (`mapdag.posterior`), instead of the best one. The
        structure and alpha are chosen by the best graph.
    random_state : int
        Seed of whatever is random.
    n_jobs : int, optional
        Threads; all cores unless given.

    Attributes
    ----------
    classes_ : array
        The values of y, in order.
    network_ : BayesianNetwork
        The network that predicts. Features with a single value in the training data are not in it.
    dag_ : DAG
        The graph that was learned, before pruning.
    result_ : Result
        All there is to know of the search.
    posterior_ : Posterior
        With `averaged`: what predicts instead of `network_`.
    structure_, alpha_ : str, float
        What was chosen, or given.
    target_ : str
        The node that stands for y.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the columns had names.

    Examples
    --------
    >>> from mapdag import network
    >>> from mapdag.sklearn import BayesianNetworkClassifier
    >>> table = network("asia").sample(2000, seed=1).to_pandas()
    >>> X, y = table.drop(columns="dysp"), table["dysp"]
    >>> model = BayesianNetworkClassifier().fit(X[:1500], y[:1500])
    >>> round(model.score(X[1500:], y[1500:]), 3)
    0.862
    >>> model.structure_, model.network_.dag.markov_blanket("dysp")
    ('free', ('bronc', 'either'))
    >>> model.predict_proba(X[:2]).round(2)
    array([[0.19, 0.81],
           [0.93, 0.07]])
    """

    def __init__(
        self,
        *,
        objective: str | Objective | Likelihood = str(DEFAULT),
        structure: str = "auto",
        search: str = "orders",
        discretize: Any = "quantile(5)",
        missing: str = "level",
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        tiers: Sequence[Sequence[str]] = (),
        max_parents: int | None = None,
        time_limit: float | None = None,
        target: str | None = None,
        prune: bool = False,
        alpha: float | None = None,
        averaged: bool = False,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.objective = objective
        self.structure = structure
        self.search = search
        self.discretize = discretize
        self.missing = missing
        self.required = required
        self.forbidden = forbidden
        self.tiers = tiers
        self.max_parents = max_parents
        self.time_limit = time_limit
        self.target = target
        self.prune = prune
        self.alpha = alpha
        self.averaged = averaged
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803 - scikit-learn's names
        """Learn the network of the columns of X and of y.

        Parameters
        ----------
        X : array, pandas or polars DataFrame
            One row per observation.
        y : array
            What is to be predicted: text, whole numbers or booleans.
        sample_weight : array, optional
            How many observations each row stands for.
        """
        self._check_options()
        alphas = _ALPHAS if self.alpha is None else (check_positive("alpha", self.alpha),)
        called = getattr(y, "name", None)
        table, labels = self._checked(X, y)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        kept = np.ones(len(labels), dtype=bool) if weights is None else weights > 0
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(np.unique(codes[kept])) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least 2 classes, got 1 class: {text_of(self.classes_[0])!r}"
            )
        self.target_ = self.target if self.target is not None else str(called) if called else "y"
        data = self._with_target(self._features(table, weights, kept), codes[kept], weights)
        results = {structure: self._learned(data, structure) for structure in self._structures()}
        losses = {
            (structure, alpha): loss
            for structure, result in results.items()
            for alpha, loss in zip(alphas, left_out_loss(result.dag, data, self.target_, alphas), strict=True)
        }
        self.structure_, self.alpha_ = min(losses, key=losses.__getitem__)
        self.result_: Result = results[self.structure_]
        self.dag_: DAG = self.result_.dag
        self.network_: BayesianNetwork = fit(self._pruned(self.dag_), data, alpha=self.alpha_)
        if self.averaged:
            self.posterior_: Posterior = self._sampled(data)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the probabilities of the classes in every row, in the order of `classes_`."""
        check_is_fitted(self)
        table = checked_table(self, X, reset=False, gaps=True)
        if self.averaged:
            one = self.posterior_.networks(1)[0].network
            return self.posterior_.predict_proba(as_evidence(named(self, table), one, self.target_), self.target_)
        evidence = as_evidence(named(self, table), self.network_, self.target_)
        return self.network_.predict_proba(evidence, self.target_)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the most probable class of every row, in the type of y; of equals, the first."""
        chosen = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[chosen]

    def _check_options(self) -> None:
        if not is_one_of(self.structure, ("auto", *_STRUCTURES)):
            raise ParameterError(
                f"structure must be one of auto, {', '.join(_STRUCTURES)}, got {brief(self.structure)}"
            )
        if not is_one_of(self.missing, ("level", "error")):
            raise ParameterError(f'missing must be "level" or "error", got {brief(self.missing)}')
        for name in ("required", "forbidden", "tiers"):
            if not is_iterable(getattr(self, name)):
                raise ParameterError(f"{name} must be a sequence, got {brief(getattr(self, name))}")
        if isinstance(self.discretize, str):
            Discretizer.of(self.discretize)  # whether or not there are numbers to be cut

    def _checked(self, table: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Check a table and its target the way scikit-learn does."""
        validate_data(self, y=y, skip_check_array=True)  # which says so if there is no y
        checked = checked_table(self, table, reset=True, gaps=True)
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        check_consistent_length(checked, labels)
        return checked, labels

    def _features(self, table: Any, weights: Any, kept: NDArray[np.bool_]) -> Dataset | None:
        """Read the features that say anything."""
        survey = Survey.of(table, kept)
        if len(survey.constant) == self.n_features_in_:
            return None
        cuts = dict.fromkeys(survey.numeric, self.discretize) if isinstance(self.discretize, str) else self.discretize
        try:
            return read(table, drop=survey.constant, weights=weights, missing=self.missing, discretize=cuts)  # type: ignore[arg-type]
        except DataError as error:
            if not error.remedy:
                raise
            told = (
                '\n(options of mapdag.read, of which this estimator has discretize and missing="level"; '
                "leave out columns or rows of X yourself)"
            )
            raise DataError(*error.parts, told) from error

    def _with_target(self, features: Dataset | None, codes: NDArray[np.intp], weights: Any) -> Dataset:
        """Add the target as the last column."""
        texts = [text_of(value) for value in self.classes_]
        if len(set(texts)) < len(texts) or "" in texts:
            texts = [str(code) for code in range(len(texts))]
        if features is None:
            left = None if weights is None else weights[weights > 0]
            return Dataset.from_codes(codes[:, np.newaxis], names=[self.target_], levels=[texts], weights=left)
        if self.target_ in features.names:
            raise ParameterError(
                f"target must be a name that no column of X has, got {self.target_!r}: pass ", Setting("target", "...")
            )
        whole = Dataset.from_codes(
            np.vstack([features.codes, codes]).T,
            names=[*features.names, self.target_],
            levels={**features.levels, self.target_: texts},
            weights=features.weights,
        )
        return replace(whole, codings=features.codings)

    def _structures(self) -> Sequence[str]:
        """Return the structures to choose from."""
        if self.structure != "auto":
            return (self.structure,)
        # Who knows arcs does not want others; and what the target is a parent of has one.
        known = any(map(tuple, (self.required, self.forbidden, self.tiers))) or self.max_parents == 0
        return _STRUCTURES[:1] if known else _STRUCTURES

    def _learned(self, data: Dataset, structure: str) -> Result:
        """Learn the best graph of a structure."""
        options = self._options(data, structure)
        # Arcs that the user did not ask about need no warning.
        with unsaid() if self.structure == "auto" and structure != "free" else nullcontext():
            return learn(data, self.objective, search=self.search, **options)

    def _options(self, data: Dataset, structure: str) -> dict[str, Any]:
        """Return the constraints of a structure, and limits."""
        options: dict[str, Any] = {name: getattr(self, name) for name in _PASSED_ON}
        options["required"] = list(self.required)
        if structure != "free":
            options["required"] += [(self.target_, name) for name in data.names if name != self.target_]
        if structure == "naive":
            options["max_parents"] = 1
        seed = 0 if self.random_state is None else self.random_state
        return {**options, "seed": seed, "threads": self.n_jobs}

    def _sampled(self, data: Dataset) -> Posterior:
        """Return the posterior over graphs of the structure that was chosen."""
        with unsaid():  # what there is to say of the objective was said of the best graph
            found = posterior(data, self.result_.objective, **self._options(data, self.structure_))
        return replace(found, alpha=self.alpha_)

    def _pruned(self, dag: DAG) -> DAG:
        """Return the part of the graph that matters for the target, if that is wanted."""
        if not self.prune:
            return dag
        return dag.subgraph([self.target_, *dag.markov_blanket(self.target_)])


# Choosing an objective -----------------------------------------------------------------------------------------------


def left_out_loss(dag: DAG, data: Dataset, target: str, alphas: Sequence[float]) -> Floats:
    """Return the log loss of a target in every observation, its probabilities estimated from all others.

    The graph is given: only the parameters are estimated anew. Taking one observation away changes a single cell of
    each table, so that nothing needs to be counted again. For each alpha, the mean over observations.
    """
    actual = data.column(target)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)
    once = np.minimum(weights, 1.0)  # what is taken away: one of the observations that a row stands for
    rows = np.arange(data.n_rows)
    logs = np.zeros((len(alphas), data.n_rows, len(data.levels[target])))
    for member in (target, *dag.children(target)):
        family = [*dag.parents(member), member]
        counts = count_cells(data, family)
        cells = _by_level(data, family, target, counts)
        cells[rows, actual] -= once
        totals = np.zeros_like(cells)  # of the target's own family: the same for all of its levels
        if member != target:
            totals = _by_level(data, family[:-1], target, counts.sum(axis=-1))
            totals[rows, actual] -= once
        for i, alpha in enumerate(alphas):
            imaginary = alpha / counts.size
            logs[i] += np.log(cells + imaginary) - np.log(totals + imaginary * counts.shape[-1])
    logs -= logs.max(axis=2, keepdims=True)
    losses = np.log(np.exp(logs).sum(axis=2)) - logs[:, rows, actual]
    return np.asarray(losses @ weights / weights.sum())


def _by_level(data: Dataset, nodes: list[str], target: str, counts: Floats) -> Floats:
    """Return the entries of a table that belong to each row, one for each level of the target."""
    axis, others = nodes.index(target), [name for name in nodes if name != target]
    flat = np.moveaxis(counts, axis, -1).reshape(-1, counts.shape[axis])
    if not others:
        return np.repeat(flat, data.n_rows, axis=0)
    cards = [len(data.levels[name]) for name in others]
    chosen: Floats = flat[cell_numbers([data.column(name) for name in others], cards)]
    return chosen
