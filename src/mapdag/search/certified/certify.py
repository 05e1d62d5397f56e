"""A certificate for a graph that is known."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from mapdag.data import ReadingOptions
from mapdag.errors import GraphError, ParameterError
from mapdag.objective import thin_families
from mapdag.objective.constraints import broken_rule
from mapdag.public import public
from mapdag.search.certified.proof import Proof
from mapdag.search.frame.result import make_result
from mapdag.search.plan import LearnOptions, Plan

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.search.cache import FamilyCache
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
        being used here; `time_limit`, `threads`, `seed`, `engine` and `progress`; `within` and `ranks`; all as in
        `mapdag.learn` with ``search="certified"``.

    Raises
    ------
    GraphError
        If the graph does not obey the constraints or the prior, or `Support` rules it out: then it is none of the
        graphs that a bound would be about.

    Returns
    -------
    Result
        The same with its `certificate`, and with its score under these constraints. If there are better graphs, its
        gap says by how much at most; ``mapdag.learn(..., search="certified")`` finds the best one.

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
        proof = Proof(result.objective, cache, settings, **plan.special)
        scored = make_result(graph, result.objective, cache, proof.watch, families=0)
        _check_allowed(scored, cache)
        known = proof.search()
        proof.run([known.dag, graph])
    return replace(
        result,
        log_prior=scored.log_prior,
        log_likelihood=scored.log_likelihood,
        knowledge=scored.knowledge,
        constraints=scored.constraints,
        certificate=proof.certificate(scored.score).reordered(result.dag.nodes),
    )


def _check_allowed(found: Result, cache: FamilyCache) -> None:
    """Refuse a graph that is none of those that a bound would be about."""
    dag, prior, data = found.dag, found.objective.prior, cache.data
    told = "the graph cannot be certified: it "
    if why := broken_rule(dag, cache.rules(found.objective)):
        raise GraphError(told + why)
    limits = cache.criterion(found.objective).limits
    for family in thin_families(dag, data, prior.support) if prior.support is not None else ():
        if family.configurations > limits[data.index(family.node)]:
            raise GraphError(
                f"{told}spreads rows more thinly than Support({prior.support:g}) allows: {family}; if it was learned "
                "with required arcs, pass these"
            )
    if found.score == -math.inf:
        raise GraphError(f"{told}has probability 0 under {found.objective}")
