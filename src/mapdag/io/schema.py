"""Networks and graphs as JSON, in a format of our own that keeps everything.

A network::

    {"format": "mapdag-network", "version": 1,
     "nodes": [{"name": "rain", "levels": ["no", "yes"], "parents": [], "probabilities": [[0.8, 0.2]]},
               {"name": "wet", "levels": ["no", "yes"], "parents": ["rain"],
                "probabilities": [[0.9, 0.1], [0.05, 0.95]]}]}

`probabilities` has one row per configuration of the parents, with one number per level of the node. Configurations are
counted like numbers: the last parent changes fastest. A row that is undefined is `null`. A node whose levels stand for
anything but text has a `"coding"`: a `"type"` ("integer", "float" or "boolean") and, if they are intervals, `"edges"`,
the outer ones included (infinite ones are `null`).

In version 2, a node whose parents have many configurations that were not observed has `"configurations"`, a list of the
positions of the levels of all parents, `probabilities` for these only, and `"others"`, the row of all other ones.

A graph::

    {"format": "mapdag-graph", "version": 1, "nodes": ["rain", "wet"], "arcs": [["rain", "wet"]]}

Keys that are not listed here are ignored. A file with a higher version is refused.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import TEXT
from mapdag.errors import DataError, FormatError, GraphError, NetworkError
from mapdag.graphs import DAG
from mapdag.io.notes import coding_entry, read_coding
from mapdag.networks import BayesianNetwork
from mapdag.networks.cpts import TOLERANCE, check_size
from mapdag.networks.sparse_tables import MAX_CELLS, SparseTable, held_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mapdag.data import Coding

NETWORK, GRAPH = "mapdag-network", "mapdag-graph"
VERSION = 2


def network_to_json(network: BayesianNetwork) -> str:
    """Return a network as JSON, one line per node.

    Examples
    --------
    >>> from mapdag.reference import network
    >>> network_from_json(network_to_json(network("asia"))) == network("asia")
    True
    """
    lines, version = [], 1
    for node in network.nodes:
        table = held_tables(network.cpts)[node]
        sparse = isinstance(table, SparseTable)
        rows = (table.rows if sparse else table.reshape(-1, len(network.levels[node]))).tolist()
        entry: dict[str, Any] = {
            "name": node,
            "levels": list(network.levels[node]),
            "parents": list(network.parents(node)),
            "probabilities": [None if math.isnan(row[0]) else row for row in rows],
        }
        if sparse:
            version = VERSION  # so that earlier releases refuse it
            entry["configurations"] = np.transpose(np.unravel_index(table.configurations, table.shape[:-1])).tolist()
            entry["others"] = None if math.isnan(table.rest[0]) else table.rest.tolist()
        if node in network.codings:
            entry["coding"] = coding_entry(network.codings[node])
        lines.append(json.dumps(entry, ensure_ascii=False, allow_nan=False))
    nodes = ",\n  ".join(lines)
    return f'{{"format": "{NETWORK}", "version": {version}, "nodes": [\n  {nodes}\n]}}\n'


def graph_to_json(dag: DAG) -> str:
    """Return a graph as JSON.

    Examples
    --------
    >>> print(graph_to_json(DAG(["A", "B"], [("A", "B")])), end="")
    {"format": "mapdag-graph", "version": 1, "nodes": ["A", "B"], "arcs": [["A", "B"]]}
    """
    value = {"format": GRAPH, "version": 1, "nodes": list(dag.nodes), "arcs": [list(arc) for arc in dag.arcs]}
    return json.dumps(value, ensure_ascii=False) + "\n"


def network_from_json(text: str, source: str = "JSON text", *, tolerance: float = TOLERANCE) -> BayesianNetwork:
    """Read a network from JSON; a graph alone is refused."""
    content = _load(text, source)
    if content["format"] != NETWORK:
        raise FormatError("this file has a graph without probabilities; read it with read_graph", source)
    nodes = _items(content, "nodes", dict, source)
    names = [_text(node, "name", source) for node in nodes]
    try:
        levels = {name: tuple(_items(node, "levels", str, source)) for name, node in zip(names, nodes, strict=True)}
        parents = {name: _items(node, "parents", str, source) for name, node in zip(names, nodes, strict=True)}
        dag = DAG(names, [(parent, name) for name in names for parent in parents[name]])
        check_size(dag, levels, sparse=[name for name, node in zip(names, nodes, strict=True) if _is_sparse(node)])
        cpts: dict[str, Any] = {}
        for name, node in zip(names, nodes, strict=True):
            shape = [len(levels[parent]) for parent in parents[name]]
            axes = [parents[name].index(parent) for parent in dag.parents(name)]
            if _is_sparse(node):
                cpts[name] = _sparse_table(node, name, shape, len(levels[name]), source).transpose(*axes, len(axes))
                continue
            table = _table(node, name, math.prod(shape), len(levels[name]), source)
            cpts[name] = table.reshape(*shape, -1).transpose(*axes, len(axes))
        codings = {name: _coding(node, name, source) for name, node in zip(names, nodes, strict=True)}
        return BayesianNetwork(dag, levels, cpts, tolerance=tolerance, allow_undefined=True, codings=codings)
    except (GraphError, NetworkError, DataError) as error:
        raise FormatError(str(error), source) from error


def graph_from_json(text: str, source: str = "JSON text") -> DAG:
    """Read a graph from JSON, or the graph of a network."""
    content = _load(text, source)
    if content["format"] == NETWORK:
        return network_from_json(text, source).dag
    arcs = []
    for arc in _items(content, "arcs", list, source):
        if len(arc) != 2 or not all(isinstance(end, str) for end in arc):
            raise FormatError(f'an arc must be ["from", "to"], got {json.dumps(arc)}', source)
        arcs.append((arc[0], arc[1]))
    try:
        return DAG(_items(content, "nodes", str, source), arcs)
    except GraphError as error:
        raise FormatError(str(error), source) from error


def _load(text: str, source: str) -> dict[str, Any]:
    """Return what the file holds, which must be a network or a graph of a version that we know."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", source, error.lineno, error.colno) from None
    except RecursionError:
        raise FormatError("not a network or graph: too many brackets inside one another", source) from None
    except ValueError:  # Python reads whole numbers of a few thousand digits at most
        raise FormatError("not a network or graph: a number with thousands of digits", source) from None
    if not isinstance(content, dict) or content.get("format") not in (NETWORK, GRAPH):
        raise FormatError(f'this JSON is neither a network nor a graph: it needs "format": "{NETWORK}"', source)
    version = content.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise FormatError(f"this file has version {version!r} of the format; this mapdag reads up to {VERSION}", source)
    return content


def _items(node: Mapping[str, Any], key: str, kind: type, source: str) -> list[Any]:
    """Return a list of values of one type."""
    value = node.get(key)
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        what = {"str": "strings", "list": "pairs", "dict": "objects"}[kind.__name__]
        raise FormatError(f'"{key}" must be a list of {what}, got {json.dumps(value)[:60]}', source)
    return value


def _text(node: Mapping[str, Any], key: str, source: str) -> str:
    value = node.get(key)
    if not isinstance(value, str):
        raise FormatError(f'"{key}" of every node must be a string, got {json.dumps(value)[:60]}', source)
    return value


def _coding(node: Mapping[str, Any], name: str, source: str) -> Coding:
    """Return what the levels of a node stand for."""
    coding = read_coding(node, name, source) or TEXT
    if coding.edges is not None and len(coding.edges) > len(node["levels"]) + 1:
        raise FormatError(f"{name!r} has fewer levels than intervals between the edges of its coding", source)
    return coding


def _is_sparse(node: Mapping[str, Any]) -> bool:
    return node.get("configurations") is not None and bool(node.get("parents"))


def _sparse_table(node: Mapping[str, Any], name: str, shape: list[int], r: int, source: str) -> SparseTable:
    """Return the rows of a table of which the file holds some."""
    if math.prod(shape) * r > MAX_CELLS:
        raise FormatError(f"{name!r} has too many parents: {math.prod(shape):,} configurations", source)
    given = _items(node, "configurations", list, source)
    rest = _table({"probabilities": [node.get("others")]}, name, 1, r, source)[0]
    numbers = np.zeros(len(given), dtype=np.int64)
    for place, codes in enumerate(given):
        if len(codes) != len(shape) or not all(
            type(code) is int and 0 <= code < card for code, card in zip(codes, shape, strict=False)
        ):
            raise FormatError(
                f"a configuration of {name!r} must be levels of its parents, got {str(codes)[:60]}", source
            )
        for code, card in zip(codes, shape, strict=True):
            numbers[place] = numbers[place] * card + code
    rows = _table(node, name, len(given), r, source).reshape(-1, r)
    order = np.argsort(numbers, kind="stable")
    return SparseTable((*shape, r), numbers[order], rows[order], rest)


def _table(node: Mapping[str, Any], name: str, q: int, r: int, source: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the rows of a table."""
    rows = node.get("probabilities")
    if not isinstance(rows, list) or len(rows) != q:
        found = len(rows) if isinstance(rows, list) else "none"
        raise FormatError(
            f'"probabilities" of {name!r} must have {q:,} rows, one per configuration, got {found}', source
        )
    undefined = [math.nan] * r
    table = [undefined if row is None else row for row in rows]
    for row in table:
        if not isinstance(row, list) or len(row) != r or not all(isinstance(number, int | float) for number in row):
            raise FormatError(f"a row of {name!r} must be {r} numbers, got {json.dumps(row)[:60]}", source)
    return np.array(table, dtype=np.float64)
