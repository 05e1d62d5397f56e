"""The rows of a study as a file for other programs: CSV, compressed or not, or Parquet."""

from __future__ import annotations

import gzip
from dataclasses import astuple
from pathlib import Path

from mapdag.errors import FileError, ParameterError
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
    with Store(directory) as store:
        rows = [astuple(row) for row in store.rows()]
    try:
        if path.suffix == ".parquet":
            import polars as pl

            pl.DataFrame(rows, schema=list(FIELDS), orient="row", infer_schema_length=None).write_parquet(path)
        elif path.suffix == ".gz":
            # Without a time stamp, so that the same rows make the same file.
            with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                packed.write(as_csv([FIELDS, *rows]).encode())
        else:
            path.write_text(as_csv([FIELDS, *rows]), encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from None
    return len(rows)
