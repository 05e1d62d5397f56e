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
from types import FrameType

_ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_COMPILER = f"{os.sep}numba{os.sep}"


def listen() -> None:
    """Have Ctrl-C heard from now on; where it is ignored, or somebody else hears it, it stays so."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _interrupt)
    for number in _ENDS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    if os.name == "posix":  # elsewhere, signals are told to sockets only
        read_from, write_to = os.pipe()
        os.set_blocking(write_to, False)
        signal.set_wakeup_fd(write_to, warn_on_full_buffer=False)
        threading.Thread(target=_hear, args=[read_from], name="mapdag-signals", daemon=True).start()


def _hear(read_from: int) -> None:
    """Hear every signal at once; its number is written to a pipe."""
    heard = 0
    while signals := os.read(read_from, 1):
        heard += signals[0] == signal.SIGINT
        if heard > 1 or signals[0] in _ENDS:
            _end(signals[0])
        _ask_for_patience()


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
    abandon = getattr(sys.modules.get("mapdag.io.files"), "abandon", None)
    if abandon is not None:
        abandon()
    with contextlib.suppress(OSError):  # standard error may be closed
        os.write(2, b"mapdag: interrupted\n")
    os._exit(128 + number)
