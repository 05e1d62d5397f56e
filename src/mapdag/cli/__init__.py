"""The command line: arguments, progress, exit codes. The only place that prints."""

from mapdag.cli.app import main

__all__ = ["main"]
