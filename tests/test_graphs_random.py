"""Random DAGs have the promised distribution and are reproducible."""

import numpy as np
import pytest

from mapdag.errors import GraphError, ParameterError
from mapdag.graphs import DAG, random_dag

NODES = [f"V{i}" for i in range(30)]


def test_the_same_seed_gives_the_same_graph():
    assert random_dag(NODES, seed=7) == random_dag(NODES, seed=7)
    assert random_dag(NODES, seed=7) != random_dag(NODES, seed=8)
    rng = np.random.default_rng(7)
    assert random_dag(NODES, seed=rng) == random_dag(NODES, seed=7)
    assert random_dag(NODES, seed=rng) != random_dag(NODES, seed=7)


@pytest.mark.parametrize("option", [{}, {"expected_parents": 1.5}, {"probability": 3 / 29}])
def test_the_mean_number_of_parents_is_as_asked(option):
    rng = np.random.default_rng(1)
    arcs = [random_dag(NODES, seed=rng, **option).n_arcs for _ in range(200)]
    assert np.mean(arcs) / 30 == pytest.approx(1.5, abs=0.05)


def test_arcs_are_independent_given_the_order_and_every_pair_is_as_likely():
    rng = np.random.default_rng(2)
    draws = [random_dag(["A", "B", "C"], probability=0.5, seed=rng) for _ in range(4000)]
    counts = {pair: sum(dag.has_arc(*pair) for dag in draws) for pair in ["AB", "BA", "AC", "CA", "BC", "CB"]}
    assert all(abs(count / 4000 - 0.25) < 0.03 for count in counts.values())
    # Each order gives each of its 8 graphs with probability 1/8; all six orders give the empty one.
    assert sum(dag.n_arcs == 0 for dag in draws) / 4000 == pytest.approx(1 / 8, abs=0.02)
    assert len(set(draws)) == 25


def test_no_node_has_more_parents_than_allowed():
    for limit in (0, 1, 3):
        dag = random_dag(NODES, probability=0.8, max_parents=limit, seed=3)
        assert max(len(dag.parents(node)) for node in NODES) == limit
        assert DAG(dag.nodes, dag.arcs) == dag


def test_the_extremes_are_the_empty_and_a_complete_graph():
    assert random_dag(NODES, probability=0, seed=1).n_arcs == 0
    assert random_dag(NODES, probability=1, seed=1).n_arcs == 30 * 29 // 2
    assert random_dag(NODES, expected_parents=14.5, seed=1).n_arcs == 30 * 29 // 2


def test_tiny_graphs_work():
    assert random_dag([], seed=1) == DAG([])
    assert random_dag(["A"], seed=1) == DAG(["A"])
    assert random_dag(["A", "B"], seed=1).n_arcs == 1


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"probability": 1.1}, "probability must be between 0 and 1, got 1.1"),
        ({"probability": float("nan")}, "probability must be between 0 and 1, got nan"),
        ({"expected_parents": -1}, "expected_parents must be between 0 and 14.5 for 30 nodes, got -1"),
        ({"expected_parents": 20}, "expected_parents must be between 0 and 14.5 for 30 nodes, got 20"),
        ({"max_parents": -1}, "max_parents must be a whole number of at least 0, got -1"),
        ({"probability": 0.1, "expected_parents": 1}, "not both"),
    ],
)
def test_options_out_of_range_are_refused(option, message):
    with pytest.raises(ParameterError, match=message):
        random_dag(NODES, **option)


def test_the_nodes_follow_the_rules_of_every_graph():
    with pytest.raises(GraphError, match="twice"):
        random_dag(["A", "A"])
