"""Graph priors: their values, their log-odds, their errors."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
import naive
from mapdag.errors import GraphError, MapdagWarning, ParameterError


@st.composite
def dags(draw, max_nodes=6):
    nodes = "ABCDEF"[: draw(st.integers(2, max_nodes))]
    order = draw(st.permutations(nodes))
    pairs = list(itertools.combinations(order, 2))
    return md.DAG(list(nodes), draw(st.lists(st.sampled_from(pairs), unique=True)))


EVERY = [
    md.U(),
    md.MU(),
    md.MU(beta=0.1),
    md.VSP(0.2),
    md.VSP({"A": 0.3, "B->A": 0.6}, default=0.1),
    md.CS({"A->B": 0.7, "B->A": 0.1}),
    md.LogLinear([{"A->B": 2.0}, "arcs"], weights=[1, 0.5], lam=0.7),
    md.LogLinear(["v_structures", lambda dag: -len(dag.roots)]),
    md.MaxParents(2),
    md.MaxParents(3) + md.MU(beta=0.2),
]


@pytest.mark.parametrize("prior", EVERY, ids=str)
@given(dag=dags())
def test_adding_an_arc_changes_the_log_prior_by_its_log_odds(prior, dag):
    odds = prior.log_odds(dag.nodes)
    for i, j in itertools.permutations(range(len(dag.nodes)), 2):
        a, b = dag.nodes[i], dag.nodes[j]
        if dag.has_arc(a, b):
            smaller = dag.without_arc(a, b)
            before, after = prior.log_prior(smaller), prior.log_prior(dag)
            if math.isinf(after):
                continue
            change = odds[i, j] + prior.remainder(dag) - prior.remainder(smaller)
            assert after - before == pytest.approx(change, abs=1e-12)
    empty = md.DAG(dag.nodes)
    assert prior.log_prior(empty) == pytest.approx(prior.constant(dag.nodes) + prior.remainder(empty))


@given(dag=dags(), beta=st.floats(0.01, 0.99))
def test_mu_is_the_papers_product_over_pairs(dag, beta):
    expected = naive.marginal_prior(len(dag.nodes), dag.n_arcs, beta)
    assert md.MU(beta=beta).log_prior(dag) == pytest.approx(expected, rel=1e-12)


def test_mu_halves_doubles_and_keeps():
    # Section 3.2: the ratio of the priors is 1/2 for an addition, 2 for a deletion, 1 for a reversal.
    prior = md.MU(beta=0.5)
    empty, arc = md.DAG(list("AB")), md.DAG(list("AB"), [("A", "B")])
    assert math.exp(prior.log_prior(arc) - prior.log_prior(empty)) == pytest.approx(1 / 2)
    assert prior.log_prior(arc) == prior.log_prior(arc.with_reversed("A", "B"))


def test_c_is_the_expected_number_of_arcs_per_node():
    for n in (10, 37, 413):
        for c in (1, 2, 4):
            assert md.theory.expected_arcs(md.MU(c=c), n) == pytest.approx(c * n)
    assert md.MU(c=2).beta_for(37) == 4 / 36
    assert md.theory.expected_arcs(md.MU(beta=0.5), 20) == pytest.approx(95)
    assert md.theory.expected_arcs(md.U(), 3) == pytest.approx(2)


def test_small_graphs_take_beta_of_at_most_one_half():
    for n in (1, 2, 3, 4):
        assert md.MU(c=1).beta_for(n) == 0.5
        with pytest.warns(MapdagWarning, match=rf"{n} nodes?.*1/2"):
            assert md.MU(c=2).beta_for(n) == 0.5
    assert md.MU(c=1).beta_for(5) == 0.5


def test_c_beyond_the_graph_is_an_error_with_the_limit():
    with pytest.raises(ParameterError, match=r"must be below 1, got 1 for c=2 and N=5 nodes; choose c below 2"):
        md.MU(c=2).beta_for(5)


@pytest.mark.parametrize("beta", [0, 1, -0.1, 1.5, math.nan, "x"])
def test_beta_must_be_a_probability(beta):
    for make in (md.MU, md.VSP):
        with pytest.raises(ParameterError, match=r"beta must lie strictly between 0 and 1, got"):
            make(beta=beta)


def test_mu_takes_beta_or_c():
    with pytest.raises(ParameterError, match="not both"):
        md.MU(beta=0.5, c=1)
    with pytest.raises(ParameterError, match="c must be a positive number, got -1"):
        md.MU(c=-1)


def test_the_completed_prior_completes():
    prior = md.CS([("A", "B", 0.8), ("B", "C", 0.5), ("C", "B", 0.3), ("A", "D", 0.2, 0.2, 0.6)])
    dag = md.DAG(list("ABCD"), [("A", "B"), ("C", "B")])
    expected = math.log(0.8) + math.log(0.3) + math.log(0.6) - 3 * math.log(3)
    assert prior.log_prior(dag) == pytest.approx(expected)


def test_certain_and_impossible_arcs_are_hard_constraints():
    prior = md.CS({"A->B": 1, "B->C": 0})
    odds = prior.log_odds("ABC")
    assert prior.required_pairs(list("ABC")) == {(0, 1)}
    assert odds[0, 1] == 0
    assert odds[1, 0] == -math.inf
    assert odds[1, 2] == -math.inf
    assert prior.log_prior(md.DAG(list("ABC"))) == -math.inf
    assert prior.log_prior(md.DAG(list("ABC"), [("A", "B")])) == pytest.approx(math.log(0.5) - math.log(3))
    assert prior.log_prior(md.DAG(list("ABC"), [("A", "B"), ("B", "C")])) == -math.inf
    assert (md.MU() + prior).log_odds("ABC")[1, 2] == -math.inf
    assert (md.MU() + prior).required_pairs("ABC") == {(0, 1)}
    either = md.CS({"A->B": (0.25, 0.75, 0)})
    assert either.log_prior(md.DAG(list("AB"))) == -math.inf
    assert math.exp(either.log_prior(md.DAG(list("AB"), [("B", "A")]))) == pytest.approx(0.75)
    assert either.log_odds("AB")[1, 0] - either.log_odds("AB")[0, 1] == pytest.approx(math.log(3))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"A->B": 1.2}, "probabilities"),
        ({"A->B": (0.5, 0.5, 0.5)}, "sum to 1"),
        ({"A->B": 0.7, "B->A": 0.7}, "more than 1"),
        ({"A->B": (0.5, 0.5)}, "one or three"),
    ],
)
def test_a_bad_elicitation_is_refused(table, message):
    with pytest.raises(ParameterError, match=message):
        md.CS(table)


def test_a_prior_about_unknown_nodes_is_refused():
    dag = md.DAG(["Smoking", "Cancer"])
    with pytest.raises(GraphError, match=r"'Smokin', which is not a node; did you mean 'Smoking'"):
        md.CS({"Smokin->Cancer": 0.8}).log_prior(dag)
    with pytest.raises(GraphError, match="write 'A->B'"):
        md.CS({"Smoking": 0.8}).log_prior(dag)
    with pytest.raises(ParameterError, match="two entries"):
        md.CS({"Smoking->Cancer": 0.8, "Smoking -> Cancer": 0.8}).log_prior(dag)
    with pytest.raises(ParameterError, match=r"nothing about the arc .* default="):
        md.VSP({"Smoking->Cancer": 0.2}).log_prior(dag)


def test_names_may_contain_arrows():
    dag = md.DAG(["a->b", "c"], [("a->b", "c")])
    assert md.CS({("a->b", "c"): 0.8}).log_prior(dag) == pytest.approx(math.log(0.8))


def test_max_parents_is_at_most_m():
    v = md.DAG(list("ABC"), [("A", "C"), ("B", "C")])
    assert md.MaxParents(2).log_prior(v) == 0
    assert md.MaxParents(1).log_prior(v) == -math.inf
    assert (md.MaxParents(1) + md.MU()).log_prior(v) == -math.inf
    assert (md.MaxParents(4) + md.MU() + md.MaxParents(2)).max_parents == 2
    for bad in (-1, 1.5, True):
        with pytest.raises(ParameterError, match="whole number of at least 0"):
            md.MaxParents(bad)


def test_log_linear_weighs_features_of_the_graph():
    dag = md.DAG(list("ABC"), [("A", "C"), ("B", "C")])
    prior = md.LogLinear([lambda g: g.n_arcs, "roots", {"A->C": 3}], weights=[1, 2, 4], lam=0.5)
    assert prior.log_prior(dag) == pytest.approx(0.5 * (2 + 2 * 2 + 4 * 3))
    assert not prior.is_arcwise
    assert md.LogLinear([{"A->C": 3}, "arcs"]).is_arcwise
    with pytest.raises(ParameterError, match="one of"):
        md.LogLinear(["triangles"])
    with pytest.raises(ParameterError, match="as many as features"):
        md.LogLinear(["arcs"], weights=[1, 2])
    with pytest.raises(ParameterError, match="finite"):
        md.LogLinear(["arcs"], lam=math.inf)


def test_which_priors_respect_equivalence():
    assert md.U().score_equivalent
    assert md.MU().score_equivalent
    assert md.VSP(0.1).score_equivalent
    assert not md.VSP({"A": 0.1}, default=0.2).score_equivalent
    assert not md.CS({"A->B": 0.5}).score_equivalent
    assert not md.MaxParents(3).score_equivalent
    assert not (md.MU() + md.MaxParents(3)).score_equivalent
    assert (md.MU() + md.VSP(0.1)).score_equivalent


def test_priors_are_values():
    assert md.MU(c=1) == md.MU(c=1.0)
    assert len({md.CS({"A->B": 0.5}), md.CS([("A", "B", 0.5)]), md.U(), md.U(), md.VSP({"A": 0.1})}) == 3
    with pytest.raises(AttributeError):
        md.MU().beta = 0.3
    assert np.array_equal(md.U().log_odds("AB"), np.zeros((2, 2)))


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, "x", None])
def test_features_of_log_linear_priors_are_finite_numbers(value):
    data = md.network("cancer").sample(50, seed=1)

    def odd(_dag):
        return value

    with pytest.raises(ParameterError, match="the feature odd must give every graph a finite number"):
        md.hill_climb(data, md.LogLinear([odd]) + md.BDs())
    with pytest.raises(ParameterError, match="lam must be finite numbers"):
        md.LogLinear(["arcs"], lam=value)


def test_a_log_linear_prior_may_have_one_feature_and_needs_one_that_makes_sense():
    dag = md.DAG(["A", "B"], [("A", "B")])
    assert md.LogLinear(lambda graph: graph.n_arcs).log_prior(dag) == md.LogLinear("arcs").log_prior(dag) == 1.0
    for wrong in (None, 5):
        with pytest.raises(ParameterError, match="features must be functions, mappings or names"):
            md.LogLinear(wrong)
