"""Into how many bins should numbers be cut? Learn graphs that are known, from ten continuous variables.

Prints the table in docs/check.md: for each number of rows and of bins, the F1 of the arcs found, whatever their
direction; the mean over 30 graphs, half of them with straight, half with curved relations. Takes about a minute.
"""

from __future__ import annotations

import warnings

import numpy as np

import mapdag as md

ROWS = (60, 100, 200, 400, 800, 1500, 3000, 10_000)
BINS = (2, 3, 4, 5, 6, 8)
N_NODES, N_GRAPHS, SHARE = 10, 30, 0.2


def sample(rng: np.random.Generator, n_rows: int, *, curved: bool) -> tuple[dict[str, np.ndarray], set[frozenset[str]]]:
    """Draw a graph, and rows from it; some variables are skewed."""
    arcs = np.triu(rng.random((N_NODES, N_NODES)) < SHARE, 1)
    rows = np.zeros((n_rows, N_NODES))
    for node in range(N_NODES):
        parents = np.flatnonzero(arcs[:, node])
        weights = rng.uniform(0.5, 1.5, len(parents)) * rng.choice([-1, 1], len(parents))
        causes = rows[:, parents]
        rows[:, node] = (2 * np.tanh(causes) if curved else causes) @ weights + rng.normal(size=n_rows)
        rows[:, node] /= rows[:, node].std()
        if rng.random() < 0.3:
            rows[:, node] = np.exp(rows[:, node])
            rows[:, node] = (rows[:, node] - rows[:, node].mean()) / rows[:, node].std()
    edges = {frozenset((f"x{a}", f"x{b}")) for a, b in np.argwhere(arcs).tolist()}
    return {f"x{node}": rows[:, node] for node in range(N_NODES)}, edges


def f1(n_rows: int, bins: int) -> float:
    """Return how well the arcs are found."""
    rng, found = np.random.default_rng(7), []
    for graph in range(N_GRAPHS):
        table, edges = sample(rng, n_rows, curved=graph % 2 == 1)
        result = md.learn(md.read(table, discretize=f"quantile({bins})"), search="hc")
        learned = {frozenset(arc) for arc in result.dag.arcs}
        found.append(2 * len(edges & learned) / max(len(edges) + len(learned), 1))
    return float(np.mean(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore", md.errors.MapdagWarning)
    print("| rows |" + "".join(f" {bins} bins |" for bins in BINS))  # noqa: T201 - a script
    print("|---|" + "---|" * len(BINS))  # noqa: T201
    for n_rows in ROWS:
        print(f"| {n_rows:,} |" + "".join(f" {f1(n_rows, bins):.2f} |" for bins in BINS), flush=True)  # noqa: T201
