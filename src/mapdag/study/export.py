"""The rows of a study as a file for other programs: CSV, compressed or not, or Parquet."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

from mapdag.errors import ParameterError, StudyError
from mapdag.io.files import check_writable, write_text
from mapdag.study.cells import FIELDS
from mapdag.study.formats import as_csv
from mapdag.study.store import Store

SUFFIXES = (".csv", ".csv.gz", ".parquet")


def export(directory: str | Path, out: str | Path) -> int:
    """Write all rows to a file; its ending says how. Returns how many there are.

    Parameters
    ----------
    directory : path
        Of the results.
    out : path
        Ends in .csv, .csv.gz or .parquet.
    """
    path = Path(out)
    if not path.name.endswith(SUFFIXES):
        raise ParameterError(f"out must end in {', '.join(SUFFIXES)}, got {path.name!r}")
    check_writable(path)
    with Store(directory) as store:
        rows = [astuple(row) for row in store.rows()]
    if not rows:
        raise StudyError(f"{directory}: there are no results here yet")
    if path.suffix == ".parquet":
        import polars as pl

        from mapdag.io.datasets import write_frame

        frame = pl.DataFrame(rows, schema=list(FIELDS), orient="row", infer_schema_length=None)
        write_frame(frame, path)
    else:
        write_text(path, as_csv([FIELDS, *rows]))
    return len(rows)
