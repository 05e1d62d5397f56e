"""Structure learning for scikit-learn: its checks, its attributes, its company."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

import mapdag as md
from mapdag.sklearn import StructureLearner

pytestmark = pytest.mark.filterwarnings("ignore::mapdag.errors.MapdagWarning")  # MU(c=1) on graphs of two nodes

#: Checks that cannot pass, and why. None: that of array API input is skipped by scikit-learn itself unless
#: SCIPY_ARRAY_API is set.
EXPECTED = {}


@pytest.fixture(scope="module")
def data():
    return md.network("asia").sample(1200, seed=4)


# The checks feed continuous numbers, which are refused unless they are cut.
@parametrize_with_checks([StructureLearner(discretize="quantile", n_jobs=1)], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_every_kind_of_table_gives_the_same_graph(data):
    expected = md.learn(data, "BDeu(1)")
    frame = data.to_pandas()
    for table in (data, frame, data.to_polars()):
        learner = StructureLearner(objective="BDeu(1)").fit(table)
        assert learner.dag_ == expected.dag
        assert learner.cpdag_ == expected.cpdag
        assert learner.score_ == expected.score
        assert learner.n_features_in_ == 8
        assert learner.feature_names_in_.tolist() == list(data.names)
        assert learner.network_ == expected.fit(alpha=1)
    array = StructureLearner(objective="BDeu(1)").fit(frame.to_numpy())
    names = dict(zip(array.dag_.nodes, data.names, strict=True))
    assert array.dag_.renamed(names).skeleton() == expected.dag.skeleton()
    assert not hasattr(array, "feature_names_in_")


def test_declared_levels_survive():
    frame = pl.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20}).with_columns(
        pl.col("a").cast(pl.Enum(["x", "y", "never"]))
    )
    assert StructureLearner().fit(frame).result_.data.levels["a"] == ("x", "y", "never")
    learner = StructureLearner(levels={"b": ["u", "v", "w"]}).fit(frame)
    assert learner.result_.data.levels["b"] == ("u", "v", "w")


def test_parameters_are_kept_as_given_and_cloned():
    learner = StructureLearner(objective=md.BIC(), max_parents=2, forbidden=[("a", "b")])
    again = clone(learner)
    assert again.get_params() == learner.get_params()
    assert again.get_params()["forbidden"] == [("a", "b")]
    assert "BIC" in repr(learner)


def test_options_reach_the_search(data):
    frame = data.to_pandas()
    learner = StructureLearner(
        objective="BDeu(1)", search="tabu", required=[("asia", "smoke")], forbidden=[("smoke", "lung")], max_parents=1
    ).fit(frame)
    assert learner.dag_.has_arc("asia", "smoke")
    assert not learner.dag_.has_arc("smoke", "lung")
    assert all(len(learner.dag_.parents(node)) <= 1 for node in learner.dag_.nodes)
    with pytest.raises(md.errors.ParameterError, match="search must be one of"):
        StructureLearner(search="magic").fit(frame)


def test_score_is_the_mean_log_likelihood_of_rows(data):
    learner = StructureLearner(objective="BDeu(1)", alpha=2).fit(data.to_pandas())
    test = md.network("asia").sample(300, seed=5)
    expected = learner.result_.fit(alpha=2).log_likelihood(test) / 300
    assert learner.score(test.to_pandas()) == pytest.approx(expected)
    assert learner.score(test) == pytest.approx(expected)
    with pytest.raises(NotFittedError):
        StructureLearner().score(test)


def test_grid_searches_and_pipelines_work(data):
    search = GridSearchCV(StructureLearner(), {"objective": ["BDeu(1)", "MU(c=1)+BDs(1)"]}, cv=3).fit(data.to_pandas())
    assert np.isfinite(search.best_score_)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 1))
    table = np.hstack([x, x + 0.1 * rng.normal(size=(400, 1)), rng.normal(size=(400, 1))])
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    pipeline = make_pipeline(bins, StructureLearner(objective="BDeu(1)")).fit(table)
    assert pipeline[-1].dag_.skeleton() == (("X1", "X2"),)
    cut = StructureLearner(objective="BDeu(1)", discretize="quantile").fit(table)
    assert cut.dag_.skeleton() == (("X1", "X2"),)
    assert np.isfinite(cut.score(table[:50]))
    each = StructureLearner(objective="BDeu(1)", discretize=dict.fromkeys(["X1", "X2", "X3"], "quantile")).fit(table)
    assert each.score(table[:50]) == cut.score(table[:50])


def test_without_scikit_learn_the_extra_is_named():
    code = "import sys; sys.modules['sklearn'] = None\nimport mapdag.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in done.stderr
    assert "pip install 'mapdag[sklearn]'" in done.stderr
