"""Who does the tasks: this process, or several others. Another engine needs only the one method of `Executor`."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Protocol

from mapdag.checks import check_whole
from mapdag.cluster import deaf
from mapdag.study.cells import Row, Task
from mapdag.study.worker import Failure, Means, Work, do_task
from mapdag.tasks import available_cores

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_BATCH = 0.25  # seconds for which rows are gathered before they are handed over
_LOOK = 0.2  # seconds between two looks at whether to stop


@dataclass(frozen=True)
class Event:
    """News of a task: rows learned, cells that failed, and at its end where the time went (or why it broke off)."""

    task: Task
    rows: tuple[Row, ...] = ()
    failures: tuple[Failure, ...] = ()
    work: Work | None = None
    error: str = ""


class Executor(Protocol):
    """Does tasks and tells what comes out, in any order."""

    workers: int

    def run(self, tasks: Sequence[Task], stop: Callable[[], bool]) -> Iterator[Event]:
        """Do the tasks, the first ones first; once `stop` says yes, end soon."""
        ...


def events_of(task: Task, stop: Callable[[], bool], means: Means = Means()) -> Iterator[Event]:  # noqa: B008
    """Do one task; rows come in batches."""
    rows: list[Row] = []
    failures: list[Failure] = []
    last = time.monotonic()
    for news in do_task(task, stop, means):
        if isinstance(news, Work):
            yield Event(task, tuple(rows), tuple(failures), work=news)
            return
        if isinstance(news, Row):
            rows.append(news)
        else:
            failures.append(news)
        if time.monotonic() - last > _BATCH:
            yield Event(task, tuple(rows), tuple(failures))
            rows, failures, last = [], [], time.monotonic()


class Serial:
    """Does the tasks in this process, one after the other.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"}
        Where rows are counted, as in `mapdag.learn`.
    """

    workers = 1

    def __init__(self, device: str = "cpu") -> None:
        self._means = Means(device, 1 if device == "cpu" else None)

    def run(self, tasks: Sequence[Task], stop: Callable[[], bool]) -> Iterator[Event]:
        """Do the tasks."""
        for task in tasks:
            if stop():
                return
            try:
                yield from events_of(task, stop, self._means)
            except Exception as error:  # noqa: BLE001 - one task must not end the others
                yield Event(task, error=f"{type(error).__name__}: {error}")


def _work(inbox: Connection, means: Means) -> None:
    """Do tasks as they come, in a process of its own, until there are no more; what comes meanwhile ends the task."""
    threading.Thread(target=_follow_parent, daemon=True).start()
    try:
        while (task := inbox.recv()) is not None:
            try:
                for event in events_of(task, inbox.poll, means):
                    inbox.send(event)
            except Exception as error:  # noqa: BLE001, PERF203 - told to the parent
                inbox.send(Event(task, error=f"{type(error).__name__}: {error}"))
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the parent has gone, or wants us to


def _follow_parent() -> None:
    """End this process when its parent has ended, however that was."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    task: Task | None = None


class Processes:
    """Does the tasks in several processes.

    Parameters
    ----------
    workers : int, optional
        How many; as many as there are cores unless given.
    grace : float
        Seconds that cells in flight get to finish when the run is to end; then they are given up.
    device : {"cpu", "cuda", "auto"}
        Where rows are counted, as in `mapdag.learn`; the processes share it.
    """

    def __init__(self, workers: int | None = None, *, grace: float = 10.0, device: str = "cpu") -> None:
        self.workers = check_whole("workers", workers or available_cores(), least=1)
        self._grace = grace
        self._means = Means(device, 1 if device == "cpu" else max(1, available_cores() // self.workers))
        # Not forked: kernels may have started threads in this process.
        self._context = multiprocessing.get_context("spawn")

    def run(self, tasks: Sequence[Task], stop: Callable[[], bool]) -> Iterator[Event]:
        """Do the tasks; a process that dies takes only its task with it."""
        waiting = deque(tasks)
        crew: list[_Worker] = []
        deadline = float("inf")
        try:
            for _ in range(min(self.workers, len(waiting))):
                crew.append(self._hire())
                _give(crew[-1], waiting)
            while any(worker.task is not None for worker in crew):
                if deadline == float("inf") and stop():
                    for worker in crew:
                        _send(worker, None)
                    waiting.clear()
                    deadline = time.monotonic() + self._grace
                if time.monotonic() > deadline:
                    return
                for ready in wait([worker.pipe for worker in crew if worker.task is not None], timeout=_LOOK):
                    worker = next(each for each in crew if each.pipe is ready)
                    event = _receive(worker)
                    if event is None:
                        assert worker.task is not None
                        yield Event(worker.task, error=_death(worker.process))
                        crew[crew.index(worker)] = worker = self._hire()
                        _give(worker, waiting)
                        continue
                    yield event
                    if event.work is not None or event.error:
                        _give(worker, waiting)
        finally:
            for worker in crew:
                _dismiss(worker)

    def _hire(self) -> _Worker:
        mine, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._means), daemon=True)
        with deaf():
            process.start()
        theirs.close()
        return _Worker(process, mine)


def _give(worker: _Worker, waiting: deque[Task]) -> None:
    worker.task = waiting.popleft() if waiting else None
    if worker.task is not None:
        _send(worker, worker.task)


def _send(worker: _Worker, task: Task | None) -> None:
    """Give a worker a task, or tell it that there are no more."""
    with suppress(OSError):  # it has died, which the next receipt finds out
        worker.pipe.send(task)


def _receive(worker: _Worker) -> Event | None:
    try:
        event: Event = worker.pipe.recv()
    except (EOFError, OSError):
        return None
    return event


def _death(process: BaseProcess) -> str:
    process.join(5)
    return f"the worker process ended with exit code {process.exitcode} (-9: killed, perhaps for lack of memory)"


def _dismiss(worker: _Worker) -> None:
    if worker.task is None:
        _send(worker, None)
        worker.process.join(1)
    if worker.process.is_alive():
        worker.process.terminate()
        worker.process.join(5)
    worker.pipe.close()


def make_executor(workers: int | None = None, *, grace: float = 10.0, device: str = "cpu") -> Executor:
    """Return the executor for so many workers: this process for one, otherwise processes; with a device, one."""
    if workers is None:
        workers = available_cores() if device == "cpu" else 1
    return Serial(device) if workers == 1 else Processes(workers, grace=grace, device=device)
