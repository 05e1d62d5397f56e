"""Parents that help only together; and what the search over orders may leave out when it looks for parents anew."""

from __future__ import annotations

from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import mapdag as md
from mapdag.objective import parse
from mapdag.objective.constraints import Constraints
from mapdag.search.cache import FamilyCache
from mapdag.search.cache.status import CROWDED, OK
from mapdag.search.climbing.moves import TOLERANCE
from mapdag.search.orders.seeds import _ROOM
from mapdag.search.orders.state import Basis
from mapdag.search.orders.trees import ADDED, FOUND, TAKEN, larger_trees, trace

GOALS = ("MU(c=1)+BDs(1)", "U+BDeu(1)", "BIC")


def exclusive_or(n_nodes, rows, levels, noise, seed):
    """Draw independent columns, but for the last one: the sum of the first two, modulo the number of levels, mostly."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (rows, n_nodes))
    wrong = rng.random(rows) < noise
    codes[:, -1] = np.where(wrong, codes[:, -1], (codes[:, 0] + codes[:, 1]) % levels)
    names = [f"v{i}" for i in range(n_nodes)]
    labels = [str(level) for level in range(levels)]
    return md.Dataset.from_codes(codes, names=names, levels=dict.fromkeys(names, labels))


def has_exclusive_or(dag, n_nodes):
    three = {"v0", "v1", f"v{n_nodes - 1}"}
    return any(three - {child} <= set(dag.parents(child)) for child in three)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("n_nodes", [15, 40])
def test_parents_that_help_only_together_are_found(n_nodes, goal):
    data = exclusive_or(n_nodes, 500, 2, 0.05, seed=n_nodes)
    found = md.learn(data, goal)
    assert has_exclusive_or(found.dag, n_nodes)
    assert not has_exclusive_or(md.hill_climb(data, goal).dag, n_nodes)  # what the test is about


@pytest.mark.parametrize("goal", GOALS)
def test_three_parents_that_help_only_together_are_found(goal):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (600, 14))
    codes[:, -1] = np.where(rng.random(600) < 0.03, codes[:, -1], codes[:, :3].sum(axis=1) % 2)
    data = md.Dataset.from_codes(codes, names=[f"v{i}" for i in range(14)])
    four = {"v0", "v1", "v2", "v13"}
    found = md.learn(data, goal).dag
    assert any(four - {child} <= set(found.parents(child)) for child in four)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(12, 24),
    st.integers(2, 3),
    st.floats(0.0, 0.15),
    st.integers(0, 1000),
    st.sampled_from(GOALS),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_whatever_the_noise_and_the_effort(n_nodes, levels, noise, seed, goal, effort):
    data = exclusive_or(n_nodes, 600, levels, noise, seed)
    assert has_exclusive_or(md.learn(data, goal, effort=effort).dag, n_nodes)


def begun(data, goal, **limits):
    """Begin an exploration of some data."""
    objective = parse(goal)
    cache = FamilyCache(data, [objective], constraints=Constraints(**limits))
    return Basis(objective, cache), objective, cache


def traced(state, child, before):
    """Find the best parents of a node among others: the tree node, and whose coming or going may change that."""
    words = np.zeros(state._trees.kept.shape[1], dtype=np.uint64)
    for node in before:
        words[node >> 6] |= np.uint64(1 << (node & 63))
    while True:
        state._trees.work[1] = np.inf
        with state._desk.open() as store:
            trace(child, words, state._problem, store, state._trees)
            status = store.status[0]
        if status == OK:
            break
        if status == CROWDED:
            state._trees = larger_trees(state._trees, 3 * len(state._trees.own), 3 * len(state._trees.value))
        else:
            state._desk.help(status)
    hinge = [int.from_bytes(row.tobytes(), "little") for row in state._trees.hinge]
    return int(state._trees.used[FOUND]), hinge


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["child", "alarm"]),
    st.integers(20, 400),
    st.integers(0, 100),
    st.sampled_from(GOALS),
    st.randoms(use_true_random=False),
)
def test_only_hinges_change_what_is_found(network, rows, seed, goal, random):
    data = md.network(network).sample(rows, seed=seed)
    basis, _, _ = begun(data, goal)
    state = basis.state(range(data.n_columns), alone=True)
    n = data.n_columns
    for _ in range(4):
        child = random.randrange(n)
        before = {x for x in range(n) if x != child and random.random() < random.choice([0.2, 0.5, 0.8])}
        node, hinge = traced(state, child, before)
        others = [x for x in range(n) if x != child]
        random.shuffle(others)
        for x in others:  # one after the other, as a node that moves passes them
            kind = TAKEN if x in before else ADDED
            if not hinge[kind] >> x & 1:
                before ^= {x}
                assert traced(state, child, before)[0] == node


@settings(max_examples=15, deadline=None)
@given(st.integers(12, 18), st.integers(10, 200), st.integers(0, 100), st.sampled_from(GOALS), st.integers(2, 3))
def test_seeds_are_those_that_beat_all_their_subsets_best_first(n_nodes, rows, seed, goal, most):
    data = exclusive_or(n_nodes, rows, 2, 0.1, seed)
    basis, objective, cache = begun(data, goal, max_parents=most)
    state = basis.state(range(n_nodes), alone=True)
    traced(state, 0, set())
    odds = np.broadcast_to(objective.prior.log_odds(data.names), (n_nodes, n_nodes))

    def score(*parents):
        return cache.family(0, parents)[0] + sum(odds[p, 0] for p in parents)

    gains = {
        each: score(*each)
        for size in range(2, most + 1)
        for each in combinations(range(1, n_nodes), size)
        if score(*each) > max(score(*some) for k in range(size) for some in combinations(each, k)) + TOLERANCE
    }
    seeds = state._trees.seeds
    size = int(seeds.size[0])
    listed = [tuple(p for p in each if p >= 0) for each in seeds.members[0, :size].tolist()]
    assert set(listed) <= set(gains)
    assert size == min(len(gains), _ROOM)
    values = [gains[each] for each in listed]
    assert values == pytest.approx(sorted(values, reverse=True))


@pytest.mark.parametrize("goal", GOALS)
def test_trees_that_others_have_grown_change_nothing(goal):
    data = md.network("insurance").sample(200, seed=5)

    def explored(basis, seed):
        state = basis.state(basis.shuffled(np.random.default_rng(seed)), alone=True)
        while not state.step():
            pass
        families = {(c, *s, v) for c, s, v in zip(*(each.tolist() for each in state.families), strict=True)}
        return state.graph.masks(), state.graph.scores.tolist(), state.work, families

    shared = begun(data, goal)[0]
    assert [explored(shared, seed) for seed in range(4)] == [explored(begun(data, goal)[0], seed) for seed in range(4)]
