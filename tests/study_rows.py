"""Rows of studies that were never run, so that what they say is known."""

import itertools

from mapdag.study import paper
from mapdag.study.cells import Row
from mapdag.study.panel import Panel

DESIGN = paper()


def make_row(network, size, replicate, objective, **changed):
    values = {
        "network": network,
        "size": size,
        "replicate": replicate,
        "columns": "file",
        "search": "hc",
        "objective": objective,
        "n": 100,
        "shd": 10,
        "arcs": 10,
        "true_arcs": 10,
        "log_likelihood": -100_000.0,
        "score": -1.0,
        "precision": 0.5,
        "recall": 0.5,
        "skeleton_precision": 0.5,
        "skeleton_recall": 0.5,
        "moves": 3,
        "stopped": "converged",
        "graph": "0",
        "alpha": None,
        "flag": "",
        "families": 1,
        "seconds": 0.1,
    }
    return Row(**{**values, **changed})


def make_rows(value, *, replicates=2, networks=DESIGN.networks, sizes=DESIGN.sizes, objectives=DESIGN.objectives):
    """Rows of the paper's design; `value` gives what differs from one to the next."""
    for network, size, replicate, objective in itertools.product(networks, sizes, range(1, replicates + 1), objectives):
        yield make_row(network, size, replicate, objective, **value(network, size, replicate, objective))


def make_panel(value=lambda *_: {}, **options):
    return Panel.from_rows(make_rows(value, **options), "file", "hc", DESIGN)
