"""Ctrl-C on the command line: once, and what was found so far is kept; twice, and the command ends at once.

Python runs the handler of a signal between two steps of its own, and the compiler or a reader of tables may take some
seconds for one. So a thread hears signals, too: it says that the compiler is waited for, and ends the process at the
second one. Signals to end (SIGTERM, SIGHUP) are heard by it, too, so that no file is left behind that is half written.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_COMPILER = f"{os.sep}numba{os.sep}"
_ENDING = threading.RLock()  # a signal to end reaches both the thread and the handler: one of them says so


@contextmanager
def listening() -> Iterator[None]:
    """Have signals heard inside; where Ctrl-C is ignored, or somebody else hears it, all stays as it is."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    before: dict[int, Any] = {signal.SIGINT: signal.signal(signal.SIGINT, _interrupt)}
    for number in _ENDS:
        if signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, _end)
    write_to = _heard() if os.name == "posix" else None  # elsewhere, signals are told to sockets only
    try:
        yield
    finally:
        if write_to is not None:
            signal.set_wakeup_fd(-1)
            os.close(write_to)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def left_to_others() -> Iterator[None]:
    """Let somebody else hear signals inside, who sends them once more when he is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)


def _heard() -> int:
    """Have a thread hear signals; returns where their numbers are written to, which ends it when it is closed."""
    read_from, write_to = os.pipe()
    os.set_blocking(write_to, False)
    signal.set_wakeup_fd(write_to, warn_on_full_buffer=False)
    threading.Thread(target=_hear, args=[read_from], name="mapdag-signals", daemon=True).start()
    return write_to


def _hear(read_from: int) -> None:
    """Hear every signal at once."""
    heard = 0
    while signals := os.read(read_from, 1):
        heard += signals[0] == signal.SIGINT
        if heard > 1 or signals[0] in _ENDS:
            _end(signals[0])
        _ask_for_patience()
    os.close(read_from)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Do as Python does; but end at once inside of packages that would take it for a mistake, or if asked again."""
    signal.signal(signal.SIGINT, _end)
    caller = frame
    while caller is not None:
        if caller.f_code.co_filename.startswith("<frozen importlib") or _COMPILER in caller.f_code.co_filename:
            _end(number)
        caller = caller.f_back
    _ask_for_patience()
    signal.default_int_handler(number, frame)


def _ask_for_patience() -> None:
    ask = getattr(sys.modules.get("mapdag.compiling"), "ask_for_patience", None)
    if ask is not None:  # it may be loaded in part
        ask()


def _end(number: int, _: object = None) -> None:
    """End here and now, without what is being written aside."""
    _ENDING.acquire(timeout=5)  # held until the process is gone
    abandon = getattr(sys.modules.get("mapdag.io.files"), "abandon", None)
    if abandon is not None:
        abandon()
    with contextlib.suppress(OSError):  # standard error may be closed
        os.write(2, b"mapdag: interrupted\n")
    os._exit(128 + number)
