"""What there is to choose from: likelihoods, priors, searches, bundled networks, and ranges of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mapdag
from mapdag.explorer.settings import LIKELIHOODS, PRIORS, WITH_ALPHA, Settings
from mapdag.reference import catalogue

if TYPE_CHECKING:
    from mapdag.explorer.limits import Limits

_SEARCHES = {
    "orders": ("search over orders", "the default: gives the best graphs"),
    "hc": ("hill climbing", "the fastest"),
    "tabu": ("tabu search", "goes on where hill climbing stops"),
    "exact": ("exact search", "the best of all graphs, for some twenty nodes"),
    "certified": ("certified search", "the best graph and a bound on all others, for tens of nodes"),
}


def vocabulary(limits: Limits) -> dict[str, Any]:
    """Return what there is to choose from."""
    return {
        "version": mapdag.__version__,
        "likelihoods": [
            {"name": name, "alpha": name in WITH_ALPHA, "note": note} for name, (_, note) in LIKELIHOODS.items()
        ],
        "priors": [{"name": name, "parameters": list(takes), "note": note} for name, (takes, note) in PRIORS.items()],
        "parameters": {
            "alpha": {"low": 0.01, "high": 1000, "default": 1},
            "c": {"low": 0.05, "high": 10, "default": 1},
            "beta": {"low": 0.0001, "high": 0.9999, "default": 0.5},
            "support": {"low": 0, "high": 20, "default": 3},
        },
        "searches": [{"name": name, "title": title, "note": note} for name, (title, note) in _SEARCHES.items()],
        "networks": [{"name": each.name, "nodes": each.nodes, "arcs": each.arcs} for each in catalogue()],
        "defaults": Settings().to_json(),
        "limits": {"body": limits.body, "rows": limits.rows, "tables": limits.tables, "search": limits.search},
    }
