"""What commands write: files, checked before the work begins, and objects for machines."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

import mapdag as md
from mapdag.errors import FileError, MapdagError

if TYPE_CHECKING:
    from mapdag import DAG, Metrics, Result

# What `mapdag.io` and `mapdag.plots` write, which take longer to load; any but pictures may be gzipped.
NETWORK_FILES = (".bif", ".json", ".xmlbif", ".bifxml", ".xml", ".net", ".xdsl", ".uai")
GRAPH_FILES = (".json", ".dot", ".gv", ".txt", ".modelstring", ".csv")
_OUTPUTS = ("out", "report", "html", "save")  # options that name files to be written
PICTURE_FILES = (".svg", ".png", ".pdf")


def check_out(path: str | None, *kinds: Literal["graph", "network", "picture", "table"]) -> None:
    """Refuse a file that cannot be written, or for which there is no format, before the work begins."""
    if path is not None:
        from mapdag import io

        suffixes = {
            "graph": io.GRAPH_SUFFIXES,
            "network": io.NETWORK_SUFFIXES,
            "picture": PICTURE_FILES,
            "table": io.TABLE_SUFFIXES,
        }
        io.check_writable(path, list(dict.fromkeys(suffix for kind in kinds for suffix in suffixes[kind])))
        if _is_picture(path):
            from mapdag.plots import check_installed

            check_installed()


def check_page(path: str | None, *, drawn: bool = False) -> None:
    """Refuse a page that cannot be written, or drawn, before the work begins."""
    if path is not None:
        from mapdag.io import check_writable
        from mapdag.plots import check_installed

        if drawn:
            check_installed()
        check_writable(path, md.report.PAGE_SUFFIXES)


def refuse_inputs(given: Mapping[str, Any]) -> None:
    """Refuse a command, given its options, that would write over a file that it reads, or write two things to one."""
    texts = [text for each in given.values() for text in (each if isinstance(each, (list, tuple)) else [each])]
    paths = [str(text) for text in texts if isinstance(text, (str, Path))]
    for option in _OUTPUTS:
        out = given.get(option)
        if isinstance(out, str):
            others = [*paths, *_parts(given.get("data"))]
            others.remove(out)
            for file in [out] if given.get("draws", 1) <= 1 else _existing(out, given["draws"]):
                if any(_is_same(each, file) for each in others):
                    raise FileError(
                        f"{file} is named twice: a command does not write over what it reads; choose another name"
                    )


def numbered(out: str, count: int) -> list[str]:
    """Return the names of so many files: rows.csv alone, or rows-1.csv, rows-2.csv, ...

    >>> numbered("rows.csv.gz", 2)
    ['rows-1.csv.gz', 'rows-2.csv.gz']
    """
    path = Path(out)
    stem, dot, endings = path.name.partition(".")
    return [out] if count == 1 else [str(path.with_name(f"{stem}-{i + 1}{dot}{endings}")) for i in range(count)]


def _existing(out: str, count: int) -> list[str]:
    """Return those of the files `numbered` that are there, however many there are to be."""
    path = Path(os.path.expanduser(out))  # noqa: PTH111 - which never fails
    stem, dot, endings = path.name.partition(".")
    name = re.compile(rf"{re.escape(stem)}-([1-9]\d*){re.escape(dot + endings)}")
    with suppress(OSError, ValueError):  # as there is no such folder
        there = [(each, name.fullmatch(each.name)) for each in path.parent.iterdir()]
        return [str(each) for each, found in there if found and int(found[1]) <= count]
    return []


def _parts(data: Any) -> list[str]:
    """Return the files of a table that is a folder or a pattern."""
    from mapdag.data.packed.scan import find_files, is_many

    try:
        return [str(path) for path in find_files(data)] if is_many(data) else []
    except (MapdagError, OSError, ValueError):  # which whoever reads it explains
        return []


def _is_same(first: str, second: str) -> bool:
    """Tell whether two names are of one file; "~" may be somebody's home in them."""
    for one, other in ((first, second), (os.path.expanduser(first), os.path.expanduser(second))):  # noqa: PTH111 - no error
        with suppress(OSError, ValueError):  # one of them is not there
            if Path(one).samefile(other):
                return True
    return False


def write_drawable(graph: DAG | Result, path: str) -> None:
    """Write a graph as a picture, or in the format of graphs that its name tells."""
    if _is_picture(path):
        graph.plot(path)
    else:
        md.write_graph(graph if isinstance(graph, md.DAG) else graph.dag, path)


def _is_picture(path: str) -> bool:
    return path.lower().endswith(PICTURE_FILES)


def command_line() -> str:
    """Return the command that is running, as one would type it."""
    return shlex.join(["mapdag", *sys.argv[1:]])


def metrics_json(found: Metrics) -> dict[str, Any]:
    """Return how good predictions are, as JSON has it."""
    return {**found.summary(), "levels": found.levels, "confusion": found.confusion.tolist()}


def print_json(value: Any) -> None:
    """Print one object; infinities and NaN as null, since JSON has none."""
    typer.echo(json.dumps(_finite(value), ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
