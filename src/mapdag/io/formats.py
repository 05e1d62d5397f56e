"""Which format a file has, and the functions that read and write networks and graphs in any of them.

| format        | file names   | holds                                          |
|---------------|--------------|------------------------------------------------|
| "bif"         | .bif         | a network (`bif_reader`, `bif_writer`)         |
| "json"        | .json        | a network or a graph (`schema`)                |
| "xmlbif"      | .xmlbif, ... | a network (`xmlbif`); also .bifxml and .xml    |
| "net"         | .net         | a network, as Hugin writes it (`hugin`)        |
| "xdsl"        | .xdsl        | a network, as GeNIe writes it (`xdsl`)         |
| "uai"         | .uai         | a network, as numbers (`uai`)                  |
| "dot"         | .dot, .gv    | a graph (`mapdag.graphs.dot`)                  |
| "modelstring" | .txt         | a graph, as bnlearn writes it                  |
| "csv"         | .csv         | a graph, as a table of arcs (`arclists`)       |

Any of them may be gzipped, with ".gz" after the ending.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mapdag.checks import is_one_of
from mapdag.errors import FormatError, GraphError, ParameterError
from mapdag.graphs import CPDAG, DAG
from mapdag.io import arclists, schema
from mapdag.io.bif_reader import read_bif
from mapdag.io.bif_writer import to_bif
from mapdag.io.files import check_path, check_writable, decode, read_text, write_text
from mapdag.io.hugin import read_net, to_net
from mapdag.io.uai import read_uai, to_uai
from mapdag.io.xdsl import read_xdsl, to_xdsl
from mapdag.io.xmlbif import read_xmlbif, to_xmlbif
from mapdag.networks import BayesianNetwork
from mapdag.networks.cpts import TOLERANCE
from mapdag.wording import brief

if TYPE_CHECKING:
    from mapdag.graphs.nodes import Arc

_ENDINGS = {
    ".bif": "bif",
    ".json": "json",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".xml": "xmlbif",
    ".net": "net",
    ".xdsl": "xdsl",
    ".uai": "uai",
    ".dot": "dot",
    ".gv": "dot",
    ".txt": "modelstring",
    ".modelstring": "modelstring",
    ".csv": "csv",
}
_NETWORK_READERS: dict[str, Callable[..., BayesianNetwork]] = {
    "bif": read_bif,
    "json": schema.network_from_json,
    "xmlbif": read_xmlbif,
    "net": read_net,
    "xdsl": read_xdsl,
    "uai": read_uai,
}
_NETWORK_WRITERS: dict[str, Callable[[BayesianNetwork], str]] = {
    "bif": to_bif,
    "json": schema.network_to_json,
    "xmlbif": to_xmlbif,
    "net": to_net,
    "xdsl": to_xdsl,
    "uai": to_uai,
}
_GRAPH_WRITERS: dict[str, Callable[[Any], str]] = {  # of DAGs; "dot" of CPDAGs, too
    "json": schema.graph_to_json,
    "dot": lambda graph: graph.to_dot() + "\n",
    "modelstring": lambda dag: dag.to_modelstring() + "\n",
    "csv": arclists.to_arcs,
}
_GRAPH_READERS: dict[str, Callable[[str, str], DAG]] = {
    **{kind: lambda text, name, read=read: read(text, name).dag for kind, read in _NETWORK_READERS.items()},  # type: ignore[misc]
    "json": schema.graph_from_json,
    "dot": lambda text, _: DAG.from_dot(text),
    "modelstring": lambda text, _: DAG.from_modelstring(text.strip()),
    "csv": arclists.from_arcs,
}


def _suffixes(formats: Iterable[str]) -> tuple[str, ...]:
    plain = tuple(ending for ending, kind in _ENDINGS.items() if kind in formats)
    return (*plain, *(f"{ending}.gz" for ending in plain))


NETWORK_SUFFIXES = _suffixes(_NETWORK_WRITERS)
"""What the names of files may end in that `write_network` writes."""

GRAPH_SUFFIXES = _suffixes(_GRAPH_WRITERS)
"""What the names of files may end in that `write_graph` writes."""

# How each format starts, comments aside. Tried in this order.
_STARTS = (
    ("json", re.compile(r"\{")),
    ("modelstring", re.compile(r"\[")),
    ("dot", re.compile(r"(?:strict\s+)?(?:di)?graph\b", re.IGNORECASE)),
    ("bif", re.compile(r"(?:network|variable|probability)\b", re.IGNORECASE)),
    ("xmlbif", re.compile(r"<(?:BIF|.*?<BIF)\b", re.IGNORECASE | re.DOTALL)),
    ("xdsl", re.compile(r"<(?:smile|.*?<smile)\b", re.IGNORECASE | re.DOTALL)),
    ("net", re.compile(r"net\s*\{|(?:discrete\s+)?node\s+\w+\s*\{", re.IGNORECASE)),
    ("uai", re.compile(r"(?:BAYES|MARKOV)\b", re.IGNORECASE)),
    ("csv", re.compile(r'[^\n]*\bfrom"?\s*,\s*"?to\b', re.IGNORECASE)),
)
_LEADING = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|^[\#%][^\n]*)*", re.DOTALL | re.MULTILINE)


def read_network(
    source: str | os.PathLike[str] | bytes | Any,
    *,
    format: str | None = None,  # noqa: A002 - the word everyone uses
    tolerance: float = TOLERANCE,
) -> BayesianNetwork:
    """Read a network from a file.

    Parameters
    ----------
    source : path, bytes, open file or str
        A path, or what such a file holds. A string with a line break in it is text; any other string is a path.
    format : {"bif", "json", "xmlbif", "net", "xdsl", "uai"}, optional
        The format; by default the one that the ending of the path tells, else the one that the text looks like.
    tolerance : float
        How far from one the probabilities of a configuration may sum; within, they are divided by their sum.

    Raises
    ------
    FileError
        If the file cannot be opened.
    FormatError
        If it cannot be read, with the line and the column where that is known.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mapdag.reference import network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "asia.bif.gz")
    ...     write_network(network("asia"), path)
    ...     read_network(path) == network("asia")
    True
    """
    text, name, ending = _open(source)
    kind = _choose(format, ending, text, name, _NETWORK_READERS)
    if kind in _NETWORK_READERS:
        return _NETWORK_READERS[kind](text, name, tolerance=tolerance)
    raise FormatError(f"this is a graph ({kind}) without probabilities; read it with read_graph", name)


def read_graph(source: str | os.PathLike[str] | bytes | Any, *, format: str | None = None) -> DAG:  # noqa: A002
    r"""Read a graph from a file, or the graph of a network.

    Parameters
    ----------
    source : path, bytes, open file or str
        As for `read_network`. Text starting with "[" is a model string, with or without a line break.
    format : {"dot", "modelstring", "csv"} or a format of networks, optional
        As for `read_network`.

    Examples
    --------
    >>> read_graph("[A][B|A]")
    <DAG [A][B|A]>
    >>> read_graph(b"from,to\nA,B\n")
    <DAG [A][B|A]>
    """
    text, name, ending = _open(source)
    kind = _choose(format, ending, text, name, _GRAPH_READERS)
    try:
        return _GRAPH_READERS[kind](text, name)
    except FormatError as error:
        raise FormatError(error.message, name, error.line, error.column) from None
    except GraphError as error:
        raise FormatError(str(error), name) from error


def read_arcs(source: str | os.PathLike[str] | bytes | Any) -> list[Arc]:
    r"""Read a list of arcs: CSV with the columns "from" and "to", as `write_graph` writes it.

    The arcs need not make a graph, so that such a file can hold arcs to require or to forbid. Rows with an empty "to",
    which declare nodes, are left out; so are other columns.

    Parameters
    ----------
    source : path, bytes, open file or str
        As for `read_network`; possibly gzipped.

    Returns
    -------
    list of (str, str)
        In the order of the file.

    Raises
    ------
    FileError
        If the file cannot be opened.
    FormatError
        If it is no such table, with the line.

    Examples
    --------
    >>> read_arcs(b"from,to\nA,B\nB,A\nC,\n")
    [('A', 'B'), ('B', 'A')]
    """
    text, name, _ = _open(source)
    return arclists.parse_arcs(text, name)[1]


def write_network(network: BayesianNetwork, path: str | os.PathLike[str], *, format: str | None = None) -> None:  # noqa: A002
    """Write a network to a file, in full or not at all.

    Parameters
    ----------
    network : BayesianNetwork
    path : path
        A name that ends in ".gz" is compressed.
    format : {"bif", "json", "xmlbif", "net", "xdsl", "uai"}, optional
        By default what the ending tells: .bif, .json, .xmlbif (or .bifxml, .xml), .net (Hugin), .xdsl (GeNIe), .uai.
        Only JSON holds undefined probabilities. What a format cannot hold of names and labels is replaced, with a
        warning, and noted in comments, which `read_network` understands.

    Raises
    ------
    FileError
        If the file cannot be written; whatever it held before is still there.
    """
    if not isinstance(network, BayesianNetwork):
        hint = "; write_graph writes graphs" if isinstance(network, DAG | CPDAG) else ""
        raise ParameterError(f"network must be a BayesianNetwork, got {type(network).__name__}{hint}")
    kind = _kind(path, format, _NETWORK_WRITERS, "a network")
    check_writable(path)
    write_text(path, _NETWORK_WRITERS[kind](network))


def write_graph(dag: DAG | CPDAG, path: str | os.PathLike[str], *, format: str | None = None) -> None:  # noqa: A002
    """Write a graph to a file, in full or not at all.

    Parameters
    ----------
    dag : DAG or CPDAG
        Only "dot" holds undirected edges; of a CPDAG, other formats hold `CPDAG.to_dag`.
    path : path
        A name that ends in ".gz" is compressed.
    format : {"json", "dot", "modelstring", "csv"}, optional
        By default what the ending tells.

    Raises
    ------
    GraphError
        If the format does not hold such a graph.
    FileError
        If the file cannot be written; whatever it held before is still there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "graph.csv")
    ...     write_graph(DAG(["A", "B"], [("A", "B")]), path)
    ...     path.read_text().split()
    ['from,to', 'A,B']
    """
    if not isinstance(dag, DAG | CPDAG):
        hint = "; its graph is .dag, and write_network writes all of it" if isinstance(dag, BayesianNetwork) else ""
        raise ParameterError(f"dag must be a DAG or a CPDAG, got {type(dag).__name__}{hint}")
    kind = _kind(path, format, _GRAPH_WRITERS, "a graph")
    if isinstance(dag, CPDAG) and kind != "dot":
        raise GraphError(f"a CPDAG can be written as 'dot', not as {kind!r}; of its DAGs, to_dag() gives one")
    check_writable(path)
    write_text(path, _GRAPH_WRITERS[kind](dag))


def _kind(path: str | os.PathLike[str], wanted: str | None, writers: Iterable[str], what: str) -> str:
    """Return the format in which to write something: the one that is wanted, or that the name of the file tells."""
    check_path(path)
    kind = _ending(path) if wanted is None else wanted
    if kind is None:
        endings = ", ".join(_suffixes(writers))
        raise ParameterError(
            f"the name {os.fspath(path)!r} does not tell the format of {what}: let it end in one of {endings}"
        )
    if not is_one_of(kind, tuple(writers)):
        raise ParameterError(f"{what} can be written as {', '.join(map(repr, writers))}, not as {brief(kind)}")
    return kind


def _open(source: str | os.PathLike[str] | bytes | Any) -> tuple[str, str, str | None]:
    """Return the text, what to call it, and the format that the ending of its name tells."""
    if isinstance(source, bytes | bytearray | memoryview):
        return decode(bytes(source), "the data"), "the data", None
    if hasattr(source, "read"):
        name = str(getattr(source, "name", "the data"))
        content = source.read()
        return content if isinstance(content, str) else decode(content, name), name, None
    if isinstance(source, str) and ("\n" in source or source.startswith("[")):
        return source, "the text", None
    if not isinstance(source, str | os.PathLike):
        raise ParameterError(f"a file is a path, bytes or an open file, got {type(source).__name__}")
    # Anything may be in a ".txt": what it looks like decides.
    ending = None if str(source).lower().endswith((".txt", ".txt.gz")) else _ending(source)
    return read_text(source), str(source), ending


def _ending(path: str | os.PathLike[str]) -> str | None:
    """Return the format that the name of a file tells."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return _ENDINGS.get(suffixes[-1]) if suffixes else None


def _choose(wanted: str | None, ending: str | None, text: str, name: str, allowed: Iterable[str]) -> str:
    """Return the format of a text: the one wanted, else the one its name tells, else the one it looks like."""
    if wanted is not None:
        if not is_one_of(wanted, tuple(allowed)):
            raise ParameterError(f"format must be one of {', '.join(map(repr, allowed))}, got {brief(wanted)}")
        return wanted
    if ending is not None:
        return ending
    match = _LEADING.match(text)
    start = match.end() if match else 0
    for kind, pattern in _STARTS:
        if pattern.match(text, start):
            return kind
    shown = text[start : start + 40].partition("\n")[0]
    hint = f"it starts with {shown!r}"
    raise FormatError(f"this is none of the formats {', '.join(dict.fromkeys(_ENDINGS.values()))}: {hint}", name)
