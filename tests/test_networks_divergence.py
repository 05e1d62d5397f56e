"""Exact Kullback-Leibler distances against sums over all combinations of levels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
import naive_networks
from mapdag.errors import CapacityError, NetworkError


def naive_kl(truth, other):
    tables, cards = naive_networks.plain(truth)
    theirs, _ = naive_networks.plain(other)
    total = 0.0
    for codes in itertools.product(*[range(cards[node]) for node in truth.nodes]):
        row = dict(zip(truth.nodes, codes, strict=True))
        p = naive_networks.joint(tables, row)
        if p > 0:
            q = naive_networks.joint(theirs, row)
            total += p * (math.log(p / q) if q > 0 else math.inf)
    return total


@st.composite
def network_pairs(draw):
    """Two networks over the same nodes and levels, with unrelated graphs."""
    truth = draw(naive_networks.networks())
    order = draw(st.permutations(truth.nodes))
    arcs = [arc for arc in itertools.combinations(order, 2) if draw(st.booleans())]
    dag = md.DAG(truth.nodes, arcs)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cpts = {}
    for node in dag.nodes:
        shape = [len(truth.levels[name]) for name in (*dag.parents(node), node)]
        weights = rng.integers(draw(st.integers(0, 1)), 5, size=shape) + 1e-3 * draw(st.integers(0, 1))
        weights[..., 0] += 1
        cpts[node] = weights / weights.sum(axis=-1, keepdims=True)
    return truth, md.BayesianNetwork(dag, dict(truth.levels), cpts)


@given(pair=network_pairs())
def test_the_distance_is_the_sum_over_all_rows(pair):
    truth, other = pair
    expected = naive_kl(truth, other)
    assert md.kl_divergence(truth, other) == pytest.approx(expected, abs=1e-9)


def test_the_order_of_nodes_and_levels_does_not_matter():
    asia = md.network("asia")
    fitted = md.fit(asia.dag, asia.sample(500, seed=2))
    turned = md.BayesianNetwork(
        md.DAG(asia.nodes, asia.dag.arcs),
        {node: tuple(reversed(levels)) for node, levels in fitted.levels.items()},
        {node: np.flip(table) for node, table in fitted.cpts.items()},
    ).reordered(tuple(reversed(asia.nodes)))
    assert md.kl_divergence(asia, turned) == pytest.approx(md.kl_divergence(asia, fitted), abs=1e-12)


def test_a_large_sample_estimates_the_same():
    alarm = md.network("alarm")
    fitted = md.learn(alarm.sample(500, seed=1), search="hc", order="columns").fit(method="bds")
    test = alarm.sample(100_000, seed=2)
    estimate = (alarm.log_likelihood(test) - fitted.log_likelihood(test)) / 100_000
    assert md.kl_divergence(alarm, fitted) == pytest.approx(estimate, rel=0.05)


def test_what_cannot_be_compared_is_refused():
    asia, cancer = md.network("asia"), md.network("cancer")
    with pytest.raises(NetworkError, match="same nodes"):
        md.kl_divergence(asia, cancer)
    data = md.Dataset.from_codes(np.zeros((5, 8), int), names=asia.nodes, levels=[2] * 8)
    with pytest.raises(NetworkError, match="same levels; 'asia' has"):
        md.kl_divergence(asia, md.fit(asia.dag, data))
    undefined = md.fit(asia.dag, asia.sample(20, seed=1), method="mle", unobserved="nan")
    with pytest.raises(NetworkError, match="undefined"):
        md.kl_divergence(asia, undefined)
    with pytest.raises(CapacityError, match="max_entries=4"):
        md.kl_divergence(asia, md.fit(asia.dag, asia.sample(50, seed=1)), max_entries=4)


def test_what_can_happen_but_is_ruled_out_is_infinitely_far():
    asia = md.network("asia")
    assert md.kl_divergence(asia, md.fit(asia.dag, asia.sample(20, seed=1), method="mle")) == math.inf
