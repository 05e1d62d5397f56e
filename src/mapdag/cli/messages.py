"""What the command line says of errors and warnings: one sentence, in terms of its own options.

The library's messages name options as Python does, ``drop=["id"]``; here they are written ``--drop id``.
"""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperCommand

from mapdag.cli.outputs import refuse_inputs
from mapdag.errors import SHOWN_ITEMS, MapdagWarning, Message

_BRACED = re.compile(r"^\{([^|{}]+)\}(?:\.\.\.)?$")

UsageError: Any = typer.BadParameter.__base__  # of the click that typer uses, which may be its own


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


class Explained(TyperCommand):
    """A command that says what flags it does not have are called."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line on usage; newer versions of typer write arguments in braces."""
        pieces: list[str] = super().collect_usage_pieces(ctx)
        return [_BRACED.sub(r"\1", piece) for piece in pieces]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the arguments apart."""
        try:
            left: list[str] = super().parse_args(ctx, args)
        except UsageError as error:
            from mapdag.vocabulary import flag_hint  # loaded only where something is wrong

            flag = getattr(error, "option_name", None)
            hint = flag_hint(flag, [name for option in self.params for name in option.opts]) if flag else ""
            if hint:
                error.message, error.possibilities = f"No such option: {flag}; {hint}", []
            raise
        refuse_inputs(ctx.params)
        return left


class Warnings:
    """Shows each warning once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def show(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Stand in for `warnings.showwarning`."""
        if isinstance(message, MapdagWarning) and str(message) not in self._seen:
            self._seen.add(str(message))
            typer.echo(f"mapdag: warning: {in_flags(message)}", err=True)
