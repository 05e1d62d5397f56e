"""Equivalence classes, distances and orders agree with R bnlearn (see golden/graphs/README.md)."""

import gzip
import json
from pathlib import Path

import pytest

from mapdag.graphs import CPDAG, DAG, compare, hamming, shd

GOLDEN = json.loads(gzip.decompress((Path(__file__).parent / "golden/graphs/bnlearn.json.gz").read_bytes()))
NETWORKS = GOLDEN["networks"]


def dag_of(network, arcs):
    nodes = NETWORKS[network]["nodes"]
    return DAG(nodes, [(nodes[a], nodes[b]) for a, b in arcs])


def cpdag_of(network, arcs):
    """An undirected edge is listed in both directions."""
    nodes = NETWORKS[network]["nodes"]
    both = {(nodes[a], nodes[b]) for a, b in arcs}
    one_way = {(a, b) for a, b in both if (b, a) not in both}
    return CPDAG(nodes, one_way, both - one_way)


TRUE = {name: dag_of(name, network["arcs"]) for name, network in NETWORKS.items()}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_class_the_v_structures_and_the_moral_graph_of_bnlearn(name):
    network, dag = NETWORKS[name], TRUE[name]
    assert dag.to_cpdag() == cpdag_of(name, network["cpdag_arcs"])
    assert set(dag.moral_edges()) == set(cpdag_of(name, network["moral_arcs"]).edges)
    found = {(min(a, b), child, max(a, b)) for a, child, b in network["vstructs"]}
    assert {tuple(map(dag.nodes.index, triple)) for triple in dag.v_structures()} == found
    assert len(dag.v_structures()) == len(network["vstructs"])


@pytest.mark.parametrize("name", NETWORKS)
def test_model_strings_list_the_nodes_in_the_order_of_bnlearn(name):
    dag = TRUE[name]
    assert list(DAG.from_modelstring(dag.to_modelstring()).nodes) == NETWORKS[name]["topological"]
    order = {node: i for i, node in enumerate(dag.topological_order())}
    assert all(order[a] < order[b] for a, b in dag.arcs)


@pytest.mark.parametrize("golden", GOLDEN["graphs"], ids=lambda golden: golden["name"])
def test_graphs_are_as_far_from_their_network_as_in_bnlearn(golden):
    target, current = TRUE[golden["network"]], dag_of(golden["network"], golden["arcs"])
    result = compare(target, current)
    assert result.shd == shd(target, current) == golden["shd"]
    assert result.hamming == hamming(target, current) == golden["hamming"]
    assert counts(result) == golden["tp_fp_fn"]
    if "cpdag_arcs" in golden:
        assert current.to_cpdag() == cpdag_of(golden["network"], golden["cpdag_arcs"])
        assert counts(compare(target.to_cpdag(), current.to_cpdag())) == golden["cpdag_tp_fp_fn"]


def counts(result):
    return [result.true_positives, result.false_positives, result.false_negatives]
