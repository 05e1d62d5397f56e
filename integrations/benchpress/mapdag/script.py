"""Benchpress' call of mapdag: a table with numbers of levels in, the matrix of a DAG and seconds out.

Snakemake puts lines with the variable `snakemake` in front of this script, so that nothing here may have to come first.
"""

import csv
import time
from pathlib import Path

import mapdag as md


def read(path: str) -> md.Dataset:
    """Read Benchpress' format of categorical data: names, numbers of levels, and codes, a row for each observation."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        names, *rows = (row for row in csv.reader(file) if row)
    try:
        levels, *codes = ([int(cell) for cell in row] for row in rows)
    except ValueError as error:
        raise ValueError(
            f"mapdag needs categorical data: a row of names, a row of numbers of levels, then codes from 0; {path} "
            f"is not like that ({error})"
        ) from error
    return md.Dataset.from_codes(codes, names=names, levels=dict(zip(names, levels, strict=True)))


def objective(options: dict[str, str]) -> str:
    """Put the fields of the configuration together, in mapdag's notation."""
    prior = "U" if options["prior"] == "U" else f"MU(c={options['c']})"
    likelihood = options["score"]
    if likelihood in ("BDs", "BDeu"):
        likelihood = f"{likelihood}(alpha={options['alpha']})"
    support = [] if options["support"] == "None" else [f"Support({options['support']})"]
    return "+".join([*support, prior, likelihood])


def main() -> None:
    """Learn, and write what Benchpress asks for."""
    options = snakemake.wildcards  # type: ignore[name-defined]  # noqa: F821
    output = snakemake.output  # type: ignore[name-defined]  # noqa: F821
    data = read(snakemake.input["data"])  # type: ignore[name-defined]  # noqa: F821
    limit = None if options["timeout"] == "None" else float(options["timeout"])
    goal = objective(options)
    md.learn(md.network("asia").sample(100, seed=1), goal, threads=1)  # compiles kernels, untimed
    start = time.perf_counter()
    result = md.learn(data, goal, search=options["search"], time_limit=limit, threads=snakemake.threads)  # type: ignore[name-defined]  # noqa: F821
    seconds = time.perf_counter() - start
    with Path(output["adjmat"]).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([data.names, *result.dag.to_adjacency().tolist()])
    Path(output["time"]).write_text(f"{seconds}\n", encoding="utf-8")
    Path(output["ntests"]).write_text("None\n", encoding="utf-8")  # no tests of independence


main()
