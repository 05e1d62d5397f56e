"""Equivalence classes, distances and orders agree with R bnlearn (see golden/README.md)."""

import pytest

from golden_data import SETS, figures
from mapdag.graphs import CPDAG, DAG, compare, hamming, shd

NETWORKS = sorted({name.split("_")[0] for name in SETS})


def truth(name):
    golden = figures(f"true_{name.split('_')[0]}")
    return DAG(golden["nodes"], map(tuple, golden["arcs"]))


def cpdag_of(nodes, arcs):
    """An undirected edge is listed in both directions."""
    both = set(map(tuple, arcs))
    one_way = {(a, b) for a, b in both if (b, a) not in both}
    return CPDAG(nodes, one_way, both - one_way)


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_class_the_v_structures_and_the_moral_graph_of_bnlearn(name):
    golden, dag = figures(f"true_{name}"), truth(name)
    assert dag.to_cpdag() == cpdag_of(dag.nodes, golden["cpdag_arcs"])
    assert set(dag.moral_edges()) == set(cpdag_of(dag.nodes, golden["moral_arcs"]).edges)
    found = [(frozenset((a, b)), child) for a, child, b in dag.v_structures()]
    expected = [(frozenset((a, b)), child) for a, child, b in golden["vstructs"]]
    assert set(found) == set(expected)
    assert len(found) == len(expected)


@pytest.mark.parametrize("name", NETWORKS)
def test_model_strings_list_the_nodes_in_the_order_of_bnlearn(name):
    dag = truth(name)
    assert list(DAG.from_modelstring(dag.to_modelstring()).nodes) == figures(f"true_{name}")["topological"]
    order = {node: i for i, node in enumerate(dag.topological_order())}
    assert all(order[a] < order[b] for a, b in dag.arcs)


def counts(result):
    return {"tp": result.true_positives, "fp": result.false_positives, "fn": result.false_negatives}


def check(target, current, shd_expected, hamming_expected, compared):
    result = compare(target, current)
    assert result.shd == shd(target, current) == shd_expected
    assert result.hamming == hamming(target, current) == hamming_expected
    assert counts(result) == compared


@pytest.mark.parametrize("name", SETS)
def test_graphs_are_as_far_from_their_network_as_in_bnlearn(name):
    target = truth(name)
    for golden in figures(f"scores_{name}")["dags"].values():
        current = DAG(target.nodes, map(tuple, golden["arcs"]))
        check(target, current, golden["shd_true"], golden["hamming_true"], golden["compare_true_tp_fp_fn"])


@pytest.mark.parametrize("name", SETS)
def test_learned_graphs_have_the_class_of_bnlearn(name):
    target = truth(name)
    for golden in figures(f"hc_{name}")["hc"].values():
        if "error" in golden:
            continue
        current = DAG(target.nodes, map(tuple, golden["arcs"]))
        check(target, current, golden["shd"], golden["hamming"], golden["compare_tp_fp_fn"])
        assert current.to_cpdag() == cpdag_of(target.nodes, golden["cpdag_arcs"])
        assert counts(compare(target.to_cpdag(), current.to_cpdag())) == golden["compare_cpdag_tp_fp_fn"]
