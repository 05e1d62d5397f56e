"""Long computations that are no walk from graph to graph: their limits, their progress, their threads, their memory."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mapdag.errors import CapacityError, Setting
from mapdag.search.run import Progress

if TYPE_CHECKING:
    from mapdag.search.result import Stopped
    from mapdag.search.run import Options

_LISTEN = 0.1  # seconds between two looks at Ctrl-C while threads work


class EarlyEndError(Exception):
    """Raised inside a computation when a limit is reached."""

    def __init__(self, reason: Stopped) -> None:
        super().__init__(reason)
        self.reason = reason


class Watch:
    """Looks at the limits of one computation, and tells how far it is.

    Parameters
    ----------
    options : Options
        Time limit, Ctrl-C from outside, progress and threads.
    """

    def __init__(self, options: Options) -> None:
        self._began = time.perf_counter()
        self._options = options
        self._ended = threading.Event()
        self.threads = options.threads or os.cpu_count() or 1
        self.families = 0

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._began

    def check(self) -> None:
        """End the computation where a limit is reached; any thread may ask."""
        outside = self._options.cancel
        if self._ended.is_set() or (outside is not None and outside.is_set()):
            raise EarlyEndError("interrupted")
        limit = self._options.time_limit
        if limit is not None and self.seconds > limit:
            raise EarlyEndError("time_limit")

    def tell(self, phase: str, done: int, total: int) -> None:
        """Pass on how far a phase is."""
        if self._options.progress is not None:
            self._options.progress(Progress(phase, done, total, np.nan, 0, self.families, self.seconds))

    def work(self, phase: str, jobs: Sequence[Callable[[], None]], *, in_turn: bool = False) -> None:
        """Do jobs, several at a time unless they must be done in turn.

        All are done in other threads, even one after the other: Ctrl-C comes to the main thread, and must not come in
        the middle of a call of compiled code.
        """
        with ThreadPoolExecutor(1 if in_turn else self.threads, thread_name_prefix="mapdag") as pool:
            left = {pool.submit(self._do, job) for job in jobs}
            try:
                while left:
                    finished, left = wait(left, timeout=_LISTEN, return_when=FIRST_COMPLETED)
                    for each in finished:
                        each.result()
                    self.tell(phase, len(jobs) - len(left), len(jobs))
            except BaseException:
                self._ended.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _do(self, job: Callable[[], None]) -> None:
        self.check()
        job()


def available_memory() -> float:
    """Bytes that can be taken without harm; infinite where the system does not say."""
    found = float("inf")
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                found = 1024.0 * float(line.split()[1])
        # In a container, what its group may still take.
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            used = float((group / "memory.current").read_text(encoding="ascii"))
            told = (group / "memory.stat").read_text(encoding="ascii").splitlines()
            files = sum(float(line.split()[1]) for line in told if line.startswith("inactive_file "))
            found = min(found, float(limit) - used + files)
    except (OSError, ValueError, IndexError):
        pass
    return found


def fits(needed: float) -> bool:
    """Whether so many bytes are available."""
    return needed <= available_memory()


def check_memory(needed: float, what: str, *way_out: str | Setting) -> None:
    """Refuse what does not fit into memory."""
    has = available_memory()
    if needed > has:
        told = f"{what} needs {_amount(needed)} of memory, and {_amount(has)} are available; "
        raise CapacityError(told, *way_out)


def _amount(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"
