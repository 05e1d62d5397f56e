"""Writing data sets to files, in full or not at all. Reading them is the business of `mapdag.data`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from mapdag.data import Dataset
from mapdag.data.panics import without_reports
from mapdag.errors import ParameterError
from mapdag.io.files import check_writable, reason, write_file

if TYPE_CHECKING:
    import polars as pl

_ROWS = 2**16


def _write_text(frame: pl.DataFrame, stream: IO[bytes], separator: str) -> None:
    """Write a block of rows at a time.

    Left to write the file itself, polars (1.32) does not notice that the disk is full when it writes the last bytes.
    """
    stream.write(frame.head(0).write_csv(separator=separator).encode())
    for block in frame.iter_slices(_ROWS):
        stream.write(block.write_csv(separator=separator, include_header=False).encode())


_WRITERS: dict[str, Callable[[pl.DataFrame, IO[bytes]], object]] = {
    ".csv": lambda frame, stream: _write_text(frame, stream, ","),
    ".tsv": lambda frame, stream: _write_text(frame, stream, "\t"),
    ".txt": lambda frame, stream: _write_text(frame, stream, "\t"),
    ".parquet": lambda frame, stream: frame.write_parquet(stream),
    ".arrow": lambda frame, stream: frame.write_ipc(stream),
    ".feather": lambda frame, stream: frame.write_ipc(stream),
    ".ipc": lambda frame, stream: frame.write_ipc(stream),
}

TABLE_SUFFIXES = (*_WRITERS, ".csv.gz", ".tsv.gz", ".txt.gz")
"""What the names of files may end in that `write_table` writes: the last but ".gz" tells the format."""


def write_table(data: Dataset, path: str | os.PathLike[str]) -> None:
    r"""Write a data set to a file, in full or not at all.

    Parameters
    ----------
    data : Dataset
        Weights, if there are any, become a last column "weight".
    path : path
        The ending of its name tells the format: text with commas (.csv) or tabs (.tsv, .txt), gzipped or not (.csv.gz
        and so on), Parquet (.parquet), or Arrow (.arrow, .feather, .ipc). Parquet and Arrow keep all declared levels
        in their order, text only the labels of the rows.

    Raises
    ------
    ParameterError
        If the name has another ending.
    FileError
        If the file cannot be written; whatever it held before is still there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mapdag.data import read
    >>> data = Dataset.from_codes([[0, 1], [1, 1]], names=["smoke", "cough"], levels=[["no", "yes"]] * 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.parquet")
    ...     write_table(data, path)
    ...     read(path) == data
    True
    """
    if not isinstance(data, Dataset):
        raise ParameterError(f"data must be a Dataset, got {type(data).__name__}; mapdag.read makes one")
    write_frame(data.to_polars(), path)


def write_frame(frame: pl.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write any columns to a file, as `write_table` does those of a data set."""
    check_writable(path, TABLE_SUFFIXES)
    name = os.fspath(path).lower().removesuffix(".gz")
    writer = next(writer for suffix, writer in _WRITERS.items() if name.endswith(suffix))
    write_file(path, lambda stream: _write(writer, frame, stream))


def _write(writer: Callable[[pl.DataFrame, IO[bytes]], object], frame: pl.DataFrame, stream: IO[bytes]) -> None:
    """Let polars write; its errors become those of the system."""
    import polars as pl

    try:
        with without_reports():
            writer(frame, stream)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OSError(reason(error)) from error
