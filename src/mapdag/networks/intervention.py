"""Interventions: networks in which the levels of some nodes are set from outside (Pearl, 2009, "Causality", 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.graphs import DAG
from mapdag.networks.elimination import codes_of
from mapdag.networks.network import BayesianNetwork
from mapdag.networks.probabilities import CPT

if TYPE_CHECKING:
    from collections.abc import Mapping


def intervened(network: BayesianNetwork, levels: Mapping[str, Any]) -> BayesianNetwork:
    """Return the network without the arcs into the nodes that are set, which have their levels for certain."""
    masks, cpts = list(network.dag.parent_masks), dict(network.cpts)
    for position, code in codes_of(network, levels).items():
        node = network.nodes[position]
        masks[position] = 0
        cpts[node] = np.eye(len(network.levels[node]))[code[0]]
    dag = DAG.from_parent_masks(network.dag.index, masks, check=False)
    return BayesianNetwork._trusted(dag, network.levels, cpts, network.codings)  # noqa: SLF001 - right by construction


def effect_of(network: BayesianNetwork, cause: str, effect: str) -> CPT:
    """Return the distribution of one node after each intervention on another one."""
    network.dag.index.pair((cause, effect))  # unknown names, and a node that is both, are refused
    levels = {node: network.levels[node] for node in (cause, effect)}
    rows = [network.query(effect, do={cause: level}).values for level in levels[cause]]
    return CPT(effect, (cause,), levels, np.array(rows), done=True)
