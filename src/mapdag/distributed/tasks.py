"""Tasks on a cluster: sent off, waited for, cancelled; what goes wrong there is told in the words used here.

All are pure functions of what they are given, so that Dask makes anew what a worker took with it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mapdag.errors import ClusterError, MapdagError

if TYPE_CHECKING:
    from distributed import Client, Future

LOG = logging.getLogger("mapdag.distributed")
_LISTEN = 2.0  # seconds between two looks at whether there are workers
_PATIENCE = 60.0  # seconds without any worker after which nobody waits for one
_AHEAD = 3  # tasks for each thread of the cluster that are sent ahead
_FAN = 8  # values that one task adds up


class Crew:
    """The workers of a cluster, and what they are told to do.

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
                wait(futures, timeout=_LISTEN)
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
        from distributed import wait

        room = _AHEAD * max(sum(self.client.nthreads().values()), 1)
        left: list[Future] = []
        for make in makers:
            future = make()
            left.append(future)
            yield future
            while len(left) >= room:
                with self.client.as_current():
                    done = wait(left, return_when="FIRST_COMPLETED").done
                left = [each for each in left if each not in done]

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
            time.sleep(_LISTEN)

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
