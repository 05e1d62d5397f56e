"""What a graph must obey besides its score: required and forbidden arcs, tiers, a limit on parents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.checks import check_whole
from mapdag.errors import GraphError, ParameterError
from mapdag.graphs import DAG
from mapdag.graphs.masks import mask_of, members
from mapdag.wording import brief, did_you_mean, near

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
        object.__setattr__(self, "required", _arcs("required", self.required))
        object.__setattr__(self, "forbidden", _arcs("forbidden", self.forbidden))
        if (
            isinstance(self.tiers, str | bytes | Mapping | set | frozenset)
            or hasattr(self.tiers, "columns")
            or not _many(self.tiers)
        ):
            raise ParameterError(f"tiers must be a sequence of groups of names, in order, got {brief(self.tiers)}")
        object.__setattr__(self, "tiers", tuple(_group(tier) for tier in self.tiers))
        if self.max_parents is not None:
            object.__setattr__(self, "max_parents", check_whole("max_parents", self.max_parents))

    @property
    def options(self) -> dict[str, Any]:
        """The same as options of the functions that take them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _many(value: Any) -> bool:
    """Whether there is something to go through; arrays without an axis only look like it, and a text is one name."""
    return isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) > 0


def _group(tier: Any) -> tuple[str, ...]:
    if isinstance(tier, str):
        return (tier,)
    names: list[Any] = list(tier) if _many(tier) and not isinstance(tier, bytes | Mapping) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ParameterError(f"tiers must be a sequence of groups of names, got a group {brief(tier)}")
    return tuple(names)


def _arcs(name: str, arcs: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    if hasattr(arcs, "columns"):  # those who go through a table may meet its columns
        raise ParameterError(f"{name} must be pairs (from, to), got a {type(arcs).__name__}: pass a list of its rows")
    if isinstance(arcs, Mapping):  # what it says of each arc would be lost
        raise ParameterError(f"{name} must be pairs (from, to), got {brief(arcs)}: pass a list of pairs")
    given: list[Any] = list(arcs) if _many(arcs) else [arcs]
    unordered = set, frozenset
    pairs = [tuple(arc) if _many(arc) and not isinstance(arc, unordered) else (arc,) for arc in given]
    for pair in pairs:
        if len(pair) != 2:
            raise ParameterError(f"{name} must be pairs (from, to), got {brief(pair if len(pair) != 1 else pair[0])}")
    return tuple((str(a), str(b)) for a, b in pairs)


class Rules(NamedTuple):
    """Constraints and hard priors as matrices over the nodes of one data set."""

    allowed: Bools  # (nodes, nodes) [i, j]: the arc i -> j may be in the graph
    fixed: Bools  # (nodes, nodes) the arc i -> j may not be deleted; reversed, where the reverse is allowed
    max_parents: int
    open: Bools  # (nodes,) whether every arc into j is allowed


def make_rules(constraints: Constraints, prior: Prior, nodes: Sequence[str]) -> Rules:
    """Bring constraints and prior together, and complain where they contradict each other."""
    n = len(nodes)
    index = {name: i for i, name in enumerate(nodes)}
    allowed = np.ascontiguousarray(~np.isneginf(prior.log_odds(nodes)))
    np.fill_diagonal(allowed, val=False)
    for arc in constraints.forbidden:
        allowed[place_of(arc, index, "forbidden")] = False
    for later, earlier in _against_time(constraints.tiers, index):
        allowed[later, earlier] = False
    fixed = np.zeros((n, n), dtype=np.bool_)
    for arc in constraints.required:
        i, j = place_of(arc, index, "required")
        if fixed[j, i]:
            raise GraphError(f"{arc[0]} -> {arc[1]} and {arc[1]} -> {arc[0]} are both required: they form a cycle")
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
    if constraints.required:
        DAG(nodes, constraints.required)  # raises where they form a cycle
    limits = [m for m in (constraints.max_parents, prior.max_parents, n - 1) if m is not None]
    rules = Rules(allowed, fixed, min(limits), allowed.sum(axis=0) == n - 1)
    demanded = (fixed & ~fixed.T).sum(axis=0)
    for j in np.flatnonzero(demanded > rules.max_parents).tolist():
        raise GraphError(f"{nodes[j]} has {demanded[j]} required parents, but max_parents is {rules.max_parents}")
    return rules


def broken_rule(dag: DAG, rules: Rules) -> str:
    """Say which of the rules a graph breaks, its nodes being in the order of the rules; nothing if it obeys them."""
    nodes = dag.nodes
    for b, name in enumerate(nodes):
        for a in dag.parent_indices(b):
            if not rules.allowed[a, b]:
                return f"has the arc {nodes[a]} -> {name}, which the constraints or the prior forbid"
        if len(dag.parent_indices(b)) > rules.max_parents:
            return f"gives {name} {len(dag.parent_indices(b))} parents, but max_parents is {rules.max_parents}"
    for i, j in np.argwhere(rules.fixed).tolist():
        if not _adjacent(dag, i, j):
            which = " -> ".join if rules.allowed[i, j] and not rules.allowed[j, i] else " - ".join
            return f"lacks the arc {which([nodes[i], nodes[j]])}, which the constraints or the prior require"
    return ""


def complete_start(start: DAG | None, rules: Rules, nodes: Sequence[str]) -> DAG:
    """Check the graph that a search starts from, and add the arcs that the rules require."""
    dag = DAG(nodes)
    if start is not None:
        if set(start.nodes) != set(nodes):
            odd = sorted(set(start.nodes) ^ set(nodes))[:5]
            raise GraphError(f"the start graph and the data must have the same nodes; only one of them has {odd}")
        dag = start.reordered(nodes)
        if why := broken_rule(dag, rules._replace(fixed=np.zeros_like(rules.fixed))):
            raise GraphError(f"the start graph {why}")
    wanted = sorted({(min(i, j), max(i, j)) for i, j in np.argwhere(rules.fixed).tolist()})
    absent = [(i, j) for i, j in wanted if not _adjacent(dag, i, j)]
    found = _oriented(dag, absent, rules)
    if found is None:
        what = "the start graph and the required arcs" if start is not None else "the required arcs"
        raise GraphError(
            f"{what} cannot all be there without a cycle or more than {rules.max_parents} parents for a node"
        )
    return found


def _adjacent(dag: DAG, i: int, j: int) -> bool:
    return i in dag.parent_indices(j) or j in dag.parent_indices(i)


def _oriented(dag: DAG, pairs: Sequence[tuple[int, int]], rules: Rules) -> DAG | None:
    """Add an arc between each pair, in a direction that is allowed; None where that cannot be done.

    Nodes are put last one after the other, each with arcs from all that are left. Whoever can be last may be: in a
    graph where it is not, turning its arcs towards it leaves the others fewer parents, and closes no cycle.
    """
    if not pairs:
        return dag
    n = len(dag.nodes)
    parents = [mask_of(dag.parent_indices(i)) for i in range(n)]
    either = [0] * n
    for i, j in pairs:
        for a, b in ((i, j), (j, i)):
            if not rules.allowed[b, a]:
                parents[b] |= 1 << a
            else:
                either[b] |= 1 << a
    children = [0] * n
    for child, mask in enumerate(parents):
        for parent in members(mask):
            children[parent] |= 1 << child
    nodes, left = list(range(n)), (1 << n) - 1
    while nodes:
        for place, node in zip(reversed(range(len(nodes))), reversed(nodes), strict=True):
            before = parents[node] | either[node] & left
            if not children[node] & left and before.bit_count() <= rules.max_parents:
                parents[node], left = before, left & ~(1 << node)
                del nodes[place]
                break
        else:
            return None
    return DAG.from_parent_masks(dag.nodes, parents, check=False)


def place_of(arc: tuple[str, str], index: Mapping[str, int], what: str = "") -> tuple[int, int]:
    """Numbers of the nodes of an arc, or an error; `what` says what kind of arc it is."""
    told = f"the {what} arc {arc[0]} -> {arc[1]}" if what else f"the arc {arc[0]} -> {arc[1]}"
    for name in arc:
        if name not in index:
            hint = did_you_mean(near(name, index))
            raise GraphError(f"{told} names {name!r}, which is not a column{hint}")
    if arc[0] == arc[1]:
        raise GraphError(f"{told} is a loop")
    return index[arc[0]], index[arc[1]]


def _against_time(tiers: Sequence[Sequence[str]], index: dict[str, int]) -> Iterable[tuple[int, int]]:
    """Arcs from later tiers to earlier ones."""
    seen: dict[str, int] = {}
    for tier, names in enumerate(tiers):
        for name in names:
            if name not in index:
                hint = did_you_mean(near(name, index))
                raise GraphError(f"tier {tier + 1} has {name!r}, which is not a column{hint}")
            if name in seen:
                raise GraphError(f"{name!r} is in tiers {seen[name] + 1} and {tier + 1}")
            seen[name] = tier
    return [(index[a], index[b]) for a, ta in seen.items() for b, tb in seen.items() if ta > tb]
