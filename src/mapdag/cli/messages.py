"""What the command line says of errors and warnings: one sentence, in terms of its own options.

The library's messages name options as Python does, ``drop=["id"]``; here they are written ``--drop id``.
"""

from __future__ import annotations

from typing import Any

import typer

from mapdag.errors import SHOWN_ITEMS, MapdagWarning, Message


def in_flags(message: Message) -> str:
    """Write a message of the library, its options as the command line takes them.

    >>> from mapdag.errors import DataError, Setting
    >>> error = DataError("300 levels: pass ", Setting("drop", ["id"]), " or ", Setting("max_levels", 300))
    >>> in_flags(error)
    '300 levels: pass --drop id or --max-levels 300'
    >>> in_flags(DataError("All at once: ", (Setting("drop", ["id"]), Setting("missing", "drop"))))  # to be pasted
    'All at once: --drop id --missing drop'
    """
    return message.written(lambda setting: setting.flags(SHOWN_ITEMS), " ")


class Warnings:
    """Shows each warning once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def show(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Stand in for `warnings.showwarning`."""
        if isinstance(message, MapdagWarning) and str(message) not in self._seen:
            self._seen.add(str(message))
            typer.echo(f"mapdag: warning: {in_flags(message)}", err=True)
