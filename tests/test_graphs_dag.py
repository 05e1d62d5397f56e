"""`DAG` is a value that is always acyclic, and its methods mean what the definitions say."""

import copy
import pickle
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag.graphs
import naive_graphs as naive
from mapdag.errors import CycleError, GraphError
from mapdag.graphs import DAG

COLLIDER = DAG(["A", "B", "C", "D"], [("A", "C"), ("B", "C"), ("C", "D")])
quick = settings(deadline=None, max_examples=60)


# What may be a graph.


@pytest.mark.parametrize(
    ("nodes", "arcs", "message"),
    [
        (["A", "B", "A"], [], "'A' twice"),
        (["A", "A"], [], "'A' twice"),
        (["A", ""], [], "node number 2"),
        (["A", 3], [], "got 3 [(]int[)]"),
        ("AB", [], "single string 'AB'"),
        (["A", "B"], ["AB"], "pair .* got 'AB'"),
        (["A", "B"], [("A", "B", "C")], "pair"),
        (["A", "B"], [("A", "A")], "'A' cannot be joined to itself"),
        (["A", "B"], [("A", "X")], "unknown node 'X'; the nodes are 'A', 'B'"),
        (["A", "B"], [("A", ["B"])], "unknown node"),
        (["smoke", "lung"], [("smok", "lung")], "did you mean 'smoke'"),
    ],
)
def test_nonsense_is_refused_with_the_culprit_named(nodes, arcs, message):
    with pytest.raises(GraphError, match=message):
        DAG(nodes, arcs)


def test_unknown_nodes_of_a_large_graph_are_not_all_listed():
    with pytest.raises(GraphError, match="and 95 more"):
        DAG([f"V{i}" for i in range(100)]).parents("???")


def test_any_string_is_a_name():
    names = ["a b", 'say "hi"', "<script>", "é中🙂", "\n", "\\"]
    assert DAG(names, [("a b", "\n")]).parents("\n") == ("a b",)


def test_names_become_plain_strings():
    assert {type(name) for name in DAG(np.array(["A", "B"])).nodes} == {str}


def test_repeated_arcs_count_once():
    assert DAG(["A", "B"], [("A", "B"), ("A", "B")]).n_arcs == 1


def test_no_nodes_is_a_graph():
    empty = DAG([])
    assert (empty.nodes, empty.arcs, empty.topological_order(), empty.roots) == ((), (), (), ())


@quick
@given(st.data())
def test_a_cycle_error_shows_a_real_cycle(data):
    nodes = naive.NODES[:6]
    pairs = [(a, b) for a in nodes for b in nodes if a != b]
    arcs = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))
    if naive.is_acyclic(nodes, set(arcs)):
        DAG(nodes, arcs)
        return
    with pytest.raises(CycleError) as caught:
        DAG(nodes, arcs)
    cycle = caught.value.cycle
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    assert set(pairwise(cycle)) <= set(arcs)
    assert " -> ".join(cycle) in str(caught.value)


def test_the_cycle_shown_is_a_short_one():
    ring = [(f"V{i}", f"V{(i + 1) % 50}") for i in range(50)]
    with pytest.raises(CycleError) as caught:
        DAG.from_arcs([*ring, ("V3", "V2")])
    assert len(caught.value.cycle) <= 4 or caught.value.cycle[0] not in {"V2", "V3"}
    with pytest.raises(CycleError, match=r"^the arcs contain a cycle: A -> B -> A$"):
        DAG(["A", "B"], [("B", "A"), ("A", "B")])


# A value.


@quick
@given(naive.dags(), st.data())
def test_equality_and_hash_ignore_the_node_order(dag, data):
    other = dag.reordered(data.draw(st.permutations(dag.nodes)))
    assert other == dag
    assert hash(other) == hash(dag)
    assert set(other.arcs) == set(dag.arcs)


def test_other_arcs_or_other_nodes_make_another_graph():
    dag = DAG(["A", "B"], [("A", "B")])
    for other in (DAG(["A", "B"]), DAG(["A", "B"], [("B", "A")]), DAG(["A", "B", "C"], [("A", "B")])):
        assert dag != other
        assert dag != other.reordered(other.nodes[::-1])
    assert dag != DAG(["B", "A"], [("B", "A")])
    assert dag != dag.to_cpdag()
    assert dag != "[A][B|A]"


@quick
@given(naive.dags())
def test_copies_and_pickles_are_equal(dag):
    for other in (copy.copy(dag), copy.deepcopy(dag), pickle.loads(pickle.dumps(dag))):
        assert other == dag
        assert other.nodes == dag.nodes
        assert hash(other) == hash(dag)
        assert other.topological_order() == dag.topological_order()


def test_a_graph_cannot_be_changed():
    for name in ("nodes", "arcs", "colour"):
        with pytest.raises(AttributeError):
            setattr(COLLIDER, name, ())


def test_the_repr_of_a_small_graph_is_its_model_string_and_of_others_its_size():
    assert repr(COLLIDER) == "<DAG [A][B][C|A:B][D|C]>"
    assert repr(DAG(["a:b", "c"])) == "<DAG with 2 nodes and 0 arcs>"
    assert repr(DAG([f"V{i}" for i in range(200)], [("V0", "V1")])) == "<DAG with 200 nodes and 1 arc>"
    assert repr(DAG(["x" * 200])) == "<DAG with 1 node and 0 arcs>"
    assert repr(DAG([])) == "<DAG with 0 nodes and 0 arcs>"


# Around a node, and the whole graph.


@quick
@given(naive.dags(min_nodes=1))
def test_relatives_are_what_the_arcs_say_in_node_order(dag):
    arcs = set(dag.arcs)
    for i, node in enumerate(dag.nodes):
        parents = tuple(n for n in dag.nodes if (n, node) in arcs)
        children = tuple(n for n in dag.nodes if (node, n) in arcs)
        above, below = naive.ancestors(arcs, {node}), naive.ancestors({(b, a) for a, b in arcs}, {node})
        blanket = {n for edge in naive.moral_edges(dag.nodes, arcs) if node in edge for n in edge}
        assert dag.parents(node) == parents
        assert dag.parent_indices(i) == tuple(map(dag.nodes.index, parents))
        assert dag.children(node) == children
        assert dag.ancestors(node) == tuple(n for n in dag.nodes if n in above and n != node)
        assert dag.descendants(node) == tuple(n for n in dag.nodes if n in below and n != node)
        assert dag.markov_blanket(node) == tuple(n for n in dag.nodes if n in blanket and n != node)
        assert (node in dag.roots) == (not parents)
        assert (node in dag.leaves) == (not children)
        assert [n for n in dag.nodes if dag.has_arc(n, node)] == list(parents)


@quick
@given(naive.dags())
def test_lists_of_arcs_are_sorted_by_node_order(dag):
    position = {node: i for i, node in enumerate(dag.nodes)}
    for pairs in (dag.arcs, dag.skeleton(), dag.moral_edges()):
        assert sorted(pairs, key=lambda p: (position[p[0]], position[p[1]])) == list(pairs)
    for pairs in (dag.skeleton(), dag.moral_edges()):
        assert all(position[a] < position[b] for a, b in pairs)
    assert dag.n_arcs == len(dag.arcs) == len(dag.skeleton())


@quick
@given(naive.dags())
def test_skeleton_moral_graph_and_v_structures_match_the_definitions(dag):
    arcs = set(dag.arcs)
    assert {frozenset(edge) for edge in dag.skeleton()} == naive.skeleton(arcs)
    assert {frozenset(edge) for edge in dag.moral_edges()} == naive.moral_edges(dag.nodes, arcs)
    assert set(dag.v_structures()) == naive.v_structures(dag.nodes, arcs)
    assert len(dag.v_structures()) == len(set(dag.v_structures()))


@quick
@given(naive.dags())
def test_the_topological_order_takes_the_first_ready_node(dag):
    done = []
    while len(done) < len(dag.nodes):
        done.append(next(n for n in dag.nodes if n not in done and set(dag.parents(n)) <= set(done)))
    assert dag.topological_order() == tuple(done)


# Other graphs from this one.


@quick
@given(naive.dags(min_nodes=2), st.data())
def test_editing_an_arc_agrees_with_building_the_graph_anew(dag, data):
    a, b = data.draw(st.permutations(dag.nodes))[:2]
    arcs = set(dag.arcs)
    if (a, b) in arcs:
        same_cycles(lambda: dag.without_arc(a, b), dag.nodes, arcs - {(a, b)})
        same_cycles(lambda: dag.with_reversed(a, b), dag.nodes, arcs - {(a, b)} | {(b, a)})
        with pytest.raises(GraphError, match="there already"):
            dag.with_arc(a, b)
    else:
        same_cycles(lambda: dag.with_arc(a, b), dag.nodes, arcs | {(a, b)})
        for method in (dag.without_arc, dag.with_reversed, dag.is_covered):
            with pytest.raises(GraphError, match="there is no arc"):
                method(a, b)


def same_cycles(edit, nodes, arcs):
    if naive.is_acyclic(nodes, arcs):
        assert edit() == DAG(nodes, arcs)
        assert edit().topological_order() == DAG(nodes, arcs).topological_order()
        return
    with pytest.raises(CycleError) as caught:
        edit()
    cycle = caught.value.cycle
    assert cycle[0] == cycle[-1]
    assert set(pairwise(cycle)) <= arcs


@quick
@given(naive.dags(), st.data())
def test_a_subgraph_keeps_the_arcs_between_its_nodes(dag, data):
    kept = data.draw(st.lists(st.sampled_from(dag.nodes), unique=True)) if dag.nodes else []
    sub = dag.subgraph(kept)
    assert sub.nodes == tuple(n for n in dag.nodes if n in kept)
    assert sub.arcs == tuple((a, b) for a, b in dag.arcs if a in kept and b in kept)


def test_reordering_needs_the_same_names():
    assert COLLIDER.reordered("DCBA"[i] for i in range(4)).nodes == ("D", "C", "B", "A")
    with pytest.raises(GraphError, match="only in the graph: 'D'; only in the new order: 'X'"):
        COLLIDER.reordered(["A", "B", "C", "X"])
    with pytest.raises(GraphError, match=r"only in the graph: 'C', 'D'$"):
        COLLIDER.reordered(["A", "B"])


def test_renaming_takes_known_names_to_new_unique_ones():
    assert COLLIDER.renamed({"A": "B", "B": "A"}).arcs == (("B", "C"), ("A", "C"), ("C", "D"))
    assert COLLIDER.renamed({"C": "x y"}).parents("x y") == ("A", "B")
    with pytest.raises(GraphError, match="unknown node 'X'"):
        COLLIDER.renamed({"X": "Y"})
    with pytest.raises(GraphError, match="'B' twice"):
        COLLIDER.renamed({"A": "B"})


# Positions and masks, the form that searches use.


@quick
@given(naive.dags())
def test_positions_and_masks_round_trip(dag):
    families = [dag.parent_indices(i) for i in range(len(dag.nodes))]
    assert DAG.from_parent_indices(dag.nodes, families) == dag
    assert DAG.from_parent_masks(dag.nodes, dag.parent_masks) == dag


def test_numpy_positions_work_beyond_64_nodes():
    nodes = [f"V{i}" for i in range(100)]
    dag = DAG.from_parent_indices(nodes, [np.array([], dtype=np.int64)] * 99 + [np.array([70, 98])])
    assert dag.parents("V99") == ("V70", "V98")


@pytest.mark.parametrize("families", [[[], [2]], [[], [-1]], [[]], [[], [], []]])
def test_positions_must_exist(families):
    with pytest.raises(GraphError, match=r"positions|masks"):
        DAG.from_parent_indices(["A", "B"], families)


def test_positions_and_masks_must_be_acyclic():
    with pytest.raises(CycleError, match="A -> B -> A"):
        DAG.from_parent_indices(["A", "B"], [[1], [0]])
    with pytest.raises(CycleError, match="A -> A"):
        DAG.from_parent_masks(["A", "B"], [1, 0])
    with pytest.raises(GraphError, match="masks"):
        DAG.from_parent_masks(["A", "B"], [0, -1])


# The package.


def test_the_public_names_are_sorted_and_exist():
    names = mapdag.graphs.__all__
    assert sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name)) == names
    assert all(hasattr(mapdag.graphs, name) for name in names)


def test_importing_graphs_does_not_import_heavy_packages():
    code = (
        "import sys, mapdag.graphs; "
        "print({'networkx', 'numba', 'polars', 'pandas', 'scipy', 'difflib'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
