"""Samples come from the network, and are the same whoever draws them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import mapdag as md
import naive_networks
from mapdag.errors import ParameterError
from mapdag.networks import BayesianNetwork, draws
from mapdag.networks.estimation import count_cells
from mapdag.reference import catalogue, network
from naive_networks import networks


def test_the_generator_gives_the_published_numbers():
    # Known answers of philox4x32-10 that its authors distribute: all bits zero, all bits one, digits of pi.
    ones = 0xFFFFFFFF
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
    assert naive_networks.philox([0, 0], [0] * 4) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert naive_networks.philox([ones] * 2, [ones] * 4) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert naive_networks.philox(pi[1], pi[0]) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


@pytest.mark.parametrize("first_row", [0, 2, 4094, 2**32 - 2, 2**34])
def test_the_kernel_gives_the_numbers_of_the_generator(first_row):
    key = np.array([12345, 2**32 - 1], dtype=np.uint32)
    out = np.empty(6)
    draws.uniforms(key, 77, first_row, out)
    assert out.tolist() == [naive_networks.uniform([12345, 2**32 - 1], 77, first_row + i) for i in range(6)]


@given(net=networks(), seed=st.integers(0, 2**70))
@settings(max_examples=30)
def test_levels_are_found_by_the_inverse_distribution_function(net, seed):
    tables, cards = naive_networks.plain(net)
    key = np.random.SeedSequence(seed).generate_state(2).tolist()
    expected = naive_networks.sample(tables, cards, net.dag.topological_order(), key, 9)
    assert naive_networks.rows_of(net.sample(9, seed)) == expected


def test_a_number_on_the_boundary_belongs_to_the_next_level():
    key = np.random.SeedSequence(3).generate_state(2).tolist()
    u = naive_networks.uniform(key, 0, 0)
    net = BayesianNetwork(md.DAG(["A"]), {"A": 3}, {"A": [0.0, u, 1 - u]})
    assert net.sample(1, 3).codes[0, 0] == 2


def test_what_rounding_leaves_goes_to_the_last_possible_level():
    tenths = np.full(12, 0.1)
    tenths[[0, 11]] = 0
    net = BayesianNetwork(md.DAG(["A"]), {"A": 12}, {"A": tenths})
    assert np.cumsum(tenths)[-1] < 1
    cumulative = draws.flatten(net).cumulative
    assert cumulative[0] == 0
    assert cumulative[9] < 1
    assert cumulative[10:].tolist() == [1, 1]


def test_the_same_rows_come_out_whatever_the_blocks_and_threads(monkeypatch):
    net = network("alarm")
    whole = net.sample(9001, seed=7)
    assert whole.names == net.nodes
    assert dict(whole.levels) == dict(net.levels)
    for block in (1, 2, 777, 4096, 9001, 10**6):
        n = 9001 if block > 2 else 300
        parts = list(net.sample_blocks(n, 7, block=block))
        assert {part.n_rows for part in parts[:-1]} <= {block}
        assert np.array_equal(np.concatenate([part.codes for part in parts], axis=1), whole.codes[:, :n])
    assert np.array_equal(net.sample(100, seed=7).codes, whole.codes[:, :100])
    monkeypatch.setattr(draws, "divide", lambda threads, tasks: (1,))
    monkeypatch.setattr(draws, "_ROWS", 6)
    assert net.sample(9001, seed=7) == whole


def test_other_seeds_give_other_rows():
    net = network("alarm")
    samples = [net.sample(50, seed) for seed in (1, 2, (1, 2), 2**64 + 1)]
    assert len({sample.codes.tobytes() for sample in samples}) == 4
    assert net.sample(50, np.int64(1)) == samples[0]


def test_samples_can_be_empty():
    assert network("asia").sample(0, seed=1).n_rows == 0
    assert list(network("asia").sample_blocks(0, 1)) == []


def test_more_than_256_levels_fit():
    p = np.random.default_rng(1).dirichlet(np.ones(300))
    net = BayesianNetwork(
        md.DAG(["A", "B"], [("A", "B")]), {"A": 300, "B": 2}, {"A": p, "B": np.tile([0, 1], (300, 1))}
    )
    data = net.sample(20000, seed=1)
    assert data.codes.dtype == np.uint16
    assert data.column("B").all()
    assert stats.chisquare(data.observed("A"), 20000 * p).pvalue > 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 1), "n must be a whole number, at least 0, got -1"),
        ((1.5, 1), "n must be a whole number"),
        ((1, None), "seed must be a whole number"),
        ((1, -1), "seed must be a whole number, not negative"),
        ((1, "a"), "seed must be"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ParameterError, match=message):
        network("asia").sample(*arguments)


def test_blocks_have_at_least_one_row():
    with pytest.raises(ParameterError, match="block must be a whole number, at least 1, got 0"):
        network("asia").sample_blocks(1, 1, block=0)


def pearson(counts, probabilities):
    """Chi-square statistic and degrees of freedom of one row; rare levels are put together with the rarest other."""
    expected = counts.sum() * probabilities
    order = np.argsort(expected)
    start = int(np.searchsorted(np.cumsum(expected[order]), 5.0))
    if start >= len(order) - 1:
        return 0.0, 0
    observed, expected = (np.r_[x[order[: start + 1]].sum(), x[order[start + 1 :]]] for x in (counts, expected))
    return float(((observed - expected) ** 2 / expected).sum()), len(expected) - 1


@pytest.mark.parametrize("name", [entry.name for entry in catalogue()])
def test_samples_have_the_marginals_and_conditionals_of_the_network(name):
    net = network(name)
    data = net.sample(20000, seed=2024)
    statistic, degrees, p_values = 0.0, 0, []
    for node in net.nodes:
        table = net.cpt(node)
        counts = count_cells(data, [*net.parents(node), node])
        assert not counts[table == 0].any()
        r = table.shape[-1]
        family = [pearson(*pair) for pair in zip(counts.reshape(-1, r), table.reshape(-1, r), strict=True)]
        chi, df = map(sum, zip(*family, strict=True))
        statistic, degrees = statistic + chi, degrees + df
        if df:
            p_values.append(stats.chi2.sf(chi, df))
    assert min(p_values) > 1e-3 / len(p_values)
    assert 1e-3 < stats.chi2.sf(statistic, degrees) < 1 - 1e-3
