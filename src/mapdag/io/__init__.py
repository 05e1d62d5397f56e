"""Networks and graphs in files: BIF, JSON, DOT, model strings and tables of arcs.

`read_network`, `read_graph`, `write_network` and `write_graph` are the front doors; the table of formats is in
`formats`, each format has a module of its own.
"""

from __future__ import annotations

from mapdag.io.bif_reader import read_bif
from mapdag.io.bif_writer import to_bif
from mapdag.io.formats import read_graph, read_network, write_graph, write_network

__all__ = ["read_bif", "read_graph", "read_network", "to_bif", "write_graph", "write_network"]
