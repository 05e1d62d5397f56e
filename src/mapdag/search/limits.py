"""How thin the families of a graph may be: `Support`, and what required arcs and start graphs do to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.counts import engine_of
from mapdag.families import Criterion
from mapdag.notices import warn
from mapdag.objective import most_configurations, thin_families
from mapdag.wording import named

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
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
    """Leave out the parents of those nodes of a start graph that `Support` does not allow, but for required ones."""
    support = objective.prior.support
    if support is None or start.n_arcs == 0:
        return start
    index = {name: i for i, name in enumerate(data.names)}
    arcs = set(start.arcs)
    dropped = []
    for family in thin_families(start, data, support):
        free = [p for p in family.parents if not rules.fixed[index[p], index[family.node]]]
        arcs.difference_update((p, family.node) for p in free)
        dropped += [family.node] * bool(free)
    if not dropped:
        return start
    warn(
        f"the start graph spreads rows more thinly than Support({support:g}) allows: the parents of "
        f"{named(dropped, _NAMED)} are left out of it",
    )
    return type(start)(start.nodes, arcs)
