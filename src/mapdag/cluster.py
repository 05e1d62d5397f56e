"""The one door to a cluster of Dask: whether it can be used, how it is given tasks, and what may go wrong with them.

Dask is imported when somebody asks for a cluster, never before. What runs there does not live here.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import multiprocessing
import os
import signal
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mapdag.checks import check_whole
from mapdag.errors import ClusterError, MapdagError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")

LOG = logging.getLogger("mapdag.distributed")
LISTEN = 0.1  # seconds between two looks at Ctrl-C
_LOG = logging.getLogger("mapdag.cluster")
_PATROL = 2.0  # seconds between two looks at whether there are workers
_PATIENCE = 60.0  # seconds without any worker after which nobody waits for one
_AHEAD = 3  # tasks for each thread of a cluster that are sent ahead
_FAN = 8  # values that one task adds up
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


# Tasks ---------------------------------------------------------------------------------------------------------------


class InFlight(Generic[T]):
    """Tasks that are under way on a cluster, each with what it is known by here: a bounded number at a time.

    Parameters
    ----------
    client : Client
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._running: dict[Any, T] = {}
        self._ended: SimpleQueue[Any] = SimpleQueue()

    def __bool__(self) -> bool:
        return bool(self._running)

    @property
    def room(self) -> int:
        """How many more tasks there is room for."""
        return _AHEAD * max(sum(self._client.nthreads().values()), 1) - len(self._running)

    def add(self, future: Future, known_by: T) -> None:
        """Note a task that was sent off."""
        self._running[future] = known_by
        future.add_done_callback(self._ended.put)

    def ended(self, seconds: float) -> list[tuple[T, Future]]:
        """Return the tasks that have ended, in one way or another, since the last time; waits for one for a while."""
        found: list[Any] = []
        with suppress(Empty):
            found.append(self._ended.get(timeout=seconds))
        while not self._ended.empty():
            found.append(self._ended.get())
        return [(self._running.pop(future), future) for future in found]

    def cancel(self) -> None:
        """Let nobody work in vain."""
        if self._client.status == "running":
            self._client.cancel(list(self._running))
        self._running.clear()


class Workers:
    """Tasks of the workers of a cluster: sent off, waited for, added up, cancelled.

    All are pure functions of what they are given, so that Dask makes anew what a worker took with it.

    Parameters
    ----------
    client : Client
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    def submit(self, what: str, function: Callable[..., Any], *arguments: Any, near: Sequence[str] = ()) -> Future:
        """Send off a task; futures among the arguments, or in lists of them, are waited for there.

        Parameters
        ----------
        what : str
            What dashboards call it.
        function : callable
        *arguments
        near : sequence of str
            Addresses of the workers that had better do it.
        """
        self.check()
        key = f"mapdag-{what}-{uuid.uuid4().hex}"
        where = {"workers": list(near), "allow_other_workers": True} if near else {}
        return self.client.submit(function, *arguments, key=key, **where)

    def results(self, futures: Sequence[Future], what: str) -> list[Any]:
        """Wait for tasks, and return what they found; whatever ends that early cancels them."""
        try:
            while not self._are_done(futures):
                self._check_workers(what)
            with told(what):
                return list(self.client.gather(list(futures)))
        except BaseException:
            self._cancel(futures)
            raise

    def _are_done(self, futures: Sequence[Future]) -> bool:
        """Wait for a while; tells whether all tasks are done, be it with an error."""
        from distributed import wait

        try:
            with self.client.as_current():  # which `wait` asks for, whoever made the futures
                wait(futures, timeout=_PATROL)
        except (TimeoutError, asyncio.TimeoutError):  # not the same before Python 3.11
            return False
        return True

    def sum(self, futures: Sequence[Future], add: Callable[[Sequence[Any]], Any], what: str) -> Any:
        """Add up what tasks find, in a tree: on the workers, but for the last few."""
        every, last = list(futures), list(futures)
        try:
            while len(last) > _FAN:
                last = [self.submit("add", add, last[i : i + _FAN]) for i in range(0, len(last), _FAN)]
                every += last
            return add(self.results(last, what))
        except BaseException:
            self._cancel(every)
            raise

    def ahead(self, makers: Iterable[Callable[[], Future]]) -> Iterator[Future]:
        """Send off many tasks, a bounded number ahead of those that are finished; gives them in order."""
        sent = InFlight[None](self.client)
        for make in makers:
            future = make()
            sent.add(future, None)
            yield future
            while sent.room < 1:
                self.check()
                sent.ended(LISTEN)

    def _cancel(self, futures: Sequence[Future]) -> None:
        """Let nobody work in vain; a cluster that is gone needs not be told."""
        try:
            self.client.cancel([future for future in futures if not future.done()])
        except Exception:  # what ended the tasks is raised
            LOG.debug("tasks could not be cancelled", exc_info=True)

    def _check_workers(self, what: str) -> None:
        """Give up where there have been no workers for long."""
        began = time.monotonic()
        while not self._connected() or not self.client.nthreads():
            if not self._connected() or time.monotonic() - began > _PATIENCE:
                raise ClusterError(
                    f"{what}: all workers are gone, or the scheduler is; start some, and learn again: nothing is left "
                    "half done"
                )
            LOG.warning("%s: no workers are left, waiting for others", what)
            time.sleep(_PATROL)

    def _connected(self) -> bool:
        return str(self.client.status) in ("running", "connecting")

    def check(self) -> None:
        """Refuse to work with a client that was closed."""
        if not self._connected():
            raise ClusterError(
                f"the client is {self.client.status}, and the rows of the table went with it: read them anew"
            )


@contextmanager
def told(what: str) -> Iterator[None]:
    """Tell in our words what went wrong on a cluster."""
    from distributed.scheduler import KilledWorker

    try:
        yield
    except MapdagError:
        raise
    except KilledWorker as error:
        raise ClusterError(
            f"{what}: workers died again and again, the last at {error.last_worker.address}; most often they run out "
            "of memory, as their logs say: give them more, or make smaller partitions"
        ) from error
    except MemoryError as error:
        raise ClusterError(
            f"{what}: a worker is out of memory: give workers more, or make smaller partitions"
        ) from error
    except (asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise ClusterError(
            f"{what}: the tasks were cancelled, or the cluster was closed: connect and read again"
        ) from error
    except OSError as error:
        raise ClusterError(f"{what}: a worker met an error of its system: {error}") from error


@contextmanager
def while_connected(left: str) -> Iterator[None]:
    """Say that the scheduler has gone, where that is what went wrong, and what is left to do."""
    try:
        yield
    except MapdagError:
        raise
    except (OSError, asyncio.CancelledError, concurrent.futures.CancelledError) as error:
        raise ClusterError(f"the scheduler has gone ({type(error).__name__}): {left}") from error
