"""The cells of Sachs and others (2005), with and without what was set in them, against the published network.

    python benchmarks/sachs.py TABLE [--objective U+BIC] [--resamples 200]

TABLE has a column for each protein, cut into three levels, and a column INT that names the protein that was set, empty
for none: 5,400 cells, the table that comes with R bnlearn's book and site (`sachs.interventional.txt`). It is not part
of this package. Printed are, for the graph with the highest score, the averaged network of a bootstrap and the arcs
with a posterior probability above 1/2: how many of the 17 published arcs are found, turned, missed, and how many arcs
are extra; of the equivalence class, arcs of which the direction is open are counted apart.
"""

from __future__ import annotations

import argparse
from typing import Any

import mapdag as md

OBJECTIVES = "Support()+MU(c=1)+BDs(1)", "U+BDeu(10)", "U+BDeu(1)", "U+BIC"


def compared(arcs: set[tuple[str, str]], edges: set[frozenset[str]], truth: md.DAG) -> str:
    """Return arcs found, turned, open, missed, and extra."""
    right = set(truth.arcs)
    found = len(arcs & right)
    turned = sum((b, a) in right for a, b in arcs)
    left = sum(frozenset(arc) in edges for arc in right)
    missed = len(right) - found - turned - left
    joined = {frozenset(arc) for arc in right}
    extra = sum(frozenset(arc) not in joined for arc in arcs) + len(edges - joined)
    return f"{found:3} found {turned:3} turned {left:3} open {missed:3} missed {extra:3} extra"


def of_class(cpdag: md.CPDAG, truth: md.DAG) -> str:
    """Compare an equivalence class."""
    return compared(set(cpdag.arcs), {frozenset(edge) for edge in cpdag.edges}, truth)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--objective", action="append")
    parser.add_argument("--resamples", type=int, default=200)
    given = parser.parse_args()
    truth = md.network("sachs").dag
    tables: dict[str, Any] = {
        "as if observed": md.read(given.table, drop="INT"),
        "with experiments": md.read(given.table, interventions="INT"),
    }
    tables["1,800 observed"] = md.read(given.table, interventions="INT").take(
        tables["with experiments"].experiments()[0]
    )
    print(tables["with experiments"].interventions)
    for objective in given.objective or OBJECTIVES:
        for name, data in tables.items():
            found = md.learn(data, objective)
            drawn = md.bootstrap(data, objective, R=given.resamples, seed=1)
            posterior = md.posterior(data, objective, seed=1)
            likely = {(a, b) for a in data.names for b in data.names if a != b and posterior[a, b] > 0.5}
            print(f"{objective:26} {name:18} best graph  {compared(set(found.dag.arcs), set(), truth)}")
            print(f"{'':26} {'':18} its class   {of_class(found.identified, truth)}")
            print(f"{'':26} {'':18} bootstrap   {compared(set(drawn.averaged().arcs), set(), truth)}")
            print(f"{'':26} {'':18} posterior   {compared(likely, set(), truth)}", flush=True)


if __name__ == "__main__":
    main()
