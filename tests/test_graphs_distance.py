"""Distances count what they say they count, whatever the node order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_graphs as naive
from mapdag.errors import GraphError
from mapdag.graphs import CPDAG, DAG, Comparison, compare, hamming, shd

quick = settings(deadline=None, max_examples=100)
CHAIN = DAG.from_modelstring("[A][B|A][C|B]")
COLLIDER = DAG.from_modelstring("[A][C][B|A:C]")
EMPTY = DAG(["A", "B", "C"])


@quick
@given(naive.dag_pairs())
def test_shd_counts_the_pairs_that_the_two_classes_join_differently(pair):
    first, second = pair
    a, b = first.to_cpdag(), second.to_cpdag()
    expected = naive.shd(first.nodes, (a.arcs, a.edges), (b.arcs, b.edges))
    assert shd(first, second) == shd(second, first) == shd(a, second) == shd(a, b) == expected
    assert (expected == 0) == (a == b)


@quick
@given(naive.dag_pairs())
def test_hamming_counts_the_pairs_that_only_one_graph_joins(pair):
    first, second = pair
    expected = len(naive.skeleton(first.arcs) ^ naive.skeleton(second.arcs))
    assert hamming(first, second) == hamming(second.to_cpdag(), first) == expected
    assert expected <= shd(first, second)


@quick
@given(naive.dag_pairs())
def test_compare_counts_arcs_as_they_are(pair):
    target, current = pair
    wanted, found = set(target.arcs), set(current.arcs)
    result = compare(target, current)
    assert result.true_positives == len(wanted & found)
    assert result.false_positives == len(found - wanted)
    assert result.false_negatives == len(wanted - found)
    assert result.reversed == len(wanted & {(b, a) for a, b in found})
    wanted, found = naive.skeleton(wanted), naive.skeleton(found)
    assert result.skeleton_true_positives == len(wanted & found)
    assert result.skeleton_false_positives == len(found - wanted)
    assert result.skeleton_false_negatives == len(wanted - found)
    assert result.shd == shd(target, current)
    assert result.hamming == hamming(target, current)
    assert result.skeleton_true_positives >= result.true_positives + result.reversed


@quick
@given(naive.dag_pairs())
def test_compare_of_classes_counts_each_edge_once(pair):
    target, current = (dag.to_cpdag() for dag in pair)
    wanted = {*target.arcs, *map(frozenset, target.edges)}
    found = {*current.arcs, *map(frozenset, current.edges)}
    result = compare(target, current)
    assert result.true_positives == len(wanted & found)
    assert result.false_positives == len(found - wanted)
    assert result.false_negatives == len(wanted - found)


@quick
@given(naive.dags())
def test_a_graph_is_at_no_distance_from_itself(dag):
    result = compare(dag, dag)
    assert (result.shd, result.hamming, result.false_positives, result.false_negatives) == (0, 0, 0, 0)
    assert result.precision == result.recall == result.f1 == result.skeleton_f1 == 1.0


def test_equivalent_graphs_have_distance_zero():
    assert shd(CHAIN, DAG.from_modelstring("[C][B|C][A|B]")) == 0
    assert shd(CHAIN, COLLIDER) == 2


def test_a_reversal_costs_one():
    forward = CPDAG(["A", "B", "C", "D"], [("A", "B"), ("C", "B")], [("C", "D")])
    backward = CPDAG(["A", "B", "C", "D"], [("B", "A"), ("C", "B")], [("C", "D")])
    assert shd(forward, backward) == 1
    assert compare(forward, backward).reversed == 1


@quick
@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(right, extra, missing):
    result = Comparison(right, extra, missing, right, extra, missing, 0, 0)
    precision, recall = result.precision, result.recall
    if right:
        assert precision == right / (right + extra)
        assert recall == right / (right + missing)
        assert result.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert (precision, recall, result.f1) == (
        result.skeleton_precision,
        result.skeleton_recall,
        result.skeleton_f1,
    )


@pytest.mark.parametrize(
    ("target", "current", "expected"),
    [
        pytest.param(EMPTY, EMPTY, (1.0, 1.0, 1.0), id="nothing to find, nothing found"),
        pytest.param(CHAIN, EMPTY, (0.0, 0.0, 0.0), id="nothing found"),
        pytest.param(EMPTY, CHAIN, (0.0, 0.0, 0.0), id="nothing to find"),
    ],
)
def test_zero_over_zero_is_one_only_if_there_was_nothing_to_find_and_nothing_was_found(target, current, expected):
    result = compare(target, current)
    assert (result.precision, result.recall, result.f1) == expected
    assert (result.skeleton_precision, result.skeleton_recall, result.skeleton_f1) == expected


@pytest.mark.parametrize("function", [shd, hamming, compare])
def test_other_node_names_are_refused_and_named(function):
    first = DAG([*(f"V{i}" for i in range(8)), "A"])
    with pytest.raises(GraphError) as caught:
        function(first, DAG(["A", "B"]))
    assert str(caught.value) == (
        "the node names differ; only in the first graph: 'V0', 'V1', 'V2', 'V3', 'V4' and 3 more; "
        "only in the second: 'B'"
    )


def test_a_comparison_prints_as_an_aligned_table():
    lines = str(compare(CHAIN, COLLIDER)).splitlines()
    assert len({len(line) for line in lines[:3]}) == 1
    assert lines[1].split() == ["arcs", "1", "0.500", "0.500", "0.500"]
    assert lines[2].split() == ["skeleton", "2", "1.000", "1.000", "1.000"]
    assert lines[3] == "missing 0 (in the target only), extra 0, reversed 1; SHD 2, Hamming 0"


@quick
@given(naive.dag_pairs())
def test_missing_and_extra_are_said_of_the_first_graph_everywhere(graphs):
    from mapdag.report.comparison import pairs

    target, current = graphs
    found, status = compare(target, current), [pair.arcs.status for pair in pairs(target, current)]
    assert (found.missing, found.extra) == (status.count("missing"), status.count("extra"))
    assert found.reversed == status.count("reversed")
    assert found.missing + found.reversed == found.false_negatives
    assert found.extra + found.reversed == found.false_positives
    back = compare(current, target)
    assert (back.missing, back.extra) == (found.extra, found.missing)
    assert f"missing {found.missing} (in the target only), extra {found.extra}, reversed" in str(found)
