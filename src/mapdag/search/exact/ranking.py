"""The k best graphs of all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mapdag.checks import check_whole
from mapdag.data import as_dataset, split_options
from mapdag.objective import DEFAULT, parse
from mapdag.public import public
from mapdag.search.exact.lattice import TIE, Lattice
from mapdag.search.exact.search import climb_instead, result_of
from mapdag.search.exact.succession import ranked_graphs
from mapdag.search.plan import LearnOptions, Plan

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.objective import Goal
    from mapdag.search.frame.result import Result


@public(LearnOptions, but=["search"])
def best_dags(
    data: Any, objective: Goal = DEFAULT, *, k: int = 10, **options: Unpack[LearnOptions]
) -> tuple[Result, ...]:
    """Find the k graphs with the highest scores of all, best first.

    Equivalent graphs are different graphs. The first is the graph of exact search; among equal scores, fewer arcs come
    first. There are fewer than k results where there are fewer graphs. Stopped early, by `time_limit` or Ctrl-C, there
    is one: that of hill climbing, marked.

    Parameters
    ----------
    data, objective
        As in `mapdag.learn`; the prior must be a sum over arcs. "auto" values are learned by the default search, and
        taken as given here.
    k : int
        How many.
    **options
        Constraints, `threads`, `time_limit`, `progress` and how to read the table, as in `mapdag.learn`.

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.network("asia").sample(200, seed=1)
    >>> first, second = md.best_dags(data, "BDeu(1)", k=2)
    >>> first.score >= second.score, first.dag == second.dag
    (True, False)
    """
    k = check_whole("k", k, least=1)
    reading, searching = split_options(options)
    plan = Plan.make(**searching, search="exact")
    table = as_dataset(data, **reading)
    goal = plan.concrete(parse(objective), table)
    arranged, alike = plan.arrange(table)
    results: list[Result] = []
    with plan.begun() as settings:
        lattice = Lattice(settings.make_cache(arranged, [goal]), goal, settings, copies=2)
        with lattice.watch:
            results = [result_of(parents, lattice) for _, parents in ranked_graphs(lattice, k)]
            results[1:] = sorted(results[1:], key=lambda result: TIE * result.dag.n_arcs - result.score)
        if lattice.watch.stopped != "converged":
            results = [climb_instead(lattice, settings)]
    return tuple(
        replace(each, dag=each.dag.reordered(table.names), data=table, alike=alike, seconds=lattice.watch.seconds)
        for each in results
    )
