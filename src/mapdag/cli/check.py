"""The command ``check``: look at a table before learning from it."""

from __future__ import annotations

import typer

import mapdag as md
from mapdag.cli.options import (  # noqa: TC001 - typer looks at them
    Data,
    Drop,
    Encoding,
    Groups,
    Json,
    Levels,
    MaxLevels,
    MissingValue,
    Scan,
    Separator,
    Weighting,
    Weights,
)
from mapdag.cli.outputs import print_json


def check(  # noqa: PLR0917 - typer calls it by keyword
    data: Data,
    levels: Levels = None,
    weights: Weights = None,
    weighting: Weighting = None,
    groups: Groups = None,
    drop: Drop = [],  # noqa: B006
    missing_value: MissingValue = [],  # noqa: B006 - typer copies it
    max_levels: MaxLevels = None,
    separator: Separator = None,
    encoding: Encoding = None,
    scan: Scan = False,
    json: Json = False,
) -> None:
    """Look at a table: what each column is, and what to do about it.

    Its last line is the command to paste.
    """
    from mapdag.data.options import missing_from

    found = md.check(
        data,
        levels=levels,
        weights=weights,
        weighting=weighting,  # type: ignore[arg-type]  # checked there
        groups=groups,
        drop=drop,
        missing_values=missing_from(missing_value),
        max_levels=max_levels,
        separator=separator,
        encoding=encoding,
        scan=scan,
    )
    if json:
        print_json(found.to_dict())
    else:
        typer.echo(found.written(found.command))


COMMANDS = (check,)
