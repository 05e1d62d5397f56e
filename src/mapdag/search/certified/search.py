"""Certified search: the default search, then a bound on all graphs that falls until it meets the best one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mapdag.search.certified.proof import Proof
from mapdag.search.frame.result import make_result

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result


def search_certified(
    objective: Objective, cache: FamilyCache, options: Options, *, within: float | None = None, ranks: int = 1
) -> Result:
    """Find the best graph and prove it, or bound how far it can be.

    The default search finds a graph. Then all families are scored that the best graph may have, and a linear program
    over them, with more and more inequalities that graphs obey, bounds the score of every graph from above; where that
    is not enough, graphs are divided into those with and without an arc. When a limit or Ctrl-C ends it, the best graph
    and the bound so far are returned.

    Parameters
    ----------
    objective, cache, options
        What to maximise, on which data, under which constraints and limits. The prior must be a sum over arcs. Where
        the number of parents is not limited, families are looked at as far as is feasible; `Certificate.among` says
        how far.
    within : float, optional
        Nats: find the arcs that all graphs have that are so close to the best one, too.
    ranks : int
        How many of the best graphs to find.
    """
    proof = Proof(objective, cache, options, within=within, ranks=ranks)
    known = proof.search()
    proof.run([known.dag])
    dag = proof.best(known.dag)
    found = make_result(dag, objective, cache, proof.watch, families=proof.families, trace=known.trace)
    return replace(found, certificate=proof.certificate(found.score, dag))
