"""Graphs survive a trip through every format, whatever their nodes are called."""

import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_graphs as naive
from mapdag.errors import CycleError, FormatError, GraphError, MissingExtraError
from mapdag.graphs import CPDAG, DAG

NASTY = [
    "a b",
    'say "hi"',
    "<script>alert(1)</script>",
    "é中🙂",
    "\\",
    "a\\",
    '\\"',
    "\\n",
    "line\nbreak",
    "a\\\nb",
    "node",
    "digraph",
    "1.5",
    "-> b",
    "[x|y:z]",
    "; }",
    "/* no */",
    "# no",
    " ",
]
names = st.text(min_size=1, max_size=5) | st.sampled_from(NASTY)
quick = settings(deadline=None, max_examples=60)


@st.composite
def renamed_dags(draw, allowed=names):
    dag = draw(naive.dags(max_nodes=5))
    size = len(dag.nodes)
    new = draw(st.lists(allowed, unique=True, min_size=size, max_size=size))
    return DAG.from_parent_masks(new, dag.parent_masks)


def check_same(read, dag):
    assert read == dag
    assert read.nodes == dag.nodes


# DOT.


@settings(deadline=None, max_examples=200)
@given(renamed_dags())
def test_dot_round_trips_with_any_names(dag):
    check_same(DAG.from_dot(dag.to_dot()), dag)
    assert CPDAG.from_dot(dag.to_cpdag().to_dot()) == dag.to_cpdag()


def test_nasty_names_round_trip_through_dot():
    dag = DAG(NASTY, pairwise(NASTY))
    check_same(DAG.from_dot(dag.to_dot()), dag)


def test_dot_is_written_with_quoted_names():
    assert DAG(["A", 'b"'], [("A", 'b"')]).to_dot() == 'digraph {\n  "A";\n  "b\\"";\n  "A" -> "b\\"";\n}'


@pytest.mark.parametrize(
    ("text", "nodes", "arcs"),
    [
        ("digraph{}", "", ""),
        ("\ufeffstrict DiGraph g { a; b; }", "a b", ""),
        ("digraph { a -> b -> c; c -> d }", "a b c d", "ab bc cd"),
        ("digraph { {a b} -> {c; d} }", "a b c d", "ac ad bc bd"),
        ("digraph { subgraph cluster_1 { a -> b } -> c }", "a b c", "ab ac bc"),
        ("digraph { subgraph { a } subgraph s { b } }", "a b", ""),
        ("digraph { a:n -> b:port:sw }", "a b", "ab"),
        ('digraph "my graph" { rankdir=LR; node [shape=box]; a [label="x -> y"] -> b }', None, None),
        ('digraph { rankdir=LR node [shape=box] a [label="x -> y", b=c;d] a -> b [w=2][x=3] }', "a b", "ab"),
        ("digraph { a [label=<<b>bold</b> -&gt; x>]; a -> b }", "a b", "ab"),
        ("# line\ndigraph { // a -> x\n a -> /* y -> */ b\n# c -> d\n }", "a b", "ab"),
        ('digraph { "a" -> "b" + "c" }', "a bc", None),
        ('digraph { "two\\\nlines" }', "twolines", None),
        ("digraph { 1 -> -2.5 }", "1 -2.5", None),
        ("digraph { é -> 中_1 }", "é 中_1", None),
        ("digraph { edge [dir=forward, color=red]; a -> b [dir=forward] }", "a b", "ab"),
        ('digraph { "node" -> "edge" }', "node edge", None),
        ("digraph { graph [a=b]; edge []; node [x]; a }", "a", ""),
        ("digraph { a -> b; a -> b }", "a b", "ab"),
    ],
)
def test_dot_of_other_programs_is_read(text, nodes, arcs):
    if nodes is None:
        with pytest.raises(FormatError):
            DAG.from_dot(text)
        return
    dag = DAG.from_dot(text)
    assert " ".join(dag.nodes) == nodes
    if arcs is not None:
        assert dag.arcs == tuple(tuple(arc) for arc in arcs.split())


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("", "expected 'digraph' or 'graph', got 'the end'", 1, 1),
        ("dag { a }", "got 'dag'", 1, 1),
        ("digraph {\n  a -> ;\n}", "expected a node, got ';'", 2, 8),
        ("digraph {\n  a -- b\n}", "arrows of this kind of graph are '->'", 2, 5),
        ("graph { a -> b }", "arrows of this kind of graph are '--'", 1, 11),
        ("digraph { a", "expected a node, got 'the end'", 1, 12),
        ("digraph { a } b", "expected one graph, got 'b' after it", 1, 15),
        ('digraph { "a }', "quoted string does not end", 1, 11),
        ("digraph { a /* }", "comment does not end", 1, 13),
        ("digraph { a [label=<b] }", "HTML-like string does not end", 1, 20),
        ("digraph { <b>a</b> }", "expected a node, got '<b>'", 1, 11),
        ("digraph { 1a }", "unexpected '1'", 1, 11),
        ("digraph { a -> b [dir=both] }", "dir=both", 1, 11),
        ("digraph { edge [dir=back] a -> b }", "dir=back", 1, 27),
        ("digraph { a [b=] }", "a value", 1, 16),
        ("digraph { a [=] }", "an attribute", 1, 14),
        ("digraph { a = }", "a value", 1, 15),
        ("digraph { a: }", "a port", 1, 14),
        ("digraph { node a }", "expected '['", 1, 16),
        ('digraph { "a" + b }', "only quoted strings", 1, 17),
        ("digraph " + "{" * 200, "more than 100 subgraphs", 1, 111),
    ],
)
def test_broken_dot_is_refused_with_its_place(text, message, line, column):
    with pytest.raises(FormatError) as caught:
        DAG.from_dot(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_undirected_edges_in_dot_make_a_cpdag_but_not_a_dag():
    for text in (
        "digraph { a -> b; b -> c [dir=none] }",
        "digraph { a -> b; subgraph { edge [dir=none]; b -> c } }",
    ):
        assert CPDAG.from_dot(text) == CPDAG(["a", "b", "c"], [("a", "b")], [("b", "c")])
        with pytest.raises(GraphError, match="not a DAG: 'b' and 'c' are joined by an undirected edge"):
            DAG.from_dot(text)
    assert CPDAG.from_dot("graph { a -- b }") == CPDAG(["a", "b"], edges=[("a", "b")])


def test_default_attributes_end_with_their_subgraph():
    graph = CPDAG.from_dot("digraph { { edge [dir=none]; a -> b } b -> c }")
    assert graph.arcs == (("b", "c"),)


def test_a_cycle_in_dot_is_a_cycle():
    with pytest.raises(CycleError, match="a -> b -> a"):
        DAG.from_dot("digraph { a -> b -> a }")


# Model strings.


@quick
@given(renamed_dags(names.filter(lambda name: not set("[]|:") & set(name))))
def test_model_strings_round_trip(dag):
    read = DAG.from_modelstring(dag.to_modelstring())
    assert read == dag
    assert read.reordered(dag.nodes).nodes == dag.nodes


def test_model_strings_list_nodes_by_depth_and_parents_in_node_order():
    dag = DAG(["C", "B", "A", "D"], [("A", "B"), ("B", "C"), ("A", "C")])
    assert dag.to_modelstring() == "[A][D][B|A][C|B:A]"
    assert DAG([]).to_modelstring() == ""
    assert DAG.from_modelstring("").nodes == ()


@pytest.mark.parametrize("name", ["a[b", "a]b", "a|b", "a:b"])
def test_names_that_a_model_string_cannot_hold_are_refused(name):
    with pytest.raises(GraphError, match="model string cannot hold the node"):
        DAG(["x", name]).to_modelstring()


def test_model_strings_may_span_lines():
    assert DAG.from_modelstring(" [A]\n [my node|A]\n").arcs == (("A", "my node"),)


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("A", "a node must be written", 1, 1),
        ("[A][B", "a node must be written", 1, 4),
        ("[A]\n[B|]", "cannot read '[B|]'", 2, 1),
        ("[A][]", "cannot read '[]'", 1, 4),
        ("[A][B|A:]", "cannot read", 1, 4),
        ("[A][B|A|C]", "cannot read", 1, 4),
        ("[A:B]", "cannot read", 1, 1),
        ("[A][[B]", "cannot read", 1, 4),
        ("[A][A]", "repeats a node", 1, 4),
        ("[A][B|A:A]", "repeats a node", 1, 4),
        ("[A][B|C]", "the parent 'C' of 'B' is not in brackets itself", 1, 4),
        ("[A],[B]", "a node must be written", 1, 4),
    ],
)
def test_broken_model_strings_are_refused_with_their_place(text, message, line, column):
    with pytest.raises(FormatError) as caught:
        DAG.from_modelstring(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_cycle_in_a_model_string_is_a_cycle():
    with pytest.raises(CycleError, match="A -> B -> A"):
        DAG.from_modelstring("[A|B][B|A]")


# Adjacency matrices.


@quick
@given(naive.dags())
def test_adjacency_matrices_round_trip(dag):
    matrix = dag.to_adjacency()
    assert matrix.shape == (len(dag.nodes), len(dag.nodes))
    assert matrix.dtype == np.int8
    assert {(dag.nodes[i], dag.nodes[j]) for i, j in np.argwhere(matrix)} == set(dag.arcs)
    for kind in (bool, np.int64, float):
        if dag.nodes:
            check_same(DAG.from_adjacency(matrix.astype(kind), dag.nodes), dag)


def test_an_adjacency_matrix_names_its_nodes_if_nobody_else_does():
    assert DAG.from_adjacency([[0, 1], [0, 0]]).arcs == (("X1", "X2"),)


@pytest.mark.parametrize(
    ("matrix", "nodes", "message"),
    [
        ([[0, 1]], None, r"square, got shape \(1, 2\)"),
        ([[0, 1], [0]], None, "rows of different lengths"),
        (3, None, "square"),
        ([[0, 1], [0, 0]], ["A"], "of 2 nodes needs as many names, got 1"),
        ([[0, 0.5], [0, 0]], None, "got 0.5 for 'X1' -> 'X2'; a matrix of weights"),
        ([[0, np.nan], [0, 0]], None, "got nan"),
        ([["0", "1"], ["0", "0"]], None, "only 0 and 1"),
        ([[1]], None, "X1 -> X1"),
        ([[0, 1], [1, 0]], None, "X1 -> X2 -> X1"),
    ],
)
def test_matrices_that_are_no_dag_are_refused(matrix, nodes, message):
    with pytest.raises(GraphError, match=message):
        DAG.from_adjacency(matrix, nodes)


# networkx and arcs.


@quick
@given(renamed_dags())
def test_networkx_round_trips(dag):
    graph = dag.to_networkx()
    assert isinstance(graph, nx.DiGraph)
    check_same(DAG.from_networkx(graph), dag)


def test_networkx_graphs_of_other_kinds():
    assert DAG.from_networkx(nx.MultiDiGraph([(1, 2), (1, 2)])).arcs == (("1", "2"),)
    with pytest.raises(GraphError, match="undirected"):
        DAG.from_networkx(nx.Graph([(1, 2)]))
    with pytest.raises(GraphError, match="'1' twice"):
        DAG.from_networkx(nx.DiGraph([(1, "1")]))


def test_without_networkx_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match="pip install networkx"):
        DAG(["A"]).to_networkx()


def test_arcs_alone_make_a_graph():
    assert DAG.from_arcs(iter([("B", "A"), ("A", "C")])).nodes == ("B", "A", "C")
    assert DAG.from_arcs([("B", "A")], nodes=["A", "B", "C"]).nodes == ("A", "B", "C")
    with pytest.raises(GraphError, match="pair"):
        DAG.from_arcs(["AB"])
    with pytest.raises(GraphError, match="unknown node 'B'"):
        DAG.from_arcs([("B", "A")], nodes=["A"])
