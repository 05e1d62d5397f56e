"""How a prior names an arc before it knows the nodes: ``"A->B"`` or ``("A", "B")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mapdag.errors import GraphError, ParameterError
from mapdag.wording import did_you_mean, near

#: Text ``A->B``, or a pair of names where the text would be ambiguous.
ArcKey: TypeAlias = "str | tuple[str, str]"


def arc_key(key: Any) -> ArcKey:
    """Write an arc given as a pair as ``A->B`` where nothing is lost; leave text as it is."""
    if isinstance(key, str):
        return key
    if isinstance(key, Sequence) and len(key) == 2 and all(isinstance(name, str) for name in key):
        start, end = key
        plain = "->" not in start + end and start == start.strip() and end == end.strip()
        return f"{start}->{end}" if plain else (start, end)
    raise ParameterError(f"an arc must be written 'A->B' or ('A', 'B'), got {key!r}")


def reverse_key(key: ArcKey) -> ArcKey:
    """Key of the arc in the other direction."""
    if isinstance(key, str):
        start, _, end = key.partition("->")
        return f"{end.strip()}->{start.strip()}"
    return key[1], key[0]


def find_arc(key: ArcKey, index: Mapping[str, int]) -> tuple[int, int]:
    """Indices of an arc's ends; in text, names may contain ``->`` themselves and have blanks around them."""
    for start, end in _readings(key):
        if start in index and end in index and start != end:
            return index[start], index[end]
    names = [piece.strip() for piece in key.split("->")] if isinstance(key, str) else list(key)
    for name in names:
        if name not in index:
            hint = did_you_mean(near(name, index))
            raise GraphError(f"the prior names {name!r}, which is not a node{hint}")
    raise GraphError(f"the prior's {key!r} is not an arc: write 'A->B'")


def _readings(key: ArcKey) -> list[tuple[str, str]]:
    """Pairs of names that a key may stand for, the most literal first."""
    if not isinstance(key, str):
        return [key]
    pieces = key.split("->")
    cuts = [("->".join(pieces[:cut]), "->".join(pieces[cut:])) for cut in range(1, len(pieces))]
    return [*cuts, *((start.strip(), end.strip()) for start, end in cuts)]
