"""Commands about new rows: ``predict``; and about rows with gaps: ``impute``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

import mapdag as md
from mapdag.cli.options import (
    Data,
    Drop,
    Encoding,
    Json,
    MissingValue,
    Network,
    RowsOut,
    Seed,
    Separator,
    load_network,
    option,
)
from mapdag.cli.outputs import check_out, metrics_json, numbered, print_json
from mapdag.errors import DataError, MapdagError
from mapdag.notices import warn
from mapdag.wording import free_name, plural

if TYPE_CHECKING:
    import polars as pl

    from mapdag import BayesianNetwork, Metrics


def predict(  # noqa: PLR0917 - typer calls it by keyword
    network: Network,
    data: Data,
    target: Annotated[str, option("--target", "NODE", "What to predict from the other columns.")],
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of every level.")] = False,
    unseen: Annotated[
        str, option("--unseen", "HOW", "Values that are no level of the network: gap (not known; a warning), or error.")
    ] = "gap",
    missing_value: MissingValue = [],  # noqa: B006 - typer copies it
    drop: Drop = [],  # noqa: B006
    separator: Separator = None,
    encoding: Encoding = None,
    out: RowsOut = None,
    json: Json = False,
) -> None:
    """Predict a node in every row of a table.

    The table may lack columns and values, and have more columns. The rows are written with what is predicted. If the
    table has the target itself, it is not used to predict, but to tell how good the predictions are.
    """
    check_out(out, "table")
    known = load_network(network)
    known.dag.index.position(target)  # an unknown name gets a suggestion
    rows = read_rows(data, drop, separator, encoding)
    probabilities, judged = _predicted(known, with_gaps(rows, missing_value), target, unseen)
    added = _columns(known, target, probabilities, proba=proba, taken=rows.columns)
    whole = rows.with_columns(added)
    if out is not None:
        from mapdag.io.datasets import write_frame

        write_frame(whole, out)
    impossible = int(added[0].null_count())
    if json:
        found: dict[str, Any] = {"target": target, "rows": rows.height, "impossible": impossible, "out": out}
        if out is None:
            found["predictions"] = added[0].to_list()
            found |= {"levels": known.levels[target], "probabilities": probabilities.tolist()} if proba else {}
        print_json({**found, "metrics": None if judged is None else metrics_json(judged)})
        return
    apart = out is None  # where the rows go to standard output, nothing else does
    if out is None:
        typer.echo(whole.write_csv(), nl=False)
    if judged is not None:
        typer.echo(str(judged), err=apart)
    elif impossible:
        typer.echo(
            f"{plural(impossible, 'row')} cannot happen whatever the level of {target}: not predicted", err=apart
        )
    if out is not None:
        typer.echo(f"{plural(rows.height, 'row')} with predictions of {target} written to {out}")


def read_rows(data: str, drop: list[str], separator: str | None, encoding: str | None) -> pl.DataFrame:
    """Read a table as it is written."""
    import polars as pl

    from mapdag.data.source import chosen_columns, open_source

    source = open_source(data, separator, encoding)
    series = [pl.Series(name, source.parts[at]) for name, at in chosen_columns(source, drop).items()]
    return pl.DataFrame(series).with_columns(pl.col(pl.Categorical).cast(pl.String))


def with_gaps(rows: pl.DataFrame, missing: list[str]) -> pl.DataFrame:
    """Empty the cells that mean "missing"."""
    import polars as pl

    if not missing:
        return rows
    from mapdag.data.labels import spelling
    from mapdag.data.meanings import ReadOptions, texts_for_missing
    from mapdag.data.options import missing_from

    options = ReadOptions(missing_values=texts_for_missing(missing_from(missing), rows.columns))
    found = []
    for name in rows.columns:
        wanted = options.missing_values_of(name)
        wanted |= {spelling(text) for text in wanted}
        texts = rows[name].cast(pl.String).drop_nulls().unique()
        gone = [text for text in texts if {text.strip(), spelling(text.strip())} & wanted]
        column = pl.col(name).cast(pl.String)
        found.append(pl.when(column.is_in(gone)).then(None).otherwise(column).alias(name))
    return rows.select(found)


def _predicted(network: BayesianNetwork, rows: pl.DataFrame, target: str, unseen: Any) -> tuple[Any, Metrics | None]:
    """Return the probabilities of the levels of the target, and how good they are where the rows tell."""
    if target not in rows.columns:
        return network.predict_proba(rows, target, unseen=unseen), None
    try:
        judged = md.evaluate(network, rows, target, unseen=unseen)
    except DataError as error:
        probabilities = network.predict_proba(
            rows, target, unseen=unseen
        )  # which has a say of its own if that is the trouble
        warn("the predictions cannot be judged: ", *error.parts)
        return probabilities, None
    return judged.probabilities, judged


def _columns(
    network: BayesianNetwork, target: str, probabilities: Any, *, proba: bool, taken: list[str]
) -> list[pl.Series]:
    """Return what is added to the rows, under names that they do not have."""
    import numpy as np
    import polars as pl

    from mapdag.predictions import most_probable

    levels, codes = network.levels[target], most_probable(probabilities)
    labels = np.array([*levels, None], dtype=object)[codes]
    found = [pl.Series(f"predicted_{target}", labels.tolist(), dtype=pl.String)]
    if proba:
        found += [
            pl.Series(f"p_{target}_{level}", each).fill_nan(None)
            for level, each in zip(levels, probabilities.T, strict=True)
        ]
    names = set(taken)
    for i, column in enumerate(found):
        found[i] = column.alias(free_name(column.name, names))
        names.add(found[i].name)
    return found


# impute --------------------------------------------------------------------------------------------------------------


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
    tables = [found.fill(rows, draw=number) for number in range(len(found.draws))]
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


COMMANDS = (predict, impute)
