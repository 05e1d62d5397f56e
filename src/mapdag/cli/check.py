"""The command ``check``: look at a table before learning from it."""

from __future__ import annotations

from typing import Annotated

import typer

import mapdag as md
from mapdag.cli.options import Data, Json, option, print_json


def check(
    data: Data,
    levels: Annotated[str | None, option("--levels", "FILE", "Declared levels: JSON, name -> list of levels.")] = None,
    weights: Annotated[str | None, option("--weights", "COLUMN", "Column that counts or weighs the rows.")] = None,
    drop: Annotated[list[str], option("--drop", "COLUMN", "Leave a column out; repeatable.")] = [],  # noqa: B006
    missing_value: Annotated[
        list[str], option("--missing-value", "TEXT", "A text that means missing; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    separator: Annotated[str | None, option("--separator", "C", "Between the fields of a text.")] = None,
    encoding: Annotated[str | None, option("--encoding", "NAME", "Encoding of a text file.")] = None,
    json: Json = False,
) -> None:
    """Look at a table: what each column is, and what to do about it.

    Its last line is the command to paste.
    """
    found = md.check(
        data,
        levels=levels,
        weights=weights,
        drop=drop,
        missing_values=missing_value,
        separator=separator,
        encoding=encoding,
    )
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(found.written(found.command))


COMMANDS = (check,)
