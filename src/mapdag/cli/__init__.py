"""The command line: arguments, progress, exit codes. The only place that prints."""

from __future__ import annotations

import gc
import sys

from mapdag.cli.interrupts import listen


def main() -> None:
    """Run the command line; errors are one sentence on standard error and exit code 2, Ctrl-C is exit code 130."""
    listen()
    gc.set_threshold(100_000)  # what is loaded stays; to look for garbage all the while takes a twentieth of the time
    try:
        from mapdag.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("mapdag: interrupted\n")
        sys.exit(130)


__all__ = ["main"]
