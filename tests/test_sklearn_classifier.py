"""The classifier for scikit-learn: its checks, what it learns, what it makes of values that it has never seen."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import mapdag as md
from mapdag.errors import DataError, ParameterError
from mapdag.sklearn import BayesianNetworkClassifier
from mapdag.sklearn.classifier import left_out_loss

pytestmark = pytest.mark.filterwarnings("ignore::mapdag.errors.MapdagWarning")

#: Checks that cannot pass, and why.
EXPECTED = {}


@parametrize_with_checks(
    [BayesianNetworkClassifier(n_jobs=1), BayesianNetworkClassifier(structure="augmented", alpha=1, n_jobs=1)],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def asia():
    frame = md.network("asia").sample(1500, seed=4).to_pandas().astype(str)
    return frame.drop(columns="dysp"), frame["dysp"]


def test_a_free_network_is_the_one_that_learn_finds(asia):
    X, y = asia
    model = BayesianNetworkClassifier(structure="free", alpha=2).fit(X, y)
    whole = X.assign(dysp=y)
    result = md.learn(whole)
    assert model.dag_ == result.dag
    assert model.network_ == result.fit(alpha=2)
    assert model.target_ == "dysp"
    expected = model.network_.predict_proba(whole, "dysp")
    assert np.allclose(model.predict_proba(X), expected)
    assert (model.predict(X) == model.network_.predict(whole, "dysp")).all()


def test_an_augmented_network_has_the_target_as_a_parent_of_all(asia):
    X, y = asia
    model = BayesianNetworkClassifier(structure="augmented").fit(X, y)
    assert set(model.dag_.children("dysp")) == set(X.columns)
    assert model.dag_.n_arcs > X.shape[1]
    naive = BayesianNetworkClassifier(structure="naive").fit(X, y)
    assert naive.dag_.arcs == tuple(("dysp", name) for name in X.columns)


def naive_loss(dag, data, target, alpha):
    """Leave out the observations one by one, and fit the rest."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    total = 0.0
    for row, weight in enumerate(weights):
        left = weights.astype(float)
        left[row] -= min(weight, 1)
        rest = md.Dataset(data.names, data.levels, data.codes, left)
        said = md.fit(dag, rest, alpha=alpha).predict_proba(data.take([row]), target)
        total -= weight * np.log(said[0, data.column(target)[row]])
    return total / weights.sum()


@pytest.mark.parametrize("weights", [None, [1, 2, 3], [0.5, 1.5, 2.25]])
def test_the_choice_is_made_by_rows_that_are_left_out(weights):
    data = md.network("asia").sample(60, seed=1).select(["tub", "lung", "either", "xray", "dysp"])
    if weights is not None:
        data = md.Dataset(data.names, data.levels, data.codes, np.resize(weights, 60))
    for arcs in (
        [],
        [("lung", "either")],
        [("tub", "either"), ("lung", "either"), ("either", "xray"), ("xray", "dysp")],
    ):
        dag = md.DAG(data.names, arcs)
        for target in ("either", "xray", "tub"):
            found = left_out_loss(dag, data, target, [0.5, 10])
            assert found == pytest.approx([naive_loss(dag, data, target, alpha) for alpha in (0.5, 10)])


def test_what_predicts_best_is_chosen(asia):
    X, y = asia
    model = BayesianNetworkClassifier().fit(X, y)
    data = model.result_.data
    losses = {}
    for structure in ("free", "augmented", "naive"):
        dag = BayesianNetworkClassifier(structure=structure).fit(X, y).dag_
        found = left_out_loss(dag, data, "dysp", (1, 3, 10, 30, 100))
        losses |= {(structure, alpha): loss for alpha, loss in zip((1, 3, 10, 30, 100), found, strict=True)}
    assert (model.structure_, model.alpha_) == min(losses, key=losses.get)
    known = BayesianNetworkClassifier(forbidden=[("dysp", "asia")], alpha=4).fit(X, y)
    assert (known.structure_, known.alpha_) == ("free", 4)
    assert BayesianNetworkClassifier(max_parents=0).fit(X, y).dag_.n_arcs == 0


def test_pruning_keeps_the_predictions_of_complete_rows(asia):
    X, y = asia
    whole = BayesianNetworkClassifier(structure="free", alpha=1).fit(X, y)
    pruned = clone(whole).set_params(prune=True).fit(X, y)
    blanket = set(whole.dag_.markov_blanket("dysp"))
    assert set(pruned.network_.nodes) == blanket | {"dysp"}
    assert pruned.dag_ == whole.dag_
    assert len(blanket) < X.shape[1]
    assert np.allclose(pruned.predict_proba(X), whole.predict_proba(X))


def test_arrays_and_frames_of_any_kind_agree(asia):
    X, y = asia
    expected = BayesianNetworkClassifier(target="y").fit(X, y).predict_proba(X)
    for table in (X.to_numpy(), pl.from_pandas(X), X.astype("category"), X.to_numpy().astype(str)):
        assert np.allclose(
            BayesianNetworkClassifier(target="y").fit(table, y.to_numpy()).predict_proba(table), expected
        )


@pytest.mark.parametrize(
    "classes",
    [
        np.array([0, 1]),
        np.array([-3, 7]),
        np.array([False, True]),
        np.array(["no", "NA"]),
        np.array(["", " "]),
        np.array(["☃", "<b>"], dtype=object),
        np.array([0.0, 1.0]),
    ],
)
def test_predictions_have_the_type_of_the_target(asia, classes):
    X, y = asia
    target = classes[(y == "yes").to_numpy().astype(int)]
    model = BayesianNetworkClassifier().fit(X, target)
    said = model.predict(X)
    assert said.dtype == target.dtype
    assert set(said) <= set(classes)
    assert np.array_equal(model.classes_, np.unique(target))
    assert np.mean(said == target) > 0.8


def test_numbers_are_cut_where_the_training_data_were():
    X, y = load_iris(return_X_y=True)
    model = BayesianNetworkClassifier().fit(X[::2], y[::2])
    assert list(model.network_.cuts) == ["X1", "X2", "X3", "X4"]
    assert model.score(X[1::2], y[1::2]) > 0.85
    beyond = X[1::2] * 100  # far outside of the training data: the last interval
    assert np.isfinite(model.predict_proba(beyond)).all()
    alone = np.vstack([model.predict_proba(row[np.newaxis]) for row in X[1:20:2]])
    assert np.allclose(alone, model.predict_proba(X[1:20:2]))
    with pytest.raises(DataError, match="looks continuous"):
        BayesianNetworkClassifier(discretize=None).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcd"))
    mixed = BayesianNetworkClassifier(discretize=dict.fromkeys("abcd", "interval(3)")).fit(frame, y)
    assert all(len(mixed.network_.levels[name]) == 3 for name in "abcd")


def test_what_was_never_seen_is_not_observed(asia):
    X, y = asia
    model = BayesianNetworkClassifier().fit(X, y)
    odd = X[:5].copy()
    odd["bronc"] = ["perhaps", None, "", "NA", "?"]
    found = model.predict_proba(odd)
    for i in range(5):
        evidence = odd.iloc[i].drop("bronc").to_dict()
        expected = model.network_.query("dysp", evidence)
        assert found[i] == pytest.approx(list(expected.to_dict().values()))
    nothing = pd.DataFrame(np.full((1, X.shape[1]), None), columns=X.columns)
    assert model.predict_proba(nothing)[0] == pytest.approx(list(model.network_.query("dysp").to_dict().values()))


def test_missing_values_are_a_level_where_the_training_data_had_some(asia):
    X, y = asia
    holes = X.copy()
    holes.loc[y == "yes", "xray"] = None
    model = BayesianNetworkClassifier().fit(holes, y)
    assert model.network_.levels["xray"][-1] == "NA"
    assert model.score(holes, y) == 1
    with pytest.raises(DataError, match="missing values"):
        BayesianNetworkClassifier(missing="error").fit(holes, y)
    numbers = np.random.default_rng(1).normal(size=(len(y), 2))
    numbers[(y == "yes").to_numpy(), 0] = np.nan
    assert BayesianNetworkClassifier().fit(numbers, y).score(numbers, y) == 1


def test_constant_features_are_left_out_and_ignored(asia):
    X, y = asia
    model = BayesianNetworkClassifier().fit(X.assign(same="a", void=None), y)
    assert model.n_features_in_ == X.shape[1] + 2
    assert set(model.network_.nodes) == {*X.columns, "dysp"}
    expected = BayesianNetworkClassifier().fit(X, y).predict_proba(X)
    assert np.allclose(model.predict_proba(X.assign(same="b", void="x")), expected)
    alone = BayesianNetworkClassifier(alpha=1e-9).fit(np.zeros((10, 1)), [0] * 7 + [1] * 3)
    assert alone.predict_proba([[1]])[0] == pytest.approx([0.7, 0.3])


def test_weights_are_repeated_rows(asia):
    X, y = asia
    times = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = BayesianNetworkClassifier().fit(X, y, sample_weight=times)
    repeated = BayesianNetworkClassifier().fit(X.loc[X.index.repeat(times)], y.repeat(times))
    assert weighted.network_ == repeated.network_
    half = BayesianNetworkClassifier(alpha=5).fit(X, y, sample_weight=times / 2)
    assert half.predict_proba(X).shape == (len(y), 2)


def test_constraints_reach_the_search(asia):
    X, y = asia
    model = BayesianNetworkClassifier(
        structure="free", required=[("asia", "dysp")], forbidden=[("bronc", "dysp"), ("dysp", "bronc")], search="hc"
    ).fit(X, y)
    assert model.dag_.has_arc("asia", "dysp")
    assert not model.dag_.has_arc("bronc", "dysp")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"structure": "tree"}, "structure must be one of auto, free, augmented, naive"),
        ({"missing": "drop"}, 'missing must be "level" or "error"'),
        ({"target": "smoke"}, "target must be a name that no column of X has"),
        ({"search": "magic"}, "search must be one of"),
        ({"alpha": 0}, "alpha must be a positive number"),
    ],
)
def test_nonsense_is_refused(asia, options, told):
    with pytest.raises(ParameterError, match=told):
        BayesianNetworkClassifier(**options).fit(*asia)


def test_targets_that_are_no_classes_are_refused(asia):
    X, y = asia
    with pytest.raises(ValueError, match="at least 2 classes, got 1 class"):
        BayesianNetworkClassifier().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="Unknown label type"):
        BayesianNetworkClassifier().fit(X, np.random.default_rng(1).normal(size=len(y)))
    with pytest.raises(NotFittedError):
        BayesianNetworkClassifier().predict(X)


def test_grid_searches_pipelines_and_pickles_work(asia):
    X, y = asia
    grid = {"objective": ["BDeu(1)", "MU(c=1)+BDs(1)"], "structure": ["auto", "naive"]}
    search = GridSearchCV(BayesianNetworkClassifier(), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_score_ < 0
    assert (pickle.loads(pickle.dumps(search)).predict(X) == search.predict(X)).all()
    numbers, target = load_wine(return_X_y=True)
    pipeline = make_pipeline(SimpleImputer(), BayesianNetworkClassifier())
    assert cross_val_score(pipeline, numbers, target, cv=3).mean() > 0.9


def test_ways_out_that_the_classifier_does_not_have_are_said_to_be_others():
    table = pd.DataFrame({"id": [f"k{i}" for i in range(40)], "x": [0, 1] * 20})
    with pytest.raises(DataError, match=r"(?s)drop=\[\"id\"\].*leave out columns or rows of X yourself"):
        BayesianNetworkClassifier().fit(table, [0, 1] * 20)


@pytest.mark.filterwarnings("error::mapdag.errors.MapdagWarning")
def test_arcs_that_nobody_required_are_not_warned_of():
    assert BayesianNetworkClassifier().fit([[1, 2], [3, 4]], [0, 1]).predict([[1, 2]]) == [0]
