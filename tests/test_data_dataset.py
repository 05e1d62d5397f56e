"""Dataset as a value: what it holds, refuses, and turns into."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mapdag.data import Dataset
from mapdag.errors import DataError, ParameterError

SMALL = [[0, 1], [1, 0], [0, 0], [0, 1]]


def weather(**options):
    levels = {"rain": ["no", "yes"], "wind": ["calm", "breeze", "storm"]}
    return Dataset.from_codes([[0, 2], [1, 1], [0, 2]], names=["rain", "wind"], levels=levels, **options)


def test_codes_are_one_contiguous_read_only_row_per_variable():
    data = weather()
    assert data.codes.dtype == np.uint8
    assert data.codes.shape == (2, 3)
    assert data.codes.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        data.codes[0, 0] = 1
    with pytest.raises(TypeError):
        data.levels["rain"] = ("x",)
    with pytest.raises(AttributeError):
        data.names = ("a", "b")


def test_the_source_array_can_change_without_the_dataset():
    codes = np.array(SMALL, dtype=np.uint8)
    weights = np.array([1, 1, 1, 1])
    data = Dataset.from_codes(codes, weights=weights)
    codes[:] = 1
    weights[:] = 9
    assert data.codes.tolist() == np.transpose(SMALL).tolist()
    assert data.total == 4


def test_facts():
    data = weather()
    assert (data.n_rows, data.n_columns, data.total, len(data)) == (3, 2, 3, 3)
    assert data.cards.tolist() == [2, 3]
    assert data.cards.dtype == np.int64
    assert data.index("wind") == 1
    assert data.column("wind").tolist() == [2, 1, 2]
    assert data.row(0) == {"rain": "no", "wind": "storm"}
    assert data.row(-1) == data.row(2)
    assert data.observed("wind").tolist() == [0, 1, 2]
    assert data.unobserved() == {"wind": ("calm",)}
    assert repr(data) == "Dataset(3 rows, 2 columns, 2-3 levels)"


def test_names_and_levels_have_defaults():
    data = Dataset.from_codes(SMALL)
    assert data.names == ("X1", "X2")
    assert data.levels["X2"] == ("0", "1")
    assert Dataset.from_codes(SMALL, levels=[3, 2]).levels["X1"] == ("0", "1", "2")
    assert Dataset.from_codes(SMALL, levels={"X2": 5}).cards.tolist() == [2, 5]
    assert Dataset.from_codes(np.array(SMALL, dtype=bool)).codes.dtype == np.uint8


def test_more_than_256_levels_take_16_bits():
    assert Dataset.from_codes([[255]]).codes.dtype == np.uint8
    wide = Dataset.from_codes([[256, 0], [0, 1]])
    assert wide.codes.dtype == np.uint16
    assert wide.select(["X2"]).codes.dtype == np.uint8
    assert Dataset.from_codes([[65535]]).cards.tolist() == [65536]
    with pytest.raises(DataError, match="65,536"):
        Dataset.from_codes([[65536]])


@pytest.mark.parametrize(
    ("codes", "options", "words"),
    [
        ([[0, -1]], {}, ["'X2'", "code -1", "row 1"]),
        ([[0], [5]], {"levels": [2]}, ["'X1'", "code 5", "row 2", "between 0 and 1"]),
        ([[0.0]], {}, ["integers"]),
        ([0, 1], {}, ["(rows, columns)"]),
        ([[0]], {"names": ["a", "b"]}, ["2 names for 1 column"]),
        ([[0, 0]], {"names": ["a", "a"]}, ["unique", "'a'"]),
        ([[0]], {"names": [""]}, ["non-empty"]),
        ([[0]], {"names": [1]}, ["text"]),
        ([[0]], {"names": "a"}, ["sequence"]),
        ([[0]], {"levels": {"X1": ["a", "a"]}}, ["'X1'", "'a'", "more than once"]),
        ([[0]], {"levels": {"X1": []}}, ["'X1'", "at least one"]),
        ([[0]], {"levels": {"X1": "ab"}}, ["'X1'", "list of labels"]),
        ([[0]], {"levels": {"X1": ["", "b"]}}, ["'X1'", "empty"]),
        ([[0]], {"levels": {"X9": ["a"]}}, ["'X9'", "'X1'"]),
        ([[0]], {"levels": [2, 2]}, ["2 entries for 1 column"]),
        ([[0]], {"levels": {"X1": 70000}}, ["70,000", "65,536"]),
        ([[0]], {"levels": 3}, ["mapping"]),
        ([[0], [0]], {"weights": [1, -2]}, ["negative", "-2", "row 2"]),
        ([[0], [0]], {"weights": [1.0, np.nan]}, ["missing or infinite", "row 2"]),
        ([[0], [0]], {"weights": [1]}, ["one number per row"]),
        ([[0], [0]], {"weights": ["a", "b"]}, ["numbers"]),
        (np.empty((3, 0), dtype=int), {}, ["at least one column"]),
    ],
)
def test_what_is_wrong_is_said_with_its_place(codes, options, words):
    with pytest.raises(DataError) as error:
        Dataset.from_codes(codes, **options)
    for word in words:
        assert word in str(error.value)


def test_the_constructor_takes_one_row_per_column_and_checks_too():
    assert Dataset(("a",), {"a": ("x", "y")}, np.array([[0, 1, 1]])).row(1) == {"a": "y"}
    with pytest.raises(DataError, match="one row per column"):
        Dataset(("a",), {"a": ("x", "y")}, np.array([[0], [1]]))
    with pytest.raises(DataError, match="no levels are declared for 'b'"):
        Dataset(("a", "b"), {"a": ("x", "y")}, np.array([[0], [1]]))


def test_weights_are_exact_when_whole_and_rows_of_weight_zero_go():
    data = weather(weights=[2, 0, 3])
    assert data.weights.dtype == np.int64
    assert data.n_rows == 2
    assert data.total == 5
    assert isinstance(data.total, int)
    assert data.observed("rain").tolist() == [5, 0]
    assert data.observed("rain").dtype == np.int64
    assert "total weight 5" in repr(data)
    assert weather(weights=[2.0, 1.0, 3.0]).weights.dtype == np.int64
    fractions = weather(weights=[0.5, 0.25, 1])
    assert fractions.weights.dtype == np.float64
    assert fractions.total == 1.75
    assert fractions.observed("wind").tolist() == [0, 0.25, 1.5]


def test_equality_is_by_content():
    assert weather() == weather()
    assert hash(weather()) == hash(weather())
    assert weather() != weather(weights=[1, 1, 1])
    assert weather(weights=[1, 2, 3]) == weather(weights=[1.0, 2.0, 3.0])
    assert weather() != weather().take([0, 1, 1])
    assert weather() != weather().select(["wind", "rain"])
    assert weather() != weather().with_levels({"rain": ["no", "yes", "snow"]})
    assert weather() != "weather"


def test_pickling_keeps_everything_sealed():
    data = pickle.loads(pickle.dumps(weather(weights=[1, 2, 3])))
    assert data == weather(weights=[1, 2, 3])
    assert not data.codes.flags.writeable
    assert not data.weights.flags.writeable
    with pytest.raises(TypeError):
        data.levels["rain"] = ()


def test_select_permutes_and_picks():
    data = weather(weights=[1, 2, 3])
    assert data.select(["wind", "rain"]).codes.tolist() == data.codes[::-1].tolist()
    assert data.select("wind").names == ("wind",)
    assert data.select(name for name in ("wind",)).weights.tolist() == [1, 2, 3]
    with pytest.raises(DataError, match="'Wind' \\(did you mean 'wind'\\?\\)"):
        data.select(["Wind"])
    with pytest.raises(DataError, match="at least one"):
        data.select([])
    with pytest.raises(DataError, match="no column 'x'"):
        data.column("x")


def test_take_accepts_positions_and_masks():
    data = weather(weights=[1, 2, 3])
    assert data.take([2, 0, 2]).weights.tolist() == [3, 1, 3]
    assert data.take(np.array([False, True, False])) == data.take([1]) == data.take([-2])
    assert data.take([]).n_rows == 0
    assert data.take([]).cards.tolist() == [2, 3]
    for wrong in ([3], [-4], [0.5], [True], [[0]]):
        with pytest.raises(ParameterError, match="rows"):
            data.take(wrong)
    with pytest.raises(ParameterError, match="row"):
        data.row(3)


def test_with_levels_recodes_and_never_loses_a_level_in_use():
    data = weather()
    turned = data.with_levels({"wind": ["storm", "breeze"]})
    assert [turned.row(i) for i in range(3)] == [data.row(i) for i in range(3)]
    assert turned.column("wind").tolist() == [0, 1, 0]
    assert data.with_levels(data.levels) == data
    assert data.with_levels({"rain": [*map(str, range(300)), "no", "yes"]}).codes.dtype == np.uint16
    with pytest.raises(DataError, match=r"'wind'.*'storm'.*2 of 3 rows \(rows 1, 3\)"):
        data.with_levels({"wind": ["calm", "breeze"]})


tables = hnp.arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 30)), elements=st.integers(0, 3))


@given(tables, st.booleans())
def test_aggregated_counts_distinct_rows_in_lexicographic_order(codes, weighted):
    weights = np.arange(1, len(codes) + 1) if weighted else None
    # 200 declared levels in 30 columns do not fit one integer key.
    data = Dataset.from_codes(codes, levels=[200] * codes.shape[1], weights=weights).aggregated()
    expected: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(codes.tolist()):
        expected[tuple(row)] = expected.get(tuple(row), 0) + (i + 1 if weighted else 1)
    assert list(map(tuple, data.codes.T.tolist())) == sorted(expected)
    assert data.weights.tolist() == [expected[row] for row in sorted(expected)]
    assert data.weights.dtype == np.int64
    assert data.aggregated() == data


def test_aggregated_adds_fractional_weights():
    data = Dataset.from_codes([[0], [1], [0]], weights=[0.5, 0.25, 0.25]).aggregated()
    assert data.weights.tolist() == [0.75, 0.25]


def test_frames_declare_all_levels_and_carry_weights():
    import polars as pl

    data = weather(weights=[2, 1, 1])
    frame = data.to_polars()
    assert frame.schema["wind"] == pl.Enum(["calm", "breeze", "storm"])
    assert frame.columns == ["rain", "wind", "weight"]
    assert frame["rain"].to_list() == ["no", "yes", "no"]
    frame = data.to_pandas(weights="n")
    assert list(frame["wind"].cat.categories) == ["calm", "breeze", "storm"]
    assert frame["n"].tolist() == [2, 1, 1]
    with pytest.raises(ParameterError, match="'wind'"):
        data.to_polars(weights="wind")
    assert "weight" not in weather().to_pandas()


def test_importing_costs_no_heavy_package():
    heavy = "('polars', 'pandas', 'numba', 'pyarrow', 'scipy')"
    code = f"import mapdag.data, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_heavy_is_imported_for_arrays_and_dicts():
    code = (
        "import sys; from mapdag.data import read; read({'a': [1, 2], 'b': ['x', 'y']}); import numpy as np;"
        "read(np.eye(2, dtype=int)); print([m for m in ('polars', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
