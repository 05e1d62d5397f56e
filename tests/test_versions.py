"""What must work with all versions of the dependencies; `versions.py` runs it with the lowest and the newest."""

import json
import urllib.request
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mapdag as md

EXAMPLE = Path(__file__).parent.parent / "examples" / "alarm.csv.gz"
DATA = md.network("sachs").sample(400, seed=1)


@pytest.fixture(scope="module")
def result():
    return md.learn(DATA)


def test_every_public_name_can_be_loaded():
    assert all(getattr(md, name) is not None for name in md.__all__)


@pytest.mark.parametrize("command", [[], ["check"], ["learn"], ["predict"], ["study", "run"]])
def test_commands_explain_themselves(run, command):
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert "Options" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["learn", "nosuch.csv"], "mapdag: nosuch.csv: no such file"),
        (["learn", EXAMPLE, "--score", "BDx"], "BDx"),
        (["learn"], "Missing argument"),
        (["learn", "--nosuch"], "No such option"),
        (["lern"], "No such command"),
    ],
)
def test_mistakes_are_explained(run, arguments, told):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert "internal error" not in err


def test_the_bundled_sample_gives_the_same_network(run, tmp_path):
    network, page = tmp_path / "alarm.bif", tmp_path / "alarm.html"
    options = ["--like", "alarm", "--out", network, "--report", page, "--json"]
    code, out, err = run("learn", EXAMPLE, *options)
    assert (code, err) == (0, "")
    learned = md.read_network(network).dag
    assert set(map(tuple, json.loads(out)["arcs"])) == set(learned.arcs)
    assert md.shd(learned, md.network("alarm").dag) <= 2
    assert "<svg" in page.read_text(encoding="utf-8")


def test_tables_of_every_kind_hold_the_same(tmp_path):
    frame = DATA.to_polars().cast(pl.String)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    plain = md.read(frame)
    assert md.read(tmp_path / "rows.csv") == plain
    assert md.read(tmp_path / "rows.parquet") == plain
    assert md.read({name: frame[name].to_list() for name in frame.columns}) == plain


def test_categories_of_polars_declare_levels():
    own = pl.Categorical(pl.Categories("severity, as one column has it"))
    series = pl.Series("x", ["none", "mild", "severe"], dtype=own)
    assert md.read(pl.DataFrame({"x": series.head(2), "y": ["a", "b"]})).levels["x"] == ("none", "mild", "severe")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_that_are_scanned_give_the_same_score(tmp_path, result, ending):
    path = tmp_path / f"rows.{ending}"
    getattr(DATA.to_polars(), f"write_{ending}")(path)
    scanned = md.scan(path, levels=dict(DATA.levels), cache=tmp_path / "cache")
    assert md.learn(scanned, search="hc").score == md.learn(DATA, search="hc").score


def test_numbers_are_cut():
    rng = np.random.default_rng(1)
    table = {"x": rng.normal(size=100), "y": rng.choice(["a", "b"], size=100)}
    assert md.read(table, discretize="quantile(3)").cards.tolist() == [3, 2]


def test_threads_bring_what_one_thread_brings():
    one, two = (md.bootstrap(DATA, R=4, seed=1, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.strength, two.strength)


def test_a_network_is_fitted_asked_and_drawn_from(result):
    network = result.fit()
    assert network.query("Akt", evidence={"PKA": "LOW"}).values.sum() == pytest.approx(1)
    assert len(network.predict(DATA, "Akt")) == DATA.n_rows
    assert network.sample(100, seed=1).n_rows == 100


def test_rows_with_gaps_are_learned_from():
    table = {name: [DATA.levels[name][code] for code in DATA.column(name)] for name in DATA.names}
    table["Akt"][2] = table["PKA"][5] = None
    assert md.learn(md.read(table, missing="keep"), "MU(c=1)+PNAL", search="hc").dag.n_arcs > 0


def test_a_bar_is_drawn():
    with redirect_stderr(StringIO()) as drawn:
        md.learn(DATA, search="hc", progress=True)
    assert drawn.getvalue()


# Extras ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_graphs_are_drawn(tmp_path, result, ending):
    pytest.importorskip("matplotlib")
    result.dag.plot(tmp_path / f"graph.{ending}")
    assert (tmp_path / f"graph.{ending}").stat().st_size > 1_000


def test_graphs_are_proved(result):
    pytest.importorskip("highspy")
    child = md.network("child").sample(200, seed=1)
    assert md.learn(child, search="certified", max_parents=2).certificate.proved


def test_estimators_fit_and_predict():
    pytest.importorskip("sklearn")
    from mapdag.sklearn import BayesianNetworkClassifier

    frame = DATA.to_polars()
    features, target = frame.drop("Akt"), frame["Akt"].to_list()
    assert len(BayesianNetworkClassifier().fit(features, target).predict(features)) == DATA.n_rows


def test_the_explorer_answers():
    pytest.importorskip("uvicorn")
    from mapdag.explorer.doors import Explorer
    from mapdag.explorer.server import Server

    server = Server(Explorer())
    server.start()
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(server.url, timeout=60) as answer:
            assert b"<title>" in answer.read()
    finally:
        server.stop()


def test_tables_of_dask_give_the_same_score():
    distributed = pytest.importorskip("distributed")
    import dask.dataframe

    from clusters import local_cluster

    frame = dask.dataframe.from_pandas(DATA.to_pandas(), npartitions=2)
    with local_cluster() as cluster, distributed.Client(cluster):
        found = md.learn(md.read(frame), search="hc")
    assert found.score == md.learn(DATA, search="hc").score
