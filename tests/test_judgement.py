"""What columns seem to be: by their values against their rows, whatever a table comes as."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapdag.data import Dataset, check, read
from mapdag.data.judgement import bins_for
from mapdag.errors import DataError, MapdagWarning

JUDGED = json.loads((Path(__file__).parent / "data" / "judged.json").read_text())["columns"]


def kind(name, values, *, first=False):
    """Judge one column among others, in memory and as text, which must agree."""
    other = ["u", "v", "v"] * len(values)
    columns = {name: list(values), "other column": other[: len(values)]}
    frame = pd.DataFrame(columns if first else dict(reversed(columns.items())))
    found = []
    for table in (frame, frame.to_csv(index=False).encode()):
        looked = check(table)
        assert not looked.problems
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(table, **looked.options)
        found.append(next(column.kind for column in looked.columns if column.name == name))
    assert found[0] == found[1]
    return found[0]


def refused(name, values, **options):
    """Return why read() refuses a column."""
    with pytest.raises(DataError) as error:
        read({"other": (["u", "v"] * len(values))[: len(values)], name: values}, **options)
    return str(error.value)


# Real columns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", JUDGED, ids=lambda known: f"{known['table']}-{known['column']}")
def test_columns_of_public_tables_are_judged_as_people_do(known):
    values = [value for value, count in known["values"] for _ in range(count)]
    if not known["in_order"]:
        np.random.default_rng(1).shuffle(values)
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
    values += [None] * known["missing"]
    assert kind(known["column"], values, first=known["first"]) == known["kind"]


def test_the_target_of_scikit_learns_diabetes_is_no_category():
    datasets = pytest.importorskip("sklearn.datasets")
    frame = datasets.load_diabetes(as_frame=True).frame
    kinds = {column.name: column.kind for column in check(frame).columns}
    assert kinds.pop("sex") == "category"
    assert set(kinds.values()) == {"numeric"}
    with pytest.raises(DataError) as error:
        read(frame)
    assert str(error.value).endswith('pass discretize="quantile"')
    assert "10 columns look continuous: 'age', " in str(error.value)
    assert read(frame, discretize="quantile").n_columns == 11


# Numbers -----------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("rating", RNG.integers(1, 6, 300), "category"),
        ("rating", [1, 2, 3, 4, 5] * 2, "category"),
        ("rating", [1.0, 2.0, 3.0, 4.0, 5.0] * 2, "category"),
        ("age", RNG.integers(18, 80, 500), "numeric"),
        ("age", RNG.integers(18, 80, 500).astype(float), "numeric"),
        ("born", RNG.integers(1930, 2005, 400), "numeric"),
        ("price", RNG.integers(100, 100_000, 400), "numeric"),
        ("visits", RNG.poisson(30, 400), "numeric"),
        ("month", RNG.integers(1, 13, 100), "category"),
        ("hour", [i % 24 for i in range(100)], "category"),
        ("hour", [2 * i % 48 for i in range(100)], "numeric"),
        ("when", [i % 24 for i in range(100)], "numeric"),
        ("grade", RNG.integers(0, 12, 1000), "category"),
        ("share", RNG.random(50), "numeric"),
        ("dose", RNG.choice([0.5, 1.0, 2.0], 50), "category"),
        ("code", RNG.permutation(84) + 1, "identifier"),
        ("patient_id", RNG.choice(10**6, 84, replace=False), "identifier"),
        ("customerID", RNG.choice(10**6, 500), "identifier"),
        ("store_id", RNG.integers(1, 15, 1000), "category"),
        ("income", np.sort(RNG.choice(10**6, 200, replace=False)), "numeric"),
        ("rank", RNG.permutation(84) + 1, "numeric"),
        ("serial", np.arange(5000, 5084), "identifier"),
        ("year", np.arange(1900, 1984), "numeric"),
        ("subject", np.repeat(np.arange(1, 31), 4), "identifier"),
        ("unit", np.repeat(np.arange(1, 31), 4), "identifier"),
    ],
)
def test_numbers(name, values, expected):
    assert kind(name, values.tolist() if isinstance(values, np.ndarray) else values) == expected


def test_an_index_numbers_the_rows_from_the_first_column():
    assert kind("row", list(range(50)), first=True) == "index"
    assert kind("row", list(range(1, 51)), first=True) == "index"
    for name in ("Unnamed: 0", "rownames"):
        assert kind(name, list(range(0, 100, 2)), first=True) == "index"
        assert kind(name, [0, 1, 2, 3], first=True) == "index"
        assert kind(name, [f"car {i}" for i in range(20)], first=True) == "index"
    assert kind("x", [0, 1, 2, 3], first=True) == "category"
    assert "numbers the 50 rows: pass drop=" in refused("index", list(range(50)))


def test_a_first_column_without_a_name_of_its_own_is_an_index_in_any_order():
    for name in ("Unnamed: 0", "rownames"):
        assert kind(name, [85, 86, 4, 10, 11, 200, 199, 7, 20, 30, 31, 33], first=True) == "index"
    table = "\n".join([",a,b", *(f"{7 * i % 31 + 100},{'xy'[i % 2]},{'uvw'[i % 3]}" for i in range(31))])
    assert check(table.encode()).columns[0].kind == "index"
    assert kind("size", [85, 86, 4, 10, 11, 200, 199, 7, 20, 30, 31, 33], first=True) == "numeric"


def test_the_index_that_to_csv_writes_is_left_out_as_advised(tmp_path):
    frame = pd.DataFrame({"x": ["a", "b"] * 10, "y": ["u", "v", "v", "u"] * 5})
    path = tmp_path / "with index.csv"
    frame.to_csv(path)
    found = check(path)
    assert (found.columns[0].name, found.columns[0].kind) == ("", "index")
    assert found.options == {"drop": [""]}
    assert read(path, **found.options) == read(frame)
    again = pd.read_csv(path)
    assert check(again).columns[0].kind == "index"
    assert read(again, **check(again).options) == read(frame)


def test_small_tables_suffer_only_from_names_that_say_so():
    assert kind("id", list(range(8))) == "identifier"
    assert kind("id", list("abcdefgh")) == "identifier"
    assert kind("id", [1, 2] * 4) == "category"
    assert kind("item", list("abcdefgh")) == "category"
    assert kind("x", [3, 1, 2, 9, 7, 8, 4, 5]) == "category"
    assert read({"id": ["a", "b"], "x": ["u", "v"]}).n_columns == 2


def test_leading_zeros_are_no_numbers():
    codes = [f"{i:05d}" for i in range(200)]
    assert kind("zip", codes) == "identifier"
    assert kind("zip", [f"{i % 20:02d}" for i in range(400)]) == "category"


def test_doubtful_numbers_are_read_with_one_warning():
    table = {
        "school": RNG.integers(3, 19, 2000),
        "town": RNG.permutation([f"t{i % 700}" for i in range(2000)]),
        "x": RNG.choice(["u", "v"], 2000),
    }
    options = {"max_levels": None}
    with pytest.warns(MapdagWarning) as caught:
        data = read({name: table[name] for name in ("school", "x")}, **options)
    assert data.cards.tolist() == [16, 2]
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("column 'school' looks continuous (16 distinct whole numbers from 3 to 18), but was read as")
    assert 'pass discretize="quantile" to change that, or discretize={"school": "none"} if that is right' in text
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read({"school": table["school"]}, discretize={"school": "none"}).cards.tolist() == [16]
        assert read({"school": table["school"]}, discretize="quantile").cards.tolist() == [3]
        assert read({"school": table["school"]}, max_levels=100).cards.tolist() == [16]


def test_weights_are_rows():
    ages, counts = np.arange(20, 50), np.full(30, 400)
    assert "looks continuous" in refused("age", ages.tolist())
    with pytest.warns(MapdagWarning, match="'age' looks continuous"):
        assert read({"age": ages, "n": counts}, weights="n").cards.tolist() == [30]


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5, 6, 7, 8] * 3, list("abcdefgh") * 3])
def test_more_levels_than_are_meant_are_a_mistake_however_few(values):
    assert read({"x": values}).cards.tolist() == [8]
    assert read({"x": values}, max_levels=8).cards.tolist() == [8]
    told = refused("x", values, max_levels=7)
    assert "column 'x' has 8 levels, like an identifier (max_levels is 7): pass " in told
    assert "max_levels=8" in told


# Declared levels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "read_it",
    [
        lambda ids: read({"x": ids}, levels={"x": ids}),
        lambda ids: read(pd.DataFrame({"x": pd.Categorical(ids)})),
        lambda ids: read(pl.DataFrame({"x": list(map(str, ids))}, schema={"x": pl.Enum(list(map(str, ids)))})),
        lambda ids: read(pa.table({"x": pa.array(list(map(str, ids))).dictionary_encode()})),
        lambda ids: read({"x": ids}, like=read({"x": ids}, levels={"x": ids})),
        lambda ids: read(Dataset.from_codes(np.array([ids]).T)),
        lambda ids: read({"x": ids}, discretize={"x": "none"}),
        lambda ids: read({"x": ids}, max_levels=84),
    ],
)
def test_what_is_declared_is_not_judged(read_it):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_it(list(range(84))).cards.tolist() == [84]


# Texts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([f"p{i}" for i in range(84)], "identifier"),
        ([f"p{i % 80}" for i in range(84)], "identifier"),
        ([f"town {i % 50}" for i in range(84)], "text"),
        ([f"the patient said on day {i} that it hurts" for i in range(84)], "text"),
        ([f"town {i % 12}" for i in range(84)], "category"),
        ([f"{i % 28 + 1}/{i % 12 + 1}/2020" for i in range(84)], "date"),
        ([f"2020-01-{i % 28 + 1:02d} 10:00" for i in range(84)], "date"),
        ([f"{i % 28 + 1} Mar 1999" for i in range(84)], "date"),
        ([f"{i % 28 + 1}.{i % 12 + 1}.99" for i in range(84)], "date"),
        (["1/1/2020", "2/1/2020"] * 20, "category"),
        ([f"${i},{i + 100}" for i in range(10, 94)], "text"),
        ([f"{i},5" for i in range(84)], "numeric"),
        ([f"{i} %" for i in range(84)], "text"),
        (["same"] * 20, "constant"),
        (list("abcdefghij"), "category"),
    ],
)
def test_texts(values, expected):
    assert kind("column", values) == expected


def test_the_reason_is_said():
    assert "amounts that are not plain numbers" in refused("x", [f"${i},{i + 100}" for i in range(10, 94)])
    assert "looks continuous" in refused("x", [f"{i},5" for i in range(84)])
    assert "free text (84 levels in 84 rows, such as 'it hurts" in refused(
        "x", [f"it hurts {i} a b" for i in range(84)]
    )
    assert "hardly two rows for each label (50 levels in 84 rows)" in refused("x", [f"t{i % 50}" for i in range(84)])


def test_messages_stay_short_whatever_the_labels():
    table = {f"column {i} " + "x" * 300: [f"{'word ' * 2000}{j} {i}" for j in range(40)] for i in range(60)}
    with pytest.raises(DataError) as error:
        read(table)
    assert len(str(error.value)) < 12_000
    assert str(error.value).count("\n") < 20
    with pytest.raises(DataError) as error:
        read({f"c{i}": RNG.random(50) + 1 for i in range(500)})
    assert len(str(error.value)) < 500


# Bins --------------------------------------------------------------------------------------------------------------


@given(st.floats(1, 1e12))
def test_more_rows_never_mean_fewer_bins(rows):
    assert 2 <= bins_for(rows) <= bins_for(rows * 1.5) <= 5


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.lists(st.integers(-5, 10**6), min_size=30, max_size=30),
            st.lists(st.floats(-1e6, 1e6), min_size=30, max_size=30),
            st.lists(st.text(max_size=5), min_size=30, max_size=30),
            st.lists(st.sampled_from(["a", "b", None]), min_size=30, max_size=30),
            st.lists(st.one_of(st.none(), st.integers(0, 30)), min_size=30, max_size=30),
            st.just(list(range(30))),
            st.just([None] * 30),
        ),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.text(max_size=4), min_size=5, max_size=5, unique=True),
)
def test_whatever_the_table_the_options_of_check_work_or_it_says_why_not(columns, names):
    table = dict(zip(names, columns, strict=False))
    found = check(table)
    assert [column.name for column in found.columns] == list(table)
    if found.problems:
        assert not found.code
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = read(table, **found.options)
    assert data.n_columns >= 1
