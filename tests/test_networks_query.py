"""Exact queries agree with enumeration, with another order of elimination, and with samples."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
import naive_networks
from mapdag.errors import CapacityError, GraphError, NetworkError, ParameterError
from mapdag.networks import BayesianNetwork, elimination
from mapdag.networks.elimination import best_order
from mapdag.reference import catalogue, network
from naive_networks import networks

SMALL = [entry.name for entry in catalogue() if entry.nodes < 100 and entry.parameters < 20_000]


@given(net=networks(), data=st.data())
@settings(max_examples=150)
def test_answers_are_those_of_enumeration(net, data):
    tables, cards = naive_networks.plain(net)
    order = data.draw(st.permutations(net.nodes))
    size = data.draw(st.integers(1, len(order)))
    asked, rest = order[:size], order[size:]
    evidence = {node: data.draw(st.integers(0, cards[node] - 1)) for node in rest if data.draw(st.booleans())}
    expected = naive_networks.query(tables, cards, asked, evidence)
    labels = {node: net.levels[node][code] for node, code in evidence.items()}
    if expected is None:
        with pytest.raises(NetworkError, match="probability zero"):
            net.query(asked, labels)
        return
    answer = net.query(asked, labels)
    assert answer.nodes == tuple(asked)
    assert answer.values.sum() == pytest.approx(1, abs=1e-12)
    for codes, p in expected.items():
        assert answer.values[codes] == pytest.approx(p, rel=1e-9, abs=1e-15)


def questions(net, seed, n=4):
    """Random questions with evidence from a sample, so that it can happen."""
    rng = random.Random(seed)
    for t in range(n):
        row = net.sample(n, seed=seed).row(t)
        nodes = rng.sample(net.nodes, min(6, len(net.nodes)))
        yield nodes[:2], {node: row[node] for node in nodes[2:]}


@pytest.mark.parametrize("name", SMALL)
def test_the_order_of_elimination_does_not_matter(name, monkeypatch):
    net = network(name)
    expected = [(q, net.query(*q)) for q in questions(net, seed=1)]

    def reversed_order(scopes, cards, kept):
        # As bad an order as still fits into memory: the heuristic's, with its first half shuffled.
        scopes = list(scopes)
        order = best_order(scopes, cards, kept)
        for seed in range(50):
            other = order.nodes.copy()
            random.Random(seed).shuffle(other)
            if width(scopes, cards, other) < 2**20:
                return order._replace(nodes=other)
        return order

    monkeypatch.setattr(elimination, "best_order", reversed_order)
    for question, answer in expected:
        assert net.query(*question).values == pytest.approx(answer.values, rel=1e-9, abs=1e-14)


def width(scopes, cards, order):
    """Entries of the largest table along an order."""
    scopes, largest = [set(scope) for scope in scopes], 0
    for node in order:
        bucket = set().union(*(scope for scope in scopes if node in scope))
        largest = max(largest, int(np.prod([float(cards[other]) for other in bucket])))
        scopes = [scope for scope in scopes if node not in scope] + [bucket - {node}]
    return largest


@pytest.mark.parametrize("name", ["asia", "alarm", "hailfinder", "insurance", "win95pts", "child"])
def test_samples_agree(name):
    net = network(name)
    data = net.sample(200_000, seed=11)
    rng = random.Random(5)
    for _ in range(4):
        asked, given_node = rng.sample(net.nodes, 2)
        level = int(np.argmax(data.observed(given_node)))
        kept = data.take(data.column(given_node) == level)
        answer = net.query(asked, {given_node: net.levels[given_node][level]})
        deviation = np.sqrt(answer.values * (1 - answer.values) / kept.n_rows)
        assert np.all(np.abs(kept.observed(asked) / kept.n_rows - answer.values) <= 4.5 * deviation + 1e-12)


@pytest.mark.parametrize("name", ["alarm", "andes", "munin1", "water"])
def test_all_leaves_as_evidence_are_no_trouble(name):
    net = network(name)
    row = net.sample(1, seed=1).row(0)
    evidence = {leaf: row[leaf] for leaf in net.dag.leaves}
    asked = next(node for node in net.nodes if node not in evidence)
    assert net.query(asked, evidence).values.sum() == pytest.approx(1)


def test_a_thousand_unlikely_findings_do_not_underflow():
    names = ["cause", *(f"sign{i}" for i in range(1000))]
    dag = md.DAG(names, [("cause", name) for name in names[1:]])
    table = np.array([[1 - 1e-3, 1e-3], [1 - 2e-3, 2e-3]])
    net = BayesianNetwork(dag, dict.fromkeys(names, 2), {"cause": [0.5, 0.5], **dict.fromkeys(names[1:], table)})
    evidence = {name: "1" if i < 700 else "0" for i, name in enumerate(names[1:])}
    answer = net.query("cause", evidence).values
    assert answer[0] / answer[1] == pytest.approx(0.5**700 * (0.999 / 0.998) ** 300, rel=1e-9)


def test_only_the_part_that_matters_is_touched():
    # Everything below the question, and a clique that the evidence cuts off, would not fit into memory.
    clique = [f"c{i}" for i in range(40)]
    arcs = [*itertools.pairwise(clique), *((clique[i], clique[i + 2]) for i in range(38)), ("a", "b"), ("b", clique[0])]
    dag = md.DAG(["a", "b", *clique], arcs)
    cpts = {
        n: np.full([30 if p in clique else 2 for p in (*dag.parents(n), n)], 1 / (30 if n in clique else 2))
        for n in dag.nodes
    }
    net = BayesianNetwork(dag, {n: 30 if n in clique else 2 for n in dag.nodes}, cpts)
    assert net.query("a", {"b": "1"}, max_entries=4).to_dict() == {"0": 0.5, "1": 0.5}
    assert net.query("a", {"b": "1", "c39": "3"}, max_entries=4).to_dict() == {"0": 0.5, "1": 0.5}
    with pytest.raises(
        CapacityError, match=r"would need a table of 27,000 entries \(0\.0 GiB\), more than max_entries=100"
    ):
        net.query("a", {"c39": "3"}, max_entries=100)


def test_answers_too_large_for_memory_are_refused():
    names = [f"n{i}" for i in range(40)]
    net = BayesianNetwork(md.DAG(names), dict.fromkeys(names, 2), {name: [0.5, 0.5] for name in names})
    with pytest.raises(CapacityError, match=r"1,099,511,627,776 entries \(8,192\.0 GiB\)"):
        net.query(names)


def test_nodes_with_one_level_cost_nothing():
    # Three children of "one" with 25 other parents each: together more than an array has axes.
    others = {child: [f"{child}{i}" for i in range(25)] for child in "xyz"}
    arcs = [("one", child) for child in others] + [(name, child) for child in others for name in others[child]]
    dag = md.DAG(["one", *itertools.chain(*others.values()), *others], arcs)
    levels = dict.fromkeys(dag.nodes, 1) | dict.fromkeys(others, 2)
    cpts = {name: [1.0] for name in dag.nodes} | {child: np.reshape([0.25, 0.75], [1] * 26 + [2]) for child in others}
    answer = BayesianNetwork(dag, levels, cpts).query(["x", "one"])
    assert answer.to_dict() == {("0", "0"): 0.25, ("1", "0"): 0.75}
    assert BayesianNetwork(dag, levels, cpts).query("x", {"y": "1", "z": "0"}).to_dict() == {"0": 0.25, "1": 0.75}


def test_evidence_that_cannot_happen_is_an_error_even_where_it_does_not_matter():
    net = network("asia")
    with pytest.raises(NetworkError, match="the evidence has probability zero"):
        net.query("smoke", {"tub": "yes", "either": "no"})
    with pytest.raises(NetworkError, match="the evidence has probability zero"):
        net.query("asia", {"lung": "yes", "either": "no", "tub": "no"})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("lnug",), GraphError, "did you mean 'lung'"),
        (([],), ParameterError, "at least one node"),
        ((["lung", "lung"],), ParameterError, "must differ"),
        (("lung", {"lung": "yes"}), ParameterError, "both asked for and evidence"),
        (("lung", {"tub": "maybe"}), ParameterError, "'tub' has no level 'maybe'; its levels are 'yes', 'no'"),
        (("lung", {"tb": "yes"}), GraphError, "unknown node 'tb'"),
    ],
)
def test_wrong_questions_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        network("asia").query(*arguments)
