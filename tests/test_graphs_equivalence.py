"""CPDAGs, Meek's rules and consistent extensions agree with brute force over all DAGs of a class."""

import copy
import pickle
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_graphs as naive
from mapdag.errors import CycleError, GraphError
from mapdag.graphs import CPDAG, DAG, meek_closure, random_dag, to_cpdag

FOUR = naive.NODES[:4]
quick = settings(deadline=None, max_examples=60)


def common(nodes, graphs):
    """The CPDAG of a set of DAGs with one skeleton: an arc where all agree, an edge where they do not."""
    arcs = set.intersection(*graphs)
    return CPDAG(nodes, arcs, {a for graph in graphs for a in graph if a not in arcs})


# From a DAG to its class.


def test_all_543_dags_of_four_nodes_fall_into_their_185_classes():
    classes = {}
    for arcs in naive.all_dags(FOUR):
        key = frozenset(naive.skeleton(arcs)), frozenset(naive.v_structures(FOUR, arcs))
        classes.setdefault(key, []).append(arcs)
    assert sum(map(len, classes.values())) == 543
    assert len(classes) == 185
    for graphs in classes.values():
        expected = common(FOUR, graphs)
        assert {DAG(FOUR, arcs).to_cpdag() for arcs in graphs} == {expected}
        assert meek_closure(expected) == expected


@quick
@given(naive.dags(max_nodes=6, max_arcs=9))
def test_the_cpdag_of_a_larger_dag_has_the_arcs_that_all_equivalent_dags_share(dag):
    arcs = set(dag.arcs)
    assert to_cpdag(dag) == common(dag.nodes, list(naive.equivalent_dags(dag.nodes, arcs)))


@quick
@given(naive.dags())
def test_a_cpdag_keeps_skeleton_and_v_structures(dag):
    cpdag = dag.to_cpdag()
    assert cpdag.nodes == dag.nodes
    assert cpdag.skeleton() == dag.skeleton()
    assert cpdag.v_structures() == dag.v_structures()
    assert set(cpdag.arcs) <= set(dag.arcs)


@quick
@given(naive.dags(), st.data())
def test_the_class_does_not_depend_on_the_node_order(dag, data):
    other = dag.reordered(data.draw(st.permutations(dag.nodes)))
    assert other.to_cpdag() == dag.to_cpdag()


@quick
@given(naive.dags())
def test_reversing_an_arc_stays_in_the_class_if_and_only_if_it_is_covered(dag):
    for a, b in dag.arcs:
        covered = set(dag.parents(b)) == {a, *dag.parents(a)}
        assert dag.is_covered(a, b) == covered
        try:
            same = dag.with_reversed(a, b).to_cpdag() == dag.to_cpdag()
        except CycleError:
            same = False
        assert same == covered


# From a class to a DAG.


@quick
@given(naive.dags())
def test_a_consistent_extension_is_in_the_class(dag):
    cpdag = dag.to_cpdag()
    extension = cpdag.to_dag()
    assert extension.nodes == dag.nodes
    assert extension.to_cpdag() == cpdag
    assert extension == cpdag.to_dag()


@pytest.mark.parametrize("seed", range(3))
def test_the_round_trip_holds_for_graphs_of_hundreds_of_nodes(seed):
    dag = random_dag([f"V{i}" for i in range(300)], expected_parents=1 + seed, seed=seed)
    cpdag = dag.to_cpdag()
    extension = cpdag.to_dag()
    assert extension.to_cpdag() == cpdag == meek_closure(cpdag)
    DAG(extension.nodes, extension.arcs)


def test_free_edges_point_along_the_node_order():
    nodes = ["D", "B", "A", "C"]
    complete = CPDAG(nodes, edges=combinations(nodes, 2))
    assert complete.to_dag().arcs == tuple(combinations(nodes, 2))


def test_a_square_without_diagonal_has_no_extension():
    square = CPDAG(["A", "B", "C", "D", "E"], edges=[("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("D", "E")])
    for function in (CPDAG.to_dag, meek_closure):
        with pytest.raises(GraphError, match="among 'A', 'B', 'C', 'D' always closes a cycle or adds a v-st"):
            function(square)


# Meek's rules.


def test_every_partially_directed_graph_of_four_nodes_is_closed_completely_or_refused():
    pairs = list(combinations(FOUR, 2))
    refused = 0
    for choice in product("-><.", repeat=len(pairs)):
        status = list(zip(pairs, choice, strict=True))
        arcs = {(a, b) if s == ">" else (b, a) for (a, b), s in status if s in "><"}
        edges = [pair for pair, s in status if s == "-"]
        if not naive.is_acyclic(FOUR, arcs):
            continue
        graph = CPDAG(FOUR, arcs, edges)
        members = list(naive.extensions(FOUR, arcs, edges))
        if members:
            assert meek_closure(graph) == common(FOUR, members)
            assert set(graph.to_dag().arcs) in members
            continue
        refused += 1
        for function in (CPDAG.to_dag, meek_closure):
            with pytest.raises(GraphError, match="no DAG agrees"):
                function(graph)
    assert refused


@settings(deadline=None, max_examples=200)
@given(naive.dags(min_nodes=2, max_nodes=6, max_arcs=9), st.data())
def test_background_knowledge_is_closed_completely_or_refused(dag, data):
    joined = [arc for a, b in dag.arcs for arc in ((a, b), (b, a))]
    knowledge = data.draw(st.lists(st.sampled_from(joined), max_size=4)) if joined else []
    agreeing = [g for g in naive.equivalent_dags(dag.nodes, set(dag.arcs)) if set(knowledge) <= g]
    if agreeing:
        assert meek_closure(dag.to_cpdag(), knowledge) == common(dag.nodes, agreeing)
    else:
        with pytest.raises(GraphError, match="contradicts the rest"):
            meek_closure(dag.to_cpdag(), knowledge)


@pytest.mark.parametrize(
    ("arcs", "edges", "forced"),
    [
        pytest.param([("A", "B")], [("B", "C")], ("B", "C"), id="R1"),
        pytest.param([("A", "B"), ("B", "C")], [("A", "C")], ("A", "C"), id="R2"),
        pytest.param([("C", "B"), ("D", "B")], [("A", "B"), ("A", "C"), ("A", "D")], ("A", "B"), id="R3"),
        pytest.param([("D", "C"), ("C", "B")], [("A", "B"), ("A", "C"), ("A", "D")], ("A", "B"), id="R4"),
    ],
)
def test_each_rule_directs_the_edge_of_its_textbook_example(arcs, edges, forced):
    closed = meek_closure(CPDAG(["A", "B", "C", "D"], arcs, edges))
    assert closed.arcs == tuple(sorted([*arcs, forced]))
    assert closed.n_edges == len(edges) - 1


@pytest.mark.parametrize("knowledge", [[("D", "C"), ("C", "B")], [("C", "B"), ("D", "C")], [("D", "C")]])
def test_the_fourth_rule_works_on_background_knowledge(knowledge):
    nodes = ["A", "B", "C", "D"]
    chordal = CPDAG(nodes, edges=[("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("C", "D")])
    assert DAG.from_modelstring("[A][B|A][C|A:B][D|A:C]").to_cpdag() == chordal
    closed = meek_closure(chordal, knowledge)
    assert closed.arcs == (("A", "B"), ("C", "B"), ("D", "C"))
    assert closed.edges == (("A", "C"), ("A", "D"))


def test_contradictory_knowledge_is_refused():
    chain = CPDAG(["A", "B", "C"], edges=[("A", "B"), ("B", "C")])
    triangle = CPDAG(["A", "B", "C"], edges=[("A", "B"), ("B", "C"), ("A", "C")])
    with pytest.raises(GraphError, match="'C' -> 'B' contradicts the rest, which implies 'B' -> 'C'"):
        meek_closure(chain, [("A", "B"), ("C", "B")])
    with pytest.raises(GraphError, match="'C' -> 'A' contradicts"):
        meek_closure(triangle, [("A", "B"), ("B", "C"), ("C", "A")])
    with pytest.raises(GraphError, match="not adjacent"):
        meek_closure(chain, [("A", "C")])
    with pytest.raises(GraphError, match="unknown node"):
        meek_closure(chain, [("A", "X")])


# CPDAG, the value.


MIXED = CPDAG(["A", "B", "C", "D"], [("A", "C"), ("B", "C")], [("D", "A")])


@pytest.mark.parametrize(
    ("arcs", "edges", "message"),
    [
        ([("A", "B"), ("B", "C"), ("C", "A")], [], "cycle: A -> B -> C -> A"),
        ([("A", "B")], [("B", "A")], "both an arc and an edge"),
        ([], [("A", "A")], "joined to itself"),
        ([("A", "X")], [], "unknown node 'X'"),
        ([], ["AB"], "pair"),
    ],
)
def test_nonsense_is_refused(arcs, edges, message):
    with pytest.raises(GraphError, match=message):
        CPDAG(["A", "B", "C"], arcs, edges)


@pytest.mark.parametrize(
    ("parents", "neighbours", "message"),
    [
        ([0, 0], [2, 0], "not symmetric"),
        ([0, 0], [1, 0], "not symmetric, or one joins it to itself"),
        ([0, 0, 0], [0, 0], "masks of 2 nodes"),
        ([0, 0], [4, 0], "masks of 2 nodes"),
    ],
)
def test_masks_that_make_no_graph_are_refused(parents, neighbours, message):
    with pytest.raises(GraphError, match=message):
        CPDAG.from_masks(["A", "B"], parents, neighbours)


def test_arcs_edges_and_queries():
    assert MIXED.arcs == (("A", "C"), ("B", "C"))
    assert MIXED.edges == (("A", "D"),)
    assert (MIXED.n_arcs, MIXED.n_edges) == (2, 1)
    assert MIXED.has_arc("A", "C")
    assert not MIXED.has_arc("C", "A")
    assert not MIXED.has_arc("A", "D")
    assert MIXED.has_edge("A", "D")
    assert MIXED.has_edge("D", "A")
    assert not MIXED.has_edge("A", "C")
    assert MIXED.skeleton() == (("A", "C"), ("A", "D"), ("B", "C"))
    assert MIXED.v_structures() == (("A", "C", "B"),)


@quick
@given(naive.dags(), st.data())
def test_a_cpdag_is_a_value_whatever_its_node_order(dag, data):
    cpdag = dag.to_cpdag()
    other = cpdag.reordered(data.draw(st.permutations(cpdag.nodes)))
    for same in (other, copy.deepcopy(cpdag), pickle.loads(pickle.dumps(cpdag))):
        assert same == cpdag
        assert hash(same) == hash(cpdag)
    assert pickle.loads(pickle.dumps(other)).nodes == other.nodes


def test_other_arcs_edges_or_nodes_make_another_graph():
    others = [
        CPDAG(MIXED.nodes, MIXED.arcs),
        CPDAG(MIXED.nodes, [*MIXED.arcs, ("A", "D")]),
        CPDAG([*MIXED.nodes, "E"], MIXED.arcs, MIXED.edges),
        MIXED.renamed({"A": "B", "B": "A"}),
    ]
    for other in others:
        assert other != MIXED
        assert other.reordered(other.nodes[::-1]) != MIXED
    assert MIXED != "MIXED"
    with pytest.raises(AttributeError):
        MIXED.nodes = ()


def test_renaming_and_reordering():
    assert MIXED.renamed({"D": "x y"}).edges == (("A", "x y"),)
    assert MIXED.reordered(["D", "C", "B", "A"]).edges == (("D", "A"),)
    with pytest.raises(GraphError, match="only in the graph: 'D'"):
        MIXED.reordered(["A", "B", "C"])


def test_the_repr_is_short():
    assert repr(MIXED) == "<CPDAG A -> C, B -> C, A - D>"
    assert repr(CPDAG(["A", "B", "C"], [], [("C", "A")])) == "<CPDAG A - C, B>"
    assert repr(CPDAG([])) == "<CPDAG with 0 nodes, 0 arcs and 0 edges>"
    large = random_dag([f"V{i}" for i in range(100)], seed=1).to_cpdag()
    assert repr(large) == f"<CPDAG with 100 nodes, {large.n_arcs} arcs and {large.n_edges} edges>"


@quick
@given(naive.dags())
def test_adjacency_and_dot_round_trip(dag):
    cpdag = dag.to_cpdag()
    matrix = cpdag.to_adjacency()
    assert matrix.dtype == np.int8
    assert CPDAG.from_adjacency(matrix, cpdag.nodes) == cpdag
    assert CPDAG.from_dot(cpdag.to_dot()) == cpdag
    for i, a in enumerate(cpdag.nodes):
        for j, b in enumerate(cpdag.nodes):
            assert matrix[i, j] == (cpdag.has_arc(a, b) or cpdag.has_edge(a, b))


def test_edges_are_drawn_without_arrowheads():
    assert '"A" -> "D" [dir=none];' in MIXED.to_dot()
    assert '"A" -> "C";' in MIXED.to_dot()
