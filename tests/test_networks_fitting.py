"""Estimated probabilities agree with the formulas, and with R bnlearn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
import naive_networks
from golden_data import dataset, figures
from mapdag.errors import CapacityError, DataError, NetworkError, ParameterError
from mapdag.networks import fit
from strategies import as_dataset, small_data


@pytest.mark.parametrize("name", ["asia_1000_true", "asia_1000_hc", "child_115_true"])
@pytest.mark.parametrize("method", ["bayes", "mle"])
def test_estimates_are_those_of_bnlearn(name, method):
    golden = figures(f"fit_{name}")
    data = dataset(golden["dataset"])
    dag = md.DAG(data.names, map(tuple, golden["arcs"]))
    net = fit(dag, data, alpha=golden["iss"], method=method, unobserved="uniform" if method == "bayes" else "nan")
    for node, table in golden[method].items():
        numbers = np.array([math.nan if p is None else p for p in table["prob_colmajor"]], dtype=float)
        expected = numbers.reshape(table["dim"], order="F")
        axes = {member: axis for axis, member in enumerate([node, *table["parents"]])}
        expected = expected.transpose([axes[member] for member in (*net.parents(node), node)])
        np.testing.assert_allclose(net.cpt(node), expected, rtol=1e-10, atol=1e-12)


@st.composite
def cases(draw):
    rows, cards = draw(small_data(max_rows=20, max_levels=4))
    order = draw(st.permutations(range(len(cards))))
    pairs = [(order[i], order[j]) for i in range(len(order)) for j in range(i + 1, len(order))]
    arcs = [pair for pair in pairs if draw(st.booleans())]
    return rows, cards, md.DAG([f"X{i}" for i in range(len(cards))], [(f"X{a}", f"X{b}") for a, b in arcs])


@pytest.mark.parametrize("method", ["bayes", "bds", "mle"])
@given(case=cases(), alpha=st.floats(1e-3, 100), whole=st.booleans(), data=st.data())
def test_estimates_follow_the_formulas(method, case, alpha, whole, data):
    rows, cards, dag = case
    weight = st.integers(1, 5) if whole else st.floats(0.1, 5)
    weights = data.draw(st.none() | st.lists(weight, min_size=len(rows), max_size=len(rows)))
    net = fit(dag, as_dataset(rows, cards, weights), alpha=alpha, method=method)
    named = [{f"X{i}": code for i, code in enumerate(row)} for row in rows]
    by_name = {f"X{i}": card for i, card in enumerate(cards)}
    for node in dag.nodes:
        expected = naive_networks.estimates(named, node, dag.parents(node), by_name, method, alpha, weights)
        for configuration, row in expected.items():
            uniform = [1 / by_name[node]] * by_name[node]
            np.testing.assert_allclose(net.cpt(node)[configuration], row or uniform, rtol=1e-12)


def test_configurations_that_were_not_observed_follow_an_explicit_rule():
    data = as_dataset([[0, 0, 0], [0, 1, 0]], [3, 2, 2])
    dag = md.DAG(["X0", "X1", "X2"], [("X0", "X1"), ("X2", "X1")])
    for method in ("mle", "bds"):
        assert fit(dag, data, method=method).cpt("X1")[2, 1].tolist() == [0.5, 0.5]
        undefined = fit(dag, data, method=method, unobserved="nan")
        assert undefined.n_undefined == 5
        message = r"no estimate of 'X1' given X0=0, X2=1: this configuration was not observed \(5 of 6 were not\)"
        with pytest.raises(NetworkError, match=message):
            fit(dag, data, method=method, unobserved="error")
    assert fit(md.DAG(["X0"]), data, method="mle", unobserved="error").cpt("X0").tolist() == [1, 0, 0]


def test_the_order_of_nodes_is_that_of_the_graph_and_other_columns_are_ignored():
    data = as_dataset([[0, 1, 1], [1, 0, 1]], [2, 2, 2])
    net = fit(md.DAG(["X2", "X0"], [("X2", "X0")]), data)
    assert net.nodes == ("X2", "X0")
    assert dict(net.levels) == {"X2": ("0", "1"), "X0": ("0", "1")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must be a positive number, got 0"),
        ({"alpha": math.inf}, "alpha must be a positive number"),
        ({"alpha": "1"}, "alpha must be a positive number"),
        ({"method": "ml"}, "method must be 'bayes', 'bds' or 'mle', got 'ml'"),
        ({"method": "mle", "unobserved": "zero"}, "unobserved must be"),
        ({"unobserved": "nan"}, "unobserved='nan' needs method 'bds' or 'mle'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        fit(md.DAG(["X0"]), as_dataset([[0]], [2]), **options)


def test_a_node_without_column_is_named():
    with pytest.raises(DataError, match="no column 'Y'"):
        fit(md.DAG(["X0", "Y"]), as_dataset([[0]], [2]))


def test_thirty_parents_take_no_more_room_than_the_rows_do():
    data = as_dataset([[0] * 31], [2] * 31)
    dag = md.DAG(data.names, [(name, "X0") for name in data.names[1:]])
    assert fit(dag, data).n_parameters == 2**30 + 30
    with pytest.raises(CapacityError, match="'X0' given 30 parents"):
        fit(dag, data).cpt("X0")
