"""Directed arcs right against the number of experiments, at equal rows: what interventions are worth.

    python benchmarks/experiments.py [--rows 2000] [--samples 3] [--chosen] [NETWORK ...]

Of `rows` rows, an equal share is observed and an equal share is of each of k experiments; an experiment sets one node,
drawn at random, to levels at random; or, `--chosen`, the one that `Result.next_experiments` proposes after as many
rows of the experiments so far (none where nothing is open). Printed are means over samples: arcs of the true graph
whose direction the class of the learned graph has right, has wrong, and leaves open; arcs missed and extra; seconds,
beside those of the same rows taken as if they had only been observed.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import mapdag as md

COUNTS = 0, 1, 2, 4, 8
OBJECTIVE = "Support()+MU(c=1)+BDs(1)"


def judged(cpdag: md.CPDAG, truth: md.DAG) -> list[float]:
    """Arcs right, wrong, open, missed, extra."""
    arcs, edges, right = set(cpdag.arcs), {frozenset(edge) for edge in cpdag.edges}, set(truth.arcs)
    joined = {frozenset(arc) for arc in right}
    good, bad = len(arcs & right), sum((b, a) in right for a, b in arcs)
    free = len(edges & joined)
    extra = len({frozenset(arc) for arc in arcs} | edges) - good - bad - free
    return [good, bad, free, len(right) - good - bad - free, extra]


def experiments(network: md.BayesianNetwork, k: int, rows: int, sample: int, *, chosen: bool) -> list[dict[str, None]]:
    """Return what is set in each experiment, the first of which sets nothing."""
    if not chosen:
        order = np.random.default_rng(sample).permutation(network.nodes)[:k]
        return [{}, *({str(node): None} for node in order)]
    do: list[dict[str, None]] = [{}]
    for _ in range(k):
        data = network.sample(rows // (k + 1), seed=sample, do=do)
        best = md.learn(data, OBJECTIVE).next_experiments().best
        if best is not None:
            do.append({best: None})
    return do


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=["sachs", "insurance", "alarm"])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--chosen", action="store_true")
    given = parser.parse_args()
    print(f"{'network':10} {'experiments':>11} {'data':14}  right wrong  open missed extra seconds")
    for name in given.networks:
        network = md.network(name)
        for k in COUNTS:
            found: dict[str, list[list[float]]] = {"as it is": [], "as if observed": []}
            for sample in range(given.samples):
                do = experiments(network, k, given.rows, sample, chosen=given.chosen)
                data = network.sample(given.rows // len(do), seed=sample, do=do)
                plain = md.Dataset(data.names, data.levels, data.codes)
                for told, table in (("as it is", data), ("as if observed", plain)):
                    began = time.perf_counter()
                    result = md.learn(table, OBJECTIVE)
                    seconds = time.perf_counter() - began
                    found[told].append([*judged(result.identified, network.dag), seconds])
            for told, rows in found.items():
                mean = np.mean(rows, axis=0)
                figures = " ".join(f"{value:6.1f}" for value in mean[:5])
                if k or told == "as it is":
                    print(f"{name:10} {k:11} {told:14} {figures} {mean[5]:7.2f}", flush=True)


if __name__ == "__main__":
    main()
