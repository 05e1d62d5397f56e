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
from mapdag.objective import most_configurations, thin_families
from mapdag.wording import named

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.search.constraints import Rules

_NAMED = 5  # nodes that a sentence names


def criterion_of(objective: Objective, data: Dataset, rules: Rules) -> Criterion:
    """Return what an objective with `Support` judges families by.

    A required arc wins against `Support`: where the required parents of a node alone have more configurations than it
    allows, the node's parents may have that many, and there is a warning. Nodes that a prior joins without saying which
    way (`CS` with no chance of "no arc") are required parents of each other: it may go either way.
    """
    support = objective.prior.support
    assert support is not None
    limits = [most_configurations(data.total, support)] * data.n_columns
    waived = []
    if rules.fixed.any():
        counter = engine_of(data)
        for node in np.flatnonzero(rules.fixed.any(axis=0)).tolist():
            required = np.flatnonzero(rules.fixed[:, node] & rules.allowed[:, node]).tolist()
            observed = counter.observed(required)
            if observed > limits[node]:
                limits[node] = float(observed)
                waived.append(f"{data.names[node]} ({data.total / observed:.2g} rows per configuration)")
    if waived:
        warn(
            f"required arcs spread rows more thinly than Support({support:g}) allows, and win: "
            f"{named(waived, _NAMED)}; their other parents may not make it worse",
        )
    return Criterion(objective.likelihood, tuple(limits))


def supported_start(start: DAG, objective: Objective, data: Dataset, rules: Rules) -> DAG:
    """Leave out the parents of those nodes of a start graph that `Support` does not allow, but for required ones.

    The same for families that no row has whole, where there are gaps.
    """
    support = objective.prior.support
    if start.n_arcs == 0:
        return start
    empty, thin = _unseen(start, data), []
    if support is not None:
        thin = [(family.node, family.parents) for family in thin_families(start, data, support)]
    for families, why in (
        (empty, "the start graph has families of which no row has all members"),
        (thin, f"the start graph spreads rows more thinly than Support({support or 0:g}) allows"),
    ):
        start = _without_parents(start, families, why, rules)
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
    counter, index = engine_of(data), {name: i for i, name in enumerate(data.names)}
    return [
        (node, dag.parents(node))
        for node in dag.nodes
        if dag.parents(node) and not counter.table(index[node], sorted(index[p] for p in dag.parents(node))).q_obs
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
