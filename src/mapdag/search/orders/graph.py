"""A graph and the scores of its families, as explorations and assemblies hand them over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.kernels import Floats, Words


class Graph(NamedTuple):
    """A graph and the scores of its families, their log-odds included."""

    parents: Words  # (nodes, words) bitsets
    scores: Floats  # (nodes,)

    def masks(self) -> list[int]:
        """Parents of each node, as bit masks."""
        return [int.from_bytes(row.tobytes(), "little") for row in self.parents]

    def score(self) -> float:
        """Sum of the scores."""
        return math.fsum(self.scores.tolist())


def no_graph(n_nodes: int) -> Graph:
    """Make a graph without arcs or scores."""
    return Graph(np.zeros((n_nodes, (n_nodes + 63) // 64), dtype=np.uint64), np.zeros(n_nodes))


def graph_of(masks: Sequence[int], scores: Sequence[float]) -> Graph:
    """Make a graph from parents as bit masks and the scores of the families."""
    graph = no_graph(len(masks))
    size = 8 * graph.parents.shape[1]
    graph.parents[:] = [np.frombuffer(mask.to_bytes(size, "little"), dtype=np.uint64) for mask in masks]
    graph.scores[:] = scores
    return graph
