"""How thin the families of a graph may be: `Support`, and what required arcs and start graphs do to it.

Also, families that no row has whole, which are impossible where scores go by locally complete rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.counts import engine_of
from mapdag.data.problems import listed
from mapdag.errors import GraphError
from mapdag.families import Criterion
from mapdag.graphs import DAG
from mapdag.notices import warn
from mapdag.objective import limits_of, thin_families
from mapdag.objective.constraints import broken_rule
from mapdag.wording import named

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.objective.constraints import Rules

_NAMED = 5  # nodes that a sentence names


def criterion_of(objective: Objective, data: Dataset, rules: Rules) -> Criterion:
    """Return what an objective with `Support` judges families by.

    A required arc wins against `Support` (`limits_of`), with a warning.
    """
    support = objective.prior.support
    assert support is not None
    limits = limits_of(data, support, rules)
    if limits.waived:
        rows = data.totals
        waived = [f"{data.names[x]} ({rows[x] / limits.most[x]:.2g} rows per configuration)" for x in limits.waived]
        warn(
            f"required arcs spread rows more thinly than Support({support:g}) allows, and win: "
            f"{named(waived, _NAMED)}; their other parents may not make it worse",
        )
    return Criterion(objective.likelihood, limits.most)


def supported_start(start: DAG, objective: Objective, data: Dataset, rules: Rules, *, is_given: bool) -> DAG:
    """Leave out the parents of those nodes of a start graph that `Support` does not allow, but for required ones.

    The same for families that no row has whole, where there are gaps. Arcs that may go either way are turned where one
    direction only is possible; a start graph that has the other one is given up.
    """
    support = objective.prior.support
    has_pairs = bool((rules.fixed & rules.allowed & rules.allowed.T).any())
    if start.n_arcs == 0 or not (is_given or has_pairs) or (support is None and not data.has_gaps):
        return start
    limits = limits_of(data, support, rules)
    most = dict(zip(data.names, limits.most, strict=True))

    def unseen(dag: DAG) -> list[tuple[str, tuple[str, ...]]]:
        return _unseen(dag, data)

    def thin(dag: DAG) -> list[tuple[str, tuple[str, ...]]]:
        families = () if support is None else thin_families(dag, data, support)
        return [(family.node, family.parents) for family in families if family.configurations > most[family.node]]

    told = {
        unseen: "the start graph has families of which no row has all members",
        thin: f"the start graph spreads rows more thinly than Support({support or 0:g}) allows",
    }
    if is_given:
        for find, why in told.items():
            start = _without_parents(start, find(start), why, rules)
    for find, why in told.items():
        if not find(start):
            continue
        found = DAG.from_parent_masks(data.names, limits.parents, check=False)
        if broken_rule(found, rules):
            raise GraphError(
                "the prior requires arcs between pairs of nodes, but no directions of them were found that leave rows "
                "with values of a node and all its parents, so that there is nothing to score these families by; "
                "mapdag.structural_em fills gaps"
            )
        if is_given:
            warn(f"{why} by arcs that may go the other way: it is left out")
        return found
    return start


def _without_parents(dag: DAG, families: list[tuple[str, tuple[str, ...]]], why: str, rules: Rules) -> DAG:
    """Leave out the parents of some families, but for required ones, and say so."""
    index = {name: i for i, name in enumerate(dag.nodes)}
    arcs = set(dag.arcs)
    dropped = []
    for node, parents in families:
        free = [p for p in parents if not rules.fixed[index[p], index[node]]]
        arcs.difference_update((p, node) for p in free)
        dropped += [node] * bool(free)
    if not dropped:
        return dag
    warn(f"{why}: the parents of {named(dropped, _NAMED)} are left out of it")
    return type(dag)(dag.nodes, arcs)


def _unseen(dag: DAG, data: Dataset) -> list[tuple[str, tuple[str, ...]]]:
    """Families with parents of which no row has all members; none where there are no gaps."""
    if not data.has_gaps:
        return []
    counter, index, rows = engine_of(data), {name: i for i, name in enumerate(data.names)}, data.totals
    return [
        (node, dag.parents(node))
        for node in dag.nodes
        if dag.parents(node)
        and rows[index[node]]
        and not counter.table(index[node], sorted(index[p] for p in dag.parents(node))).q_obs
    ]


def refuse_impossible(rules: Rules, data: Dataset) -> None:
    """Refuse required arcs that make a family of which no row has all members: every graph would be impossible."""
    demanded = rules.fixed & rules.allowed & ~rules.allowed.T
    if not data.has_gaps or not demanded.any():
        return
    arcs = [(data.names[i], data.names[j]) for i, j in np.argwhere(demanded).tolist()]
    for node, parents in _unseen(DAG(data.names, arcs), data):
        required = ", ".join(f"{parent} -> {node}" for parent in parents)
        raise GraphError(
            f"required: {required}, but no row has values of all of {listed([*parents, node])}, so that there is "
            "nothing to score such a family by; mapdag.structural_em fills gaps"
        )
