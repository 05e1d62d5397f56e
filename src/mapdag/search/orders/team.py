"""Explorations from many orders, side by side, handed over in a fixed order.

Which thread does which, and when, leaves no trace: each is a function of its numbers, and shares nothing with others
but scores, which are what they are.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from mapdag.tasks import pool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from mapdag.search.cache import Ask, FamilyCache
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
        self._unwanted: set[Errand] = set()
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

    def let_go(self) -> None:
        """Leave what was begun and is not needed so far; asked for again, it goes on where it was."""
        with self._lock:
            while self._waiting:
                self._futures.pop(self._waiting.popleft())
            self._unwanted.update(each for each, future in self._futures.items() if not future.done())

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
                self._unwanted.discard(errand)
                if errand not in self._futures:
                    self._futures[errand] = Future()
                    self._waiting.append(errand)
            at_work = self._threads - len(self._unwanted)
            for _ in range(min(self._watch.threads - at_work, len(self._waiting))):
                self._threads += 1
                pool(_MANY, "mapdag-start").submit(self._work)

    def _work(self) -> None:
        """Do one exploration after the other, in one thread, until there is none, or what it does is not wanted."""
        done = True
        while True:
            with self._lock:
                if not done or not self._waiting:
                    self._threads -= 1
                    return
                errand = self._waiting.popleft()
                future = self._futures[errand]
            try:
                done = self._go(errand)
            except BaseException as error:  # noqa: BLE001 - whoever waits for it is told
                future.set_exception(error)
            else:
                future.set_result(None)

    def _listen(self, future: Future[None]) -> None:
        """Wait, but not for longer than a moment at a time: Ctrl-C comes to this thread."""
        while not future.done():
            wait([future], timeout=_LISTEN)
            self._watch.check()
        future.result()

    def _go(self, errand: Errand) -> bool:
        """Begin an exploration, or go on with it; tells whether it is done."""
        if errand not in self._states:
            self._states[errand] = self._begin(errand)
        while not self._stopped:
            done = self._states[errand].step()
            with self._lock:
                unwanted = errand in self._unwanted
                self._unwanted.discard(errand)
                if unwanted and not done:
                    del self._futures[errand]
            if done or unwanted:
                return done
            self._watch.check()
        return False

    def _go_together(self, errands: Sequence[Errand]) -> None:
        """Go on with all until the first is done; what they ask for in the meantime is asked for at once."""
        for errand in errands:
            if errand not in self._states:
                self._states[errand] = self._begin(errand)
        while errands[0] not in self._done:
            asks: list[Ask] = []
            for errand in [each for each in errands if each not in self._done]:
                while not (found := self._states[errand].advance()):
                    self._watch.check()
                if isinstance(found, bool):
                    self._done.add(errand)
                else:
                    asks += found
            if asks:
                self._cache.fetch(asks)
            self._watch.check()
