"""BIF as we and other programs write it, and what is said about files that are broken."""

import contextlib
import gzip
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.data import Coding
from mapdag.errors import CapacityError, FormatError, MapdagError, MapdagWarning, NetworkError
from mapdag.io import read_bif, read_network, to_bif, write_network
from mapdag.networks import BayesianNetwork
from mapdag.reference import catalogue, network
from naive_networks import networks

pytestmark = pytest.mark.filterwarnings("ignore:other programs cannot read some names and labels")
FILES = Path(__file__).parent / "bif"

SMALL = """network unknown {
}
variable A {
  type discrete [ 2 ] { a0, a1 };
}
variable B {
  type discrete [ 3 ] { b0, b1, b2 };
}
variable C {
  type discrete [ 2 ] { c0, c1 };
}
probability ( A ) {
  table 0.3, 0.7;
}
probability ( B ) {
  table 0.1, 0.2, 0.7;
}
probability ( C | B, A ) {
  (b0, a0) 0.01, 0.99;
  (b1, a0) 0.02, 0.98;
  (b2, a0) 0.03, 0.97;
  (b0, a1) 0.04, 0.96;
  (b1, a1) 0.05, 0.95;
  (b2, a1) 0.06, 0.94;
}
"""
TABLE = SMALL.split("  (b0, a0)", maxsplit=1)[0] + (
    "  table 0.01, 0.04, 0.02, 0.05, 0.03, 0.06, 0.99, 0.96, 0.98, 0.95, 0.97, 0.94;\n}\n"
)


def replace(old, new):
    assert SMALL.count(old) == 1
    return SMALL.replace(old, new)


def rows(net, node):
    return net.cpt(node).reshape(-1, len(net.levels[node])).tolist()


# Writing and reading back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [entry.name for entry in catalogue()])
def test_bundled_networks_come_back_to_the_last_bit(name):
    net = network(name)
    back = read_bif(to_bif(net))
    assert back.nodes == net.nodes
    assert dict(back.levels) == dict(net.levels)
    assert all(np.array_equal(back.cpt(node), net.cpt(node)) for node in net.nodes)


@given(networks())
def test_random_networks_come_back_to_the_last_bit(net):
    assert read_bif(to_bif(net)) == net


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(
    [
        "table",
        "Table",
        "table1",
        "default.payment",
        "(0,1]",
        "(-inf,0]",
        "x",
        "X",
        "18.0",
        "18",
        "-5",
        "a b",
        "a_b",
        "ß",
    ]
)


@given(st.lists(names, min_size=2, max_size=4, unique=True), st.lists(names, min_size=1, max_size=4, unique=True))
@settings(max_examples=200)
def test_any_names_and_labels_come_back(nodes, labels):
    dag = md.DAG(nodes, [(nodes[0], node) for node in nodes[1:]])
    r = len(labels)
    cpts = {node: np.full((r,) * (1 + (node != nodes[0])), 1 / r) for node in nodes}
    net = BayesianNetwork(dag, dict.fromkeys(nodes, labels), cpts, tolerance=0.1)
    back = read_bif(to_bif(net))
    assert back == net
    assert back.nodes == net.nodes


@pytest.mark.parametrize(
    ("text", "as_name", "as_label"),
    [
        ("simple_1", "simple_1", "simple_1"),
        ("Sepal.Length", "Sepal.Length", "Sepal.Length"),
        ("1", "x1", "1"),
        ("-5", "x-5", "-5"),
        ("18.0", "x18.0", "x18.0"),
        ("0-3_days", "x0-3_days", "x0-3_days"),
        ("<7.5", "lt_7.5", "lt_7.5"),
        (">= 50 %", "ge_50_percent", "ge_50_percent"),
        ("Asy/Patch", "Asy_Patch", "Asy_Patch"),
        ("größe", "grosse", "grosse"),
        ("年", "node1", "level1"),
        ("a b", "a_b", "a_b"),
        ("(0,1]", "gt_0_le_1", "gt_0_le_1"),
        ("[-2.5,1]", "ge_-2.5_le_1", "ge_-2.5_le_1"),
        ("(-inf,40]", "le_40", "le_40"),
        ("(60,inf)", "gt_60", "gt_60"),
        ('5"', "x5", "5"),
        ("http://x", "http_x", "http_x"),
        ("a\nb", "a_b", "a_b"),
        ("{", "node1", "level1"),
        ("table", "xtable", "xtable"),
        ("default.payment", "default_payment", "default.payment"),
        ("table1", "table_1", "table1"),
        ("x" * 99 + "!", "x" * 60, "x" * 60),
    ],
)
def test_names_and_labels_become_what_others_read(text, as_name, as_label):
    net = BayesianNetwork(md.DAG([text]), {text: [text, "other"]}, {text: [0.25, 0.75]})
    written = to_bif(net)
    assert f"variable {as_name} {{" in written
    assert f"{{ {as_label}, other }};" in written
    assert written.isascii()
    assert read_bif(written) == net


def test_what_fits_stays_and_no_two_become_one():
    nodes = ["a b", "a_b", "a-b", "A_B", "a,b"]
    labels = ["x y", "x_y", "X_y", "x,y", "18.0", "x18.0"]
    cpts = {node: [1 / 6] * 6 for node in nodes}
    net = BayesianNetwork(md.DAG(nodes), dict.fromkeys(nodes, labels), cpts)
    text = to_bif(net)
    assert re.findall(r"variable (\S+)", text) == ["a_b_2", "a_b", "a-b", "A_B_3", "a_b_4"]
    assert "{ x_y_2, x_y, X_y, x_y_3, x18.0_2, x18.0 }" in text
    assert read_bif(text) == net


def test_one_warning_says_what_was_changed_and_none_where_nothing_was():
    net = BayesianNetwork(md.DAG(["a b"]), {"a b": ["(0,1]", "(1,2]"]}, {"a b": [0.25, 0.75]})
    with pytest.warns(MapdagWarning, match="in BIF: 'a b' became a_b, .*; mapdag reads the originals back") as caught:
        to_bif(net)
    assert len(caught) == 1
    assert "in all" not in str(caught[0].message)
    more = BayesianNetwork(md.DAG(["a b"]), {"a b": ["x y", "x,y", "x|y"]}, {"a b": [0.25, 0.5, 0.25]})
    with pytest.warns(MapdagWarning, match=r"'x,y' became x_y_2, and so on \(4 in all\); mapdag reads"):
        to_bif(more)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "mapdag" not in to_bif(network("asia"))


def test_what_levels_stand_for_comes_back():
    codings = {"age": Coding("integer", (-np.inf, 40.0, np.inf)), "smokes": Coding("boolean"), "n": Coding("float")}
    levels = {"age": ["(-inf,40]", "(40,inf)", "NA"], "smokes": ["False", "True"], "n": ["0.5", "1"]}
    cpts = {node: np.full(len(labels), 1 / len(labels)) for node, labels in levels.items()}
    net = BayesianNetwork(md.DAG(list(levels)), levels, cpts, codings=codings)
    back = read_bif(to_bif(net))
    assert back == net
    assert back.codings == codings


def test_a_program_that_drops_comments_leaves_a_network_with_other_labels():
    net = BayesianNetwork(md.DAG(["a b"]), {"a b": ["(0,1]", "(1,2]"]}, {"a b": [0.25, 0.75]})
    without = re.sub("//.*", "", to_bif(net))
    assert read_bif(without).levels == {"a_b": ("gt_0_le_1", "gt_1_le_2")}


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ("mapdag: {", "a comment that mapdag wrote is damaged"),
        ("mapdag: [1]", "damaged"),
        ('mapdag: {"variable": 1}', "damaged"),
        ('mapdag: {"variable": "A", "levels": {"a0": 3}}', "damaged"),
        ('mapdag: {"variable": "A", "levels": {"zzz": "x"}}', "'A' knows the levels zzz, which it does not have"),
        ('mapdag: {"variable": "A", "levels": {"a0": "a1"}}', "more than once"),
        ('mapdag: {"variable": "A", "name": "B"}', "'B'"),
        ('mapdag: {"variable": "A", "coding": {"type": "date"}}', "\"coding\" of 'A' must have a type"),
        ('mapdag: {"variable": "A", "coding": {"edges": [0, 1, 2, 3]}}', "'A' knows 3 intervals"),
        ("mapdag: " + "[" * 100_000, "damaged"),
    ],
)
def test_notes_that_do_not_fit_the_file_are_errors(note, message):
    with pytest.raises(FormatError, match=message):
        read_bif(SMALL + f"// {note}\n")


def test_notes_about_nobody_and_other_comments_are_skipped():
    more = '// mapdag: {"variable": "Q", "name": "x"}\n// mapdag is a package\n/* mapdag: x */\n'
    assert read_bif(SMALL + more) == read_bif(SMALL)


def test_undefined_probabilities_cannot_be_written():
    undefined = BayesianNetwork(md.DAG(["a"]), {"a": 2}, {"a": [np.nan] * 2}, allow_undefined=True)
    with pytest.raises(NetworkError, match="BIF needs all probabilities"):
        to_bif(undefined)


# Dialects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["asia", "alarm", "sachs"])
def test_files_of_pgmpy_are_read_exactly(name):
    # The order of its variables is its own, and it divides rows by their sums before it writes them.
    net = read_network(FILES / f"pgmpy_{name}.bif")
    expected = network(name)
    assert net.dag == expected.dag
    same = net.reordered(expected.nodes)
    for node in expected.nodes:
        np.testing.assert_allclose(same.cpt(node), expected.cpt(node), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["asia", "alarm", "sachs"])
def test_files_of_pyagrum_are_read_to_single_precision(name):
    net = read_network(FILES / f"pyagrum_{name}.bif")
    expected = network(name)
    assert net.dag == expected.dag
    assert net.nodes == expected.nodes
    assert dict(net.levels) == dict(expected.levels)
    for node in expected.nodes:
        np.testing.assert_allclose(net.cpt(node), expected.cpt(node), rtol=2e-7, atol=1e-9)
        assert net.cpt(node).sum(axis=-1) == pytest.approx(np.ones(net.cpt(node).shape[:-1]), abs=1e-15)


def test_bare_names_with_blanks_are_read():
    net = read_network(FILES / "pgmpy_names.bif")
    assert net.nodes == ("größe-1.é", "my node", "r")
    assert net.levels["my node"] == ("a b", "c/d")
    assert net.probability("r", "1", {"größe-1.é": "5-12", "my node": "c/d"}) == 0.6
    assert read_bif(to_bif(net)) == net


def test_the_dialect_of_javabayes_is_read():
    net = read_network(FILES / "javabayes_dog.bif")
    assert net.nodes == ("light-on", "bowel-problem", "dog-out", "hear-bark", "family-out")
    assert net.parents("dog-out") == ("bowel-problem", "family-out")
    assert net.probability("light-on", "true", {"family-out": "true"}) == 0.6
    # In Charniak's figure 2: P(do | fo bp), P(do | fo not bp), P(do | not fo bp), P(do | not fo not bp).
    cases = [("true", "true", 0.99), ("true", "false", 0.9), ("false", "true", 0.97), ("false", "false", 0.3)]
    for family, bowel, p in cases:
        assert net.probability("dog-out", "true", {"family-out": family, "bowel-problem": bowel}) == p
    assert net.probability("hear-bark", "true", {"dog-out": "false"}) == 0.01


def test_intervals_as_labels_are_read():
    net = read_network(FILES / "bnlearn_intervals.bif")
    assert net.levels["age.group"] == ("[0,18]", "(18,65]", "(65,Inf)")
    assert net.probability("outcome", "yes", {"dose": "(0.5,1]", "age.group": "(65,Inf)"}) == 0.6
    assert read_bif(to_bif(net)) == net


def test_a_table_lists_all_configurations_for_each_level_of_the_node():
    assert read_bif(TABLE) == read_bif(SMALL)
    assert read_bif(SMALL).probability("C", "c0", B="b1", A="a1") == 0.05


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SMALL.replace("network unknown {\n}\n", ""), id="no network block"),
        pytest.param(SMALL.replace("unknown", '"a name { with }"'), id="quoted network name"),
        pytest.param(SMALL.replace("unknown", ""), id="unnamed network"),
        pytest.param(SMALL.replace("unknown {\n", "x {\n property author = nobody;\n"), id="network property"),
        pytest.param(SMALL.replace("  type", '  property "x = (1, 2); y" ;\n  type'), id="property before the type"),
        pytest.param(SMALL.replace("};\n", '};\n  property p = 5";\n'), id="property with a quotation mark"),
        pytest.param(SMALL.replace("  table", "  property here too;\n  table"), id="property of probabilities"),
        pytest.param(SMALL.replace("\n", "\r\n"), id="Windows line ends"),
        pytest.param(SMALL.replace("\n", " "), id="one line"),
        pytest.param("\n\n// comment { \n/* variable A {\n*/" + SMALL + "// end", id="comments"),
        pytest.param(SMALL.replace(", ", "/* , */ , // x\n"), id="comments everywhere"),
        pytest.param(SMALL.replace(", ", " "), id="blanks instead of commas"),
        pytest.param(SMALL.replace(", ", ","), id="no blanks"),
        pytest.param(SMALL.replace("};", "}"), id="no semicolon after levels"),
        pytest.param(SMALL.replace(" | ", " , "), id="no bar"),
        pytest.param(SMALL.replace("[ 2 ]", "").replace("[ 3 ]", ""), id="no number of levels"),
        pytest.param(re.sub(r"\b([ABC]|[abc]\d)\b", r'"\1"', SMALL), id="all quoted"),
        pytest.param(SMALL.replace("variable", "VARIABLE").replace("table", "Table"), id="upper case"),
        pytest.param(SMALL.replace("0.3, 0.7", "3E-1,\t+.7"), id="numbers"),
        pytest.param(SMALL.replace("  (b1, a1) 0.05, 0.95;\n", "  default 0.05, 0.95;\n"), id="default"),
    ],
)
def test_liberties_that_programs_take_make_no_difference(text):
    assert read_bif(text) == read_bif(SMALL)


def test_blocks_and_configurations_may_come_in_any_order():
    blocks = [block + "}\n" for block in SMALL.split("}\n") if block]
    variables = [block for block in blocks if block.startswith("variable")]
    others = [block for block in blocks if not block.startswith("variable")]
    lines = others[-1].splitlines()
    others[-1] = "\n".join([lines[0], *lines[-2:0:-1], lines[-1]])
    assert read_bif("\n".join(others[::-1] + variables)) == read_bif(SMALL)


def test_nodes_are_in_the_order_of_the_variables():
    turned = "".join(re.findall(r"variable.*?;\n}\n", SMALL, re.DOTALL)[::-1]) + SMALL[SMALL.index("probability") :]
    net = read_bif(turned)
    assert net.nodes == ("C", "B", "A")
    assert net.parents("C") == ("B", "A")
    assert net == read_bif(SMALL)


# Broken files -----------------------------------------------------------------------------------------------------

BROKEN = [
    ("undeclared variable", replace("( C | B, A )", "( C | B, X )"), 18, "the variable 'X' is not declared"),
    ("undeclared node", replace("probability ( A )", "probability ( Z )"), 12, "the variable 'Z' is not declared"),
    ("unknown level", replace("(b1, a1)", "(b1, a9)"), 23, "'A' has no level 'a9'; its levels are 'a0', 'a1'"),
    ("too few levels", replace("(b1, a1)", "(b1)"), 23, r"one level for each of the 2 parents \(B, A\), got 1"),
    (
        "too few numbers",
        replace("0.05, 0.95", "0.05"),
        23,
        "expected 2 numbers, one probability for each level of 'C', got 1",
    ),
    ("too many numbers", replace("0.3, 0.7", "0.3, 0.3, 0.4"), 13, "expected 2 numbers.*'A', got 3"),
    ("not a number", replace("0.05, 0.95", "0.05, 0.9x"), 23, "'0.9x' is not a number"),
    ("missing", replace("  (b1, a1) 0.05, 0.95;\n", ""), 18, r"configuration \(b1, a1\) of 'C' is missing"),
    ("twice", replace("(b1, a1)", "(b0, a1)"), 23, r"configuration \(b0, a1\) is given twice"),
    ("sum", replace("0.05, 0.95", "0.05, 0.85"), 23, r"probabilities of 'C' sum to 0\.9 instead of 1.*tolerance"),
    ("negative", replace("0.05, 0.95", "-0.05, 1.05"), 23, "not all between 0 and 1"),
    ("nan", replace("0.05, 0.95", "nan, 0.95"), 23, "not all between 0 and 1"),
    (
        "count",
        replace("type discrete [ 3 ]", "type discrete [ 4 ]"),
        7,
        "declares 4 levels but lists 3; labels with commas",
    ),
    ("level twice", replace("b1, b2 }", "b1, b1 }"), 7, "lists its level 'b1' twice"),
    ("empty level", replace("b0, b1, b2", "b0, , b2"), 7, "empty level"),
    ("no levels", replace("b0, b1, b2", ""), 7, "empty level"),
    ("variable twice", replace("variable C", "variable A"), 9, "the variable 'A' is declared twice"),
    ("probabilities twice", replace("probability ( B )", "probability ( A )"), 15, "expected 2 numbers|given twice"),
    (
        "no probabilities",
        re.sub(r"probability \( B \).*?}\n", "", SMALL, flags=re.DOTALL),
        23,
        "probabilities of 'B' are missing",
    ),
    ("empty block", replace("  table 0.3, 0.7;\n", ""), 12, "the probabilities of 'A' are missing"),
    ("continuous", replace("type discrete [ 3 ]", "type continuous [ 3 ]"), 7, "'B' is continuous; only discrete"),
    ("no type", replace("  type discrete [ 3 ] { b0, b1, b2 };\n", ""), 7, "expected 'type discrete"),
    ("semicolon", replace("(b1, a1) 0.05, 0.95;", "(b1, a1) 0.05, 0.95"), 23, "this entry does not end with ';'"),
    ("table and entries", replace("(b0, a0) 0.01, 0.99;", "table 0.1;"), 19, "has a 'table' and other entries"),
    ("two tables", replace("table 0.3, 0.7;", "table 0.3, 0.7; table 0.3, 0.7;"), 13, "a second 'table'"),
    ("own parent", replace("( C | B, A )", "( C | B, C )"), 18, "'C' occurs twice"),
    ("no node", replace("( C | B, A )", "( )"), 18, "no node between the parentheses"),
    (
        "misspelt",
        replace("variable B", "varible B"),
        6,
        "expected 'network', 'variable' or 'probability', got 'varible B {'",
    ),
    ("comment", SMALL + "/* never closed", 26, "this comment does not end"),
    ("stray text", SMALL + "hello", 26, "got 'hello'"),
]


@pytest.mark.parametrize(("text", "line", "message"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_errors_say_what_is_wrong_and_on_which_line(text, line, message):
    with pytest.raises(FormatError, match=message) as caught:
        read_bif(text, "small.bif")
    assert str(caught.value).startswith("small.bif, line ")
    assert caught.value.line == line
    assert caught.value.column >= 1


def test_the_column_points_at_the_trouble():
    with pytest.raises(FormatError, match=r"small\.bif, line 23, column 18: '0\.9x' is not a number"):
        read_bif(replace("0.05, 0.95", "0.05, 0.9x"), "small.bif")


@pytest.mark.parametrize("cut", range(0, len(SMALL) - 2, 7))
def test_a_file_cut_off_anywhere_is_an_error_with_a_place(cut):
    with pytest.raises(FormatError) as caught:
        read_bif(SMALL[:cut], "small.bif")
    assert caught.value.line is not None


def test_a_file_cut_off_inside_a_block_says_so():
    with pytest.raises(FormatError, match="it seems to be cut off"):
        read_bif(SMALL[: SMALL.index("  (b1, a1)")])


def test_cycles_are_shown():
    text = SMALL.replace("probability ( A ) {\n  table 0.3, 0.7;", "probability ( A | C ) {\n  default 0.3, 0.7;")
    with pytest.raises(FormatError, match="cycle: A -> C -> A"):
        read_bif(text)


def test_rows_that_were_rounded_too_far_are_scaled_on_request():
    text = replace("0.1, 0.2, 0.7", "0.333, 0.333, 0.333")
    with pytest.raises(FormatError, match=r"sum to 0\.999 instead of 1; pass a larger tolerance"):
        read_bif(text)
    assert read_bif(text, tolerance=0.01).cpt("B") == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize(("n", "levels", "entries"), [(30, "x, y", "2,147,483,648"), (70, "x", "2")])
def test_tables_too_large_for_memory_are_refused(n, levels, entries):
    parents = [f"P{i}" for i in range(n)]
    variables = "".join(f"variable {name} {{ type discrete {{ {levels} }}; }}\n" for name in parents)
    variables += "variable C { type discrete { x, y }; }\n"
    with pytest.raises(CapacityError, match=f"'C' has {n} parents and {entries} entries; at most 31 and"):
        read_bif(variables + f"probability ( C | {', '.join(parents)} ) {{ default 0.5, 0.5; }}")


@given(st.data())
@settings(max_examples=300)
def test_no_damage_ends_in_anything_but_an_error_of_ours(data):
    text = data.draw(st.sampled_from([SMALL, TABLE]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    other = data.draw(st.text(st.sampled_from('{}()[];,|"/*\\ \n0.1aAb0tableprobability'), max_size=8))
    with contextlib.suppress(MapdagError):
        read_bif(text[:start] + other + text[end:])


# Files ------------------------------------------------------------------------------------------------------------


def test_files_may_be_compressed_and_have_a_byte_order_mark(tmp_path):
    net = network("asia")
    for name in ("asia.bif", "asia.bif.gz", "ASIA.BIF.GZ"):
        write_network(net, tmp_path / name)
        assert read_network(tmp_path / name) == net
    assert (tmp_path / "asia.bif.gz").read_bytes()[:2] == b"\x1f\x8b"
    (tmp_path / "bom.bif").write_bytes(b"\xef\xbb\xbf" + to_bif(net).encode())
    assert read_network(tmp_path / "bom.bif") == net
    assert read_network(to_bif(net)) == net
    assert read_network(gzip.compress(to_bif(net).encode())) == net


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"\x7fELF\0\0\0", "not a text file"),
        (b"variable \xe9t\xe9 {", r"line 1: not UTF-8 text \(byte 0xe9\)"),
        (b"\x1f\x8b\x08damaged", "cannot be decompressed"),
        (gzip.compress(SMALL.encode())[:-20], "cannot be decompressed"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"<?xml version='1.0'?>\n<BIF>", "looks like XML"),
    ],
)
def test_files_that_are_no_text_are_refused(content, message, tmp_path):
    path = tmp_path / "net.bif"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        read_network(path)
    assert str(path) in str(caught.value)
