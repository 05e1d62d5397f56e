"""Networks and graphs in every other format, and finding out which one a file has."""

import gzip
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import CapacityError, FormatError, ParameterError
from mapdag.io import arclists as arcs_table
from mapdag.io import read_arcs, read_graph, read_network, schema, to_bif, write_graph, write_network
from mapdag.networks import BayesianNetwork
from mapdag.reference import catalogue, network
from naive_networks import networks

pytestmark = pytest.mark.filterwarnings("ignore:other programs cannot read some names and labels")
GRAPH = md.DAG(["B", "A", "C", "D"], [("A", "B"), ("C", "B")])
ODD = md.DAG(["a b", 'say "x"', "ü,ö", "c\\d"], [("a b", "ü,ö"), ('say "x"', "a b")])
NETWORK = json.loads(schema.network_to_json(network("cancer")))


@pytest.mark.parametrize(
    "dag", [GRAPH, ODD, md.DAG(["lonely"]), network("alarm").dag], ids=["small", "odd", "one", "alarm"]
)
@pytest.mark.parametrize("name", ["g.json", "g.dot", "g.gv", "g.txt", "g.csv", "g.csv.gz", "g.modelstring"])
def test_graphs_come_back_from_every_format(dag, name, tmp_path):
    path = tmp_path / name
    write_graph(dag, path)
    assert read_graph(path) == dag
    if "txt" not in name and "modelstring" not in name:  # which list nodes by depth
        assert read_graph(path).nodes == dag.nodes
    unnamed = tmp_path / "unnamed"
    unnamed.write_bytes(path.read_bytes())
    assert read_graph(unnamed) == dag


ENDINGS = ["bif", "json", "xmlbif", "bifxml", "xml", "net", "xdsl", "uai"]


@pytest.mark.parametrize("name", [f"n.{ending}{more}" for ending in ENDINGS for more in ("", ".gz")])
def test_networks_come_back_from_every_format(name, tmp_path):
    net = network("child")
    path = tmp_path / name
    write_network(net, path)
    assert read_network(path) == net
    assert read_network(str(path)).nodes == net.nodes
    assert read_graph(path) == net.dag
    unnamed = tmp_path / "unnamed"
    unnamed.write_bytes(path.read_bytes())
    assert read_network(unnamed) == net
    with path.open("rb") as stream:
        assert read_network(stream) == net
    text = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    assert read_network(io.StringIO(text.decode())) == net


def test_a_network_writes_itself(tmp_path):
    net = network("asia")
    net.write(tmp_path / "asia.bif")
    net.write(tmp_path / "asia.dat", format="json")
    assert read_network(tmp_path / "asia.bif") == read_network(tmp_path / "asia.dat") == net


@given(networks())
def test_networks_come_back_from_json_to_the_last_bit(net):
    back = schema.network_from_json(schema.network_to_json(net))
    assert back == net
    assert back.nodes == net.nodes


@pytest.mark.parametrize("name", [entry.name for entry in catalogue() if entry.parameters < 20_000])
def test_bundled_networks_come_back_from_json_to_the_last_bit(name):
    net = network(name)
    assert schema.network_from_json(schema.network_to_json(net)) == net


def test_undefined_rows_are_null_in_json():
    table = [[math.nan] * 2, [0.5, 0.5]]
    dag = md.DAG(["a", "b"], [("a", "b")])
    net = BayesianNetwork(dag, {"a": 2, "b": 2}, {"a": [0.5, 0.5], "b": table}, allow_undefined=True)
    text = schema.network_to_json(net)
    assert json.loads(text)["nodes"][1]["probabilities"] == [None, [0.5, 0.5]]
    assert schema.network_from_json(text) == net


def test_parents_in_json_may_come_in_any_order():
    net = network("asia")
    content = json.loads(schema.network_to_json(net))
    dysp = next(node for node in content["nodes"] if node["name"] == "dysp")
    dysp["parents"].reverse()
    dysp["probabilities"] = np.array(dysp["probabilities"])[[0, 2, 1, 3]].tolist()
    assert schema.network_from_json(json.dumps(content)) == net


def changed(**changes):
    return json.dumps({**NETWORK, **changes})


def with_node(**changes):
    return changed(nodes=[{**NETWORK["nodes"][0], **changes}, *NETWORK["nodes"][1:]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": ', "line 1, column 12: not JSON: Expecting value"),
        ("[1]", "neither a network nor a graph"),
        ("{}", "neither a network nor a graph"),
        ("[" * 100_000, "too many brackets|not JSON"),
        (changed(version=3), "version 3 of the format; this mapdag reads up to 2"),
        (changed(version=None), "version None"),
        (changed(nodes=3), '"nodes" must be a list of objects, got 3'),
        (with_node(name=1), '"name" of every node must be a string, got 1'),
        (with_node(levels="ab"), '"levels" must be a list of strings'),
        (with_node(parents=["nobody"]), "unknown node 'nobody'"),
        (with_node(parents=["Cancer"], probabilities=[[0.5, 0.5]] * 2), "cycle"),
        (with_node(probabilities=[[0.5, 0.5]] * 2), "'Pollution' must have 1 rows, one per configuration, got 2"),
        (with_node(probabilities=[[0.5]]), "a row of 'Pollution' must be 2 numbers"),
        (with_node(probabilities=[[0.5, "x"]]), "a row of 'Pollution' must be 2 numbers"),
        (with_node(probabilities=[[0.5, 0.4]]), r"'Pollution' has probabilities that sum to 0\.9"),
        (with_node(levels=["x", "x"]), "more than once"),
        (schema.graph_to_json(GRAPH), "a graph without probabilities"),
    ],
)
def test_broken_json_is_named(text, message):
    with pytest.raises(FormatError, match=message):
        schema.network_from_json(text, "net.json")


def test_tables_too_large_for_memory_are_refused():
    names = [f"n{i}" for i in range(80)]
    nodes = [
        {"name": n, "levels": ["x"], "parents": names[1:] if n == "n0" else [], "probabilities": [[1]]} for n in names
    ]
    with pytest.raises(CapacityError, match="79 parents"):
        schema.network_from_json(changed(nodes=nodes))


def test_a_newer_library_may_add_keys():
    assert schema.network_from_json(changed(comment="new")) == network("cancer")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "mapdag-graph", "version": 1, "nodes": ["a"], "arcs": [["a"]]}', "an arc must be"),
        ('{"format": "mapdag-graph", "version": 1, "nodes": ["a"], "arcs": [["a", "b"]]}', "unknown node 'b'"),
        ('{"format": "mapdag-graph", "version": 1, "nodes": ["a"]}', '"arcs" must be a list of pairs'),
        ("digraph {\n a -> b -> \n}", r"the data, line 3, column 1: expected a node"),
        ("digraph { a -> b -> a }\n", "the data: .*cycle"),
        ("digraph { a -> b [dir=none] }\n", "undirected edge"),
        ("[A][B|C]\n", "the data, line 1, column 4: the parent 'C'"),
        ("[A|B][B|A]\n", "cycle: A -> B -> A"),
        ("from,to\nA,B\n,C\n", "line 3: expected a node in 'from'"),
        ("from,to\nA,B,C\n", "line 2: expected a node in 'from'"),
        ("from,to\nA,B\nB,A\n", "cycle"),
        ("from,to\nA,A\n", "line 2: 'A' cannot be joined to itself"),
        (
            "a,b\n1,2\n",
            "none of the formats bif, json, xmlbif, net, xdsl, uai, dot, modelstring, csv: it starts with 'a,b'",
        ),
        ("<graphml>\n", "it starts with '<graphml>'"),
        ("nothing\n", "none of the formats"),
    ],
)
def test_broken_graphs_are_named_with_their_source(text, message):
    with pytest.raises(FormatError, match=message):
        read_graph(text.encode())


def test_tables_of_arcs_may_have_other_columns():
    # As R's write.csv writes bnlearn's arc strengths: with row names.
    text = '"","from","to","strength"\n"1","A","B",0.9\n\n"2","C","",\n'
    assert read_graph(text) == md.DAG(["A", "B", "C"], [("A", "B")])
    assert read_graph(text.replace("\n", "\r\n").encode()).nodes == ("A", "B", "C")


def test_a_table_of_other_things_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(
        FormatError, match=r"data\.csv, line 1: a table of arcs has the columns 'from' and 'to', got x, y"
    ):
        read_graph(path)


@pytest.mark.parametrize("dag", [GRAPH, ODD, md.DAG(["lonely"])], ids=["small", "odd", "one"])
@pytest.mark.parametrize("name", ["g.csv", "g.csv.gz"])
def test_lists_of_arcs_are_read_from_what_we_write(dag, name, tmp_path):
    write_graph(dag, tmp_path / name)
    assert read_arcs(tmp_path / name) == list(dag.arcs)
    assert read_arcs(str(tmp_path / name)) == list(dag.arcs)


def test_lists_of_arcs_need_not_make_a_graph():
    assert read_arcs(b"from,to\nA,B\nB,A\nA,B\n") == [("A", "B"), ("B", "A"), ("A", "B")]


def test_lists_of_arcs_are_read_as_people_write_them():
    text = "From , To, strength\nA , B ,0.5\n\n , \nC,\nD\nan apple,a pear\n"
    assert read_arcs(text) == [("A", "B"), ("an apple", "a pear")]
    assert read_arcs(text.replace("\n", "\r\n").encode("utf-8-sig")) == [("A", "B"), ("an apple", "a pear")]
    assert read_arcs('to,from\n"B ",A\n') == [("A", "B ")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\nA,B\n", "line 1: a table of arcs has the columns 'from' and 'to', got a, b"),
        ("digraph {\n}\n", "line 1: a table of arcs has the columns"),
        ("from,to\nA,B\n,C\n", "line 3: expected a node in 'from'"),
        ("from,to\nA,B,C\n", "line 2: expected a node in 'from'"),
        ("from,to\n\nA,A\n", "line 3: 'A' cannot be joined to itself"),
        ("", "the file is empty"),
    ],
)
def test_broken_lists_of_arcs_are_named_with_their_line(text, message, tmp_path):
    path = tmp_path / "arcs.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=rf"arcs\.csv.*{message}"):
        read_arcs(path)


def test_the_ending_decides_before_the_content(tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(GRAPH.to_dot())
    with pytest.raises(FormatError, match="not JSON"):
        read_graph(path)
    assert read_graph(path, format="dot") == GRAPH


def test_text_files_may_hold_anything(tmp_path):
    path = tmp_path / "asia.txt"
    path.write_text(to_bif(network("asia")))
    assert read_network(path) == network("asia")
    path.write_text("\n# a comment\n" + GRAPH.to_dot())
    assert read_graph(path) == GRAPH


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (
            lambda p: write_network(network("asia"), p / "x"),
            ParameterError,
            "does not tell the format of a network.*bif",
        ),
        (
            lambda p: write_network(network("asia"), p / "x.dot"),
            ParameterError,
            "a network can be written as 'bif', 'json'",
        ),
        (lambda p: write_graph(GRAPH, p / "x.bif"), ParameterError, "a graph can be written as .* not as 'bif'"),
        (lambda p: write_graph(GRAPH, p / "x.png"), ParameterError, "does not tell the format of a graph"),
        (lambda p: read_network("[A][B|A]"), FormatError, r"a graph \(modelstring\) without probabilities"),
        (
            lambda p: read_network(b"x", format="dot"),
            ParameterError,
            "format must be one of 'bif', 'json', .* got 'dot'",
        ),
        (lambda p: read_graph(b"x", format="xml"), ParameterError, "format must be one of"),
        (lambda p: read_network(3), ParameterError, "a path, bytes or an open file, got int"),
    ],
)
def test_wrong_formats_are_named(act, error, message, tmp_path):
    with pytest.raises(error, match=message):
        act(tmp_path)


names = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1)


@given(st.lists(names, min_size=1, max_size=5, unique=True), st.data())
def test_any_printable_names_survive_json_dot_and_csv(nodes, data):
    arcs = [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :] if data.draw(st.booleans())]
    dag = md.DAG(nodes, arcs)
    assert schema.graph_from_json(schema.graph_to_json(dag)) == dag
    assert read_graph((dag.to_dot() + "\n").encode(), format="dot") == dag
    back = arcs_table.from_arcs(arcs_table.to_arcs(dag))
    assert back == dag
    assert back.nodes == dag.nodes


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "net", "uai", "xdsl", "json"])
@pytest.mark.parametrize("blank", ["\u00a0", "\u2003", "\u3000", "\u2028", "\x85", "\x1f"])
def test_blanks_of_unicode_at_the_ends_of_names_and_labels_come_back(ending, blank, tmp_path):
    net = BayesianNetwork(md.DAG([blank, f"a{blank}"]), {blank: ["a", f"{blank}a"], f"a{blank}": [blank, "b"]}, {
        blank: [0.25, 0.75], f"a{blank}": [0.5, 0.5]})  # fmt: skip
    path = tmp_path / f"net.{ending}"
    write_network(net, path)
    assert read_network(path) == net


@pytest.mark.parametrize("ending", ["bif", "json"])
def test_numbers_of_thousands_of_digits_are_refused(ending, tmp_path):
    path = tmp_path / f"net.{ending}"
    write_network(network("cancer"), path)
    path.write_text(
        path.read_text().replace("[ 2 ]", f"[ {'9' * 5000} ]").replace('"version": 1', f'"version": {"9" * 5000}')
    )
    with pytest.raises(FormatError, match=f"net.{ending}"):
        read_network(path)


def test_six_digits_are_enough(tmp_path):
    """pyAgrum writes so many, and every row of a learned table is then off by some of the last one."""
    path = tmp_path / "net.uai"
    path.write_text("BAYES\n1\n7\n1\n1 0\n7\n" + "0.142857 " * 6 + "0.142855\n")
    assert read_network(path).cpt("X0").sum() == pytest.approx(1, abs=1e-15)
