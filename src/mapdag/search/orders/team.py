"""Explorations from many orders, side by side, handed over in a fixed order.

Which thread does which, and when, leaves no trace: each is a function of its numbers, and shares nothing with others
but scores, which are what they are.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from mapdag.counts.threads import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.watch import Watch
    from mapdag.search.orders.state import OrderState

Job = tuple[int, int]  # what an exploration is a function of: its generation, and its number there

_MANY = 10_000  # threads that never are at work at the same time
_LISTEN = 0.1  # seconds between two looks at Ctrl-C while threads work


class Team:
    """Explores side by side; a context that stops what is under way.

    Parameters
    ----------
    begin : callable
        Makes an exploration, in the thread that will do it.
    cache : FamilyCache
        Who scores: where compiled code cannot count by itself, questions of all explorations are asked together.
    watch : Watch
        Looked at while they are under way.
    """

    def __init__(self, begin: Callable[[Job], OrderState], cache: FamilyCache, watch: Watch) -> None:
        self._begin = begin
        self._cache = cache
        self._watch = watch
        self._states: dict[Job, OrderState] = {}
        self._futures: dict[Job, Future[None]] = {}
        self._waiting: deque[Job] = deque()  # for a thread
        self._threads = 0  # at work
        self._lock = threading.Lock()
        self._done: set[Job] = set()
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        with self._lock:
            while self._waiting:
                self._futures.pop(self._waiting.popleft())
        wait(self._futures.values())

    @property
    def under_way(self) -> list[OrderState]:
        """Explorations that were begun and not handed over yet, in order."""
        return [self._states[job] for job in sorted(self._states)]

    def get(self, jobs: Sequence[Job]) -> OrderState:
        """Finish the first of some explorations; the others are under way meanwhile, as they will be needed, too."""
        job = jobs[0]
        if not self._cache.is_compiled:
            self._go_together(jobs)
        elif self._watch.threads == 1 or (len(jobs) == 1 and job not in self._futures):
            self._go(job)
        else:
            self._hand_out(jobs)
            self._listen(self._futures[job])
        return self._states.pop(job)

    def _hand_out(self, jobs: Sequence[Job]) -> None:
        """Have threads begin what nobody has begun yet, as many at a time as this search may have."""
        with self._lock:
            for job in jobs:
                if job not in self._futures:
                    self._futures[job] = Future()
                    self._waiting.append(job)
            for _ in range(min(self._watch.threads - self._threads, len(self._waiting))):
                self._threads += 1
                pool(_MANY, "mapdag-start").submit(self._work)

    def _work(self) -> None:
        """Do one exploration after the other, in one thread."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._threads -= 1
                    return
                job = self._waiting.popleft()
            try:
                self._go(job)
            except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
                self._futures[job].set_exception(error)
            else:
                self._futures[job].set_result(None)

    def _listen(self, future: Future[None]) -> None:
        """Wait, but not for longer than a moment at a time: Ctrl-C comes to this thread."""
        while not future.done():
            wait([future], timeout=_LISTEN)
            self._watch.check()
        future.result()

    def _go(self, job: Job) -> None:
        self._states[job] = state = self._begin(job)
        while not self._stopped and not state.step():
            self._watch.check()

    def _go_together(self, jobs: Sequence[Job]) -> None:
        """Go on with all until the first is done; what they ask for in the meantime is asked for at once."""
        for job in jobs:
            if job not in self._states:
                self._states[job] = self._begin(job)
        while jobs[0] not in self._done:
            asks = []
            for job in [each for each in jobs if each not in self._done]:
                while not (ask := self._states[job].advance()):
                    self._watch.check()
                if isinstance(ask, bool):
                    self._done.add(job)
                else:
                    asks.append(ask)
            if asks:
                self._cache.fetch(asks)
            self._watch.check()
