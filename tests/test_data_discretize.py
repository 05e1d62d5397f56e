"""Cutting continuous columns: against literal loops, and the promises about intervals and labels."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapdag.data import Cuts, Dataset, discretize, read
from mapdag.data.discretization import hartemink_splits, quantile_splits, round_between
from mapdag.errors import CapacityError, DataError, MapdagWarning, ParameterError


def bounds(label):
    low, high = label[1:-1].split(",")
    return float(low), float(high)


def binned(values, **options):
    """Cut one column, and check what holds for any cuts: labels state intervals that hold just their values."""
    data = read({"x": values}, discretize={"x": options.pop("way")}, levels=None, **options)
    edges = [bounds(label) for label in data.levels["x"]]
    for value, code in zip(values, data.column("x"), strict=True):
        low, high = edges[code]
        assert low < value <= high or (code == 0 and low <= value <= high)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(edges))
    return data


# Quantiles ---------------------------------------------------------------------------------------------------------


def naive_quantile_splits(counts, bins):
    """Give each bin in turn the values that bring it closest to an equal share of the rest."""
    bins = min(bins, len(counts))
    splits = []
    for left in range(bins, 1, -1):
        start = splits[-1] if splits else 0
        share = sum(counts[start:]) / left
        best = None
        for split in range(start + 1, len(counts) - left + 2):
            off = abs(sum(counts[start:split]) - share)
            if best is None or off < best[0] - 1e-9:
                best = (off, split)
        splits.append(best[1])
    return splits


@given(st.lists(st.integers(1, 30), min_size=2, max_size=40), st.integers(2, 8))
def test_quantile_splits_equal_the_literal_rule(counts, bins):
    splits = quantile_splits(np.array(counts, dtype=float), bins)
    assert splits == naive_quantile_splits(counts, bins)
    assert len(splits) == min(bins, len(counts)) - 1
    assert sorted(set(splits)) == splits


@settings(max_examples=60)
@given(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-5, 5), min_size=30, max_size=80).filter(
        lambda values: len(set(values)) > 12
    ),
    st.integers(2, 5),
)
def test_quantile_bins_are_never_empty_and_labels_tell_the_truth(values, bins):
    data = binned([float(value) for value in values], way=bins)
    assert data.cards.tolist() == [bins]
    assert data.observed("x").min() > 0


def test_quantiles_without_ties_are_equal_shares():
    assert binned(np.linspace(0, 1, 99), way="quantile(3)").observed("x").tolist() == [33, 33, 33]
    assert binned(np.linspace(0, 1, 100), way="quantile(3)").observed("x").tolist() == [33, 33, 34]


def test_a_heavy_value_costs_no_bins():
    values = np.array([0.0] * 80 + [0.1 * i for i in range(1, 21)])
    data = binned(values, way="quantile(3)")
    assert data.observed("x").tolist() == [80, 10, 10]
    assert data.levels["x"][0] == "[0,0]"


def test_too_few_values_give_fewer_bins_and_a_warning():
    with pytest.warns(MapdagWarning, match="'x' has only 2 distinct values: too few for 3 bins"):
        data = read({"x": [1.5, 2.5, 1.5]}, discretize={"x": "quantile"})
    assert data.column("x").tolist() == [0, 1, 0]
    assert data.levels["x"] == ("[1.5,2]", "(2,2.5]")


def test_weights_count_in_quantiles():
    source = {"x": [0.5, 1.5, 2.5, 3.5], "n": [97, 1, 1, 1]}
    data = read(source, weights="n", discretize={"x": 2})
    assert data.column("x").tolist() == [0, 1, 1, 1]


# Equal widths, explicit cuts ---------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.lists(st.floats(-1e3, 1e3), min_size=20, max_size=60, unique=True), st.integers(2, 6))
def test_intervals_have_equal_widths_up_to_rounding(values, bins):
    low, high = min(values), max(values)
    if high - low < 1e-3:
        return
    data = binned(values, way=f"interval({bins})")
    edges = [bounds(label)[1] for label in data.levels["x"][:-1]]
    width = (high - low) / bins
    assert len(edges) == bins - 1
    for i, edge in enumerate(edges, start=1):
        assert edge == pytest.approx(low + i * width, abs=0.0101 * width)
        assert [v > edge for v in values] == [v > low + i * width for v in values]


def test_intervals_may_be_empty_but_stay_levels():
    data = read({"x": [0.5, 1.0, 100.0]}, discretize={"x": "interval(4)"})
    assert data.observed("x").tolist() == [2, 0, 0, 1]


def test_explicit_cut_points_are_open_ended():
    data = read({"age": [5, 18, 19, 65, 66, 99]}, discretize={"age": [18, 65]})
    assert data.levels["age"] == ("(-inf,18]", "(18,65]", "(65,inf)")
    assert data.column("age").tolist() == [0, 0, 1, 1, 2, 2]


# Hartemink ---------------------------------------------------------------------------------------------------------


def naive_information(a, b):
    n, joint, left, right = len(a), Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    return sum(c / n * math.log(c * n / (left[x] * right[y])) for (x, y), c in joint.items())


def naive_hartemink(columns, targets, bins):
    """Merge literally: try every pair of neighbours of every variable, on the columns as the round began."""
    columns = [list(column) for column in columns]
    groups = {t: [[level] for level in sorted(set(columns[t]))] for t in targets}
    while any(len(groups[t]) > bins for t in targets):
        before = [list(column) for column in columns]
        for t in targets:
            if len(groups[t]) <= bins:
                continue
            losses = []
            for pair in range(len(groups[t]) - 1):
                merged = [groups[t][pair][0] if value == groups[t][pair + 1][0] else value for value in before[t]]
                losses.append(
                    sum(
                        naive_information(before[t], other) - naive_information(merged, other)
                        for j, other in enumerate(before)
                        if j != t
                    )
                )
            lowest = next(i for i, loss in enumerate(losses) if loss <= min(losses) + 1e-9)
            gone = groups[t].pop(lowest + 1)
            columns[t] = [groups[t][lowest][0] if value == gone[0] else value for value in columns[t]]
            groups[t][lowest] += gone
    return {t: [group[-1] + 1 for group in groups[t][:-1]] for t in targets}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 2), st.integers(2, 3))
def test_hartemink_equals_the_literal_rule(seed, n_targets, n_others, bins):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    hidden = rng.integers(0, 6, n)
    noise = rng.integers(-1, 2, (n_targets + n_others, n))
    columns = [np.unique(np.clip(hidden + row, 0, 6), return_inverse=True)[1] for row in noise]
    cards = [int(column.max()) + 1 for column in columns]
    targets = list(range(n_targets))
    starts = {t: list(range(1, cards[t])) for t in targets}
    found = hartemink_splits(columns, cards, starts, dict.fromkeys(targets, bins))
    assert found == naive_hartemink(columns, targets, bins)


def correlated(n=300, columns=4, seed=3):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    table = {f"x{i}": hidden + rng.normal(size=n) for i in range(columns)}
    return {**table, "group": np.where(hidden > 0.5, "high", "low")}


def test_hartemink_cuts_where_the_other_columns_change():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 600)
    table = {"x": x, "y": np.where(x > 0.8, "a", np.where(x > 0.1, "b", "c"))}
    cuts = discretize(table, "hartemink", bins=3, initial_bins=30)
    assert cuts["x"][1:-1] == pytest.approx((0.1, 0.8), abs=0.04)


def test_hartemink_does_not_depend_on_the_order_of_columns_or_rows():
    table = correlated()
    cuts = discretize(table, "hartemink")
    order = np.random.default_rng(1).permutation(300)
    shuffled = {name: table[name][order] for name in reversed(table)}
    assert discretize(shuffled, "hartemink") == cuts
    assert read(table, discretize="hartemink") == read(table, discretize=cuts)


def test_hartemink_counts_missing_values_and_weights():
    table = pl.DataFrame(correlated()).with_columns(pl.when(pl.col("x0") > 2).then(None).otherwise("x0").alias("x0"))
    data = read(table, discretize="hartemink", missing="level")
    assert data.levels["x0"][-1] == "NA"
    assert data.cards.tolist() == [4, 3, 3, 3, 2]
    doubled = pl.concat([table, table])
    assert read(doubled, discretize="hartemink", missing="level").levels == data.levels
    weighted = read(table, discretize="hartemink", missing="level", weights=np.full(300, 2))
    assert weighted.levels == data.levels


def test_hartemink_needs_company_and_room():
    with pytest.raises(ParameterError, match="at least two columns"):
        discretize({"x": np.linspace(0, 1, 50)}, "hartemink")
    with pytest.raises(CapacityError, match="initial_bins"):
        hartemink_splits([np.zeros(2, dtype=int)] * 400, [60] * 400, {0: [1, 2, 3]}, {0: 2})
    with pytest.raises(DataError, match="'id' looks like an identifier \\(300 levels"):
        discretize({**correlated(), "id": [f"p{i}" for i in range(300)]}, "hartemink", columns=["x0"])
    mixed = read(correlated(), discretize={"x0": "hartemink(2)", "x1": "hartemink(4)", "x2": "quantile", "x3": [0]})
    assert mixed.cards.tolist() == [2, 4, 3, 2, 2]


# A method for all, and exceptions -----------------------------------------------------------------------------------


def numbers(**more):
    rng = np.random.default_rng(2)
    return {
        "age": rng.integers(18, 90, 200),
        "bmi": rng.normal(25, 4, 200),
        "state": rng.integers(1, 40, 200),
        "sex": ["f", "m"] * 100,
        "grade": rng.integers(1, 6, 200),
        **more,
    }


def test_one_method_cuts_every_column_that_looks_continuous():
    assert read(numbers(), discretize="quantile").cards.tolist() == [3, 3, 3, 2, 5]
    assert read(numbers(), discretize={"*": "quantile(4)"}) == read(numbers(), discretize="quantile(4)")


def test_a_method_for_all_has_exceptions():
    ways = {"*": "quantile(4)", "age": [18, 65], "state": "none", "grade": 2}
    data = read(numbers(), discretize=ways)
    assert data.cards.tolist() == [3, 4, 39, 2, 2]
    assert data.levels["age"] == ("(-inf,18]", "(18,65]", "(65,inf)")
    assert read(numbers(), discretize={**ways, "state": None}) == data


def test_a_column_that_is_called_star_keeps_its_name():
    data = read({"*": numbers()["bmi"], "sex": ["f", "m"] * 100}, discretize={"*": 2})
    assert data.cards.tolist() == [2, 2]
    with pytest.raises(DataError, match="'bmi' looks continuous"):
        read(numbers(**{"*": numbers()["bmi"]}), discretize={"*": 2, "age": 2, "state": 2})


def test_exceptions_must_be_columns_too():
    with pytest.raises(DataError, match="discretize: no column 'aeg'"):
        read(numbers(), discretize={"*": "quantile", "aeg": "none"})


def test_hints_add_to_what_was_asked_for():
    with pytest.raises(DataError) as error:
        read(numbers(), discretize={"age": [18, 65]})
    assert 'All at once: discretize={"age": [18, 65], "*": "quantile"}' in str(error.value)
    (way,) = error.value.remedy
    assert read(numbers(), discretize=way.value).cards.tolist() == [3, 3, 3, 2, 5]


# discretize() and Cuts ---------------------------------------------------------------------------------------------


def test_cuts_from_training_data_apply_to_test_data():
    train = {"x": np.linspace(0, 10, 50), "y": ["a", "b"] * 25}
    cuts = discretize(train, "quantile", bins=2)
    test = {"x": [1.0, 9.0], "y": ["a", "b"]}
    first = read(train, discretize=cuts)
    second = read(test, discretize=cuts, like=first)
    assert second.levels == first.levels
    assert second.column("x").tolist() == [0, 1]
    with pytest.warns(MapdagWarning, match=r"2 values of 'x' lie outside \[0,10\]"):
        assert read({"x": [-1.0, 11.0, 3.0], "y": ["a", "b", "a"]}, discretize=cuts).column("x").tolist() == [0, 1, 0]
    with pytest.raises(DataError, match=r"declared levels are '\[0,"):
        read(test, discretize={"x": [5]}, like=first)


def test_columns_to_cut_are_the_continuous_ones_or_those_named():
    table = {"x": np.linspace(0, 1, 40), "age": range(40), "id": [f"p{i}" for i in range(40)], "k": ["c"] * 40}
    assert list(discretize(table)) == ["x"]
    assert list(discretize(table, columns=["age", "x"])) == ["x", "age"]
    assert list(discretize(table, columns="age", method="interval")) == ["age"]
    with pytest.raises(DataError, match=r"discretize: no column 'agee' .*'age'"):
        discretize(table, columns=["agee"])
    with pytest.raises(DataError, match="'id' cannot be discretized: 'p0' is not a number"):
        discretize(table, columns=["id"])
    with pytest.raises(DataError, match="no column looks continuous"):
        discretize(table, drop="x")
    with pytest.raises(DataError, match="'k' cannot be discretized"):
        read(table, discretize={"k": 3, "x": 3}, drop="id")
    for way in ("quantile", "interval", "hartemink"):
        with pytest.raises(DataError, match="'k' cannot be discretized, as it has fewer than two distinct values"):
            discretize({"k": [1.5, 1.5], "z": ["a", "b"]}, way, columns="k")
    with pytest.raises(DataError, match="'k' holds no values"):
        discretize({"k": [None, float("nan")], "z": ["a", "b"]}, columns="k")


def test_cutting_ignores_missing_values_and_codes():
    values = [*np.linspace(0.5, 9.5, 50), None, -99]
    cuts = discretize({"x": values}, missing_values=["-99"])
    assert cuts["x"][0] == pytest.approx(0.5, abs=0.1)
    text = ("x,y\n" + "\n".join(f"{'NA' if v is None else v},{i % 2}" for i, v in enumerate(values))).encode()
    assert discretize(text, missing_values="-99") == cuts
    data = read(text, discretize=cuts, missing="level", missing_values="-99")
    assert data.levels["x"][-1] == "NA"
    assert data.observed("x")[-1] == 2
    assert read(text, discretize=cuts, missing="drop", missing_values="-99").n_rows == 50
    with pytest.raises(DataError, match=r"'x' has missing values .*\(rows 51, 52\)"):
        read(text, discretize=cuts, missing_values="-99")


def test_infinite_values_cannot_be_cut():
    with pytest.raises(DataError, match=r"'x' cannot be discretized: infinite in 1 of 42 rows \(row 41\)"):
        read({"x": [*np.linspace(0.1, 1, 40), math.inf, 0.5]}, discretize="quantile")


def test_missing_values_of_a_cut_column_need_a_level_in_like():
    cuts = Cuts({"x": [0, 1, 2]})
    like = Dataset.from_codes([[0], [1]], names=["x"], levels={"x": cuts.labels("x")})
    assert read({"x": [0.5, 2.0]}, discretize=cuts, like=like) == like
    with pytest.raises(DataError, match="`like` has no level"):
        read({"x": [0.5, None]}, discretize=cuts, like=like, missing="level")


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("quartile", "one of 'quantile', 'interval', 'hartemink'"),
        ("quantile(1)", "bins must be at least 2, got 1"),
        ("quantile[3]", 'must read like "quantile"'),
        (3, "must be a method, a mapping from columns or Cuts"),
        ({"*": [1, 2]}, "cut points are of one column"),
        ({"x": True}, "needs a method"),
        ({"x": []}, "increasing order"),
        ({"x": [3, 1]}, "increasing order"),
        ({"x": [1, 1]}, "increasing order"),
        ({"x": [math.inf]}, "increasing order"),
        ({"x": ["a"]}, "must be numbers"),
    ],
)
def test_ways_that_make_no_sense(way, words):
    with pytest.raises(ParameterError) as error:
        read({"x": np.linspace(0, 1, 30)}, discretize=way)
    assert words in str(error.value)


def test_options_of_discretize_are_checked():
    with pytest.raises(ParameterError, match="bins must be at least 2"):
        discretize({"x": [0.1, 0.2]}, bins=1)
    with pytest.raises(ParameterError, match=r"initial_bins must be more than bins \(3\), got 3"):
        discretize({"x": [0.1, 0.2]}, "hartemink", initial_bins=3)


def test_cuts_are_values():
    cuts = Cuts({"x": [0, 1.5, 3], "y": (-math.inf, -0.0, math.inf)})
    assert cuts == Cuts({"x": (0.0, 1.5, 3.0), "y": (-math.inf, 0, math.inf)})
    assert hash(cuts) == hash(Cuts(cuts))
    assert pickle.loads(pickle.dumps(cuts)) == cuts
    assert repr(cuts) == "Cuts({'x': (0.0, 1.5, 3.0), 'y': (-inf, 0.0, inf)})"
    assert cuts.labels("y") == ("(-inf,0]", "(0,inf)")
    assert list(cuts) == ["x", "y"]
    with pytest.raises(DataError, match="no column 'z'"):
        cuts.labels("z")
    with pytest.raises(TypeError):
        cuts["x"] = (1,)


@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e6))
def test_rounding_stays_in_its_gap_and_never_takes_more_digits(low, width):
    high = low + width
    if not low < high:
        return
    middle = low + width / 2
    rounded = round_between(low, high, middle)
    assert low <= rounded < high
    digits = len(repr(abs(rounded)).replace(".", "").rstrip("0").lstrip("0"))
    assert digits <= max(len(repr(abs(low)).replace(".", "").rstrip("0").lstrip("0")), 1)


def test_labels_have_as_few_digits_as_tell_bins_apart():
    rng = np.random.default_rng(5)
    data = read({"income": rng.lognormal(10, 1, 5000), "tiny": rng.normal(size=5000) * 1e-7}, discretize="quantile")
    for labels in data.levels.values():
        for label in labels:
            assert len(label) <= 20
    assert data.observed("income").tolist() == pytest.approx([5000 / 3] * 3, rel=0.02)
