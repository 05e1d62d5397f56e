"""Arguments that make no sense are refused by errors of mapdag that name them; those that do, taken in every form."""

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.errors import ParameterError
from mapdag.sklearn import BayesianNetworkClassifier, Imputer, StructureLearner
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


def _frame():
    return pd.DataFrame({"a": list("xyxyxyxy"), "b": [1.5, 2, 3, 4, 5, 6, 7, 8.25], "c": list("uuvvuuvv")})


@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore::mapdag.errors.MapdagWarning")
@pytest.mark.parametrize("form", [np.asarray, lambda table: table.to_numpy().tolist()])
def test_tables_without_names_have_those_of_the_table_that_was_fitted(form):
    table, y = _frame(), list("stststst")
    model = BayesianNetworkClassifier(structure="naive").fit(table, y)
    assert model.predict_proba(form(table)).tolist() == model.predict_proba(table).tolist()
    texts = table[["a", "c"]]
    learner = StructureLearner().fit(texts)
    assert learner.score(form(texts)) == learner.score(texts)
    imputer = Imputer().fit(texts)
    assert imputer.transform(form(texts)).tolist() == texts.to_numpy().tolist()


@pytest.mark.parametrize("table", [[], {"a": ["x", "y", "x"]}, 3, None])
def test_a_classifier_refuses_what_is_no_table(table):
    with pytest.raises(ValueError):  # noqa: PT011 - scikit-learn's words
        BayesianNetworkClassifier().fit(table, [0, 1, 0])


@pytest.mark.parametrize(
    "options",
    [
        {"required": None},
        {"forbidden": 3},
        {"tiers": None},
        {"discretize": "nonsense"},
        {"structure": np.array(["free"])},
    ],
)
def test_a_classifier_refuses_options_that_make_no_sense(options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        BayesianNetworkClassifier(**options).fit([["a"], ["b"], ["a"], ["b"]], [0, 1, 0, 1])
