"""Doing a task: draw the sample, learn every objective by every search, and measure what was learned.

All objectives and searches of a task share one cache of family scores: a family is counted once for all of them. Only
searches that put the columns in an order of their own, and objectives whose alpha is to be found, need other caches.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mapdag.errors import MapdagError, MapdagWarning
from mapdag.search import SEARCHES, Plan
from mapdag.study.cells import Cell, Row, Task
from mapdag.study.goals import at, is_optimised
from mapdag.study.judge import Judge
from mapdag.study.samples import column_order, draw_sample, load_truth
from mapdag.tasks import Lane, within
from mapdag.theory import find_alpha_star

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.search import FamilyCache, Result
    from mapdag.study.design import Search

MAX_ROUNDS = 25  # of learning and estimating alpha


@dataclass(frozen=True)
class Failure:
    """A cell that could not be learned, and why."""

    cell: Cell
    message: str


@dataclass
class Work:
    """Where the time of a task went, in seconds; `cpu` is the processor's, all included.

    `families` counts those of the shared cache once.
    """

    sampling: float = 0.0
    learning: float = 0.0
    judging: float = 0.0
    cpu: float = 0.0
    families: int = 0
    cells: int = 0


class Means(NamedTuple):
    """What a task is done with, as in `mapdag.learn`; one thread, where there are as many workers as cores."""

    device: str = "cpu"
    threads: int | None = 1


def plan_for(search: Search, means: Means = Means()) -> Plan:  # noqa: B008 - it never changes
    """Options of `mapdag.learn` for a search."""
    options: dict[str, Any] = {**dict(search.options), **means._asdict(), "catch_interrupt": False}
    if search.name is not None:
        options["search"] = search.name
    return Plan.make(**options)


def do_task(
    task: Task,
    stop: Callable[[], bool] = lambda: False,
    means: Means = Means(),  # noqa: B008 - it never changes
) -> Iterator[Row | Failure | Work]:
    """Yield a row for each cell of a task as soon as it is learned, and at the end where the time went.

    Parameters
    ----------
    task : Task
    stop : callable
        Asked before each cell; once it says yes, the rest is left.
    means : Means
    """
    work = Work()
    cpu = time.process_time()
    began = time.perf_counter()
    with within(Lane()):  # one thread, since there are as many workers as cores
        truth = load_truth(task.source, task.seed, task.test_rows)
        sample = draw_sample(task, truth.network)
    table = sample.select(column_order(task, sample.names))
    work.sampling = time.perf_counter() - began
    judge = Judge(truth, sample)
    for cell, learned in _learn_all(task, table, work, means):
        if isinstance(learned, Failure):
            yield learned
            continue
        began = time.perf_counter()
        quality = judge.judge(learned.result.dag)
        work.judging += time.perf_counter() - began
        work.learning += learned.seconds
        work.cells += 1
        yield Row(
            **cell._asdict(),
            **asdict(quality),
            n=sample.n_rows,
            score=learned.result.score,
            moves=len(learned.result.trace),
            stopped=learned.result.stopped,
            alpha=learned.alpha,
            flag=learned.flag,
            families=learned.families,
            seconds=learned.seconds,
        )
        if stop():
            break
    work.cpu = time.process_time() - cpu
    yield work


@dataclass(frozen=True)
class _Learned:
    """A result, and what it took."""

    result: Result
    families: int
    seconds: float
    alpha: float | None = None
    flag: str = ""


def _learn_all(task: Task, table: Dataset, work: Work, means: Means) -> Iterator[tuple[Cell, _Learned | Failure]]:
    plain = [at(goal, 1) for _, goals in task.work for goal in goals if not is_optimised(goal)]
    plain = [each for each in plain if not each.is_auto]
    caches: dict[tuple[str, ...], FamilyCache] = {}
    results: dict[tuple[str, str], Result] = {}
    # The shared caches first, for all searches; they can go when the alphas that need their own are learned.
    for search, goals in task.work:
        cache = None
        for goal in (each for each in goals if not is_optimised(each)):
            cell = task.cell(search, goal)
            try:
                began = time.perf_counter()
                plan, objective = plan_for(search, means), at(goal, 1)
                if objective.is_auto:
                    (result,) = plan.run(table, [objective])
                else:
                    cache = cache or _shared(caches, plan, table, plain)
                    result = _search(objective, cache, plan)
                seconds = time.perf_counter() - began
            except MapdagError as error:
                yield cell, Failure(cell, str(error))
                continue
            results[search.label, str(result.objective)] = result
            alpha = None if result.learned is None else result.learned.alpha
            yield cell, _Learned(result, result.families, seconds, alpha)
    work.families = sum(each.families for each in caches.values())
    del cache
    caches.clear()
    for search, goals in task.work:
        for goal in filter(is_optimised, goals):
            cell = task.cell(search, goal)
            known = results.get((search.label, str(at(goal, 1.0))))
            try:
                yield cell, _optimise(goal, plan_for(search, means), table, known)
            except MapdagError as error:
                yield cell, Failure(cell, str(error))


def _shared(
    caches: dict[tuple[str, ...], FamilyCache], plan: Plan, table: Dataset, objectives: list[Objective]
) -> FamilyCache:
    """Cache of all objectives for a search; the same one for all that have the columns in the same order."""
    data, _ = plan.arrange(table)
    if data.names not in caches:
        caches[data.names] = plan.options.make_cache(data, objectives)
    return caches[data.names]


def _search(objective: Objective, cache: FamilyCache, plan: Plan) -> Result:
    return SEARCHES[plan.search](objective, cache, plan.options, **plan.special)


def _optimise(goal: str, plan: Plan, table: Dataset, known: Result | None) -> _Learned:
    """Learn with Steck's optimal alpha, starting at 1; `known` is the result of that first round, if there is one."""
    began = time.perf_counter()
    data, _ = plan.arrange(table)
    found: list[Result] = []
    families = 0

    def learn(alpha: float) -> DAG:
        nonlocal families
        if alpha == 1.0 and known is not None:
            found.append(known)
        else:
            objective = at(goal, alpha)
            found.append(_search(objective, plan.options.make_cache(data, [objective]), plan))
            families += found[-1].families
        return found[-1].dag

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MapdagWarning)  # that alpha did not settle is in the row
        path = find_alpha_star(table, learn, start=1.0, max_rounds=MAX_ROUNDS)
    result = next(each for each in reversed(found) if each.dag is path.dag)
    flag = "" if path.converged else "cycle" if path.cycle else "rounds"
    return _Learned(result, families, time.perf_counter() - began, path.alpha, flag)
