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

Errand = tuple[int, int]  # what an exploration is a function of: its generation, and its number there

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

    def __init__(self, begin: Callable[[Errand], OrderState], cache: FamilyCache, watch: Watch) -> None:
        self._begin = begin
        self._cache = cache
        self._watch = watch
        self._states: dict[Errand, OrderState] = {}
        self._futures: dict[Errand, Future[None]] = {}
        self._waiting: deque[Errand] = deque()  # for a thread
        self._threads = 0  # at work
        self._lock = threading.Lock()
        self._done: set[Errand] = set()
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End what is under way, and wait until that is done."""
        self._stopped = True
        with self._lock:
            while self._waiting:
                self._futures.pop(self._waiting.popleft())
        wait(self._futures.values())

    @property
    def under_way(self) -> list[OrderState]:
        """Explorations that were begun and not handed over yet, in order."""
        return [self._states[errand] for errand in sorted(self._states)]

    def get(self, errands: Sequence[Errand]) -> OrderState:
        """Finish the first of some explorations; the others are under way meanwhile, as they will be needed, too."""
        errand = errands[0]
        if not self._cache.is_compiled:
            self._go_together(errands)
        elif self._watch.threads == 1 or (len(errands) == 1 and errand not in self._futures):
            self._go(errand)
        else:
            self._hand_out(errands)
            self._listen(self._futures[errand])
        return self._states.pop(errand)

    def _hand_out(self, errands: Sequence[Errand]) -> None:
        """Have threads begin what nobody has begun yet, as many at a time as this search may have."""
        with self._lock:
            for errand in errands:
                if errand not in self._futures:
                    self._futures[errand] = Future()
                    self._waiting.append(errand)
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
                errand = self._waiting.popleft()
            try:
                self._go(errand)
            except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
                self._futures[errand].set_exception(error)
            else:
                self._futures[errand].set_result(None)

    def _listen(self, future: Future[None]) -> None:
        """Wait, but not for longer than a moment at a time: Ctrl-C comes to this thread."""
        while not future.done():
            wait([future], timeout=_LISTEN)
            self._watch.check()
        future.result()

    def _go(self, errand: Errand) -> None:
        self._states[errand] = state = self._begin(errand)
        while not self._stopped and not state.step():
            self._watch.check()

    def _go_together(self, errands: Sequence[Errand]) -> None:
        """Go on with all until the first is done; what they ask for in the meantime is asked for at once."""
        for errand in errands:
            if errand not in self._states:
                self._states[errand] = self._begin(errand)
        while errands[0] not in self._done:
            asks = []
            for errand in [each for each in errands if each not in self._done]:
                while not (ask := self._states[errand].advance()):
                    self._watch.check()
                if isinstance(ask, bool):
                    self._done.add(errand)
                else:
                    asks.append(ask)
            if asks:
                self._cache.fetch(asks)
            self._watch.check()
