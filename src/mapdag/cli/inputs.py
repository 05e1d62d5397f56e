"""What commands are given besides tables: networks, graphs and tiers, by name or in files."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import mapdag as md
from mapdag.errors import FormatError, MapdagError
from mapdag.unpacking import check_no_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag import DAG, BayesianNetwork, Dataset
    from mapdag.cli.options import ReadTable


def load_network(source: str) -> BayesianNetwork:
    """Take a bundled network by its name, or read a file that has parameters."""
    return md.network(source) if _is_name(source) else md.read_network(source)


def load_graph(source: str) -> DAG:
    """Take a bundled network's graph by its name, or read any file that holds a graph."""
    return md.network(source).dag if _is_name(source) else md.read_graph(source)


def with_isolated(dag: DAG, source: str, nodes: Sequence[str]) -> DAG:
    """Add the nodes that an arc list leaves out because no arc touches them."""
    if not source.lower().removesuffix(".gz").endswith(".csv") or not set(dag.nodes) < set(nodes):
        return dag
    return md.DAG(nodes, dag.arcs)


def read_with_graph(source: str, read_table: ReadTable) -> tuple[DAG, Dataset]:
    """Read a graph and a table, with the levels of the network that the graph belongs to where it has parameters."""
    dag, network = load_graph(source), None
    with suppress(MapdagError):
        network = load_network(source)
    table = read_table(network)
    return with_isolated(dag, source, table.names), table


def _is_name(source: str) -> bool:
    """Tell a name from a path: what is no file and has no suffix or folder is a name, known or not."""
    path = Path(source)
    try:
        return not path.exists() and path.name == source and not path.suffix
    except OSError:  # a name that no file can have
        return False


def load_tiers(path: str | None) -> list[list[str]]:
    """Read tiers: a JSON list of lists, or one tier per line with names separated by commas."""
    if path is None:
        return []
    text = _text(path)
    if text.lstrip().startswith("["):
        try:
            tiers = json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError(error.msg, path, error.lineno, error.colno) from error
        except (ValueError, RecursionError):  # numbers of thousands of digits, brackets within brackets
            raise FormatError("tiers are a list of lists of names", path) from None
        if not all(isinstance(tier, list) and all(isinstance(name, str) for name in tier) for tier in tiers):
            raise FormatError("tiers are a list of lists of names", path)
        return [list(tier) for tier in tiers]
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        return [[name.strip() for name in row if name.strip()] for row in reader if row]
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", path, reader.line_num) from None


def _text(path: str) -> str:
    check_no_device(path)
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("not a text file in UTF-8", path) from error
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise FormatError(getattr(error, "strerror", None) or "cannot be read", path) from error
