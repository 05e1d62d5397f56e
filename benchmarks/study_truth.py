"""Which of the two errs, search or score: how often the true graph scores better than the graph that was learned.

Where it does, the search has missed a better graph, whatever the score is worth; where it does not, the score itself
prefers another graph. For each network and size of a study's results: in how many of the learned networks the truth
scores better, and the average gain in log-score; for objectives with a fixed alpha only.

    python benchmarks/study_truth.py results --networks pigs --replicates 2
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import mapdag as md
from mapdag.study import Row, Store, Task
from mapdag.study.samples import draw_sample, load_network

OBJECTIVES = ("U+BDeu(alpha=1)", "U+BDeu(alpha=10)", "MU(beta=0.5)+BDs(alpha=1)", "MU(c=1)+BDs(alpha=1)", "U+BIC")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--networks", default=None, type=lambda text: text.split(","))
    parser.add_argument("--replicates", default=20, type=int)
    given = parser.parse_args()
    samples: defaultdict[tuple[str, str, int], list[Row]] = defaultdict(list)
    with Store(given.directory) as store:
        seed = store.meta["seed"]
        for row in store.rows():
            wanted = given.networks is None or row.network in given.networks
            if wanted and row.objective in OBJECTIVES and row.replicate <= given.replicates:
                samples[row.network, row.size, row.replicate].append(row)
    gains: defaultdict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for (name, size, replicate), rows in samples.items():
        network = load_network(name)
        sample = draw_sample(Task(name, size, replicate, "file", (), seed, 1), network)
        scores = {each: float(md.score(network.dag, sample, each)) for each in {row.objective for row in rows}}
        for row in rows:
            gain = scores[row.objective] - row.score
            gains[name, row.search, row.columns, size].append(gain)
    print(
        f"{'network':12} {'search':8} {'columns':9} {'n/p':>5}  {'learned':>7}  {'truth better':>12}  {'mean gain':>10}"
    )
    for (name, search, columns, size), each in gains.items():
        better = sum(gain > 1e-6 * abs(gain) + 1e-6 for gain in each)
        mean = sum(each) / len(each)
        print(f"{name:12} {search:8} {columns:9} {size:>5}  {len(each):7}  {better:12}  {mean:10.1f}")


if __name__ == "__main__":
    main()
