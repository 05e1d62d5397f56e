"""Effective parameters, entropies and the optimal alpha against literal loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
import naive
from golden_data import dataset
from mapdag import theory
from mapdag.errors import GraphError, MapdagWarning
from strategies import as_dataset, family, small_data


@given(case=family(), alpha=st.floats(0.01, 100))
def test_entropies_are_the_papers_sums(case, alpha):
    rows, cards, child, parents = case
    table = md.Counter(as_dataset(rows, cards)).table(child, parents)
    counts = naive.table(rows, child, parents, cards)
    r, q = cards[child], naive.declared(parents, cards)
    assert theory.entropy(table) == pytest.approx(naive.entropy(counts, r, 0), abs=1e-12)
    assert theory.posterior_entropy(table, alpha) == pytest.approx(naive.entropy(counts, r, alpha / (r * q)), abs=1e-12)
    expected = naive.entropy(counts, r, alpha / (r * len(counts)))
    assert theory.sparse_posterior_entropy(table, alpha) == pytest.approx(expected, abs=1e-12)
    weighted = sum(sum(c) / len(rows) * naive.entropy({0: c}, r, 0) for c in counts.values())
    assert theory.conditional_entropy(table) == pytest.approx(weighted, abs=1e-12)
    assert theory.effective_parameters(table) == sum(n > 0 for c in counts.values() for n in c) - len(counts)


@given(case=family(), alpha=st.floats(0.01, 10))
def test_posterior_entropy_grows_with_alpha(case, alpha):
    rows, cards, child, parents = case
    table = md.Counter(as_dataset(rows, cards)).table(child, parents)
    smaller, larger = theory.posterior_entropy(table, alpha), theory.posterior_entropy(table, 2 * alpha)
    assert theory.entropy(table) <= smaller + 1e-12
    assert smaller <= larger + 1e-12


@given(case=small_data(), data=st.data())
def test_alpha_star_sums_over_all_cells(case, data):
    rows, cards = case
    parents = [[p for p in range(i) if data.draw(st.booleans())] for i in range(len(cards))]
    table = as_dataset(rows, cards)
    arcs = [(table.names[p], table.names[i]) for i, mine in enumerate(parents) for p in mine]
    assert md.alpha_star(md.DAG(table.names, arcs), table) == pytest.approx(
        naive.alpha_star(rows, parents, cards), rel=1e-10
    )


def test_alpha_star_handles_more_configurations_than_atoms():
    rng = np.random.default_rng(0)
    data = as_dataset(rng.integers(0, 2, (50, 300)), [2] * 300)
    dag = md.DAG(data.names, [(p, "X0") for p in data.names[1:]])
    assert math.isfinite(md.alpha_star(dag, data))


def test_the_search_for_alpha_settles():
    data = dataset("asia_1000")
    dag = md.DAG(data.names, [("smoke", "lung")])
    path = theory.find_alpha_star(data, lambda alpha: dag)
    assert path.converged
    assert path.trajectory == (1.0, path.alpha, path.alpha)
    assert path.alpha == md.alpha_star(dag, data)
    assert path.cycle == ()


def test_the_search_for_alpha_notices_a_cycle_and_takes_its_smallest():
    data = dataset("asia_1000")
    graphs = {True: md.DAG(data.names), False: md.DAG(data.names, [("bronc", "dysp")])}
    alphas = {key: md.alpha_star(dag, data) for key, dag in graphs.items()}
    halfway = sum(alphas.values()) / 2
    swap = alphas[True] > alphas[False]
    with pytest.warns(MapdagWarning, match="circles through"):
        path = theory.find_alpha_star(data, lambda alpha: graphs[(alpha > halfway) != swap], start=0.01)
    assert not path.converged
    assert path.alpha == min(alphas.values())
    assert sorted(path.cycle) == sorted(alphas.values())
    assert md.alpha_star(path.dag, data) != path.alpha


def test_the_search_for_alpha_gives_up_after_its_rounds():
    data = dataset("child_115")
    names = iter(range(100))

    def learn(alpha):
        last = next(names)
        return md.DAG(data.names, [(data.names[0], child) for child in data.names[1 : 2 + last]])

    with pytest.warns(MapdagWarning, match="did not settle in 3 rounds"):
        path = theory.find_alpha_star(data, learn, max_rounds=3)
    assert len(path.trajectory) == 4
    assert not path.converged


def test_bayes_factors_are_differences_of_scores():
    data = dataset("asia_1000")
    dag = md.DAG(data.names, [("smoke", "lung"), ("lung", "either")])
    for objective in ["MU(c=1)+BDs(1)", "BIC", "VSP(0.1)+BDeu(5)"]:
        expected = md.score(dag.with_arc("tub", "either"), data, objective) - md.score(dag, data, objective)
        assert theory.log_bayes_factor(dag, data, "tub", "either", objective) == pytest.approx(expected, rel=1e-9)


def test_expected_arcs_needs_a_product_over_pairs():
    for prior in (md.LogLinear(["v_structures"]), md.MaxParents(0) + md.MU(0.3)):
        with pytest.raises(GraphError, match="no closed form"):
            theory.expected_arcs(prior, 5)


def test_expected_arcs_of_elicited_priors():
    assert theory.expected_arcs(md.CS({"X1->X2": 1}), 2) == 1
    assert theory.expected_arcs(md.CS({"X1->X2": (0.5, 0.5, 0)}), 2) == 1
    assert theory.expected_arcs(md.CS({"A->B": 0.8}), ["A", "B"]) == pytest.approx(0.9)


def test_the_odds_of_an_arc_do_not_depend_on_an_impossible_rest():
    data = dataset("asia_1000")
    impossible = md.DAG(data.names, [("smoke", "dysp")])
    prior = md.CS({"smoke->dysp": 0, "asia->tub": 0.8})
    found = theory.log_bayes_factor(impossible, data, "asia", "tub", prior + md.BDeu(1))
    plain = theory.log_bayes_factor(md.DAG(data.names), data, "asia", "tub", "BDeu(1)")
    assert found - plain == pytest.approx(math.log(8))


def test_graphs_and_data_must_speak_of_the_same_nodes():
    data = dataset("asia_1000")
    with pytest.raises(GraphError, match=r"the data lack \['cough'\]; the graph lacks \['dysp'\]"):
        md.score(md.DAG([*data.names[:-1], "cough"]), data)
