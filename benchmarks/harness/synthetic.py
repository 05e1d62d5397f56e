"""Random sparse networks of any size, sampled directly: what the reference networks are too small for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mapdag import Dataset

MOST_PARENTS = 4


def sparse(nodes: int, n: int, *, seed: int, expected_parents: float = 1.5) -> Dataset:
    """Rows of a random network of nodes with 2 to 4 levels, 1.5 parents a node on average, at most four.

    Conditional distributions are draws of a Dirichlet with all weights 1/2, so that most arcs matter.
    """
    import mapdag as md

    rng = np.random.default_rng([seed, nodes])
    names = [f"X{i + 1}" for i in range(nodes)]
    dag = md.random_dag(names, expected_parents=expected_parents, max_parents=MOST_PARENTS, seed=rng)
    cards = dict(zip(names, rng.integers(2, 5, nodes).tolist(), strict=True))
    columns: dict[str, np.ndarray] = {}
    for name in dag.topological_order():
        configuration = np.zeros(n, dtype=np.int64)
        size = 1
        for parent in dag.parents(name):
            configuration = configuration * cards[parent] + columns[parent]
            size *= cards[parent]
        edges = np.cumsum(rng.dirichlet(np.full(cards[name], 0.5), size), axis=1)[:, :-1]
        columns[name] = (rng.random(n)[:, None] > edges[configuration]).sum(axis=1)
    codes = np.stack([columns[name] for name in names]).astype(np.uint8)
    return md.Dataset(names, {name: [str(k) for k in range(cards[name])] for name in names}, codes)
