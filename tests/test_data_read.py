"""read() on tables in memory: every kind of source, and what the options do."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mapdag.data import Dataset, as_dataset, read
from mapdag.errors import DataError, ParameterError
from streams import Stream, labels

ROWS = {"sex": ["f", "m", "m", "f"], "n": [10, 9, 9, 1], "flag": [True, False, True, True]}
LEVELS = {"sex": ("f", "m"), "n": ("1", "9", "10"), "flag": ("False", "True")}


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS).lazy(),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS, dtype=object),
        pd.DataFrame(ROWS).convert_dtypes(),
        pd.DataFrame(ROWS, index=list("wxyz")),
        pa.table(ROWS),
        pa.RecordBatch.from_pydict(ROWS),
        Stream(pa.table(ROWS)),
        pa.table(ROWS).to_reader(),
        {name: np.array(values) for name, values in ROWS.items()},
        {name: pd.Series(values) for name, values in ROWS.items()},
        {name: pl.Series(values) for name, values in ROWS.items()},
        {name: pa.array(values) for name, values in ROWS.items()},
        {name: tuple(values) for name, values in ROWS.items()},
        np.rec.fromarrays([np.array(values) for values in ROWS.values()], names=list(ROWS)),
        b"sex,n,flag\nf,10,True\nm,9,False\nm,9,True\nf,1,True\n",
    ],
    ids=lambda source: f"{type(source).__module__}.{type(source).__name__}",
)
def test_every_kind_of_table_gives_the_same_dataset(source):
    data = read(source)
    assert dict(data.levels) == LEVELS
    assert labels(data, "sex") == ["f", "m", "m", "f"]
    assert data.codes.tolist() == [[0, 1, 1, 0], [2, 1, 1, 0], [1, 0, 1, 1]]
    assert read(data) == data


@pytest.mark.parametrize("kind", [int, bool, str, object, float])
def test_arrays_get_default_names(kind):
    data = read(np.array([[0, 1], [1, 0], [1, 1]]).astype(kind))
    assert data.names == ("X1", "X2")
    assert data.codes.tolist() == [[0, 1, 1], [1, 0, 1]]


def test_masked_cells_are_missing():
    array = np.ma.masked_array([[0, 1], [1, 0], [7, 1]], mask=[[0, 0], [0, 0], [1, 0]])
    assert read(array, missing="drop").n_rows == 2


def test_pandas_categories_are_levels_observed_or_not():
    frame = pd.DataFrame(
        {
            "text": pd.Categorical(["lo", "hi", None], ["lo", "mid", "hi"]),
            "ints": pd.Categorical([3, 1, 1], [3, 2, 1]),
            "floats": pd.Categorical([1.0, 2.5, 2.5], [1.0, 2.0, 2.5]),
            "bools": pd.Categorical([True, True, True], [True, False]),
            "cut": pd.cut([1.0, 9.0, 5.0], [0, 4, 8, 12]),
            "na": pd.Categorical(["NA", "?", "?"], ["?", "NA"]),
        }
    )
    data = read(frame, missing="level")
    assert data.levels["text"] == ("lo", "mid", "hi", "NA")
    assert data.levels["ints"] == ("3", "2", "1")
    assert data.levels["floats"] == ("1", "2", "2.5")
    assert data.levels["bools"] == ("True", "False")
    assert data.levels["cut"] == ("(0, 4]", "(4, 8]", "(8, 12]")
    assert data.levels["na"] == ("?", "NA")
    assert data.codes.tolist() == [[0, 2, 3], [0, 2, 2], [0, 2, 2], [0, 0, 0], [0, 2, 1], [1, 0, 0]]


def test_pandas_missing_values_of_every_kind():
    frame = pd.DataFrame(
        {
            "float": [1.0, np.nan, 2.0],
            "object": ["a", None, "b"],
            "int": pd.array([1, pd.NA, 2], dtype="Int64"),
            "bool": pd.array([False, pd.NA, True], dtype="boolean"),
            "string": pd.array(["a", pd.NA, "b"], dtype="string"),
            "date": pd.to_datetime(["2020-01-01", None, "2020-01-02"]),
            "zoned": pd.to_datetime(["2020-01-01", None, "2020-01-02"], utc=True),
            "mixed": pd.Series([1, None, "x"], dtype=object),
            "arrow": pd.Series([1, None, 2], dtype=pd.ArrowDtype(pa.int64())),
        }
    )
    data = read(frame, missing="drop")
    assert data.n_rows == 2
    assert data.codes.tolist() == [[0, 1]] * 9
    assert data.levels["float"] == data.levels["int"] == data.levels["arrow"] == ("1", "2")
    assert data.levels["mixed"] == ("1", "x")
    assert data.levels["bool"] == ("False", "True")


def test_pandas_names_that_are_not_text():
    data = read(pd.DataFrame([[1, "a"], [2, "b"]]), levels={0: [2, 1]})
    assert data.names == ("0", "1")
    assert data.levels["0"] == ("2", "1")


def test_columns_named_like_methods_of_files_are_columns():
    frame = pd.DataFrame({"read": ["a", "b"], "levels": ["c", "d"], "codes": ["e", "f"]})
    assert read(frame).names == ("read", "levels", "codes")


def test_true_and_one_stay_apart():
    data = read({"x": [True, 1, 1.0, "1"]})
    assert data.levels["x"] == ("1", "True")
    assert data.column("x").tolist() == [1, 0, 0, 0]
    assert read(pd.DataFrame({"x": pd.Series([True, 1, 0], dtype=object)})).levels["x"] == ("0", "1", "True")


def test_polars_enums_are_declarations():
    data = read(pl.DataFrame({"x": pl.Series(["b", None, "a"], dtype=pl.Enum(["c", "b", "a"]))}), missing="level")
    assert data.levels["x"] == ("c", "b", "a", "NA")
    assert data.column("x").tolist() == [1, 3, 2]


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Categorical(pl.Categories("shared pool"))])
def test_polars_categoricals_never_take_strings_of_other_columns(dtype):
    pl.Series(["stranger", "b"], dtype=dtype)
    frame = pl.DataFrame({"x": ["b", "a", None, "b"], "y": ["u", "v", "w", "b"]}, schema={"x": dtype, "y": dtype})
    data = read(frame, missing="level")
    assert data.levels["x"] == ("a", "b", "NA")
    assert data.column("x").tolist() == [1, 0, 2, 1]
    assert data.levels["y"] == ("b", "u", "v", "w")


def test_polars_categories_of_a_columns_own_are_declarations():
    own = pl.Categorical(pl.Categories("severity of one column"))
    series = pl.Series("x", ["none", "mild", "severe"], dtype=own)
    frame = pl.DataFrame({"x": series.head(2), "y": ["a", "b"]})
    assert read(frame).levels["x"] == ("none", "mild", "severe")


def test_levels_may_come_from_compressed_json(tmp_path):
    path = tmp_path / "levels.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"x": ["a", "b", "c"]}).encode()))
    assert read({"x": ["a", "b"]}, levels=path).levels["x"] == ("a", "b", "c")


def test_polars_types():
    frame = pl.DataFrame(
        {
            "i8": pl.Series([-1, 3, None], dtype=pl.Int8),
            "u64": pl.Series([2**63, 1, None], dtype=pl.UInt64),
            "f32": pl.Series([0.1, 0.2, None], dtype=pl.Float32),
            "f64": [1.0, float("nan"), 2.0],
            "dec": pl.Series([decimal.Decimal("1.50"), decimal.Decimal("2.00"), None]),
            "bool": [True, False, None],
            "date": [dt.date(2020, 1, 1), dt.date(2019, 1, 1), None],
        }
    )
    data = read(frame, missing="level")
    assert data.levels["i8"] == ("-1", "3", "NA")
    assert data.levels["u64"] == ("1", str(2**63), "NA")
    assert data.levels["f32"] == ("0.1", "0.2", "NA")
    assert data.levels["f64"] == ("1", "2", "NA")
    assert data.levels["dec"] == ("1.5", "2", "NA")
    assert data.levels["bool"] == ("False", "True", "NA")
    assert data.levels["date"] == ("2019-01-01", "2020-01-01", "NA")


def test_levels_are_sorted_by_value_or_code_point():
    data = read(
        {"int": ["10", "9", "-1"], "num": ["1e1", "9.5", "-.5"], "text": ["b", "B", "é"], "mix": ["10", "9", "x"]}
    )
    assert data.levels["int"] == ("-1", "9", "10")
    assert data.levels["num"] == ("-0.5", "9.5", "10")
    assert data.levels["text"] == ("B", "b", "é")
    assert data.levels["mix"] == ("10", "9", "x")


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_every_width(dtype):
    limits = np.iinfo(dtype)
    small = np.array([0, 3, 1, 3], dtype=dtype)
    assert read({"x": small}).column("x").tolist() == [0, 2, 1, 2]
    top = np.array([limits.max, limits.max - 1, limits.max], dtype=dtype)
    assert read({"x": top}).levels["x"] == (str(limits.max - 1), str(limits.max))
    assert read({"x": top}).column("x").tolist() == [1, 0, 1]
    ends = np.array([limits.min, limits.max, 5], dtype=dtype)
    assert read({"x": ends}).levels["x"] == (str(limits.min), "5", str(limits.max))
    assert read(pl.DataFrame({"x": ends})).column("x").tolist() == [0, 2, 1]


def test_wide_ranges_of_integers():
    data = read({"x": np.array([10**12, -5, 0, 10**12])})
    assert data.levels["x"] == ("-5", "0", "1000000000000")
    assert data.column("x").tolist() == [2, 0, 1, 2]


# Declarations ------------------------------------------------------------------------------------------------------


def test_declared_levels_are_kept_in_order_and_may_be_partial():
    data = read(ROWS, levels={"n": [10, 9, 5, 1]})
    assert data.levels["n"] == ("10", "9", "5", "1")
    assert data.unobserved() == {"n": ("5",)}
    assert data.levels["sex"] == ("f", "m")
    assert read({"x": [0, 1, 0]}, levels={"x": 4}).levels["x"] == ("0", "1", "2", "3")


def test_levels_from_a_json_file(tmp_path):
    path = tmp_path / "levels.json"
    path.write_text(json.dumps({"flag": [True, False], "sex": ["m", "f", "x"]}))
    for given in (path, str(path)):
        data = read(ROWS, levels=given)
        assert data.levels["flag"] == ("True", "False")
        assert data.levels["sex"] == ("m", "f", "x")
    path.write_text("{")
    with pytest.raises(DataError, match=r"levels\.json is not JSON"):
        read(ROWS, levels=path)
    path.write_text("[1]")
    with pytest.raises(DataError, match="object, column name -> list"):
        read(ROWS, levels=path)
    with pytest.raises(DataError, match=r"nothing\.json"):
        read(ROWS, levels=tmp_path / "nothing.json")


@pytest.mark.parametrize(
    ("values", "declared", "codes"),
    [
        ([1, 2, 1], ["1", "2"], [0, 1, 0]),
        ([1.0, 2.0, 1.0], ["1", "2"], [0, 1, 0]),
        (["1.0", "2.0", "1.0"], [1, 2], [0, 1, 0]),
        ([1, 2, 1], ["1.0", "2.0"], [0, 1, 0]),
        ([True, False, True], ["TRUE", "FALSE"], [0, 1, 0]),
        (["true", "False", "TRUE"], [False, True], [1, 0, 1]),
        (["true", "TRUE", "true"], ["true", "TRUE"], [0, 1, 0]),
        (["NA", "b", "NA"], ["b", "NA"], [1, 0, 1]),
    ],
)
def test_values_match_declared_labels_by_text(values, declared, codes):
    assert read({"x": values}, levels={"x": declared}).column("x").tolist() == codes


@pytest.mark.parametrize(("value", "declared"), [("01", ["1", "2"]), (True, ["1", "0"]), ("True", ["true", "TRUE"])])
def test_values_do_not_match_by_guessing(value, declared):
    with pytest.raises(DataError, match="declared levels"):
        read({"x": [value]}, levels={"x": declared})


def test_like_asks_for_the_same_columns_and_levels():
    train = read(ROWS)
    test = read({"n": [9], "flag": [False], "sex": ["m"]}, like=train)
    assert test.names == ("n", "flag", "sex")  # the table's own order: it may matter to a search
    assert dict(test.levels) == dict(train.levels)
    network = SimpleNamespace(levels={"sex": ["m", "f"]})
    assert read({"sex": ["m", "m"]}, like=network).column("sex").tolist() == [0, 0]
    with pytest.raises(DataError, match=r"like: no column 'flag'.*the columns are 'n', 'sex', 'flags'"):
        read({"n": [9], "sex": ["m"], "flags": [True]}, like=train)
    with pytest.raises(DataError, match=r"""it lacks 'id': pass drop=\["id"\]"""):
        read({**ROWS, "id": [1, 2, 3, 4]}, like=train)
    with pytest.raises(DataError, match=r"'n' has the value '3' in 1 of 1 rows .*'1', '9', '10'"):
        read({"n": [3], "flag": [False], "sex": ["m"]}, like=train)
    with pytest.raises(ParameterError, match="together"):
        read(ROWS, like=train, levels={"n": [1]})
    with pytest.raises(ParameterError, match="mapping `levels`"):
        read(ROWS, like=3)


def test_a_dataset_is_checked_against_the_options():
    data = read(ROWS, levels={"n": [1, 9, 10, 11]})
    assert read(data, drop="sex", levels={"n": [10, 9, 1]}).levels["n"] == ("10", "9", "1")
    assert read(data, missing_values=["1"], missing="drop").levels["n"] == ("9", "10", "11")
    with pytest.raises(DataError, match="declares 4 levels"):
        read(data, max_levels=3)
    weighted = Dataset.from_codes([[0], [1]], weights=[1, 2])
    assert read(weighted) == weighted
    with pytest.raises(ParameterError, match="weights already"):
        read(weighted, weights=[1, 2])


# Columns -----------------------------------------------------------------------------------------------------------


def test_drop_takes_a_name_or_names():
    assert read(ROWS, drop="n").names == ("sex", "flag")
    assert read(ROWS, drop=["n", "sex"]).names == ("flag",)
    with pytest.raises(DataError, match=r"drop: no column 'Sex' \(did you mean 'sex'\?\)"):
        read(ROWS, drop="Sex")
    with pytest.raises(DataError, match="no columns are left"):
        read(ROWS, drop=list(ROWS))


def test_many_levels_are_fine_when_asked_for():
    values = [f"v{i}" for i in range(300)]
    assert read({"x": values}, max_levels=300).codes.dtype == np.uint16
    assert read({"x": values}, levels={"x": values}).levels["x"] == tuple(values)
    assert read({"x": np.arange(65536)}, max_levels=65536).cards.tolist() == [65536]
    with pytest.raises(DataError, match="no code for missing values"):
        read({"x": [*range(65536), None]}, max_levels=65536, missing="level")


@pytest.mark.parametrize(
    ("option", "value"),
    [("missing", "ignore"), ("max_levels", 1), ("max_levels", 70000), ("max_levels", "9"), ("separator", ",,")],
)
def test_options_outside_their_range(option, value):
    with pytest.raises(ParameterError, match=f"{option} must be"):
        read(b"a,b\n1,2\n2,1\n", **{option: value})


# Rows as records, and byte strings ---------------------------------------------------------------------------------


def test_records_are_rows_and_what_one_lacks_is_missing():
    rows = [{"b": 1, "a": "x"}, {"a": "y", "c": True}, {"b": 2, "a": "x", "c": False}]
    data = read(rows, missing="level")
    assert data.names == ("b", "a", "c")
    assert data.row(1) == {"b": "NA", "a": "y", "c": "True"}
    assert read(tuple(rows), missing="drop", levels={"b": 3, "a": ["x", "y"], "c": [True, False]}).n_rows == 1
    assert read(pd.DataFrame(ROWS).to_dict("records")) == read(ROWS)
    with pytest.raises(DataError, match="no columns"):
        read([])


@pytest.mark.parametrize("rows", [[[1, "a"], [2, "b"]], [(1, 2)], ["ab", "cd"], [{"a": 1}, [2]]])
def test_rows_without_names_are_refused_with_the_way_out(rows):
    with pytest.raises(DataError, match=r'list must hold dicts.*pass a dict of columns, \{"name".*2-d numpy array'):
        read(rows)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_byte_strings_of_numpy_are_text(encoding):
    column = np.array(["é".encode(encoding), b"x", b""])
    assert read({"a": column}, missing="level").levels["a"] == ("x", "é", "NA")
    assert read(np.array([["é".encode(encoding), b"1"], [b"x", b"2"]])).levels["X1"] == ("x", "é")
    records = np.array([("é".encode(encoding), 1), (b"x", 2)], dtype=[("s", "S3"), ("n", "i4")])
    assert read(records).row(0) == {"s": "é", "n": "1"}
    masked = np.ma.masked_array(column, mask=[False, True, True])
    assert read({"a": masked}, missing="level").levels["a"] == ("é", "NA")


def test_as_dataset_reads_whatever_is_no_dataset():
    data = read(ROWS)
    assert as_dataset(data) is data
    assert as_dataset(ROWS) == data
    assert as_dataset(ROWS, drop="n").names == ("sex", "flag")
    with pytest.raises(ParameterError, match=r"drop= cannot be given for a Dataset.*mapdag\.read"):
        as_dataset(data, drop="n")
