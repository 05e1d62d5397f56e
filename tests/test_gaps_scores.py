"""Scores of data with gaps: node-average likelihoods, counted over the rows that have the whole family."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive
from tests.golden_data import dataset, figures
from tests.strategies import data_with_gaps, with_gaps

import mapdag as md
from mapdag.counts.summed import BlocksEngine
from mapdag.families import FamilyScores
from mapdag.search.canonical.columns import canonical_order


def holes(data, share, seed):
    """The same data with a share of its cells missing completely at random."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(data.codes.shape) < share, -1, data.codes.astype(int))
    return md.Dataset.from_codes(codes.T, names=data.names, levels=dict(data.levels), weights=data.weights, gap=-1)


def as_rows(data):
    cards = data.cards.tolist()
    return [
        [None if code == card else code for code, card in zip(row, cards, strict=True)] for row in data.codes.T.tolist()
    ]


def expected(data, child, parents, k):
    weights = None if data.weights is None else data.weights.tolist()
    return data.total * naive.node_average(as_rows(data), child, parents, data.cards.tolist(), k, weights)


@pytest.mark.parametrize("backend", ["auto", "bitsets", "tables", "sorted"])
@given(drawn=data_with_gaps(min_columns=2), k=st.floats(0.001, 2))
@settings(max_examples=40, deadline=None)
def test_every_backend_agrees_with_the_formula(backend, drawn, k):
    rows, cards = drawn
    data = with_gaps(rows, cards)
    scores = FamilyScores(data, [md.PNAL(k), md.NAL()], backend=backend)
    for child in range(len(cards)):
        others = [i for i in range(len(cards)) if i != child]
        for parents in ([], others[:1], others[:2], others):
            found = scores.family(child, parents)
            assert found[0] == pytest.approx(expected(data, child, parents, k), rel=1e-12, abs=1e-9)
            assert found[1] == pytest.approx(expected(data, child, parents, 0.0), rel=1e-12, abs=1e-9)
        for extra, score in zip(others[1:], scores.extensions(child, others[:1], others[1:])[0], strict=True):
            assert score == pytest.approx(expected(data, child, [others[0], extra], k), rel=1e-12, abs=1e-9)


@given(data_with_gaps(min_columns=2), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_weights_count_rows_with_gaps_as_often(drawn, seed):
    rows, cards = drawn
    weights = np.random.default_rng(seed).integers(1, 4, len(rows))
    data = with_gaps(rows, cards, weights)
    weighted, repeated = (FamilyScores(each, [md.PNAL(0.1)]) for each in (data, data.repeated()))
    for parents in ([], [1], range(1, len(cards))):
        assert weighted.family(0, parents) == repeated.family(0, parents)
        assert weighted.family(0, parents)[0] == pytest.approx(expected(data, 0, parents, 0.1), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("network", ["asia", "child", "alarm"])
def test_large_tables_agree_with_the_formula_in_every_way(network):
    data = holes(md.network(network).sample(2000, seed=1), 0.2, seed=2)
    n, k = data.n_columns, data.total**-0.25 / data.n_columns
    families = [(0, []), (1, [0]), (2, [3, 4]), (5, [6, 7, 1]), (3, list(range(4, min(n, 10))))]
    for threads, backend in [(1, "auto"), (2, "auto"), (1, "tables"), (1, "sorted")]:
        scores = FamilyScores(data, [md.PNAL()], backend=backend, threads=threads)
        for child, parents in families:
            assert scores.family(child, parents)[0] == pytest.approx(expected(data, child, parents, k), rel=1e-12)


@pytest.mark.parametrize("name", ["asia_1000", "child_1150", "alarm_509", "insurance_1000"])
def test_figures_of_the_reference_data_stay(name):
    golden, full = figures("node_average"), dataset(name)
    gone = np.random.default_rng(golden["seed"]).random((full.n_rows, full.n_columns)) < golden["share"]
    codes = np.where(gone, -1, full.codes.T.astype(int))
    data = md.Dataset.from_codes(codes, names=full.names, levels=dict(full.levels), gap=-1)
    for known in golden["sets"][name].values():
        dag = md.DAG(data.names, [tuple(arc) for arc in known["arcs"]])
        for goal in ("NAL", "PNAL"):
            found = np.array(list(md.score(dag, data, goal).by_node.values())) / data.n_rows
            assert found == pytest.approx(np.array(known[goal.lower()], dtype=float), rel=1e-12)


@pytest.mark.parametrize("k", [None, 5.0])
def test_pnal_of_r_bnlearn_is_ours_with_its_penalty_divided_by_the_rows(k):
    full = dataset("asia_1000")
    data = holes(full, 0.2, seed=4)
    n, rows, cards = data.n_rows, as_rows(data), data.cards.tolist()
    given = n**-0.25 / data.n_columns if k is None else k
    dag = md.network("asia").dag.reordered(data.names)
    found = md.score(dag, data, md.PNAL(given / n)).by_node
    for i, node in enumerate(data.names):
        parents = list(dag.parent_indices(i))
        average = naive.node_average(rows, i, parents, cards)
        charge = given / n * (cards[i] - 1) * math.prod(cards[p] for p in parents)
        assert found[node] / n == pytest.approx(average - charge, rel=1e-12)


def test_without_gaps_they_are_the_penalised_likelihoods():
    data = md.network("asia").sample(1000, seed=1)
    dag = md.network("asia").dag
    assert md.score(dag, data, "NAL") == md.score(dag, data, "LogLik")
    assert md.score(dag, data, f"PNAL({math.log(1000) / 2000})") == pytest.approx(md.score(dag, data, "BIC"), rel=1e-14)


def test_a_search_finds_what_scores_say_both_directions_of_a_pair_included():
    data = holes(md.network("asia").sample(500, seed=1), 0.3, seed=1)
    goal = "MU(c=1)+PNAL"
    for search in ("orders", "hc", "tabu", "exact"):
        found = md.learn(data, goal, search=search)
        assert found.score == pytest.approx(md.score(found.dag, data, goal), rel=1e-12)
    assert md.learn(data, goal, search="exact").score >= md.learn(data, goal).score - 1e-9


@given(data_with_gaps(min_columns=3, max_columns=4, max_rows=25))
@settings(max_examples=15, deadline=None)
def test_exact_search_is_never_beaten(drawn):
    data = with_gaps(*drawn)
    best = md.learn(data, "PNAL", search="exact")
    for search in ("orders", "hc"):
        assert md.learn(data, "PNAL", search=search).score <= best.score + 1e-9


def test_one_answer_whatever_the_order_of_columns_and_rows_and_the_number_of_threads():
    data = holes(md.network("child").sample(400, seed=1), 0.15, seed=1)
    rng = np.random.default_rng(0)
    first = md.learn(data, "PNAL")
    for threads in (1, 2):
        names = [data.names[i] for i in rng.permutation(data.n_columns)]
        other = data.select(names).take(rng.permutation(data.n_rows))
        again = md.learn(other, "PNAL", threads=threads)
        assert set(again.dag.arcs) == set(first.dag.arcs)
        assert again.score == first.score


def test_gaps_tell_columns_apart_that_are_alike_but_for_them():
    column, gone = [0, 1, 0, 1, 1], [0, 1, 0, 1, -1]
    data = md.Dataset.from_codes(np.array([column, gone, gone]).T, names=["a", "b", "c"], gap=-1)
    assert canonical_order(data).alike == ((1, 2),)


def test_a_family_without_a_complete_row_is_impossible_and_never_learned():
    data = md.Dataset.from_codes([[0, -1], [1, -1], [-1, 0], [-1, 1]] * 5, names=["a", "b"], gap=-1)
    assert md.score(md.DAG(["a", "b"], [("a", "b")]), data, "PNAL") == -math.inf
    for search in ("orders", "hc", "exact"):
        assert md.learn(data, "PNAL(k=1e-9)", search=search).dag.n_arcs == 0


def test_a_column_that_is_missing_throughout_joins_nothing():
    data = md.Dataset.from_codes([[0, -1, 0], [1, -1, 1]] * 9, names=["a", "b", "c"], levels=[2, 2, 2], gap=-1)
    found = md.learn(data, "PNAL")
    assert not found.dag.parents("b")
    assert not found.dag.children("b")
    assert math.isfinite(found.score)


@pytest.mark.parametrize("goal", ["BDs", "BDeu(10)", "BIC", "AIC", "LogLik", "K2", "fNML", "qNML", "eBIC"])
def test_scores_that_need_complete_rows_say_so_and_what_to_do(goal):
    data = md.Dataset.from_codes([[0, -1], [1, 0], [0, 1]], names=["a", "b"], gap=-1)
    with pytest.raises(md.errors.DataError, match=r"needs complete rows, but the data have gaps .*PNAL.*structural_em"):
        md.learn(data, goal, em=False)


def test_engines_that_do_not_know_gaps_refuse_them():
    data = md.Dataset.from_codes([[0, -1], [1, 0], [0, 1]], names=["a", "b"], gap=-1)

    class Whole(BlocksEngine):
        counts_gaps = False

    with pytest.raises(md.errors.ParameterError, match="one that counts rows with gaps"):
        md.learn(data, "PNAL", engine=Whole)


def test_blocks_in_memory_count_gaps_as_cores_do():
    data = holes(md.network("asia").sample(500, seed=1), 0.3, seed=1)
    here, there = (md.learn(data, "PNAL", engine=engine) for engine in (None, "blocks"))
    assert (here.dag, here.score) == (there.dag, there.score)


def test_notation_reads_and_writes_them():
    assert str(md.parse("pnal(k=0.5)")) == "U+PNAL(k=0.5)"
    assert str(md.parse("MU+NAL")) == "MU(beta=0.5)+NAL"
    with pytest.raises(md.errors.ParameterError, match="k must be"):
        md.PNAL(k=-1)


def test_constraints_and_support_hold_with_gaps():
    data = holes(md.network("asia").sample(300, seed=3), 0.3, seed=3)
    rules = {"required": [("asia", "xray")], "forbidden": [("smoke", "lung"), ("lung", "smoke")]}
    for search in ("orders", "hc", "exact"):
        found = md.learn(data, "Support(5)+MaxParents(2)+PNAL(k=1e-9)", search=search, **rules)
        assert found.dag.has_arc("asia", "xray")
        assert not {("smoke", "lung"), ("lung", "smoke")} & set(found.dag.arcs)
        assert max(len(found.dag.parents(node)) for node in found.dag.nodes) <= 2
        assert not found.thin


def test_threads_that_share_blocks_of_rows_count_gaps_as_one_does(monkeypatch):
    from mapdag.families import crew

    monkeypatch.setattr(crew, "WORTH", 0.0)
    monkeypatch.setattr(crew, "PIECE", 1.0)
    monkeypatch.setattr(crew, "BLOCK", 8)
    data = holes(md.network("alarm").sample(5000, seed=1), 0.2, seed=2)
    every = range(data.n_columns)
    one, two = (FamilyScores(data, [md.PNAL()], threads=threads) for threads in (1, 2))
    for child, parents in ((0, ()), (3, (4,)), (5, (6, 7)), (1, (2, 3, 4)), (8, (9, 10, 11, 12))):
        candidates = [i for i in every if i not in (child, *parents)]
        assert np.array_equal(one.extensions(child, parents, candidates), two.extensions(child, parents, candidates))
    wide = one.extensions(8, (9, 10, 11, 12), [13, 14])[0]
    rows, k = as_rows(data), data.total**-0.25 / data.n_columns
    for score, extra in zip(wide, (13, 14), strict=True):
        expected_score = data.total * naive.node_average(rows, 8, [9, 10, 11, 12, extra], data.cards.tolist(), k)
        assert score == pytest.approx(expected_score, rel=1e-12)


@pytest.fixture
def apart():
    """Two columns that no row has together, and one that all have."""
    table = {"a": ["x", "y"] * 20 + [None] * 40, "b": [None] * 40 + ["u", "v"] * 20, "c": ["p", "q", "p", "p"] * 20}
    return md.read(table, missing="keep")


@pytest.mark.parametrize("search", ["orders", "hc", "tabu", "exact"])
def test_required_arcs_between_columns_that_no_row_has_together_are_refused(apart, search):
    with pytest.raises(
        md.errors.GraphError, match=r"required: a -> b, but no row has values of all of 'a', 'b'.*struc"
    ):
        md.learn(apart, "PNAL", search=search, required=[("a", "b")])


def test_structural_em_takes_arcs_between_columns_that_no_row_has_together(apart):
    assert md.structural_em(apart, "BIC", required=[("a", "b")]).dag.has_arc("a", "b")


@pytest.mark.parametrize("search", ["orders", "hc", "tabu"])
def test_a_search_leaves_a_start_that_no_row_can_score(apart, search):
    start = md.DAG(apart.names, [("a", "b"), ("c", "a")])
    with pytest.warns(md.errors.MapdagWarning, match="no row has all members: the parents of b are left out"):
        found = md.learn(apart, "PNAL", search=search, start=start)
    assert found.score == md.learn(apart, "PNAL", search="exact").score


@given(st.floats(0.01, 3), st.floats(0.01, 5), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_penalties_of_averages_follow_weights_of_any_size(total, k, seed):
    rng = np.random.default_rng(seed)
    codes, weights = rng.integers(0, 2, (6, 2)), rng.uniform(0.1, 1, 6)
    weights *= total / weights.sum()
    dag = md.DAG(["A", "B"], [("A", "B")])

    def scored(scale, objective):
        data = md.Dataset.from_codes(codes, names=["A", "B"], levels=[2, 2], weights=weights * scale)
        return float(md.score(dag, data, objective))

    assert scored(1, md.PNAL(k)) == pytest.approx(scored(1, "NAL") - total * k * 3, rel=1e-9, abs=1e-12)
    assert scored(0.1, md.PNAL(k)) == pytest.approx(0.1 * scored(1, md.PNAL(k)), rel=1e-9, abs=1e-12)
    assert scored(1, "PNAL") == pytest.approx(scored(1, "NAL") - total**0.75 / 2 * 3, rel=1e-9, abs=1e-12)
    assert scored(1, "BIC") == pytest.approx(scored(1, "LogLik") - max(np.log(total), 0) / 2 * 3, rel=1e-9, abs=1e-12)


def test_parameters_of_a_column_without_values_cost_what_others_do():
    codes = [[0, 0, -1], [1, 1, -1], [0, 1, -1], [1, 0, -1]]
    data = md.Dataset.from_codes(codes, names=list("ABC"), levels=[2, 2, 3], gap=-1)
    found = md.score(md.DAG(list("ABC")), data, "PNAL(k=0.5)").by_node
    assert found["C"] == -4 * 0.5 * 2
    assert md.score(md.DAG(list("ABC")), data, "NAL").by_node["C"] == 0.0
    for search in ("orders", "hc", "tabu", "exact", "certified"):
        result = md.learn(data, "PNAL(k=0.5)", search=search)
        assert not result.dag.parents("C")
        assert result.score == md.score(result.dag, data, "PNAL(k=0.5)")
