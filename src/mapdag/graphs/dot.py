"""The DOT language of Graphviz: writing graphs, and reading nodes, arcs and edges.

The reader knows the whole grammar (https://graphviz.org/doc/info/lang.html) but keeps only structure:
attributes other than `dir` are skipped. Names are the node identifiers, never the labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from mapdag.errors import FormatError

if TYPE_CHECKING:
    from mapdag.graphs.nodes import Arc

_TOKEN = re.compile(
    r"""
      (?P<skip>     [ \t\r\n\f\v]+ | //[^\n]* | /\*.*?\*/ | (?m:^\#[^\n]*) )
    | (?P<link>     -> | -- )
    | (?P<quoted>   "(?:[^"\\]|\\.)*" )
    | (?P<numeral>  -?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![A-Za-z_\u0080-\U0010ffff]) )
    | (?P<word>     [A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]* )
    | (?P<mark>     [{}\[\];,=:+] )
    """,
    re.VERBOSE | re.DOTALL,
)
_ANGLE = re.compile("[<>]")
_ESCAPE = re.compile(r'\\(["\\]|\r?\n)')
_KEYWORDS = frozenset({"strict", "graph", "digraph", "node", "edge", "subgraph"})
_IDENTIFIERS = frozenset({"quoted", "numeral", "word", "html"})
_DEEPEST = 100


def render(nodes: Iterable[str], arcs: Iterable[Arc], edges: Iterable[Arc] = ()) -> str:
    r"""Write a graph in DOT, every name quoted; edges are arcs without arrowheads.

    Examples
    --------
    >>> print(render(["A", 'say "B"'], [("A", 'say "B"')]))
    digraph {
      "A";
      "say \"B\"";
      "A" -> "say \"B\"";
    }
    """
    lines = [f"  {_quote(node)};" for node in nodes]
    lines += [f"  {_quote(a)} -> {_quote(b)};" for a, b in arcs]
    lines += [f"  {_quote(a)} -> {_quote(b)} [dir=none];" for a, b in edges]
    return "\n".join(["digraph {", *lines, "}"])


def parse(text: str) -> tuple[list[str], list[Arc], list[Arc]]:
    """Read nodes in order of appearance, arcs, and undirected edges.

    `a -- b` in a `graph`, and `a -> b` with `dir=none` in a `digraph`, is an undirected edge.

    Raises
    ------
    FormatError
        If the text is not DOT, or an arrow has `dir=back` or `dir=both`.

    Examples
    --------
    >>> parse("digraph { A -> B -> C [color=red]; C -> D [dir=none] }")
    (['A', 'B', 'C', 'D'], [('A', 'B'), ('B', 'C')], [('C', 'D')])
    """
    reader = _Reader(text.removeprefix("\ufeff"))
    reader.graph()
    return list(reader.nodes), reader.arcs, reader.edges


def _quote(name: str) -> str:
    """Return a name as a quoted identifier."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Token(NamedTuple):
    """A piece of the text: its kind, what it stands for and where it is."""

    kind: str
    value: str
    position: int


class _Reader:
    """A recursive-descent parser; what it has read is in `nodes`, `arcs` and `edges`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._at = 0
        self._link = "->"
        self.nodes: dict[str, None] = {}
        self.arcs: list[Arc] = []
        self.edges: list[Arc] = []

    # Tokens.

    def _split(self) -> list[_Token]:
        """Cut the text into tokens, the last one being the end."""
        tokens, position, text = [], 0, self._text
        while position < len(text):
            if text[position] == "<":
                end = self._end_of_html(position)
                tokens.append(_Token("html", text[position:end], position))
                position = end
                continue
            match = _TOKEN.match(text, position)
            if match is None:
                self._fail(position)
            kind, value = match.lastgroup or "", match.group()
            if kind == "quoted":
                value = _ESCAPE.sub(lambda m: m.group(1) if m.group(1) in '"\\' else "", value[1:-1])
            elif kind == "word" and value.lower() in _KEYWORDS:
                kind, value = "keyword", value.lower()
            if kind != "skip":
                tokens.append(_Token(kind, value, position))
            position = match.end()
        return [*tokens, _Token("end", "the end", len(text))]

    def _end_of_html(self, start: int) -> int:
        """Return where an HTML-like string, in balanced angle brackets, ends."""
        depth = 0
        for match in _ANGLE.finditer(self._text, start):
            depth += 1 if match.group() == "<" else -1
            if not depth:
                return match.end()
        return self._fail(start)

    def _fail(self, position: int, message: str | None = None) -> NoReturn:
        """Raise `FormatError` for a place in the text."""
        if message is None:
            opening = self._text[position : position + 2]
            kinds = {'"': "quoted string", "<": "HTML-like string"}
            kind = "comment" if opening == "/*" else kinds.get(opening[:1])
            message = f"this {kind} does not end" if kind else f"unexpected {opening[:1]!r}"
        line_start = self._text.rfind("\n", 0, position) + 1
        line = self._text.count("\n", 0, position) + 1
        raise FormatError(message, "DOT text", line, position - line_start + 1)

    def _peek(self, *values: str) -> bool:
        """Tell whether the next token is one of these keywords or marks."""
        token = self._tokens[self._at]
        return token.kind in {"keyword", "mark", "link"} and token.value in values

    def _accept(self, *values: str) -> str | None:
        """Take the next token if it is one of these keywords or marks."""
        if not self._peek(*values):
            return None
        self._at += 1
        return self._tokens[self._at - 1].value

    def _expect(self, *values: str) -> str:
        """Take the next token, which must be one of these keywords or marks."""
        found = self._accept(*values)
        if found is None:
            token = self._tokens[self._at]
            self._fail(token.position, f"expected {' or '.join(map(repr, values))}, got {token.value!r}")
        return found

    def _identifier(self) -> str | None:
        """Take the next token, and what is joined to it by `+`, if it is an identifier."""
        token = self._tokens[self._at]
        if token.kind not in _IDENTIFIERS:
            return None
        self._at += 1
        value = token.value
        while token.kind == "quoted" and self._accept("+"):
            token = self._tokens[self._at]
            if token.kind != "quoted":
                self._fail(token.position, f"only quoted strings can be joined by '+', got {token.value!r}")
            self._at += 1
            value += token.value
        return value

    # Grammar.

    def graph(self) -> None:
        """Read the whole text: one graph."""
        self._accept("strict")
        self._link = "->" if self._expect("digraph", "graph") == "digraph" else "--"
        self._identifier()
        self._expect("{")
        self._statements("forward", 0)
        last = self._tokens[self._at]
        if last.kind != "end":
            self._fail(last.position, f"expected one graph, got {last.value!r} after it")

    def _statements(self, direction: str, depth: int) -> list[str]:
        """Read statements up to the closing brace, `dir` defaulting to `direction`; return their nodes."""
        if depth > _DEEPEST:
            self._fail(self._tokens[self._at].position, f"more than {_DEEPEST} subgraphs inside one another")
        nodes: list[str] = []
        while not self._accept("}"):
            if self._accept(";"):
                continue
            if keyword := self._accept("graph", "node", "edge"):
                found = self._attributes()
                direction = found or direction if keyword == "edge" else direction
            else:
                nodes += self._chain(direction, depth)
        return nodes

    def _chain(self, direction: str, depth: int) -> list[str]:
        """Read `a`, `a -> b -> {c d}` or `key = value`; return the nodes in it."""
        start = self._tokens[self._at].position
        ends = [self._end(direction, depth)]
        if self._accept("="):
            if self._identifier() is None:
                self._expect("a value")
            return []
        while self._accept(self._link):
            ends.append(self._end(direction, depth))
        if self._peek("->", "--"):
            self._fail(self._tokens[self._at].position, f"the arrows of this kind of graph are {self._link!r}")
        given = self._attributes() if self._peek("[") else None
        for node in (nodes := [node for end in ends for node in end]):
            self.nodes.setdefault(node)
        if len(ends) > 1:
            self._record(ends, given or direction, start)
        return nodes

    def _record(self, ends: list[list[str]], direction: str, position: int) -> None:
        """Store the arcs or edges of a chain."""
        pairs = [(a, b) for left, right in pairwise(ends) for a in left for b in right]
        if self._link == "--" or direction == "none":
            self.edges += pairs
        elif direction == "forward":
            self.arcs += pairs
        else:
            self._fail(position, f"an arrow with dir={direction} has no clear meaning; use forward or none")

    def _end(self, direction: str, depth: int) -> list[str]:
        """Read one end of an arrow, a node or a subgraph; return its nodes."""
        if self._accept("subgraph"):
            self._identifier()
            self._expect("{")
            return self._statements(direction, depth + 1)
        if self._accept("{"):
            return self._statements(direction, depth + 1)
        token = self._tokens[self._at]
        name = self._identifier()
        if name is None or token.kind == "html":
            self._fail(token.position, f"expected a node, got {token.value!r}")
        for _ in range(2):  # a port and a compass point, both of which say only where an arrow is attached
            if self._accept(":") and self._identifier() is None:
                self._expect("a port")
        return [name]

    def _attributes(self) -> str | None:
        """Read `[key = value, ...]`, possibly several times; return the `dir` among them."""
        direction = None
        self._expect("[")
        while True:
            while not self._accept("]"):
                key = self._identifier()
                if key is None:
                    self._expect("an attribute", "]")
                value = self._identifier() if self._accept("=") else "true"
                if value is None:
                    self._expect("a value")
                direction = value if key == "dir" else direction
                self._accept(";") or self._accept(",")
            if not self._accept("["):
                return direction
