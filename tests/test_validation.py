"""Cross-validation against a loop over the folds."""

import numpy as np
import pytest

import mapdag as md
from golden_data import dataset
from mapdag.errors import ParameterError

ASIA = dataset("asia_1000")
OBJECTIVES = ["BDeu(1)", "MU(c=1)+BDs(1)", "MaxParents(0)+BIC"]


def test_folds_are_held_out_one_by_one():
    found = md.cross_validate(ASIA, OBJECTIVES, folds=4, seed=7)
    fold = np.random.default_rng(7).permutation(np.arange(1000) % 4)
    for k in range(4):
        train, test = ASIA.take(fold != k), ASIA.take(fold == k)
        for i, objective in enumerate(OBJECTIVES):
            dag = md.learn(train, objective).dag
            assert found.log_likelihood[i, k] == pytest.approx(md.fit(dag, train).log_likelihood(test))
            assert found.n_arcs[i, k] == dag.n_arcs
    assert found.rows.tolist() == [250] * 4
    assert found.per_row == pytest.approx(found.log_likelihood.sum(axis=1) / 1000)
    means, errors = found.differences(to=2)
    assert (means[2], errors[2]) == (0, 0)
    gaps = (found.log_likelihood[0] - found.log_likelihood[2]) / 250
    assert errors[0] == pytest.approx(gaps.std(ddof=1) / 2)


def test_no_arcs_lose_and_the_table_says_so():
    found = md.cross_validate(ASIA, OBJECTIVES, folds=5)
    assert found.best != found.objectives[2]
    lines = str(found).splitlines()
    assert len(lines) == 4
    assert any("best" in line for line in lines[1:])
    again = md.cross_validate(ASIA, OBJECTIVES, folds=5)
    assert np.array_equal(found.log_likelihood, again.log_likelihood)


def test_nonsense_is_refused():
    with pytest.raises(ParameterError, match="folds must be a whole number from 2"):
        md.cross_validate(ASIA, ["BIC"], folds=1)
    with pytest.raises(ParameterError, match="at least one"):
        md.cross_validate(ASIA, [])
    told = []
    md.cross_validate(ASIA, ["BIC"], folds=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
