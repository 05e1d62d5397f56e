"""Arguments that make no sense are refused by errors of mapdag that name them; those that do, taken in every form."""

import numpy as np
import pytest

import mapdag as md
from mapdag.errors import ParameterError
from mapdag.theory.examples import EXAMPLE_1

HUGE = 10**400


def test_theory_takes_its_parameters_by_name():
    with_arc, without = EXAMPLE_1.tables
    by_name = md.theory.log_bdeu_factor(alpha=[0.5, 2], without=without, with_arc=with_arc)
    assert by_name.tolist() == md.theory.log_bdeu_factor(with_arc, without, [0.5, 2]).tolist()
    assert md.theory.log_bdeu(table=with_arc, alpha=1.0) == md.theory.log_bdeu(with_arc, np.array(1.0))


@pytest.mark.parametrize("alpha", [["a"], [[1], [1, 2]], "a", None, HUGE, [HUGE], {}, [None], 0])
def test_theory_refuses_alphas_that_are_no_numbers(alpha):
    with pytest.raises(ParameterError, match="alpha must be"):
        md.theory.log_bdeu(EXAMPLE_1.with_arc, alpha)


@pytest.mark.parametrize("alpha", [[], [0.5], "a"])
def test_a_verdict_on_an_arc_needs_one_alpha(alpha):
    with pytest.raises(ParameterError, match="alpha must be"):
        md.theory.favours_arc(*EXAMPLE_1.tables, alpha)
