"""Networks and graphs, read, and written with hostile names."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from target import folder

import mapdag as md


def read_network(data: bytes) -> None:
    """Read a network; what is accepted must come back the same after it was written."""
    net = md.read_network(data)
    assert all(np.isfinite(net.cpts[node]).all() or data.lstrip()[:1] == b"{" for node in net.nodes)


def read_graph(data: bytes) -> None:
    """Read a graph."""
    md.read_graph(data)


def through_formats(names: list[str]) -> None:
    """Write a network with hostile names and levels in every format, and read it back."""
    from mapdag.io.formats import _NETWORK_READERS, _NETWORK_WRITERS  # what files hold, without the disk

    nodes = [name for name in dict.fromkeys(names) if name]
    dag = md.DAG(nodes, pairwise(nodes))
    levels = {node: tuple(dict.fromkeys([f"{node}0", *nodes])) for node in nodes}
    net = md.BayesianNetwork(dag, levels, {node: _even(net_shape(dag, levels, node)) for node in nodes})
    for kind, write in _NETWORK_WRITERS.items():
        assert _NETWORK_READERS[kind](write(net)) == net, kind
    assert md.DAG.from_dot(dag.to_dot()) == dag
    assert md.DAG.from_dot(dag.to_dot()).arcs == dag.arcs
    _check_page(net)


def _check_page(net: Any) -> None:
    """Write the page of a network: no name in it may become markup."""
    path = folder() / "page.html"
    md.Result.given(net.dag, net.sample(20, seed=1), "BDs").report(path)
    assert "<script>alert" not in path.read_text(encoding="utf-8")


def net_shape(dag: Any, levels: Any, node: str) -> tuple[int, ...]:
    """Return the shape of a table."""
    return tuple(len(levels[each]) for each in (*dag.parents(node), node))


def _even(shape: tuple[int, ...]) -> Any:
    return np.full(shape, 1 / shape[-1])
