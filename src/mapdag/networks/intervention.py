"""Interventions: networks in which the levels of some nodes are set from outside (Pearl, 2009, "Causality", 3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.dataset import Dataset
from mapdag.data.interventions import Interventions
from mapdag.errors import ParameterError
from mapdag.graphs import DAG
from mapdag.networks.elimination import codes_of
from mapdag.networks.evidence import levels_by_node
from mapdag.networks.network import BayesianNetwork
from mapdag.networks.probabilities import CPT
from mapdag.networks.sparse_tables import held_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def intervened(network: BayesianNetwork, levels: Mapping[str, Any], at_random: Sequence[str] = ()) -> BayesianNetwork:
    """Return the network without the arcs into the nodes that are set, which have their levels for certain.

    Those that are set `at_random` have all levels with equal probability.
    """
    masks, cpts = list(network.dag.parent_masks), dict(held_tables(network.cpts))
    for node in at_random:
        masks[network.dag.index.position(node)] = 0
        cpts[node] = np.full(len(network.levels[node]), 1 / len(network.levels[node]))
    for position, code in codes_of(network, levels).items():
        node = network.nodes[position]
        masks[position] = 0
        cpts[node] = np.eye(len(network.levels[node]))[code[0]]
    dag = DAG.from_parent_masks(network.dag.index, masks, check=False)
    return BayesianNetwork._trusted(dag, network.levels, cpts, network.codings)  # noqa: SLF001 - right by construction


def sample_experiments(
    network: BayesianNetwork, n: int, seed: int | Sequence[int], do: Any, evidence: Mapping[str, Any]
) -> Dataset:
    """Draw `n` rows of each experiment, the rows of all after each other."""
    from mapdag.networks import draws, propagation

    some = [levels_by_node("do", each) for each in do] if isinstance(do, list | tuple) else [levels_by_node("do", do)]
    n = draws.checked_count("n", n)
    if not some:
        raise ParameterError("do must name at least one experiment; {} is one in which nothing is set")
    if evidence and len(some) > 1:
        raise ParameterError("evidence cannot be given together with several experiments: draw from one at a time")
    parts = []
    for number, levels in enumerate(some):
        at_random = [node for node, level in levels.items() if level is None]
        cut = intervened(network, {node: levels[node] for node in levels if levels[node] is not None}, at_random)
        drawn = propagation.sample(cut, n, seed, evidence) if evidence else draws.sample_rows(cut, number * n, n, seed)
        parts.append(drawn.codes)
    was_set = Interventions.of([list(each) for each in some], np.repeat(np.arange(len(some)), n), network.nodes)
    codes = np.concatenate(parts, axis=1)
    return Dataset._trusted(network.nodes, network.levels, codes, None, network.codings, interventions=was_set)  # noqa: SLF001


def effect_of(network: BayesianNetwork, cause: str, effect: str) -> CPT:
    """Return the distribution of one node after each intervention on another one."""
    network.dag.index.pair((cause, effect))  # unknown names, and a node that is both, are refused
    levels = {node: network.levels[node] for node in (cause, effect)}
    rows = [network.query(effect, do={cause: level}).values for level in levels[cause]]
    return CPT(effect, (cause,), levels, np.array(rows), done=True)
