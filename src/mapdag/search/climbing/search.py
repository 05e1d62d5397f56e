"""Hill climbing and tabu search over single-arc additions, deletions and reversals.

With ``order="columns"`` the rules for ties are those of R bnlearn (stated in the documentation of `best_move`), which
makes runs comparable arc for arc. A move must beat the others, and doing nothing, by more than a tolerance of 2^-26.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mapdag.checks import check_whole
from mapdag.errors import CycleError
from mapdag.search.climbing.moves import NONE
from mapdag.search.climbing.walk import Walk

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.graphs import DAG
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result


def climb_hills(
    objective: Objective, cache: FamilyCache, options: Options, *, restarts: int = 0, perturb: int | None = None
) -> Result:
    """Climb until no single-arc move improves the score.

    Parameters
    ----------
    objective, cache, options
        What to maximise, on which data, under which constraints and limits.
    restarts : int
        How often to climb again from the best graph after random changes to it.
    perturb : int, optional
        How many random changes; a tenth of the nodes, at least three, unless given.
    """
    restarts = check_whole("restarts", restarts)
    if perturb is not None:
        perturb = check_whole("perturb", perturb, least=1)
    walk = Walk(objective, cache, options)
    with walk.watch:
        walk.begin()
        walk.climb()
        for _ in range(restarts):
            walk.jump(_perturbed(walk, max(3, len(walk.nodes) // 10) if perturb is None else perturb))
            walk.climb()
    return walk.result()


def walk_tabu(
    objective: Objective, cache: FamilyCache, options: Options, *, memory: int = 10, patience: int = 10
) -> Result:
    """Climb; where no move improves the score, take the best one that leads to no graph visited lately.

    Parameters
    ----------
    objective, cache, options
        What to maximise, on which data, under which constraints and limits.
    memory : int
        How many graphs, the current one included, may not be visited again.
    patience : int
        Steps without a new best graph after which the search ends.
    """
    memory, patience = check_whole("memory", memory, least=1), check_whole("patience", patience, least=1)
    walk = Walk(objective, cache, options)
    with walk.watch:
        walk.begin()
        visited = [walk.state.hash]
        wasted = 0
        while True:
            forbidden = np.array(visited[-memory:], dtype=np.uint64)
            step = walk.state.best(0.0, forbidden)
            if step.kind == NONE:
                if wasted >= patience:
                    break
                wasted += 1
                step = walk.state.best(-np.inf, forbidden)
                if step.kind == NONE:
                    break
            best = walk.best_score
            walk.move(step)
            visited.append(walk.state.hash)
            if walk.best_score > best:
                wasted = 0
    return walk.result()


def _perturbed(walk: Walk, changes: int) -> DAG:
    """Best graph after some random legal moves."""
    dag, nodes, rules = walk.best(), walk.nodes, walk.rules
    for _ in range(100 * changes):
        if changes == 0 or len(nodes) < 2:
            break
        i, j = walk.rng.choice(len(nodes), 2, replace=False).tolist()
        a, b = nodes[i], nodes[j]
        turn = bool(walk.rng.integers(2))
        try:
            if dag.has_arc(b, a):
                continue
            if not dag.has_arc(a, b):
                if not rules.allowed[i, j] or len(dag.parents(b)) >= rules.max_parents:
                    continue
                after = dag.with_arc(a, b)
            elif turn and rules.allowed[j, i] and len(dag.parents(a)) < rules.max_parents:
                after = dag.with_reversed(a, b)
            elif not rules.fixed[i, j]:
                after = dag.without_arc(a, b)
            else:
                continue
        except CycleError:
            continue
        if not all(walk.is_supported(x, after) for x in (i, j)):
            continue
        dag = after
        changes -= 1
    return dag
