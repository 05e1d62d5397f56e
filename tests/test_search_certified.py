"""Certified search against the enumeration of all graphs and against exact search; its bounds against any graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import GraphError, ParameterError
from naive_exact import scored
from test_search_exact import obeys, problems

pytest.importorskip("highspy", reason="certified search needs HiGHS: pip install 'mapdag[exact]'")


@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_no_graph_scores_higher(problem):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        with pytest.raises(GraphError):
            md.learn(data, objective, search="certified", **constraints)
        return
    best = max(score for _, score in graphs)
    result = md.learn(data, objective, search="certified", threads=1, **constraints)
    assert obeys(result.dag, **constraints)
    assert result.score == pytest.approx(best, rel=1e-12, abs=1e-6)
    assert result.certificate.proved
    assert result.certificate.bound >= best - 1e-9
