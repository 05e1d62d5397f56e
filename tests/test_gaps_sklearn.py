"""scikit-learn estimators with gaps."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from tests.test_gaps_networks import with_holes

import mapdag as md
from mapdag.sklearn import Imputer, StructureLearner


@pytest.fixture(scope="module")
def frames():
    full = md.network("asia").sample(600, seed=1)
    return full.to_pandas(), with_holes(full, 0.15, seed=2).to_pandas()


@pytest.mark.parametrize("how", ["marginal", "joint", "draw"])
def test_only_gaps_are_filled_and_mostly_right(frames, how):
    full, gaps = frames
    filled = Imputer(objective="BDeu(1)", how=how).fit_transform(gaps)
    assert list(filled.columns) == list(gaps.columns)
    assert not filled.isna().any().any()
    known = gaps.notna().to_numpy()
    assert (filled.to_numpy() == full.to_numpy())[known].all()
    assert (filled.to_numpy() == full.to_numpy())[~known].mean() > 0.75
    assert (filled.dtypes == gaps.dtypes).all()


def test_new_rows_polars_and_arrays_are_filled_in_their_own_form(frames):
    _, gaps = frames
    learned = Imputer(objective="BDeu(1)").fit(gaps.astype(object))
    new = pl.from_pandas(gaps.head(7).astype(object).where(gaps.head(7).notna(), None).astype(object))
    assert learned.transform(new).null_count().sum_horizontal().item() == 0
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (300, 1)) + np.array([[0.0, 0.0, 1.0]])
    holed = np.where(rng.random(codes.shape) < 0.2, np.nan, codes)
    filled = Imputer(objective="BDeu(1)").fit_transform(holed)
    assert filled.dtype == holed.dtype
    alone = np.isnan(holed).all(axis=1)
    assert (filled == codes)[~alone].all()


def test_columns_of_one_value_are_filled_with_it_and_empty_ones_stay():
    table = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20, "c": ["k", None] * 20, "d": [None] * 40})
    table.loc[0, "a"] = None
    filled = Imputer(objective="BDeu(1)").fit_transform(table)
    assert (filled["c"] == "k").all()
    assert filled["d"].isna().all()
    assert filled.loc[0, "a"] == "x"


def test_it_works_in_a_pipeline(frames):
    _, gaps = frames
    codes = make_pipeline(Imputer(objective="BDeu(1)"), OrdinalEncoder()).fit_transform(gaps)
    assert np.isfinite(codes).all()
    assert list(Imputer().fit(gaps).get_feature_names_out()) == list(gaps.columns)


@pytest.mark.parametrize("objective", ["PNAL", "BDeu(1)"])
def test_the_learner_keeps_gaps(frames, objective):
    _, gaps = frames
    learner = StructureLearner(objective=objective, missing="keep").fit(gaps)
    assert learner.dag_.n_arcs > 3
    assert learner.network_.dag == learner.dag_
    assert np.isfinite(learner.score(gaps))
