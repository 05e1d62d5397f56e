"""What a search may and may not do to a graph: required and forbidden arcs, tiers, a limit on parents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from mapdag.errors import CycleError, GraphError, ParameterError
from mapdag.graphs import DAG

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.contracts import Prior

    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Constraints:
    """Background knowledge about a graph.

    Parameters
    ----------
    required, forbidden : iterable of (str, str)
        Arcs that must, or must not, be in the graph.
    tiers : sequence of sequences of str
        Groups of nodes in temporal order: no arc goes from a later group to an earlier one. Nodes that are in no group
        are free.
    max_parents : int, optional
        Most parents that a node may have.

    Examples
    --------
    >>> Constraints(required=[("smoke", "lung")], tiers=[["asia", "smoke"], ["lung"]], max_parents=3)
    Constraints(required=(('smoke', 'lung'),), forbidden=(), tiers=(('asia', 'smoke'), ('lung',)), max_parents=3)
    """

    required: Iterable[tuple[str, str]] = ()
    forbidden: Iterable[tuple[str, str]] = ()
    tiers: Sequence[Sequence[str]] = ()
    max_parents: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", tuple((str(a), str(b)) for a, b in self.required))
        object.__setattr__(self, "forbidden", tuple((str(a), str(b)) for a, b in self.forbidden))
        object.__setattr__(self, "tiers", tuple((t,) if isinstance(t, str) else tuple(t) for t in self.tiers))
        m = self.max_parents
        if m is not None and (isinstance(m, bool) or int(m) != m or m < 0):
            raise ParameterError(f"max_parents must be a whole number of at least 0, got {m!r}")


@dataclass(frozen=True)
class Rules:
    """Constraints and hard priors as matrices over the nodes of one data set.

    Attributes
    ----------
    allowed : bool array (N, N)
        ``allowed[i, j]``: the arc i -> j may be in the graph.
    fixed : bool array (N, N)
        ``fixed[i, j]``: the arc i -> j may not be deleted (it may be reversed where the reverse is allowed).
    max_parents : int
    """

    allowed: Bools
    fixed: Bools
    max_parents: int


def make_rules(constraints: Constraints, prior: Prior, nodes: Sequence[str]) -> Rules:
    """Bring constraints and prior together, and complain where they contradict each other."""
    n = len(nodes)
    index = {name: i for i, name in enumerate(nodes)}
    allowed = ~np.isneginf(prior.log_odds(nodes))
    np.fill_diagonal(allowed, val=False)
    for arc in constraints.forbidden:
        allowed[_place(arc, index, "forbidden")] = False
    for later, earlier in _against_time(constraints.tiers, index):
        allowed[later, earlier] = False
    fixed = np.zeros((n, n), dtype=np.bool_)
    for arc in constraints.required:
        i, j = _place(arc, index, "required")
        if not allowed[i, j]:
            raise GraphError(
                f"the arc {arc[0]} -> {arc[1]} is required, but the other constraints or the prior forbid it"
            )
        fixed[i, j] = True
        allowed[j, i] = False
    for i, j in prior.required_pairs(nodes):
        if not (allowed[i, j] or allowed[j, i]):
            raise GraphError(
                f"the prior requires an arc between {nodes[i]} and {nodes[j]}, but both directions are forbidden"
            )
        fixed[i, j] = fixed[j, i] = True
    DAG(nodes, constraints.required)  # raises where required arcs form a cycle
    limits = [m for m in (constraints.max_parents, prior.max_parents, n - 1) if m is not None]
    rules = Rules(allowed, fixed, min(limits))
    for j in range(n):
        demanded = int((fixed[:, j] & ~fixed[j]).sum())
        if demanded > rules.max_parents:
            raise GraphError(f"{nodes[j]} has {demanded} required parents, but max_parents is {rules.max_parents}")
    return rules


def complete_start(start: DAG | None, rules: Rules, nodes: Sequence[str]) -> DAG:
    """Check the graph that a search starts from, and add the arcs that the rules require."""
    index = {name: i for i, name in enumerate(nodes)}
    if start is None:
        start = DAG(nodes)
    elif set(start.nodes) != set(nodes):
        odd = sorted(set(start.nodes) ^ set(nodes))[:5]
        raise GraphError(f"the start graph and the data must have the same nodes; only one of them has {odd}")
    start = start.reordered(nodes)
    for a, b in start.arcs:
        if not rules.allowed[index[a], index[b]]:
            raise GraphError(f"the start graph has the arc {a} -> {b}, which the constraints or the prior forbid")
    for i, j in np.argwhere(rules.fixed & rules.allowed).tolist():
        a, b = nodes[i], nodes[j]
        if start.has_arc(a, b) or start.has_arc(b, a):
            continue
        try:
            start = start.with_arc(a, b)
        except CycleError:
            if not rules.allowed[j, i]:
                raise
            start = start.with_arc(b, a)
    for j, name in enumerate(nodes):
        if len(start.parent_indices(j)) > rules.max_parents:
            raise GraphError(
                f"the start graph gives {name} {len(start.parent_indices(j))} parents, but max_parents is "
                f"{rules.max_parents}"
            )
    return start


def _place(arc: tuple[str, str], index: dict[str, int], what: str) -> tuple[int, int]:
    for name in arc:
        if name not in index:
            close = get_close_matches(name, index, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise GraphError(f"the {what} arc {arc[0]} -> {arc[1]} speaks of {name!r}, which is not a column{hint}")
    if arc[0] == arc[1]:
        raise GraphError(f"the {what} arc {arc[0]} -> {arc[1]} is a loop")
    return index[arc[0]], index[arc[1]]


def _against_time(tiers: Sequence[Sequence[str]], index: dict[str, int]) -> Iterable[tuple[int, int]]:
    """Arcs from later tiers to earlier ones."""
    seen: dict[str, int] = {}
    for tier, names in enumerate(tiers):
        for name in names:
            if name not in index:
                close = get_close_matches(name, index, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise GraphError(f"tier {tier + 1} has {name!r}, which is not a column{hint}")
            if name in seen:
                raise GraphError(f"{name!r} is in tiers {seen[name] + 1} and {tier + 1}")
            seen[name] = tier
    return [(index[a], index[b]) for a, ta in seen.items() for b, tb in seen.items() if ta > tb]
