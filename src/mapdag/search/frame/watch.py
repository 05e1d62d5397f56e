"""The clock of a search: its limits, its progress, its threads, and why it ended."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING

from mapdag import compiling
from mapdag.progress import Progress
from mapdag.tasks import threads_for

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Stopped

_LISTEN = 0.1  # seconds between two looks at Ctrl-C while threads work


class EarlyEnd(Exception):  # noqa: N818 - not an error
    """Raised inside a search when a limit is reached."""

    def __init__(self, reason: Stopped) -> None:
        super().__init__(reason)
        self.reason = reason


class Watch:
    """Looks at the limits of one search, and tells how far it is; a context that catches limits and Ctrl-C.

    Parameters
    ----------
    options : Options
        Time limit, Ctrl-C from outside, progress and threads.

    Attributes
    ----------
    families : int
        How many were counted so far, to be told.
    stopped : str
        Why the search ended.
    """

    def __init__(self, options: Options) -> None:
        self._began = time.perf_counter()
        self._compiled = compiling.seconds()
        self._options = options
        self._ended = threading.Event()
        self.threads = options.n_threads
        self.families = 0
        self.stopped: Stopped = "converged"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if isinstance(error, EarlyEnd):
            self.stopped = error.reason
        elif kind is KeyboardInterrupt and self._options.catch_interrupt:
            self.stopped = "interrupted"
        else:
            return False
        return True

    @property
    def seconds(self) -> float:
        """Time since the start, without that of compilation."""
        return max(time.perf_counter() - self._began - (compiling.seconds() - self._compiled), 0.0)

    @property
    def left(self) -> float:
        """Seconds until the time limit, without those of compilation; infinite where there is none."""
        limit = self._options.time_limit
        return math.inf if limit is None else limit - self.seconds

    def check(self) -> None:
        """End the search where a limit is reached; any thread may ask."""
        outside = self._options.cancel
        if self._ended.is_set() or (outside is not None and outside.is_set()):
            raise EarlyEnd("interrupted")
        if self.left < 0:
            raise EarlyEnd("time_limit")

    def check_moves(self, made: int) -> None:
        """End the search where so many moves are enough, or another limit is reached."""
        if self._options.max_iter is not None and made >= self._options.max_iter:
            raise EarlyEnd("max_iter")
        self.check()

    def tell(
        self, phase: str, done: int, total: int, *, score: float = math.nan, n_arcs: int = 0, bound: float = math.nan
    ) -> None:
        """Pass on how far a phase is."""
        if callable(self._options.progress):
            self._options.progress(Progress(phase, done, total, score, n_arcs, self.families, self.seconds, bound))

    def work(self, phase: str, jobs: Sequence[Callable[[], None]], *, in_turn: bool = False) -> None:
        """Do jobs, several at a time unless they must be done in turn.

        Without the name of a phase, jobs tell themselves how far they are. All are done in other threads, even one
        after the other: Ctrl-C comes to the main thread, and must not come in the middle of a call of compiled code.
        """
        self.work_in_layers(phase, [[job] for job in jobs] if in_turn else [jobs])

    def work_in_layers(self, phase: str, layers: Iterable[Sequence[Callable[[], None]]]) -> None:
        """Do layers of jobs one after the other, those of a layer several at a time."""
        every = [list(layer) for layer in layers]
        done, total = 0, sum(map(len, every))
        with threads_for(min(self.threads, max(map(len, every)))) as pool:
            try:
                for layer in every:
                    left = {pool.submit(self._do, job) for job in layer}
                    while left:
                        finished, left = wait(left, timeout=_LISTEN, return_when=FIRST_COMPLETED)
                        for each in finished:
                            each.result()
                        if phase:
                            self.tell(phase, done + len(layer) - len(left), total)
                    done += len(layer)
            except BaseException:
                self._ended.set()
                pool.shutdown(cancel_futures=True)
                raise

    def _do(self, job: Callable[[], None]) -> None:
        self.check()
        job()
