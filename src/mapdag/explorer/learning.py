"""Learning for the page: hill climbing answers at once, the search that was asked for follows."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mapdag.errors import Message
from mapdag.explorer.answers import graph_facts, lay_out
from mapdag.explorer.jobs import Cancelled
from mapdag.explorer.memory import Memory
from mapdag.explorer.settings import Settings
from mapdag.notices import heard, unsaid
from mapdag.objective import DEFAULT
from mapdag.reference import network
from mapdag.search.plan import Plan

if TYPE_CHECKING:
    from mapdag.explorer.jobs import Job
    from mapdag.explorer.library import Table
    from mapdag.explorer.limits import Limits
    from mapdag.progress import Progress
    from mapdag.search import Result

_EVERY = 0.2  # seconds between two lines about progress


def learn(
    job: Job, table: Table, settings: Settings, limits: Limits, *, then_default: bool = True, layout: bool = False
) -> None:
    """Tell the graph that hill climbing finds, then that of the search that was asked for.

    Parameters
    ----------
    job : Job
    table : Table
    settings : Settings
    limits : Limits
    then_default : bool
        Whether to go on after hill climbing.
    layout : bool
        Whether to tell where the nodes of each graph are drawn.
    """
    if not is_loaded():
        text = "compiling kernels for this machine, once (about 40 s), or loading them"
        job.tell("progress", sequence=job.sequence, search="hc", phase="compiling", done=0, of=0, text=text)
    names = table.data.names
    searches = ["hc"] if settings.search == "hc" or not then_default else ["hc", settings.search]
    with heard() as said:
        objective = settings.objective
        plan = settings.plan(cancel=job.cancel, time_limit=limits.search)
        plan.check(names, [objective])
        with table.memory.scores(objective, plan.options) as scores:
            for search in searches:
                job.check()
                tell = None if search == "hc" else _progress(job, search)
                found = scores.learn(replace(plan.changed(progress=tell), search=search), names, table.data)
                if job.cancel.is_set():
                    raise Cancelled
                answer = graph_facts(found) | {"search": search, "final": search == searches[-1]}
                answer["warnings"] = [str(Message(*parts)) for parts in said]
                if layout:
                    answer["positions"] = lay_out(names, found.dag.arcs)
                job.tell("graph", sequence=job.sequence, **answer)


def learn_values(job: Job, table: Table, settings: Settings, limits: Limits) -> None:
    """Tell the alpha, and the c or beta, that are learned with a graph, and its joint score by alpha."""
    with heard():
        plan = settings.plan(cancel=job.cancel, time_limit=limits.search, progress=_progress(job, settings.search))
        (found,) = plan.run(table.data, [settings.auto_objective])
    if job.cancel.is_set():
        raise Cancelled
    assert found.learned is not None
    values = Settings.of(found.objective)
    known = {name: getattr(values, name) for name in ("alpha", "c", "beta")}
    profile = [list(point) for point in found.learned.profile]
    job.tell("values", sequence=job.sequence, **known, text=found.learned.values, profile=profile)


def load_kernels() -> None:
    """Learn something small, so that the kernels of the usual searches are there; compiled, the first time."""
    with unsaid():
        data = network("child").sample(200, seed=0)
        memory = Memory(*Plan.make().arrange(data), 10_000_000)
        for search in ("hc", "orders"):
            plan = Plan.make(search=search)
            memory.learn(DEFAULT, plan, data.names, data)
    _loaded.set()


def is_loaded() -> bool:
    """Whether the kernels of the usual searches are there."""
    return _loaded.is_set()


_loaded = threading.Event()


def learn_quietly(table: Table, settings: Settings, job: Job | None = None, **options: Any) -> Result:
    """Learn a graph for somebody who needs it here; the result of an earlier search may be found again."""
    with heard():
        objective = settings.objective
        if job is not None:
            options["cancel"] = job.cancel
        plan = settings.plan(**options)
        plan.check(table.data.names, [objective])
        found = table.memory.learn(objective, plan, table.data.names, table.data)
    if job is not None:
        job.check()
    return found


def _progress(job: Job, search: str) -> Any:
    last = [time.monotonic()]

    def tell(progress: Progress) -> None:
        now = time.monotonic()
        if now - last[0] >= _EVERY:
            last[0] = now
            job.tell(
                "progress",
                sequence=job.sequence,
                search=search,
                phase=progress.phase,
                done=progress.done,
                of=progress.total,
                text=str(progress),
            )

    return tell
