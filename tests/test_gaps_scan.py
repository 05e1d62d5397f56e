"""Rows with gaps that are not in memory, in files or on workers: what goes by counts is the same to the last bit."""

import numpy as np
import pytest

import mapdag as md
from mapdag.errors import DataError
from mapdag.search.em import search
from mapdag.search.orders.sample import draw
from scanning import blocks_of, same


def holes(name, n, share=0.15, seed=1):
    frame = md.network(name).sample(n, seed=seed).to_pandas()
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share)


@pytest.fixture(params=[True, False], ids=["whole", "by counts"])
def child(tmp_path, request):
    frame = holes("child", 2000)
    frame["Age"] = md.network("child").sample(2000, seed=1).to_pandas()["Age"]  # one column without gaps
    frame.to_parquet(tmp_path / "child.parquet")
    with blocks_of(300, whole=request.param):
        scanned = md.scan(tmp_path / "child.parquet", missing="keep", cache=tmp_path / "cache")
        yield scanned, md.read(tmp_path / "child.parquet", missing="keep")


def test_the_table_is_that_of_read(child):
    scanned, data = child
    assert same(scanned, data)
    assert scanned.has_gaps
    assert scanned.widths.tolist() == data.widths.tolist()
    assert scanned.gaps == data.gaps
    assert scanned.n_gaps == data.n_gaps
    assert repr(scanned).startswith(f"ScannedDataset(2,000 rows, 20 columns, 2-6 levels, {data.n_gaps:,} gaps, ")
    assert [scanned.row(i) for i in (0, 999, -1)] == [data.row(i) for i in (0, 999, -1)]
    assert all(np.array_equal(scanned.observed(name), data.observed(name)) for name in data.names)
    assert sum(part.n_gaps for part in scanned.parts()) == data.n_gaps
    assert draw(scanned, 0.3) == draw(data, 0.3)


def test_columns_without_gaps_are_a_table_without_gaps(child):
    scanned, _ = child
    assert not scanned.select(["Age"]).has_gaps
    assert scanned.select(["Age", "Sick"]).has_gaps


@pytest.mark.parametrize("goal", ["NAL", "PNAL", "MU(c=1)+PNAL(0.01)"])
def test_scores_are_the_same_to_the_last_bit(child, goal):
    scanned, data = child
    dag = md.network("child").dag
    assert md.score(dag, scanned, goal) == md.score(dag, data, goal)
    assert md.score(dag, scanned, goal).by_node == md.score(dag, data, goal).by_node


@pytest.mark.parametrize("options", [{"search": "hc"}, {"search": "tabu"}, {"effort": 0.1}])
def test_the_same_graph_is_learned(child, options):
    scanned, data = child
    found, expected = md.learn(scanned, "PNAL", **options), md.learn(data, "PNAL", **options)
    assert (found.dag, found.score, found.alike) == (expected.dag, expected.score, expected.alike)


def test_what_goes_by_counts_is_the_same(child, tmp_path):
    scanned, data = child
    dag = md.network("child").dag
    assert str(md.diagnose(dag, scanned, "PNAL")) == str(md.diagnose(dag, data, "PNAL"))
    assert str(md.check(scanned)) == str(md.check(data))
    here, there = md.fit_em(dag, data), md.fit_em(dag, scanned)
    assert here.iterations == there.iterations
    assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-12)
    for node in dag.nodes:
        assert there.network.cpt(node) == pytest.approx(here.network.cpt(node), abs=1e-12)
    assert here.network.log_likelihood(scanned) == pytest.approx(here.log_likelihood, rel=1e-12)
    for each, name in ((scanned, "a.html"), (data, "b.html")):
        md.learn(each, "PNAL", search="hc").report(tmp_path / name)
    texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("a.html", "b.html")]
    assert all("Most often missing together" in text for text in texts)


def told(found):
    return found.dag, found.score, found.observed_score, found.network, found.alike, found.steps


@pytest.mark.parametrize("impute", ["hard", "soft"])
def test_structural_em_is_that_of_rows_in_memory(child, impute):
    scanned, data = child
    names = list(data.names[2:9])
    found = md.structural_em(scanned.select(names), "BDeu(1)", impute=impute)
    assert told(found) == told(md.structural_em(data.select(names), "BDeu(1)", impute=impute))
    assert found.incomplete == scanned.select(names)
    if impute == "soft":
        assert told(md.learn(scanned.select(names), "BDeu(1)")) == told(found)


def test_what_needs_rows_says_what_to_do(child, monkeypatch):
    scanned, _ = child
    monkeypatch.setattr(search, "MOST_CELLS", 1000)
    with pytest.raises(DataError, match=r"structural EM needs all rows in memory.*sample.*PNAL"):
        md.structural_em(scanned, "BIC")
    with pytest.raises(DataError, match=r'missing="drop"'):
        scanned.complete_rows()
    with pytest.raises(DataError, match="needs all rows in memory"):
        _ = scanned.known
    with pytest.raises(DataError, match="gaps"):
        md.learn(scanned, "BIC", em=False)


def test_the_command_scans_and_keeps_gaps(tmp_path, monkeypatch, run):
    monkeypatch.setenv("MAPDAG_CACHE", str(tmp_path / "cache"))
    holes("asia", 1000).to_csv(tmp_path / "asia.csv", index=False)
    command = ("learn", tmp_path / "asia.csv", "--missing", "keep", "--score", "PNAL", "--search", "hc", "--json")
    (code, out, err), (_, expected, _) = run(*command, "--scan"), run(*command)
    assert (code, err) == (0, "")
    assert out.split('"arcs"')[1][:200] == expected.split('"arcs"')[1][:200]


def test_gaps_in_some_files_only_are_gaps_of_the_table(tmp_path):
    frame = holes("asia", 900)
    frame.iloc[:300] = md.network("asia").sample(300, seed=2).to_pandas()
    frame.loc[300:599, "tub"] = None
    for part in range(3):
        frame.iloc[300 * part : 300 * (part + 1)].to_csv(tmp_path / f"part-{part}.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    scanned, data = (
        md.scan(tmp_path / "part-*.csv", missing="keep", cache=tmp_path / "cache"),
        md.read(tmp_path / "all.csv", missing="keep"),
    )
    assert same(scanned, data)
    assert scanned.gaps == data.gaps
    assert md.learn(scanned, "PNAL").score == md.learn(data, "PNAL").score


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("dask.dataframe")
    from clusters import local_cluster

    with local_cluster() as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.usefixtures("client")
def test_workers_keep_gaps_and_count_the_same():
    import dask.dataframe as dd

    frame = holes("child", 1500)
    frame.iloc[:500, :10] = md.network("child").sample(500, seed=3).to_pandas().iloc[:, :10]  # of one partition
    data = md.read(frame, missing="keep")
    remote = md.read(dd.from_pandas(frame, npartitions=3, sort=False), missing="keep")
    assert remote.to_dataset() == data
    assert remote.gaps == data.gaps
    assert remote.widths.tolist() == data.widths.tolist()
    for way in ("hc", "orders"):
        options = {"search": way, **({"effort": 0} if way == "orders" else {})}
        found, expected = md.learn(remote, "PNAL", **options), md.learn(data, "PNAL", **options)
        assert (found.dag, found.score, found.alike) == (expected.dag, expected.score, expected.alike)
    names = list(data.names[2:9])
    found = md.structural_em(remote.select(names), "BDeu(1)", impute="hard")
    assert told(found) == told(md.structural_em(data.select(names), "BDeu(1)", impute="hard"))
    dag = md.network("child").dag
    assert str(md.diagnose(dag, remote, "PNAL")) == str(md.diagnose(dag, data, "PNAL"))
    here, there = md.fit_em(dag, data), md.fit_em(dag, remote)
    assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-12)
    some = list(data.names[3:9])
    assert md.score(md.DAG(some), remote.select(some), "PNAL") == md.score(md.DAG(some), data.select(some), "PNAL")


def test_workers_read_files_with_gaps(client, tmp_path):
    frame = holes("asia", 900)
    for part in range(3):
        frame.iloc[300 * part : 300 * (part + 1)].to_csv(tmp_path / f"part-{part}.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    remote = md.scan(tmp_path / "part-*.csv", missing="keep", engine=client)
    data = md.read(tmp_path / "all.csv", missing="keep")
    assert remote.to_dataset() == data
    assert md.learn(remote, "PNAL", search="hc").score == md.learn(data, "PNAL", search="hc").score
