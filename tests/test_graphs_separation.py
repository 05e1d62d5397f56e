"""d-separation agrees with separation in the moralised ancestral graph."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_graphs as naive
from mapdag.errors import GraphError
from mapdag.graphs import DAG


@settings(deadline=None, max_examples=200)
@given(naive.dags(min_nodes=2), st.data())
def test_sets_of_nodes_are_separated_as_in_the_moral_graph_of_their_ancestors(dag, data):
    where = data.draw(st.lists(st.sampled_from("xyg-"), min_size=len(dag.nodes), max_size=len(dag.nodes)))
    x, y, known = ([n for n, w in zip(dag.nodes, where, strict=True) if w == role] for role in "xyg")
    expected = naive.d_separated(dag.nodes, set(dag.arcs), x, y, known)
    assert dag.d_separated(x, y, known) == expected
    assert dag.d_separated(y, x, iter(known)) == expected


@settings(deadline=None, max_examples=40)
@given(naive.dags(min_nodes=2, max_nodes=5))
def test_every_pair_given_every_set_is_separated_as_in_the_moral_graph(dag):
    for x, y in combinations(dag.nodes, 2):
        others = [n for n in dag.nodes if n not in (x, y)]
        for size in range(len(others) + 1):
            for known in combinations(others, size):
                assert dag.d_separated(x, y, known) == naive.d_separated(dag.nodes, set(dag.arcs), [x], [y], known)


@settings(deadline=None, max_examples=60)
@given(naive.dags(min_nodes=1))
def test_the_markov_blanket_separates_a_node_from_the_rest(dag):
    for node in dag.nodes:
        blanket = dag.markov_blanket(node)
        assert dag.d_separated(node, [n for n in dag.nodes if n != node and n not in blanket], blanket)


@settings(deadline=None, max_examples=60)
@given(naive.dags(min_nodes=1))
def test_parents_separate_a_node_from_its_non_descendants(dag):
    for node in dag.nodes:
        parents = dag.parents(node)
        rest = set(dag.nodes) - {node, *parents, *dag.descendants(node)}
        assert dag.d_separated(node, rest, parents)


def test_the_sets_must_not_overlap_and_must_be_nodes():
    dag = DAG.from_modelstring("[A][B|A][C|B]")
    for x, y, known in ((["A", "B"], "B", ()), ("A", "C", "A"), ("A", ["B", "C"], ["C"])):
        with pytest.raises(GraphError, match="must not overlap"):
            dag.d_separated(x, y, known)
    with pytest.raises(GraphError, match="unknown node 'X'"):
        dag.d_separated("A", "X")
