"""The default search: what a table is arranged like does not matter, and hill climbing is never better."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from golden_data import dataset
from mapdag.search import canonical_order
from mapdag.search.moves import TOLERANCE


def rearranged(data, rng, *, rows=True, names=True, levels=True):
    """Permute the columns, rows and levels of a table and rename its columns; also, what became of each name."""
    new = {name: f"V{i}" if names else name for i, name in enumerate(rng.permutation(data.names).tolist())}
    columns = rng.permutation(data.n_columns)
    order = rng.permutation(data.n_rows) if rows else np.arange(data.n_rows)
    codes, labels = [], {}
    for c in columns:
        table = rng.permutation(data.cards[c]) if levels else np.arange(data.cards[c])
        codes.append(table[data.codes[c][order]])
        labels[new[data.names[c]]] = [str(i) for i in range(data.cards[c])]
    weights = None if data.weights is None else data.weights[order]
    return md.Dataset(tuple(labels), labels, np.array(codes), weights), new


def renamed(dag, new, nodes):
    return md.DAG(nodes, [(new[a], new[b]) for a, b in dag.arcs])


@pytest.mark.parametrize("search", ["orders", "hc", "tabu"])
@pytest.mark.parametrize("name", ["asia_1000", "insurance_1000", "child_1150", "alarm_509"])
def test_the_arrangement_of_a_table_does_not_matter(name, search):
    data = dataset(name)
    rng = np.random.default_rng(1)
    options = {"search": search} if search != "orders" else {"effort": 0.2}
    for objective in ("U+BDeu(1)", "MU(c=1)+BDs(1)"):
        result = md.learn(data, objective, **options)
        for _ in range(2):
            other, new = rearranged(data, rng, names=not result.alike)
            again = md.learn(other, objective, **options)
            assert again.dag == renamed(result.dag, new, again.dag.nodes)
            assert again.score == result.score
            assert [move.delta for move in again.trace] == [move.delta for move in result.trace]


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, rows = draw(st.integers(2, 6)), draw(st.integers(5, 60))
    cards = rng.integers(2, 4, n)
    codes = np.array([rng.integers(0, c, rows) for c in cards])
    if n > 2:
        codes[2] = (codes[0] + (rng.random(rows) < 0.2)) % cards[2]
    names = tuple(f"X{i}" for i in range(n))
    return md.Dataset(names, {name: [str(i) for i in range(c)] for name, c in zip(names, cards, strict=True)}, codes)


@given(data=tables(), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_small_tables_may_be_rearranged_too(data, seed):
    rng = np.random.default_rng(seed)
    found = canonical_order(data)
    other, new = rearranged(data, rng, names=not found.alike)
    again = canonical_order(other)
    assert [new[data.names[i]] for i in found.columns] == [other.names[i] for i in again.columns]
    groups = [{new[data.names[i]] for i in group} for group in found.alike]
    assert sorted(map(sorted, groups)) == sorted(sorted(other.names[i] for i in group) for group in again.alike)
    result = md.learn(data, "BDs(1)", effort=0.1)
    moved = md.learn(other, "BDs(1)", effort=0.1)
    assert moved.dag == renamed(result.dag, new, other.names)


def test_rows_may_be_counted_instead_of_repeated():
    data = dataset("asia_1000")
    order = [data.names[i] for i in canonical_order(data).columns]
    counted = data.aggregated()
    assert counted.weights is not None
    assert [counted.names[i] for i in canonical_order(counted).columns] == order


def with_a_copy(data):
    levels = {**data.levels, "copy": data.levels[data.names[2]]}
    return md.Dataset((*data.names, "copy"), levels, np.vstack([data.codes, 1 - data.codes[2]]))


def test_copies_of_a_column_are_reported():
    data = dataset("asia_1000")
    result = md.learn(with_a_copy(data))
    assert result.alike == (("copy", data.names[2]),)
    assert "the data cannot tell apart" in str(result)
    assert md.learn(data).alike == ()


def test_names_decide_between_copies():
    twice = with_a_copy(dataset("asia_1000"))
    orders = (twice.names, twice.names[::-1])
    assert len({md.learn(twice.select(list(order))).dag.reordered(twice.names) for order in orders}) == 1


@pytest.mark.parametrize("name", ["asia_1000", "insurance_1000", "child_1150", "alarm_509", "water_1000"])
@pytest.mark.parametrize("objective", ["U+BDeu(1)", "MU(c=1)+BDs(1)", "BIC", "K2"])
def test_hill_climbing_is_never_better(name, objective):
    data = dataset(name)
    result = md.learn(data, objective, effort=0.1)
    assert result.score >= md.hill_climb(data, objective).score - TOLERANCE
    assert result.converged


def test_more_rounds_never_lose_and_seeds_are_kept():
    data = dataset("insurance_1000")
    none, some = md.learn(data, "BDeu(1)", effort=0), md.learn(data, "BDeu(1)", effort=0.5)
    assert some.score >= none.score - TOLERANCE
    assert md.learn(data, "BDeu(1)", effort=0.5).dag == some.dag
    seeds = {md.learn(data, "BDeu(1)", effort=0.1, seed=seed).score for seed in range(4)}
    assert all(score >= none.score - TOLERANCE for score in seeds)


def test_steps_of_the_trace_add_up():
    data = dataset("insurance_1000")
    result = md.learn(data, "MU(c=1)+BDs(1)")
    assert {"reorder"} < {move.kind for move in result.trace}
    score = md.score(md.DAG(data.names), data, "MU(c=1)+BDs(1)")
    for move in result.trace:
        score += move.delta
        assert move.score == pytest.approx(score, abs=1e-6)
    assert score == pytest.approx(result.score, abs=1e-6)
    assert result.trace[-1].n_arcs == result.dag.n_arcs


def test_priors_of_whole_graphs_are_searched_too():
    data = dataset("asia_1000")
    prior = md.LogLinear(["roots"], [0.5])
    result = md.learn(data, prior + md.BDeu(1), effort=0.1)
    assert result.score == pytest.approx(md.score(result.dag, data, prior + md.BDeu(1)))
    assert result.score >= md.hill_climb(data, prior + md.BDeu(1)).score - TOLERANCE


def test_limits_end_the_search_over_orders():
    data = dataset("alarm_509")

    def late(progress):
        if progress.phase == "searching" and progress.done == 2:
            raise KeyboardInterrupt

    result = md.learn(data, progress=late)
    assert result.stopped == "interrupted"
    assert math.isclose(result.score, md.score(result.dag, data))
    assert result.score > md.hill_climb(data).score
    assert md.learn(data, max_iter=1000, effort=0.1).converged


def test_large_requests_and_weights_are_asked_for_outside(monkeypatch):
    data = dataset("asia_1000")
    expected = md.learn(data, "BDeu(1)", effort=0.1)
    monkeypatch.setattr("mapdag.search.cache._WORTH_ASKING", 0.0)
    asked = md.learn(data, "BDeu(1)", effort=0.1, threads=2)
    assert (asked.dag, asked.score) == (expected.dag, expected.score)
    counted = md.learn(data.aggregated(), "BDeu(1)", effort=0.1)
    assert (counted.dag, counted.score) == (expected.dag, expected.score)
