"""Independent tasks on a cluster of processes: what comes out is what one process finds, whoever dies meanwhile."""

import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import mapdag as md
from golden_data import dataset
from mapdag.cluster import connect
from mapdag.errors import ClusterError, GraphError, MapdagWarning, ParameterError
from mapdag.notices import warn
from mapdag.study import Arm, Design, Search, Serial, Store, run
from mapdag.study.cells import COSTS, FIELDS
from mapdag.tasks import run_tasks

distributed = pytest.importorskip("distributed")

from clusters import local_cluster, workers_of  # noqa: E402 - which needs it

ASIA = dataset("asia_1000")
TINY = Design(
    name="tiny",
    networks=("asia",),
    sizes=("n=60", "1"),
    replicates=3,
    objectives=("U+BDeu(1)", "MU(c=1)+BDs(1)", "U+BDeu(alpha_S)"),
    arms=(Arm("file", Search.make("hc")), Arm("shuffled", Search.make("tabu"))),
    test_rows=500,
)


@pytest.fixture(scope="module")
def client():
    """Two processes of one thread, which find the classes of this file."""
    here = Path(__file__).parent
    with local_cluster() as cluster, distributed.Client(cluster, set_as_default=False) as client:
        client.register_plugin(Beside(str(here)))
        yield client


class Beside(distributed.WorkerPlugin):
    """Lets a worker import what is beside this file, also after it was started again."""

    name = "beside"

    def __init__(self, folder):
        self.folder = folder

    def setup(self, worker):
        sys.path.insert(0, self.folder)

    def __reduce__(self):
        return beside, (self.folder,)


def beside(folder):
    return Beside(folder)


class Task:
    """Tasks that do as they are told."""

    def __init__(self, what=""):
        self.what = what

    def do(self, number, lane):
        assert lane.threads == 1
        if self.what == "warn":
            warn("everybody says this")
        if self.what == "break" and number == 2:
            raise ZeroDivisionError("by zero")
        if self.what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        return number**2


@pytest.mark.parametrize("count", [0, 1, 30])
def test_every_task_is_done_once(client, count):
    found = list(run_tasks(Task(), count, what="square", cluster=client))
    assert sorted(found) == [(i, i**2) for i in range(count)]


def test_errors_name_the_task_and_end_all(client):
    with pytest.raises(ClusterError, match="square 3 failed on the cluster: ZeroDivisionError: by zero"):
        list(run_tasks(Task("break"), 5, what="square", cluster=client))
    with pytest.raises(GraphError, match="both required"):  # what the user did is told as ever
        md.bootstrap(ASIA, "BIC", R=4, required=[("asia", "dysp"), ("dysp", "asia")], cluster=client)


def test_warnings_come_back_and_are_said_once(client):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        md.bootstrap(ASIA.select(["asia", "tub"]), "MU(c=1.5)+BDs(1)", R=4, cluster=client)
    assert [each.category for each in caught] == [MapdagWarning]
    assert caught[0].filename == __file__


def test_resamples_and_folds_are_those_of_one_process(client):
    told = []
    here = md.bootstrap(ASIA, "BDeu(1)", R=12, seed=3, search="hc", restarts=1)
    there = md.bootstrap(
        ASIA, "BDeu(1)", R=12, seed=3, search="hc", restarts=1, cluster=client, progress=lambda *n: told.append(n)
    )
    assert np.array_equal(here.halves, there.halves)
    assert told == [(i, 12) for i in range(1, 13)]
    goals, options = ["BDeu(1)", "BIC"], {"folds": 4, "target": "dysp", "seed": 1, "search": "hc"}
    weighted = ASIA.aggregated()
    for data in (ASIA, weighted):
        one, other = (md.cross_validate(data, goals, cluster=who, **options) for who in (None, client))
        assert np.array_equal(one.log_likelihood, other.log_likelihood)
        assert [each.log_loss for each in one.metrics] == [each.log_loss for each in other.metrics]


def test_folds_that_are_cut_for_themselves_are_those_of_one_process(client):
    rng = np.random.default_rng(1)
    table = {"x": rng.normal(size=90).tolist(), "y": rng.normal(size=90).tolist(), "z": ["a", "b", "c"] * 30}
    options = {"folds": 3, "discretize": "quantile", "search": "hc"}
    one, other = (md.cross_validate(table, "BIC", cluster=who, **options) for who in (None, client))
    assert np.array_equal(one.log_likelihood, other.log_likelihood)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.parametrize("victims", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_loses_nothing(client, victims):
    """Not even if all of them are, and what the tasks share with them."""
    workers = workers_of(client)
    left = workers[:victims]

    def tell(done, total):
        if done >= 5:
            while left:
                os.kill(left.pop(), signal.SIGKILL)

    here = md.bootstrap(ASIA, "BDeu(1)", R=60, seed=5, search="hc")
    there = md.bootstrap(ASIA, "BDeu(1)", R=60, seed=5, search="hc", cluster=client, progress=tell)
    assert not left
    assert np.array_equal(here.halves, there.halves)
    assert set(workers_of(client)).isdisjoint(workers[:victims])


def results(directory):
    """All rows of a study without what they cost."""
    with Store(directory) as store:
        return [tuple(getattr(row, name) for name in FIELDS if name not in COSTS) for row in store.rows()]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_study_survives_its_workers_and_goes_on(client, tmp_path):
    assert run(TINY, tmp_path / "here", executor=Serial()).complete
    expected = results(tmp_path / "here")
    left = workers_of(client)[:1]

    def tell(progress):
        while left:
            os.kill(left.pop(), signal.SIGKILL)

    outcome = run(TINY, tmp_path / "there", cluster=client, progress=tell)
    assert outcome.complete
    assert not outcome.failures
    assert results(tmp_path / "there") == expected
    first = run(TINY, tmp_path / "again", cluster=client, time_limit=1e-6)
    assert first.done < first.total
    assert not first.failures
    assert run(TINY, tmp_path / "again", cluster=client).complete
    assert results(tmp_path / "again") == expected


def test_a_study_has_workers_or_a_cluster(client, tmp_path):
    with pytest.raises(ParameterError, match="workers and cluster both"):
        run(TINY, tmp_path / "x", cluster=client, workers=2)
    with pytest.raises(ClusterError, match="no scheduler answers"):
        run(TINY, tmp_path / "x", cluster="127.0.0.1:1")
    assert not (tmp_path / "x").exists()


# From the command line


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "asia.csv"
    ASIA.take(range(200)).to_pandas().to_csv(path, index=False)
    return str(path)


def test_commands_take_the_address_of_a_scheduler(client, table, run, tmp_path):
    address = client.scheduler.address
    small = ["--search", "hc", "--json"]
    for command in (["bootstrap", table, "-R", 4], ["cv", table, "--folds", 3], ["learn", table, "--bootstrap", 3]):
        code, here, _ = run(*command, *small)
        assert code == 0
        code, there, _ = run(*command, *small, "--scheduler", address)
        assert code == 0
        assert without_seconds(there) == without_seconds(here)
    design = tmp_path / "design.toml"
    design.write_text('networks = ["asia"]\nsizes = ["n=60"]\nreplicates = 1\nobjectives = ["BIC"]\ntest_rows = 100\n')
    code, out, err = run("study", "run", design, "--out", tmp_path / "study", "--scheduler", address)
    assert code == 0, err
    assert "cells are done" in out


def test_a_table_that_workers_read_gives_the_graph_of_one_that_is_read_here(client, table, run, tmp_path):
    small = ["learn", table, "--search", "hc", "--json"]
    code, here, _ = run(*small)
    assert code == 0
    code, there, err = run(*small, "--scheduler", client.scheduler.address)
    assert code == 0, err
    assert without_seconds(there) == without_seconds(here)
    code, _, err = run(*small, "--weights", "asia", "--scheduler", client.scheduler.address)
    assert code == 2
    assert "weights" in err


def without_seconds(text):
    return [line for line in text.splitlines() if '"seconds"' not in line]


def test_a_command_starts_and_ends_its_own_workers(table, run):
    code, out, err = run("bootstrap", table, "-R", 3, "--search", "hc", "--json", "--workers", 1)
    assert code == 0, err
    assert without_seconds(out) == without_seconds(run("bootstrap", table, "-R", 3, "--search", "hc", "--json")[1])


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--workers", "0"], "--workers must be a whole number of at least 1, got 0"),
        (["--workers", "2", "--scheduler", "a:1"], "--scheduler and --workers both say who does the work"),
        (["--scheduler", "127.0.0.1:1"], "no scheduler answers at '127.0.0.1:1'"),
    ],
)
@pytest.mark.parametrize("command", ["bootstrap", "cv", "study"])
def test_what_is_wrong_with_a_cluster_is_one_sentence(flags, told, command, table, run, tmp_path):
    arguments = [command, table] if command != "study" else ["study", "run", "quick", "--out", tmp_path / "out"]
    code, _, err = run(*arguments, *flags)
    assert code == 2
    assert told in err
    assert "Traceback" not in err


def test_without_dask_the_way_to_install_it_is_told(table, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = run("bootstrap", table, "--workers", 2)
    assert code == 2
    assert "pip install 'mapdag[dask]'" in err


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_task_that_always_kills_its_worker_is_given_up(client):
    workers_of(client)
    with pytest.raises(ClusterError, match=r"square 1 failed on the cluster: (KilledWorker|all workers have gone)"):
        list(run_tasks(Task("die"), 1, what="square", cluster=client))
    with connect(client) as still:
        assert still is client
