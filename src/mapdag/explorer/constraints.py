"""What each constraint costs: how much better the graph would be without it, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mapdag.explorer.answers import finite
from mapdag.explorer.learning import learn_quietly

if TYPE_CHECKING:
    from mapdag.explorer.jobs import Job
    from mapdag.explorer.library import Table
    from mapdag.explorer.settings import Settings

_MOST = 60  # constraints that are looked at one by one


def constraint_costs(job: Job, table: Table, settings: Settings) -> dict[str, Any]:
    """Learn with all constraints, without any, and without each of them, by hill climbing.

    A cost is the score without the constraint less that with it. Hill climbing can end at a better graph with a
    constraint than without it: then the cost is negative. Of elicited probabilities, which change the prior itself, it
    is the log-likelihoods that are compared.
    """
    with_all = learn_quietly(table, settings, job, search="hc")
    free = settings.changed(required=(), forbidden=(), tiers=())
    total = learn_quietly(table, free, job, search="hc").score - with_all.score
    costs: list[dict[str, Any]] = []
    for kind, arc, less in _leave_one_out(settings)[:_MOST]:
        found = learn_quietly(table, less, job, search="hc")
        cost = found.score - with_all.score
        if kind == "elicited":
            cost = found.log_likelihood - with_all.log_likelihood
        costs.append({"kind": kind, "arc": arc, "cost": finite(cost)})
    return {"total": finite(total), "costs": costs, "score": finite(with_all.score)}


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
