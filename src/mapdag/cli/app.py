"""The application: its commands, what becomes of errors, and how messages name options here."""

from __future__ import annotations

import errno
import os
import re
import sys
import warnings
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

import mapdag
from mapdag.cli import (
    cache,
    check,
    compilation,
    diagnosis,
    graph_posteriors,
    networks,
    predictions,
    searches,
    study,
    views,
)
from mapdag.cli.outputs import refuse_inputs
from mapdag.errors import SHOWN_ITEMS, MapdagError, MapdagWarning, Message

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


app = typer.Typer(
    name="mapdag",
    help="Learn, score and use discrete Bayesian networks: MAP DAGs beyond uniform priors.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mapdag {mapdag.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
) -> None:
    del version


for module in (check, searches, graph_posteriors, networks, predictions, views, diagnosis, cache, compilation):
    for command in module.COMMANDS:
        app.command(command.__name__.replace("_", "-"), cls=Explained)(command)
app.add_typer(study.app, name="study")


def run() -> None:
    """Run the command that was asked for, and turn what goes wrong into one sentence."""
    warnings.simplefilter("always", MapdagWarning)
    warnings.showwarning = Warnings().show
    try:
        app()
    except MapdagError as error:
        _fail(in_flags(error))
    except MemoryError:
        _fail("not enough memory")
    except BrokenPipeError:
        # The reader of our output has gone; nothing more to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        reason = "no space left on the disk" if error.errno == errno.ENOSPC else error.strerror or str(error)
        _fail(f"{what}{reason}")
    except Exception as error:
        if os.environ.get("MAPDAG_TRACEBACK"):
            raise
        _fail(f"internal error, please report it: {type(error).__name__}: {error} (MAPDAG_TRACEBACK=1 shows where)")


def _fail(message: str) -> NoReturn:
    with suppress(OSError):  # standard error may be closed, or full
        typer.echo(f"mapdag: {message}", err=True)
    sys.exit(2)
