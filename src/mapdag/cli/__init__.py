"""The command line: arguments, progress, exit codes. The only place that prints."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; errors are one sentence on standard error and exit code 2, Ctrl-C is exit code 130."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    gc.set_threshold(100_000)  # what is loaded stays; to look for garbage all the while takes a twentieth of the time
    try:
        from mapdag.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("mapdag: interrupted\n")
        sys.exit(130)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End at once while packages are loaded, which take an interruption for a mistake; else as Python does."""
    caller = frame
    while caller is not None:
        if caller.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"mapdag: interrupted\n")
            os._exit(130)
        caller = caller.f_back
    signal.default_int_handler(number, frame)


__all__ = ["main"]
