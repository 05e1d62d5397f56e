"""Predictions from whatever is known: absent columns, gaps in rows, evidence that rules everything out."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
import naive_networks
from mapdag.data import read
from mapdag.errors import CapacityError, DataError, MapdagWarning, NetworkError, ParameterError
from mapdag.graphs import DAG
from mapdag.networks import BayesianNetwork, fit, prediction
from mapdag.reference import network
from naive_networks import networks

ASIA = network("asia")


def with_gaps(net, data, known):
    """A table of labels with None where nothing is known."""
    return {
        node: [net.levels[node][code] if k else None for code, k in zip(data.column(node), mine, strict=True)]
        for node, mine in zip(net.nodes, known, strict=True)
    }


@st.composite
def gapped_rows(draw):
    """A network, rows that may be impossible, what is known of them, and whether small parts are put together."""
    net = draw(networks())
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    n = draw(st.integers(1, 12))
    codes = rng.integers(0, [len(net.levels[node]) for node in net.nodes], (n, len(net.nodes)))
    data = md.Dataset.from_codes(codes, names=net.nodes, levels=net.levels)
    known = rng.random(data.codes.shape) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    return net, data, known, draw(st.booleans())


@given(gapped_rows())
@settings(max_examples=100)
def test_predictions_are_posteriors_given_what_is_known(case):
    net, data, known, together = case
    tables, cards = naive_networks.plain(net)
    table = with_gaps(net, data, known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction, "_LARGE", 1)
        if together:
            patch.setattr(prediction, "CALL", 10**9)
        for node in net.nodes:
            if len(net.nodes) == 1:
                continue
            found = net.predict_proba(table, node)
            for t in range(data.n_rows):
                evidence = {
                    other: int(data.codes[i, t]) for i, other in enumerate(net.nodes) if known[i, t] and other != node
                }
                exact = naive_networks.query(tables, cards, [node], evidence)
                expected = [np.nan if exact is None else exact[(k,)] for k in range(cards[node])]
                assert found[t].tolist() == pytest.approx(expected, rel=1e-9, nan_ok=True)


def chain_with_a_zero():
    """A -> B -> C, where C = 1 cannot be if B = 0."""
    dag = md.DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    cpts = {"A": [0.4, 0.6], "B": [[0.9, 0.1], [0.3, 0.7]], "C": [[1.0, 0.0], [0.5, 0.5]]}
    return BayesianNetwork(dag, dict.fromkeys(dag.nodes, 2), cpts)


def test_rows_that_cannot_be_have_no_prediction_however_far_away_the_reason_is():
    net = chain_with_a_zero()
    rows = {"A": ["0", "0", "1", "1"], "B": ["0", "0", "1", None], "C": ["1", "0", "1", "1"]}
    found = net.predict_proba(rows, "A")
    assert np.isnan(found).all(axis=1).tolist() == [True, False, False, False]
    for t, known in enumerate([{"B": "0", "C": "1"}, {"B": "0", "C": "0"}, {"B": "1", "C": "1"}, {"C": "1"}]):
        if t == 0:
            with pytest.raises(NetworkError, match="probability zero"):
                net.query("A", known)
        else:
            assert found[t] == pytest.approx(net.query("A", known).values, rel=1e-12)
    with pytest.raises(NetworkError, match=r"1 of 4 rows \(row 1\) cannot happen whatever the level of 'A'"):
        net.predict(rows, "A")
    judged = md.evaluate(net, rows, "A")
    assert (judged.impossible, judged.rows) == (1, 3)


def test_rows_that_only_several_families_together_rule_out_have_no_prediction():
    # E copies D, F copies D: they cannot differ, though D is not known and both are far from A.
    dag = md.DAG(list("ADEF"), [("A", "D"), ("D", "E"), ("D", "F")])
    copy = [[1.0, 0.0], [0.0, 1.0]]
    net = BayesianNetwork(
        dag, dict.fromkeys("ADEF", 2), {"A": [0.5, 0.5], "D": [[0.2, 0.8], [0.7, 0.3]], "E": copy, "F": copy}
    )
    found = net.predict_proba({"E": ["0", "0"], "F": ["1", "0"], "A": ["0", "0"]}, "A")
    assert np.isnan(found[:, 0]).tolist() == [True, False]


def test_what_is_too_expensive_to_rule_out_is_taken_for_possible(monkeypatch):
    from mapdag.networks import gaps

    def refuse(*_):
        raise CapacityError("too large")

    monkeypatch.setattr(gaps, "log_known", refuse)
    assert np.isfinite(chain_with_a_zero().predict_proba({"C": ["1"]}, "A")).all()


@pytest.mark.parametrize("name", ["alarm", "child", "insurance"])
def test_rows_are_predicted_as_one_by_one(name):
    net = network(name)
    data = net.sample(400, seed=3)
    known = np.random.default_rng(1).random(data.codes.shape) < 0.7
    table = with_gaps(net, data, known)
    node = max(net.nodes, key=lambda n: len(net.dag.markov_blanket(n)))
    found = net.predict_proba(table, node)
    for t in range(0, 400, 23):
        evidence = {other: values[t] for other, values in table.items() if values[t] is not None and other != node}
        assert found[t] == pytest.approx(net.query(node, evidence).values, rel=1e-9, abs=1e-13)
        one = {other: [values[t]] for other, values in table.items()}
        assert net.predict_proba(one, node)[0] == pytest.approx(found[t], rel=1e-9, abs=1e-13)


def test_the_way_of_computing_does_not_show(monkeypatch):
    net = network("alarm")
    data = net.sample(600, seed=3)
    table = with_gaps(net, data, np.random.default_rng(1).random(data.codes.shape) < 0.7)
    expected = net.predict_proba(table, "INTUBATION")
    for setting, value in (
        ("CALL", 0),
        ("CALL", 10**12),
        ("_ROWS", 7),
        ("_BLOCK", 1),
        ("_MOST", 1),
        ("_FEW", 2),
        ("_LARGE", 1),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(prediction, setting, value)
            assert net.predict_proba(table, "INTUBATION") == pytest.approx(expected, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("column", [node for node in ASIA.nodes if node != "lung"])
def test_any_column_alone_is_evidence(column):
    for level in ASIA.levels[column]:
        found = ASIA.predict_proba({column: [level]}, "lung")
        assert found[0] == pytest.approx(ASIA.query("lung", {column: level}).values, rel=1e-12)


GAPS = {
    "none": [None, "yes"],
    "nan": [float("nan"), "yes"],
    "text": ["NA", "yes"],
    "question mark": ["?", "yes"],
    "blank": ["", "yes"],
    "pandas": pd.Series([pd.NA, "yes"], dtype="string"),
    "categories": pd.Series(pd.Categorical([None, "yes"])),
    "polars": pl.Series([None, "yes"]),
}


@pytest.mark.parametrize("kind", GAPS)
def test_whatever_means_missing_is_not_evidence(kind):
    found = ASIA.predict_proba({"xray": ["yes", "yes"], "smoke": GAPS[kind]}, "lung")
    assert found[0] == pytest.approx(ASIA.query("lung", {"xray": "yes"}).values)
    assert found[1] == pytest.approx(ASIA.query("lung", {"xray": "yes", "smoke": "yes"}).values)


def test_columns_without_any_value_are_not_evidence():
    for nothing in ([None], [float("nan")], ["?"], np.array([np.nan])):
        found = ASIA.predict_proba({"xray": ["yes"], "smoke": nothing}, "lung")
        assert found[0] == pytest.approx(ASIA.query("lung", {"xray": "yes"}).values)
    prior = ASIA.predict_proba({"xray": [None, None], "smoke": [None, None]}, "lung")
    assert prior == pytest.approx(np.tile(ASIA.query("lung").values, (2, 1)))
    assert ASIA.predict({"xray": [None]}, "lung").tolist() == ["no"]


def test_an_open_file_with_gaps_is_read_as_often_as_needed():
    text = "smoke,xray,lung\nyes,yes,yes\nyes,,no\n,yes,no\n"
    assert ASIA.predict(io.StringIO(text), "lung").tolist() == ASIA.predict(text.encode(), "lung").tolist()
    assert md.evaluate(ASIA, io.StringIO(text), "lung").accuracy == 1


def test_a_dataset_has_gaps_where_missing_values_became_a_level():
    table = {"xray": ["yes", None, "no"], "smoke": [None, "yes", "no"], "lung": ["no", "yes", "no"]}
    data = md.read(table, missing="level")
    assert data.levels["xray"] == ("no", "yes", "NA")
    del table["lung"]
    assert ASIA.predict_proba(data, "lung") == pytest.approx(ASIA.predict_proba(table, "lung"))


def test_a_network_that_knows_missing_values_takes_them_as_evidence():
    rows = {"a": ["x", None, "y", None] * 10, "b": ["u", "v", "u", "v"] * 10}
    net = md.fit(md.DAG(["a", "b"], [("a", "b")]), md.read(rows, missing="level"))
    assert net.levels["a"] == ("x", "y", "NA")
    assert net.predict({"a": [None, "x"]}, "b").tolist() == ["v", "u"]


def test_a_column_that_was_cut_may_have_gaps():
    rng = np.random.default_rng(1)
    age = rng.uniform(20, 80, 200)
    rows = {"age": age, "ill": np.where(age > 50, "yes", "no")}
    net = md.fit(md.DAG(["age", "ill"], [("age", "ill")]), md.read(rows, discretize={"age": [50]}))
    found = net.predict_proba({"age": [30.0, np.nan, 70.0]}, "ill")
    prior = [p for _, p in net.query("ill").to_dict().items()]
    assert found[:, 1].round(1).tolist() == [0.0, pytest.approx(prior[1], abs=0.05), 1.0]
    assert net.predict_proba({"age": [np.nan]}, "ill")[0] == pytest.approx(prior)


def test_a_value_that_is_no_level_is_a_gap_with_a_warning_or_an_error():
    table = {"smoke": ["yes", "sometimes"], "tub": [None, "no"]}
    with pytest.raises(DataError, match=r"'smoke' has the value 'sometimes' in 1 of 2 rows \(row 2\)") as caught:
        ASIA.predict(table, "lung", unseen="error")
    assert "the declared levels are 'yes', 'no'" in str(caught.value)
    gaps = ASIA.predict_proba({**table, "smoke": ["yes", None]}, "lung")
    for data in (table, read(table, missing="keep", levels={"tub": ["no", "yes"]})):
        with pytest.warns(MapdagWarning, match=r"'smoke' has 'sometimes' in 1 of 2 rows \(row 2\).*unseen=\"error\""):
            np.testing.assert_array_equal(ASIA.predict_proba(data, "lung"), gaps)
    with pytest.raises(ParameterError, match='unseen must be "gap" or "error"'):
        ASIA.predict(table, "lung", unseen="drop")


def test_a_value_that_is_no_level_is_not_the_level_of_missing_values():
    table = read({"a": ["x", "y", None, "x"] * 50, "b": ["u", "v", "v", "u"] * 50}, missing="level")
    net = fit(DAG(["a", "b"], [("a", "b")]), table)
    with pytest.warns(MapdagWarning, match="'z'"):
        found = net.predict_proba({"a": [None, "z"]}, "b")
    expected = [net.query("b", evidence).to_dict() for evidence in ({"a": "NA"}, {})]
    np.testing.assert_allclose(found, [[each[level] for level in ("u", "v")] for each in expected])


def test_columns_behind_a_known_blanket_are_not_looked_at():
    table = {"asia": ["yes", "nonsense"], "either": ["no", "no"], "smoke": ["yes", "no"], "tub": ["no", "no"]}
    table |= {"xray": [[1], [2]]}
    assert ASIA.predict(table, "lung").tolist() == ["no", "no"]


def test_a_table_that_tells_nothing_is_refused():
    with pytest.raises(DataError, match=r"no column of a node that tells anything about 'lung', such as 'tub'"):
        ASIA.predict({"lungs": ["yes"], "Smoke": ["no"]}, "lung")
    with pytest.raises(DataError, match="no column of a node"):
        ASIA.predict({"lung": ["yes"]}, "lung")


def test_impossible_rows_are_nan_whatever_their_company():
    table = {"tub": ["yes", "no", None], "either": ["no", "no", "no"], "smoke": [None, "yes", None]}
    found = ASIA.predict_proba(table, "lung")
    assert np.isnan(found[:, 0]).tolist() == [True, False, False]
    assert found[1].tolist() == found[2].tolist() == [0.0, 1.0]
    with pytest.raises(NetworkError, match=r"1 of 3 rows \(row 1\) cannot happen whatever the level of 'lung'"):
        ASIA.predict(table, "lung")
    # What is impossible elsewhere is no reason not to predict.
    apart = ASIA.predict_proba({**table, "bronc": ["yes"] * 3, "dysp": [None] * 3}, "smoke")
    assert not np.isnan(apart[1:]).any()


def test_undefined_probabilities_are_refused_only_where_they_matter():
    data = md.Dataset.from_codes([[0, 0, 1], [0, 1, 0]], names=["a", "b", "c"], levels=[2, 2, 2])
    net = md.fit(md.DAG(["a", "b", "c"], [("a", "b"), ("b", "c")]), data, method="mle", unobserved="nan")
    assert net.predict({"b": ["0", "1"]}, "c").tolist() == ["1", "0"]
    with pytest.raises(NetworkError, match="predicting needs all probabilities"):
        net.predict({"a": ["0"]}, "b")


def test_rows_of_which_too_little_is_known_are_refused(monkeypatch):
    net = network("munin1")
    data = net.sample(3, seed=1)
    leaves = data.select(net.dag.leaves[:40])
    node = next(n for n in net.nodes if n not in leaves.names and len(net.dag.markov_blanket(n)) > 10)
    assert net.predict_proba(leaves, node).sum(axis=1) == pytest.approx(np.ones(3))
    monkeypatch.setattr(prediction, "MAX_ENTRIES", 1000)
    with pytest.raises(CapacityError, match="predicting row 1 would need a table of"):
        net.predict_proba(leaves, node)
    assert net.predict_proba(data, node).sum(axis=1) == pytest.approx(np.ones(3))  # whose tables are small


def test_a_child_with_a_thousand_gaps_and_findings_does_not_underflow():
    names = ["cause", *(f"sign{i}" for i in range(1000))]
    dag = md.DAG(names, [("cause", name) for name in names[1:]])
    table = np.array([[1 - 1e-3, 1e-3], [1 - 2e-3, 2e-3]])
    net = BayesianNetwork(dag, dict.fromkeys(names, 2), {"cause": [0.5, 0.5], **dict.fromkeys(names[1:], table)})
    row = {name: ["1" if i < 700 else None] for i, name in enumerate(names[1:])}
    found = net.predict_proba(row, "cause")[0]
    assert found[0] / found[1] == pytest.approx(0.5**700, rel=1e-9)


def test_one_row_one_column_and_no_rows():
    net = BayesianNetwork(md.DAG(["ä b"]), {"ä b": ["1", "2"]}, {"ä b": [0.25, 0.75]})
    assert net.predict_proba({"other": [1, 2]}, "ä b").tolist() == [[0.25, 0.75]] * 2
    none = ASIA.sample(0, seed=1)
    assert ASIA.predict_proba(none, "lung").shape == (0, 2)
    assert ASIA.predict_proba(none.select(["xray"]), "lung").shape == (0, 2)
