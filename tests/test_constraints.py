"""Constraints: what they may be, and the graph that a search starts from because of them."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

import mapdag as md
from mapdag.errors import GraphError, ParameterError
from mapdag.objective.constraints import Rules, complete_start


def feasible(n, pairs, allowed, most, arcs):
    """Try all directions."""
    names = [str(i) for i in range(n)]
    for choice in product([False, True], repeat=len(pairs)):
        chosen = [*arcs, *((j, i) if turned else (i, j) for (i, j), turned in zip(pairs, choice, strict=True))]
        if not all(allowed[arc] for arc in chosen) or max(np.bincount([j for _, j in chosen], minlength=n)) > most:
            continue
        try:
            md.DAG(names, [(names[i], names[j]) for i, j in chosen])
        except GraphError:
            continue
        return True
    return False


def test_required_pairs_are_directed_if_and_only_if_they_can_be():
    rng = np.random.default_rng(1)
    outcomes = set()
    for _ in range(300):
        n, most = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        names, kinds = [str(i) for i in range(n)], rng.choice(5, size=(n, n))
        order = rng.permutation(n)
        pairs = [(i, j) for i, j in combinations(range(n), 2) if kinds[i, j] < 3]
        arcs = [(i, j) if order[i] < order[j] else (j, i) for i, j in combinations(range(n), 2) if kinds[i, j] == 3]
        allowed, fixed = ~np.eye(n, dtype=bool), np.zeros((n, n), dtype=bool)
        for i, j in pairs:
            allowed[i, j], allowed[j, i] = kinds[i, j] != 1, kinds[i, j] != 2
            fixed[i, j] = fixed[j, i] = True
        if max(np.bincount([j for _, j in arcs], minlength=n)) > most:
            continue
        start = md.DAG(names, [(names[i], names[j]) for i, j in arcs])
        rules = Rules(allowed, fixed, most, allowed.all(axis=0))
        expected = feasible(n, pairs, allowed, most, arcs)
        outcomes.add(expected)
        if not expected:
            with pytest.raises(GraphError, match="cannot all be there"):
                complete_start(start, rules, names)
            continue
        found = md.DAG(names, complete_start(start, rules, names).arcs)  # which would find a cycle
        assert set(start.arcs) <= set(found.arcs)
        assert found.n_arcs == len(arcs) + len(pairs)
        assert all(allowed[int(a), int(b)] for a, b in found.arcs)
        assert max(len(found.parents(name)) for name in names) <= most
    assert outcomes == {True, False}


def test_very_many_required_arcs_are_possible():
    names = [f"c{i}" for i in range(60)]
    data = md.Dataset.from_codes(np.random.default_rng(1).integers(0, 2, size=(50, 60)), names=names)
    assert md.hill_climb(data, "BDs", required=list(combinations(names, 2))).dag.n_arcs == 60 * 59 // 2


def test_pairs_that_must_be_adjacent_and_cannot_are_refused_at_once():
    names = [f"c{i}" for i in range(16)]
    data = md.Dataset.from_codes(np.random.default_rng(1).integers(0, 2, size=(50, 16)), names=names)
    prior = md.CS({pair: 0.5 for a, b in combinations(names, 2) for pair in ((a, b), (b, a))})
    with pytest.raises(GraphError, match="more than 7 parents"):
        md.learn(data, prior + md.BDs(), max_parents=7)
    assert md.learn(data, prior + md.BDs(), max_parents=15, search="hc").dag.n_arcs == 120


@pytest.mark.parametrize("name", ["required", "forbidden"])
def test_tables_of_arcs_are_no_lists_of_arcs(name):
    data = md.network("cancer").sample(50, seed=1)
    arcs = pl.DataFrame({"from": ["Smoker", "Cancer"], "to": ["Cancer", "Xray"]})
    for table in (arcs, arcs.to_pandas()):
        with pytest.raises(ParameterError, match=f"{name} must be pairs .* got a DataFrame: pass a list of its rows"):
            md.hill_climb(data, "BDs", **{name: table})
    assert md.hill_climb(data, "BDs", **{name: arcs.rows()}).dag.nodes == data.names


@pytest.mark.parametrize("tiers", [{("a",), ("b",)}, frozenset({"a"}), {"a": 1}, "ab", 5])
def test_tiers_have_an_order(tiers):
    with pytest.raises(ParameterError, match="tiers must be a sequence of groups of names, in order"):
        md.Constraints(tiers=tiers)
