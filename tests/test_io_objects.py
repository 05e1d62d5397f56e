"""Objects of networkx, pgmpy and pyAgrum: there and back, and what these packages compute from what they were given."""

import builtins
import itertools
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.data import Coding
from mapdag.errors import CycleError, GraphError, MissingExtraError, NetworkError, ParameterError
from mapdag.networks import BayesianNetwork
from naive_networks import networks

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs

MESSY = BayesianNetwork(
    md.DAG(
        ["größe (cm)", "smokes?", "n", "x|y", "z"], [("z", "n"), ("größe (cm)", "n"), ("n", "x|y"), ("smokes?", "n")]
    ),
    {
        "größe (cm)": ["(-inf,160]", "(160,180]", "(180,inf)"],
        "smokes?": ["False", "True"],
        "n": ["1", "2", "4"],
        "x|y": [" a", "a b", '"', "年"],
        "z": ["0.5", "1"],
    },
    {
        "größe (cm)": [0.2, 0.5, 0.3],
        "smokes?": [0.75, 0.25],
        "n": np.random.default_rng(1).dirichlet([1, 1, 1], size=(3, 2, 2)),
        "x|y": np.random.default_rng(2).dirichlet([1, 1, 1, 1], size=3),
        "z": [0.125, 0.875],
    },
    codings={
        "größe (cm)": Coding("float", (-np.inf, 160.0, 180.0, np.inf)),
        "smokes?": Coding("boolean"),
        "n": Coding("integer"),
        "z": Coding("float"),
    },
)


@pytest.fixture(scope="module")
def pgmpy():
    return pytest.importorskip("pgmpy")


@pytest.fixture(scope="module")
def gum():
    return pytest.importorskip("pyagrum")


@pytest.fixture
def missing(monkeypatch):
    """Make packages that are there seem not to be."""
    find = builtins.__import__

    def refuse(name, *rest, **options):
        if name.partition(".")[0] in {"pgmpy", "pyagrum", "networkx"}:
            raise ImportError(f"No module named {name!r}")
        return find(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)


# networkx ---------------------------------------------------------------------------------------------------------


@given(networks())
def test_networks_come_back_from_networkx(net):
    graph = net.to_networkx()
    back = md.from_networkx(graph)
    assert back == net
    assert back.nodes == net.nodes
    again = nx.DiGraph()  # in another order, as whoever changes a graph may leave it
    again.add_nodes_from(reversed(list(graph.nodes(data=True))))
    again.add_edges_from(graph.edges())
    assert md.from_networkx(again) == net


def test_messy_networks_come_back_from_networkx():
    back = md.from_networkx(MESSY.to_networkx())
    assert back == MESSY
    assert back.codings == MESSY.codings


def test_graphs_come_back_from_networkx():
    cpdag = md.CPDAG(["D", "A", "B", "C", "lonely"], arcs=[("A", "C"), ("B", "C")], edges=[("D", "A")])
    dag = md.DAG(["C", "A", "B"], [("A", "C"), ("B", "C")])
    for graph in (cpdag, dag, md.DAG(["x"]), md.network("alarm").dag.to_cpdag(), md.network("alarm").dag):
        back = md.from_networkx(graph.to_networkx())
        assert back == graph
        assert back.nodes == graph.nodes
    assert md.CPDAG.from_networkx(dag.to_networkx()) == md.CPDAG(dag.nodes, dag.arcs)
    assert md.from_networkx(nx.Graph([(1, 2)])) == md.CPDAG(["1", "2"], edges=[("1", "2")])


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (nx.DiGraph([(1, 2), (2, 3), (3, 1)]), CycleError, "1 -> 2 -> 3"),
        (nx.DiGraph([(1, "1")]), GraphError, "1"),
        (3, ParameterError, "must be a graph of networkx, got int"),
    ],
)
def test_what_is_no_graph_of_ours_is_refused(graph, error, message):
    with pytest.raises(error, match=message):
        md.from_networkx(graph)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"parents": ("n",)}, GraphError, "the attribute 'parents' of 'z'"),
        ({"cpt": [[0.5, 0.5]]}, NetworkError, "the attribute 'cpt' of 'z' must have 1 axes"),
        ({"cpt": [0.5, 0.6]}, NetworkError, "sum to 1.1"),
    ],
)
def test_attributes_that_do_not_fit_are_named(change, error, message):
    graph = MESSY.to_networkx()
    graph.nodes["z"].update(change)
    with pytest.raises(error, match=message):
        md.from_networkx(graph)


# pgmpy ------------------------------------------------------------------------------------------------------------


@given(networks())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_networks_come_back_from_pgmpy(pgmpy, net):
    model = net.to_pgmpy()
    assert model.check_model()
    back = md.from_pgmpy(model)
    assert back == net
    assert back.nodes == net.nodes


def test_messy_networks_come_back_from_pgmpy_with_what_levels_stand_for(pgmpy):
    model = MESSY.to_pgmpy()
    assert model.get_cpds("n").state_names["n"] == [1, 2, 4]
    assert model.get_cpds("smokes?").state_names["smokes?"] == [False, True]
    assert model.get_cpds("x|y").state_names["x|y"] == [" a", "a b", '"', "年"]
    back = md.from_pgmpy(model)
    assert back == MESSY
    assert back.codings == MESSY.codings


@pytest.mark.parametrize("net", [MESSY, md.network("asia"), md.network("sachs")], ids=["messy", "asia", "sachs"])
def test_pgmpy_infers_what_we_do(pgmpy, net):
    from pgmpy.inference import VariableElimination

    model = net.to_pgmpy()
    inference = VariableElimination(model)
    evidence_node, *others = net.nodes
    value = model.get_cpds(evidence_node).state_names[evidence_node][-1]
    for node in others:
        theirs = inference.query([node], evidence={evidence_node: value}, show_progress=False)
        ours = net.query(node, {evidence_node: value})
        assert np.asarray(theirs.values) == pytest.approx(ours.values, abs=1e-12)


def test_states_in_another_order_in_a_childs_table_are_put_right(pgmpy):
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork([("A", "B")])
    own = TabularCPD("A", 2, [[0.25], [0.75]], state_names={"A": ["no", "yes"]})
    names = {"A": ["yes", "no"], "B": [0, 1]}
    child = TabularCPD("B", 2, [[0.1, 0.4], [0.9, 0.6]], evidence=["A"], evidence_card=[2], state_names=names)
    model.add_cpds(own, child)
    net = md.from_pgmpy(model)
    assert net.probability("B", 0, A="yes") == 0.1
    assert net.probability("B", 0, A="no") == 0.4


def test_names_and_states_that_are_not_text_become_text(pgmpy):
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork([(1, 2)])
    model.add_cpds(TabularCPD(1, 2, [[0.5], [0.5]]), TabularCPD(2, 2, [[0.1, 0.4], [0.9, 0.6]], [1], [2]))
    net = md.from_pgmpy(model)
    assert net.nodes == ("1", "2")
    assert net.levels["2"] == ("0", "1")
    assert net.codings["2"] == Coding("integer")


def test_what_cannot_be_taken_from_pgmpy_is_said(pgmpy):
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork([("A", "B")])
    assert md.from_pgmpy(model) == md.DAG(["A", "B"], [("A", "B")])
    model.add_cpds(TabularCPD("A", 2, [[0.5], [0.5]]))
    with pytest.raises(NetworkError, match="for the node 'B'"):
        md.from_pgmpy(model)
    with pytest.raises(ParameterError, match="must be a graph"):
        md.from_pgmpy("model.bif")


def test_graphs_come_back_from_pgmpy(pgmpy):
    dag = md.DAG(["C", "A", "lonely"], [("A", "C")])
    cpdag = md.CPDAG(["D", "A", "B", "C", "lonely"], arcs=[("A", "C"), ("B", "C")], edges=[("D", "A")])
    assert md.from_pgmpy(dag.to_pgmpy()) == dag
    assert type(dag.to_pgmpy()).__name__ == "DAG"
    assert md.from_pgmpy(cpdag.to_pgmpy()) == cpdag
    assert cpdag.to_pgmpy().undirected_edges in ({("D", "A")}, {("A", "D")})


def test_pgmpy_predicts_from_tables_with_the_types_that_we_saw(pgmpy):
    table = pd.DataFrame({"a": [1, 2, 2, 1] * 5, "b": [True, False, False, True] * 5})
    net = md.fit(md.DAG(["a", "b"], [("a", "b")]), table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = net.to_pgmpy().predict(table[["a"]])
    assert theirs["b"].tolist() == net.predict(table[["a"]], "b").tolist() == table["b"].tolist()


# pyAgrum ----------------------------------------------------------------------------------------------------------


@given(networks())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_networks_come_back_from_pyagrum(gum, net):
    back = md.from_pyagrum(net.to_pyagrum())
    assert back == net
    assert back.nodes == net.nodes


def test_messy_networks_come_back_from_pyagrum_with_what_levels_stand_for(gum):
    model = MESSY.to_pyagrum()
    kinds = {node: model.variable(node).varType() for node in MESSY.nodes}
    assert kinds == {
        "größe (cm)": gum.VarType_LABELIZED,
        "smokes?": gum.VarType_LABELIZED,
        "n": gum.VarType_INTEGER,
        "x|y": gum.VarType_LABELIZED,
        "z": gum.VarType_NUMERICAL,
    }
    back = md.from_pyagrum(model)
    assert back == MESSY
    assert back.codings == {node: coding for node, coding in MESSY.codings.items() if coding.type != "boolean"}


@pytest.mark.parametrize("net", [MESSY, md.network("asia"), md.network("sachs")], ids=["messy", "asia", "sachs"])
def test_pyagrum_infers_what_we_do(gum, net):
    model = net.to_pyagrum()
    evidence_node, *others = net.nodes
    label = net.levels[evidence_node][-1]
    for node in others:
        theirs = gum.getPosterior(model, target=node, evs={evidence_node: model.variable(evidence_node).index(label)})
        ours = net.query(node, {evidence_node: label})
        assert theirs.toarray() == pytest.approx(ours.values, abs=1e-12)


def test_variables_of_numbers_of_pyagrum_become_columns_of_numbers(gum):
    model = gum.BayesNet()
    for variable in (
        gum.RangeVariable("range", "", -1, 2),
        gum.IntegerVariable("integer", "", [1, 5, 9]),
        gum.NumericalDiscreteVariable("number", "", [0.5, 2]),
        gum.DiscretizedVariable("cut", "", [0, 1.5, 3, 10]),
        gum.LabelizedVariable("label", "", ["x y", "z"]),
    ):
        model.add(variable)
    for arc in (("range", "cut"), ("integer", "label"), ("cut", "label"), ("number", "label")):
        model.addArc(*arc)
    model.generateCPTs()
    net = md.from_pyagrum(model)
    assert {node: coding.type for node, coding in net.codings.items()} == {
        "range": "integer", "integer": "integer", "number": "float", "cut": "float",
    }  # fmt: skip
    assert net.levels["number"] == ("0.5", "2")
    # Their intervals are closed on the left: 1.5 is in the second.
    for value, code in ((0, 0), (1.4999, 0), (1.5, 1), (2.9, 1), (3, 2), (10, 2)):
        assert model.variable("cut").index(str(value)) == code
        assert net.query("label", {"cut": value}) == net.query("label", {"cut": net.levels["cut"][code]})
    rows = pd.DataFrame(
        {"range": [-1, 2], "integer": [1, 9], "number": [0.5, 2], "cut": [1.5, 0.1], "label": ["z", "z"]}
    )
    expected = [
        np.log([model.cpt(node)[_where(model, node, row)] for node in net.nodes]).sum()
        for row in rows.to_dict("records")
    ]
    assert net.log_likelihood(rows, by_row=True) == pytest.approx(expected)
    for integer, number, cut in itertools.product([1, 5, 9], [0.5, 2], [0.3, 1.5, 9]):
        theirs = gum.getPosterior(
            model, target="label", evs={"integer": str(integer), "number": str(number), "cut": str(cut)}
        )
        ours = net.query("label", {"integer": integer, "number": number, "cut": cut})
        assert theirs.toarray() == pytest.approx(ours.values, abs=1e-12)


def _where(model, node, row):
    return {name: model.variable(name).index(str(row[name])) for name in model.cpt(node).names}


def test_consecutive_whole_numbers_become_a_range_and_others_labels(gum):
    def kind(levels, coding):
        net = BayesianNetwork(
            md.DAG(["x"]), {"x": levels}, {"x": [1 / len(levels)] * len(levels)}, codings={"x": coding}
        )
        model = net.to_pyagrum()
        assert md.from_pyagrum(model).levels == net.levels
        return model.variable("x").varType()

    assert kind(["0", "1", "2"], Coding("integer")) == gum.VarType_RANGE
    assert kind(["2", "1", "0"], Coding("integer")) == gum.VarType_LABELIZED
    assert kind(["0", "1", "NA"], Coding("integer")) == gum.VarType_LABELIZED
    assert kind(["0", "1"], Coding("text")) == gum.VarType_LABELIZED
    assert kind(["0", "0.1"], Coding("float")) == gum.VarType_NUMERICAL


def test_what_cannot_be_taken_from_pyagrum_is_said(gum):
    with pytest.raises(ParameterError, match="must be a BayesNet of pyAgrum, got str"):
        md.from_pyagrum("model.bif")


# Without the packages ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (MESSY.to_pgmpy, "pip install pgmpy"),
        (MESSY.dag.to_pgmpy, "pip install pgmpy"),
        (MESSY.to_pyagrum, "pip install pyagrum"),
        (MESSY.to_networkx, "pip install networkx"),
        (lambda: MESSY.dag.to_cpdag().to_networkx(), "pip install networkx"),
    ],
)
def test_a_missing_package_is_named_with_the_way_to_get_it(missing, act, message):
    with pytest.raises(MissingExtraError, match=message):
        act()


@pytest.mark.parametrize("act", [BayesianNetwork.to_pgmpy, BayesianNetwork.to_pyagrum])
def test_undefined_probabilities_do_not_travel(pgmpy, gum, act):
    undefined = BayesianNetwork(md.DAG(["a"]), {"a": 2}, {"a": [np.nan] * 2}, allow_undefined=True)
    with pytest.raises(NetworkError, match="needs all probabilities"):
        act(undefined)
    assert md.from_networkx(undefined.to_networkx()) == undefined


@given(st.data())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_packages_infer_what_we_do_on_any_network(pgmpy, gum, data):
    from pgmpy.inference import VariableElimination

    net = data.draw(networks(max_nodes=4, max_levels=3))
    node = data.draw(st.sampled_from(net.nodes))
    ours = net.query(node)
    theirs = VariableElimination(net.to_pgmpy()).query([node], show_progress=False)
    assert np.asarray(theirs.values) == pytest.approx(ours.values, abs=1e-12)
    assert gum.getPosterior(net.to_pyagrum(), target=node).toarray().ravel() == pytest.approx(ours.values, abs=1e-12)
