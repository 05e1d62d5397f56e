"""What is said unasked: that kernels are being compiled, where one would have to wait in silence. And Ctrl-C meanwhile.

The line goes to standard error, only if compilation really takes a while (what is found in numba's cache on disk takes
none), and again only after a pause. The environment variable ``MAPDAG_QUIET=1`` hides it. What a search says of its own
time leaves compilation out: it is no property of the search, and gone the next time.

Python raises `KeyboardInterrupt` wherever it is. Inside the compiler that may be in a function that LLVM calls, where
it is printed and forgotten, or in the middle of tables that later kernels need. So Ctrl-C waits for the end of a
kernel, some seconds at most, which then is on disk, too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
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
        self._said = self._asked = False
        self._timer = threading.Timer(0, self._say)

    def on_start(self, event: Any) -> None:
        """Note that the compiler begins a function, and that it may take long enough for a line."""
        if not _is_ours(event):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self._began, self._asked = time.monotonic(), False
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

    def ask_for_patience(self) -> None:
        """Say that Ctrl-C waits, once for each function, if the compiler is at work in any thread."""
        if self._depth > 0 and not self._asked and not self.quiet:
            self._asked = True
            _write("interrupted, when the compiler is done with a kernel; Ctrl-C again ends at once")

    def _say(self) -> None:
        self._said = True
        _write("compiling its kernels for this machine, once for each kind of use; mapdag warm-up does it beforehand")


def _write(text: str) -> None:
    sys.stderr.write(f"mapdag: {text}\n")
    sys.stderr.flush()


def _is_ours(event: Any) -> bool:
    return str(event.data["dispatcher"].py_func.__module__).partition(".")[0] == _PACKAGE


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


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the end of what is inside; a second one goes to who would have had the first."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual) or _waits(usual):
        yield  # Ctrl-C comes to the main thread alone, or to nobody; or waits already
        return
    pressed: list[FrameType | None] = []

    def wait(number: int, frame: FrameType | None) -> None:
        pressed.append(frame)
        if len(pressed) > 1:
            usual(number, frame)
        else:
            ask_for_patience()

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if pressed:
        usual(signal.SIGINT, pressed[0])


def _waits(handler: Any) -> bool:
    return getattr(handler, "__module__", None) == __name__


def ask_for_patience() -> None:
    """Say that Ctrl-C was heard, where the compiler keeps it waiting."""
    _listener.ask_for_patience()
