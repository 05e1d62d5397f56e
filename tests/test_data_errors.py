"""What read() says about columns that cannot be used: the column, the figures, the rows, and the option to pass."""

from __future__ import annotations

import datetime as dt
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mapdag.data import check, read
from mapdag.errors import DataError, MapdagError, Setting

DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(40)]
CONTINUOUS = [i + 0.5 for i in range(40)]


def message(source, **options):
    with pytest.raises(DataError) as error:
        read(source, **options)
    assert isinstance(error.value, MapdagError)
    return str(error.value)


def both(values, **options):
    """Return the message for a table in memory and for its text."""
    frame = pl.DataFrame({"col": values, "other": ["a", "b"] * (len(values) // 2)}, strict=False)
    return [message(frame, **options), message(frame.write_csv().encode(), **options)]


def test_continuous_columns():
    for text in both(CONTINUOUS):
        assert "column 'col' looks continuous (40 distinct numbers from 0.5 to 39.5)" in text
        assert text.endswith('pass discretize="quantile"')
    assert "looks continuous" in message(pd.DataFrame({"col": CONTINUOUS}))
    assert "looks continuous" in message({"col": CONTINUOUS})
    assert "looks continuous" in message(np.array([CONTINUOUS]).T)


def test_few_or_whole_numbers_are_categories():
    assert read({"x": [0.5, 1.5] * 20}).levels["x"] == ("0.5", "1.5")
    assert read({"x": [float(i % 12) for i in range(480)]}).cards.tolist() == [12]
    assert read({"x": [0.1 * i for i in range(10)]}).cards.tolist() == [10]
    assert read(pd.DataFrame({"x": [1.0, 2.0, np.nan] * 5}), missing="drop").levels["x"] == ("1", "2")


@pytest.mark.parametrize(
    "source",
    [
        pl.DataFrame({"when": DAYS}),
        pd.DataFrame({"when": pd.to_datetime(DAYS)}),
        pd.DataFrame({"when": pd.to_datetime(DAYS, utc=True)}),
        {"when": DAYS},
        {"when": np.array(DAYS, dtype="datetime64[D]")},
        {"when": [day.isoformat() for day in DAYS]},
        {"when": [f"{day.isoformat()}T12:00:00Z" for day in DAYS]},
        ("when,x\n" + "\n".join(f"{day},{i % 2}" for i, day in enumerate(DAYS))).encode(),
        pa.table({"when": DAYS}),
    ],
)
def test_dates_have_their_own_message(source):
    text = message(source)
    assert "'when' holds dates or times (40 distinct, '2020-01-01" in text
    assert 'drop=["when"]' in text


def test_identifiers():
    for text in both([f"p{i}" for i in range(300)]):
        assert "'col' looks like an identifier (300 levels in 300 rows)" in text
        assert text.endswith('pass drop=["col"]')
    for text in both([3 * i * i for i in range(300)]):
        assert 'discretize="quantile"' in text
    text = message({"x": [f"p{i}" for i in range(300)] * 9})
    assert "has 300 levels, like an identifier (max_levels is 256)" in text
    assert 'drop=["x"] or max_levels=300' in text
    assert "max_levels is 3" in message({"x": list("abcd")}, max_levels=3)
    assert "declares 300 levels" in message(pd.DataFrame({"x": pd.Categorical(["1"], [str(i) for i in range(300)])}))
    text = message({"x": [f"p{i // 3}" for i in range(210_000)]}, max_levels=65536)
    assert "70,000 levels" in text
    assert "or max_levels=" not in text


def test_numbers_with_decimal_commas_are_cut_like_others():
    rows = [(i * 7 % 300, i % 2) for i in range(300)]
    german, english = (("x;y\n" + "\n".join(f"{a}{point}5;{b}" for a, b in rows)).encode() for point in (",", "."))
    assert 'discretize="quantile"' in message(german)
    assert read(german, discretize="quantile") == read(english, discretize="quantile")
    assert "separators of thousands" in message({"x": [f"{i},500" for i in range(84)]})


def test_hints_keep_what_is_left_out_already():
    table = {"a": [f"n{i}" for i in range(40)], "b": [f"m{i}" for i in range(40)], "c": ["x", "y"] * 20}
    assert message(table, drop="a").endswith('pass drop=["a", "b"]')
    assert message(table | {"d": [f"k{i}" for i in range(40)]}, drop=["a"]).endswith(
        'All at once: drop=["a", "b", "d"]'
    )
    assert read(table, drop=["a", "b"]).names == ("c",)


def test_a_column_without_a_name_is_told_of_with_the_others():
    text = b",id,age,sex\n" + b"".join(b"%d,s%d,%d,%s\n" % (i, i, i * 7 % 50, b"fm"[i % 2 :][:1]) for i in range(60))
    assert message(text).endswith('All at once: drop=["", "id"], discretize="quantile"')
    assert read(text, drop=["", "id"], discretize="quantile").names == ("age", "sex")


def test_hints_that_are_too_long_to_be_written_whole_lead_to_check():
    names = {f"v{i}": [f"n{j}" for j in range(40)] for i in range(30)} | {"y": ["a", "b"] * 20}
    for table in (names, names | {"x": CONTINUOUS}):
        assert message(table).endswith("All at once: mapdag.check writes the line to paste")
    assert read(names, **check(names).options).names == ("y",)


def test_a_table_like_another_is_not_to_get_a_level_for_missing_values():
    text = message({"x": ["a", None] * 10, "y": ["c", "d"] * 10}, like=read({"x": ["a", "b"], "y": ["c", "d"]}))
    assert 'missing="level"' not in text.split("pass ")[1].partition(" or ")[0]


def test_no_hint_leaves_out_every_column():
    table = {"code": [f"n{i}" for i in range(16)], "name": [f"m{i}" for i in range(16)]}
    assert message(table).endswith("No column would be left")
    assert "No column would be left" in message({"a": ["x"], "b": ["y"]})


def test_rows_with_missing_values_are_not_to_be_dropped_if_they_are_many_or_a_level_goes_with_them():
    few, many = ([None if i < gone else "ab"[i % 2] for i in range(30)] for gone in (3, 15))
    other = ["x", "y", "z"] * 10
    assert message({"few": few, "other": other}).split("pass ")[1].startswith('missing="drop"')
    assert message({"many": many, "other": other}).split("pass ")[1].startswith('missing="level"')
    works = ["no"] * 3 + ["yes"] * 27
    assert message({"few": few, "works": works}).split("pass ")[1].startswith('missing="level"')
    assert check({"few": few, "works": works}).options == {"missing": "level"}


def test_missing_values():
    for text in both(["a", None, "b", None] * 3):
        assert "'col' has missing values in 6 of 12 rows (rows 2, 4, 6, 8, 10, ...)" in text
        assert 'missing="level" or missing="drop"' in text
    text = message({"x": ["a", "?", "b"]})
    assert "(written '?') in 1 of 3 rows (row 2)" in text
    assert 'levels={"x": ["a", "b", "?"]}' in text


def test_columns_without_any_value():
    for text in both([None, None]):
        assert "'col' holds no values: all 2 rows are missing" in text
        assert 'drop=["col"]' in text
    for option in ("drop", "level"):
        assert "holds no values" in message({"x": [None, None], "y": [1, 2]}, missing=option)
    assert "holds no values" in message(pd.DataFrame({"x": pd.Categorical([None], ["a", "b"])}))
    assert "holds no values" in message({"x": ["NA", "?"]})


def test_no_row_without_a_missing_value():
    text = message({"x": ["a", None, "b", None, "b"], "y": [None, "u", None, "v", None]}, missing="drop")
    assert 'missing="drop" leaves none of the 5 rows' in text
    assert "'y' (3), 'x' (2)" in text
    assert 'missing="level", or drop=["y"]' in text


def test_constant_columns():
    for text in both(["x"] * 4):
        assert "'col' is constant (every value is 'x') and declares no second level" in text
        assert 'drop=["col"] or levels={"col": ["x", ...]}' in text
    assert read({"x": ["a", "a"]}, levels={"x": ["a", "b"]}).levels["x"] == ("a", "b")
    assert read(pd.DataFrame({"x": pd.Categorical(["a", "a"], ["a", "b"])})).n_columns == 1
    assert read({"x": ["a", None]}, missing="level").levels["x"] == ("a", "NA")
    assert "constant" in message({"x": ["a", None]}, missing="drop")
    assert "constant" in message({"x": ["a", "a"]}, levels={"x": ["a"]})


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (pl.DataFrame({"x": [[1], [2]]}), "List"),
        (pl.DataFrame({"x": [{"a": 1}, {"a": 2}]}), "Struct"),
        (pl.DataFrame({"x": [b"a", b"b"]}), "Binary"),
        (pd.DataFrame({"x": [[1], [2]]}), "list"),
        (pd.DataFrame({"x": pd.Series([{"a": 1}, {"a": 2}], dtype=object)}), "dict"),
        ({"x": [b"a", b"b"]}, "bytes"),
        ({"x": [(1, 2), (3, 4)]}, "tuple"),
        ({"x": [([1], 2), ([3], 4)]}, "tuple"),
        ({"x": np.array([1j, 2j])}, "complex"),
        ({"x": np.zeros((2, 2))}, "list"),
    ],
)
def test_values_that_cannot_be_categories(source, kind):
    text = message(source)
    assert re.search(rf"'x' holds .*{kind}.*, which cannot be categories", text)
    assert 'drop=["x"]' in text


def test_values_that_are_not_declared():
    text = message({"x": ["a", "b", "c", "b"]}, levels={"x": ["a", "d"]})
    assert "'x' has the value 'b' in 3 of 4 rows (rows 2, 3, 4) (2 such values: 'b', 'c')" in text
    assert "the declared levels are 'a', 'd'" in text
    assert text.endswith('pass levels={"x": ["a", "d", "b", "c"]}')
    text = message({"x": ["a", "b", "-9", "a"]}, levels={"x": ["a", "b"]})
    assert 'missing_values=["-9"]' in text
    frame = pd.DataFrame({"x": pd.Categorical(["a", "a"], ["a", "b", "z"])})
    assert read(frame, levels={"x": ["b", "a"]}).levels["x"] == ("b", "a")


def test_levels_for_columns_that_are_not_there():
    text = message({"Smoker": [1, 2], "age": [1, 2]}, levels={"smoker": [1, 2], "aeg": [1], "zzz": [1]})
    assert "levels: no column 'smoker' (did you mean 'Smoker'?), 'aeg' (did you mean 'age'?), 'zzz'" in text
    assert "the columns are 'Smoker', 'age'" in text


def test_everything_is_said_at_once():
    n = 400
    source = pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": [i / 7 for i in range(n)],
            "sex": ["f", "m", None, "m"] * (n // 4),
            "site": ["A"] * n,
            "ok": ["x", "y"] * (n // 2),
            "dose": [None, *(i / 3 for i in range(n - 1))],
        }
    )
    text = message(source)
    lines = text.splitlines()
    assert lines[0] == "5 columns cannot be used as they are:"
    assert [line.split()[0] for line in lines[1:-1]] == ["'id'", "'age'", "'sex'", "'site'", "'dose'", "'dose'"]
    assert lines[-1] == 'All at once: drop=["id", "site"], discretize="quantile", missing="drop"'
    # What it says works.
    options = {"drop": ["id", "site"], "discretize": "quantile", "missing": "drop"}
    assert read(source, **options).names == ("age", "sex", "ok", "dose")


def test_two_problems_of_one_column():
    text = message({"x": [*CONTINUOUS, None], "y": ["a"] * 20 + ["b"] * 21})
    assert text.startswith("column 'x' cannot be used as it is:\n")
    assert 'All at once: discretize="quantile", missing="drop"' in text


def test_long_lists_are_cut_short():
    text = message({f"c{i}": ["x", "x"] for i in range(30)})
    assert text.startswith("30 columns are constant: 'c0', ")
    assert "'c9' and 20 more; for example, 'c0' is constant" in text
    assert text.count("is constant") == 1
    assert '"c24", ...]' in text


def test_tables_that_are_none():
    for source in (3, None, [1, 2], pd.Series([1, 2]), pl.Series([1, 2]), np.zeros(3), np.zeros((2, 2, 2), dtype=int)):
        assert "array" in message(source)
    assert "no rows" in message(pl.DataFrame({"x": []}))
    assert "no columns" in message(pl.DataFrame())
    assert "no columns" in message({})
    assert "differ in length: 'a': 2, 'b': 1" in message({"a": [1, 2], "b": [1]})
    assert "column 'a' of the dict must be a sequence" in message({"a": "text"})
    assert "more than one column named '1'" in message(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_a_stream_that_breaks_is_reported():
    schema = pa.schema([("x", pa.string())])

    def batches():
        yield pa.record_batch({"x": ["a", "b"]})
        raise ValueError("the disk is full")

    source = pa.RecordBatchReader.from_batches(schema, batches())
    assert "the Arrow table cannot be read" in message(source)


# Ways out as data --------------------------------------------------------------------------------------------------


def test_errors_carry_the_options_that_they_name():
    with pytest.raises(DataError) as error:
        read({"x": CONTINUOUS, "y": ["a", None] * 20, "z": ["c"] * 40})
    ways = error.value.settings  # those of each column, then all at once
    assert ways[0] == Setting("discretize", "quantile")
    assert Setting("missing", "drop") in ways
    assert ways[-3:] == (
        Setting("discretize", "quantile"),
        Setting("missing", "level"),
        Setting("drop", ["z"]),
    )
    assert error.value.remedy == ways[-3:]


def test_the_options_that_settle_everything_can_be_passed_on():
    table = {"x": CONTINUOUS, "y": ["a", "b", None, "b"] * 10, "z": ["c"] * 40}
    with pytest.raises(DataError) as error:
        read(table)
    assert read(table, **{way.option: way.value for way in error.value.parts[-1]}).names == ("x", "y")


def test_errors_survive_pickling_whole():
    with pytest.raises(DataError) as error:
        read({"x": CONTINUOUS})
    copy = pickle.loads(pickle.dumps(error.value))
    assert str(copy) == str(error.value)
    assert copy.settings == error.value.settings


def test_the_text_of_an_error_is_its_only_argument_and_its_settings_travel():
    with pytest.raises(DataError) as caught:
        read({"a": ["x", None]})
    error = caught.value
    assert error.args == (str(error),)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.settings) == (str(error), error.settings)
    assert error.settings
