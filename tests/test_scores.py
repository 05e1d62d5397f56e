"""Every likelihood against the literal formulas, high-precision arithmetic and the golden figures."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
import naive
from mapdag.families import FamilyScores
from mapdag.terms.formulas import log_regret
from strategies import as_dataset, family, small_data

LIKELIHOODS = {
    "K2": md.K2(),
    "BDJ": md.BDJ(),
    "BDeu": md.BDeu(1),
    "BDs": md.BDs(1),
    "LogLik": md.LogLik(),
    "AIC": md.AIC(),
    "BIC": md.BIC(),
    "eBIC": md.eBIC(),
    "fNML": md.fNML(),
    "qNML": md.qNML(),
}


@pytest.mark.parametrize("backend", ["auto", "bitsets", "tables", "sorted"])
@pytest.mark.parametrize("name", LIKELIHOODS)
@given(case=family())
@settings(max_examples=25)
def test_a_family_scores_as_the_formula_says(name, backend, case):
    rows, cards, child, parents = case
    families = FamilyScores(as_dataset(rows, cards), [LIKELIHOODS[name]], backend=backend)
    expected = naive.score(name, rows, child, parents, cards, n_nodes=len(cards))
    assert families.family(child, parents)[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", LIKELIHOODS)
@given(case=family(min_columns=2))
@settings(max_examples=15)
def test_candidate_parents_in_one_call_score_as_one_by_one(name, case):
    rows, cards, child, parents = case
    families = FamilyScores(as_dataset(rows, cards), [LIKELIHOODS[name]])
    candidates = [i for i in range(len(cards)) if i != child and i not in parents]
    together = families.extensions(child, parents, candidates)[0]
    assert together.tolist() == [families.family(child, [*parents, c])[0] for c in candidates]


@pytest.mark.parametrize("name", ["BDeu", "BDs"])
@pytest.mark.parametrize("alpha", [1e-8, 1e-4, 0.3, 1, 12, 1e4, 1e8])
@given(case=family())
@settings(max_examples=12)
def test_extreme_alpha_keeps_eleven_digits(name, alpha, case):
    rows, cards, child, parents = case
    likelihood = {"BDeu": md.BDeu, "BDs": md.BDs}[name](alpha)
    got = FamilyScores(as_dataset(rows, cards), [likelihood]).family(child, parents)[0]
    counts = naive.table(rows, child, parents, cards)
    with mpmath.workdps(50):
        a = naive.pseudo_count(
            name, alpha, cards[child], naive.declared(parents, cards), len(counts), number=mpmath.mpf
        )
        expected = naive.bd(counts, cards[child], a, gammaln=mpmath.loggamma)
        assert abs((got - expected) / expected) < 1e-11


@pytest.mark.parametrize("counts", [[999_999, 1], [1_000_000, 0], [70_000, 300_000], [3, 123_456_789]])
@pytest.mark.parametrize("alpha", [1e-8, 1, 10, 1e8])
def test_a_million_rows_lose_no_digits(counts, alpha):
    # The terms are near n log n = 1e7 and nearly cancel: plain doubles keep ten digits here.
    got = md.BDeu(alpha).score(md.CountTable.from_dense([counts]))
    with mpmath.workdps(50):
        expected = naive.bd({(): counts}, 2, mpmath.mpf(alpha) / 2, gammaln=mpmath.loggamma)
        assert abs((got - expected) / expected) < 1e-11


@pytest.mark.parametrize("n", [1, 2, 7, 50, 400])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 500])
def test_the_nml_normaliser_equals_the_exact_recurrence(n, k):
    with mpmath.workdps(50):
        expected = float(mpmath.log(naive.nml_normaliser(n, k)))
    assert log_regret(n, float(k)) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@given(case=family(), alpha=st.floats(0.01, 100))
def test_bds_is_bdeu_with_alpha_blown_up_by_the_unobserved(case, alpha):
    rows, cards, child, parents = case
    data = as_dataset(rows, cards)
    table = md.Counter(data).table(child, parents)
    blown = alpha * table.q / table.q_obs
    assert md.BDs(alpha).score(table) == pytest.approx(md.BDeu(blown).score(table), rel=1e-12)


@given(case=family(), seed=st.integers(0, 99))
def test_scores_do_not_depend_on_the_order_of_rows_levels_or_parents(case, seed):
    rows, cards, child, parents = case
    rng = np.random.default_rng(seed)
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    relabel = [rng.permutation(card) for card in cards]
    relabelled = [[int(relabel[v][code]) for v, code in enumerate(row)] for row in shuffled]
    columns = rng.permutation(len(cards))
    place = {int(old): new for new, old in enumerate(columns)}
    moved = [[row[old] for old in columns] for row in relabelled]
    for likelihood in LIKELIHOODS.values():
        before = FamilyScores(as_dataset(rows, cards), [likelihood]).family(child, parents)[0]
        data = as_dataset(moved, [cards[old] for old in columns])
        after = FamilyScores(data, [likelihood], backend="sorted").family(place[child], [place[p] for p in parents])[0]
        assert before == after  # to the last bit


def random_covered_reversal(rng, dag):
    covered = [arc for arc in dag.arcs if dag.is_covered(*arc)]
    return dag.with_reversed(*covered[rng.integers(len(covered))]) if covered else dag


@given(case=small_data(min_columns=3), seed=st.integers(0, 10**6))
def test_score_equivalent_objectives_ignore_covered_reversals(case, seed):
    rows, cards = case
    data = as_dataset(rows, cards)
    rng = np.random.default_rng(seed)
    dag = md.DAG(data.names)
    for a in range(len(cards)):
        for b in range(a + 1, len(cards)):
            if rng.random() < 0.6:
                dag = dag.with_arc(data.names[a], data.names[b])
    other = dag
    for _ in range(5):
        other = random_covered_reversal(rng, other)
    assert other.to_cpdag() == dag.to_cpdag()
    for text in ["BDeu(1)", "BDeu(7)", "BIC", "AIC", "LogLik", "eBIC", "qNML", "MU(1/2)+BDeu(1)", "VSP(0.2)+BIC"]:
        assert md.parse(text).score_equivalent
        assert md.score(dag, data, text) == pytest.approx(md.score(other, data, text), rel=1e-12)


@given(case=small_data(min_columns=2, max_columns=2, max_levels=3), alpha=st.floats(0.1, 10))
def test_bds_is_score_equivalent_where_all_configurations_are_observed(case, alpha):
    rows, cards = case
    rows = rows + [(i, j) for i in range(cards[0]) for j in range(cards[1])]
    data = as_dataset(rows, cards)
    forward, backward = md.DAG(data.names, [("X0", "X1")]), md.DAG(data.names, [("X1", "X0")])
    score = f"BDs(alpha={alpha})"
    assert md.score(forward, data, score) == pytest.approx(md.score(backward, data, score), rel=1e-12)


def test_bic_approaches_log_bdeu_as_n_grows():
    rng = np.random.default_rng(1)
    gaps = []
    for n in [100, 10_000, 1_000_000]:
        counts = np.array([rng.multinomial(n, [0.2, 0.3, 0.5]), rng.multinomial(n, [0.6, 0.3, 0.1])])
        table = md.CountTable.from_dense(counts)
        gaps.append(abs(md.BIC().score(table) / md.BDeu(1).score(table) - 1))
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 1e-5


@given(case=family(max_rows=12), data=st.data())
def test_whole_weights_are_repeated_rows(case, data):
    rows, cards, child, parents = case
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, w in zip(rows, weights, strict=True) for _ in range(w)]
    for likelihood in LIKELIHOODS.values():
        weighted = FamilyScores(as_dataset(rows, cards, weights), [likelihood]).family(child, parents)[0]
        assert weighted == FamilyScores(as_dataset(repeated, cards), [likelihood]).family(child, parents)[0]


@given(case=family(max_rows=12), data=st.data())
def test_fractional_weights_score_as_the_formula_says(case, data):
    rows, cards, child, parents = case
    weights = data.draw(st.lists(st.floats(0.05, 5), min_size=len(rows), max_size=len(rows)))
    weights[0] = 0.25  # never all whole
    for name in ["K2", "BDJ", "BDeu", "BDs", "LogLik", "AIC"]:
        got = FamilyScores(as_dataset(rows, cards, weights), [LIKELIHOODS[name]]).family(child, parents)[0]
        expected = naive.score(name, rows, child, parents, cards, weights=weights)
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_weights_that_sum_to_one_do_not_overflow():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 20, (200, 2))
    weights = np.full(200, 1 / 200)
    got = FamilyScores(as_dataset(rows, [20, 20], weights), [md.BDs(1), md.BDeu(1)]).family(1, [0])
    for value, name in zip(got, ["BDs", "BDeu"], strict=True):
        assert value == pytest.approx(naive.score(name, rows.tolist(), 1, [0], [20, 20], weights=weights), rel=1e-9)


def test_any_table_can_be_scored():
    columns = {"a": ["x", "y", "x"], "b": ["u", "u", "v"]}
    dag = md.DAG(["a", "b"], [("a", "b")])
    assert md.score(dag, columns, "BIC") == md.score(dag, md.read(columns), "BIC")
    both = md.score(dag, columns, ["BIC", "MU()+BDs(1)"])
    assert both == (md.score(dag, columns, "BIC"), md.score(dag, columns, "MU()+BDs(1)"))


def test_the_score_of_a_graph_does_not_depend_on_the_order_of_columns():
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 3, (57, 9))
    data = as_dataset(rows, [3] * 9)
    dag = md.random_dag(data.names, seed=1)
    for _ in range(20):
        shuffled = data.select([data.names[i] for i in rng.permutation(9)])
        for objective in ["MU(0.3)+BDs(1)", "VSP(0.2)+BDeu(3)", "BIC"]:
            assert md.score(dag.reordered(shuffled.names), shuffled, objective) == md.score(dag, data, objective)


@pytest.mark.parametrize("likelihood", [md.fNML(), md.qNML()])
def test_nml_refuses_fractional_weights(likelihood):
    data = as_dataset([[0, 1], [1, 0]], [2, 2], weights=[0.5, 1.5])
    with pytest.raises(md.errors.DataError, match="whole counts"):
        FamilyScores(data, [likelihood])


@pytest.mark.parametrize("parents", [25, 200, 1200])
def test_many_parents_score_correctly(parents):
    # 2^200 exceeds 1e60, 3^1200 the floats.
    rng = np.random.default_rng(5)
    cards = [2] + [3 if parents == 1200 else 2] * parents
    rows = rng.integers(0, 2, (40, len(cards)))
    rows[20:] = rows[:20]  # repeat configurations, or every one would be unique
    rows[:, 0] = rng.integers(0, 2, 40)
    counts = naive.table(rows.tolist(), 0, range(1, len(cards)), cards)
    data = as_dataset(rows, cards)
    with mpmath.workdps(60):
        for likelihood, a in [
            (md.BDeu(1), mpmath.mpf(1) / (2 * naive.declared(range(1, len(cards)), cards))),
            (md.BDs(1), mpmath.mpf(1) / (2 * len(counts))),
        ]:
            expected = naive.bd(counts, 2, a, gammaln=mpmath.loggamma)
            got = FamilyScores(data, [likelihood]).family(0, range(1, len(cards)))[0]
            assert abs((got - expected) / expected) < 1e-11
    if parents == 25:
        return
    n, q = len(rows), naive.declared(range(1, len(cards)), cards)
    got = FamilyScores(data, [md.qNML()]).family(0, range(1, len(cards)))[0]
    assert got == pytest.approx(naive.log_likelihood(counts) - n * math.log(2), rel=1e-10)
    assert q > 1e60


def test_a_hundred_levels_score_correctly():
    rng = np.random.default_rng(6)
    rows = rng.integers(0, [100, 90, 2], (3000, 3)).tolist()
    data = as_dataset(rows, [100, 100, 2])
    for name in ["BDeu", "BDs", "BIC"]:
        for child, parents in [(0, [1, 2]), (2, [0, 1]), (1, [0])]:
            got = FamilyScores(data, [LIKELIHOODS[name]]).family(child, parents)[0]
            assert got == pytest.approx(naive.score(name, rows, child, parents, [100, 100, 2]), rel=1e-10)


def test_ones_own_likelihood_is_a_function_of_a_table():
    def half_bic(table):
        return md.LogLik().score(table) - 0.25 * math.log(table.total) * (table.r - 1) * table.q

    data = as_dataset([[0, 1], [1, 0], [1, 1]], [2, 2])
    dag = md.DAG(data.names, [("X0", "X1")])
    own = md.score(dag, data, md.MU() + md.Custom(half_bic))
    assert own == pytest.approx(md.score(dag, data, md.MU() + md.BIC(k=0.25 * math.log(3))))
    assert str(md.MU() + md.Custom(half_bic)) == "MU(beta=0.5)+Custom(half_bic)"


def test_an_empty_table_scores_zero():
    table = md.CountTable.from_dense(np.zeros((3, 2), dtype=int))
    for name in ["BDeu", "BDs", "K2", "LogLik", "fNML"]:
        assert LIKELIHOODS[name].score(table) == 0


@pytest.mark.parametrize("make", [md.BDeu, md.BDs, md.BD, md.BIC])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "1", True])
def test_a_bad_parameter_is_named_with_its_value(make, value):
    with pytest.raises(md.errors.ParameterError, match=r"must be a positive number( or 'auto')?, got"):
        make(value)


def test_a_rule_that_gives_no_pseudo_count_is_an_error():
    with pytest.raises(md.errors.ParameterError, match="must give a positive number, got -1"):
        md.BD(lambda r, q, q_obs: -1).score(md.CountTable.from_dense([[1, 2]]))
