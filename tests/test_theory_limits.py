"""Theorems 1 to 5 on the paper's examples and on random tables: finite values approach their closed-form limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
from mapdag import theory
from mapdag.errors import GraphError, ParameterError
from mapdag.paper.experiments import random_pair
from mapdag.theory import EXAMPLE_1, EXAMPLE_2
from strategies import as_dataset, family

TINY, HUGE = 1e-12, 1e14
pairs = st.integers(0, 10**6).map(lambda seed: random_pair(np.random.default_rng(seed)))


def table_of(case):
    rows, cards, child, parents = case
    return md.Counter(as_dataset(rows, cards)).table(child, parents)


def with_constant_parent(table):
    """The same table, declared with three times as many configurations."""
    full = np.zeros((3 * table.q, table.r), dtype=int)
    full[: table.q_obs] = table.dense()
    return md.CountTable.from_dense(full)


@given(case=family())
def test_entropies_run_from_empirical_to_uniform(case):
    table = table_of(case)
    for function in (theory.posterior_entropy, theory.sparse_posterior_entropy):
        values = function(table, [TINY, 0.1, 1, 10, HUGE])
        assert (np.diff(values) >= -1e-9).all()
        assert values[0] == pytest.approx(theory.entropy(table), abs=1e-8)
        assert values[-1] == pytest.approx(theory.largest_entropy(table), abs=1e-8)


@given(case=family())
def test_bdeu_approaches_its_leading_term_and_its_limits(case):
    table = table_of(case)
    assert theory.log_bdeu(table, TINY) == pytest.approx(theory.log_bdeu_leading(table, TINY), abs=1e-8)
    limits = theory.log_bdeu_limits(table)
    assert theory.log_bdeu(table, HUGE) == pytest.approx(limits.infinity, abs=1e-6)
    if theory.effective_parameters(table) == 0:
        assert theory.log_bdeu(table, TINY) == pytest.approx(limits.zero, abs=1e-8)
    else:
        assert limits.zero == -math.inf
        assert theory.log_bdeu(table, TINY) < theory.log_bdeu(table, 2 * TINY)


@given(case=family())
def test_bds_over_bdeu_approaches_its_limits(case):
    table = with_constant_parent(table_of(case))
    limits = theory.log_bds_over_bdeu_limits(table)
    assert theory.log_bds_over_bdeu(table, TINY) == pytest.approx(limits.zero, abs=1e-8)
    assert theory.log_bds_over_bdeu(table, HUGE) == pytest.approx(limits.infinity, abs=1e-6)


@given(case=family(), alpha=st.floats(0.01, 100))
def test_bds_is_bdeu_at_another_alpha_and_the_same_where_all_is_observed(case, alpha):
    table = table_of(case)
    assert theory.log_bds(table, alpha) == pytest.approx(
        theory.log_bdeu(table, alpha * table.q / table.q_obs), rel=1e-12
    )
    if table.q == table.q_obs:
        assert theory.log_bds(table, alpha) == theory.log_bdeu(table, alpha)
    assert theory.sparse_posterior_entropy(table, theory.effective_alpha(table, alpha)) == pytest.approx(
        theory.posterior_entropy(table, alpha), abs=1e-12
    )


@given(pair=pairs)
def test_bayes_factors_approach_their_limits(pair):
    cases = (
        (theory.log_bdeu_factor, theory.log_bdeu_factor_limits(*pair.tables)),
        (theory.log_bds_factor, theory.log_bds_factor_limits(*pair.tables)),
    )
    for factor, limits in cases:
        found = factor(*pair.tables, 1e-200)
        if math.isinf(limits.zero):
            assert math.copysign(1, found) == math.copysign(1, limits.zero)
        else:
            assert found == pytest.approx(limits.zero, abs=1e-8)
        assert factor(*pair.tables, HUGE) == pytest.approx(0, abs=1e-6)


@given(pair=pairs)
def test_theorem_5_holds_in_the_limit_where_it_is_bdeus_own_rule(pair):
    gained = theory.effective_degrees_of_freedom(*pair.tables)
    assert theory.threshold(*pair.tables, 1e-300) == pytest.approx(
        -theory.log_implicit_prior_ratio(*pair.tables) / math.log(1e-300)
    )
    if gained:
        favoured = theory.favours_arc(*pair.tables, 1e-300)
        assert favoured == (gained < 0) == (theory.log_bds_factor(*pair.tables, 1e-300) > 0)
    leading = theory.log_bds_factor_leading(*pair.tables, TINY)
    assert leading == pytest.approx(theory.log_bds_factor(*pair.tables, TINY), abs=1e-8)


def test_theorem_5_at_a_finite_alpha_is_not_the_bayes_factor():
    assert theory.favours_arc(*EXAMPLE_1.tables, 0.01) is True
    assert theory.log_bds_factor(*EXAMPLE_1.tables, 0.01) == 0
    assert theory.favours_arc(*EXAMPLE_2.tables, 0.01) is None
    with pytest.raises(ParameterError, match="alpha must be below 1"):
        theory.threshold(*EXAMPLE_1.tables, 1)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 10.0])
def test_bic_stays_at_a_constant_distance_from_bdeu(alpha):
    counts = np.array([[30, 10, 7], [15, 45, 1], [3, 3, 90]])
    limit = theory.bic_gap_limit(md.CountTable.from_dense(counts), alpha)
    gaps = [theory.bic_gap(md.CountTable.from_dense(counts * 10**k), alpha) - limit for k in (2, 4, 6)]
    assert abs(gaps[2]) < 1e-5 < abs(gaps[0])
    assert abs(gaps[1]) < abs(gaps[0]) / 50


def test_bic_leaves_bdeu_behind_where_cells_are_empty():
    counts = np.array([[30, 0], [15, 45]])
    for alpha, sign in ((1, 1), (10, -1)):
        assert theory.bic_gap_limit(md.CountTable.from_dense(counts), alpha) == sign * math.inf
        gaps = [theory.bic_gap(md.CountTable.from_dense(counts * 10**k), alpha) for k in (2, 3, 4)]
        # One empty cell: (1/2 - a) log n.
        assert np.diff(gaps) == pytest.approx((0.5 - alpha / 4) * math.log(10), rel=1e-3)
    unseen = md.CountTable.from_dense([[30, 10], [0, 0]])
    assert theory.bic_gap_limit(unseen, 10) == math.inf


def test_alpha_is_one_number_or_an_array_of_any_shape():
    table = EXAMPLE_1.with_arc
    grid = np.array([[0.1, 1.0], [10.0, 100.0]])
    for function in (
        theory.posterior_entropy,
        theory.sparse_posterior_entropy,
        theory.log_bdeu,
        theory.log_bds,
        theory.log_bdeu_leading,
        theory.log_bds_over_bdeu,
        theory.effective_alpha,
        theory.bic_gap,
        theory.bic_gap_limit,
    ):
        found = function(table, alpha=grid)
        assert found.shape == (2, 2)
        assert found[1, 0] == function(table, 10)
        with pytest.raises(ParameterError, match="alpha must be a positive number"):
            function(table, [1.0, 0.0])
    for function in (theory.log_bdeu_factor, theory.log_bds_factor, theory.log_bds_factor_leading):
        assert function(*EXAMPLE_1.tables, grid)[0, 1] == function(*EXAMPLE_1.tables, 1)


def test_the_curves_of_the_papers_figures():
    for example, ratio, factor in ((EXAMPLE_1, 16, 1 / 16), (EXAMPLE_2, 1, 1)):
        first, one, last = theory.limit_curves(*example.tables, [1e-9, 1, 1e9])
        assert math.exp(first.log_ratio) == pytest.approx(ratio)
        assert math.exp(first.log_bdeu_factor) == pytest.approx(factor)
        assert last.log_ratio == pytest.approx(0, abs=1e-6)
        assert one.log_bds_factor == 0
        assert one.posterior_entropy < one.sparse_posterior_entropy


@pytest.mark.parametrize(("prior", "free", "fixed"), [("U", 2 / 3, 1 / 2), ("MU(1/2)", 1 / 2, 1 / 3)])
def test_inclusion_probabilities_given_the_rest_of_a_graph(prior, free, fixed):
    prior = md.parse(f"{prior}+BDeu").prior
    dag = md.DAG.from_modelstring("[A][B|A][C|B][D][E|A:C]")
    found = theory.inclusion_probabilities(prior, dag)
    for i, a in enumerate(dag.nodes):
        for j, b in enumerate(dag.nodes):
            if i == j:
                assert found[i, j] == 0
                continue
            rest = dag
            for arc in ((a, b), (b, a)):
                rest = rest.without_arc(*arc) if rest.has_arc(*arc) else rest
            path = b in rest.descendants(a) or a in rest.descendants(b)
            assert found[i, j] == pytest.approx(fixed if path else free)
    with pytest.raises(GraphError, match="not a product over pairs"):
        theory.inclusion_probabilities(md.MaxParents(2), dag)


def test_inclusion_probabilities_average_to_the_marginal_under_u():
    """The law of total probability, over all DAGs of four nodes."""
    means = [theory.inclusion_probabilities(md.U(), dag)[0, 1] for dag in md.graphs.all_dags(list("ABCD"))]
    assert np.mean(means) == pytest.approx(2 * float(md.graphs.arc_probability(4)))
