"""Independent tasks, several at a time: in threads of this process, or on the workers of a cluster.

A task is a function of what all tasks share and of its own number. So who does it, when, and beside what else leaves no
trace in what comes out. This is the one place that divides threads between tasks and what goes on inside them.
"""

from __future__ import annotations

import itertools
import os
import threading
import uuid
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from mapdag.checks import check_whole
from mapdag.cluster import connect
from mapdag.errors import ClusterError, MapdagError
from mapdag.notices import heard, warn

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)

_LISTEN = 0.1  # seconds between two looks at Ctrl-C
_AHEAD = 2  # tasks that a cluster is given for each of its threads
_LOSSES = 3  # how often what tasks share may be lost with the workers that had it
_MANY = 10_000  # threads that never are at work at the same time


@dataclass(frozen=True)
class Lane:
    """Where a task is done.

    Attributes
    ----------
    threads : int
        How many it may use itself.
    cancel : threading.Event
        Set once nobody wants the result any more.
    """

    threads: int = 1
    cancel: threading.Event = field(default_factory=threading.Event)


class Job(Protocol[R_co]):
    """What tasks share, and what is done for each number; it can be pickled."""

    def do(self, number: int, lane: Lane) -> R_co:
        """Do one task."""
        ...


_inside: ContextVar[Lane | None] = ContextVar("lane", default=None)


def available_cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def divide(threads: int | None, tasks: int) -> tuple[int, ...]:
    """Divide threads between tasks: one number for each that is done at a time, of threads that it may use itself.

    Parameters
    ----------
    threads : int, optional
        In all; as many as there are cores unless given. Within a task, no more than the task has.
    tasks : int

    Examples
    --------
    >>> divide(16, 64) == (1,) * 16, divide(16, 10), divide(2, 1)
    (True, (2, 2, 2, 2, 2, 2, 1, 1, 1, 1), (2,))
    """
    every = available_cores() if threads is None else check_whole("threads", threads, least=1)
    outer = _inside.get()
    if outer is not None:
        every = min(every, outer.threads)
    lanes = max(min(every, tasks), 1)
    return tuple(every // lanes + (i < every % lanes) for i in range(lanes))


def run_tasks(
    job: Job[T], count: int, *, what: str, threads: int | None = None, most: int | None = None, cluster: Any = None
) -> Generator[tuple[int, T], None, None]:
    """Do the tasks 0, ..., count - 1, and yield their numbers and results as they come.

    Close it where it may be left early: that ends the tasks that are running.

    Parameters
    ----------
    job : Job
    count : int
    what : str
        A word for one of them, for errors and dashboards.
    threads : int, optional
        Threads of this process; as many as there are cores unless given.
    most : int, optional
        Tasks that may be under way here at a time, for example because memory is short; they share all threads.
    cluster : optional
        As in `mapdag.cluster.connect`: then the tasks are done there, one for each thread that a worker has.
    """
    if cluster is None:
        yield from _in_threads(job, count, divide(threads, min(count, most or count)))
    else:
        with connect(cluster) as client:
            yield from _Remote(job, client, what).run(count)


# In threads ----------------------------------------------------------------------------------------------------------


@cache
def _crew() -> ThreadPoolExecutor:
    """Threads that live on, since each remembers the terms that it has computed; as many as were ever needed."""
    return ThreadPoolExecutor(_MANY, thread_name_prefix="mapdag-task")


if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
    os.register_at_fork(after_in_child=_crew.cache_clear)


@dataclass(frozen=True)
class _End:
    """A thread has done its last task; with the error that ended it, if there was one."""

    error: BaseException | None = None


def _in_threads(job: Job[T], count: int, lanes: tuple[int, ...]) -> Iterator[tuple[int, T]]:
    numbers = iter(range(count))  # whoever is free takes the next one
    found: SimpleQueue[tuple[int, T] | _End] = SimpleQueue()
    cancel = threading.Event()

    def work(lane: Lane) -> None:
        _inside.set(lane)
        try:
            for number in numbers:
                if cancel.is_set():
                    break
                found.put((number, job.do(number, lane)))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            found.put(_End(error))
        else:
            found.put(_End())

    # In copies of this context, so that warnings know which call they belong to.
    crew = [_crew().submit(copy_context().run, work, Lane(threads, cancel)) for threads in lanes]
    try:
        for news in _news(found, len(crew)):
            if not isinstance(news, _End):
                yield news
            elif news.error is not None:
                raise news.error
    finally:
        cancel.set()  # those that are running, if this was left early
        for each in crew:
            each.result()


def _news(found: SimpleQueue[Any], ends: int) -> Iterator[Any]:
    """Give what comes until so many ends have come; waits in steps, so that Ctrl-C is heard everywhere."""
    while ends:
        try:
            news = found.get(timeout=_LISTEN)
        except Empty:
            continue
        ends -= isinstance(news, _End)
        yield news


# On a cluster --------------------------------------------------------------------------------------------------------


def _do(job: Job[T], number: int) -> tuple[T, list[tuple[Any, ...]]]:
    """Do one task on a worker; also, what it warns of."""
    with heard() as said:
        return job.do(number, Lane()), said


class _Remote(Generic[T]):
    """Tasks on a cluster: what they share is sent once, and again where it was lost.

    Parameters
    ----------
    job : Job
    client : distributed.Client
    what : str
        A word for one task.
    """

    def __init__(self, job: Job[T], client: Client, what: str) -> None:
        self._job, self._client, self._what = job, client, what
        self._name = f"{what}-{uuid.uuid4().hex}"
        self._attempts = itertools.count()
        self._running: dict[Any, int] = {}
        self._losses = 0
        self._shared: Any = None

    def run(self, count: int) -> Iterator[tuple[int, T]]:
        """Do so many tasks."""
        from distributed import as_completed

        numbers = iter(range(count))
        done = as_completed()
        try:
            self._share()
            for number in itertools.islice(numbers, self._room()):
                done.add(self._submit(number))
            for future in done:
                number = self._running.pop(future)
                if future.status in ("cancelled", "lost"):
                    self._share_again()
                    done.add(self._submit(number))
                    continue
                result, said = self._result(future, number)
                for parts in said:
                    warn(*parts)
                for following in itertools.islice(numbers, self._room() - len(self._running)):
                    done.add(self._submit(following))
                yield number, result
        finally:
            if self._client.status == "running":
                self._client.cancel(list(self._running))
            self._running.clear()
            self._shared = None

    def _room(self) -> int:
        """How many tasks may be under way."""
        return _AHEAD * max(sum(self._client.nthreads().values()), 1)

    def _share(self) -> None:
        self._shared = self._client.scatter(self._job, broadcast=True, hash=False)

    def _share_again(self) -> None:
        """Send what all tasks share once more: the workers that had it have gone."""
        if self._client.status != "running":
            raise ClusterError(f"the scheduler has gone, with {self._what}s that were not done yet")
        if self._shared.status in ("cancelled", "lost"):
            self._losses += 1
            if self._losses > _LOSSES:
                raise ClusterError(f"all workers have gone {self._losses} times: see their logs, perhaps for memory")
            self._share()

    def _submit(self, number: int) -> Any:
        key = f"{self._name}-{number}-{next(self._attempts)}"
        future = self._client.submit(_do, self._shared, number, key=key, pure=False)
        self._running[future] = number
        return future

    def _result(self, future: Any, number: int) -> tuple[T, list[tuple[Any, ...]]]:
        if future.status == "finished":
            found: tuple[T, list[tuple[Any, ...]]] = future.result()
            return found
        error = future.exception()
        if isinstance(error, MapdagError):  # which says the same wherever it happens
            raise error
        told = f"{type(error).__name__}: {error}"
        raise ClusterError(f"{self._what} {number + 1} failed on the cluster: {told}") from error
