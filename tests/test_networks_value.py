"""Networks as values: what makes one, what is refused, and that nothing in it changes."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import CapacityError, DataError, GraphError, NetworkError, ParameterError
from mapdag.networks import BayesianNetwork, Distribution
from naive_networks import networks

DAG = md.DAG(["rain", "sun", "wet"], [("sun", "wet"), ("rain", "wet")])
LEVELS = {"rain": ["no", "yes"], "sun": ["low", "mid", "high"], "wet": ["no", "yes"]}
CPTS = {
    "rain": [0.8, 0.2],
    "sun": [0.5, 0.3, 0.2],
    "wet": [[[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], [[0.4, 0.6], [0.3, 0.7], [0.25, 0.75]]],
}


def network(**changes):
    return BayesianNetwork(DAG, LEVELS, {**CPTS, **changes})


def test_tables_have_one_axis_per_parent_in_node_order_and_the_last_for_the_node():
    net = network()
    assert net.parents("wet") == ("rain", "sun")
    assert net.cpt("wet").shape == (2, 3, 2)
    assert net.probability("wet", "yes", rain="yes", sun="mid") == 0.7
    assert net.probability("wet", "yes", {"sun": "high", "rain": "no"}) == 0.3
    assert net.probability("rain", "no") == 0.8
    assert net.n_parameters == 1 + 2 + 6
    assert repr(net) == "BayesianNetwork(3 nodes, 2 arcs, 9 parameters)"


@pytest.mark.parametrize(
    ("node", "table", "message"),
    [
        ("sun", [0.5, 0.5], r"'sun' must have shape \(3,\) \(sun 3\), got \(2,\)"),
        ("wet", np.full((3, 2, 2), 0.5), r"must have shape \(2, 3, 2\) \(rain 2, sun 3, wet 2\), got \(3, 2, 2\)"),
        ("rain", [1.2, -0.2], "'rain' has a negative probability"),
        ("rain", [math.nan, 1.0], "'rain' has a probability that is not a finite number"),
        ("rain", [math.nan, math.nan], "'rain' has a probability that is not a finite number"),
        ("rain", [math.inf, 0.0], "'rain' has a probability that is not a finite number"),
        ("rain", [0.8, 0.1], r"'rain' has probabilities that sum to 0\.9 instead of 1"),
        ("rain", [0.8, 0.20002], r"sum to 1\.00002"),
        ("rain", ["a", "b"], "'rain' must be an array of numbers"),
        ("rain", None, r"must have shape|array of numbers"),
    ],
)
def test_tables_that_are_no_distributions_are_refused_by_name(node, table, message):
    with pytest.raises(NetworkError, match=message):
        network(**{node: table})


def test_the_error_names_the_first_configuration_and_counts_the_others():
    table = np.array(CPTS["wet"])
    table[1, 1:, 0] += 0.1
    message = r"'wet' given rain=yes, sun=mid has probabilities that sum to 1\.1 instead of 1 \(and 1 more of its 6"
    with pytest.raises(NetworkError, match=message):
        network(wet=table)


def test_rounded_rows_are_divided_by_their_sum_and_exact_ones_left_alone():
    net = network(sun=[0.3333333, 0.3333333, 0.3333333])
    assert net.cpt("sun").tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)
    assert network(sun=[0.1, 0.2, 0.7]).cpt("sun").tolist() == [0.1, 0.2, 0.7]
    turned = np.array(CPTS["wet"]).T.copy().T  # stored with its axes the other way round
    turned[0, 0, 0] += 1e-7
    assert network(wet=turned).cpt("wet").sum(axis=-1) == pytest.approx(np.ones((2, 3)), abs=1e-15)
    with pytest.raises(NetworkError, match="sum to"):
        BayesianNetwork(DAG, LEVELS, {**CPTS, "rain": [0.333, 0.666]})
    loose = BayesianNetwork(DAG, LEVELS, {**CPTS, "rain": [0.333, 0.666]}, tolerance=0.01)
    assert loose.cpt("rain").sum() == pytest.approx(1, abs=1e-15)


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=40), st.integers(6, 9))
def test_normalising_twice_changes_nothing(weights, digits):
    row = np.round(np.array(weights) / sum(weights), digits)
    dag = md.DAG(["A"])
    once = BayesianNetwork(dag, {"A": len(row)}, {"A": row}, tolerance=0.1).cpt("A")
    assert BayesianNetwork(dag, {"A": len(row)}, {"A": once}).cpt("A").tolist() == once.tolist()


def test_undefined_rows_are_accepted_on_request_only_and_stop_what_needs_them():
    undefined = [math.nan, math.nan]
    net = BayesianNetwork(DAG, LEVELS, {**CPTS, "rain": undefined}, allow_undefined=True)
    assert net.n_undefined == 1
    assert network().n_undefined == 0
    data = network().sample(5, seed=1)
    for action in (
        lambda: net.sample(1, seed=1),
        lambda: net.query("wet"),
        lambda: net.predict(data, "rain"),
    ):
        with pytest.raises(NetworkError, match="undefined"):
            action()
    assert np.isnan(net.log_likelihood(data))
    assert net.query("sun").to_dict() == dict(zip(LEVELS["sun"], CPTS["sun"], strict=True))
    with pytest.raises(NetworkError, match="not a finite number"):
        BayesianNetwork(DAG, LEVELS, {**CPTS, "rain": [math.nan, 1]}, allow_undefined=True)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BayesianNetwork("A", {}, {}), ParameterError, "dag must be a DAG"),
        (lambda: BayesianNetwork(md.DAG([]), {}, {}), NetworkError, "at least one node"),
        (lambda: BayesianNetwork(md.DAG(["A"]), {}, {"A": [1]}), NetworkError, "no levels are given for the node 'A'"),
        (lambda: BayesianNetwork(md.DAG(["A"]), {"A": 2}, {}), NetworkError, "no probabilities are given for the node"),
        (
            lambda: BayesianNetwork(md.DAG(["A"]), {"A": 1}, {"A": [1], "B": [1]}),
            NetworkError,
            "'B', which is not a node",
        ),
        (lambda: BayesianNetwork(md.DAG(["A"]), {"A": ["x", "x"]}, {"A": [0.5, 0.5]}), DataError, "more than once"),
        (
            lambda: BayesianNetwork(md.DAG(["A"]), {"A": 1}, {"A": [1]}, tolerance=-1),
            ParameterError,
            "tolerance must be",
        ),
        (lambda: network().cpt("rian"), GraphError, "did you mean 'rain'"),
        (lambda: network().probability("wet", "yes", rain="no"), ParameterError, "exactly the parents of 'wet'"),
        (lambda: network().probability("rain", "maybe"), ParameterError, "'rain' has no level 'maybe'; its levels are"),
    ],
)
def test_what_makes_no_network_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_tables_too_large_for_memory_are_refused_before_anything_is_computed():
    names = [f"n{i}" for i in range(30)]
    dag = md.DAG(names, [(name, "n0") for name in names[1:]])
    with pytest.raises(CapacityError, match=r"1,073,741,882 entries.*'n0' given 29 parents"):
        BayesianNetwork(dag, dict.fromkeys(names, 2), {name: [0.5, 0.5] for name in names})


def test_more_parents_than_an_array_has_axes_are_refused():
    names = [f"n{i}" for i in range(80)]
    dag = md.DAG(names, [(name, "n0") for name in names[1:]])
    with pytest.raises(CapacityError, match="'n0' has 79 parents, more than the 31 that a table can have"):
        BayesianNetwork(dag, dict.fromkeys(names, 1), {name: [1.0] for name in names})


def test_nothing_in_a_network_can_be_changed():
    table = np.array([0.8, 0.2])
    net = network(rain=table)
    table[0] = 0
    assert net.cpt("rain")[0] == 0.8
    with pytest.raises(ValueError, match="read-only"):
        net.cpt("rain")[0] = 0
    with pytest.raises(TypeError):
        net.levels["rain"] = ("a", "b")
    with pytest.raises(AttributeError):
        net.dag = DAG


@given(net=networks(), data=st.data())
def test_copies_in_another_node_order_are_equal(net, data):
    other = net.reordered(data.draw(st.permutations(net.nodes)))
    assert other == net
    assert hash(other) == hash(net)
    assert other.reordered(net.nodes).nodes == net.nodes
    sample = net.sample(5, seed=1)
    assert other.log_likelihood(sample, by_row=True) == pytest.approx(
        net.log_likelihood(sample, by_row=True), rel=1e-12
    )
    back = pickle.loads(pickle.dumps(net))
    assert back == net
    assert not back.cpt(net.nodes[0]).flags.writeable
    assert net.renamed({"n0": "other"}).renamed({"other": "n0"}) == net


def test_networks_with_other_graphs_levels_or_probabilities_are_not_equal():
    net = network()
    assert net != network(rain=[0.7, 0.3])
    assert net != BayesianNetwork(DAG, {**LEVELS, "rain": ["n", "y"]}, CPTS)
    assert net != net.renamed({"rain": "snow"})
    assert net != "network"


def test_the_levels_of_a_network_can_recode_data():
    data = md.Dataset.from_codes([[0, 0, 0]], names=["rain", "sun", "wet"], levels=[["yes"], ["high"], ["no"]])
    assert data.with_levels(network().levels).codes.ravel().tolist() == [1, 2, 0]


def test_distributions_are_labelled_values():
    joint = network().query(["wet", "rain"])
    assert joint.nodes == ("wet", "rain")
    assert joint.probability(rain="yes") == pytest.approx(0.2)
    assert joint.probability({"rain": "yes", "wet": "no"}) == pytest.approx(joint.to_dict()["no", "yes"])
    assert joint.mode == {"wet": "no", "rain": "no"}
    assert str(joint).splitlines()[0].split() == ["wet", "rain", "probability"]
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert hash(joint) == hash(network().query(["wet", "rain"]))
    assert joint != network().query(["rain", "wet"])
    assert joint != 1
    with pytest.raises(ParameterError, match="no node 'sun'"):
        joint.probability(sun="low")
    with pytest.raises(NetworkError, match="shape"):
        Distribution(("A",), {"A": ("x",)}, [0.5, 0.5])


def test_long_distributions_show_the_most_probable():
    uniform = Distribution(("A",), {"A": tuple(map(str, range(50)))}, np.r_[0.02 * np.ones(49), 0.02])
    assert str(uniform).splitlines()[-1] == "... and 30 less probable"


def test_importing_and_loading_networks_needs_nothing_heavy():
    code = (
        "import sys, mapdag.io\n"
        "from mapdag.reference import network\n"
        "net = network('asia')\n"
        "net.query('lung', {'xray': 'yes'})\n"
        "print([m for m in ('numba', 'polars', 'pandas', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
