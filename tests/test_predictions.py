"""Figures of predictions against scikit-learn's, and what becomes of rows that cannot be judged."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peer
from sklearn.calibration import calibration_curve

import mapdag as md
from mapdag.errors import DataError, MapdagWarning, ParameterError
from mapdag.predictions import Metrics


def made(seed, n, k, *, ties=False, absent=False, weighted=False):
    rng = np.random.default_rng(seed)
    raw = rng.integers(1, 4, (n, k)).astype(float) if ties else rng.random((n, k)) + 0.01
    actual = rng.integers(0, k - absent, n)
    weights = rng.integers(0, 4, n) + rng.random(n) * (seed % 2) if weighted else None
    return actual, raw / raw.sum(axis=1, keepdims=True), weights


cases = pytest.mark.parametrize(
    ("k", "ties", "absent", "weighted"),
    [
        (2, False, False, False),
        (2, True, False, True),
        (3, False, False, True),
        (4, True, False, False),
        (4, True, True, True),
        (3, False, True, False),
    ],
)


@cases
def test_figures_are_those_of_scikit_learn(k, ties, absent, weighted):
    for seed in range(5):
        actual, probabilities, weights = made(seed, 80, k, ties=ties, absent=absent, weighted=weighted)
        found = md.metrics(actual, probabilities, levels=range(k), weights=weights)
        said = probabilities.argmax(axis=1)
        assert found.accuracy == pytest.approx(peer.accuracy_score(actual, said, sample_weight=weights))
        present = np.unique(actual)
        with pytest.warns(UserWarning, match="not in y_true") if set(said) - set(present) else nullcontext():
            expected = peer.balanced_accuracy_score(actual, said, sample_weight=weights)
        assert found.balanced_accuracy == pytest.approx(expected)
        labels = range(k)
        assert found.log_loss == pytest.approx(
            peer.log_loss(actual, probabilities, labels=labels, sample_weight=weights)
        )
        brier = peer.brier_score_loss(
            actual, probabilities if k > 2 else probabilities[:, 1], labels=labels, sample_weight=weights
        )
        assert found.brier == pytest.approx(brier)
        confusion = peer.confusion_matrix(actual, said, labels=labels, sample_weight=weights)
        assert np.allclose(found.confusion, confusion)


@cases
def test_curves_are_those_of_scikit_learn(k, ties, absent, weighted):
    actual, probabilities, weights = made(7, 90, k, ties=ties, absent=absent, weighted=weighted)
    found = md.metrics(actual, probabilities, levels=range(k), weights=weights)
    areas = []
    for level in range(k - absent):
        low, high, limits = peer.roc_curve(
            actual == level, probabilities[:, level], sample_weight=weights, drop_intermediate=False
        )
        curve = found.roc(level)
        if weights is None:  # rows of weight 0 are points of theirs, too
            assert np.allclose(curve.false_positives, low)
            assert np.allclose(curve.true_positives, high)
            assert np.allclose(curve.thresholds, limits)
        areas.append(peer.roc_auc_score(actual == level, probabilities[:, level], sample_weight=weights))
        assert curve.auc == pytest.approx(areas[-1])
        if weights is None:
            shares, means = calibration_curve(actual == level, probabilities[:, level], n_bins=7)
            table = found.calibration(level, bins=7)
            used = table.rows > 0
            assert np.allclose(table.observed[used], shares)
            assert np.allclose(table.predicted[used], means)
    assert found.auc == pytest.approx(np.mean(areas))
    if absent:
        assert np.isnan(found.roc(k - 1).auc)


def naive_error(actual, probabilities, weights, bins=10):
    """Expected calibration error, row by row."""
    rows = {}
    for code, row, weight in zip(actual, probabilities, weights, strict=True):
        best = max(row)
        place = next(b for b in range(bins) if best <= np.linspace(0, 1, bins + 1)[b + 1] or b == bins - 1)
        rows.setdefault(place, []).append((weight, best, list(row).index(best) == code))
    total = sum(weights)
    return sum(
        abs(sum(w * hit for w, _, hit in each) - sum(w * said for w, said, _ in each)) / total for each in rows.values()
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(2, 5), st.booleans())
def test_calibration_error_is_the_gap_between_what_is_said_and_what_happens(seed, n, k, ties):
    actual, probabilities, weights = made(seed, n, k, ties=ties, weighted=True)
    weights = weights + 0.5
    found = md.metrics(actual, probabilities, levels=range(k), weights=weights)
    assert found.ece == pytest.approx(naive_error(actual, probabilities, weights))
    assert 0 <= found.accuracy <= 1
    assert found.confusion.sum() == pytest.approx(found.rows)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(2, 4))
def test_a_whole_weight_is_a_repeated_row(seed, n, k):
    actual, probabilities, _ = made(seed, n, k, ties=True)
    weights = np.random.default_rng(seed).integers(0, 4, n)
    together = md.metrics(actual, probabilities, levels=range(k), weights=weights).summary()
    apart = md.metrics(np.repeat(actual, weights), np.repeat(probabilities, weights, axis=0), levels=range(k)).summary()
    assert list(together.values()) == pytest.approx(list(apart.values()), nan_ok=True)


def test_rows_that_cannot_be_judged_are_counted_and_left_out():
    probabilities = [[0.9, 0.1], [np.nan, np.nan], [0.2, 0.8], [0.3, 0.7], [np.nan, np.nan]]
    found = md.metrics(["no", "yes", None, "yes", None], probabilities)
    assert (found.rows, found.impossible, found.unknown) == (2, 1, 2)
    assert found.accuracy == 1
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.7]).mean())
    text = str(found)
    assert "not predicted: 1 more" in text
    assert "not judged: 2 more" in text
    nothing = md.metrics(["no", "yes"], [[np.nan] * 2] * 2)
    assert nothing.rows == 0
    assert np.isnan(
        [nothing.accuracy, nothing.log_loss, nothing.auc, nothing.ece, nothing.brier, nothing.guess.log_loss]
    ).all()
    assert "not predicted: 2 more" in str(nothing)


def test_what_was_held_impossible_and_happened_costs_infinitely():
    found = md.metrics(["a", "b"], [[1.0, 0.0], [1.0, 0.0]])
    assert found.log_loss == np.inf
    assert found.accuracy == 0.5
    assert found.guess.accuracy == found.guess.auc == 0.5
    assert found.guess.log_loss == pytest.approx(np.log(2))


def test_ties_are_broken_as_in_prediction():
    asia = md.network("asia")
    rows = asia.sample(300, seed=3)
    found = md.metrics(rows.to_polars()["smoke"], asia.predict_proba(rows, "smoke"), levels=asia.levels["smoke"])
    said = asia.predict(rows, "smoke")
    actual = rows.to_pandas()["smoke"].astype(str).to_numpy()
    assert found.accuracy == np.mean(said == actual)


@pytest.mark.parametrize(
    "actual",
    [
        [True, False, True],
        np.array([True, False, True]),
        pd.Series([True, False, True], dtype="boolean"),
        pl.Series([True, False, True]),
        pd.Categorical([True, False, True]),
        ["TRUE", "false", "true"],
    ],
)
def test_actual_levels_of_any_kind_are_found(actual):
    found = md.metrics(actual, [0.7, 0.4, 0.9], levels=[False, True])
    assert found.levels == ("False", "True")
    assert found.accuracy == 1
    assert found.roc(True).level == "True"


def test_hostile_labels_are_taken_as_they_are():
    levels = ["NA", "<b>", "naïve ☃", " a"]
    found = md.metrics(levels, np.eye(4), levels=levels)
    assert found.accuracy == 1
    assert found.unknown == 0
    assert "&lt;b&gt;" in found._repr_html_()
    assert "☃" in str(found)


def test_figures_can_be_seen_as_tables():
    found = md.metrics(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    assert found.to_pandas().loc["accuracy", "value"] == pytest.approx(2 / 3)
    assert found.to_polars()["guess"][0] == pytest.approx(2 / 3)
    assert found.by_level().to_pandas().loc["b", "recall"] == 0.5
    assert found.confusion_table().to_pandas().loc["b", "a"] == 1
    assert found.calibration("b", bins=2).to_pandas()["rows"].tolist() == [2, 1]
    assert found.roc("b").to_pandas().shape == (4, 3)
    assert "expected calibration error of 'b'" in str(found.calibration("b"))
    assert str(found.roc()).startswith("ROC of 'b', AUC 1.0000")
    for value in (found, found.roc(), found.calibration()):
        assert "<table>" in value._repr_html_()
    many = md.metrics([str(i) for i in range(30)], np.eye(30))
    assert "... and 10 more levels" in str(many)


def test_parts_are_pooled():
    actual, probabilities, weights = made(3, 60, 3, weighted=True)
    whole = md.metrics(actual, probabilities, levels=range(3), weights=weights)
    parts = [
        md.metrics(actual[part], probabilities[part], levels=range(3), weights=weights[part])
        for part in (slice(0, 25), slice(25, 60))
    ]
    assert Metrics.pooled(parts).summary() == whole.summary()


@pytest.mark.parametrize(
    ("actual", "probabilities", "options", "error", "told"),
    [
        (["a", "b"], [[0.5, 0.5]], {}, ParameterError, "as many rows as actual"),
        (["a", "b"], [[0.5, 0.3, 0.2]] * 2, {}, ParameterError, "one column for each of 2 levels"),
        (["a", "b"], [[0.5, 0.6]] * 2, {}, ParameterError, "add up to 1"),
        (["a", "b"], [[1.5, -0.5]] * 2, {}, ParameterError, "between 0 and 1"),
        (["a", "b"], [[0.5, np.nan]] * 2, {}, ParameterError, "NaN throughout"),
        (["a", "c"], [[0.5, 0.5]] * 2, {"levels": ["a", "b"]}, DataError, "'c', but the levels are"),
        (["a", "b"], [[0.5, 0.5]] * 2, {"weights": [1]}, ParameterError, "weights must be 2 numbers"),
        (["a", "b"], [[0.5, 0.5]] * 2, {"weights": [1, -1]}, ParameterError, "at least 0"),
        (["a", "b"], np.zeros((2, 2, 2)), {}, ParameterError, "got shape"),
    ],
)
def test_nonsense_is_refused(actual, probabilities, options, error, told):
    with pytest.raises(error, match=told):
        md.metrics(actual, probabilities, **options)


def test_unknown_levels_of_curves_are_refused():
    found = md.metrics(["a", "b"], [[0.5, 0.5]] * 2)
    with pytest.raises(DataError, match="'c', but the levels are"):
        found.roc("c")
    with pytest.raises(ParameterError, match="bins must be"):
        found.calibration(bins=0)


@pytest.mark.parametrize("options", [{}, {"alpha": 7.5}, {"method": "mle"}])
def test_rows_that_the_network_was_estimated_from_are_told(tmp_path, options):
    asia = md.network("asia")
    train, test = (asia.sample(400, seed=seed) for seed in (1, 2))
    network = md.fit(md.learn(train, search="hc").dag, train, **options)
    md.write_network(network, tmp_path / "n.bif")
    for known in (network, md.read_network(tmp_path / "n.bif")):
        with pytest.warns(MapdagWarning, match="estimated from these very rows"):
            md.evaluate(known, train.to_pandas().sample(frac=1, random_state=1), "dysp")
        md.evaluate(known, test, "dysp")
