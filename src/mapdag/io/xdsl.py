"""XDSL, the format of GeNIe and SMILE; what is said there of tables other than plain ones is not read.

Names and labels are identifiers: a letter, then letters, digits and underscores. The probabilities of a node are listed
by configuration of its parents, of which the last changes fastest. (pyAgrum, to version 3.3, takes the first for the
fastest; its files, and ours when it reads them, are right for nodes with one parent at most.)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from mapdag.io.drafts import Draft
from mapdag.io.notes import read_notes
from mapdag.io.portable import Alphabet, Portable, portable
from mapdag.io.xml_tree import parse_xml
from mapdag.io.xmlbif import XMLBIF
from mapdag.networks.cpts import TOLERANCE, refuse_undefined
from mapdag.networks.sparse_tables import refuse_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mapdag.networks import BayesianNetwork

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

XDSL = Alphabet("XDSL", name=_IDENTIFIER.fullmatch, label=_IDENTIFIER.fullmatch, in_names="", in_labels="")


def to_xdsl(network: BayesianNetwork) -> str:
    """Return a network in XDSL.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> read_xdsl(to_xdsl(network("asia"))) == network("asia")
    True
    """
    refuse_undefined(network.cpts, "XDSL")
    refuse_large(network.cpts, "XDSL")
    return "\n".join(_lines(network, portable(network, XDSL))) + "\n"


def _lines(network: BayesianNetwork, chosen: Portable) -> Iterator[str]:
    names = chosen.names
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<smile version="1.0" id="unknown" numsamples="10000" discsamples="10000">'
    for note in chosen.notes:
        yield f"  <!-- {note.comment('--')} -->"
    yield "  <nodes>"
    for node in network.dag.topological_order():  # SMILE reads parents before children
        yield f'    <cpt id="{names[node]}">'
        yield from (f'      <state id="{label}" />' for label in chosen.labels[node])
        if network.parents(node):
            yield f"      <parents>{' '.join(names[parent] for parent in network.parents(node))}</parents>"
        yield f"      <probabilities>{' '.join(map(repr, network.cpts[node].ravel().tolist()))}</probabilities>"
        yield "    </cpt>"
    yield "  </nodes>"
    yield "  <extensions>"
    yield '    <genie version="1.0" app="mapdag" name="unknown">'
    for node in network.nodes:
        shown = node if XMLBIF.name(node) else names[node]
        yield f"      <node id={quoteattr(names[node])}><name>{escape(shown)}</name></node>"
    yield "    </genie>"
    yield "  </extensions>"
    yield "</smile>"


def read_xdsl(text: str, source: str = "XDSL text", *, tolerance: float = TOLERANCE) -> BayesianNetwork:
    """Read a network from text in XDSL; errors name the line."""
    root, comments = parse_xml(text, source)
    if root.tag != "smile":
        root.fail(f"this is not XDSL: it starts with <{root.tag}> instead of <smile>")
    draft = Draft(source, notes=read_notes(comments, source))
    nodes = root.one("nodes").children
    for node in nodes:
        if node.tag != "cpt":
            node.fail(f"<{node.tag}> cannot be read, only <cpt>: nodes with a table of probabilities")
        draft.declare(node.attribute("id"), [state.attribute("id") for state in node.all("state")], node.line)
    for node in nodes:
        parents = " ".join(element.text for element in node.all("parents")).split()
        table = node.one("probabilities")
        draft.define(node.attribute("id"), parents, table.text.split(), table.line)
    order = [element.attribute("id") for block in root.all("extensions") for genie in block.all("genie")
             for element in genie.all("node") if element.attributes.get("id")]  # fmt: skip
    return draft.network(tolerance, order)
