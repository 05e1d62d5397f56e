"""Directed arcs right against the number of experiments, at equal rows: what interventions are worth.

    python benchmarks/experiments.py [--rows 2000] [--samples 3] [NETWORK ...]

Of `rows` rows, an equal share is observed and an equal share is of each of k experiments; an experiment sets one node,
drawn at random, to levels at random. Printed are means over samples: arcs of the true graph whose direction the class
of the learned graph has right, has wrong, and leaves open; arcs missed and extra; and seconds, beside those of the same
rows taken as if they had only been observed.
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("networks", nargs="*", default=["sachs", "insurance", "alarm"])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=3)
    given = parser.parse_args()
    print(f"{'network':10} {'experiments':>11} {'data':14}  right wrong  open missed extra seconds")
    for name in given.networks:
        network = md.network(name)
        for k in COUNTS:
            found: dict[str, list[list[float]]] = {"as it is": [], "as if observed": []}
            for sample in range(given.samples):
                chosen = np.random.default_rng(sample).permutation(network.nodes)[:k]
                do = [{}, *({str(node): None} for node in chosen)]
                data = network.sample(given.rows // (k + 1), seed=sample, do=do)
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
