"""NET, the format of Hugin, version 6: nodes with their states, and potentials with their data.

In the data of a potential the node changes fastest, then its last parent; the parentheses around parts of it are for
people. Nodes of other kinds than discrete chance nodes are not read, nor are classes.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from mapdag.graphs.text import error_at
from mapdag.io.bif_names import BIF, QUOTED
from mapdag.io.drafts import Draft
from mapdag.io.notes import read_notes
from mapdag.io.portable import Alphabet, Portable, portable
from mapdag.networks.cpts import TOLERANCE, refuse_undefined
from mapdag.networks.sparse_tables import refuse_large

if TYPE_CHECKING:
    from mapdag.networks import BayesianNetwork

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset({"net", "node", "potential", "states", "data", "class", "discrete", "continuous", "label"})
# A quote that is not closed goes on to the end of its line.
_TOKEN = re.compile(rf'{QUOTED}|"[^\n]*|%[^\n]*|[{{}}()=;|]|[^\s{{}}()=;|"%]+')

_CLOSED = re.compile(QUOTED)

#: Identifiers; labels, which are quoted, as in BIF. pgmpy (1.1) finds a "node " within "unode ".
NET = Alphabet(
    "NET",
    name=lambda text: _NAME.fullmatch(text) and text not in _RESERVED and not text.endswith("node"),
    label=BIF.label,
    in_names="",
)


def to_net(network: BayesianNetwork) -> str:
    """Return a network in Hugin's NET.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> read_net(to_net(network("asia"))) == network("asia")
    True
    """
    refuse_undefined(network.cpts, "NET")
    refuse_large(network.cpts, "NET")
    return "\n".join(_lines(network, portable(network, NET))) + "\n"


def _lines(network: BayesianNetwork, chosen: Portable) -> Iterator[str]:
    names = chosen.names
    yield "net\n{\n}"
    for note in chosen.notes:
        # pgmpy looks for nodes and data in comments, too.
        yield f"% {note.comment(' ', '(', '=', '/')}"
    for node in network.nodes:
        states = " ".join(f'"{label}"' for label in chosen.labels[node])
        yield f"node {names[node]}\n{{\n  states = ({states});\n}}"
    for node in network.nodes:
        parents = "".join(f" {names[parent]}" for parent in network.parents(node))
        yield f"potential ({names[node]}{' |' * bool(parents)}{parents})\n{{"
        yield f"  data = {_nested(network.cpts[node].tolist())};\n}}"


def _nested(values: Any) -> str:
    """Write a table with parentheses for each axis."""
    return f"({' '.join(map(_nested, values))})" if isinstance(values, list) else repr(values)


def read_net(text: str, source: str = "NET text", *, tolerance: float = TOLERANCE) -> BayesianNetwork:
    """Read a network from text in Hugin's NET; errors name the line."""
    file = _File(text, source)
    draft = Draft(source, notes=read_notes(file.comments(), source))
    potentials = []
    while (token := file.next("'node' or 'potential'", last=True)).text:
        kind = token.text.lower()
        if kind == "discrete":
            token = file.next("'node'")
            kind = token.text.lower()
        if kind == "net":
            file.fields()
        elif kind == "node":
            name = file.next("the name of a node").text
            states = file.fields().get("states", [])
            draft.declare(name, [_unquoted(each.text) for each in states], file.line(token))
        elif kind == "potential":
            potentials.append((token, file.family(), file.fields().get("data", [])))
        else:
            file.fail(token, f"expected 'net', 'node' or 'potential', got {token.text!r}")
    for token, (node, *parents), data in potentials:
        draft.define(node, parents, [each.text for each in data], file.line(token))
    return draft.network(tolerance)


class _Token(NamedTuple):
    text: str
    position: int


class _File:
    """The tokens of a file, one after the other."""

    def __init__(self, text: str, source: str) -> None:
        self._text, self._source, self._ends = text, source, [end.start() for end in re.finditer("\n", text)]
        self._tokens, self._end = self._split(), _Token("", len(text))

    def _split(self) -> Iterator[_Token]:
        """Cut the text into tokens, without comments."""
        for match in _TOKEN.finditer(self._text):
            text = match.group()
            first = text[0]
            if first == "%":
                continue
            token = _Token(text, match.start())
            if first == '"' and not _CLOSED.fullmatch(text):
                self.fail(token, "this quote is not closed on its line")
            yield token

    def comments(self) -> list[str]:
        """Return the text of all comments."""
        found = _TOKEN.finditer(self._text) if "%" in self._text else ()
        return [match.group()[1:] for match in found if match.group().startswith("%")]

    def line(self, token: _Token) -> int:
        """Return the line that a token is on."""
        return bisect(self._ends, token.position) + 1

    def fail(self, token: _Token, message: str) -> NoReturn:
        """Raise `FormatError` for the place of a token."""
        raise error_at(token.position, self._text, self._source, message)

    def next(self, what: str, *, last: bool = False) -> _Token:
        """Return the next token; at the end an empty one, if that may come here."""
        token = next(self._tokens, self._end)
        if not token.text and not last:
            self.fail(token, f"the file ends where {what} should be: it seems to be cut off")
        return token

    def expect(self, text: str) -> None:
        """Go past a token that must be there."""
        token = self.next(f"'{text}'")
        if token.text != text:
            self.fail(token, f"expected '{text}', got {token.text!r}")

    def family(self) -> Sequence[str]:
        """Return the names between the parentheses of a potential."""
        self.expect("(")
        names: list[str] = []
        while (token := self.next("')'")).text != ")":
            if token.text != "|":
                names.append(token.text)
        if not names:
            self.fail(token, "there is no node between the parentheses")
        return names

    def fields(self) -> dict[str, list[_Token]]:
        """Return the fields between braces, each as the tokens of its value without parentheses."""
        self.expect("{")
        fields = {}
        while (token := self.next("'}'")).text != "}":
            self.expect("=")
            value = []
            while (part := self.next("';'")).text != ";":
                if part.text not in "()":
                    value.append(part)
            fields[token.text.lower()] = value
        return fields


def _unquoted(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text[1:-1]) if text.startswith('"') else text
