"""Explorations from many orders, side by side, handed over in a fixed order.

Which thread does which, and when, leaves no trace: each is a function of its numbers, and shares nothing with others
but scores, which are what they are.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.watch import Watch
    from mapdag.search.orders.state import OrderState

Job = tuple[int, int]  # what an exploration is a function of: its generation, and its number there

_LISTEN = 0.1  # seconds between two looks at Ctrl-C while threads work


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that live on, since each remembers the terms that it has computed."""
    return ThreadPoolExecutor(threads, thread_name_prefix="mapdag-start")


if hasattr(os, "register_at_fork"):  # a process that is forked off has none of them
    os.register_at_fork(after_in_child=_pool.cache_clear)


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
        self._done: set[Job] = set()
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        for future in self._futures.values():
            future.cancel()
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
            for each in jobs:
                if each not in self._futures:
                    self._futures[each] = _pool(self._watch.threads).submit(self._go, each)
            self._listen(self._futures[job])
        return self._states.pop(job)

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
