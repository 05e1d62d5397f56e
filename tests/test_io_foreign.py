"""XMLBIF, NET, XDSL and UAI as other programs write them, and what is said about files that are broken."""

import contextlib
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import CapacityError, FormatError, MapdagError, NetworkError
from mapdag.io import read_network, write_network
from mapdag.io.hugin import to_net
from mapdag.io.uai import read_uai, to_uai
from mapdag.io.xdsl import to_xdsl
from mapdag.io.xmlbif import to_xmlbif
from mapdag.networks import BayesianNetwork
from naive_networks import networks

pytestmark = pytest.mark.filterwarnings("ignore:other programs cannot read some names and labels")

NET = BayesianNetwork(
    md.DAG(["A", "B", "C"], [("B", "C"), ("A", "C")]),
    {"A": ["a0", "a1"], "B": ["b0", "b1", "b2"], "C": ["c0", "c1"]},
    {
        "A": [0.3, 0.7],
        "B": [0.1, 0.2, 0.7],
        "C": [[[0.01, 0.99], [0.02, 0.98], [0.03, 0.97]], [[0.04, 0.96], [0.05, 0.95], [0.06, 0.94]]],
    },
)
# By hand, from the definitions of the formats; parents of C in the order B, A: B changes slowest.
TABLE = "0.01 0.99 0.04 0.96 0.02 0.98 0.05 0.95 0.03 0.97 0.06 0.94"
XMLBIF = f"""<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
]>
<!-- as Weka and JavaBayes write it -->
<BIF VERSION="0.3">
<NETWORK>
<NAME>small</NAME>
<PROPERTY>made by hand</PROPERTY>
<VARIABLE TYPE="nature">
  <NAME>A</NAME>
  <OUTCOME>a0</OUTCOME>
  <OUTCOME> a1 </OUTCOME>
  <PROPERTY>position = (1,2)</PROPERTY>
</VARIABLE>
<VARIABLE TYPE="nature"><NAME>B</NAME><OUTCOME>b0</OUTCOME><OUTCOME>b1</OUTCOME><OUTCOME>b2</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>C</NAME><OUTCOME>c0</OUTCOME><OUTCOME>c1</OUTCOME></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>3E-1 .7</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><TABLE>0.1 0.2 0.7</TABLE></DEFINITION>
<DEFINITION>
  <FOR>C</FOR>
  <GIVEN>B</GIVEN>
  <GIVEN>A</GIVEN>
  <TABLE> <!-- rows -->
    {TABLE}
  </TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""
XDSL = f"""<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="small" numsamples="10000" discsamples="10000">
\t<nodes>
\t\t<cpt id="A">
\t\t\t<state id="a0" />
\t\t\t<state id="a1" />
\t\t\t<probabilities>0.3 0.7</probabilities>
\t\t</cpt>
\t\t<cpt id="B"><state id="b0" /><state id="b1" /><state id="b2" /><probabilities>0.1 0.2 0.7</probabilities></cpt>
\t\t<cpt id="C">
\t\t\t<state id="c0" />
\t\t\t<state id="c1" />
\t\t\t<parents>B A</parents>
\t\t\t<probabilities>{TABLE}</probabilities>
\t\t</cpt>
\t</nodes>
\t<extensions>
\t\t<genie version="1.0" app="GeNIe 4" name="small">
\t\t\t<node id="A"><name>the first</name><position>1 2 3 4</position></node>
\t\t</genie>
\t</extensions>
</smile>
"""
HUGIN = """% a comment
net
{
    name = "small";
    node_size = (80 40);
}

node A
{
    label = "the first";
    position = (1 2);
    states = ("a0" "a1");
}
node B
{
    states = ("b0" "b1" "b2");
    HR_State_0 = "";
}
discrete node C
{
    states = ("c0" "c1");
}

potential (A)
{
    data = ( 0.3 0.7 );
}
potential ( B | )
{
    data = (0.1 0.2 0.7);
}
potential (C | B A)
{
    data = (((0.01 0.99)  % B=b0 A=a0
             (0.04 0.96))
            ((0.02 0.98)
             (0.05 0.95))
            ((0.03 0.97)
             (0.06 0.94)));
}
"""
UAI = f"""BAYES
3
2 3 2
3
1 0
1 1
3 1 0 2

2
 0.3 0.7

3
 0.1 0.2 0.7 # a comment

12
 {TABLE}
"""
TEXTS = {"xmlbif": XMLBIF, "xdsl": XDSL, "net": HUGIN, "uai": UAI}
WRITERS = {"xmlbif": to_xmlbif, "xdsl": to_xdsl, "net": to_net, "uai": to_uai}


def numbered(net):
    """The network as UAI has it."""
    names = {node: f"X{i}" for i, node in enumerate(net.nodes)}
    levels = {names[node]: len(net.levels[node]) for node in net.nodes}
    return BayesianNetwork(net.dag.renamed(names), levels, {names[node]: net.cpt(node) for node in net.nodes})


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("change", [str, lambda text: text.replace("\n", "\r\n"), lambda text: "\n\n" + text.lstrip()])
def test_files_of_other_programs_are_read(kind, change):
    text = change(TEXTS[kind]) if kind not in {"xmlbif", "xdsl"} else change(TEXTS[kind]).lstrip()
    expected = numbered(NET) if kind == "uai" else NET
    assert read_network(text.encode()) == expected  # which tells its format by its beginning
    assert read_network(text.encode(), format=kind).nodes == expected.nodes


@pytest.mark.parametrize("kind", TEXTS)
@given(networks())
def test_networks_come_back_to_the_last_bit(kind, net):
    back = read_network(WRITERS[kind](net).encode(), format=kind)
    assert back == net
    assert back.nodes == net.nodes


def replaced(kind, old, new):
    assert TEXTS[kind].count(old) >= 1
    return TEXTS[kind].replace(old, new, 1)


BROKEN = [
    ("xmlbif", replaced("xmlbif", "<GIVEN>B</GIVEN>", "<GIVEN>Q</GIVEN>"), 25, "the variable 'Q' is not declared"),
    ("xmlbif", replaced("xmlbif", "<GIVEN>B</GIVEN>", "<GIVEN>A</GIVEN>"), 25, "given the same variable twice"),
    ("xmlbif", replaced("xmlbif", " 0.94", ""), 25, "expected 12 numbers, .* 2 levels of 'C' and 6 conf.*, got 11"),
    ("xmlbif", replaced("xmlbif", ".7<", ".x<"), 19, r"probabilities of 'A' must be numbers: .*'\.x'"),
    ("xmlbif", replaced("xmlbif", ".7<", ".6<"), None, r"'A' has probabilities that sum to 0\.9"),
    ("xmlbif", replaced("xmlbif", ".7<", "nan<"), None, "'A' has a probability that is not a finite number"),
    ("xmlbif", replaced("xmlbif", "<NAME>B<", "<NAME>A<"), 17, "the variable 'A' is declared twice"),
    ("xmlbif", replaced("xmlbif", "b1", "b0"), 17, "levels of 'B' must be different"),
    ("xmlbif", replaced("xmlbif", '"nature"', '"utility"'), 11, "'A' is a variable of type 'utility'"),
    ("xmlbif", replaced("xmlbif", "<FOR>B</FOR>", ""), 20, "<definition> needs one <for>, got none"),
    ("xmlbif", replaced("xmlbif", "<FOR>B</FOR>", "<FOR>A</FOR>"), 20, "expected 2 numbers|given twice"),
    ("xmlbif", re.sub("<DEFINITION><FOR>B.*", "", XMLBIF), None, "the probabilities of 'B' are missing"),
    ("xmlbif", XMLBIF.replace("BIF", "BUF"), 7, "not XMLBIF: it starts with <buf>"),
    ("xmlbif", replaced("xmlbif", "</VARIABLE>", ""), 29, "not XML: mismatched tag"),
    ("xmlbif", "<BIF>" * 200 + "</BIF>" * 200, 1, "too many elements inside one another"),
    ("xdsl", replaced("xdsl", "<parents>B", "<parents>Q"), 14, "the variable 'Q' is not declared"),
    ("xdsl", XDSL.replace("cpt", "noisymax"), 4, "<noisymax> cannot be read, only <cpt>"),
    ("xdsl", replaced("xdsl", '<state id="a0" />', "<state />"), 5, "<state> needs the attribute 'id'"),
    ("xdsl", replaced("xdsl", "<parents>B A", "<parents>B C"), 14, "'C' are given twice, or given the same"),
    ("net", replaced("net", "| B A", "| B Q"), 32, "the variable 'Q' is not declared"),
    ("net", replaced("net", '("a0" "a1")', "()"), 8, "levels of 'A' must be different and not empty"),
    ("net", replaced("net", "discrete node", "utility"), 19, "expected 'net', 'node' or 'potential', got 'utility'"),
    ("net", replaced("net", "potential (A)", "potential ()"), 24, "no node between the parentheses"),
    ("net", replaced("net", "name =", "name"), 4, "expected '=', got '\"small\"'"),
    ("net", replaced("net", "0.94)));", "0.94))"), 41, "the file ends where ';' should be: it seems to be cut off"),
    ("uai", replaced("uai", "BAYES", "MARKOV"), 1, "only networks of kind BAYES can be read, got 'MARKOV'"),
    ("uai", replaced("uai", "3 1 0 2", "3 1 0 9"), 7, r"some of the 3 variables, counted from 0, got \[1, 0, 9\]"),
    ("uai", replaced("uai", "12\n", "11\n"), 15, "expected 12 numbers"),
    ("uai", replaced("uai", "2 3 2", "2 3 x"), 3, "expected the number of levels of X2, got 'x'"),
    ("uai", replaced("uai", "2 3 2", "2 3 99999999"), 3, "X2 has 99,999,999 levels; at most"),
    ("uai", "BAYES\n999999999\n2 2\n", 3, "the file ends where the number of levels of X2 should be"),
    ("uai", replaced("uai", "1 1\n", "2 2 1\n"), None, "expected 6 numbers|cycle"),
]


@pytest.mark.parametrize(("kind", "text", "line", "message"), BROKEN, ids=[f"{case[0]} {case[3]}" for case in BROKEN])
def test_errors_say_what_is_wrong_and_on_which_line(kind, text, line, message):
    with pytest.raises(FormatError, match=message) as caught:
        read_network(text.encode(), format=kind)
    if line is not None:
        assert caught.value.line == line


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "aaaaaaaaaa"> <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY % remote SYSTEM "http://example.org/x.dtd"> %remote;',
    ],
)
@pytest.mark.parametrize("kind", ["xmlbif", "xdsl"])
def test_entities_are_refused(kind, declaration):
    root = "BIF" if kind == "xmlbif" else "smile"
    text = f"<!DOCTYPE {root} [\n{declaration}\n]>\n<{root}><NETWORK>&b;&x;</NETWORK></{root}>"
    with pytest.raises(FormatError, match="line 2: XML entities are not read"):
        read_network(text.encode(), format=kind)


@pytest.mark.parametrize("kind", TEXTS)
@given(st.data())
@settings(max_examples=80)
def test_no_damage_ends_in_anything_but_an_error_of_ours(kind, data):
    text = TEXTS[kind]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    other = data.draw(st.text(st.sampled_from('<>/&!-[]{}()=;|"% \n0.1aABbcpt'), max_size=8))
    with contextlib.suppress(MapdagError):
        read_network((text[:start] + other + text[end:]).encode(), format=kind)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_file_cut_off_anywhere_is_an_error(kind):
    text = TEXTS[kind].rstrip()
    for cut in range(1, len(text) - 4, 11):
        with pytest.raises(FormatError):
            read_network(text[:cut].encode(), format=kind)


@pytest.mark.parametrize("kind", WRITERS)
def test_undefined_probabilities_cannot_be_written(kind):
    undefined = BayesianNetwork(md.DAG(["a"]), {"a": 2}, {"a": [np.nan] * 2}, allow_undefined=True)
    with pytest.raises(NetworkError, match="needs all probabilities"):
        WRITERS[kind](undefined)


def test_tables_too_large_for_memory_are_refused():
    n = 40
    cards, scopes = " ".join(["2"] * n), "\n".join(f"1 {i}" for i in range(n - 1))
    family = f"{n} {' '.join(map(str, range(n)))}"
    tables = "\n".join(["2 0.5 0.5"] * n)
    with pytest.raises(CapacityError, match="'X39' has 39 parents"):
        read_uai(f"BAYES\n{n}\n{cards}\n{n}\n{scopes}\n{family}\n{tables}\n")


def test_uai_has_no_exponents_and_all_digits():
    net = BayesianNetwork(md.DAG(["a"]), {"a": 2}, {"a": [1e-12, 1 - 1e-12]})
    assert "e-" not in to_uai(net).split("#")[0]
    assert read_uai(to_uai(net)) == net


def test_files_of_graphs_are_read_from_networks(tmp_path):
    for kind in TEXTS:
        write_network(NET, tmp_path / f"net.{kind}")
        assert md.read_graph(tmp_path / f"net.{kind}") == NET.dag
