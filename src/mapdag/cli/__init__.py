"""The command line: arguments, progress, exit codes. The only place that prints."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from io import TextIOWrapper

from mapdag.cli.interrupts import listening

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; errors are one sentence on standard error and exit code 2, Ctrl-C is exit code 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names may have letters that its encoding has not
            stream.reconfigure(errors="backslashreplace")
    gc.set_threshold(100_000)  # what is loaded stays; to look for garbage all the while takes a twentieth of the time
    try:
        with listening():
            from mapdag.cli.app import run

            run()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != _INTERRUPTED:  # which typer makes of a KeyboardInterrupt
            raise
        with suppress(OSError):  # standard error may be closed
            sys.stderr.write("mapdag: interrupted\n")
        sys.exit(_INTERRUPTED)


__all__ = ["main"]
