"""Independent tasks, several at a time: in threads of this process, or on the workers of a cluster.

A task is a function of what all tasks share and of its own number. So who does it, when, and beside what else leaves no
trace in what comes out. This is the one place that divides threads between tasks and what goes on inside them.
"""

from __future__ import annotations

import itertools
import os
import threading
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from mapdag.checks import check_whole
from mapdag.errors import ClusterError, MapdagError
from mapdag.notices import heard, warn

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)

_LISTEN = 0.1  # seconds between two looks at Ctrl-C
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


@contextmanager
def within(lane: Lane) -> Iterator[None]:
    """Let whatever asks for threads as long as this lasts have those of a lane, and no more."""
    token = _inside.set(lane)
    try:
        yield
    finally:
        _inside.reset(token)


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
        from mapdag.cluster import connect, while_connected

        with connect(cluster) as client, while_connected("nothing is left of what was done"):
            yield from _Remote(job, client, what).run(count)


# In threads ----------------------------------------------------------------------------------------------------------


def threads_for(count: int, purpose: str = "mapdag") -> ThreadPoolExecutor:
    """Return so many threads for one piece of work; close them after it."""
    return ThreadPoolExecutor(count, thread_name_prefix=purpose)


@cache
def pool(threads: int, purpose: str = "mapdag") -> ThreadPoolExecutor:
    """Return so many threads, always the same ones for one purpose: those of one do not wait for those of another.

    They live on, since each remembers the terms that it has computed.
    """
    return threads_for(threads, purpose)


if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
    os.register_at_fork(after_in_child=pool.cache_clear)


@contextmanager
def helped(task: Callable[[], None], threads: int, helpers: int) -> Iterator[None]:
    """Have some of so many threads do a task, too, which all share by taking turns; they are done at the end."""
    sent = [pool(threads).submit(task) for _ in range(helpers)]
    try:
        yield
    finally:
        for each in sent:
            each.result()


def in_order(makers: Iterable[Callable[[], T]], most: int) -> Iterator[T]:
    """Call functions in at most so many threads, some ahead, and give what they return in order."""
    threads = min(os.cpu_count() or 1, most)
    waiting: deque[Future[T]] = deque()
    with threads_for(threads) as crew:
        try:
            for make in makers:
                waiting.append(crew.submit(make))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@dataclass(frozen=True)
class _End:
    """A thread has done its last task; with the error that ended it, if there was one."""

    error: BaseException | None = None


def _in_threads(job: Job[T], count: int, lanes: tuple[int, ...]) -> Iterator[tuple[int, T]]:
    numbers = iter(range(count))  # whoever is free takes the next one
    found: SimpleQueue[tuple[int, T] | _End] = SimpleQueue()
    cancel = threading.Event()

    def work(lane: Lane) -> None:
        try:
            with within(lane):
                for number in numbers:
                    if cancel.is_set():
                        break
                    found.put((number, job.do(number, lane)))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            found.put(_End(error))
        else:
            found.put(_End())

    # In copies of this context, so that warnings know which call they belong to.
    crew = [pool(_MANY, "mapdag-task").submit(copy_context().run, work, Lane(threads, cancel)) for threads in lanes]
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


@dataclass(frozen=True)
class _Told(Generic[T]):
    """What comes back from a worker: a result, or an error that says the same wherever it happens; and warnings."""

    result: T | None
    error: MapdagError | None = None
    said: tuple[tuple[Any, ...], ...] = ()


def _do(job: Job[T], number: int) -> _Told[T]:
    """Do one task on a worker."""
    lane = Lane()
    with heard() as said, within(lane):
        try:
            result = job.do(number, lane)
        except MapdagError as error:
            return _Told(None, error)
    return _Told(result, said=tuple(said))


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
        from mapdag.cluster import InFlight

        self._job, self._client, self._what = job, client, what
        self._name = f"{what}-{uuid.uuid4().hex}"
        self._attempts = itertools.count()
        self._window = InFlight[int](client)
        self._losses = 0
        self._shared: Any = None

    def run(self, count: int) -> Iterator[tuple[int, T]]:
        """Do so many tasks."""
        numbers = iter(range(count))
        try:
            self._share()
            while self._fill(numbers):
                ended = dict(self._wait())
                # Those that failed, or were lost just now, come back as None.
                told: dict[int, _Told[T] | None] = self._client.gather(ended, errors="skip")
                for number, each in told.items():
                    if each is not None:
                        yield number, self._result(each)
                    elif ended[number].status == "error":
                        raise self._failure(number, ended[number].exception())
                    else:
                        self._share_again(number)
                        self._submit(number)
        finally:
            self._window.cancel()
            self._shared = None

    def _fill(self, numbers: Iterator[int]) -> bool:
        """Submit what there is room for; tells whether anything is under way."""
        for number in itertools.islice(numbers, max(self._window.room, 0)):
            self._submit(number)
        return bool(self._window)

    def _wait(self) -> list[tuple[int, Any]]:
        """Wait for tasks to end, in one way or another; in steps, so that Ctrl-C is heard everywhere."""
        while not (ended := self._window.ended(_LISTEN)):
            pass
        return ended

    def _share(self) -> None:
        self._shared = self._client.scatter(self._job, broadcast=True, hash=False)

    def _share_again(self, number: int) -> None:
        """Send what all tasks share once more: the workers that had it have gone."""
        if self._shared.status in ("cancelled", "lost"):
            self._losses += 1
            if self._losses > _LOSSES:
                raise ClusterError(
                    f"{self._what} {number + 1} failed on the cluster: all workers have gone {self._losses} times, the "
                    "last time during it (their logs may say why; most often memory is short)"
                )
            self._share()

    def _submit(self, number: int) -> None:
        key = f"{self._name}-{number}-{next(self._attempts)}"
        future = self._client.submit(_do, self._shared, number, key=key, pure=False)
        self._window.add(future, number)

    def _result(self, told: _Told[T]) -> T:
        """Return the result, once its warnings are said."""
        if told.error is not None:
            raise told.error
        for parts in told.said:
            warn(*parts)
        return cast("T", told.result)

    def _failure(self, number: int, error: BaseException) -> ClusterError:
        """Say which task failed, where that is not what the user did."""
        found = ClusterError(f"{self._what} {number + 1} failed on the cluster: {type(error).__name__}: {error}")
        found.__cause__ = error
        return found
