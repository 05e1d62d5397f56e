"""Rows with gaps: what is known stays, what is learned obeys, and everything ends."""

from __future__ import annotations

import contextlib
import math
import random
from typing import Any

import numpy as np

import mapdag as md
from mapdag.errors import MapdagError

_GAP = None


def gapped(rng: random.Random) -> dict[str, Any]:
    """Make a table with gaps, of any share, and choose what is asked of it."""
    n, rows = rng.randint(1, 5), rng.choice([1, 2, 5, 30, 80])
    names = [f"v{i}" for i in range(n)]
    share = rng.choice([0.0, 0.05, 0.3, 0.9, 1.0])
    levels = [rng.choice(["xy", "xyz", "x", "0123"]) for _ in names]
    columns = {
        name: [_GAP if rng.random() < share else rng.choice(labels) for _ in range(rows)]
        for name, labels in zip(names, levels, strict=True)
    }
    if n > 1 and rng.random() < 0.2:
        columns[names[1]] = [_GAP] * rows  # a column that nobody knows anything about
    pairs = [(a, b) for a in names for b in names if a != b]
    options: dict[str, Any] = {
        "required": rng.sample(pairs, min(len(pairs), rng.choice([0, 0, 0, 1]))),
        "forbidden": rng.sample(pairs, min(len(pairs), rng.choice([0, 0, 2, 8]))),
        "max_parents": rng.choice([None, 0, 1, 2]),
        "seed": rng.randrange(5),
    }
    weights = [rng.choice([0.5, 1, 2.25, 1e6]) for _ in range(rows)] if rng.random() < 0.2 else None
    em = {
        "impute": rng.choice(["soft", "soft", "hard"]),
        "starts": rng.choice([None, 1, 3]),
        "max_steps": rng.choice([1, 5]),
        "draws": rng.choice([1, 4, 64]),
        "search": rng.choice(["hc", "hc", "tabu", "orders", "exact"]),
    }
    return {
        "columns": columns,
        "declared": {name: list(labels) for name, labels in zip(names, levels, strict=True)},
        "weights": weights,
        "missing": rng.choice(["keep", "keep", "keep", "keep", "drop", "level", "error"]),
        "objective": rng.choice(
            ["PNAL", "NAL", "BDeu(1)", "MU(c=1)+BDs", "BIC", "AIC", "BDeu(1e-300)", "BDs(1e100)", "qNML", "K2"]
        ),
        "options": options,
        "em": em,
        "how": rng.choice(["joint", "marginal", "draw"]),
        "alpha": rng.choice([1, 0.0, 1e-300, 1e100, 0.5]),
    }


def learn_with_gaps(given: dict[str, Any]) -> None:
    """Learn by scores that take gaps and by EM; fill the gaps: nothing that is known changes."""
    data = md.read(given["columns"], levels=given["declared"], missing=given["missing"], weights=given["weights"])
    with contextlib.suppress(MapdagError):  # scores that take no gaps
        _learned(md.learn(data, given["objective"], threads=1, time_limit=20, **given["options"]), given)
    options = {**given["options"], **given["em"]}
    found = md.structural_em(data, given["objective"], threads=1, time_limit=20, **options)
    _learned(found, given)
    for step in found.steps:
        assert not step.after < step.before - 1e-7 * max(1, abs(step.before)), step
    _fill(found.network, data, given)


def _learned(found: Any, given: dict[str, Any]) -> None:
    options = given["options"]
    assert len(found.dag.topological_order()) == len(given["columns"])
    assert set(options["required"]) <= set(found.dag.arcs)
    assert not set(options["forbidden"]) & set(found.dag.arcs)
    most = options["max_parents"]
    assert most is None or all(len(found.dag.parents(node)) <= most for node in found.dag.nodes)
    assert not math.isnan(found.score)
    assert found.score < math.inf


def _fill(network: Any, data: Any, given: dict[str, Any]) -> None:
    for node in network.nodes:
        table = network.cpts[node]
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        assert np.allclose(table.sum(axis=-1), 1)
    fitted = md.fit_em(network.dag, data, alpha=given["alpha"], max_iter=5).network
    for net in (network, fitted):
        draws = 3 if given["how"] == "draw" else 1
        filled = md.impute(net, data, how=given["how"], draws=draws, seed=1, threads=1)
        for table in filled.draws:
            assert table.n_rows == data.n_rows
            assert not table.has_gaps
            for name in data.names:
                levels = data.levels[name]
                known = data.column(name) < len(levels)
                before = [levels[code] for code in data.column(name)[known]]
                after = [table.levels[name][code] for code in table.column(name)[known]]
                assert before == after
