"""Posteriors in files: a zip archive of arrays (NumPy's npz) with a header in JSON, and a version.

The header has ``"format": "mapdag-posterior"`` and ``"version"``; a file with a higher version is refused. The rows are
not in the file: who needs them (`Posterior.query`, `Posterior.effect` and so on) gives them again.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data import as_dataset
from mapdag.data.options import ReadingOptions
from mapdag.disk import check_no_device
from mapdag.errors import DataError, FileError, FormatError, MapdagError, ParameterError
from mapdag.io.files import reason, write_file
from mapdag.objective import parse
from mapdag.public import public
from mapdag.sampling.graph_posterior import Convergence, Drawn, Posterior

if TYPE_CHECKING:
    import os

    from typing_extensions import Unpack

FORMAT = "mapdag-posterior"
VERSION = 1

_ARRAYS = ("probabilities", "sets", "which", "scores")
_JUDGED = ("error", "r_hat", "ess")  # arrays of the diagnosis
_NUMBERS = ("chains", "sweeps", "finished", "score_r_hat", "score_ess")


def write_posterior(found: Posterior, path: str | os.PathLike[str]) -> None:
    """Write a posterior to a file; see `Posterior.save`."""
    text = str(found.objective)
    try:
        is_readable = parse(text) == found.objective
    except MapdagError:
        is_readable = False
    if not is_readable:
        raise ParameterError(f"a posterior under {text} cannot be saved: this objective cannot be written as text")
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": found.nodes,
        "objective": text,
        "method": found.method,
        "left_out": found.left_out,
        "log_evidence": None if math.isnan(found.log_evidence) else found.log_evidence,
        "stopped": found.stopped,
        "seconds": found.seconds,
        "alpha": found.alpha,
        "cut_at": found.cut_at,
        "convergence": None,
    }
    arrays: dict[str, Any] = {"probabilities": found.probabilities, **found.drawn._asdict()}
    if found.convergence is not None:
        known = found.convergence._asdict()
        header["convergence"] = {name: known[name] for name in _NUMBERS}
        arrays |= {name: known[name] for name in _JUDGED}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    write_file(path, lambda stream: np.savez_compressed(stream, **arrays))


@public(ReadingOptions)
def read_posterior(path: str | os.PathLike[str], data: Any = None, **reading: Unpack[ReadingOptions]) -> Posterior:
    """Read a posterior that `Posterior.save` has written.

    Parameters
    ----------
    path : path
    data : Dataset, or any table that `mapdag.read` takes, optional
        The rows that it was computed from, for queries, predictions and effects. They are not in the file.
    **reading
        How to read the table, as in `mapdag.read`.

    Returns
    -------
    Posterior

    Raises
    ------
    FileError
        If there is no such file.
    FormatError
        If it is something else, damaged, or of a later version.
    DataError
        If the table has other columns.

    Examples
    --------
    >>> import mapdag as md
    >>> found = md.posterior(md.network("asia").sample(500, seed=1), seed=1)
    >>> path = getfixture("tmp_path") / "asia.posterior"
    >>> found.save(path)
    >>> md.read_posterior(path)["smoke", "bronc"] == found["smoke", "bronc"]
    True
    """
    found = _read(path)
    if data is None:
        return found
    table = as_dataset(data, **reading)
    if set(table.names) != set(found.nodes):
        raise DataError(f"data must have the columns of the posterior: {', '.join(found.nodes)}")
    return replace(found, data=table.select(list(found.nodes)))


def _read(path: str | os.PathLike[str]) -> Posterior:
    file, source = Path(path).expanduser(), str(path)
    check_no_device(file)
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise FileError(f"{file}: there is no such file") from None
    except OSError as error:
        raise FileError(f"{file} cannot be read: {reason(error)}") from error
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        header = json.loads(arrays.pop("header").tobytes())
        known, version = header["format"] == FORMAT, header["version"]
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, OSError) as error:
        raise FormatError("this is no posterior that mapdag has saved, or it is damaged", source) from error
    if not known:
        raise FormatError("this is no posterior that mapdag has saved", source)
    if version > VERSION:
        raise FormatError(f"version {version} of the format is later than this mapdag knows, {VERSION}", source)
    try:
        return _from_parts(header, arrays)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FormatError("the file is damaged: its parts do not fit together", source) from error


def _from_parts(header: dict[str, Any], arrays: dict[str, Any]) -> Posterior:
    nodes = tuple(header["nodes"])
    n = len(nodes)
    drawn = Drawn(arrays["sets"], arrays["which"], arrays["scores"])
    squares = [arrays["probabilities"], *(arrays[name] for name in _JUDGED if header["convergence"] is not None)]
    if any(each.shape != (n, n) for each in squares) or drawn.which.shape != (*drawn.scores.shape, n):
        raise ValueError("shapes differ")
    if drawn.which.size and not 0 <= drawn.which.min() <= drawn.which.max() < len(drawn.sets):
        raise ValueError("families are missing")
    convergence = None
    if header["convergence"] is not None:
        judged = {name: arrays[name] for name in _JUDGED}
        convergence = Convergence(**header["convergence"], **judged)
    evidence = header["log_evidence"]
    return Posterior(
        nodes,
        parse(header["objective"]),
        header["method"],
        arrays["probabilities"],
        drawn,
        header["left_out"],
        math.nan if evidence is None else evidence,
        convergence,
        header["stopped"],
        header["seconds"],
        None,
        header["alpha"],
        header["cut_at"],
    )
