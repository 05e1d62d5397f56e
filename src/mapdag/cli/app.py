"""The application: its commands, and what becomes of errors."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

import mapdag
from mapdag.cli import (
    cache,
    check,
    diagnosis,
    explore,
    imputation,
    networks,
    predictions,
    searches,
    study,
    theory,
    views,
)
from mapdag.cli.messages import Explained, Warnings, in_flags
from mapdag.errors import MapdagError, MapdagWarning

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


for module in (check, searches, networks, predictions, imputation, views, explore, diagnosis, theory, cache):
    for command in module.COMMANDS:
        app.command(command.__name__, cls=Explained)(command)
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
