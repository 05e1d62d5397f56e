"""XMLBIF 0.3 (Cozman, 1998), the format of JavaBayes and Weka, which pgmpy and pyAgrum read and write.

It holds any name and label that has no blanks at its ends; so it is the format to choose for labels such as intervals.
In a table the node changes fastest, then its last parent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from mapdag.io.drafts import Draft
from mapdag.io.notes import read_notes
from mapdag.io.portable import Alphabet, Portable, portable
from mapdag.io.xml_tree import Element, parse_xml
from mapdag.networks.cpts import TOLERANCE, refuse_undefined
from mapdag.networks.sparse_tables import refuse_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mapdag.networks import BayesianNetwork

_WORDS = re.compile("[^\x00-\x20\ud800-\udfff\ufffe\uffff]+(?: [^\x00-\x20\ud800-\udfff\ufffe\uffff]+)*")


def _is_text(text: str) -> bool:
    """Tell whether a text comes back as it was; readers drop blanks at its ends, those of Unicode among them."""
    return _WORDS.fullmatch(text) is not None and text == text.strip()


#: pyAgrum does not tell one blank from several, and drops those at the ends; XML knows no control characters.
XMLBIF = Alphabet("XMLBIF", name=_is_text, label=_is_text, fold=False)


def to_xmlbif(network: BayesianNetwork) -> str:
    """Return a network in XMLBIF.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> read_xmlbif(to_xmlbif(network("asia"))) == network("asia")
    True
    """
    refuse_undefined(network.cpts, "XMLBIF")
    refuse_large(network.cpts, "XMLBIF")
    return "\n".join(_lines(network, portable(network, XMLBIF))) + "\n"


def _lines(network: BayesianNetwork, chosen: Portable) -> Iterator[str]:
    names = {node: escape(name) for node, name in chosen.names.items()}
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<BIF VERSION="0.3">'
    yield "<NETWORK>"
    yield "<NAME>unknown</NAME>"
    for note in chosen.notes:
        yield f"<!-- {note.comment('--')} -->"
    for node in network.nodes:
        yield '<VARIABLE TYPE="nature">'
        yield f"  <NAME>{names[node]}</NAME>"
        for label in chosen.labels[node]:
            yield f"  <OUTCOME>{escape(label)}</OUTCOME>"
        yield "</VARIABLE>"
    for node in network.nodes:
        yield "<DEFINITION>"
        yield f"  <FOR>{names[node]}</FOR>"
        for parent in network.parents(node):
            yield f"  <GIVEN>{names[parent]}</GIVEN>"
        rows = network.cpts[node].reshape(-1, len(network.levels[node])).tolist()
        table = "\n    ".join(" ".join(map(repr, row)) for row in rows)
        yield f"  <TABLE>{table}</TABLE>"
        yield "</DEFINITION>"
    yield "</NETWORK>"
    yield "</BIF>"


def read_xmlbif(text: str, source: str = "XMLBIF text", *, tolerance: float = TOLERANCE) -> BayesianNetwork:
    """Read a network from text in XMLBIF; errors name the line."""
    root, comments = parse_xml(text, source)
    if root.tag != "bif":
        root.fail(f"this is not XMLBIF: it starts with <{root.tag}> instead of <BIF>")
    content = root.one("network")
    draft = Draft(source, notes=read_notes(comments, source))
    for variable in content.all("variable"):
        _read_variable(variable, draft)
    for definition in content.all("definition", "probability"):
        _read_definition(definition, draft)
    return draft.network(tolerance)


def _read_variable(variable: Element, draft: Draft) -> None:
    name = variable.one("name").text.strip()
    kind = variable.attributes.get("type", "nature").lower()
    if kind not in {"nature", "discrete"}:
        variable.fail(f"{name!r} is a variable of type {kind!r}; only those of type 'nature' can be read")
    draft.declare(name, [outcome.text.strip() for outcome in variable.all("outcome", "value")], variable.line)


def _read_definition(definition: Element, draft: Draft) -> None:
    node = definition.one("for").text.strip()
    parents = [given.text.strip() for given in definition.all("given")]
    table = definition.one("table")
    draft.define(node, parents, table.text.split(), table.line)
