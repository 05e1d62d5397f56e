"""The door to a cluster: what is refused, and with which words."""

import multiprocessing
import sys

import pytest

from mapdag.cluster import connect
from mapdag.errors import ClusterError, MissingExtraError, ParameterError

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_client_stays_open_and_is_itself(client):
    with connect(client) as connected:
        assert connected is client
    assert client.status == "running"


def test_workers_are_started_and_ended():
    with connect(3) as client:
        assert len(client.scheduler_info()["workers"]) == 3
        address = client.scheduler.address
        with connect(address) as other:
            assert other.submit(sum, [1, 2]).result() == 3
    with pytest.raises(ClusterError, match="no scheduler answers at 'tcp://"), connect(address, timeout=1):
        pass


@pytest.mark.parametrize("address", ["nowhere.invalid:8786", "127.0.0.1:1", "no port", "", "tcp://"])
def test_nobody_answers_at_a_wrong_address(address):
    with pytest.raises(ClusterError, match=r"no scheduler answers at .*dask scheduler"), connect(address, timeout=1):
        pass


@pytest.mark.parametrize("wrong", [None, 2.5, len, ["tcp://10.0.0.1:8786"]])
def test_what_is_no_cluster_is_refused(wrong):
    with pytest.raises(ParameterError, match=r"must be a client of dask\.distributed, the address"), connect(wrong):
        pass


@pytest.mark.parametrize("workers", [0, -1, True])
def test_so_many_workers_there_are_not(workers):
    with pytest.raises(ParameterError, match="workers must be a whole number of at least 1"), connect(workers):
        pass


def test_a_closed_client_is_refused():
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as gone,
    ):
        pass
    with pytest.raises(ClusterError, match="the client is closed"), connect(gone):
        pass


def test_a_cluster_without_workers_is_refused():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(ClusterError, match=r"has no workers: start some by `dask worker (inproc|tcp)://"),
        connect(cluster, timeout=0.2),
    ):
        pass


def test_workers_with_other_versions_are_named(client, monkeypatch):
    theirs = client.get_versions(packages=["numba"])
    worker = next(iter(theirs["workers"]))
    theirs["workers"][worker]["host"]["python"] = "3.9.1.final.0"
    theirs["workers"][worker]["packages"]["numba"] = None
    monkeypatch.setattr(client, "get_versions", lambda packages: theirs)
    with pytest.raises(ClusterError, match=rf"Python is 3\.9 on worker {worker}.*numba is None"), connect(client):
        pass


@pytest.mark.parametrize(("theirs", "told"), [("0.0.7", r"mapdag is 0\.0\.7"), (None, "mapdag is not installed")])
def test_workers_with_another_mapdag_are_named(client, monkeypatch, theirs, told):
    monkeypatch.setattr(client, "run", lambda _: {"tcp://a": theirs})
    with pytest.raises(ClusterError, match=rf"{told} on worker tcp://a, .* here"), connect(client):
        pass


def test_without_dask_the_way_to_install_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mapdag\[dask\]'"), connect("tcp://a:1"):
        pass


@pytest.mark.parametrize("where", ["in the script", "in a process that reads it again"])
def test_a_script_that_starts_processes_while_it_is_read_is_told_how_to_be_written(monkeypatch, where):
    def fail(**_options):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", where != "in the script", raising=False)
    with pytest.raises(ClusterError, match="under `if __name__ == '__main__':`"), connect(2):
        pass
