"""Files and objects of other programs: networks and graphs in many formats, data sets as tables.

`read_network`, `read_graph`, `write_network` and `write_graph` are the front doors; the table of formats is in
`formats`, each format has a module of its own, and names and labels that a format cannot hold are dealt with in
`portable` and `notes`. `write_table` writes data sets, which `mapdag.data` reads, and `check_writable` tells beforehand
whether a file can be written. `from_pgmpy`, `from_pyagrum` and `from_networkx` take objects; the way there are methods
of what is to go, such as `network.to_pgmpy()`.
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
from mapdag.io.with_networkx import from_networkx
from mapdag.io.with_pgmpy import from_pgmpy
from mapdag.io.with_pyagrum import from_pyagrum

__all__ = [
    "GRAPH_SUFFIXES",
    "NETWORK_SUFFIXES",
    "TABLE_SUFFIXES",
    "check_writable",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "read_arcs",
    "read_bif",
    "read_graph",
    "read_network",
    "to_bif",
    "write_graph",
    "write_network",
    "write_table",
]
