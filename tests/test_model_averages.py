"""What a posterior over graphs says of rows and of effects, against its definition; and its files."""

import json
import math

import numpy as np
import pytest

import mapdag as md
from mapdag.errors import DataError, FileError, FormatError, MissingExtraError, ParameterError
from mapdag.sampling.convergence import monte_carlo_error
from mapdag.sampling.dirichlet_networks import DirichletNetworks, pseudo_count

NAMES = ["smoke", "lung", "bronc", "dysp"]


@pytest.fixture(scope="module")
def data():
    return md.network("asia").sample(80, seed=3).select(NAMES)


@pytest.fixture(scope="module")
def found(data):
    return md.posterior(data, "U+BDeu(1)", draws=60, seed=1, threads=1)


@pytest.fixture(scope="module")
def sampled(data):
    return md.posterior(data, "U+BDeu(1)", method="chains", sweeps=500, seed=1, threads=1)


def joint(found, nodes, evidence, do=None):
    """Average joint probabilities, not conditional ones."""
    total = 0.0
    for network, share in found.networks():
        changed = network.do(do) if do else network
        weight = math.exp(changed.log_probability(evidence)) if evidence else 1.0
        total = total + share * weight * changed.query(nodes, evidence).values
    return total / total.sum()


def test_answers_average_joint_probabilities(found):
    assert sum(share for _, share in found.networks()) == pytest.approx(1)
    given = {"dysp": "yes", "smoke": "no"}
    assert found.query("lung", given).values == pytest.approx(joint(found, "lung", given))
    both = found.query(["lung", "bronc"], {"dysp": "yes"}, do={"smoke": "yes"})
    assert both.values == pytest.approx(joint(found, ["lung", "bronc"], {"dysp": "yes"}, {"smoke": "yes"}))
    assert found.marginals(given)["bronc"].values == pytest.approx(joint(found, "bronc", given))
    assert found.marginals()["bronc"].values == pytest.approx(joint(found, "bronc", None))


def test_rows_are_predicted_as_queries_answer(found, data):
    rows = {"smoke": ["yes", None], "dysp": ["no", "yes"]}
    expected = [found.query("lung", {"smoke": "yes", "dysp": "no"}), found.query("lung", {"dysp": "yes"})]
    assert found.predict_proba(rows, "lung") == pytest.approx(np.array([each.values for each in expected]))
    whole = found.predict_proba(data, "dysp")
    assert found.predict(data, "dysp").tolist() == [data.levels["dysp"][i] for i in whole.argmax(axis=1)]
    first = {name: data.levels[name][data.column(name)[0]] for name in NAMES}
    logs = found.log_likelihood(data, by_row=True)
    chance = sum(share * math.exp(network.log_probability(first)) for network, share in found.networks())
    assert logs[0] == pytest.approx(math.log(chance))
    assert found.log_likelihood(data) == pytest.approx(logs.sum())


@pytest.mark.parametrize("likelihood", ["BDeu(2)", "BDs(2)", "K2", "BIC"])
def test_networks_have_the_pseudo_counts_of_the_score(data, likelihood):
    score = md.parse(likelihood).likelihood
    dag = md.DAG(NAMES, [("smoke", "dysp"), ("lung", "dysp")])
    network = DirichletNetworks(data, score).mean(dag)
    counts = np.zeros((2, 2, 2))
    np.add.at(counts, tuple(data.column(name) for name in ("smoke", "lung", "dysp")), 1)
    added = {"BDeu(2)": 2 / 8, "BDs(2)": 2 / (2 * counts.any(axis=2).sum()), "K2": 1.0, "BIC": 1 / 8}[likelihood]
    assert pseudo_count(score, counts, 4) == pytest.approx(added)
    expected = (counts + added) / (counts + added).sum(axis=2, keepdims=True)
    assert network.cpt("dysp") == pytest.approx(expected)


def test_effects_average_over_graphs_and_probabilities(found):
    effect = found.effect("smoke", "bronc", draws=1500, seed=2)
    assert effect.draws.sum(axis=2) == pytest.approx(np.ones((1500, 2)))
    assert effect.probability == found.path("smoke", "bronc")
    none = (effect.draws[:, 0] == effect.draws[:, 1]).all(axis=1).mean()
    assert none == pytest.approx(1 - effect.probability, abs=0.02)
    means = sum(share * network.effect("smoke", "bronc").values for network, share in found.networks())
    assert effect.mean.values == pytest.approx(means, abs=0.02)
    low, high = effect.interval(0.9)
    assert ((low < effect.mean.values) & (effect.mean.values < high)).all()
    more = effect.difference("yes", "yes", "no")
    assert more.low <= more.mean <= more.high
    assert more.mean == pytest.approx(effect.mean.values[0, 0] - effect.mean.values[1, 0])
    assert 0 <= effect.strength().low <= effect.strength().mean <= 1
    assert np.array_equal(effect.draws, found.effect("smoke", "bronc", draws=1500, seed=2).draws)
    assert "probability of an effect" in str(effect)
    with pytest.raises(ParameterError, match="mass must be between 0 and 1"):
        effect.interval(1.5)
    with pytest.raises(md.errors.GraphError, match="cannot be joined to itself"):
        found.effect("smoke", "smoke")


def test_drawn_probabilities_have_the_moments_of_the_dirichlet(data):
    tables, dag = DirichletNetworks(data, md.BDs(1e-3)), md.DAG(NAMES)
    rng = np.random.default_rng(1)
    drawn = np.array([tables.draw(dag, ["lung"], rng).cpt("lung") for _ in range(2000)])
    counts = np.bincount(data.column("lung"), minlength=2) + 0.5e-3
    mean = counts / counts.sum()
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.01)
    assert drawn.var(axis=0) == pytest.approx(mean * (1 - mean) / (counts.sum() + 1), rel=0.2)


def test_gaps_and_weights_count_in_averages(data):
    weighted = md.Dataset(data.names, data.levels, data.codes, np.full(80, 3))
    thrice = data.take(np.repeat(np.arange(80), 3))
    one = md.posterior(weighted, "U+BDeu(1)", draws=20, seed=1).query("lung", {"dysp": "yes"})
    assert one.values == pytest.approx(
        md.posterior(thrice, "U+BDeu(1)", draws=20, seed=1).query("lung", {"dysp": "yes"}).values
    )
    table = data.to_pandas().astype(object)
    table.loc[:9, "lung"] = None
    gaps = md.read(table, missing="keep")
    found = md.posterior(gaps, "U+PNAL", draws=5, seed=1)
    assert found.query("lung", {"dysp": "yes"}).values.sum() == pytest.approx(1)
    assert found.effect("smoke", "lung", draws=5).draws.shape == (5, 2, 2)


@pytest.mark.parametrize("which", ["found", "sampled"])
def test_a_saved_posterior_is_the_same(which, data, request, tmp_path):
    before = request.getfixturevalue(which)
    before.save(tmp_path / "it.posterior")
    after = md.read_posterior(tmp_path / "it.posterior")
    assert np.array_equal(before.probabilities, after.probabilities)
    assert before.graphs == after.graphs
    assert str(before) == str(after)
    assert before.best(3) == after.best(3)
    with pytest.raises(ParameterError, match=r"pass them to mapdag.read_posterior\(path, data\)"):
        after.query("lung")
    again = md.read_posterior(tmp_path / "it.posterior", data)
    assert again.query("lung") == before.query("lung")
    with pytest.raises(DataError, match="must have the columns of the posterior: smoke"):
        md.read_posterior(tmp_path / "it.posterior", data.select(NAMES[:2]))


def test_other_files_are_refused(found, tmp_path):
    path = tmp_path / "it.posterior"
    with pytest.raises(FileError, match="there is no such file"):
        md.read_posterior(path)
    path.write_text("not one")
    with pytest.raises(FormatError, match="no posterior that mapdag has saved"):
        md.read_posterior(path)
    found.save(path)
    with np.load(path) as kept:
        arrays = {name: kept[name] for name in kept.files}
    header = json.loads(arrays["header"].tobytes())
    for change, told in [({"version": 2}, "version 2 of the format is later"), ({"nodes": ["a"]}, "do not fit")]:
        new = np.frombuffer(json.dumps(header | change).encode(), dtype=np.uint8)
        with path.open("wb") as stream:
            np.savez(stream, **(arrays | {"header": new}))
        with pytest.raises(FormatError, match=told):
            md.read_posterior(path)
    custom = md.posterior(found.data, md.U() + md.BD(lambda r, q, q_obs: 1.0), draws=1)
    with pytest.raises(ParameterError, match="cannot be written as text"):
        custom.save(path)


def test_chains_that_do_not_meet_have_a_large_error():
    rng = np.random.default_rng(1)
    good = rng.normal(0.5, 0.1, (4, 30, 50))
    assert monte_carlo_error(good) == pytest.approx(np.full(50, 0.1 / math.sqrt(120)), rel=0.3)
    apart = np.zeros((4, 30, 1))
    apart[2:] = 1.0
    assert monte_carlo_error(apart) == pytest.approx([math.sqrt(1 / 3) / 2])


def test_pictures_and_arviz(found, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    assert "probability" in found.plot(of="arcs").title
    found.plot(tmp_path / "arcs.png", of="arcs")
    assert (tmp_path / "arcs.png").stat().st_size > 1000
    with pytest.raises(ParameterError, match="of must be 'graph' or 'arcs'"):
        found.plot(of="paths")
    monkeypatch.setitem(__import__("sys").modules, "arviz", None)
    with pytest.raises(MissingExtraError, match="pip install arviz"):
        found.to_arviz()


def test_classifiers_average_over_graphs():
    pytest.importorskip("sklearn")
    from mapdag.sklearn import BayesianNetworkClassifier

    table = md.network("asia").sample(300, seed=1).to_pandas()[NAMES]
    model = BayesianNetworkClassifier(averaged=True, objective="U+BDeu(1)", structure="free", alpha=2.0)
    model.fit(table.drop(columns="dysp"), table["dysp"])
    found = model.predict_proba(table.drop(columns="dysp").head(2))
    total = 0.0
    for network, share in model.posterior_.networks():
        row = {name: table[name][0] for name in NAMES[:-1]}
        joint = [math.exp(network.log_probability({**row, "dysp": level})) for level in model.classes_]
        total = total + share * np.array(joint)
        assert network == md.fit(network.dag, model.posterior_.data, alpha=2.0)
    assert found[0] == pytest.approx(total / total.sum())


def test_reports_and_diagnoses_have_probabilities(found, data, tmp_path):
    result = md.learn(data, found.objective)
    told = md.diagnose(result, posterior=found)
    assert all(arc.probability == found[arc.start, arc.end] for arc in told.arcs)
    assert "probability" in str(told.to_table())
    assert "probability" not in str(md.diagnose(result).to_table())
    with pytest.raises(ParameterError, match="posterior must be"):
        md.diagnose(result, posterior=3)
    pytest.importorskip("igraph")
    result.report(tmp_path / "page.html", posterior=found)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Posterior probability of the arc" in page
    other = md.posterior(data.select(NAMES[:2]), draws=1)
    with pytest.raises(ParameterError, match="posterior must be of the same data"):
        result.report(tmp_path / "page.html", posterior=other)


def test_larger_sets_that_were_not_looked_at_are_told(data, monkeypatch, tmp_path):
    options = {"method": "chains", "sweeps": 500, "chains": 2, "seed": 1, "threads": 1}
    assert md.posterior(data, "U+BDeu(1)", **options).cut_at is None
    assert md.posterior(data, "U+BDeu(1)", max_parents=1, **options).cut_at is None
    monkeypatch.setattr("mapdag.sampling.parent_lists._MOST_SCORED", 20)
    found = md.posterior(data, "U+BDeu(1)", **options)
    assert found.cut_at == 1
    assert "Sets of more than 1 parent were not looked at" in found.advice
    found.save(tmp_path / "it.posterior")
    assert md.read_posterior(tmp_path / "it.posterior").advice == found.advice
