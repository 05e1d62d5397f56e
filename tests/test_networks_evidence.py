"""Values that stand for levels: as evidence, as questions, and as predictions in the type of the column."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag.data import Coding
from mapdag.errors import MapdagWarning, ParameterError
from mapdag.networks.evidence import level_code

N = 60
TABLE = pd.DataFrame(
    {
        "age": np.arange(20, 20 + N),
        "rating": [1, 2, 4] * 20,
        "share": [0.5, 1.0] * 30,
        "smokes": [True, False, False] * 20,
        "grade": pd.Categorical([3, 1, 3] * 20, categories=[3, 2, 1]),
        "sex": ["f", "m"] * 30,
        "wage": [1.0, 2.0, 3.5] * 20,
    }
)
ARCS = [("age", "wage"), ("smokes", "wage"), ("rating", "sex"), ("share", "grade")]


@pytest.fixture(scope="module")
def net():
    return md.fit(md.DAG(TABLE.columns, ARCS), md.read(TABLE, discretize={"age": [40, 60]}))


@pytest.mark.parametrize(
    ("node", "values", "label"),
    [
        ("smokes", [True, np.True_, "True", "TRUE", "true", 1, 1.0, np.int8(1)], "True"),
        ("smokes", [False, 0, np.float32(0)], "False"),
        ("rating", [4, 4.0, "4", "4.0", np.int64(4), np.float32(4), np.uint8(4), Decimal(4), Fraction(4)], "4"),
        ("rating", [1, True], "1"),
        ("share", [0.5, np.float32(0.5), "0.5", np.float64(0.5)], "0.5"),
        ("share", [1, 1.0, "1", "1.0"], "1"),
        ("grade", [TABLE["grade"].cat.categories[0], TABLE["grade"].iloc[0], 3, "3"], "3"),
        ("sex", ["f", np.str_("f"), TABLE["sex"].iloc[0]], "f"),
        ("age", [20, 37, 40, 40.0, np.int64(39), "37", "(-inf,40]", -1e9], "(-inf,40]"),
        ("age", [40.0001, 41, "60", np.float32(60)], "(40,60]"),
        ("age", [61, 1e300], "(60,inf)"),
    ],
)
def test_a_value_stands_for_its_level_everywhere(net, node, values, label):
    child = next((b for a, b in net.dag.arcs if a == node), None)
    for value in values:
        assert level_code(net.levels, node, value, net.codings) == net.levels[node].index(label)
        joint = net.query(node)
        assert joint.probability({node: value}) == joint.probability({node: label})
        if child is not None:
            assert net.query(child, {node: value}) == net.query(child, {node: label})
        given = {parent: net.levels[parent][0] for parent in net.parents(node)}
        assert net.probability(node, value, given) == net.probability(node, label, given)
        if label.isalnum():
            assert joint.probability(**{node: value}) == joint.probability(**{node: label})


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, pd.NA, pd.NaT, np.float32("nan")])
def test_no_value_is_no_evidence(net, value):
    with pytest.raises(ParameterError, match=r"'rating' must have a level, got .*; leave out nodes"):
        net.query("sex", {"rating": value})


@pytest.mark.parametrize(
    ("node", "value", "message"),
    [
        ("rating", 3, "'rating' has no level 3; its levels are '1', '2', '4'"),
        ("rating", np.int64(3), "has no level 3;"),
        ("rating", 0, "has no level 0;"),
        ("rating", False, "has no level False;"),
        ("sex", 1, "has no level 1;"),
        ("smokes", 2, "has no level 2;"),
        ("smokes", "1", "has no level '1';"),
        ("age", "old", r"its levels are '\(-inf,40\]', '\(40,60\]', '\(60,inf\)', or numbers within them"),
        ("age", True, "has no level True;"),
        ("age", [37], r"has no level \[37\];"),
    ],
)
def test_what_stands_for_no_level_is_named(net, node, value, message):
    with pytest.raises(ParameterError, match=message):
        net.query("wage" if node != "wage" else "sex", {node: value})


def test_numbers_beyond_the_ends_count_for_them_with_a_warning():
    edges = (0.0, 40.0, 90.0)
    with pytest.warns(MapdagWarning, match="outside"):
        assert level_code({"age": ("[0,40]", "(40,90]")}, "age", 99, {"age": Coding("float", edges)}) == 1


def test_intervals_may_have_names_of_their_own_and_any_order():
    codings = {"age": Coding("float", (0.0, 40.0, 90.0))}
    assert level_code({"age": ("young", "old", "NA")}, "age", 41, codings) == 1
    assert level_code({"age": ("(40,90]", "[0,40]")}, "age", 41, codings) == 0


def test_a_table_of_numbers_is_cut_for_intervals_with_names_of_their_own():
    dag = md.DAG(["age", "ill"], [("age", "ill")])
    levels = {"age": ["young", "old"], "ill": ["no", "yes"]}
    codings = {"age": Coding("integer", (0.0, 40.0, 90.0)), "ill": Coding("text")}
    net = md.BayesianNetwork(dag, levels, {"age": [0.5, 0.5], "ill": [[0.9, 0.1], [0.2, 0.8]]}, codings=codings)
    assert net.predict({"age": [39, 40, 41]}, "ill").tolist() == ["no", "no", "yes"]
    assert md.read({"age": [39, 41], "ill": ["no", "yes"]}, like=net).row(1) == {"age": "old", "ill": "yes"}


@pytest.mark.parametrize(
    ("node", "kind", "values"),
    [
        ("age", "O", {"(-inf,40]", "(40,60]", "(60,inf)"}),
        ("rating", "i", {1, 2, 4}),
        ("share", "f", {0.5, 1.0}),
        ("smokes", "b", {True, False}),
        ("grade", "i", {1, 2, 3}),
        ("sex", "O", {"f", "m"}),
        ("wage", "f", {1.0, 2.0, 3.5}),
    ],
)
def test_predictions_come_in_the_type_of_the_column(net, node, kind, values):
    found = net.predict(TABLE, node)
    assert found.dtype.kind == kind
    assert set(found.tolist()) <= values
    if kind != "O":
        assert net.query("sex" if node != "sex" else "age", {node: found[0]})  # and go in again


def test_a_level_for_missing_values_makes_predictions_text():
    table = pd.DataFrame({"a": [1, 2, None] * 10, "b": ["x", "y", "z"] * 10})
    net = md.fit(md.DAG(["a", "b"], [("a", "b")]), md.read(table, missing="level"))
    assert net.predict({"b": ["x", "z"]}, "a").tolist() == ["1", "NA"]
    assert net.query("b", {"a": 2}).mode == {"b": "y"}


@given(st.lists(st.integers(-(2**53), 2**53) | st.booleans() | st.floats(allow_nan=False), min_size=1, unique_by=str))
def test_every_value_of_a_column_stands_for_the_level_that_it_was_read_as(values):
    from mapdag.data.labels import text_of

    labels = tuple(dict.fromkeys(map(text_of, values)))
    for value in values:
        assert labels[level_code({"x": labels}, "x", value)] == text_of(value)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.50", "2.00"], [1.5, 2.0]),
        (["+1", "-0"], [1, 0]),
        (["1e1", "2.50"], [10.0, 2.5]),
        (["2020-01-31 00:00:00", "2020-02-01 00:00:00"], ["2020-01-31", "2020-02-01"]),
    ],
)
def test_a_file_that_a_network_was_learned_from_comes_back_to_it(cells, values, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("v,w\n" + "".join(f"{cell},{'xy'[i]}\n" for i, cell in enumerate(cells)) * 20)
    dag = md.DAG(["v", "w"], [("v", "w")])
    net = md.fit(dag, md.read(path))
    assert net.predict(path, "w").tolist() == ["x", "y"] * 20
    assert net.predict({"v": values}, "w").tolist() == ["x", "y"]
    assert net.query("w", {"v": cells[1]}).mode == {"w": "y"}


def test_truth_values_in_a_table_are_the_numbers_that_they_stand_for():
    net = md.fit(md.DAG(["v", "w"], [("v", "w")]), md.read({"v": [0, 1] * 20, "w": ["x", "y"] * 20}))
    assert net.predict({"v": [True, False]}, "w").tolist() == ["y", "x"]
    assert net.predict({"v": ["TRUE", "FALSE"]}, "w").tolist() == ["y", "x"]


@pytest.mark.parametrize("levels", [["False", "True"], ["true", "false"]])
def test_0_and_1_in_a_table_are_truth_values_where_they_cannot_be_codes(levels):
    net = md.fit(
        md.DAG(["v", "u", "w"], [("v", "w"), ("u", "w")]),
        md.read({"v": [False, True] * 20, "u": ["a", "a", "b", "b"] * 10, "w": ["x", "y"] * 20}, levels={"v": levels}),
    )
    for ones in ([1, 0], [1.0, 0.0], ["1", "0"]):
        assert net.predict({"v": ones, "u": ["a", "b"]}, "w").tolist() == ["y", "x"]


@pytest.mark.parametrize("evidence", [[("sex", "f")], "sex", 1])
def test_evidence_is_a_mapping(net, evidence):
    for question in (net.marginals, net.most_probable, net.log_probability, net.do):
        with pytest.raises(ParameterError, match=r"(evidence|levels) must be a mapping from nodes to levels"):
            question(evidence)


def test_one_value_beyond_the_cuts_is_one_value():
    with pytest.warns(MapdagWarning, match=r"^1 value of 'age' lies outside"):
        level_code({"age": ("[0,40]", "(40,90]")}, "age", 900, {"age": Coding("float", (0.0, 40.0, 90.0))})
