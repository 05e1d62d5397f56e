"""The uniform distribution over DAGs: counting against enumeration against sampling."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import mapdag as md
import naive_graphs
from mapdag.errors import CapacityError, ParameterError
from mapdag.graphs import all_dags, arc_correlation, arc_probability, dag_codes, n_dags, pattern_probability
from mapdag.graphs.census import n_arcs_in_all, probability_of
from mapdag.graphs.random import with_sources

NAMES = [f"X{i}" for i in range(200)]
# OEIS A003024.
NUMBERS = [1, 1, 3, 25, 543, 29281, 3781503, 1138779265, 783702329343, 1213442454842881, 4175098976430598143]


def has(codes, n, i, j):
    return codes >> (i * n + j) & 1


def test_the_numbers_of_dags_are_the_known_ones():
    assert [n_dags(n) for n in range(len(NUMBERS))] == NUMBERS


def test_dags_by_number_of_sources_add_up():
    for n in (1, 2, 5, 9, 40):
        assert sum(with_sources(n, k) for k in range(1, n + 1)) == n_dags(n)


@pytest.mark.parametrize("n", range(5))
def test_enumeration_finds_what_trying_everything_finds(n):
    names = NAMES[:n]
    found = list(all_dags(names))
    assert len(found) == len(set(found)) == n_dags(n)
    assert {frozenset(dag.arcs) for dag in found} == {frozenset(arcs) for arcs in naive_graphs.all_dags(names)}


def test_enumeration_to_six_nodes_finds_each_graph_once():
    codes = np.sort(np.concatenate(list(dag_codes(6))))
    assert len(codes) == NUMBERS[6]
    assert (np.diff(codes) > 0).all()


def test_enumerated_graphs_are_acyclic():
    n = 5
    codes = np.concatenate(list(dag_codes(n)))
    # n rounds of taking away sources leave nothing.
    left = np.full(len(codes), (1 << n) - 1)
    for _ in range(n):
        sources = np.zeros_like(left)
        for j in range(n):
            fed = np.zeros(len(codes), dtype=bool)
            for i in range(n):
                fed |= (has(codes, n, i, j) & (left >> i) & 1).astype(bool)
            sources |= (~fed).astype(np.int64) << j
        left &= ~sources
    assert not left.any()


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_exact_probabilities_are_those_of_the_enumeration(n):
    codes = np.concatenate(list(dag_codes(n)))
    patterns = {"chain": [(0, 1), (1, 2)], "collider": [(0, 1), (2, 1)], "fork": [(1, 0), (1, 2)]}
    if n > 3:
        patterns["disjoint"] = [(0, 1), (2, 3)]
    assert arc_probability(n) == Fraction(int(has(codes, n, 0, 1).sum()), len(codes))
    assert n_arcs_in_all(n) == n * (n - 1) * int(has(codes, n, 0, 1).sum())
    for pattern, (first, second) in patterns.items():
        both = int((has(codes, n, *first) & has(codes, n, *second)).sum())
        assert pattern_probability(n, pattern) == Fraction(both, len(codes))


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("incident", [True, False])
def test_exact_correlations_are_those_of_the_enumeration(n, incident):
    if n == 3 and not incident:
        return
    codes = np.concatenate(list(dag_codes(n)))
    pairs = [(0, 1), (1, 2)] if incident else [(0, 1), (2, 3)]
    signed = [has(codes, n, i, j) - has(codes, n, j, i) for i, j in pairs]
    for coding, columns in (("signed", signed), ("presence", [abs(each) for each in signed])):
        expected = np.corrcoef(columns)[0, 1]
        assert float(arc_correlation(n, coding=coding, incident=incident)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("odds", [Fraction(1, 2), Fraction(1, 5), 3])
def test_weighted_dags_are_those_of_the_enumeration(odds):
    n = 4
    total = chosen = both = Fraction(0)
    for dag in all_dags(NAMES[:n]):
        weight = Fraction(odds) ** dag.n_arcs
        total += weight
        chosen += weight * dag.has_arc("X0", "X1")
        both += weight * (dag.has_arc("X0", "X1") and dag.has_arc("X2", "X1"))
    assert arc_probability(n, odds) == chosen / total
    assert pattern_probability(n, "collider", odds) == both / total


def test_required_arcs_may_be_any():
    n = 4
    for arcs in ([], [(0, 1), (1, 0)], [(0, 1), (1, 2), (0, 2)], [(3, 1), (1, 0), (2, 0)]):
        wanted = [(f"X{a}", f"X{b}") for a, b in arcs]
        number = sum(all(dag.has_arc(*arc) for arc in wanted) for dag in all_dags(NAMES[:n]))
        assert probability_of(n, arcs) == Fraction(number, n_dags(n))


def test_seven_nodes_are_counted_exactly():
    """By two recursions; `test_seven_nodes_one_by_one` looks at each of them."""
    assert arc_probability(7) == probability_of(7, [(5, 2)])
    assert float(arc_probability(7)) == pytest.approx(0.28939041843)
    assert float(arc_correlation(7)) == pytest.approx(-0.14238737237)


@pytest.mark.slow
def test_seven_nodes_one_by_one():
    total = single = chain = collider = fork = 0
    for codes in dag_codes(7):
        total += len(codes)
        single += int(has(codes, 7, 0, 1).sum())
        chain += int((has(codes, 7, 0, 1) & has(codes, 7, 1, 2)).sum())
        collider += int((has(codes, 7, 0, 1) & has(codes, 7, 2, 1)).sum())
        fork += int((has(codes, 7, 1, 0) & has(codes, 7, 1, 2)).sum())
    assert total == NUMBERS[7]
    assert Fraction(single, total) == arc_probability(7)
    for pattern, number in {"chain": chain, "collider": collider, "fork": fork}.items():
        assert Fraction(number, total) == pattern_probability(7, pattern)


def test_every_dag_of_four_nodes_is_drawn_equally_often():
    rng = np.random.default_rng(20)
    counts = dict.fromkeys(all_dags(NAMES[:4]), 0)
    for _ in range(50 * len(counts)):
        counts[md.uniform_dag(NAMES[:4], seed=rng)] += 1
    assert len(counts) == 543
    assert stats.chisquare(list(counts.values())).pvalue > 0.01


@pytest.mark.parametrize("n", [2, 3, 5, 6, 7])
def test_draws_have_the_exact_marginals(n):
    rng = np.random.default_rng(n)
    draws = np.array([md.uniform_dag(NAMES[:n], seed=rng).to_adjacency() for _ in range(4000)])
    p = float(arc_probability(n))
    error = np.sqrt(p * (1 - p) / len(draws))
    frequencies = draws.mean(axis=0)[~np.eye(n, dtype=bool)]
    assert np.abs(frequencies - p).max() < 4 * error
    triples = list(permutations(range(n), 3))
    for pattern, arcs in {"chain": ((0, 1), (1, 2)), "collider": ((0, 1), (2, 1)), "fork": ((1, 0), (1, 2))}.items():
        if not triples:
            continue
        seen = np.mean([draws[:, t[a], t[b]] & draws[:, t[c], t[d]] for t in triples for (a, b), (c, d) in [arcs]])
        assert seen == pytest.approx(float(pattern_probability(n, pattern)), abs=0.006)


def test_two_hundred_nodes_have_the_expected_number_of_arcs():
    rng = np.random.default_rng(3)
    arcs = [md.uniform_dag(NAMES, seed=rng).n_arcs for _ in range(40)]
    expected = 200 * 199 * float(arc_probability(200))
    assert np.mean(arcs) == pytest.approx(expected, abs=4 * np.std(arcs) / np.sqrt(len(arcs)) + 1)


def test_a_draw_is_a_dag_and_repeats_itself():
    for n in (0, 1, 2, 30):
        dag = md.uniform_dag(NAMES[:n], seed=5)
        assert md.DAG(dag.nodes, dag.arcs) == dag == md.uniform_dag(NAMES[:n], seed=5)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(CapacityError, match="n must be at most 7 to enumerate, got 8"):
        next(dag_codes(8))
    with pytest.raises(CapacityError, match="at most 1000"):
        n_dags(2000)
    for call in (lambda: n_dags(-1), lambda: arc_probability(1), lambda: arc_correlation(3, incident=False)):
        with pytest.raises(ParameterError, match="n must be a whole number of at least"):
            call()
    with pytest.raises(ParameterError, match="coding must be"):
        arc_correlation(4, coding="other")
    with pytest.raises(ParameterError, match="pattern must be one of chain"):
        pattern_probability(4, "triangle")
    with pytest.raises(ParameterError, match="odds must be positive"):
        arc_probability(4, -1)
