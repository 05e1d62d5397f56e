"""Work in flight: each request is a job in a thread, of which a tab has one of each kind; a newer one ends the older.

Those who wait for a graph and what is filled in behind it have threads of their own, so that neither waits for the
other for long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from mapdag.errors import MapdagError
from mapdag.tasks import available_cores, threads_for


class Busy(MapdagError):  # noqa: N818 - what it is
    """There is more to do than is taken on at a time."""


class Cancelled(Exception):  # noqa: N818 - not an error
    """Raised inside a job that is not wanted any more."""


class Job:
    """Something that is done for a tab.

    Parameters
    ----------
    tab, what : str
        Whose it is, and of which kind.
    tell : callable
        Takes what there is to tell; from any thread.
    sequence : int
        Which of the tab's requests it is: a newer one has a higher number.
    """

    def __init__(self, tab: str, what: str, tell: Callable[[dict[str, Any]], None], sequence: int = 0) -> None:
        self.tab, self.what, self.sequence = tab, what, sequence
        self.cancel = threading.Event()
        self._tell = tell

    def tell(self, kind: str, **facts: Any) -> None:
        """Tell something, unless nobody wants to know."""
        if not self.cancel.is_set():
            self._tell({"kind": kind, **facts})

    def check(self) -> None:
        """Leave a job that is not wanted any more."""
        if self.cancel.is_set():
            raise Cancelled


class Desk:
    """Where jobs are taken on.

    Parameters
    ----------
    most : int
        Jobs that are done, or wait, at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: list[Job] = []
        self._lock = threading.Lock()
        cores = available_cores()
        self._front = threads_for(max(4, cores), "explore")
        self._behind = threads_for(max(2, cores // 2), "explore-behind")
        self._closed = False

    @property
    def in_flight(self) -> int:
        """How many jobs there are."""
        with self._lock:
            return len(self._jobs)

    def take(self, job: Job, *, replaces: bool = True) -> None:
        """Take a job on; the tab's older jobs of the same kind end.

        Raises
        ------
        Busy
            If there are too many.
        Cancelled
            If the tab has asked for something newer already.
        """
        with self._lock:
            if self._closed:
                raise Busy("the explorer is about to stop")
            same = [each for each in self._jobs if (each.tab, each.what) == (job.tab, job.what)] if replaces else []
            if any(each.sequence > job.sequence for each in same):
                raise Cancelled
            if len(self._jobs) >= self._most:
                raise Busy(f"{len(self._jobs)} requests are being worked on: wait until one of them is done")
            for each in same:
                each.cancel.set()
            self._jobs.append(job)

    def start(self, job: Job, work: Callable[[], Any], *, behind: bool = False) -> Future[Any]:
        """Do a job that was taken on, in a thread."""

        def run() -> Any:
            try:
                return work()
            finally:
                self.leave(job)

        try:
            future = (self._behind if behind else self._front).submit(run)
        except RuntimeError:  # about to stop
            self.leave(job)
            raise Busy("the explorer is about to stop") from None
        future.add_done_callback(lambda done: self.leave(job) if done.cancelled() else None)
        return future

    def leave(self, job: Job) -> None:
        """Strike a job off the list."""
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)

    def cancel(self, tab: str, what: str | None = None) -> int:
        """End the jobs of a tab, all or those of one kind; returns how many there were."""
        with self._lock:
            found = [each for each in self._jobs if each.tab == tab and what in (None, each.what)]
        for each in found:
            each.cancel.set()
        return len(found)

    def close(self) -> None:
        """End all jobs, and wait until they are out."""
        with self._lock:
            self._closed = True
            found = list(self._jobs)
        for each in found:
            each.cancel.set()
        for pool in (self._front, self._behind):
            pool.shutdown(wait=True, cancel_futures=True)
