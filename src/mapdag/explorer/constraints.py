"""What each constraint costs: how much better the graph would be without it, in nats."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mapdag.explorer.answers import finite
from mapdag.explorer.learning import learn_quietly

if TYPE_CHECKING:
    from mapdag.explorer.jobs import Job
    from mapdag.explorer.library import Table
    from mapdag.explorer.settings import Settings
    from mapdag.search import Result

_MOST = 60  # constraints that are looked at one by one
_PATIENCE = 8.0  # seconds that all of it may take; beyond, graphs are found by hill climbing


def constraint_costs(job: Job, table: Table, settings: Settings) -> dict[str, Any]:
    """Learn with all constraints, without any, and without each of them.

    A cost is the score of the best graph that is found without the constraint, less that of the best one with it, which
    is among them. Of elicited probabilities, which change the prior itself, it is log-likelihoods that are compared.
    The search is the one that was asked for, or hill climbing where that would take too long: the answer says which.
    """
    ways = _leave_one_out(settings)[:_MOST]
    began = time.perf_counter()
    search = settings.search if settings.search in ("orders", "hc", "tabu") else "orders"
    with_all = learn_quietly(table, settings, job, search="hc", time_limit=_PATIENCE)
    if search != "hc":
        slower = learn_quietly(table, settings, job, search=search, time_limit=_PATIENCE)
        fast_enough = (time.perf_counter() - began) * (len(ways) + 1) <= _PATIENCE
        search, with_all = (search, slower) if fast_enough else ("hc", _better(with_all, slower))

    def without(less: Settings) -> Result:
        found = learn_quietly(table, less, job, search=search)
        return _better(found, learn_quietly(table, less, job, search="hc", start=with_all.dag))

    free = settings.changed(required=(), forbidden=(), tiers=())
    total = without(free).score - with_all.score
    costs: list[dict[str, Any]] = []
    for kind, arc, less in ways:
        if kind == "elicited":
            cost = learn_quietly(table, less, job, search=search).log_likelihood - with_all.log_likelihood
        else:
            cost = max(without(less).score - with_all.score, 0.0)
        costs.append({"kind": kind, "arc": arc, "cost": finite(cost)})
    return {"total": finite(max(total, 0.0)), "costs": costs, "score": finite(with_all.score), "search": search}


def _better(first: Result, second: Result) -> Result:
    return second if second.score > first.score else first


def _leave_one_out(settings: Settings) -> list[tuple[str, list[str] | None, Settings]]:
    found: list[tuple[str, list[str] | None, Settings]] = []
    for kind in ("required", "forbidden"):
        arcs = getattr(settings, kind)
        for arc in arcs:
            less = settings.changed(**{kind: tuple(each for each in arcs if each != arc)})
            found.append((kind, list(arc), less))
    if settings.tiers:
        found.append(("tiers", None, settings.changed(tiers=())))
    if settings.prior == "CS":
        for row in settings.elicited:
            less = settings.changed(elicited=tuple(each for each in settings.elicited if each != row))
            found.append(("elicited", list(row[:2]), less))
    return found
