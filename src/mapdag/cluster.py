"""The one door to a cluster of Dask: which machines there are, and whether they can be used.

Dask is imported when somebody asks for a cluster, never before. What runs there does not live here.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from mapdag.checks import check_whole
from mapdag.errors import ClusterError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from distributed import Client

_LOG = logging.getLogger("mapdag.cluster")
_TIMEOUT = 15.0  # seconds in which a scheduler answers, and a worker turns up
_SAME = ("numba", "numpy", "dask", "distributed")  # packages whose releases must be the same everywhere


@contextmanager
def connect(cluster: Any, *, timeout: float = _TIMEOUT) -> Iterator[Client]:
    """Give a client of a cluster that was checked: it has workers, and they run the same versions as this process.

    Parameters
    ----------
    cluster : Client, str, int, or a cluster of Dask
        A client, which stays open; the address of a scheduler, as in "tcp://10.0.0.1:8786"; how many processes to start
        on this machine; or what Dask calls a cluster, such as a `LocalCluster`.
    timeout : float
        Seconds in which the scheduler must answer, and a first worker turn up.

    Raises
    ------
    MissingExtraError
        Without Dask.
    ClusterError
        If nobody answers, there are no workers, or versions differ.

    Examples
    --------
    >>> with connect("nowhere:1", timeout=0.1) as client:
    ...     pass
    Traceback (most recent call last):
    ...
    mapdag.errors.ClusterError: no scheduler answers at 'nowhere:1' ...
    """
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("a cluster needs Dask: pip install 'mapdag[dask]'") from None
    if isinstance(cluster, distributed.Client):
        if cluster.asynchronous:
            raise ParameterError("a client must not be asynchronous: make it by distributed.Client(address)")
        _check(cluster, timeout)
        yield cluster
    elif isinstance(cluster, str) or hasattr(cluster, "scheduler_address"):
        with _client(cluster, timeout) as client:
            _check(client, timeout)
            yield client
    elif isinstance(cluster, int):
        cluster = check_whole("workers", cluster, least=1)
        threads = max((os.cpu_count() or 1) // cluster, 1)
        with _local_cluster(cluster, threads) as local, _client(local, timeout) as client:
            _check(client, timeout)
            yield client
    else:
        raise ParameterError(
            "a cluster must be a client of dask.distributed, the address of a scheduler, or a number of workers, got "
            f"{cluster!r}"
        )


def _local_cluster(workers: int, threads: int) -> Any:
    """Start processes on this machine."""
    import distributed

    unguarded = ClusterError(
        "put what starts processes under `if __name__ == '__main__':`, as each of them reads the script once more"
    )
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise unguarded
    try:
        with deaf():
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=threads,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,  # what goes wrong comes back as an error, and Ctrl-C is none
            )
    except RuntimeError as error:
        raise ClusterError(f"processes could not be started ({error}); in a script, {unguarded}") from None


@contextmanager
def deaf() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C, which a terminal tells to all: whoever started them ends them.

    They inherit what is blocked here; here, it is heard afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # not POSIX
        yield
        return
    resource_tracker.ensure_running()  # which would be started on the way, and unblock it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _client(cluster: Any, timeout: float) -> Iterator[Client]:
    """Make a client, and close it in the end."""
    import distributed

    where = cluster if isinstance(cluster, str) else cluster.scheduler_address
    try:
        _knock(where, timeout)
        # Not the default one: what others do on their own cluster goes on there.
        client = distributed.Client(cluster, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, RuntimeError, asyncio.TimeoutError) as error:
        raise ClusterError(
            f"no scheduler answers at {where!r} ({error}): start one by `dask scheduler`, which prints its address, "
            "and workers by `dask worker ADDRESS`"
        ) from None
    with client:
        yield client


def _knock(address: str, timeout: float) -> None:
    """Fail where nobody listens: a client that finds nobody stays behind, and complains when Python ends."""
    from distributed.comm import get_address_host_port

    if address.partition("://")[0] in ("tcp", "tls") or "://" not in address:
        socket.create_connection(get_address_host_port(address), timeout=timeout).close()


def _check(client: Client, timeout: float) -> None:
    """Refuse a cluster without workers, or with other versions than here."""
    if client.status != "running":
        raise ClusterError(f"the client is {client.status}: make a new one by distributed.Client(address)")
    try:
        client.wait_for_workers(1, timeout=timeout)
    except (OSError, asyncio.TimeoutError):
        address = _address(client)
        raise ClusterError(
            f"the scheduler at {address} has no workers: start some by `dask worker {address}`, or wait for them"
        ) from None
    found: Any = client.get_versions(packages=list(_SAME))
    here = _versions(found["client"])
    differ = [
        f"{package} is {theirs} on worker {worker}, {here[package]} here"
        for worker, each in sorted(found["workers"].items())
        for package, theirs in _versions(each).items()
        if theirs != here[package]
    ]
    if not differ:
        ask = _asking_for_version()
        answers: Any = client.run(ask)
        differ = [
            f"mapdag is {theirs or 'not installed'} on worker {worker}, {ask()} here"
            for worker, theirs in sorted(answers.items())
            if theirs != ask()
        ]
    if differ:
        more = f", and {len(differ) - 5:,} more" if len(differ) > 5 else ""
        raise ClusterError(
            f"the workers do not run what runs here: {'; '.join(differ[:5])}{more}. Install the same versions on all"
        )
    _LOG.info("%d workers at %s, dashboard: %s", len(found["workers"]), _address(client), client.dashboard_link)


def _versions(found: Mapping[str, Any]) -> dict[str, str]:
    """Versions that matter: Python's, and those of packages that tables or compiled code pass through."""
    packages = found["packages"]
    return {"Python": ".".join(found["host"]["python"].split(".")[:2]), **{name: str(packages[name]) for name in _SAME}}


def _asking_for_version() -> Any:
    """Make a function that a worker can run without mapdag: one inside another travels as code, not as a name."""

    def version() -> str | None:
        from importlib import import_module

        try:
            return str(import_module("mapdag").__version__)
        except ImportError:
            return None

    return version


def _address(client: Client) -> str:
    return str(client.scheduler.address) if client.scheduler is not None else "?"
