"""Files: networks and graphs as BIF, JSON, DOT, model strings and tables of arcs; data sets as tables.

`read_network`, `read_graph`, `write_network` and `write_graph` are the front doors; the table of formats is in
`formats`, each format has a module of its own. `write_table` writes data sets, which `mapdag.data` reads, and
`check_writable` tells beforehand whether a file can be written.
"""

from __future__ import annotations

from mapdag.io.bif_reader import read_bif
from mapdag.io.bif_writer import to_bif
from mapdag.io.datasets import TABLE_SUFFIXES, write_table
from mapdag.io.files import check_writable
from mapdag.io.formats import (
    GRAPH_SUFFIXES,
    NETWORK_SUFFIXES,
    read_arcs,
    read_graph,
    read_network,
    write_graph,
    write_network,
)

__all__ = [
    "GRAPH_SUFFIXES",
    "NETWORK_SUFFIXES",
    "TABLE_SUFFIXES",
    "check_writable",
    "read_arcs",
    "read_bif",
    "read_graph",
    "read_network",
    "to_bif",
    "write_graph",
    "write_network",
    "write_table",
]
