"""Model strings, bnlearn's notation for graphs: `[A][B|A][C|A:B]`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mapdag.errors import FormatError, GraphError
from mapdag.graphs.text import check_text, error_at

if TYPE_CHECKING:
    from mapdag.graphs.nodes import Arc

_SPECIAL = frozenset("[]|:")


def is_special(name: str) -> bool:
    """Tell whether a name cannot stand in a model string.

    Examples
    --------
    >>> is_special("a b"), is_special("a:b")
    (False, True)
    """
    return not _SPECIAL.isdisjoint(name)


def to_modelstring(nodes: Iterable[str], parents: Callable[[str], Iterable[str]]) -> str:
    """Write `[node|parent:parent]` for each node, as bnlearn does.

    Raises
    ------
    GraphError
        If a name contains one of the characters that the notation needs.

    Examples
    --------
    >>> to_modelstring(["A", "B", "C"], {"A": [], "B": ["A"], "C": ["A", "B"]}.__getitem__)
    '[A][B|A][C|A:B]'
    """
    parts = []
    for node in nodes:
        if is_special(node):
            raise GraphError(
                f"a model string cannot hold the node {node!r}: names must not contain any of '[]|:' "
                "(rename it, or use another format)"
            )
        family = ":".join(parents(node))
        parts.append(f"[{node}|{family}]" if family else f"[{node}]")
    return "".join(parts)


def parse_modelstring(text: str) -> tuple[list[str], list[Arc]]:
    """Read `[node|parent:parent]...` into nodes, in the order of their brackets, and arcs.

    Blanks and line breaks between brackets are ignored; inside, they belong to the names.

    Raises
    ------
    FormatError
        If the notation is broken, a node has two brackets, or a parent has none.

    Examples
    --------
    >>> parse_modelstring("[A] [B|A]")
    (['A', 'B'], [('A', 'B')])
    """

    def broken(position: int, message: str) -> FormatError:
        return error_at(position, text, "model string", message)

    check_text(text)
    families: dict[str, list[str]] = {}
    where: dict[str, int] = {}
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        end = text.find("]", start)
        if text[start] != "[" or end < 0:
            raise broken(start, "a node must be written [name] or [name|parent:parent]")
        node, bar, family = text[start + 1 : end].partition("|")
        names = family.split(":") if bar else []
        if any(not name or is_special(name) for name in (node, *names)):
            raise broken(start, f"cannot read {text[start : end + 1]!r} as [name] or [name|parent:parent]")
        if node in families or len(set(names)) < len(names):
            raise broken(start, f"{text[start : end + 1]!r} repeats a node")
        families[node], where[node] = names, start
        start = end + 1
    for node, names in families.items():
        for name in names:
            if name not in families:
                raise broken(where[node], f"the parent {name!r} of {node!r} is not in brackets itself")
    return list(families), [(name, node) for node, names in families.items() for name in names]
