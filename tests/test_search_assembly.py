"""The best graph that known families can be put together to: lists, windows, assemblies."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import mapdag as md
from mapdag.graphs.acyclicity import topological_order
from mapdag.graphs.masks import transpose
from mapdag.search.orders.assembly import assemble, graph_from, new_assembly
from mapdag.search.orders.lists import Families, make_lists


def random_families(rng, n, each, most=3):
    """Draw families of all children, the one without parents among them."""
    children, masks, scores = [], [], []
    for child in range(n):
        others = [x for x in range(n) if x != child]
        sets = {()} | {
            tuple(sorted(rng.choice(others, rng.integers(1, min(most, n - 1) + 1), False).tolist()))
            for _ in range(each)
        }
        for parents in sorted(sets):
            children.append(child)
            masks.append(sum(1 << p for p in parents))
            scores.append(rng.normal() * 3 + 2 * len(parents))
    words = (n + 63) // 64
    sets = np.frombuffer(b"".join(mask.to_bytes(8 * words, "little") for mask in masks), dtype=np.uint64)
    return Families(np.array(children), sets.reshape(-1, words).copy(), np.array(scores))


def plain(families):
    """Return families as tuples of child, parents and score."""
    masks = [int.from_bytes(row.tobytes(), "little") for row in families.sets]
    return list(zip(families.children.tolist(), masks, families.scores.tolist(), strict=True))


def best_of_all(families, n):
    """Score of the best graph, by dynamic programming over sets of nodes."""
    best = {0: 0.0}
    for size in range(1, n + 1):
        for some in combinations(range(n), size):
            every = sum(1 << x for x in some)
            best[every] = max(
                best[every ^ 1 << x]
                + max(score for child, mask, score in families if child == x and not mask & ~(every ^ 1 << x))
                for x in some
            )
    return best[(1 << n) - 1]


def finished(lists, sequence, seed=0, steps=256):
    assembly = new_assembly(sequence, np.random.default_rng(seed))
    while not assemble(assembly, lists, len(sequence), steps):
        pass
    return graph_from(assembly, lists)


@pytest.mark.parametrize("seed", range(20))
def test_lists_have_all_that_no_smaller_family_can_stand_for(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([5, 9, 70]))
    given = random_families(rng, n, 30)
    lists = make_lists([given, given], np.zeros((n, given.sets.shape[1]), dtype=np.uint64))
    every = plain(given)
    wanted = [
        (child, mask, score)
        for child, mask, score in every
        if not any(c == child and m != mask and not m & ~mask and s >= score for c, m, s in every)
    ]
    found = plain(lists.families())
    assert sorted(found) == sorted(wanted)
    assert [(child, -score) for child, _, score in found] == sorted((child, -score) for child, _, score in found)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_put_together_is_a_graph_of_known_families_and_seldom_misses_the_best(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    given = random_families(rng, n, 12)
    lists = make_lists([given], np.zeros((n, 1), dtype=np.uint64))
    best = best_of_all(plain(given), n)
    scores = []
    for number in range(6):
        graph = finished(lists, rng.permutation(n).tolist(), number)
        masks = graph.masks()
        assert len(topological_order(masks, transpose(masks))) == n
        assert set(zip(range(n), masks, graph.scores.tolist(), strict=True)) <= set(plain(given))
        assert graph.score() <= best + 1e-9
        scores.append(graph.score())
    assert max(scores) == pytest.approx(best)


def test_a_chain_is_turned_round_as_a_whole():
    # Each arc alone is as good either way; only the last node gains, and only as the root.
    n = 7
    children, masks, scores = [], [], []
    for child in range(n):
        beside = [x for x in (child - 1, child + 1) if 0 <= x < n]
        for parents, score in (((), 0.0), *(((x,), 10.0) for x in beside)):
            children.append(child)
            masks.append(sum(1 << p for p in parents))
            scores.append(score + (0.0 if child < n - 1 else -0.5 if parents else 1.0))
    given = Families(np.array(children), np.array(masks, dtype=np.uint64)[:, None], np.array(scores))
    lists = make_lists([given], np.zeros((n, 1), dtype=np.uint64))
    graph = finished(lists, range(n))
    assert graph.score() == pytest.approx(61.0)
    assert graph.masks() == [*(1 << x + 1 for x in range(n - 1)), 0]


@pytest.mark.parametrize("steps", [1, 2, 7, 100_000])
def test_interruptions_leave_no_trace(steps):
    rng = np.random.default_rng(5)
    given = random_families(rng, 30, 25)
    lists = make_lists([given], np.zeros((30, 1), dtype=np.uint64))
    order = rng.permutation(30).tolist()
    assert finished(lists, order, steps=steps).masks() == finished(lists, order).masks()


@pytest.mark.parametrize("seed", range(8))
def test_required_arcs_and_tiers_are_obeyed_by_what_is_put_together(seed):
    rng = np.random.default_rng(seed)
    data = md.network("insurance").sample(200, seed=seed)
    names = rng.permutation(data.names).tolist()
    tiers = [names[:8], names[8:17], names[17:]]
    required = [(names[0], names[9]), (names[9], names[20]), (names[1], names[20])]
    found = md.learn(data, tiers=tiers, required=required)
    tier = {name: place for place, some in enumerate(tiers) for name in some}
    assert set(required) <= set(found.dag.arcs)
    assert all(tier[a] <= tier[b] for a, b in found.dag.arcs)
    assert found.score == pytest.approx(md.score(found.dag, data), rel=1e-12)
    assert found.score >= md.hill_climb(data, tiers=tiers, required=required).score - 1e-9
