"""The DOT language of Graphviz: writing graphs, and reading nodes, arcs and edges.

The reader knows the whole grammar (https://graphviz.org/doc/info/lang.html) but keeps only structure:
attributes other than `dir` are skipped, HTML in them too. Names are the node identifiers, never the labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from mapdag.graphs.text import check_text, error_at, quoted

if TYPE_CHECKING:
    from mapdag.graphs.nodes import Arc

_TOKEN = re.compile(
    r"""
      (?P<skip>     [ \t\r\n\f\v]+ | //[^\n]* | /\*.*?\*/ | (?m:^\#[^\n]*) )
    | (?P<mark>     -> | -- | [{}\[\];,=:+] )
    | (?P<quoted>   "(?:[^"\\]|\\.)*" )
    | (?P<html>     <(?:[^<>]|<[^<>]*>)*> )
    | (?P<numeral>  -?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![A-Za-z_\u0080-\U0010ffff]) )
    | (?P<word>     [A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]* )
    | (?P<odd>      . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r'\\(["\\]|\r?\n)')
_KEYWORDS = frozenset({"strict", "graph", "digraph", "node", "edge", "subgraph"})
_IDENTIFIERS = frozenset({"quoted", "numeral", "word", "html"})
_GO_ON = frozenset({"=", "->", "--", "["})  # what may follow the first end of an arrow
_CLOSED = (("/*", "comment"), ('"', "quoted string"), ("<", "HTML-like string"))
_DEEPEST = 100
_MOST_ARROWS = 1_000_000  # a few letters may stand for very many


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
    lines = [f"  {quoted(node)};" for node in nodes]
    lines += [f"  {quoted(a)} -> {quoted(b)};" for a, b in arcs]
    lines += [f"  {quoted(a)} -> {quoted(b)} [dir=none];" for a, b in edges]
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
    check_text(text)
    reader = _Reader(text.removeprefix("\ufeff"))
    reader.graph()
    return list(reader.nodes), reader.arcs, reader.edges


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
        self._next = next(self._tokens)
        self._link = "->"
        self.nodes: dict[str, None] = {}
        self.arcs: list[Arc] = []
        self.edges: list[Arc] = []

    # Tokens.

    def _split(self) -> Iterator[_Token]:
        """Cut the text into tokens, the last one being the end."""
        for match in _TOKEN.finditer(self._text):
            kind, value = match.lastgroup or "", match.group()
            if kind == "skip":
                continue
            if kind == "odd":
                unclosed = next((what for start, what in _CLOSED if self._text.startswith(start, match.start())), None)
                self._fail(f"this {unclosed} does not end" if unclosed else f"unexpected {value!r}", match.start())
            if kind == "quoted":
                value = _ESCAPE.sub(lambda m: m.group(1) if m.group(1) in '"\\' else "", value[1:-1])
            elif kind == "word" and value.lower() in _KEYWORDS:
                kind, value = "mark", value.lower()
            yield _Token(kind, value, match.start())
        yield _Token("end", "the end", len(self._text))

    def _take(self) -> _Token:
        """Go past the next token, which is not the end."""
        token, self._next = self._next, next(self._tokens)
        return token

    def _fail(self, message: str, position: int | None = None) -> NoReturn:
        """Raise `FormatError` for a place in the text, the next token unless another is given."""
        raise error_at(self._next.position if position is None else position, self._text, "DOT text", message)

    def _accept(self, *marks: str) -> str | None:
        """Take the next token if it is one of these keywords or marks."""
        if self._next.kind != "mark" or self._next.value not in marks:
            return None
        return self._take().value

    def _expect(self, *marks: str) -> str:
        """Take the next token, which must be one of these keywords or marks."""
        return self._accept(*marks) or self._fail(f"expected {' or '.join(map(repr, marks))}, got {self._next.value!r}")

    def _identifier(self, *needed: str) -> str | None:
        """Take the next token, and what is joined to it by `+`, if it is an identifier; `needed` says what must be."""
        token = self._next
        if token.kind not in _IDENTIFIERS:
            return self._expect(*needed) if needed else None
        value = self._take().value
        while token.kind == "quoted" and self._accept("+"):
            if self._next.kind != "quoted":
                self._fail(f"only quoted strings can be joined by '+', got {self._next.value!r}")
            value += self._take().value
        return value

    # Grammar.

    def graph(self) -> None:
        """Read the whole text: one graph."""
        self._accept("strict")
        self._link = "->" if self._expect("digraph", "graph") == "digraph" else "--"
        self._identifier()
        self._expect("{")
        self._statements("forward", 0)
        if self._next.kind != "end":
            self._fail(f"expected one graph, got {self._next.value!r} after it")

    def _statements(self, direction: str, depth: int) -> list[str]:
        """Read statements up to the closing brace, `dir` defaulting to `direction`; return their nodes."""
        if depth > _DEEPEST:
            self._fail(f"more than {_DEEPEST} subgraphs inside one another")
        nodes: list[str] = []
        while True:
            mark = self._accept("}", ";", "graph", "node", "edge")
            if mark == "}":
                return nodes
            if mark == ";":
                continue
            if mark:
                self._expect("[")
                found = self._attributes()
                direction = found or direction if mark == "edge" else direction
            else:
                nodes += self._chain(direction, depth)

    def _chain(self, direction: str, depth: int) -> list[str]:
        """Read `a`, `a -> b -> {c d}` or `key = value`; return the nodes in it."""
        start = self._next.position
        ends = [self._end(direction, depth)]
        if self._next.kind != "mark" or self._next.value not in _GO_ON:
            if len(ends[0]) == 1:  # those of a subgraph are known
                self.nodes[ends[0][0]] = None
            return ends[0]
        if self._accept("="):
            self._identifier("a value")
            return []
        while self._accept(self._link):
            ends.append(self._end(direction, depth))
        if self._next.kind == "mark" and self._next.value in {"->", "--"}:
            self._fail(f"the arrows of this kind of graph are {self._link!r}")
        if self._accept("["):
            direction = self._attributes() or direction
        nodes = [node for end in ends for node in end]
        self.nodes.update(dict.fromkeys(nodes))
        so_far = len(self.arcs) + len(self.edges)
        if so_far + sum(len(left) * len(right) for left, right in pairwise(ends)) > _MOST_ARROWS:
            self._fail(f"more than {_MOST_ARROWS:,} arrows", start)
        pairs = [(a, b) for left, right in pairwise(ends) for a in left for b in right]
        if self._link == "--" or direction == "none":
            self.edges += pairs
        elif direction == "forward":
            self.arcs += pairs
        elif len(ends) > 1:
            self._fail(f"an arrow with dir={direction} has no clear meaning; use forward or none", start)
        return nodes

    def _end(self, direction: str, depth: int) -> list[str]:
        """Read one end of an arrow, a node or a subgraph; return its nodes."""
        token = self._next
        if token.kind == "mark" and token.value in {"subgraph", "{"}:
            if self._take().value == "subgraph":
                self._identifier()
                self._expect("{")
            return self._statements(direction, depth + 1)
        name = self._identifier()
        if name is None or token.kind == "html":
            self._fail(f"expected a node, got {token.value!r}", token.position)
        if self._accept(":"):  # a port and a compass point, both of which say only where an arrow is attached
            self._identifier("a port")
            if self._accept(":"):
                self._identifier("a port")
        return [name]

    def _attributes(self) -> str | None:
        """Read what follows a bracket, `key = value, ...]`, possibly several times; return the `dir` among them."""
        direction = None
        while True:
            while not self._accept("]"):
                key = self._identifier("an attribute", "]")
                value = self._identifier("a value") if self._accept("=") else "true"
                direction = value if key == "dir" else direction
                self._accept(";", ",")
            if not self._accept("["):
                return direction
