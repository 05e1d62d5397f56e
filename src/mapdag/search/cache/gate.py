"""A gate to what many use at once and somebody must rebuild now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Gate:
    """Lets any number of threads in, or one alone: who rebuilds waits until all others have left."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._inside: set[int] = set()  # threads; one that Ctrl-C kept from leaving does not lock itself out
        self._alone: int | None = None

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Be inside together with others."""
        me = threading.get_ident()
        with self._condition:
            while self._alone not in (None, me):
                self._condition.wait()
            self._inside.add(me)
        try:
            yield
        finally:
            with self._condition:
                self._inside.discard(me)
                if self._alone is not None:
                    self._condition.notify_all()

    @contextmanager
    def alone(self, wanted: Callable[[], bool] = lambda: True) -> Iterator[bool]:
        """Be inside alone, if that is still `wanted` when nobody else is; tells whether that is so.

        Who is alone already stays so. Nobody comes in once `wanted` is called, so that it may ask all others to leave.
        """
        me = threading.get_ident()
        if self._alone == me:
            yield wanted()
            return
        with self._condition:
            while self._alone is not None:
                self._condition.wait()
            mine = wanted()
            if mine:
                self._alone = me
        if not mine:
            yield False
            return
        try:
            with self._condition:
                while self._inside - {me}:
                    self._condition.wait()
            yield True
        finally:
            with self._condition:
                self._alone = None
                self._condition.notify_all()
