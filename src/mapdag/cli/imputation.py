"""The command that fills gaps: ``impute``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import mapdag as md
from mapdag.cli.inputs import load_network
from mapdag.cli.options import Data, Drop, Encoding, Json, MissingValue, Network, RowsOut, Seed, Separator, option
from mapdag.cli.outputs import check_out, numbered, print_json
from mapdag.cli.predictions import read_rows, with_gaps
from mapdag.errors import MapdagError

if TYPE_CHECKING:
    import polars as pl

    from mapdag import Dataset


def impute(  # noqa: PLR0917 - typer calls it by keyword
    network: Network,
    data: Data,
    how: Annotated[
        str, option("--how", "HOW", "By what is most probable: joint (in a row) or marginal (of a gap); or draw.")
    ] = "joint",
    draws: Annotated[int, option("--draws", "M", "So many tables, drawn; --out then gets a number each.")] = 1,
    seed: Seed = 0,
    missing_value: MissingValue = [],  # noqa: B006 - typer copies it
    drop: Drop = [],  # noqa: B006
    separator: Separator = None,
    encoding: Encoding = None,
    out: RowsOut = None,
    json: Json = False,
) -> None:
    """Fill the gaps of a table by what a network says of them.

    What is known stays as it is, and so do columns that are no node of the network.
    """
    check_out(out, "table")
    if draws > 1 and out is None and not json:
        raise MapdagError("--draws makes several tables: give --out a name for them")
    known = load_network(network)
    rows = read_rows(data, drop, separator, encoding)
    found = md.impute(known, with_gaps(rows, missing_value), how=how, draws=draws, seed=seed)  # type: ignore[arg-type]
    tables = [_filled(rows, each, found.incomplete) for each in found.draws]
    files = [] if out is None else numbered(out, draws)
    if out is not None:
        from mapdag.io.datasets import write_frame

        for table, file in zip(tables, files, strict=True):
            write_frame(table, file)
    if json:
        cells = found.to_table().to_polars().to_dicts()
        print_json({"rows": rows.height, "gaps": len(cells), "filled": cells, "out": files})
    elif out is None:
        typer.echo(tables[0].write_csv(), nl=False)
        typer.echo(repr(found), err=True)
    else:
        typer.echo(f"{found!r}, written to {', '.join(files)}")


def _filled(rows: pl.DataFrame, filled: Dataset, gaps: Dataset) -> pl.DataFrame:
    """Return the rows as they are written, but for their gaps."""
    import polars as pl

    found = rows
    for name in gaps.gaps.missing:
        missing = pl.Series(gaps.column(name) == len(gaps.levels[name]))
        labels = pl.Series(filled.levels[name], dtype=pl.String).gather(pl.Series(filled.column(name)).cast(pl.UInt32))
        whole = pl.select(pl.when(missing).then(labels).otherwise(rows[name].cast(pl.String)).alias(name))
        found = found.with_columns(whole[name])
    return found


COMMANDS = (impute,)
