"""The command line: arguments, progress, exit codes. The only place that prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; errors are one sentence on standard error and exit code 2, Ctrl-C is exit code 130."""
    try:
        from mapdag.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("mapdag: interrupted\n")
        sys.exit(130)


__all__ = ["main"]
