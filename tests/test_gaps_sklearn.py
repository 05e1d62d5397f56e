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


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "Int64", "UInt8", "boolean", "string", "object", "category", "datetime64[ns]"]
)
def test_columns_of_any_type_are_filled_and_keep_it(dtype):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (200, 3)) if dtype == "boolean" else rng.integers(1, 4, (200, 3))
    codes[:, 1] = codes[:, 0]
    table = pd.DataFrame(codes, columns=list("abc"), index=np.repeat(np.arange(100), 2))  # labels of rows may repeat
    table = table.apply(lambda column: pd.to_datetime("2020-01-0" + column.astype(str)) if "date" in dtype else column)
    table = table.astype(dtype) if "date" not in dtype else table
    holed = table.astype("Int64").astype(dtype) if dtype == "Int64" else table.copy()
    gone = rng.random(table.shape) < 0.2
    holed = holed.mask(gone)
    filled = Imputer(objective="BIC").fit_transform(holed)
    assert (filled.dtypes == holed.dtypes).all()
    assert not filled.isna().any().any()
    assert (filled.to_numpy()[~gone] == table.to_numpy()[~gone]).all()
    sure = gone[:, 0] & ~gone[:, 1]
    assert (filled["a"].to_numpy()[sure] == table["a"].to_numpy()[sure]).all()
    assert filled.index.equals(holed.index)


def test_texts_that_mean_missing_are_filled_in_any_form():
    rows = [["yes", "on"], ["no", "off"], ["yes", "NA"], ["", "off"]] * 20
    frame = pd.DataFrame(rows, columns=["a", "b"])
    learned = Imputer(objective="BIC").fit(frame)
    for table in (frame, pl.from_pandas(frame), np.array(rows)):
        filled = (
            learned.transform(table) if hasattr(table, "columns") else Imputer(objective="BIC").fit_transform(table)
        )
        assert np.asarray(filled)[2:4].tolist() == [["yes", "on"], ["no", "off"]]


def test_a_text_that_is_longer_than_those_of_new_rows_is_not_cut_off():
    rows = np.array([["y", "on"], ["never", "off"]] * 20)
    learned = Imputer(objective="BIC").fit(rows)
    assert learned.transform(np.array([["", "off"]])).tolist() == [["never", "off"]]


def test_values_that_were_never_met_stay_and_levels_that_a_type_lacks_are_added():
    table = pd.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v"] * 20})
    learned = Imputer(objective="BIC").fit(table)
    new = pd.DataFrame({"a": pd.Categorical(["z", None]), "b": ["u", "v"]})
    filled = learned.transform(new)
    assert filled["a"].tolist() == ["z", "y"]
    assert filled["a"].dtype == "category"
    enum = pl.DataFrame({"a": pl.Series(["x", None], dtype=pl.Enum(["x"])), "b": ["u", "v"]})
    assert learned.transform(enum)["a"].to_list() == ["x", "y"]


def test_numbers_that_are_not_categories_are_refused_with_a_way_out():
    table = pd.DataFrame({"a": np.random.default_rng(0).normal(size=100), "b": ["u", "v"] * 50})
    with pytest.raises(md.errors.DataError, match=r"looks continuous(.|\n)*ColumnTransformer"):
        Imputer().fit(table)
