"""The bundled networks are what the catalogue says."""

import re
from importlib.resources import files

import pytest

from golden_data import figures
from mapdag.errors import ParameterError
from mapdag.graphs import DAG
from mapdag.reference import catalogue, network

NAMES = [entry.name for entry in catalogue()]


@pytest.mark.parametrize("entry", catalogue(), ids=NAMES)
def test_the_catalogue_has_the_size_of_every_network(entry):
    net = network(entry.name)
    assert (len(net.nodes), net.dag.n_arcs, net.n_parameters) == (entry.nodes, entry.arcs, entry.parameters)
    assert re.search(r"\(\d{4}\)|Microsoft Research", entry.citation)
    assert "bnlearn.com" in entry.source


def test_every_file_is_in_the_catalogue_and_the_other_way_round():
    data = files("mapdag.reference") / "data"
    assert sorted(f.name for f in data.iterdir() if f.name.endswith(".gz")) == [f"{name}.bif.gz" for name in NAMES]
    assert sorted(NAMES) == NAMES
    assert len(NAMES) == 24


@pytest.mark.parametrize("name", ["alarm", "asia", "child", "insurance", "sachs", "water"])
def test_graphs_and_node_orders_are_those_of_bnlearn(name):
    golden = figures(f"true_{name}")
    net = network(name)
    assert list(net.nodes) == golden["nodes"]
    assert net.dag == DAG(golden["nodes"], map(tuple, golden["arcs"]))
    assert {node: list(labels) for node, labels in net.levels.items()} == figures(f"{name}.levels")


def test_differences_from_the_paper_are_noted():
    notes = {entry.name: entry.note for entry in catalogue() if entry.note and "munin" not in entry.name}
    assert set(notes) == {"insurance", "pathfinder", "pigs"}
    assert "984 parameters" in notes["insurance"]
    assert "135 nodes, 200 arcs and 77155 parameters" in notes["pathfinder"]
    assert "442 nodes" in notes["pigs"]


def test_names_may_be_in_any_case_and_networks_are_loaded_once():
    assert network("Alarm") is network("alarm")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("alram", "there is no network 'alram'; did you mean 'alarm'"),
        ("zzz", "there are alarm, andes, asia, .*win95pts"),
        (3, "there is no network 3"),
    ],
)
def test_an_unknown_name_gets_suggestions(name, message):
    with pytest.raises(ParameterError, match=message):
        network(name)
