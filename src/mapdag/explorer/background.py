"""What is filled in while one looks at a graph: how strong arcs are, and how far the best graph can be.

Each tells what is known so far, again and again, until it is done or nobody wants to know.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import ParameterError
from mapdag.explorer.answers import certificate_facts, finite, graph_facts
from mapdag.notices import heard
from mapdag.resamples import growing
from mapdag.tasks import available_cores

if TYPE_CHECKING:
    from mapdag.explorer.jobs import Job
    from mapdag.explorer.library import Table
    from mapdag.explorer.limits import Limits
    from mapdag.explorer.settings import Settings
    from mapdag.progress import Progress
    from mapdag.resamples import Bootstrap

_EVERY = 0.25  # seconds between two lines
_MOST_RESAMPLES = 2000


def strengths(
    job: Job, table: Table, settings: Settings, limits: Limits, *, resamples: int, search: str = "hc"
) -> None:
    """Tell how strong each arc is, from more and more resamples: what `mapdag.bootstrap` finds.

    Parameters
    ----------
    job : Job
    table : Table
    settings : Settings
    limits : Limits
    resamples : int
        How many.
    search : str
        How each is learned from: hill climbing unless told otherwise, so that it does not take all day.
    """
    if not 1 <= resamples <= _MOST_RESAMPLES:
        raise ParameterError(f"resamples must be between 1 and {_MOST_RESAMPLES:,}, got {resamples:,}")
    until, last = time.monotonic() + limits.background, 0.0
    threads = max(available_cores() // 2, 1)
    with heard():
        plan = settings.plan(search=search, threads=1)
        with closing(growing(table.data, settings.objective, plan, R=resamples, threads=threads)) as found:
            for known in found:
                job.check()
                now = time.monotonic()
                final = known.replicates == resamples or now > until
                if final or now - last > _EVERY:
                    last = now
                    job.tell("strength", of=resamples, search=search, final=final, **_strengths(known))
                if final:
                    return


def _strengths(known: Bootstrap) -> dict[str, Any]:
    strength, direction = known.strength, known.direction
    pairs = np.argwhere(np.triu(strength, 1) > 0).tolist()
    names = known.nodes
    return {
        "done": known.replicates,
        "arcs": [[names[i], names[j], float(strength[i, j]), float(direction[i, j])] for i, j in pairs],
        "threshold": known.threshold,
    }


def certify(job: Job, table: Table, settings: Settings, limits: Limits) -> None:
    """Tell a bound on the score of all graphs as it falls, and in the end the best graph with its certificate."""
    last = [0.0]

    def tell(progress: Progress) -> None:
        now = time.monotonic()
        if now - last[0] < _EVERY:
            return
        last[0] = now
        bound = finite(progress.bound)
        score = finite(progress.score)
        gap = None if bound is None or score is None else max(bound - score, 0.0)
        job.tell("bound", score=score, bound=bound, gap=gap, final=False, text=str(progress), phase=progress.phase)

    with heard():
        plan = settings.plan(search="certified", cancel=job.cancel, time_limit=limits.background, progress=tell)
        objective = settings.objective
        plan.check(table.data.names, [objective])
        found = table.memory.learn(objective, plan, table.data.names, table.data)
    job.check()
    assert found.certificate is not None
    told = certificate_facts(found.certificate)
    job.tell("bound", score=finite(found.score), final=True, graph=graph_facts(replace(found)), **told)
