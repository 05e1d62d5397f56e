"""Expected counts of rows with gaps: of any set of columns, exactly, whoever asks."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive_networks as naive
from tests.test_gaps_networks import completions, rows_with_gaps, with_holes

import mapdag as md
from mapdag.counts import expected as engine
from mapdag.counts.expected import ExpectedEngine
from mapdag.errors import DataError
from mapdag.families import FamilyScores
from mapdag.networks import posteriors
from mapdag.search.em.completed import expected_rows


def brute_force(net, data, names, weights=None):
    """The same by going through all completions of all rows."""
    counts = np.zeros([len(net.levels[name]) for name in names])
    for i, row in enumerate(rows_with_gaps(net, data)):
        ways = list(completions(net, row))
        whole = sum(p for _, p in ways)
        for filled, p in ways:
            counts[tuple(filled[name] for name in names)] += (1.0 if weights is None else weights[i]) * p / whole
    return counts


CASES = {"net": naive.networks(), "seed": st.integers(0, 99), "share": st.sampled_from([0.1, 0.4, 0.9])}


@given(**CASES, weighted=st.booleans())
@settings(max_examples=60, deadline=None)
def test_counts_of_any_columns_are_sums_over_all_completions(net, seed, share, weighted):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, 6) / 2 if weighted else None
    data = with_holes(net.sample(6, seed), share, seed, weights)
    found = expected_rows(net, data, 16, 0, 1)
    assert found.drawn == 0
    for size in range(1, len(net.nodes) + 1):
        names = [net.nodes[i] for i in rng.permutation(len(net.nodes))[:size]]
        assert found.expected(names) == pytest.approx(brute_force(net, data, names, weights), rel=1e-9, abs=1e-12)


@pytest.fixture(scope="module")
def child():
    net = md.network("child")
    data = with_holes(net.sample(300, seed=1), 0.1, seed=1)
    return net, data, expected_rows(net, data, 16, 0, 1)


def test_scores_that_should_be_equal_are(child):
    _, _, rows = child
    names = rows.names
    for a, b in itertools.combinations(names[:8], 2):
        pair = rows.select([a, b])
        forth, back = (float(md.score(md.DAG([a, b], [arc]), pair, "BDeu(1)")) for arc in ((a, b), (b, a)))
        assert forth == pytest.approx(back, rel=1e-15)


def test_neither_threads_nor_the_order_of_rows_leave_a_trace(child):
    net, data, rows = child
    order = np.random.default_rng(0).permutation(data.n_rows)
    other = expected_rows(net, data.take(order), 16, 0, 2)
    scores = [FamilyScores(each, [md.BDeu(1), md.BIC()], threads=threads) for each, threads in ((rows, 1), (other, 2))]
    for child_, parents in ((0, ()), (3, (1, 2)), (5, (0, 7, 9))):
        candidates = [i for i in range(12) if i != child_ and i not in parents]
        assert np.array_equal(*(each.extensions(child_, parents, candidates) for each in scores))


def test_tables_beyond_memory_are_counted_by_their_cells(child, monkeypatch):
    _, _, rows = child
    families = [(3, (1, 2)), (0, ()), (5, (0, 7, 9))]
    full = [ExpectedEngine(rows).table(*family) for family in families]
    monkeypatch.setattr(engine, "DENSE", 0)
    monkeypatch.setattr(engine, "_BUFFER", 64)
    for known, family in zip(full, families, strict=True):
        found = ExpectedEngine(rows).table(*family)
        assert np.array_equal(found.counts, known.counts)
        assert np.array_equal(found.configurations, known.configurations)
        assert np.array_equal(found.n_ij, known.n_ij)


def test_where_there_is_no_room_draws_stand_for_large_components(child, monkeypatch):
    net, data, exact = child
    monkeypatch.setattr(posteriors, "STATES", 0)
    drawn = expected_rows(net, data, 64, 0, 1)
    assert 0 < drawn.drawn < (~data.known).sum()
    assert "by draws" in repr(drawn)
    assert "by draws" not in repr(exact)
    for node in net.nodes:
        family = [*net.parents(node), node]
        assert drawn.expected(family).sum() == pytest.approx(300)
        assert drawn.expected(family) == pytest.approx(exact.expected(family), abs=1.5)


def test_completed_rows_know_counts_and_say_what_they_have_not(child):
    net, data, rows = child
    again = pickle.loads(pickle.dumps(rows))
    assert again == rows
    assert again != rows.select(rows.names[:5])
    assert rows.total == pytest.approx(300)
    for name in rows.names:
        assert (rows.observed(name) >= data.observed(name) - 1e-9).all()
    assert rows.to_pandas()["expected"].sum() == pytest.approx(300 * rows.n_columns)
    fitted = md.fit(net.dag, rows)
    assert fitted.log_likelihood(rows) == pytest.approx(
        sum((rows.expected([*net.parents(node), node]) * np.log(fitted.cpts[node])).sum() for node in net.nodes)
    )
    for ask in (lambda: rows.codes, lambda: rows.row(0), lambda: rows.take([0]), rows.aggregated):
        with pytest.raises(DataError, match=r"single rows.*mapdag\.impute"):
            ask()


def test_configurations_that_are_hardly_expected_are_not_observed_under_bds(child):
    net, data, rows = child
    some = expected_rows(net, data, 16, 0, 1, least=0.5)
    every, likely = (ExpectedEngine(each) for each in (rows, some))
    assert likely.observed((1, 2, 3)) < every.observed((1, 2, 3))
    table = likely.table(0, (1, 2, 3))
    assert table.q_obs == likely.observed((1, 2, 3))
    assert (table.n_ij >= 0.5).all()
    bds = FamilyScores(some, [md.BDs(1)])
    assert bds.family(0, [1, 2, 3])[0] == pytest.approx(md.BDs(1).score(table), rel=1e-9)
