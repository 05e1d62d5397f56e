"""Steck's (2008) optimal imaginary sample size for BDeu."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.checks import check_number, check_positive, check_whole
from mapdag.data import ReadingOptions, as_dataset
from mapdag.data.gaps import refuse_gaps
from mapdag.data.interventions import refuse_interventions
from mapdag.errors import Setting
from mapdag.notices import warn
from mapdag.public import public
from mapdag.theory.count_tables import family_counter
from mapdag.theory.effective import effective_parameters

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.counts import CountTable
    from mapdag.data import Dataset
    from mapdag.graphs import DAG


@public(ReadingOptions)
def alpha_star(dag: DAG, data: Any, **reading: Unpack[ReadingOptions]) -> float:
    """Steck's (2008) optimal imaginary sample size for BDeu, given a graph; how to read the table as in `mapdag.read`.

    alpha_S = sum of d_i / sum of e_i over the nodes, with d_i the effective parameters (for a root, its observed
    levels) and e_i = sum over all r q cells of [(n_ijk + 1)/(n + r q) - 1/(r q)] log((n_ijk + 1)/(n_ij + r)).
    """
    known = as_dataset(data, **reading)
    refuse_interventions(known, "the estimate of the best alpha", "; learn with ", Setting("alpha", "auto"))
    refuse_gaps(known, "alpha_star")
    count = family_counter(dag, known)
    top, bottom = 0.0, 0.0
    for node in dag.nodes:
        table = count(node, dag.parents(node))
        top += effective_parameters(table) + (table.n_parents == 0)
        bottom += _alpha_star_cost(table)
    return top / bottom


def _alpha_star_cost(table: CountTable) -> float:
    """Node's e_i; cells that were never observed come in closed form, however many they are."""
    n, r, cells = table.total, table.r, table.r * table.q
    per_configuration = np.diff(table.offsets)
    n_ij = np.repeat(table.n_ij, per_configuration)
    positive = ((table.counts + 1) / (n + cells) - 1 / cells) * np.log((table.counts + 1) / (n_ij + r))
    # For an empty cell 1/(n + r q) - 1/(r q); as a whole number times a fraction, since r q may exceed the floats.
    empty = (r - per_configuration) * -np.log(table.n_ij + r)
    unseen = -(table.q - table.q_obs) * n * r / ((n + cells) * cells) * -math.log(r)
    return float(positive.sum() + empty.sum() * (-n / (n + cells) / cells) + unseen)


@dataclass(frozen=True)
class AlphaPath:
    """How the optimal alpha was found: learn a graph, re-estimate alpha, learn again.

    Attributes
    ----------
    alpha : float
        The last value; on a cycle, the smallest alpha of it.
    dag : DAG
        The graph learned with the last value tried.
    trajectory : tuple of float
        Every alpha tried, and the last one found.
    converged : bool
        Whether alpha stopped changing.
    cycle : tuple of float
        The values it circles through; empty when it converged or ran out of rounds.
    """

    alpha: float
    dag: DAG
    trajectory: tuple[float, ...]
    converged: bool
    cycle: tuple[float, ...] = ()


def find_alpha_star(
    data: Dataset,
    learn: Callable[[float], DAG],
    *,
    start: float = 1.0,
    max_rounds: int = 25,
    tolerance: float = 1e-8,
) -> AlphaPath:
    """Alternate between learning a graph and estimating alpha from it, until alpha settles or repeats itself.

    Parameters
    ----------
    data : Dataset
    learn : callable
        Takes an alpha, returns the graph learned with it.
    start : float
        First alpha.
    max_rounds : int
        Most graphs to learn.
    tolerance : float
        Relative change below which alpha counts as unchanged.
    """
    max_rounds = check_whole("max_rounds", max_rounds, least=1)
    tolerance = check_number("tolerance", tolerance, least=0)
    trajectory = [check_positive("start", start)]
    graphs: list[DAG] = []
    for _ in range(max_rounds):
        graphs.append(learn(trajectory[-1]))
        trajectory.append(alpha_star(graphs[-1], data))
        if math.isclose(trajectory[-1], trajectory[-2], rel_tol=tolerance):
            return AlphaPath(trajectory[-1], graphs[-1], tuple(trajectory), converged=True)
        back = [i for i, a in enumerate(trajectory[:-1]) if math.isclose(a, trajectory[-1], rel_tol=tolerance)]
        if back:
            cycle = trajectory[back[0] : -1]
            alpha = min(cycle)
            warn(
                f"alpha did not settle: it circles through {cycle}; taking {alpha:g}",
            )
            return AlphaPath(
                alpha, graphs[trajectory.index(alpha)], tuple(trajectory), converged=False, cycle=tuple(cycle)
            )
    warn(
        f"alpha did not settle in {max_rounds} rounds; taking the last, {trajectory[-1]:g}",
    )
    return AlphaPath(trajectory[-1], graphs[-1], tuple(trajectory), converged=False)
