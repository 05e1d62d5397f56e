"""Tables on the workers of a cluster, in processes of their own: the same graphs and scores, whoever is killed."""

import os
import signal
import threading
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.cluster import Workers, connect
from mapdag.cluster import told as told_here
from mapdag.counts import Request
from mapdag.distributed.blocks import RemoteEngine
from mapdag.errors import ClusterError, DataError, ParameterError
from mapdag.search.orders.sample import draw

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

from clusters import local_cluster, workers_of  # noqa: E402 - which needs Dask


@pytest.fixture(scope="module")
def cluster():
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def scaled(client, n):
    client.cluster.scale(n)
    client.wait_for_workers(n)
    workers_of(client)
    return client


def sample(name, n, seed=1):
    return md.network(name).sample(n, seed=seed)


def same(one, other):
    return (one.dag, one.score, one.alike) == (other.dag, other.score, other.alike)


# What comes out -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, pytest.param(4, marks=pytest.mark.slow), 2])
def test_any_number_of_workers_gives_the_same_graph_and_score(client, workers):
    scaled(client, workers)
    data = sample("child", 2000)
    frame = dd.from_pandas(data.to_pandas(), npartitions=5)
    assert same(md.learn(frame, search="hc"), md.learn(data, search="hc"))


@pytest.mark.parametrize("search", ["orders", "tabu"])
def test_every_search_finds_the_same(client, search):
    data = sample("asia", 400)
    options = {"effort": 0} if search == "orders" else {"patience": 5}
    frame = dd.from_pandas(data.to_pandas(), npartitions=3)
    goals = ["Support(3)+MU(c=1)+BDs(1)", "BIC"]
    for one, other in zip(
        md.learn(frame, goals, search=search, **options), md.learn(data, goals, search=search, **options), strict=True
    ):
        assert same(one, other)


def test_scores_and_tables_of_a_graph_are_counted_on_the_workers(client):
    data = sample("asia", 500)
    remote = md.read(dd.from_pandas(data.to_pandas(), npartitions=3))
    dag = md.network("asia").dag
    assert md.score(dag, remote) == md.score(dag, data)
    here, there = md.fit(dag, data), md.fit(dag, remote)
    assert all(np.array_equal(here.cpts[name], there.cpts[name]) for name in data.names)


def test_the_same_rows_are_drawn_wherever_they_are(client):
    data = sample("child", 3000)
    remote = md.read(dd.from_pandas(data.to_pandas(), npartitions=3))
    assert draw(remote, 0.3) == draw(data, 0.3)


def public(name):
    datasets = pytest.importorskip("sklearn.datasets")
    table = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return table.astype({"target": str})


TABLES = {
    **{
        name: (lambda name=name: sample(name, 600).to_pandas())
        for name in ("asia", "cancer", "survey", "sachs", "child")
    },
    **{name: (lambda name=name: sample(name, 300).to_pandas()) for name in ("insurance", "alarm")},
    **{name: (lambda name=name: public(name)) for name in ("iris", "wine", "breast_cancer")},
}
QUICK = ("survey", "iris")


@pytest.mark.parametrize("search", ["hc", "orders"])
@pytest.mark.parametrize(
    "name", [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in TABLES]
)
def test_memory_files_and_workers_agree_to_the_last_bit(client, tmp_path, name, search):
    table = TABLES[name]()
    options = {"discretize": "quantile"} if name in ("iris", "wine", "breast_cancer") else {}
    table.to_parquet(tmp_path / "table.parquet")
    learning = {"search": search, **({"effort": 0} if search == "orders" else {})}
    here = md.learn(table, **learning, **options)
    files = md.learn(md.scan(tmp_path / "table.parquet", cache=tmp_path / "cache", **options), **learning)
    there = md.learn(dd.from_pandas(table, npartitions=3), **learning, **options)
    assert same(here, files)
    assert same(here, there)


def tables_of_all_types():
    rng = np.random.default_rng(0)
    n = 400
    words = np.array(["b", "a", "ü", "", "NA", "10", "9", "None"])
    return pd.DataFrame(
        {
            "text": rng.choice(words[:3], n),
            "object": pd.Series(rng.choice(np.array(["x", "y", True, 1, 1.0], dtype=object), n), dtype=object),
            "numbers as text": rng.choice(["10", "9", "2.5"], n),
            "whole": rng.integers(-3, 4, n),
            "small": rng.integers(0, 3, n).astype("uint8"),
            "float": rng.choice([0.5, 1.0, 2.0], n),
            "truth": rng.random(n) < 0.3,
            "category": pd.Categorical(rng.choice(["lo", "hi"], n), categories=["hi", "never", "lo"], ordered=True),
            "number category": pd.Categorical(rng.choice([3, 1], n), categories=[3, 2, 1]),
            "nullable": pd.array(rng.integers(0, 3, n), dtype="Int64"),
            "nullable truth": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "arrow": pd.array(rng.choice(["p", "q"], n), dtype="string[pyarrow]"),
            "day": pd.to_datetime(rng.choice(["2024-01-01", "2024-02-01"], n)),
        }
    )


def assert_read_alike(frame, whole, **options):
    there, here = md.read(frame, **options), md.read(whole, **options)
    assert there.names == here.names
    assert dict(there.levels) == dict(here.levels)
    assert dict(there.codings) == dict(here.codings)
    assert there.to_dataset() == here
    return there


@pytest.mark.parametrize("partitions", [1, 4])
def test_levels_are_those_of_the_whole_table(client, partitions):
    frame = dd.from_pandas(tables_of_all_types(), npartitions=partitions, sort=False)
    assert_read_alike(frame, frame.compute())  # Dask has its own idea of columns of objects


@pytest.mark.parametrize("missing", ["drop", "level", "keep"])
def test_missing_values_are_treated_as_in_memory(client, missing):
    table = tables_of_all_types().drop(columns="truth")
    rng = np.random.default_rng(1)
    for name in table.columns:
        table.loc[rng.random(len(table)) < 0.05, name] = None
    table["text"] = table["text"].where(rng.random(len(table)) > 0.05, "?")
    parts = [table.iloc[:7], table.iloc[7:150], table.iloc[150:]]
    frame = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])
    data = assert_read_alike(frame, table, missing=missing, drop=["object"])
    assert data.n_rows < 400 if missing == "drop" else data.n_rows == 400
    assert data.has_gaps == (missing == "keep")


def test_missing_values_are_refused_in_the_same_words(client):
    table = pd.DataFrame({"a": ["x", "z", "y"] * 30, "b": ["u", "v", "w"] * 30})
    table.loc[[50, 70], "a"] = None  # rows are told by their place in the whole table
    with pytest.raises(DataError, match="rows 51") as here:
        md.read(table)
    with pytest.raises(DataError) as there:
        md.read(dd.from_pandas(table, npartitions=2))
    assert str(there.value) == str(here.value)


def test_options_of_read_are_taken(client):
    table = pd.DataFrame({"a": [0, 1, 2] * 40, "x": np.linspace(0, 1, 120), "id": range(120), "c": ["u", "-"] * 60})
    options = {"drop": ["id"], "discretize": "quantile", "levels": {"a": ["0", "1", "2", "3"]}, "missing_values": "-"}
    assert_read_alike(dd.from_pandas(table, npartitions=3), table, **options, missing="level")
    options["missing_values"] = {"*": "?", "x": [1.0]}
    data = assert_read_alike(dd.from_pandas(table, npartitions=3), table, **options, missing="drop")
    assert data.n_rows == 119
    with pytest.raises(DataError, match="missing_values: no column 'd'"):
        md.read(dd.from_pandas(table, npartitions=3), missing_values={"d": ["-"]})


def test_files_without_rows_may_be_among_others(client, tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n")
    (tmp_path / "2.csv").write_text("a,b\nx,y\nz,w\n")
    found = md.scan(tmp_path / "*.csv", engine=client)
    assert found.to_dataset() == md.read(tmp_path / "2.csv")
    with pytest.raises(DataError, match="no rows"):
        md.scan([tmp_path / "1.csv"], engine=client)


def test_what_only_all_rows_tell_is_told(client):
    table = pd.DataFrame({"row": range(200), "a": ["u", "v"] * 100})
    with pytest.raises(DataError, match="numbers the 200 rows"):
        md.read(dd.from_pandas(table, npartitions=3))


def frame_of(parts):
    """Make a Dask DataFrame of frames that need not be alike."""
    import dask

    return dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0], verify_meta=False)


def test_empty_partitions_are_allowed(client):
    table = pd.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v", "u", "w"] * 25})
    nothing = table.iloc[:0]
    data = assert_read_alike(frame_of([nothing, table.iloc[:30], nothing, table.iloc[30:], nothing]), table)
    assert same(md.learn(data, search="hc"), md.learn(table, search="hc"))
    with pytest.raises(DataError, match="the table has no rows"):
        md.read(frame_of([nothing, nothing]))


def test_categories_of_partitions_are_put_together(client):
    parts = [
        pd.DataFrame({"a": pd.Categorical(["y", "x"] * 9, categories=["y", "x"]), "b": ["u", "v"] * 9}),
        pd.DataFrame({"a": pd.Categorical(["z", "x"] * 9, categories=["x", "w", "z"]), "b": ["u", "v"] * 9}),
    ]
    assert md.read(frame_of(parts)).levels["a"] == ("y", "x", "w", "z")


def test_partitions_with_other_columns_are_named(client):
    parts = [pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}), pd.DataFrame({"a": ["x", "y"], "c": ["u", "v"]})]
    with pytest.raises(DataError, match=r"partition 1 of 2 lacks 'b' and has 'c' besides"):
        md.read(frame_of(parts))


def test_partitions_with_other_types_are_named(client):
    parts = [
        pd.DataFrame({"a": [1, 2] * 9, "b": ["u", "v"] * 9}),
        pd.DataFrame({"a": ["x", "y"] * 9, "b": ["u", "v"] * 9}),
    ]
    with pytest.raises(DataError, match=r"column 'a' holds int64 in partition 0 of 2, but str in partition 1 of 2"):
        md.read(frame_of(parts))


def test_partitions_with_other_levels_are_refused_where_levels_are_declared(client):
    parts = [pd.DataFrame({"a": ["x", "y"] * 9}), pd.DataFrame({"a": ["x", "z"] * 9})]
    with pytest.raises(DataError, match=r"has the value 'z' in 9 of 36 rows \(row"):
        md.read(frame_of(parts), levels={"a": ["x", "y"]}, codes=False)


def test_a_partition_that_cannot_be_read_is_named(client):
    import dask

    parts = [pd.DataFrame({"a": ["x", "y"]})]
    frame = dd.from_delayed([dask.delayed(parts[0]), dask.delayed(pd.read_csv)("/nowhere/part-7.csv")], meta=parts[0])
    with pytest.raises((DataError, ClusterError), match=r"(?s)partition 1 of 2 cannot be read.*/nowhere/part-7.csv"):
        md.read(frame)


def test_a_partition_that_is_never_the_same_is_noticed(client):
    def draw(_):
        return pd.DataFrame({"a": np.random.default_rng().choice(["x", "y"], 50), "b": ["u", "v"] * 25})

    frame = dd.from_map(draw, [0], meta=pd.DataFrame({"a": ["x"], "b": ["u"]}))
    data = md.read(frame)
    for address in [address for address, keys in client.has_what().items() if keys]:  # what it was made from, too
        kill(client, address)
    with pytest.raises(DataError, match="partition 0 of 1 is not what it was"):
        data.to_dataset()


def test_weights_are_refused(client):
    table = dd.from_pandas(pd.DataFrame({"a": ["x", "y"], "n": [1, 2]}), npartitions=1)
    with pytest.raises(ParameterError, match="weights cannot be given for a Dask DataFrame"):
        md.read(table, weights="n")


def test_without_a_client_the_way_out_is_told(monkeypatch):
    def nobody():
        raise ValueError("No global client found")

    monkeypatch.setattr(distributed, "get_client", nobody)
    table = dd.from_pandas(pd.DataFrame({"a": ["x", "y"]}), npartitions=1)
    with pytest.raises(ClusterError, match=r"there is no client of one: make one before, distributed\.Client\(\)"):
        md.read(table)


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_read_on_the_workers(client, tmp_path, ending):
    data = sample("asia", 900)
    for part in range(3):
        md.write_table(data.take(np.arange(300 * part, 300 * part + 300)), tmp_path / f"part-{part}.{ending}")
    there = md.scan(f"{tmp_path}/*.{ending}", engine=client)
    here = md.scan(f"{tmp_path}/*.{ending}", cache=tmp_path / "cache")
    assert there.to_dataset() == here.to_dataset()
    assert same(md.learn(there, search="hc"), md.learn(here, search="hc"))
    with pytest.raises(DataError, match="no file matches"):
        md.scan(f"{tmp_path}/*.nothing", engine=client)


def test_a_client_need_not_be_the_default_one(tmp_path):
    data = sample("asia", 900)
    md.write_table(data, tmp_path / "asia.csv")
    with connect(1) as client:
        assert same(md.learn(md.scan(tmp_path, engine=client), search="hc"), md.learn(data, search="hc"))


@pytest.mark.parametrize("missing", ["drop", "level", "keep"])
def test_missing_values_in_files_are_what_they_are_here(client, tmp_path, missing):
    data = sample("asia", 600)
    for i in range(3):
        md.write_table(data.take(range(200 * i, 200 * i + 200)), tmp_path / f"{i}.csv")
    file = tmp_path / "1.csv"
    file.write_text(file.read_text().replace("yes", "", 20))
    there = md.scan(tmp_path / "*.csv", engine=client, missing=missing)
    here = md.scan(tmp_path / "*.csv", cache=tmp_path / "cache", missing=missing)
    assert there.to_dataset() == here.to_dataset()


def test_files_with_other_columns_are_named(client, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "0,1\n1,0\n" * 20)
    (tmp_path / "b.csv").write_text("x,z\n" + "0,1\n1,0\n" * 20)
    with pytest.raises(
        DataError, match=r"b.csv does not have the columns of .*a.csv: it lacks 'y' and has 'z' besides"
    ):
        md.scan(tmp_path, engine=client)


def test_a_broken_file_is_named(client, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(DataError, match=r"a\.parquet"):
        md.scan(tmp_path, engine=client)


# Workers that die -----------------------------------------------------------------------------------------------------


def kill(client, address):
    """Kill a worker, and wait until it is gone."""
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    deadline = time.monotonic() + 20
    while address in client.scheduler_info()["workers"] and time.monotonic() < deadline:
        time.sleep(0.02)


def first_holder(client, data):
    return next(iter(client.who_has(list(data.blocks.partitions)).values()))[0]


class Killer:
    """Kills a worker when so many tasks of a kind have been sent off."""

    def __init__(self, client, what, after):
        self.client, self.what, self.left, self.pid = client, what, after, None

    def __enter__(self):
        self.submit = Workers.submit
        killer = self
        pids = workers_of(self.client)

        def submit(workers, what, *arguments, **options):
            future = killer.submit(workers, what, *arguments, **options)
            killer.left -= what == killer.what
            if killer.left == 0 and what == killer.what:
                killer.pid = pids[0]
                os.kill(pids[0], signal.SIGKILL)  # now, not in a while: everything may be done by then
            return future

        Workers.submit = submit
        return self

    def __exit__(self, *_):
        Workers.submit = self.submit
        assert self.pid is not None
        assert self.pid not in workers_of(self.client)


def learn_while_killing(client, what, after, *, name="sachs", seed=1):
    data = sample(name, 1500, seed)
    frame = dd.from_pandas(data.to_pandas(), npartitions=6)
    with Killer(client, what, after):
        found = md.learn(frame, search="hc")
    assert same(found, md.learn(data, search="hc"))


@pytest.mark.parametrize(("what", "after"), [("read", 4), ("count", 12)])
def test_a_worker_that_is_killed_loses_nothing(client, what, after):
    scaled(client, 2)
    learn_while_killing(client, what, after)


@pytest.mark.slow
@pytest.mark.parametrize("time_to_die", range(10))
def test_ten_kills_lose_nothing(client, time_to_die):
    scaled(client, 1 + time_to_die % 4)
    what, after = [("read", 3), ("pack", 2), ("summary", 1), ("count", 1), ("count", 20), ("count", 60)][
        time_to_die % 6
    ]
    learn_while_killing(client, what, after, name="alarm", seed=time_to_die)


def test_a_worker_that_leaves_loses_nothing(client):
    data = sample("asia", 500)
    remote = md.read(dd.from_pandas(data.to_pandas(), npartitions=4))
    client.retire_workers([first_holder(client, remote)])
    assert same(md.learn(remote, search="hc"), md.learn(data, search="hc"))


# Limits and the rest --------------------------------------------------------------------------------------------------


def test_a_time_limit_returns_the_best_graph(client):
    data = md.read(dd.from_pandas(sample("alarm", 500).to_pandas(), npartitions=2))
    result = md.learn(data, time_limit=0.3)
    assert result.stopped == "time_limit"


def test_ctrl_c_returns_the_best_graph_and_leaves_no_tasks(client):
    data = md.read(dd.from_pandas(sample("alarm", 500).to_pandas(), npartitions=2))
    threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
    result = md.learn(data)
    assert result.stopped == "interrupted"
    time.sleep(0.3)
    assert not any(client.processing().values())
    assert md.learn(data, search="hc").converged


def test_round_trips_are_told(client):
    data = md.read(dd.from_pandas(sample("asia", 500).to_pandas(), npartitions=2))
    engine = RemoteEngine(data)
    engine.tables([Request(0, (), (1, 2)), Request(1, (2,))])
    engine.tables([Request(0, (1,))])
    assert (engine.work.calls, engine.work.passes, engine.work.requests, engine.work.families) == (2, 2, 3, 4)


def test_a_closed_client_is_told(cluster):
    with distributed.Client(cluster, set_as_default=False) as own, own.as_current():
        data = md.read(dd.from_pandas(sample("asia", 100).to_pandas(), npartitions=2))
    with pytest.raises(ClusterError, match=r"closed|gone|cancelled"):
        md.learn(data)


def test_workers_out_of_memory_are_told():
    from distributed.scheduler import KilledWorker

    worker = SimpleNamespace(address="tcp://a:1")
    told = r"counting: workers died again and again, the last at tcp://a:1; .* smaller partitions"
    with pytest.raises(ClusterError, match=told), told_here("counting"):
        raise KilledWorker("mapdag-count-1", worker, 3)
    with pytest.raises(ClusterError, match="out of memory"), told_here("counting"):
        raise MemoryError
    with pytest.raises(ClusterError, match="No space left"), told_here("counting"):
        raise OSError(28, "No space left on device")
