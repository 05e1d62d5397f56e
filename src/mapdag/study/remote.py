"""An executor that has tasks done on a cluster of Dask; the store stays here."""

from __future__ import annotations

import itertools
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mapdag.cluster import InFlight, while_connected
from mapdag.study.executors import Event, events_of

if TYPE_CHECKING:
    from distributed import Client

    from mapdag.study.cells import Task

_LOOK = 0.2  # seconds between two looks at whether to stop
_ASK = 1.0  # seconds between two questions of a worker whether to stop


class Remote:
    """Does the tasks on the workers of a cluster, one for each thread that they have.

    A task that loses its worker is begun again on another one. Rows come when their task is done.

    Parameters
    ----------
    client : distributed.Client
        From `mapdag.cluster.connect`.
    grace : float
        Seconds that cells in flight get to finish when the run is to end; then they are given up.
    """

    def __init__(self, client: Client, *, grace: float = 10.0) -> None:
        self._client = client
        self._grace = grace
        self.workers = max(sum(client.nthreads().values()), 1)

    def run(self, tasks: Sequence[Task], stop: Callable[[], bool]) -> Iterator[Event]:
        """Do the tasks; one that cannot be done does not end the others."""
        with while_connected("run again to go on"):
            yield from self._run(tasks, stop)

    def _run(self, tasks: Sequence[Task], stop: Callable[[], bool]) -> Iterator[Event]:
        from distributed import Event as Flag

        name = f"study-{uuid.uuid4().hex}"
        keys = (f"{name}-{i}" for i in itertools.count())
        stopped = Flag(name, client=self._client)
        waiting, running = deque(tasks), InFlight["Task"](self._client)
        deadline = float("inf")
        try:
            while waiting or running:
                if deadline == float("inf") and stop():
                    stopped.set()
                    waiting.clear()
                    deadline = time.monotonic() + self._grace
                while waiting and running.room > 0:
                    task = waiting.popleft()
                    running.add(self._client.submit(_do, task, name, key=next(keys), pure=False), task)
                if time.monotonic() > deadline:
                    return
                for task, future in running.ended(_LOOK):
                    yield self._event(task, future)
        finally:
            running.cancel()

    def _event(self, task: Task, future: Any) -> Event:
        if future.status == "error":
            error = future.exception()
            return Event(task, error=f"{type(error).__name__}: {error}")
        event: Event = future.result()
        return event


def _do(task: Task, name: str) -> Event:
    """Do a task on a worker, or as much of it as there is time for: what came out of it, in one piece."""
    from distributed import Event as Flag

    stopped = Flag(name)
    asked, answer = float("-inf"), False

    def stop() -> bool:
        nonlocal asked, answer
        if time.monotonic() - asked > _ASK:
            asked, answer = time.monotonic(), stopped.is_set()
        return answer

    if stop():
        return Event(task)
    try:
        news = list(events_of(task, stop))
    except Exception as error:  # noqa: BLE001 - told to the driver
        return Event(task, error=f"{type(error).__name__}: {error}")
    return Event(
        task,
        tuple(row for each in news for row in each.rows),
        tuple(failure for each in news for failure in each.failures),
        work=news[-1].work,
    )
