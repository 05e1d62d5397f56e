"""read() on rows with weights or missing values, and what the rows that are left out take along."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapdag.data import Dataset, check, discretize, read, scan
from mapdag.errors import DataError, MapdagError, ParameterError


def test_dropped_rows_take_their_levels_along():
    data = read({"x": ["a", "b", "c"], "y": ["u", "v", None]}, missing="drop")
    assert data.n_rows == 2
    assert data.levels["x"] == ("a", "b")
    frame = pd.DataFrame({"x": pd.Categorical(["a", "b", "c"]), "y": ["u", "v", None]})
    assert read(frame, missing="drop").levels["x"] == ("a", "b", "c")
    assert read(frame, missing="drop", levels={"y": ["u", "v", "w"]}).levels["y"] == ("u", "v", "w")


def test_a_column_that_is_constant_in_the_rows_left_is_said_to_be():
    with pytest.raises(DataError, match=r"'x' is constant in the rows that are left \(every value is 'a'\)"):
        read({"x": ["a", "a", "b"], "y": ["u", "v", None]}, missing="drop")
    with pytest.raises(DataError, match=r"'x' is constant in the rows that are left"):
        read({"x": ["a", "a", "b"], "y": ["u", "v", "w"]}, weights=[1, 2, 0])


def test_rows_are_numbered_as_in_the_table_although_some_are_left_out():
    source = {"x": ["a", None, "c", "b", "d"], "y": ["u", "v", "u", "v", "u"]}
    with pytest.raises(DataError, match=r"'x' has the value 'c' in 2 of 4 rows \(rows 3, 5\)"):
        read(source, missing="drop", levels={"x": ["a", "b"]})
    with pytest.raises(DataError, match=r"'x' has missing values in 1 of 3 rows \(row 2\)"):
        read(source, weights=[0, 1, 1, 0, 1])


def test_what_only_rows_left_out_hold_matters_to_nobody():
    numbers = [i + 0.5 for i in range(20)]
    source = {"x": [*numbers, "unknown"], "y": ["a", "b"] * 10 + [None]}
    with pytest.raises(DataError, match="'x' looks continuous"):
        read(source, missing="drop")
    assert read(source, missing="drop", discretize="quantile").cards.tolist() == [3, 2]
    few = {"x": [1.5, 2.5] * 3 + numbers, "y": ["a", "b"] * 3 + [None] * 20}
    assert read(few, missing="drop", discretize="quantile").levels["x"] == ("1.5", "2.5")
    many = {"x": [f"v{i}" for i in range(300)], "y": ["a", "b"] * 5 + [None] * 290}
    assert read(many, missing="drop").cards.tolist() == [10, 2]
    gap = {"x": ["a", "b", None, "stranger"]}
    assert read(gap, weights=[1, 1, 0, 0], levels={"x": ["a", "b"]}).n_rows == 2
    assert read(gap, weights=[1, 1, 0, 1], missing="level").levels["x"] == ("a", "b", "stranger")


cell = st.sampled_from([None, "a", "b", "NA", "1", "2", "0.5", *(str(i / 4) for i in range(12))])


@settings(deadline=None)
@given(
    st.integers(1, 3).flatmap(lambda k: st.lists(st.tuples(*[cell] * k), min_size=1, max_size=40)),
    st.sampled_from([None, "quantile(2)"]),
)
@pytest.mark.filterwarnings("ignore::mapdag.errors.MapdagWarning")
def test_dropping_rows_reads_as_if_they_had_never_been_there(rows, discretize):
    """The same dataset, or the same complaint but for the numbers of the rows."""
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(len(rows[0]))], dtype=object)
    whole = frame.replace("NA", None).dropna()
    if whole.empty:
        return

    def result(source, **options):
        try:
            data = read(source, discretize=discretize, **options)
        except MapdagError as error:
            return str(error).replace(" in the rows that are left", "")
        return dict(data.levels), data.codes.tolist()

    expected = result(whole)
    assert result(frame, missing="drop") == expected
    assert result(frame, weights=frame.index.isin(whole.index)) == expected


def test_missing_as_the_last_level():
    data = read({"x": ["b", None, "a"], "y": ["u", "v", "u"]}, missing="level")
    assert data.levels["x"] == ("a", "b", "NA")
    assert data.levels["y"] == ("u", "v")
    frame = pd.DataFrame({"x": pd.Categorical(["NA", None, "z"], ["NA", "z"])})
    assert read(frame, missing="level").levels["x"] == ("NA", "z", "<missing>")
    assert read({"x": ["1", None, "1"]}, missing="level").levels["x"] == ("1", "NA")


def test_a_declared_level_for_missing_values_is_used():
    train = read({"x": ["b", None, "a"]}, missing="level")
    test = read({"x": ["a", None, "NA"]}, like=train, missing="level")
    assert test.levels["x"] == ("a", "b", "NA")
    assert test.column("x").tolist() == [0, 2, 2]
    assert read({"x": [None, "a"]}, levels={"x": ["<missing>", "a", "NA"]}, missing="level").column("x").tolist() == [
        0,
        1,
    ]
    assert read({"x": [None, "a"]}, levels={"x": ["b", "a"]}, missing="level").levels["x"] == ("b", "a", "NA")
    with pytest.raises(DataError, match='missing="drop"') as error:
        read({"x": ["a", None]}, like=read({"x": ["a", "b"]}), missing="level")
    assert 'missing="level"' not in str(error.value)


@pytest.mark.parametrize("text", ["", "  ", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?", "."])
def test_usual_codes_are_missing_in_any_table(text):
    assert read({"x": ["a", text, "b"]}, missing="drop").n_rows == 2
    assert read(pd.DataFrame({"x": ["a", text, "b"]}), missing="drop").n_rows == 2


@pytest.mark.parametrize("text", ["None", "-", "unknown", "na", "0"])
def test_other_words_are_levels_unless_said_otherwise(text):
    assert text in read({"x": ["a", text, "b"]}).levels["x"]
    assert read({"x": ["a", text, "b"]}, missing="drop", missing_values=text).n_rows == 2


def test_missing_values_can_be_numbers():
    source = {"x": [1, -9, 2, 2], "y": [1.5, 2.5, -9.0, 2.5]}
    for values in ([-9, 77], ["-9.0", "77"]):
        data = read(source, missing="drop", missing_values=values)
        assert data.n_rows == 2
        assert data.levels["y"] == ("1.5", "2.5")
    texts = {"x": [*(str(i + 0.5) for i in range(20)), "-9.0"]}
    assert read(texts, missing="drop", missing_values=[-9], discretize="quantile").n_rows == 20
    assert read(b"x,y\n-9.0,a\n1,b\n2,a\n", missing="drop", missing_values=[-9]).n_rows == 2


@st.composite
def tables_with_codes(draw):
    """A table of texts and numbers, values that mean "missing" by column, and the same table without them."""
    n_rows = draw(st.integers(6, 20))
    pools = {
        "smoke": ["1", "2", "9", "yes"],
        "age": ["20", "30", "99", "9"],
        "dose": [1.0, 2.5, 9.0, -9.0],
        "n": [1, 9],
    }
    table = {name: [draw(st.sampled_from(pool)) for _ in range(n_rows)] for name, pool in pools.items()}
    codes = st.lists(st.sampled_from(["9", 9, "99", "-9.0", -9, "yes"]), max_size=2)
    given = draw(st.dictionaries(st.sampled_from(["*", *pools]), codes, max_size=3))
    meant = {
        name: {str(code).removesuffix(".0") for code in [*given.get("*", []), *given.get(name, [])]} for name in pools
    }
    known = {
        name: [None if str(value).removesuffix(".0") in meant[name] else value for value in values]
        for name, values in table.items()
    }
    return table, given, known


def outcome(source, read_it=read, **options):
    """What a table is read as, or None if it cannot be."""
    try:
        return read_it(source, **options)
    except DataError:
        return None


@given(tables_with_codes(), st.sampled_from(["drop", "level", "keep"]), st.sampled_from([None, "quantile(2)", "n"]))
@settings(max_examples=100, deadline=None)
def test_missing_values_of_single_columns_are_missing_there_and_nowhere_else(tmp_path_factory, tables, missing, other):
    table, given, known = tables
    options = {"missing": missing, "discretize": {"dose": other} if other and other != "n" else None}
    options |= {"weights": "n"} if other == "n" else {}
    expected = outcome(known, **options)
    assert outcome(table, missing_values=given, **options) == expected
    assert outcome(pl.DataFrame(table), missing_values=given, **options) == expected
    text = pl.DataFrame(table).write_csv().encode()
    blanked = pl.DataFrame(known, schema=pl.DataFrame(table).schema).write_csv().encode()
    assert outcome(text, missing_values=given, **options) == outcome(blanked, **options)
    quiet: dict[str, list[str]] = {name: [] for name in table}  # nothing is to be suspected
    assert check(text, missing_values={**quiet, **given}).columns == check(blanked, missing_values=quiet).columns
    if other != "n":
        folder = tmp_path_factory.mktemp("scan")
        (folder / "table.csv").write_bytes(text)
        found = outcome(folder / "table.csv", scan, missing_values=given, cache=folder / "cache", **options)
        assert (found if found is None else found.to_dataset()) == outcome(blanked, **options)


def test_missing_values_by_column_are_a_part_of_everything():
    text = b"smoke,age\n" + b"9,20\n1,99\n1,9\n2,20\n" * 3
    given = {"smoke": ["9"], "age": ["99"]}
    data = read(text, missing_values=given, missing="drop")
    assert data.n_rows == 6
    assert data.levels == {"smoke": ("1", "2"), "age": ("9", "20")}
    found = check(text, missing_values={"smoke": 9, "age": (each for each in [99])})
    assert [column.missing for column in found.columns] == [3, 3]
    assert found.options["missing_values"] == given
    assert read(text, **found.options) == read(text, missing_values=given, missing=found.options["missing"])
    assert check(text, missing_values={"smoke": 9}, drop="smoke").problems == ()
    cut = discretize({"x": [*range(50), 99]}, columns=["x"], missing_values={"x": [99]})
    assert cut == discretize({"x": range(50)}, columns=["x"])


def test_missing_values_given_once_serve_as_often_as_they_are_needed():
    text = b"smoke,age\n" + b"9,20\n1,99\n1,9\n2,20\n" * 3
    for source in (text, {"smoke": ["9", "1", "2"], "age": ["1", "2", "9"]}):
        once = (each for each in ["9"])
        assert check(source, missing_values=once).columns == check(source, missing_values=["9"]).columns


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"smok": ["9"]}, r"missing_values: no column 'smok' \(did you mean 'smoke'\?\)"),
        ({"smoke": ["9"], "weight": ["99"]}, "missing_values: no column 'weight'"),
        ({"smoke": {"9": None}}, "missing_values of 'smoke' must be a text or a list of values, got"),
        ({"smoke": None}, "missing_values of 'smoke' must be a text or a list"),
        ({"smoke": [["9"]]}, "missing_values of 'smoke' must be single values, got"),
        ([["9"], ["99"]], "missing_values must be single values, got"),
        ([{"smoke": "9"}], "missing_values must be single values, got"),
        ([b"9"], "missing_values must be single values, got"),
        (np.array([["9"]]), "missing_values must be single values, got"),
        (pd.DataFrame({"smoke": ["9"]}), "missing_values must be a text or a list of values, or a mapping"),
        (9, "missing_values must be a text or a list of values, or a mapping from columns to such, got 9"),
    ],
)
def test_missing_values_that_are_not_understood_are_refused(wrong, told, tmp_path):
    table = {"smoke": ["1", "2", "9"], "age": ["20", "30", "99"]}
    path = tmp_path / "t.csv"
    path.write_bytes(b"smoke,age\n1,20\n2,30\n9,99\n")
    calls = (
        lambda: read(table, missing_values=wrong, missing="drop"),
        lambda: check(table, missing_values=wrong),
        lambda: scan(path, missing_values=wrong, missing="drop", cache=tmp_path / "cache"),
        lambda: discretize(table, columns=["age"], missing_values=wrong),
    )
    for call in calls:
        with pytest.raises((DataError, ParameterError), match=told):
            call()


# Weights -----------------------------------------------------------------------------------------------------------


def test_weights_come_from_a_column_or_an_array():
    data = read({"x": ["a", "b", "c"], "count": [2, 0, 3]}, weights="count")
    assert data.names == ("x",)
    assert data.weights.tolist() == [2, 3]
    assert data.weights.dtype == np.int64
    assert data.levels["x"] == ("a", "c")
    assert data == read({"x": ["a", "b", "c"]}, weights=[2, 0, 3])
    assert read({"x": ["a", "b"]}, weights=pd.Series([0.5, 1])).total == 1.5
    assert read({"x": ["a", "b"], "w": ["1", " 2.5 "]}, weights="w").weights.tolist() == [1, 2.5]
    dropped = read({"x": ["a", None, "b"]}, weights=[1, 2, 3], missing="drop")
    assert dropped.weights.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("w", ["'w'", "not be negative", "-2", "1 of 3 rows (row 2)"]),
        ("gap", ["'gap'", "missing", "(row 3)"]),
        ("inf", ["'inf'", "finite", "(row 1)"]),
        ("text", ["'text'", "numbers", "'many'"]),
        ("flag", ["'flag'", "numbers"]),
        ("count", ["weights", "'count'", "the columns are"]),
        ([1, 2], ["one number per row (3)", "(2,)"]),
        ([1, 2, -1], ["negative", "(row 3)"]),
    ],
)
def test_weights_that_make_no_sense(weights, words):
    source = {
        "x": ["a", "b", "a"],
        "w": [1, -2, 3],
        "gap": [1, 2, None],
        "inf": [float("inf"), 1, 1],
        "text": ["1", "many", "2"],
        "flag": [True, False, True],
    }
    with pytest.raises(DataError) as error:
        read(source, weights=weights)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "weights",
    [[2**62] * 3, np.array([2**63, 1, 1], dtype=np.uint64), [2**53 - 2, 1, 1], [2.0**52, 0.5, 2.0**52], [2**70, 1, 1]],
)
def test_weights_beyond_exact_counting_are_refused(weights):
    with pytest.raises(DataError, match=r"weights must add up to less than 2\*\*53 \(9,007,199,254,740,992\), got"):
        read({"x": ["a", "b", "a"]}, weights=weights)
    with pytest.raises(DataError, match=r"less than 2\*\*53"):
        Dataset.from_codes([[0], [1], [0]], weights=weights)
    if not isinstance(weights[0], float):
        with pytest.raises(DataError, match=r"column 'w' must add up to less than 2\*\*53"):
            read({"x": ["a", "b", "a"], "w": list(map(int, weights))}, weights="w")


def test_the_largest_total_is_exact():
    data = read({"x": ["a", "b", "a"]}, weights=[2**53 - 3, 1, 1])
    assert data.total == 2**53 - 1
    assert data.observed("x").tolist() == [2**53 - 2, 1]
    with pytest.raises(DataError, match=r"less than 2\*\*53"):
        data.take([0] * 1025)


def test_weights_that_leave_nothing():
    with pytest.raises(DataError, match="all of them are zero"):
        read({"x": ["a", "b", "a"]}, weights=[0, 0, 0])
