"""Examples 1, 2 and 3 of the paper, with the digits it prints."""

import math

import pytest

import mapdag as md
from mapdag import theory

# Rows are configurations of (Z, W) and of (Z, W, Y) in the paper's order; columns are X = 0, 1.
SMALL_1 = md.CountTable.from_dense([[2, 1], [1, 2], [1, 2], [2, 1]])
LARGE_1 = md.CountTable.from_dense([[2, 1], [1, 2], [1, 2], [0, 0], [0, 0], [0, 0], [0, 0], [2, 1]])
SMALL_2 = md.CountTable.from_dense([[3, 0], [0, 3], [0, 3], [3, 0]])
LARGE_2 = md.CountTable.from_dense([[3, 0], [0, 3], [0, 3], [0, 0], [0, 0], [0, 0], [0, 0], [3, 0]])


def exp(likelihood, table):
    return math.exp(likelihood.score(table))


def test_example_1_bdeu_prefers_one_of_two_equal_families():
    assert round(theory.entropy(SMALL_1), 3) == round(theory.entropy(LARGE_1), 3) == 2.546
    assert round(theory.posterior_entropy(SMALL_1, 1), 3) == 2.580
    assert round(theory.posterior_entropy(LARGE_1, 1), 3) == 2.564
    assert f"{exp(md.BDeu(1), SMALL_1):.3e}" == "3.906e-07"
    assert f"{exp(md.BDeu(1), LARGE_1):.3e}" == "3.721e-08"


def test_example_1_bds_does_not():
    assert f"{exp(md.BDs(1), SMALL_1):.3e}" == f"{exp(md.BDs(1), LARGE_1):.3e}" == "3.906e-07"
    assert md.BDs(1).score(SMALL_1) == md.BDs(1).score(LARGE_1)
    assert round(theory.sparse_posterior_entropy(SMALL_1, 1), 3) == 2.580
    assert round(theory.sparse_posterior_entropy(LARGE_1, 1), 3) == 2.580
    assert theory.effective_parameters(LARGE_1) == 4
    assert math.exp(theory.log_implicit_prior_ratio(LARGE_1, SMALL_1)) == pytest.approx((8 / 4) ** 4)


def test_example_2_bdeu_adds_an_arc_that_says_nothing():
    assert theory.entropy(SMALL_2) == theory.entropy(LARGE_2) == 0
    assert round(theory.posterior_entropy(SMALL_2, 1), 3) == 0.652
    assert round(theory.posterior_entropy(LARGE_2, 1), 3) == 0.392
    assert round(exp(md.BDeu(1), SMALL_2), 4) == 0.0326
    assert round(exp(md.BDeu(1), LARGE_2), 4) == 0.0441


def test_example_2_bds_does_not():
    assert round(exp(md.BDs(1), SMALL_2), 4) == round(exp(md.BDs(1), LARGE_2), 4) == 0.0326
    assert md.BDs(1).score(SMALL_2) == md.BDs(1).score(LARGE_2)
    assert round(theory.sparse_posterior_entropy(SMALL_2, 1), 3) == 0.652
    assert round(theory.sparse_posterior_entropy(LARGE_2, 1), 3) == 0.652
    assert theory.effective_parameters(LARGE_2) == 0
    assert theory.effective_degrees_of_freedom(LARGE_2, SMALL_2) == 0
    assert theory.log_implicit_prior_ratio(LARGE_2, SMALL_2) == 0


def test_example_3_bds_is_not_score_equivalent():
    data = md.Dataset.from_codes([[0, 1]] * 2 + [[1, 1]] * 5, names=["X", "Y"], levels=[2, 2])
    first, second, empty = (md.DAG(list("XY"), arcs) for arcs in ([("Y", "X")], [("X", "Y")], []))
    assert round(math.exp(md.score(first, data, "BDs(1)")), 4) == 0.0009
    assert round(math.exp(md.score(second, data, "BDs(1)")), 4) == 0.0006
    assert round(math.exp(md.score(empty, data, "BDs(1)")), 4) == 0.0009
    assert md.score(first, data, "BDeu(1)") == pytest.approx(md.score(second, data, "BDeu(1)"), rel=1e-14)


def example_1_data():
    """The rows behind Example 1: X, Z, W, Y."""
    rows = []
    for (z, w, y), counts in {(0, 0, 0): (2, 1), (1, 0, 0): (1, 2), (0, 1, 0): (1, 2), (1, 1, 1): (2, 1)}.items():
        rows += [[x, z, w, y] for x in (0, 1) for _ in range(counts[x])]
    return md.Dataset.from_codes(rows, names=["X", "Z", "W", "Y"], levels=[2, 2, 2, 2])


def test_example_1_as_bayes_factors_of_an_arc():
    smaller = md.DAG(["X", "Z", "W", "Y"], [("Z", "X"), ("W", "X")])
    data = example_1_data()
    assert theory.log_bayes_factor(smaller, data, "Y", "X", "BDs(1)") == 0
    expected = math.log(3.721e-8 / 3.906e-7)
    assert theory.log_bayes_factor(smaller, data, "Y", "X", "BDeu(1)") == pytest.approx(expected, abs=1e-3)
    with_prior = theory.log_bayes_factor(smaller.with_arc("Y", "X"), data, "Y", "X", "MU(1/2)+BDs(1)")
    assert with_prior == pytest.approx(math.log(1 / 2))
