"""Arc strengths, their threshold, averaged networks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from golden_data import dataset
from mapdag.errors import CycleError, ParameterError
from mapdag.resamples import resample

ASIA = dataset("asia_1000")


@pytest.fixture(scope="module")
def asia():
    return md.bootstrap(ASIA, "BDeu(1)", R=40, seed=1)


def test_strengths_are_shares_of_the_equivalence_classes(asia):
    streams = np.random.SeedSequence(1).spawn(40)
    seeds = [int(stream.generate_state(1)[0]) for stream in np.random.SeedSequence(1).spawn(40)]
    pairs = zip(streams, seeds, strict=True)
    classes = [md.learn(resample(ASIA, stream), "BDeu(1)", seed=seed).cpdag for stream, seed in pairs]
    for i, a in enumerate(ASIA.names):
        for j, b in enumerate(ASIA.names):
            arcs = sum(c.has_arc(a, b) for c in classes)
            edges = sum(c.has_edge(a, b) for c in classes)
            assert asia.halves[i, j] == 2 * arcs + edges
    assert np.allclose(asia.strength, asia.strength.T)
    assert np.allclose((asia.direction + asia.direction.T)[asia.strength > 0], 1)


def test_the_result_does_not_depend_on_threads(asia):
    for threads in (1, 3):
        again = md.bootstrap(ASIA, "BDeu(1)", R=40, seed=1, threads=threads)
        assert np.array_equal(again.halves, asia.halves)
    assert not np.array_equal(md.bootstrap(ASIA, "BDeu(1)", R=40, seed=2).halves, asia.halves)


def distance(strengths, t):
    """L1 distance between the distribution of strengths and (t at 0, 1 - t at 1), by a fine grid."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    cumulative = np.searchsorted(np.sort(strengths), grid, side="right") / len(strengths)
    return np.abs(cumulative - t).mean()


def with_strengths(counts, replicates=20):
    """A result whose pairs were adjacent so many times."""
    size = next(n for n in range(2, 20) if n * (n - 1) // 2 >= len(counts))
    halves = np.zeros((size, size), dtype=np.int64)
    upper = np.triu_indices(size, 1)
    halves[upper[0][: len(counts)], upper[1][: len(counts)]] = 2 * np.array(counts)
    return md.Bootstrap(tuple(f"X{i}" for i in range(size)), md.parse("BIC"), replicates, halves)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=45))
def test_the_threshold_minimises_the_distance_to_certainty(counts):
    result = with_strengths(counts)
    pairs = np.sort(result.strength[np.triu_indices(len(result.nodes), 1)])
    shares = sorted({0.0, *((pairs <= x).mean() for x in pairs)})
    distances = [distance(pairs, t) for t in shares]
    # It is the t-quantile for one of the shares t that minimise the distance; for 0, the smallest strength.
    best = [t for t, far in zip(shares, distances, strict=True) if far <= min(distances) + 1e-3]
    quantiles = [np.quantile(pairs, t, method="inverted_cdf") for t in best]
    assert min(quantiles) <= result.threshold <= max(quantiles)
    assert result.threshold in pairs


def test_arcs_that_are_always_there_are_in():
    assert with_strengths([20]).averaged().n_arcs == 1
    assert with_strengths([20, 20, 20]).averaged().n_arcs == 3
    assert with_strengths([20, 20, 20]).threshold == 1.0
    assert with_strengths([20, 20, 19]).averaged(1.0).n_arcs == 2
    assert [arc.strength for arc in with_strengths([20, 20, 19]).arcs(above=1.0)] == [1.0, 1.0]
    sure = md.bootstrap({"rain": ["no", "yes"] * 60, "wet": ["no", "yes"] * 60}, "BDeu(1)", R=20, seed=1)
    assert sure.averaged().n_arcs == 1


def test_where_all_pairs_are_strong_the_threshold_is_the_smallest_strength():
    # t = 0: quantile(c(1, 1, 0.95), 0, type = 1) of R is 0.95, and R bnlearn keeps what is above it.
    result = with_strengths([20, 20, 19])
    assert result.threshold == 0.95
    assert result.averaged().n_arcs == 2


def test_equal_strengths_are_equal_whatever_their_directions():
    halves = np.array([[0, 1, 3], [5, 0, 0], [3, 6, 0]])
    strength = md.Bootstrap(("A", "B", "C"), md.parse("BIC"), 200, halves).strength
    assert strength[0, 1] == strength[0, 2] == strength[1, 2] == 6 / 400


def test_the_averaged_network_keeps_strong_arcs(asia):
    dag = asia.averaged()
    kept = {frozenset(arc) for arc in dag.arcs}
    for arc in asia.arcs():
        if arc.strength > asia.threshold and frozenset((arc.start, arc.end)) not in kept:
            with pytest.raises(CycleError):  # the one reason to leave out a strong arc
                dag.with_arc(arc.start, arc.end)
        assert arc.strength > asia.threshold or frozenset((arc.start, arc.end)) not in kept
        assert arc.direction >= 0.5
    assert asia.averaged(1.0).n_arcs == sum(arc.strength == 1 for arc in asia.arcs())
    assert asia.averaged(0.0).n_arcs >= dag.n_arcs
    assert "strength" in str(asia)
    with pytest.raises(ParameterError, match="threshold must be between 0 and 1"):
        asia.averaged(1.5)


def test_directions_obey_the_constraints():
    data = md.network("asia").sample(200, seed=1)
    tiers = [["xray", "dysp"], ["either"], ["tub", "lung", "bronc"], ["asia", "smoke"]]  # effects first
    found = md.bootstrap(data, R=10, tiers=tiers)
    place = {name: i for i, tier in enumerate(tiers) for name in tier}
    assert found.arcs()
    assert all(place[arc.start] <= place[arc.end] for arc in found.arcs())
    required = md.bootstrap(data, R=5, required=[("dysp", "asia")])
    assert ("dysp", "asia", 1.0, 1.0) in required.arcs()
    assert required.averaged().has_arc("dysp", "asia")


def test_arcs_that_close_a_cycle_are_left_out():
    halves = np.zeros((3, 3), dtype=np.int64)
    halves[0, 1], halves[1, 2], halves[2, 0] = 18, 16, 14
    result = md.Bootstrap(("A", "B", "C"), md.parse("BIC"), 10, halves)
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
    with pytest.raises(ParameterError, match="threads must be"):
        md.bootstrap(ASIA, threads=-1)


def test_restarts_are_seeded_too():
    data = dataset("child_115")
    runs = [md.bootstrap(data, "BDeu(10)", R=4, seed=1, search="hc", restarts=3, perturb=6) for _ in range(2)]
    assert np.array_equal(runs[0].halves, runs[1].halves)


def test_ctrl_c_ends_it_at_once():
    def press(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        md.bootstrap(ASIA, "BDeu(1)", R=1000, progress=press)
