"""UAI, the format of inference competitions: numbers only. Variables and their levels are counted from 0.

Names and labels are in comments (`#`), which only mapdag reads; from another program's file, nodes are called X0, X1,
... and their levels 0, 1, .... In a table the last variable of its scope, the node itself, changes fastest. (So the
format is defined; pgmpy, to version 1.1, and pyAgrum, to version 3.3, each have their own order: UAI is not the way to
them.)
"""

from __future__ import annotations

import re
from bisect import bisect
from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn

from mapdag.data.labels import MAX_LEVELS
from mapdag.errors import FormatError
from mapdag.io.drafts import Draft
from mapdag.io.notes import Note, read_notes
from mapdag.networks.cpts import TOLERANCE, refuse_undefined
from mapdag.networks.sparse_tables import refuse_large

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mapdag.networks import BayesianNetwork

_COMMENT = re.compile(r"#([^\n]*)")
_TOKEN = re.compile(r"\S+")


def to_uai(network: BayesianNetwork) -> str:
    """Return a network in UAI.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> print(to_uai(network("cancer"))[:44])
    BAYES
    5
    2 2 2 2 2
    5
    1 0
    1 1
    3 0 1 2
    2 2 3
    2
    >>> read_uai(to_uai(network("asia"))) == network("asia")
    True
    """
    refuse_undefined(network.cpts, "UAI")
    refuse_large(network.cpts, "UAI")
    return "\n".join(_lines(network)) + "\n"


def _lines(network: BayesianNetwork) -> Iterator[str]:
    position = network.dag.index.position
    yield "BAYES"
    yield str(len(network.nodes))
    yield " ".join(str(len(network.levels[node])) for node in network.nodes)
    yield str(len(network.nodes))
    for node in network.nodes:
        family = (*network.parents(node), node)
        yield " ".join(map(str, (len(family), *map(position, family))))
    for node in network.nodes:
        table = network.cpts[node]
        yield ""
        yield str(table.size)
        for row in table.reshape(-1, table.shape[-1]).tolist():
            yield " ".join(_plain(number) for number in row)
    yield ""
    for i, node in enumerate(network.nodes):
        levels = {str(code): label for code, label in enumerate(network.levels[node])}
        yield f"# {Note(f'X{i}', node, levels, network.codings.get(node)).comment()}"


def _plain(number: float) -> str:
    """Write a number without an exponent, which not every program knows, with all of its digits."""
    return format(Decimal(repr(number)), "f")


def read_uai(text: str, source: str = "UAI text", *, tolerance: float = TOLERANCE) -> BayesianNetwork:
    """Read a network from text in UAI; errors name the line."""
    tokens = _Tokens(_COMMENT.sub(lambda found: " " * len(found.group()), text), source)
    kind = tokens.word("'BAYES'")
    if kind.upper() != "BAYES":
        tokens.fail(f"only networks of kind BAYES can be read, got {kind!r}")
    draft = Draft(source, notes=read_notes(_COMMENT.findall(text), source))
    left = len(text)
    for i in range(tokens.count("the number of variables")):
        size = tokens.count(f"the number of levels of X{i}")
        if size > MAX_LEVELS:
            tokens.fail(f"X{i} has {size:,} levels; at most {MAX_LEVELS:,} are possible")
        left -= size  # each has a probability of its own
        if left < 0:
            tokens.fail("more levels are declared than the file has numbers: it seems to be cut off")
        draft.declare(f"X{i}", [str(code) for code in range(size)], tokens.line)
    names = list(draft.levels)
    scopes = []
    for _ in range(tokens.count("the number of tables")):
        scope = [tokens.count("a variable") for _ in range(tokens.count("the number of variables of a table"))]
        if not scope or max(scope) >= len(names):
            tokens.fail(f"a table must be of some of the {len(names)} variables, counted from 0, got {scope}")
        scopes.append([names[i] for i in scope])
    for *parents, node in scopes:
        size = tokens.count(f"the number of entries of the table of {node}")
        line = tokens.line
        draft.define(node, parents, [tokens.word(f"a number of the table of {node}") for _ in range(size)], line)
    return draft.network(tolerance)


class _Tokens:
    """The words of a text, one after the other."""

    def __init__(self, text: str, source: str) -> None:
        self._source, self._words, self._place = source, _TOKEN.finditer(text), 0
        self._ends = [end.start() for end in re.finditer("\n", text)]

    @property
    def line(self) -> int:
        """The line of the last word."""
        return bisect(self._ends, self._place) + 1

    def fail(self, message: str) -> NoReturn:
        """Raise `FormatError` at the last word."""
        raise FormatError(message, self._source, self.line)

    def word(self, what: str) -> str:
        """Return the next word."""
        found = next(self._words, None)
        if found is None:
            self.fail(f"the file ends where {what} should be: it seems to be cut off")
        self._place = found.start()
        return found.group()

    def count(self, what: str) -> int:
        """Return the next word, which must be a whole number."""
        word = self.word(what)
        if not word.isdecimal() or len(word) > 9:
            self.fail(f"expected {what}, got {word!r}")
        return int(word)
