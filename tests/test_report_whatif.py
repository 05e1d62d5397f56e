"""What a page carries to answer what-if questions: tables, order of elimination, samples."""

import base64
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag.report.facts import families
from mapdag.report.families import MOST_LABELS, _share, family_tables, is_whole, shown_levels
from mapdag.report.learned import result_page
from mapdag.report.whatif import make_plan


@pytest.fixture(scope="module")
def result():
    return md.learn(md.network("asia").sample(1500, seed=2))


@pytest.fixture(scope="module")
def known(result):
    return families(result)


def dense(table, family, cards):
    """A probability table as the scripts compute it."""
    parents = [cards[parent] for parent in family.parents]
    values = np.full((math.prod(parents), family.table.r), 1 / family.table.r)
    ends = np.cumsum(table.sizes)
    for j, end in enumerate(ends):
        codes = table.given[j * len(parents) : (j + 1) * len(parents)]
        counts = np.zeros(family.table.r)
        cells = slice(end - table.sizes[j], end)
        counts[table.levels[cells]] = table.counts[cells]
        row = np.ravel_multi_index(codes, parents) if parents else 0
        values[row] = (counts + table.imaginary / family.table.r) / (counts.sum() + table.imaginary)
    return values.reshape(*parents, -1)


def test_tables_say_what_fit_estimates(result, known):
    fitted, tables = result.fit(), family_tables(known)
    cards = {family.node: family.table.r for family in known}
    assert is_whole(tables)
    for family, table in zip(known, tables, strict=True):
        assert dense(table, family, cards) == pytest.approx(fitted.cpt(family.node), abs=1e-14)


def test_the_most_frequent_configurations_come_first_and_stay_when_there_is_no_room(known):
    tables = family_tables(known, most=20)
    assert sum(len(table.counts) for table in tables) <= 20
    assert any(table.hidden for table in tables)
    assert not is_whole(tables)
    for table, family in zip(tables, known, strict=True):
        assert table.hidden == family.table.q_obs - len(table.sizes)
        assert len(table.sizes) >= 1
        kept = np.add.reduceat(table.counts, np.cumsum([0, *table.sizes[:-1]]))
        assert kept.tolist() == sorted(family.table.n_ij.tolist(), reverse=True)[: len(kept)]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(0, 300))
def test_room_is_shared_so_that_small_tables_stay_whole(sizes, most):
    limit = _share(sizes, most)
    assert sum(min(size, limit) for size in sizes) <= max(most, 0)
    if sum(sizes) <= most:
        assert limit == max(sizes)
    else:
        assert sum(min(size, limit + 1) for size in sizes) > most


def test_a_network_brings_its_own_probabilities(result, known):
    network = result.fit(method="mle")
    tables = family_tables(known, network)
    assert is_whole(tables)
    for table, family in zip(tables, known, strict=True):
        assert table.chances == pytest.approx(network.cpt(family.node).ravel().tolist(), abs=1e-11)
    few = family_tables(known, network, most=20)
    assert not is_whole(few)
    for table, family in zip(few, known, strict=True):
        assert len(table.chances) == len(table.sizes) * family.table.r


def test_a_network_of_another_graph_is_refused(result):
    other = md.fit(md.DAG(result.dag.nodes), result.data)
    with pytest.raises(md.errors.ParameterError, match="must have the graph of the result"):
        result_page(result, network=other)
    levels = {**result.data.levels, "smoke": ["no", "yes", "sometimes"]}
    more = md.fit(result.dag, result.data.with_levels({"smoke": levels["smoke"]}))
    with pytest.raises(md.errors.ParameterError, match="those of 'smoke' differ"):
        result_page(result, network=more)
    shuffled = result.fit().reordered(sorted(result.dag.nodes, reverse=True))
    assert "page-data" in result_page(result, network=shuffled)


def test_cliques_that_are_too_large_make_it_samples(result, known):
    exact = make_plan(result, known, None, whole=True)
    assert (exact.kind, sorted(exact.order)) == ("exact", list(range(8)))
    cards = [family.table.r for family in known]
    assert max(cards) < exact.entries <= sum(math.prod(cards) for _ in cards)
    estimated = make_plan(result, known, None, whole=True, most=10)
    assert estimated.kind == "samples"
    drawn = result.fit().sample(estimated.rows, seed=1)
    for family, text in zip(known, estimated.samples, strict=True):
        bits = np.unpackbits(np.frombuffer(base64.b64decode(text), dtype=np.uint8))
        assert bits[: estimated.rows].tolist() == drawn.column(family.node).tolist()
    assert make_plan(result, known, None, whole=False).kind == "samples"


def test_undefined_probabilities_answer_nothing(result, known):
    data = md.network("asia").sample(30, seed=1)
    found = md.learn(data, "K2", required=[("asia", "dysp"), ("tub", "dysp"), ("lung", "dysp")])
    network = found.fit(method="mle", unobserved="nan")
    plan = make_plan(found, families(found), network, whole=True)
    assert plan.kind == "none"
    text = result_page(found, network=network)
    assert "cannot be computed in this page" in text
    assert "Shown are the shares in the data" in text


def test_only_the_most_frequent_of_thousands_of_levels_are_named():
    rng = np.random.default_rng(2)
    codes = np.column_stack([rng.integers(0, 2, 400), np.minimum(rng.geometric(0.01, 400), 2999)])
    found = md.learn(md.Dataset.from_codes(codes, levels=[2, 3000]), "BDeu(1)", max_iter=1)
    shown = shown_levels(families(found))[1]
    assert len(shown) == MOST_LABELS
    counts = found.data.observed(found.data.names[1])
    assert counts[shown].sum() == pytest.approx(np.sort(counts)[::-1][:MOST_LABELS].sum())
    assert sorted(shown) == shown.tolist()
