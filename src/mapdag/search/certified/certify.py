"""A certificate for a graph that is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mapdag.data import ReadingOptions
from mapdag.errors import ParameterError
from mapdag.public import public
from mapdag.search.certified.proof import Proof
from mapdag.search.constraints import complete_start
from mapdag.search.plan import LearnOptions, Plan

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.search.frame.result import Result


@public(LearnOptions, but=["search", "start", "max_iter", *ReadingOptions.__annotations__])
def certify(result: Result, **options: Unpack[LearnOptions]) -> Result:
    """Bound the score of all graphs, hence how far a graph is from the best one.

    Parameters
    ----------
    result : Result
        Of any search, or of `Result.given`; on its data, under its objective, whose prior must be a sum over arcs.
    **options
        The constraints that graphs must obey (`required`, `forbidden`, `tiers`, `max_parents`), those of the result not
        being known here; `time_limit`, `threads`, `seed`, `engine` and `progress`; `within` and `ranks`; all as in
        `mapdag.learn` with ``search="certified"``.

    Returns
    -------
    Result
        The same with its `certificate`. If there are better graphs, its gap says by how much at most;
        ``mapdag.learn(..., search="certified")`` finds the best one.

    Examples
    --------
    >>> import mapdag as md
    >>> found = md.hill_climb(md.network("asia").sample(500, seed=1), "MU(c=1)+BDs(1)")
    >>> print(md.certify(found, max_parents=3).certificate)
    within 3.1 of the optimum among graphs with at most 3 parents
    """
    if not hasattr(result, "objective") or not hasattr(result, "data"):
        raise ParameterError(f"result must be what a search returns, got {type(result).__name__}")
    plan = Plan.make(**options, search="certified")
    data, _ = plan.arrange(result.data)
    graph = result.dag.reordered(data.names)
    with plan.begun() as settings:
        cache = settings.make_cache(data, [result.objective])
        complete_start(graph, cache.rules(result.objective), data.names)  # raises where it breaks the constraints
        proof = Proof(result.objective, cache, settings, **plan.special)
        known = proof.search()
        proof.run([known.dag, graph])
    return replace(result, certificate=proof.certificate(result.score).reordered(result.dag.nodes))
