"""The one line that is printed unasked: that kernels are being compiled, where one would have to wait in silence.

It goes to standard error, only if compilation really takes a while (what is found in numba's cache on disk takes none),
and again only after a pause. The environment variable ``MAPDAG_QUIET=1`` hides it. What a search says of its own time
leaves compilation out: it is no property of the search, and gone the next time.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import event

_SWITCH = "MAPDAG_QUIET"
_AFTER = 1.0  # seconds of compilation that are not worth a line
_PAUSE = 5.0  # seconds without compilation after which more of it is worth another line
_PACKAGE = __name__.partition(".")[0]


class _Listener(event.Listener):
    """Adds up the time that the compiler takes for our kernels: one at a time, though some within others."""

    def __init__(self) -> None:
        self.total = 0.0
        self.quiet = True
        self._depth = 0
        self._began = 0.0
        self._ended = -_PAUSE
        self._spent = 0.0
        self._said = False
        self._timer = threading.Timer(0, self._say)

    def on_start(self, event: Any) -> None:
        """Note that the compiler begins a function, and that it may take long enough for a line."""
        if not _is_ours(event):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self._began = time.monotonic()
        if self._began - self._ended > _PAUSE:
            self._spent, self._said = 0.0, False
        if not self._said and not self.quiet:
            self._timer = threading.Timer(max(_AFTER - self._spent, 0.0), self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """Note that the compiler has finished it."""
        if not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self._timer.cancel()
            self._ended = time.monotonic()
            self._spent += self._ended - self._began
            self.total += self._ended - self._began

    def _say(self) -> None:
        self._said = True
        sys.stderr.write(f"mapdag: compiling its kernels for this machine, once ({_estimate()})\n")
        sys.stderr.flush()


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).partition(".")[0] == _PACKAGE


def _estimate() -> str:
    """How long it takes: most of the time goes into the kernels of the search."""
    search = Path(__file__).parent / "search" / "climbing" / "__pycache__"
    return "less than a minute" if any(search.glob("climb.climb-*.nbc")) else "about 40 s"


_listener = _Listener()


def announce() -> None:
    """Have the time of compilation taken from now on, and announced in the process that a user started."""
    _listener.quiet = os.environ.get(_SWITCH, "0") not in ("", "0") or multiprocessing.parent_process() is not None
    event.register("numba:compile", _listener)  # type: ignore[no-untyped-call]


def seconds() -> float:
    """Tell how long this process has compiled so far, or waited for another one that does."""
    return _listener.total


@contextmanager
def waiting() -> Iterator[None]:
    """Count the time inside as compilation."""
    began = time.monotonic()
    yield
    _listener.total += time.monotonic() - began
