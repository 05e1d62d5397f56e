"""Objectives and searches."""

from __future__ import annotations

import math
import random
import re
from functools import cache
from itertools import pairwise
from typing import Any

import mapdag as md


@cache
def _cancer() -> tuple[Any, Any]:
    net = md.network("cancer")
    return net.dag, net.sample(60, seed=1)


def score_objective(text: str) -> None:
    """Score a graph: a number, or minus infinity."""
    dag, data = _cancer()
    found = md.score(dag, data, text)
    assert not math.isnan(found)
    assert found < math.inf


def search(rng: random.Random) -> dict[str, Any]:
    """Choose a table, an objective, constraints and a search."""
    n, rows = rng.randint(1, 6), rng.choice([1, 2, 5, 30, 100])
    names = [f"v{i}" for i in range(n)]
    columns = {name: [rng.randrange(rng.choice([2, 2, 3])) for _ in range(rows)] for name in names}
    for name in names[1:]:
        if rng.random() < 0.2:  # a copy, so that there are ties
            columns[name] = columns[names[0]]
    pairs = [(a, b) for a in names for b in names if a != b]
    weights: Any = None
    if rng.random() < 0.4:
        scale = rng.choice([1, 1e-3, 1e3, 1e6, 1e9, 1e12])
        weights = [rng.choice([0.5, 1, 2, rng.random() * 10]) * scale for _ in range(rows)]
    options: dict[str, Any] = {
        "required": rng.sample(pairs, min(len(pairs), rng.choice([0, 0, 1, 2]))),
        "forbidden": rng.sample(pairs, min(len(pairs), rng.choice([0, 0, 2, 8]))),
        "max_parents": rng.choice([None, None, 0, 1, 2]),
        "seed": rng.randrange(5),
    }
    if rng.random() < 0.2:
        options["tiers"] = [names[: n // 2], names[n // 2 :]] if n > 1 else [names]
    objective = rng.choice(
        [
            "BDs", "BIC", "MU(c=1)+BDs", "Support(2)+BDeu(10)", "K2", "MU(beta=5e-324)+BDs(1e-300)", "AIC", "BDJ",
            "VSP(0.3)+BDeu(1)", "MU(beta=0.999999)+BDs(1e100)", "MaxParents(1)+BIC(k=1e-9)", "eBIC(1)", "LogLik",
            'CS({"v0->v1": 0.9})+BDs', "Support(1e9)+BDs",
        ]
    )  # fmt: skip
    return {"columns": columns, "weights": weights, "objective": objective, "options": options}


def search_well(given: dict[str, Any]) -> None:
    """Search: the graph obeys, its score is right, the default is never below hill climbing, and all end."""
    levels = dict.fromkeys(given["columns"], 3)
    data = md.read(given["columns"], levels=levels, codes=True, weights=given["weights"])
    scores = {}
    searches = ["hc", "tabu", "orders", *(["exact"] if len(levels) < 5 else [])]
    for name in searches:
        found = md.learn(data, given["objective"], search=name, threads=1, time_limit=20, **given["options"])
        assert found.stopped == "converged"
        # Required arcs may be thin; the score that a search tells leaves that out.
        again = md.score(found.dag, data, re.sub(r"Support\([^)]*\)\+", "", given["objective"]))
        assert math.isclose(found.score, again, rel_tol=1e-9, abs_tol=1e-9)
        assert len(found.dag.topological_order()) == len(levels)
        options = given["options"]
        assert set(options["required"]) <= set(found.dag.arcs)
        assert not set(options["forbidden"]) & set(found.dag.arcs)
        most = options["max_parents"]
        assert most is None or all(len(found.dag.parents(node)) <= most for node in found.dag.nodes)
        scores[name] = found.score
    slack = 1e-9 * max(1, abs(scores["hc"])) if math.isfinite(scores["hc"]) else 0.0
    assert scores["orders"] >= scores["hc"] - slack
    assert "exact" not in scores or scores["exact"] >= max(scores.values()) - slack


def certified(rng: random.Random) -> dict[str, Any]:
    """Choose what is to be proved, and how much of it."""
    found = search(rng)
    found["ranks"], found["within"] = rng.choice([1, 1, 3]), rng.choice([None, None, 0.0, 2.0])
    found["time_limit"] = rng.choice([20, 20, 20, 1e-9])
    return found


def certify_well(given: dict[str, Any]) -> None:
    """Prove: what is proved is what exact search finds; a bound is never below any graph."""
    levels = dict.fromkeys(given["columns"], 3)
    data = md.read(given["columns"], levels=levels, codes=True, weights=given["weights"])
    options = {"threads": 1, **given["options"]}
    asked = {"ranks": given["ranks"], "within": given["within"], "time_limit": given["time_limit"]}
    found = md.learn(data, given["objective"], search="certified", **asked, **options)
    bound, score = found.certificate.bound, found.score
    assert not math.isnan(bound)
    best = md.learn(data, given["objective"], search="exact", **options)
    slack = 1e-9 * max(1, abs(best.score)) if math.isfinite(best.score) else 0.0
    assert score <= best.score + slack
    if math.isfinite(best.score):
        assert bound >= best.score - slack - 1e-6, (bound, best.score)
    if found.certificate.proved and found.certificate.complete:
        assert score >= best.score - slack - 1e-6, (score, best.score)
    assert set(given["options"]["required"]) <= set(found.dag.arcs)
    assert not set(given["options"]["forbidden"]) & set(found.dag.arcs)
    climbed = md.hill_climb(data, given["objective"], **options)
    assert score >= climbed.score - slack or given["time_limit"] < 1
    ranked = [each for _, each in found.certificate.ranked]
    assert all(a >= b - slack for a, b in pairwise(ranked))  # of equals, the one with fewer arcs comes first
    if found.stopped == "converged" and found.certificate.complete and given["ranks"] > 1 and math.isfinite(score):
        wanted = [each.score for each in md.best_dags(data, given["objective"], k=given["ranks"], **options)]
        assert len(ranked) == len(wanted), (ranked, wanted)
        assert all(abs(a - b) <= slack + 1e-5 for a, b in zip(ranked, wanted, strict=True)), (ranked, wanted)
