"""Arc strengths, their threshold, averaged networks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from golden_data import dataset
from mapdag.bootstrapping import resample
from mapdag.errors import ParameterError

ASIA = dataset("asia_1000")


@pytest.fixture(scope="module")
def asia():
    return md.bootstrap(ASIA, "BDeu(1)", R=40, seed=1)


def test_strengths_are_shares_of_the_equivalence_classes(asia):
    streams = np.random.SeedSequence(1).spawn(40)
    classes = [md.learn(resample(ASIA, stream), "BDeu(1)").cpdag for stream in streams]
    for i, a in enumerate(ASIA.names):
        for j, b in enumerate(ASIA.names):
            arcs = sum(c.has_arc(a, b) for c in classes)
            edges = sum(c.has_edge(a, b) for c in classes)
            assert asia.frequency[i, j] == pytest.approx((arcs + edges / 2) / 40)
    assert np.allclose(asia.strength, asia.strength.T)
    assert np.allclose((asia.direction + asia.direction.T)[asia.strength > 0], 1)


def test_the_result_does_not_depend_on_threads(asia):
    for threads in (1, 3):
        again = md.bootstrap(ASIA, "BDeu(1)", R=40, seed=1, threads=threads)
        assert np.array_equal(again.frequency, asia.frequency)
    assert not np.array_equal(md.bootstrap(ASIA, "BDeu(1)", R=40, seed=2).frequency, asia.frequency)


def distance(strengths, t):
    """L1 distance between the distribution of strengths and (t at 0, 1 - t at 1), by a fine grid."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    cumulative = np.searchsorted(np.sort(strengths), grid, side="right") / len(strengths)
    return np.abs(cumulative - t).mean()


@given(st.lists(st.integers(0, 20), min_size=3, max_size=45))
def test_the_threshold_minimises_the_distance_to_certainty(counts):
    size = next(n for n in range(2, 20) if n * (n - 1) // 2 >= len(counts))
    frequency = np.zeros((size, size))
    upper = np.triu_indices(size, 1)
    padded = np.zeros(len(upper[0]))
    padded[: len(counts)] = np.array(counts) / 20
    frequency[upper] = padded
    result = md.Bootstrap(tuple(f"X{i}" for i in range(size)), md.parse("BIC"), 20, frequency)
    share = (padded <= result.threshold).mean()
    best = min(distance(padded, t) for t in np.linspace(0, 1, 201))
    shares = [(padded <= x).mean() for x in [*np.unique(padded)]] + [0.0]
    assert min(distance(padded, s) for s in shares) <= best + 1e-3
    # The t-quantile of the strengths is the threshold: no smaller strength leaves as good a share below it.
    assert distance(padded, share) <= best + 1e-3 or distance(padded, 0.0) <= best + 1e-3


def test_the_averaged_network_keeps_strong_arcs(asia):
    dag = asia.averaged()
    kept = {frozenset(arc) for arc in dag.arcs}
    for arc in asia.arcs():
        assert (frozenset((arc.start, arc.end)) in kept) == (arc.strength > asia.threshold)
        assert arc.direction >= 0.5
    assert asia.averaged(1.0).n_arcs == 0
    assert asia.averaged(0.0).n_arcs >= dag.n_arcs
    assert "strength" in str(asia)
    with pytest.raises(ParameterError, match="threshold must be between 0 and 1"):
        asia.averaged(1.5)


def test_arcs_that_close_a_cycle_are_left_out():
    frequency = np.zeros((3, 3))
    frequency[0, 1], frequency[1, 2], frequency[2, 0] = 0.9, 0.8, 0.7
    result = md.Bootstrap(("A", "B", "C"), md.parse("BIC"), 10, frequency)
    assert result.averaged(0.1).arcs == (("A", "B"), ("B", "C"))


def test_weighted_rows_are_resampled_in_proportion():
    data = md.read({"a": ["x", "y", "x", "y"], "b": ["u", "u", "v", "v"], "w": [500, 1, 1, 500]}, weights="w")
    drawn = resample(data, np.random.SeedSequence(3))
    assert drawn.total == 1002
    assert drawn.observed("a").tolist() != data.observed("a").tolist()
    assert md.bootstrap(data, "BDeu(1)", R=5).strength[0, 1] == 1


def test_progress_and_options_are_passed_on():
    told = []
    md.bootstrap(ASIA, "BIC", R=3, progress=lambda done, total: told.append((done, total)), max_parents=1)
    assert told == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(ParameterError, match="R must be a whole number of at least 1, got 0"):
        md.bootstrap(ASIA, R=0)
