"""Values of types that few tables have: none is changed, two are one level only if they are one value."""

from __future__ import annotations

import datetime as dt
import gzip
import io
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import mapdag as md
from mapdag.errors import DataError, MapdagError, ParameterError

OTHER = ["u", "v"] * 6
MOMENTS = np.array(["2020-01-01T05:00:00", "2020-01-02T06:00:00.5"] * 6, dtype="M8[us]").tolist()
SPANS = [dt.timedelta(days=1), dt.timedelta(hours=1, microseconds=5)] * 6


def levels(values, **options):
    return md.read({"a": values, "b": OTHER}, **options).levels["a"]


# Codes for missing values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("missing", ["drop", "level", "keep"])
def test_codes_for_missing_values_are_found_in_numbers_of_any_width(kind, missing, tmp_path):
    table = {"a": np.array([-9.9, 1.5, 2.5, 1.5] * 30, dtype=kind), "b": ["u", "v", "v", "u"] * 30}
    options = {"missing": missing, "missing_values": ["-9.9"]}
    data = md.read(table, **options)
    gone = {"drop": 0, "level": 30, "keep": 30}[missing]
    assert data.n_rows == 90 + gone
    assert data.levels["a"] == ("1.5", "2.5", "NA")[: 3 if missing == "level" else 2]
    assert int(data.codes.max()) <= (2 if gone else 1)
    if kind is not np.float16:
        pl.DataFrame(table).write_parquet(tmp_path / "x.parquet")
        scanned = md.scan(tmp_path / "x.parquet", cache=tmp_path / "cache", **options)
        assert (scanned.to_dataset().codes == data.codes).all()
    if missing == "drop":
        assert md.read(table, discretize={"a": [2]}, **options).n_rows == 90


@pytest.mark.parametrize("missing", ["drop", "level", "keep"])
def test_a_code_with_a_leading_zero_is_no_number(missing):
    assert levels([1, 2, 3, 2] * 3, missing=missing, missing_values=["01"]) == ("1", "2", "3")


def test_codes_beyond_the_digits_of_floats_are_told_apart():
    values = [2**53, 2**53 + 1, 2**53 + 2, 2**53] * 3
    found = levels(values, missing="drop", missing_values=[2**53 + 1])
    assert found == (str(2**53), str(2**53 + 2))


# Numbers in great variety, written as text ----------------------------------------------------------------------------


def varied(more: str) -> bytes:
    return ("a,b\n" + "".join(f"{i}.5,{'uv'[i % 2]}\n" for i in range(300)) + more).encode()


@pytest.mark.parametrize("cells", [["1e400", "1e500", "inf"], ["0.1", "0.1000000000000000055"], ["05", "5", "05.0"]])
def test_many_numbers_in_text_stay_as_they_are_where_they_are_categories(cells, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(varied("".join(f"{cell},u\n" for cell in cells)))
    options = {"discretize": {"a": "none"}, "max_levels": 9999}
    for data in (md.read(path, **options), md.scan(path, cache=tmp_path / "cache", **options)):
        assert set(cells) <= set(data.levels["a"])
        assert data.n_rows == 300 + len(cells)


def test_only_texts_that_mean_missing_are_missing_among_many_numbers():
    options = {"missing": "drop", "discretize": {"a": "none"}, "max_levels": 9999}
    assert md.read(varied("NaN,u\nnan,v\n"), **options).n_rows == 300
    assert md.read(varied("NAN,u\n-nan,v\n"), **options).n_rows == 302
    assert md.read(varied("NaN,u\nnan,v\n"), missing="drop", discretize="quantile").n_rows == 300


# Decimals, times, spans of time ---------------------------------------------------------------------------------------


def test_decimals_keep_all_digits():
    large = [Decimal(2**53), Decimal(2**53 + 1)] * 6
    for values in (large, pl.Series(large, dtype=pl.Decimal(38, 0))):
        assert levels(values) == (str(2**53), str(2**53 + 1))
    assert levels(pl.Series([Decimal("1.50"), Decimal(2)] * 6, dtype=pl.Decimal(10, 2))) == ("1.5", "2")


def test_long_doubles_keep_all_digits():
    least = np.longdouble(1) + np.finfo(np.longdouble).eps
    if float(least) == least:
        pytest.skip("long doubles are doubles here")
    assert len(levels(np.array([1, least, 2, 2] * 3, dtype=np.longdouble))) == 3


def test_times_keep_fractions_of_seconds(tmp_path):
    times = (pl.Series([1, 2] * 6) * 1_000_000).cast(pl.Time)
    frame = pl.DataFrame({"a": times, "b": OTHER})
    frame.write_parquet(tmp_path / "x.parquet")
    scanned = md.scan(tmp_path / "x.parquet", cache=tmp_path / "cache")
    for data in (md.read(frame), md.read(frame.to_arrow()), md.read(tmp_path / "x.parquet"), scanned):
        assert data.levels["a"] == ("00:00:00.001", "00:00:00.002")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (MOMENTS, ("2020-01-01 05:00:00", "2020-01-02 06:00:00.5")),
        (SPANS, ("1 day, 0:00:00", "1:00:00.000005")),
    ],
    ids=["moments", "spans"],
)
def test_times_have_the_same_labels_whoever_holds_them(values, expected):
    plain = {"a": values, "b": OTHER}
    arrow = pa.table(plain)
    frames = [pd.DataFrame(plain), pl.DataFrame(plain), arrow, arrow.to_pandas(types_mapper=pd.ArrowDtype)]
    array = np.array(values, dtype="M8[us]" if isinstance(values[0], dt.datetime) else "m8[us]")
    masked = np.ma.array(array, mask=np.zeros(12, dtype=bool))
    for table in [plain, *frames, {"a": array, "b": OTHER}, {"a": masked, "b": OTHER}, {"a": list(array), "b": OTHER}]:
        assert md.read(table).levels["a"] == expected


def test_what_is_masked_is_missing_and_nothing_else_changes():
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"] * 4, dtype="M8[ns]")
    assert levels(np.ma.array(days, mask=[0, 0, 1] * 4), missing="level") == ("2020-01-01", "2020-01-02", "NA")
    floats = np.ma.array(np.array([0.1, 0.2, 0.3] * 4, dtype=np.float32), mask=[0, 0, 1] * 4)
    assert levels(floats, missing="level") == ("0.1", "0.2", "NA")
    with pytest.raises(DataError, match="weights must be finite: some are masked"):
        md.read({"a": OTHER}, weights=np.ma.array(np.ones(12), mask=[1, 0, 0] * 4))


def test_narrow_floats_have_their_own_digits_in_pandas_too():
    for dtype in ("Float32", pd.ArrowDtype(pa.float32())):
        assert md.read(pd.DataFrame({"a": pd.array([0.1, 0.2] * 6, dtype=dtype), "b": OTHER})).levels["a"] == (
            "0.1",
            "0.2",
        )


def test_levels_that_an_arrow_dictionary_declares_are_kept_inside_of_pandas():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 6, pa.int8()), ["x", "y", "never"])
    frame = pa.table({"a": column, "b": OTHER}).to_pandas(types_mapper=pd.ArrowDtype)
    assert md.read(frame).levels["a"] == ("x", "y", "never")


def test_midnight_needs_a_day():
    text = b"a,b\nT00:00:00,u\nT12:00:00,v\n  ,u\nT12:00:00,v\n"
    declared = {"a": ["T00:00:00", "T12:00:00"]}
    assert md.read(text, levels=declared, missing="drop").n_rows == 3
    assert levels(["a 00:00:00", "aT00:00:00"] * 6) == ("a 00:00:00", "aT00:00:00")


def test_files_of_other_types_are_not_made_one_column_at_the_price_of_digits(tmp_path):
    whole, other = pl.Series([2**53, 2**53 + 1, 2**53] * 4), pl.Series([0.5, 1.5, 2.5] * 4)
    for number, values in enumerate((whole, other)):
        pl.DataFrame({"a": values, "b": OTHER}).write_parquet(tmp_path / f"{number}.parquet")
    with pytest.raises(DataError, match="all files of a table must have the same types"):
        md.scan(tmp_path / "*.parquet", cache=tmp_path / "cache")
    pl.DataFrame({"a": pl.Series([2**63, 1, 2] * 4, dtype=pl.UInt64), "b": OTHER}).write_parquet(tmp_path / "1.parquet")
    found = md.scan(tmp_path / "*.parquet", cache=tmp_path / "cache")
    assert found.levels["a"] == ("1", "2", str(2**53), str(2**53 + 1), str(2**63))


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "columns",
    [
        {"a": {0: "x", 1: "y"}},
        {"a": {"x", "y"}},
        {"a": pd.DataFrame({"x": OTHER}), "b": OTHER},
        {"a": pd.MultiIndex.from_arrays([OTHER, OTHER]), "b": OTHER},
        {"a": np.array(5), "b": OTHER},
        {"a": ["\ud800", "x"] * 6, "b": OTHER},
        {"\ud800": ["x", "y"] * 6, "b": OTHER},
    ],
    ids=["dict", "set", "table", "index", "number", "half a label", "half a name"],
)
def test_what_is_no_column_is_refused(columns):
    with pytest.raises(DataError):
        md.read(columns)


def test_dates_beyond_all_calendars_are_refused(tmp_path, capfd):
    path = tmp_path / "x.parquet"
    late = pl.Series([2**31 - 1, 2] * 6, dtype=pl.Int32).cast(pl.Date)
    pl.DataFrame({"a": late, "b": OTHER}).write_parquet(path)
    for read in (md.read, lambda path: md.scan(path, cache=tmp_path / "cache")):
        with pytest.raises(DataError, match="'a' holds values of type Date that are beyond all calendars"):
            read(path)
    assert capfd.readouterr().err == ""


def test_what_cannot_be_scanned_is_not_taken_for_empty(tmp_path):
    parquet.write_table(pa.table({"a": pa.array([1, 2], pa.timestamp("s", tz="+05:30"))}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="time zone"):
        md.scan(tmp_path / "x.parquet", cache=tmp_path / "cache")


class Silent:
    def read(self):
        return None


def test_open_files_that_cannot_be_read_are_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("a,b\né,1\nx,2\n".encode("latin-1"))
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"a,b\nx,1\ny,2\n")[:-5])
    with path.open(encoding="utf-8") as other, gzip.open(tmp_path / "x.gz") as damaged, path.open("ab") as written:
        for file in (other, damaged, written, Silent()):
            with pytest.raises(DataError):
                md.read(file)
    with pytest.raises(DataError, match="closed"):
        md.read(damaged)


def test_text_that_was_read_is_not_decoded_again():
    assert md.read(io.StringIO("a,b\né,1\nx,2\n"), encoding="latin-1").levels["a"] == ("x", "é")


UNWRITABLE = [10**5000]


@pytest.mark.parametrize(
    "options",
    [
        {"codes": "False"}, {"codes": pd.NA}, {"codes": 1}, {"missing": np.array(["drop", "level"])},
        {"missing": UNWRITABLE},
        {"missing_values": b"NA"}, {"missing_values": np.array(3)}, {"missing_values": None}, {"drop": np.array(3)},
        {"levels": {"a": {"x", "y"}}}, {"levels": {"a": {"x": 1}}}, {"levels": np.array(3)},
        {"levels": {"a": np.array(3)}},
        {"levels": {"a": ["x", ""]}}, {"levels": {"a": ["x", "\ud800"]}}, {"levels": md.Dataset}, {"like": md.Dataset},
        {"max_levels": UNWRITABLE}, {"separator": UNWRITABLE}, {"encoding": UNWRITABLE},
        {"discretize": {"a": np.array(3.5)}}, {"discretize": {"a": [10**400]}}, {"discretize": {"a": b"quantile"}},
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options):
    table = b"a,b\nx,1\ny,2\n"
    with pytest.raises((DataError, ParameterError)):
        md.read(table, **options)
    with pytest.raises(MapdagError):
        md.scan(table, cache=5)


def test_cut_points_may_be_in_an_array():
    table = {"age": list(range(20, 80)), "b": OTHER * 5}
    for points in (np.array([30, 60]), pd.Series([30, 60]), pl.Series([30, 60]), (30, 60)):
        assert md.read(table, discretize={"age": points}).levels["age"] == ("(-inf,30]", "(30,60]", "(60,inf)")


def test_checking_refuses_what_reading_does():
    for wrong in (None, -9, b"NA"):
        with pytest.raises(ParameterError, match="missing_values must be a text or a list of values"):
            md.check({"a": OTHER}, missing_values=wrong)
