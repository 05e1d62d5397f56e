"""How a prior names an arc before it knows the nodes: ``"A->B"`` or ``("A", "B")``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from mapdag.errors import GraphError, ParameterError


def write_arc(key: Any) -> str:
    """Write an arc given as a pair as ``A->B``; leave strings as they are."""
    if isinstance(key, str):
        return key
    if isinstance(key, Sequence) and len(key) == 2:
        return f"{key[0]}->{key[1]}"
    raise ParameterError(f"an arc must be written 'A->B' or ('A', 'B'), got {key!r}")


def find_arc(key: str, index: Mapping[str, int]) -> tuple[int, int]:
    """Indices of an arc's ends; names may contain ``->`` themselves."""
    pieces = key.split("->")
    for cut in range(1, len(pieces)):
        start, end = "->".join(pieces[:cut]).strip(), "->".join(pieces[cut:]).strip()
        if start in index and end in index and start != end:
            return index[start], index[end]
    for name in (piece.strip() for piece in pieces):
        if name not in index:
            close = get_close_matches(name, index, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise GraphError(f"the prior speaks of {name!r}, which is not a node{hint}")
    raise GraphError(f"the prior's {key!r} is not an arc: write 'A->B'")
