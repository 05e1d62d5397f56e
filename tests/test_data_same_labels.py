"""A table has the same labels whether it comes as text, or some program took its cells for numbers before."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapdag.data import read

#: Cells of one column: all of a kind, as a file would have them. Pandas and the others take other texts for missing
#: than read() does, and numbers with leading zeros for numbers; these are not here.
COLUMNS = st.one_of(
    st.lists(st.sampled_from(["18", "7", "-3", "0"]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["18.0", "7.0", "-3.5", "0.25", "1e3"]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["18", "7", "", "0"]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["18.0", "7", "0.50"]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["True", "False"]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["TRUE", "FALSE"]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["true", "false", ""]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["yes", "no", " yes", "no "]), min_size=4, max_size=12),
    st.lists(st.sampled_from(["18.0", "old", "7"]), min_size=4, max_size=12),
)


def as_read(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = read(source, missing="level", levels=None)
    return [data.row(i) for i in range(data.n_rows)]


def canonical(cell):
    try:
        return float(cell)
    except ValueError:
        return cell.strip().lower()


@settings(max_examples=150, deadline=None)
@given(COLUMNS)
def test_labels_are_the_same_from_every_way_to_read_a_file(cells):
    if len({canonical(cell) for cell in cells if cell}) < 2:
        return
    text = "x,other\n" + "".join(f"{cell},u\n{cell},v\n" for cell in cells)
    content = text.encode()
    expected = as_read(content)
    assert as_read(pd.read_csv(io.StringIO(text))) == expected
    assert as_read(pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)) == expected
    assert as_read(pl.read_csv(content)) == expected
    assert as_read(pl.read_csv(content, infer_schema=False)) == expected
    assert as_read(pyarrow.csv.read_csv(io.BytesIO(content))) == expected


def test_whole_floats_are_whole_numbers():
    csv = read(b"x,y\n18.0,a\n7.0,b\n")
    assert csv.levels["x"] == ("7", "18")
    assert read(pd.DataFrame({"x": [18.0, 7.0], "y": ["a", "b"]})).levels == csv.levels
    assert read(pd.DataFrame({"x": ["18.0", "7.0"], "y": ["a", "b"]})).levels == csv.levels
    assert read({"x": np.array([18, 7], dtype=np.float32), "y": ["a", "b"]}).levels == csv.levels


def test_integers_that_became_floats_for_want_of_a_value_stay_integers():
    frame = pd.read_csv(io.StringIO("x,y\n1,a\n,b\n2,b\n"))
    assert frame["x"].dtype == np.float64
    assert read(frame, missing="level").levels["x"] == ("1", "2", "NA")
    assert read(frame.convert_dtypes(), missing="level").levels["x"] == ("1", "2", "NA")
    assert read(pa.Table.from_pandas(frame), missing="level").levels["x"] == ("1", "2", "NA")


def test_blanks_around_labels_mean_nothing_anywhere():
    table = {"x": [" a", "a", "b ", "b"], "y": ["u", "v", "u", "v"]}
    for source in (table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        assert read(source).levels["x"] == ("a", "b")
    declared = pd.DataFrame({"x": pd.Categorical([" a", "a"], [" a", "a"])})
    assert read(declared).levels["x"] == (" a", "a")


@pytest.mark.parametrize("text", ["00", "007", "1e5x", "12345678901234567890", "-", "1,5", "nope", "T"])
def test_what_is_no_plain_number_stays_as_it_is(text):
    assert text in read({"x": [text, "18.0"], "y": ["a", "b"]}).levels["x"]


def test_dates_without_a_time_have_none():
    days = ["2020-01-01", "2020-02-01"] * 3
    expected = ("2020-01-01", "2020-02-01")
    for days_of in (
        days,
        pd.to_datetime(days),
        pl.Series(days).str.to_datetime(),
        np.array(days, dtype="datetime64[ns]"),
    ):
        assert read({"day": days_of, "x": ["a", "b", "b"] * 2}).levels["day"] == expected
