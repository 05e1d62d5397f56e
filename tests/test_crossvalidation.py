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
    with pytest.raises(ParameterError, match="folds must be a whole number of at least 2"):
        md.cross_validate(ASIA, ["BIC"], folds=1)
    with pytest.raises(ParameterError, match="at least one"):
        md.cross_validate(ASIA, [])
    with pytest.raises(ParameterError, match="must not exceed the number of rows"):
        md.cross_validate(ASIA.take(np.arange(3)), ["BIC"], folds=4)
    told = []
    md.cross_validate(ASIA, ["BIC"], folds=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_rows_that_stand_for_several_observations_are_split():
    together = ASIA.aggregated()
    assert together.n_rows < 100
    found = md.cross_validate(together, ["BDeu(1)"], folds=5, seed=1)
    assert found.rows.tolist() == [200] * 5
    alone = md.cross_validate(ASIA, ["BDeu(1)"], folds=5, seed=1)
    assert found.per_row[0] == pytest.approx(alone.per_row[0], abs=0.02)
    with pytest.raises(ParameterError, match="number of observations"):
        md.cross_validate(together, ["BIC"], folds=1001)


def test_ctrl_c_is_not_taken_for_a_result():
    def press(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        md.cross_validate(ASIA, ["BIC"], folds=5, progress=press)


def test_restarts_are_seeded_too():
    runs = [
        md.cross_validate(dataset("child_115"), ["BDeu(10)"], folds=3, search="hc", restarts=3, perturb=6)
        for _ in range(2)
    ]
    assert np.array_equal(runs[0].log_likelihood, runs[1].log_likelihood)


def test_a_target_is_predicted_in_the_rows_that_are_held_out():
    found = md.cross_validate(ASIA, OBJECTIVES, folds=4, seed=7, target="dysp")
    plain = md.cross_validate(ASIA, OBJECTIVES, folds=4, seed=7)
    assert np.array_equal(found.log_likelihood, plain.log_likelihood)
    fold = np.random.default_rng(7).permutation(np.arange(1000) % 4)
    for i, objective in enumerate(OBJECTIVES):
        actual, said = [], []
        for k in range(4):
            train, test = ASIA.take(fold != k), ASIA.take(fold == k)
            network = md.fit(md.learn(train, objective).dag, train)
            expected = network.predict_proba(test, "dysp")
            assert np.allclose(found.predictions[i][k].probabilities, expected)
            actual.append(test.column("dysp"))
            said.append(expected)
        by_hand = md.metrics(np.concatenate(actual), np.concatenate(said), levels=range(2))
        assert found.metrics[i].summary() == pytest.approx(by_hand.summary())
    assert found.metrics[2].auc == pytest.approx(0.5, abs=0.05)  # no arcs: nothing but the shares of the folds
    assert found.metrics[0].auc > 0.8
    assert found.to_pandas()["log_loss"].tolist() == [each.log_loss for each in found.metrics]
    assert "with predictions of 'dysp'" in str(found)
    assert "accuracy" not in str(plain)
    with pytest.raises(ParameterError, match="target="):
        plain.metrics  # noqa: B018 - looking is the test


def test_a_target_counts_by_weights():
    found = md.cross_validate(ASIA.aggregated(), ["BDeu(1)"], folds=5, seed=1, target="dysp")
    alone = md.cross_validate(ASIA, ["BDeu(1)"], folds=5, seed=1, target="dysp")
    assert found.metrics[0].rows == alone.metrics[0].rows == 1000
    assert found.metrics[0].log_loss == pytest.approx(alone.metrics[0].log_loss, abs=0.02)


def test_an_unknown_target_is_refused_at_once():
    with pytest.raises(md.errors.DataError, match="dispnea"):
        md.cross_validate(ASIA, ["BIC"], target="dispnea", progress=lambda *_: pytest.fail("too late"))


def test_one_objective_needs_no_list_and_the_default_no_word():
    data = md.network("asia").sample(200, seed=1)
    assert str(md.cross_validate(data, "BIC", folds=2).best) == "U+BIC"
    assert md.cross_validate(data, folds=2).objectives == (md.learn(data).objective,)
