"""Graphs and networks as graphs of networkx, and back.

An arc is an edge of a `DiGraph`, an undirected edge is one in each direction. A network's nodes have the attributes
`levels`, `parents`, in the order of the axes, and `cpt`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mapdag.errors import GraphError, NetworkError
from mapdag.graphs import CPDAG, DAG
from mapdag.graphs.base import check_networkx
from mapdag.networks import BayesianNetwork

_OF_NETWORKS = ("levels", "parents", "cpt")


def to_networkx(network: BayesianNetwork) -> Any:
    """Return a network as a `DiGraph` with its tables as attributes of the nodes."""
    graph = network.dag.to_networkx()
    for node in network.nodes:
        graph.nodes[node].update(
            levels=network.levels[node], parents=network.parents(node), cpt=np.array(network.cpts[node])
        )
        if node in network.codings:
            graph.nodes[node]["coding"] = network.codings[node]
    return graph


def from_networkx(graph: Any) -> BayesianNetwork | DAG | CPDAG:
    """Make a graph or a network from a graph of networkx.

    Names that are not text become text.

    Parameters
    ----------
    graph : networkx.DiGraph or networkx.Graph
        Nodes that are joined in both directions, or by an edge of a `Graph`, are joined by an undirected edge here.

    Returns
    -------
    BayesianNetwork, CPDAG or DAG
        A network if all nodes have the attributes that `BayesianNetwork.to_networkx` sets; else a CPDAG if there are
        undirected edges, and a DAG if not.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx(nx.DiGraph([("A", "B"), ("C", "B")]))
    <DAG [A][C][B|A:C]>
    >>> from_networkx(nx.DiGraph([("A", "B"), ("B", "A"), ("B", "C")]))
    <CPDAG B -> C, A - B>
    >>> import mapdag as md
    >>> from_networkx(md.network("asia").to_networkx()) == md.network("asia")
    True
    """
    check_networkx(graph)
    known = [set(_OF_NETWORKS) <= attributes.keys() for _, attributes in graph.nodes(data=True)]
    if known and all(known) and graph.is_directed():
        return _network(graph)
    found = CPDAG.from_networkx(graph)
    return found if found.edges else DAG(found.nodes, found.arcs)


def _network(graph: Any) -> BayesianNetwork:
    dag = DAG.from_networkx(graph)
    levels, cpts, codings = {}, {}, {}
    for name, attributes in graph.nodes(data=True):
        node, before = str(name), [str(parent) for parent in attributes["parents"]]
        if set(before) != set(dag.parents(node)):
            raise GraphError(
                f"the attribute 'parents' of {node!r} is {before}, but the edges come from {dag.parents(node)}"
            )
        levels[node] = attributes["levels"]
        axes = [before.index(parent) for parent in dag.parents(node)]
        try:
            cpts[node] = np.asarray(attributes["cpt"]).transpose(*axes, len(axes))
        except ValueError:
            raise NetworkError(f"the attribute 'cpt' of {node!r} must have {len(axes) + 1} axes") from None
        if "coding" in attributes:
            codings[node] = attributes["coding"]
    return BayesianNetwork(dag, levels, cpts, codings=codings, allow_undefined=True)
