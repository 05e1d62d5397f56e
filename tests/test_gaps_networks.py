"""What networks say of rows with gaps: EM, the log-likelihood of what is known, against enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive_networks as naive

import mapdag as md
from mapdag.errors import DataError, ParameterError
from mapdag.networks import completion
from mapdag.networks.expectation import expected_counts
from mapdag.networks.factors import Families
from mapdag.networks.gaps import codes_with_gaps, expect, fill


def with_holes(data, share, seed, weights=None):
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(data.codes.shape) < share, -1, data.codes.astype(int))
    return md.Dataset.from_codes(codes.T, names=data.names, levels=dict(data.levels), weights=weights, gap=-1)


def completions(net, row):
    """All ways to fill a row of codes, None where missing, with their probabilities."""
    tables, cards = naive.plain(net)
    options = [range(cards[node]) if row[node] is None else [row[node]] for node in net.nodes]
    for levels in itertools.product(*options):
        filled = dict(zip(net.nodes, levels, strict=True))
        yield filled, naive.joint(tables, filled)


def rows_with_gaps(net, data):
    codes = codes_with_gaps(net, data)
    cards = [len(net.levels[node]) for node in net.nodes]
    return [
        {node: None if code == card else int(code) for node, code, card in zip(net.nodes, row, cards, strict=True)}
        for row in codes.T
    ]


CASES = {"net": naive.networks(), "seed": st.integers(0, 99), "share": st.sampled_from([0.1, 0.4, 0.9])}


@given(**CASES)
@settings(max_examples=60, deadline=None)
def test_what_is_known_is_as_probable_as_all_that_it_leaves_open(net, seed, share):
    data = with_holes(net.sample(7, seed), share, seed)
    expected = [math.fsum(p for _, p in completions(net, row)) for row in rows_with_gaps(net, data)]
    found = net.log_likelihood(data, by_row=True)
    assert np.exp(found) == pytest.approx(expected, rel=1e-9)
    assert net.log_likelihood(data) == pytest.approx(sum(map(math.log, expected)), rel=1e-9, abs=1e-9)


@given(**CASES)
@settings(max_examples=60, deadline=None)
def test_expected_counts_are_sums_over_all_completions(net, seed, share):
    data = with_holes(net.sample(6, seed), share, seed)
    weights = np.random.default_rng(seed).integers(1, 4, 6) / 2
    counts, _ = expect(net, codes_with_gaps(net, data), weights)
    expected = [np.zeros(net.cpts[node].shape) for node in net.nodes]
    for row, weight in zip(rows_with_gaps(net, data), weights, strict=True):
        whole = math.fsum(p for _, p in completions(net, row))
        for filled, p in completions(net, row):
            for table, node in zip(expected, net.nodes, strict=True):
                table[tuple(filled[name] for name in (*net.parents(node), node))] += weight * p / whole
    for found, table in zip(counts, expected, strict=True):
        assert found == pytest.approx(table, rel=1e-9, abs=1e-12)


@given(**CASES)
@settings(max_examples=60, deadline=None)
def test_the_most_probable_completion_is_the_best_of_all(net, seed, share):
    data = with_holes(net.sample(6, seed), share, seed)
    tables, _ = naive.plain(net)
    for row, codes in zip(rows_with_gaps(net, data), fill(net, codes_with_gaps(net, data))[0].T, strict=True):
        filled = dict(zip(net.nodes, codes.tolist(), strict=True))
        assert all(row[node] is None or row[node] == filled[node] for node in net.nodes)
        best = max(p for _, p in completions(net, row))
        assert naive.joint(tables, filled) == pytest.approx(best, rel=1e-9)


def raw_logs(net, codes):
    """What the kernel says of rows, NaN where it leaves them to others."""
    n_rows, tables = codes.shape[1], completion.flatten(net)
    rows, out = np.ascontiguousarray(codes.T), np.empty((n_rows, 0, len(codes)), codes.dtype)
    return completion.visit(completion.LOG, rows, np.ones(n_rows), 0, 0, tables, np.zeros(0), out)


def chain(n):
    """A network in which each node depends on the one before."""
    nodes = [f"v{i}" for i in range(n)]
    dag = md.DAG(nodes, list(itertools.pairwise(nodes)))
    rows = np.cumsum(np.random.default_rng(n).random((40, n)) < 0.3, axis=1) % 3
    return md.fit(dag, md.Dataset.from_codes(rows, names=nodes, levels=[3] * n))


@pytest.mark.parametrize(("name", "share"), [("alarm", 0.9), ("insurance", 0.5), ("chain", 0.97)])
def test_large_components_are_eliminated_and_say_the_same(name, share):
    net = chain(90) if name == "chain" else md.network(name)
    data = with_holes(net.sample(60, seed=1), share, seed=1)
    codes = codes_with_gaps(net, data)
    assert np.isnan(raw_logs(net, codes)).any() == (name == "chain")  # it has more nodes than a word has bits
    counts, log = expected_counts(Families(net), codes, data.known)
    found = expect(net, codes)
    assert found.log == pytest.approx(log, rel=1e-9)
    for mine, other in zip(found.counts, counts, strict=True):
        assert mine == pytest.approx(other, rel=1e-9, abs=1e-9)
        assert mine.sum() == pytest.approx(60)  # each row counts once in each family
    best, drawn = fill(net, codes), fill(net, codes, draws=2, seed=1)
    for rows in (*best, *drawn):
        assert np.array_equal(rows[data.known], codes[data.known])
        assert (rows < data.cards[:, None]).all()
    for i in (0, 1):
        known = {name: label for name, label in data.row(i).items() if label is not None}
        levels = net.most_probable(known).levels
        whole = md.Dataset(net.nodes, dict(net.levels), best[0][:, i : i + 1])
        asked = md.read({name: [levels[name]] for name in net.nodes}, like=net)
        assert net.log_likelihood(whole) == pytest.approx(net.log_likelihood(asked), rel=1e-9)


@pytest.mark.parametrize("spread", [True, False])
def test_draws_of_large_components_have_the_frequencies_of_the_distribution(spread):
    net = md.network("insurance")
    row = net.sample(1, seed=3).codes[:, 0].astype(int)
    known = [net.nodes.index(node) for node in ("GoodStudent", "DrivHist", "ThisCarCost", "Cushioning")]
    codes = np.array([[len(net.levels[node])] for node in net.nodes], dtype=np.uint8)
    codes[known, 0] = row[known]
    drawn = fill(net, codes, draws=4096, spread=spread, seed=5)[:, :, 0]
    evidence = {net.nodes[i]: net.levels[net.nodes[i]][row[i]] for i in known}
    for pair in (("Age", "SocioEcon"), ("Accident", "OtherCar"), ("MakeModel", "VehicleYear")):
        expected = net.query(pair, evidence).values
        found = np.zeros(expected.shape)
        np.add.at(found, tuple(drawn[:, net.nodes.index(node)] for node in pair), 1 / len(drawn))
        assert found == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("spread", [True, False])
def test_draws_have_the_frequencies_of_the_distribution_given_what_is_known(spread):
    net = md.network("asia")
    codes = np.array([[len(net.levels[node])] for node in net.nodes], dtype=np.uint8)
    codes[net.nodes.index("xray")], codes[net.nodes.index("smoke")] = 0, 1
    drawn = fill(net, codes, draws=4096, spread=spread, seed=5)[:, :, 0]
    known = {"xray": net.levels["xray"][0], "smoke": net.levels["smoke"][1]}
    for pair in (("lung", "tub"), ("bronc", "dysp")):
        expected = net.query(pair, known).values
        places = [net.nodes.index(node) for node in pair]
        found = np.zeros(expected.shape)
        np.add.at(found, tuple(drawn[:, place] for place in places), 1 / len(drawn))
        assert found == pytest.approx(expected, abs=0.002 if spread else 0.03)


def test_neither_threads_nor_pieces_change_anything():
    net = md.network("asia")
    codes = codes_with_gaps(net, with_holes(net.sample(5000, seed=1), 0.3, seed=1))
    one, two = (expect(net, codes, threads=threads) for threads in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one.counts, two.counts, strict=True))
    assert np.array_equal(*(fill(net, codes, draws=2, seed=3, threads=threads) for threads in (1, 2)))


# EM -------------------------------------------------------------------------------------------------------------------


def check_em(net, seed, share, method, rows=12):
    data = with_holes(net.sample(rows, seed), share, seed)
    found = md.fit_em(net.dag, data, method=method, max_iter=12, tolerance=1e-12)
    gained = np.diff(found.trace)
    assert (gained >= -1e-9 * np.abs(found.trace[1:])).all()
    expected = [math.fsum(p for _, p in completions(found.network, row)) for row in rows_with_gaps(net, data)]
    assert found.log_likelihood == pytest.approx(sum(map(math.log, expected)), rel=1e-9, abs=1e-9)


@given(**CASES, method=st.sampled_from(["bayes", "mle"]))
@settings(max_examples=60, deadline=None)
def test_em_never_falls_and_tells_the_likelihood(net, seed, share, method):
    check_em(net, seed, share, method)


@pytest.mark.slow
@given(**CASES, method=st.sampled_from(["bayes", "mle"]))
@settings(max_examples=1000, deadline=None)
def test_em_never_falls_in_a_thousand_cases(net, seed, share, method):
    check_em(net, seed, share, method)


@pytest.mark.parametrize("method", ["bayes", "mle"])
def test_without_gaps_em_is_fit(method):
    net = md.network("asia")
    data = net.sample(500, seed=1)
    found = md.fit_em(net.dag, data, method=method)
    assert found.converged
    plain = md.fit(net.dag, data, method=method)
    assert all(found.network.cpt(node) == pytest.approx(plain.cpt(node), rel=1e-12) for node in net.nodes)
    assert found.log_likelihood == pytest.approx(plain.log_likelihood(data), rel=1e-12)


def test_em_converges_to_what_brute_force_finds():
    # Y is missing in some rows; the likelihood of one unknown, P(Y=1 | X=0), has a maximum that can be looked up.
    rows = [[0, 0]] * 3 + [[0, 1]] * 5 + [[0, -1]] * 4 + [[1, 1]] * 2
    data = md.Dataset.from_codes(rows, names=["X", "Y"], levels=[2, 2], gap=-1)
    found = md.fit_em(md.DAG(["X", "Y"], [("X", "Y")]), data, method="mle", tolerance=1e-13)
    assert found.network.cpt("Y")[0] == pytest.approx([3 / 8, 5 / 8], abs=1e-6)
    reverse = md.fit_em(md.DAG(["X", "Y"], [("Y", "X")]), data, method="mle", tolerance=1e-13)
    assert reverse.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-6)  # the same model


def test_fit_takes_gaps_as_naturally_as_complete_rows():
    net = md.network("asia")
    full = net.sample(5000, seed=1)
    data = with_holes(full, 0.2, seed=2)
    fitted = md.fit(net.dag, data)
    assert fitted == md.fit_em(net.dag, data).network
    assert fitted.log_likelihood(full) > md.fit(net.dag, data.complete_rows()).log_likelihood(full)
    from_table = md.fit(net.dag, data.to_pandas(), missing="keep", levels=dict(net.levels))
    assert from_table.dag == net.dag


@pytest.mark.parametrize("options", [{"method": "bds"}, {"method": "mle", "unobserved": "nan"}])
def test_fit_says_what_is_for_complete_rows_only(options):
    data = md.Dataset.from_codes([[0, -1], [1, 0], [0, 1]], names=["a", "b"], gap=-1)
    with pytest.raises(ParameterError, match=r"complete rows.*data have gaps"):
        md.fit(md.DAG(["a", "b"]), data, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bds"}, "method must be"),
        ({"max_iter": 0}, "max_iter"),
        ({"tolerance": 0}, "tolerance"),
        ({"alpha": -1}, "alpha"),
        ({"start": md.network("asia")}, "start must have the graph"),
    ],
)
def test_em_names_what_is_wrong_with_its_options(options, message):
    data = md.Dataset.from_codes([[0, -1], [1, 0], [0, 1]], names=["a", "b"], gap=-1)
    with pytest.raises(ParameterError, match=message):
        md.fit_em(md.DAG(["a", "b"]), data, **options)


def test_a_table_without_keep_is_refused_as_ever():
    with pytest.raises(DataError, match="missing values"):
        md.fit_em(md.DAG(["a", "b"]), {"a": ["x", None, "y"], "b": ["u", "v", "u"]})


def test_predictions_take_datasets_with_gaps():
    net = md.network("asia")
    data = with_holes(net.sample(50, seed=1), 0.3, seed=1)
    frame = data.to_pandas()
    assert net.predict_proba(data, "lung") == pytest.approx(net.predict_proba(frame, "lung"))
