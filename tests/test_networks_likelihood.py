"""Log-likelihoods and predictions agree with the definition, and with R bnlearn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
import naive_networks
from golden_data import dataset, figures
from mapdag.errors import DataError, NetworkError
from mapdag.networks import BayesianNetwork, fit, likelihood
from mapdag.reference import network
from naive_networks import networks


@pytest.mark.parametrize("name", ["asia_1000_true", "asia_1000_hc", "child_115_true"])
def test_the_log_likelihood_is_that_of_bnlearn(name):
    golden = figures("loglik_test")[name]
    train, test = dataset(golden["dataset"]), dataset(golden["test"].removesuffix(".codes.csv"))
    dag = md.DAG(train.names, map(tuple, golden["arcs"]))
    net = fit(dag, train, alpha=1)
    assert net.log_likelihood(test) == pytest.approx(golden["loglik_test_bayes_iss1"], rel=1e-10)
    assert net.log_likelihood(train) == pytest.approx(golden["loglik_train_bayes_iss1"], rel=1e-10)
    assert fit(dag, train, alpha=10).log_likelihood(test) == pytest.approx(golden["loglik_test_bayes_iss10"], rel=1e-10)
    first = net.log_likelihood(test, by_row=True)[:5]
    assert first == pytest.approx(golden["loglik_first5_samples"], rel=1e-10)
    assert net.n_parameters == golden["nparams"]
    truth = network(name.split("_")[0])
    assert truth.log_likelihood(test) == pytest.approx(golden["loglik_test_true_net"], rel=1e-10)


def test_maximum_likelihood_calls_unseen_rows_impossible():
    golden = figures("loglik_test")["asia_1000_true"]
    train, test = dataset(golden["dataset"]), dataset("asia_test10000")
    net = fit(md.DAG(train.names, map(tuple, golden["arcs"])), train, method="mle")
    assert golden["loglik_test_mle"] == "-Infinity"
    assert net.log_likelihood(test) == -math.inf


@given(net=networks(), seed=st.integers(0, 100), data=st.data())
def test_rows_have_the_product_of_their_probabilities(net, seed, data):
    tables, _ = naive_networks.plain(net)
    codes = np.random.default_rng(seed).integers(0, [len(net.levels[node]) for node in net.nodes], (12, len(net.nodes)))
    weights = data.draw(st.none() | st.lists(st.floats(0.5, 3), min_size=12, max_size=12))
    rows = md.Dataset.from_codes(codes, names=net.nodes, levels=net.levels, weights=weights)
    expected = np.array([naive_networks.log_joint(tables, row) for row in naive_networks.rows_of(rows)])
    np.testing.assert_allclose(net.log_likelihood(rows, by_row=True), expected, rtol=1e-12)
    assert net.log_likelihood(rows) == pytest.approx((expected * np.array(weights or 1)).sum(), rel=1e-12)


def test_columns_are_matched_by_name_and_levels_by_label():
    net = network("alarm")
    data = net.sample(500, seed=3)
    expected = net.log_likelihood(data, by_row=True)
    turned = data.select(data.names[::-1]).with_levels({name: data.levels[name][::-1] for name in data.names[:20]})
    more = md.Dataset(
        ("extra", *turned.names), {"extra": ("x",), **turned.levels}, np.r_[np.zeros((1, 500), int), turned.codes]
    )
    assert net.log_likelihood(more, by_row=True).tolist() == expected.tolist()
    assert net.predict(more, "HISTORY").tolist() == net.predict(data, "HISTORY").tolist()


def test_blocks_of_rows_leave_no_trace(monkeypatch):
    net = network("alarm")
    data = net.sample(1000, seed=3)
    expected = net.log_likelihood(data, by_row=True)
    monkeypatch.setattr(likelihood, "_ROWS", 7)
    assert np.array_equal(net.log_likelihood(data, by_row=True), expected)


def test_missing_columns_and_unknown_levels_are_named():
    net = network("asia")
    data = net.sample(20, seed=3)
    with pytest.raises(DataError, match="no column 'asia', which the network needs"):
        net.log_likelihood(data.select(data.names[1:]))
    with pytest.raises(DataError, match=r"no column .* and 1 more"):
        net.log_likelihood(data.select(["asia", "tub"]))
    other = data.with_levels({"smoke": ["yes", "no", "sometimes"]})
    assert net.log_likelihood(other) == net.log_likelihood(data)
    codes = other.codes.copy()
    codes[2, 4] = 2
    with pytest.raises(DataError, match=r"column 'smoke': the level 'sometimes' is not declared.*row 5"):
        net.log_likelihood(md.Dataset(other.names, other.levels, codes))


@given(net=networks(), seed=st.integers(0, 100))
def test_predictions_are_the_conditional_distributions_given_all_else(net, seed):
    tables, cards = naive_networks.plain(net)
    codes = np.random.default_rng(seed).integers(0, list(cards.values()), (6, len(cards)))
    rows = md.Dataset.from_codes(codes, names=net.nodes, levels=net.levels)
    for node in net.nodes:
        for row, got in zip(naive_networks.rows_of(rows), net.predict_proba(rows, node).tolist(), strict=True):
            expected = naive_networks.predict(tables, cards, row, node) or [math.nan] * cards[node]
            assert got == pytest.approx(expected, rel=1e-10, nan_ok=True)


def test_predictions_need_the_markov_blanket_only():
    net = network("asia")
    data = net.sample(50, seed=1)
    blanket = data.select(["tub", "lung", "xray", "dysp", "bronc"])
    assert net.predict(blanket, "either").tolist() == net.predict(data, "either").tolist()


def test_of_equally_probable_levels_the_first_is_predicted():
    dag = md.DAG(["A", "B", "C", "D"], [("A", "B"), ("A", "C"), ("A", "D")])
    # Products of the same three numbers in another order: equal, but not to the last bit.
    p = np.array([0.05, 0.06, 0.1])
    cpts = {
        "A": [1 / 3] * 3,
        **{name: np.stack([np.roll(p, i), 1 - np.roll(p, i)], -1) for i, name in enumerate("BCD")},
    }
    net = BayesianNetwork(dag, dict.fromkeys("ABCD", 2) | {"A": 3}, cpts)
    data = md.Dataset.from_codes([[0, 0, 0]], names=["B", "C", "D"], levels=[2, 2, 2])
    assert net.predict(data, "A").tolist() == ["0"]
    assert net.predict_proba(data, "A") == pytest.approx(np.full((1, 3), 1 / 3))


def test_rows_that_cannot_happen_have_no_prediction():
    net = network("asia")
    data = net.sample(20, seed=1)
    codes = data.codes.copy()
    codes[1, 3], codes[5, 3] = 0, 1  # tuberculosis, but neither tuberculosis nor cancer
    strange = md.Dataset(data.names, data.levels, codes)
    assert np.flatnonzero(np.isnan(net.predict_proba(strange, "lung")).any(axis=1)).tolist() == [3]
    with pytest.raises(NetworkError, match=r"1 of 20 rows \(row 4\) cannot happen whatever the level of 'lung'"):
        net.predict(strange, "lung")


def test_no_rows_have_no_predictions_and_log_likelihood_zero():
    net = network("asia")
    none = net.sample(0, seed=1)
    assert net.log_likelihood(none) == 0
    assert net.predict(none, "lung").shape == (0,)
