"""read() on tables that hold positions in the declared levels instead of labels: said so, or found out."""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapdag.data import Dataset, read
from mapdag.errors import DataError, MapdagError, MapdagWarning

LEVELS = {"x": ["low", "mid", "high"], "y": ["no", "yes"]}
LETTERS = {"x": ["a", "b"], "y": ["c", "d"]}


def test_codes_are_positions_in_the_declared_levels():
    declared = {"x": ["low", "mid", "high"]}
    data = read(b"x,y\n0,1\n2,0\n", levels=declared, codes=True)
    assert data.levels["x"] == ("low", "mid", "high")
    assert data.column("x").tolist() == [0, 2]
    assert data.levels["y"] == ("0", "1")
    with pytest.raises(DataError, match=r"'x' has the value '0' .*: pass codes=True or levels="):
        read(b"x,y\n0,1\n2,0\n", levels=declared, codes=False)
    with pytest.raises(DataError, match=r"'x' has the value '3' .* but the codes go from 0 to 2, for the levels 'low'"):
        read(b"x,y\n0,1\n3,0\n", levels=declared, codes=True)


def test_labels_are_no_codes_once_the_table_is_said_to_hold_codes():
    with pytest.raises(DataError, match=r"'y' has the value 'yes'"):
        read({"y": ["0", "yes"]}, levels={"y": ["no", "yes"]}, codes=True)
    with pytest.raises(DataError, match=r"'y' has the value '01'"):
        read({"y": ["0", "01"]}, levels={"y": ["no", "yes"]}, codes=True)
    data = read({"y": ["1", "2"]}, levels={"y": ["1", "2", "3"]}, codes=True)
    assert data.column("y").tolist() == [1, 2]


@pytest.mark.parametrize(
    "source",
    [
        b"x,y,z\n0,1,a\n2,0,b\n",
        b"x,y,z\n0.0,1.0,a\n2.0,0.0,b\n",
        {"x": [0, 2], "y": [1, 0], "z": ["a", "b"]},
        {"x": np.array([0.0, 2.0]), "y": np.array([1, 0], dtype=np.int8), "z": ["a", "b"]},
        pd.DataFrame({"x": pd.Categorical([0, 2], [0, 2, 7]), "y": ["1", "0"], "z": ["a", "b"]}),
        pl.DataFrame({"x": [0, 2], "y": ["1", "0"], "z": ["a", "b"]}),
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_codes_are_found_out_with_one_warning(source, tmp_path):
    path = tmp_path / "levels.json"
    path.write_text(json.dumps(LEVELS))
    for declared in (LEVELS, path):
        with pytest.warns(
            MapdagWarning, match=r"'x' holds '0(\.0)?'.*'low', 'mid', 'high'.*codes=True.*codes=False"
        ) as found:
            data = read(source, levels=declared)
        assert len(found) == 1
        assert data.codes.tolist() == [[0, 2], [1, 0], [0, 1]]
        assert data == read(source, levels=declared, codes=True)
        with pytest.raises(DataError, match=r"codes=True"):
            read(source, levels=declared, codes=False)


def test_codes_are_found_out_against_a_network_or_dataset():
    like = SimpleNamespace(levels=LEVELS)
    with pytest.warns(MapdagWarning, match="read as codes"):
        assert read({"y": [1, 1], "x": [0, 0]}, like=like).row(0) == {"y": "yes", "x": "low"}
    with pytest.warns(MapdagWarning, match="read as codes"):
        data = read(Dataset.from_codes([[0, 1], [2, 0]], names=["x", "y"]), like=like)
    assert data.row(1) == {"x": "high", "y": "no"}


def test_columns_whose_labels_fit_too_are_codes_like_the_others():
    source = {"a": ["1", "2", "1"], "y": ["0", "1", "0"]}
    with pytest.warns(MapdagWarning, match=r"\('1' in 'a' means '2', for example\)"):
        data = read(source, levels={"a": [1, 2, 3], "y": ["no", "yes"]})
    assert data.column("a").tolist() == [1, 2, 1]
    with pytest.warns(MapdagWarning) as found:
        read({"a": ["0", "1"], "y": ["0", "1"]}, levels={"a": 2, "y": ["no", "yes"]})
    assert "for example" not in str(found[0].message)


def test_tables_whose_labels_all_fit_never_hold_codes():
    data = read({"a": ["1", "2"], "b": ["0", "1"]}, levels={"a": [1, 2, 3], "b": [1, 0]})
    assert data.codes.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("column", "value"),
    [("x", "3"), ("x", "-1"), ("x", "low"), ("x", "0.5"), ("x", "00"), ("y", "yes"), ("y", "2"), ("y", "True")],
)
def test_one_value_that_is_no_code_leaves_it_at_labels(column, value):
    source = {"x": ["0", "2", "1"], "y": ["1", "0", "1"]}
    source[column][2] = value
    with pytest.raises(DataError) as found:
        read(source, levels=LEVELS)
    with pytest.raises(DataError) as strict:
        read(source, levels=LEVELS, codes=False)
    assert str(found.value).splitlines()[0] == str(strict.value).splitlines()[0]
    assert "the declared levels are 'low', 'mid', 'high'" in str(found.value)
    assert "All at once: levels=" in str(found.value)


def test_missing_values_are_no_evidence_against_codes():
    source = b"x,y\n0,1\nNA,0\n2,\n1,1\n"
    for missing, expected in (("drop", [[0, 1], [1, 1]]), ("level", [[0, 3, 2, 1], [1, 0, 2, 1]])):
        with pytest.warns(MapdagWarning, match="read as codes"):
            data = read(source, levels=LEVELS, missing=missing)
        assert data.codes.tolist() == expected
        assert data == read(source, levels=LEVELS, missing=missing, codes=True)
    with pytest.raises(DataError) as error:
        read(source, levels=LEVELS)
    assert "'x' has missing values (written 'NA') in 1 of 4 rows (row 2)" in str(error.value)
    assert "declared levels are" not in str(error.value)


def test_rows_left_out_are_no_evidence_for_codes():
    source = {"x": ["a", None, "b"], "y": ["1", "0", "2"]}
    declared = {"x": ["a", "b"], "y": ["1", "2", "3"]}
    assert read(source, levels=declared, missing="drop").codes.tolist() == [[0, 1], [0, 1]]
    assert read({"y": source["y"]}, levels={"y": [1, 2, 3]}, weights=[1, 0, 1]).column("y").tolist() == [0, 1]


def test_labels_only_in_rows_left_out_are_no_evidence_against_codes():
    with pytest.warns(MapdagWarning, match="read as codes"):
        data = read({"x": ["0", "a", "1"], "y": ["1", None, "0"]}, levels=LETTERS, missing="drop")
    assert data.codes.tolist() == [[0, 1], [1, 0]]


def test_a_level_named_na_is_missing_among_codes():
    like = read({"x": ["a", "b", None]}, missing="level")
    with pytest.warns(MapdagWarning, match="read as codes"):
        data = read({"x": ["0", "NA", "1"]}, like=like, missing="level")
    assert [data.row(i)["x"] for i in range(3)] == ["a", "NA", "b"]


def test_columns_to_be_cut_hold_numbers_and_no_codes():
    cuts = {"x": [1.0]}
    levels = {"x": ["(-inf,1]", "(1,inf)"], "y": ["no", "yes"]}
    with pytest.warns(MapdagWarning, match="'y' holds '1'"):
        data = read({"x": [0, 1, 2.5], "y": [1, 0, 1]}, levels=levels, discretize=cuts)
    assert data.codes.tolist() == [[0, 0, 1], [1, 0, 1]]


def test_values_that_cannot_be_categories_are_said_to_be_so():
    with pytest.raises(DataError, match="'x' holds list values"):
        read({"x": [[1], [2]], "y": ["no", "yes"]}, levels=LEVELS)


texts = st.sampled_from([None, "NA", "0", "1", "2", "1.0", "a", "b", "True"])
levels = st.lists(st.sampled_from(["0", "1", "2", "a", "b", "NA", "True"]), min_size=2, max_size=4, unique=True)


@settings(deadline=None)
@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=6),
    st.tuples(levels, levels),
    st.sampled_from(["error", "drop", "level"]),
)
def test_the_result_is_that_of_labels_or_else_of_codes(rows, declared, missing):
    """Whatever is found out, some explicit option gives the same; labels win, and only codes are warned of."""
    source = {name: [row[i] for row in rows] for i, name in enumerate("xy")}
    options = {"levels": dict(zip("xy", declared, strict=True)), "missing": missing}

    def attempt(codes):
        try:
            return read(source, codes=codes, **options)
        except MapdagError:
            return None

    as_labels, as_codes = attempt(False), attempt(True)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        data = attempt(None)
    assert data == as_labels if as_labels is not None else data in (None, as_codes)
    assert len(found) == (as_labels is None and data is not None)
    if missing == "level" and as_labels is None:
        assert data == as_codes
