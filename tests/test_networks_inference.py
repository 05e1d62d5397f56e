"""All marginals, explanations, probabilities of evidence, draws and expected counts agree with enumeration."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
import naive_networks
from mapdag.errors import CapacityError, GraphError, NetworkError, ParameterError
from mapdag.networks import BayesianNetwork, expectation
from mapdag.networks.expectation import expected_counts
from mapdag.networks.factors import Families
from mapdag.reference import catalogue, network
from naive_networks import networks


@st.composite
def questions(draw):
    """A network, and evidence on some of its nodes, possible or not."""
    net = draw(networks())
    _, cards = naive_networks.plain(net)
    evidence = {node: draw(st.integers(0, cards[node] - 1)) for node in net.nodes if draw(st.booleans())}
    return net, evidence


def labels(net, evidence):
    return {node: net.levels[node][code] for node, code in evidence.items()}


@given(questions())
@settings(max_examples=150)
def test_marginals_are_those_of_enumeration(question):
    net, evidence = question
    tables, cards = naive_networks.plain(net)
    if naive_networks.query(tables, cards, [net.nodes[0]], evidence) is None:
        with pytest.raises(NetworkError, match="probability zero"):
            net.marginals(labels(net, evidence))
        return
    found = net.marginals(labels(net, evidence))
    assert tuple(found) == net.nodes
    for node in net.nodes:
        expected = naive_networks.query(tables, cards, [node], evidence)
        assert found[node].values.tolist() == pytest.approx([expected[(k,)] for k in range(cards[node])], abs=1e-13)


@given(questions())
@settings(max_examples=150)
def test_the_probability_of_evidence_is_that_of_enumeration(question):
    net, evidence = question
    tables, cards = naive_networks.plain(net)
    total = sum(p for _, p in naive_networks.rows_with(tables, cards, evidence))
    expected = math.log(total) if total > 0 else -math.inf
    assert net.log_probability(labels(net, evidence)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(questions())
@settings(max_examples=150)
def test_no_explanation_is_more_probable(question):
    net, evidence = question
    tables, cards = naive_networks.plain(net)
    every = list(naive_networks.rows_with(tables, cards, evidence))
    best, total = max(p for _, p in every), sum(p for _, p in every)
    if best <= 0:
        with pytest.raises(NetworkError, match="probability zero"):
            net.most_probable(labels(net, evidence))
        return
    found = net.most_probable(labels(net, evidence))
    assert tuple(found.levels) == net.nodes
    codes = {node: net.levels[node].index(level) for node, level in found.levels.items()}
    assert naive_networks.joint(tables, codes) == pytest.approx(best, rel=1e-12)
    assert {node: codes[node] for node in evidence} == evidence
    assert found.log_joint == pytest.approx(math.log(best), rel=1e-12, abs=1e-12)
    assert found.probability == pytest.approx(best / total, rel=1e-12)


def test_of_equally_probable_explanations_the_one_with_first_levels_is_found():
    dag = md.DAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
    even = {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.5, 0.5]], "c": [[0.5, 0.5], [0.5, 0.5]]}
    assert set(BayesianNetwork(dag, dict.fromkeys("abc", 2), even).most_probable().levels.values()) == {"0"}
    # Rounding must not decide: products of the same numbers in another order.
    third = np.full(3, 1 / 3)
    net = BayesianNetwork(dag, dict.fromkeys("abc", 3), {"a": third, "b": np.tile(third, (3, 1)), "c": np.eye(3)})
    assert set(net.most_probable().levels.values()) == {"0"}
    again = [net.most_probable({"c": "2"}) for _ in range(3)]
    assert again[0] == again[1] == again[2]
    assert again[0].levels == {"a": "0", "b": "2", "c": "2"}


@given(net=networks(), seed=st.integers(0, 100), together=st.booleans(), weighted=st.booleans())
@settings(max_examples=80)
def test_expected_counts_are_sums_of_posteriors(net, seed, together, weighted):
    tables, cards = naive_networks.plain(net)
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, list(cards.values()), (7, len(cards))).T
    known = rng.random(codes.shape) < 0.6
    weights = rng.random(7) + 0.5 if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expectation, "CALL", 10**9 if together else 0)
        patch.setattr(expectation, "_BLOCK", 64)
        counts, log = expected_counts(Families(net), codes, known, weights)
    expected = {node: np.zeros(net.cpts[node].shape) for node in net.nodes}
    for t in range(7):
        evidence = {node: int(codes[i, t]) for i, node in enumerate(net.nodes) if known[i, t]}
        cells, total = naive_networks.family_cells(tables, cards, evidence)
        assert log[t] == pytest.approx(math.log(total) if total else -math.inf, rel=1e-10, abs=1e-10)
        for node in net.nodes if total else ():
            for cell, p in cells[node].items():
                expected[node][cell] += p / total * (1 if weights is None else weights[t])
    for i, node in enumerate(net.nodes):
        np.testing.assert_allclose(counts[i], expected[node], atol=1e-12)


def test_complete_rows_are_counted_as_they_are():
    net = network("child")
    data = net.sample(500, seed=2)
    counts, log = expected_counts(Families(net), data.codes, np.ones(data.codes.shape, dtype=bool))
    assert log == pytest.approx(net.log_likelihood(data, by_row=True), rel=1e-12)
    fitted = md.fit(net.dag, data, method="mle", unobserved="uniform")
    for node, table in zip(net.nodes, counts, strict=True):
        assert table.sum() == pytest.approx(500)
        seen = table.sum(axis=-1) > 0
        assert (table[seen] / table[seen].sum(axis=-1, keepdims=True)) == pytest.approx(fitted.cpts[node][seen])


def test_a_thousand_unlikely_findings_do_not_underflow():
    names = ["cause", *(f"sign{i}" for i in range(1000))]
    dag = md.DAG(names, [("cause", name) for name in names[1:]])
    table = np.array([[1 - 1e-3, 1e-3], [1 - 2e-3, 2e-3]])
    net = BayesianNetwork(dag, dict.fromkeys(names, 2), {"cause": [0.5, 0.5], **dict.fromkeys(names[1:], table)})
    evidence = dict.fromkeys(names[1:701], "1")
    one, two = 700 * math.log(1e-3) + math.log(0.5), 700 * math.log(2e-3) + math.log(0.5)
    expected = two + math.log1p(math.exp(one - two))
    assert net.log_probability(evidence) == pytest.approx(expected, rel=1e-12)
    assert net.marginals(evidence)["cause"].values[0] == pytest.approx(0.5**700, rel=1e-9)
    assert net.marginals(evidence)["sign999"].values[1] == pytest.approx(2e-3)
    found = net.most_probable(evidence)
    assert found.levels["cause"] == "1"
    assert found.log_joint == pytest.approx(two + 300 * math.log(1 - 2e-3), rel=1e-12)


@pytest.mark.parametrize("entry", [e for e in catalogue() if e.nodes < 100 and e.parameters < 20_000], ids=str)
def test_marginals_and_queries_agree(entry):
    net = network(entry.name)
    row = net.sample(1, seed=7).row(0)
    evidence = {node: row[node] for node in net.nodes[::4]}
    found = net.marginals(evidence)
    for node in net.nodes:
        if node in evidence:
            assert found[node].probability({node: evidence[node]}) == 1
        else:
            assert found[node].values == pytest.approx(net.query(node, evidence).values, rel=1e-9, abs=1e-14)
    best = net.most_probable(evidence)
    whole = {node: [level] for node, level in best.levels.items()}
    assert best.log_joint == pytest.approx(net.log_likelihood(whole), rel=1e-10)
    assert best.log_joint >= net.log_likelihood({node: [row[node]] for node in net.nodes}) - 1e-9
    assert best.log_evidence == pytest.approx(net.log_probability(evidence))


@pytest.mark.parametrize("name", ["alarm", "hailfinder", "insurance", "win95pts"])
def test_marginals_are_those_of_pyagrum(name, tmp_path):
    gum = pytest.importorskip("pyagrum")
    net = network(name)
    net.write(tmp_path / "net.bif")
    other = gum.loadBN(str(tmp_path / "net.bif"))
    row = net.sample(1, seed=3).row(0)
    evidence = {node: row[node] for node in net.nodes[::5]}
    engine = gum.LazyPropagation(other)
    engine.setEvidence(evidence)
    engine.makeInference()
    found = net.marginals(evidence)
    for node in net.nodes:
        expected = dict(zip(other.variable(node).labels(), engine.posterior(node).toarray(), strict=True))
        assert found[node].to_dict() == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert math.exp(net.log_probability(evidence)) == pytest.approx(engine.evidenceProbability(), rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_marginals_are_those_of_pgmpy(tmp_path):
    pytest.importorskip("pgmpy")
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    net = network("alarm")
    net.write(tmp_path / "net.bif")
    engine = VariableElimination(BIFReader(str(tmp_path / "net.bif")).get_model())
    row = net.sample(1, seed=3).row(0)
    evidence = {node: row[node] for node in net.nodes[::5]}
    found = net.marginals(evidence)
    for node in [node for node in net.nodes if node not in evidence][::6]:
        answer = engine.query([node], evidence, show_progress=False)
        expected = dict(zip(answer.state_names[node], answer.values, strict=True))
        assert found[node].to_dict() == pytest.approx(expected, rel=1e-6, abs=1e-9)


# Draws given evidence -----------------------------------------------------------------------------------------------


def test_draws_given_evidence_have_its_distribution():
    net = network("asia")
    evidence = {"xray": "yes", "dysp": "yes"}
    data = net.sample(100_000, seed=5, evidence=evidence)
    expected = net.marginals(evidence)
    for node in net.nodes:
        p = expected[node].values
        assert np.all(np.abs(data.observed(node) / 100_000 - p) <= 4.5 * np.sqrt(p * (1 - p) / 100_000) + 1e-12)
    joint = net.query(["lung", "smoke", "bronc"], evidence).values
    cells = np.zeros(joint.shape)
    np.add.at(cells, tuple(data.column(node) for node in ("lung", "smoke", "bronc")), 1e-5)
    assert np.abs(cells - joint).max() < 0.008


@given(net=networks(), seed=st.integers(0, 5))
@settings(max_examples=50)
def test_draws_given_evidence_are_possible_and_fewer_are_the_first_of_more(net, seed):
    row = net.sample(1, seed=seed).row(0)
    evidence = {node: row[node] for node in net.nodes[::2]}
    data = net.sample(9, seed=seed, evidence=evidence)
    assert np.isfinite(net.log_likelihood(data, by_row=True)).all()
    assert all(data.row(i)[node] == level for i in range(9) for node, level in evidence.items())
    assert net.sample(4, seed=seed, evidence=evidence) == data.take(range(4))


def test_impossible_evidence_cannot_be_drawn_from():
    with pytest.raises(NetworkError, match="probability zero"):
        network("asia").sample(3, seed=1, evidence={"tub": "yes", "either": "no"})
    assert network("asia").sample(0, seed=1, evidence={"tub": "yes"}).n_rows == 0


# Large networks and wrong questions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["andes", "pigs", "pathfinder", "diabetes", "munin3"])
def test_large_networks_are_no_trouble(name):
    net = network(name)
    row = net.sample(1, seed=1).row(0)
    evidence = {node: row[node] for node in net.dag.leaves}
    found = net.marginals(evidence)
    some = next(node for node in net.nodes if node not in evidence)
    assert found[some].values == pytest.approx(net.query(some, evidence).values, rel=1e-8, abs=1e-12)


def test_networks_that_are_too_dense_are_refused_at_once():
    net = network("munin1")
    for ask in (net.marginals, net.most_probable):
        with pytest.raises(
            CapacityError, match=r"would need tables of 208,718,024 entries \(1\.6 GiB\), more than max"
        ):
            ask()
    with pytest.raises(CapacityError, match="more than max_entries=10"):
        network("alarm").log_probability({"HISTORY": "TRUE", "CVP": "LOW", "BP": "LOW"}, max_entries=10)


def test_undefined_probabilities_are_refused_where_they_matter():
    data = md.Dataset.from_codes([[0, 0, 1], [0, 1, 0]], names=["a", "b", "c"], levels=[2, 2, 2])
    dag = md.DAG(["a", "b", "c"], [("a", "b"), ("b", "c")])
    net = md.fit(dag, data, method="mle", unobserved="nan")
    assert net.log_probability({"a": "0"}) == 0
    for ask in (net.marginals, net.most_probable, lambda: net.log_probability({"b": "0"})):
        with pytest.raises(NetworkError, match=r"needs all probabilities, but 1 configurations of 'b' are undefined"):
            ask()


def test_wrong_evidence_is_named():
    net = network("asia")
    for ask in (net.marginals, net.most_probable, net.log_probability):
        with pytest.raises(GraphError, match="did you mean 'lung'"):
            ask({"lnug": "yes"})
        with pytest.raises(ParameterError, match="'lung' has no level 'maybe'"):
            ask({"lung": "maybe"})


def test_answers_are_values():
    net = network("asia")
    found = pickle.loads(pickle.dumps(net.marginals({"xray": "yes"})))
    assert found == net.marginals({"xray": "yes"})
    assert repr(found) == "Marginals(8 nodes, xray=yes)"
    assert list(found.to_dict()["lung"]) == ["yes", "no"]
    best = net.most_probable({"xray": "yes"})
    assert pickle.loads(pickle.dumps(best)) == best
    assert str(best).splitlines()[0].split() == ["node", "level"]
    assert str(best).splitlines()[-1].startswith("probability 0.")
    assert float(found.to_pandas()["probability"]["xray", "yes"]) == 1
    assert found.to_polars().shape == (16, 3)
    assert "most probable" in found._repr_html_()
    assert best.to_polars()["level"].to_list() == list(best.levels.values())
    with pytest.raises(KeyError):
        found["lnug"]


def test_nodes_with_a_single_level_are_certain():
    dag = md.DAG(["one", "x", "ünë"], [("one", "x"), ("x", "ünë")])
    net = BayesianNetwork(
        dag, {"one": ["1"], "x": ["a", "b"], "ünë": ["only"]}, {"one": [1], "x": [[0.25, 0.75]], "ünë": [[1], [1]]}
    )
    assert net.marginals().to_dict() == {"one": {"1": 1.0}, "x": {"a": 0.25, "b": 0.75}, "ünë": {"only": 1.0}}
    assert net.marginals({"ünë": "only"})["x"].values.tolist() == [0.25, 0.75]
    assert net.most_probable().levels == {"one": "1", "x": "b", "ünë": "only"}
    assert net.log_probability({"one": "1", "ünë": "only"}) == pytest.approx(0, abs=1e-15)
    assert net.log_probability({}) == 0


def test_what_is_computed_for_all_nodes_fits_where_single_tables_do():
    # A chain of cliques: no table is large, and neither are all together.
    names = [f"n{i:03d}" for i in range(300)]
    arcs = [(a, b) for i, b in enumerate(names) for a in names[max(0, i - 3) : i]]
    dag = md.DAG(names, arcs)
    rng = np.random.default_rng(1)
    cpts = {node: rng.dirichlet(np.ones(3), size=[3] * len(dag.parents(node))) for node in names}
    net = BayesianNetwork(dag, dict.fromkeys(names, 3), cpts)
    found = net.marginals({"n000": "1", "n299": "2"})
    for node in ("n001", "n150", "n298"):
        assert found[node].values == pytest.approx(net.query(node, {"n000": "1", "n299": "2"}).values, rel=1e-9)
    pairs = itertools.pairwise(found[node].values.sum() for node in names)
    assert all(a == pytest.approx(b) for a, b in pairs)
