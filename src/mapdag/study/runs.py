"""Running a study: find what is missing, have it done, write it down as it comes."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from mapdag.checks import check_positive
from mapdag.counts.device.devices import check_device
from mapdag.errors import ParameterError, Setting
from mapdag.study.cells import Task, all_cells, missing_tasks
from mapdag.study.design import Design, read_design
from mapdag.study.executors import Event, Executor, make_executor
from mapdag.study.progress import Progress, Tracker, cost, shares
from mapdag.study.remote import Remote
from mapdag.study.store import Store
from mapdag.study.worker import do_task, plan_for
from mapdag.wording import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

Order = Literal["cheapest", "longest"]


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes
    ----------
    done, total : int
        Cells of the design that are done, and all of them.
    fresh : int
        Cells done by this run.
    seconds : float
        How long it took.
    failures : tuple of str
        What failed, one sentence each.
    """

    done: int
    total: int
    fresh: int
    seconds: float
    failures: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.done == self.total

    def __str__(self) -> str:
        told = f"{self.done:,} of {self.total:,} cells are done, {self.fresh:,} by this run"
        return f"{told} in {duration(self.seconds)}"


def run(
    design: str | Path | Design,
    out: str | Path,
    *,
    workers: int | None = None,
    cluster: Any = None,
    device: str = "cpu",
    time_limit: float | None = None,
    order: Order = "cheapest",
    fresh: bool = False,
    grace: float = 10.0,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run a study, or go on with it: what is in the directory already is not done again.

    Parameters
    ----------
    design : Design, str or path
        A design, the name of a built-in one (``paper``, ``quick``), or a TOML file.
    out : path
        Directory of the results.
    workers : int, optional
        Processes; as many as there are cores unless given. One means this process.
    cluster : optional
        Where to do it instead: the address of a scheduler of Dask, or a client of it. Results are written here.
    device : {"cpu", "cuda", "auto"}
        Where rows are counted, as in `mapdag.learn`. With a GPU, this process does one task after the other unless
        `workers` says that several share it: drawing and judging samples, which processors do, goes on meanwhile.
    time_limit : float, optional
        Seconds after which no new cell is begun.
    order : {"cheapest", "longest"}
        Which tasks come first: the cheapest, so that most cells are there soon, or the longest, so that all workers are
        busy to the end.
    fresh : bool
        Whether to throw away results of another seed or version, instead of refusing to go on.
    grace : float
        Seconds that cells in flight get after the time limit.
    executor : Executor, optional
        Who does the tasks, instead of `workers` processes.
    progress : callable, optional
        Called with a `Progress` whenever something was written.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import tempfile
    >>> from mapdag.study import Design, run
    >>> design = Design(name="tiny", networks=("asia",), sizes=("n=100",), replicates=2, objectives=("BIC", "BDeu(1)"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first, again = run(design, folder, workers=1), run(design, folder, workers=1)
    >>> first.fresh, again.fresh, again.complete
    (4, 0, True)
    """
    design = read_design(design)
    if time_limit is not None:
        time_limit = check_positive("time_limit", time_limit)
    if order not in get_args(Order):
        raise ParameterError(f"order must be 'cheapest' or 'longest', got {order!r}")
    plans = {arm.search: plan_for(arm.search).search for arm in design.arms}  # also checks their options
    if workers is not None and cluster is not None:
        raise ParameterError("workers and cluster both say who does the tasks: give one of them")
    check_device(device)
    if device != "cpu" and cluster is not None:
        raise ParameterError(Setting("device", device), " is for this machine: leave out cluster")
    with ExitStack() as stack:
        if cluster is not None:
            from mapdag.cluster import connect

            executor = Remote(stack.enter_context(connect(cluster)), grace=grace)
        executor = executor or make_executor(workers, grace=grace, device=device)
        store = stack.enter_context(Store(out, create=True))
        stack.enter_context(store.locked())
        store.claim(seed=design.seed, test_rows=design.test_rows, fresh=fresh)
        for search, resolved in plans.items():
            store.claim_search(search, resolved)
        store.set_meta({"design": design.as_dict()})
        return _Run(design, store, executor, order).go(time_limit, progress)


class _Run:
    """One run: what the loop over events keeps in mind."""

    def __init__(self, design: Design, store: Store, executor: Executor, order: Order) -> None:
        self._began = time.monotonic()
        self._store, self._executor = store, executor
        done = store.cells()
        self._tasks = in_order(list(missing_tasks(design, done)), order)
        mine = done.intersection(all_cells(design))
        self._done_before, self._total = len(mine), design.n_cells
        self._tracker = Tracker(design, mine, self._tasks, executor.workers)
        self._failures: list[str] = []

    def go(self, time_limit: float | None, progress: Callable[[Progress], None] | None) -> Outcome:
        if self._tasks and self._executor.workers > 1:
            warm_up(self._tasks[0])
        number = self._store.begin_run(
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            machine=machine(),
            versions=versions(),
            workers=self._executor.workers,
        )

        def stop() -> bool:
            return time_limit is not None and time.monotonic() - self._began > time_limit

        for event in self._executor.run(self._tasks, stop):
            self._write(event, number)
            seconds = time.monotonic() - self._began
            self._store.update_run(number, seconds=seconds, cells=self._tracker.fresh)
            if progress is not None:
                progress(self._tracker.progress(seconds))
        fresh = self._tracker.fresh
        done = self._done_before + fresh
        return Outcome(done, self._total, fresh, time.monotonic() - self._began, tuple(self._failures))

    def _write(self, event: Event, number: int) -> None:
        task = event.task
        if event.rows:
            self._store.add(event.rows)
        if event.work is not None:
            self._store.log_work(number, task.sample, event.work)
            seconds = event.work.sampling + event.work.learning + event.work.judging
            self._tracker.finish(task, event.work.cells, seconds)
        self._tracker.add(task, len(event.rows))
        self._failures += [f"{'/'.join(map(str, each.cell))}: {each.message}" for each in event.failures]
        if event.error:
            self._failures.append(f"{task}: {event.error}")
        self._tracker.failures = len(self._failures)


def in_order(tasks: Sequence[Task], order: Order) -> list[Task]:
    """Put tasks in the order in which they are begun; equals stay replicate by replicate."""
    return sorted(tasks, key=cost, reverse=order == "longest")


def warm_up(task: Task) -> None:
    """Compile the kernels once, where they are not in the cache yet, before all workers do it at the same time."""
    search, _ = task.work[0]
    small = Task("asia", "n=50", 1, "file", ((search, ("U+BIC",)),), 0, 10)
    for _ in do_task(small):
        pass


def machine() -> str:
    """What the machine is, in a few words."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass  # not Linux
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def versions() -> dict[str, str]:
    """Versions of what the results were computed with."""
    found = {"python": platform.python_version()}
    for package in ("mapdag", "numpy", "numba", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from its sources  # noqa: PERF203
            continue
    return found


@dataclass(frozen=True)
class Status:
    """What is in a directory of results.

    Attributes
    ----------
    design : str
        Name of the design that it was last run with.
    progress : Progress
        Cells done, by network.
    elsewhere : int
        Cells that are done but not part of that design.
    runs : tuple of dict
        Every run: when, on which machine, how long.
    """

    design: str
    progress: Progress
    elsewhere: int
    runs: tuple[dict[str, object], ...]


def status(directory: str | Path) -> Status:
    """Say what is done, of the design that a directory was last run with."""
    with Store(directory) as store:
        design = store.design
        if design is None:
            raise ParameterError(f"{directory}: no run has begun here")
        done = store.cells()
        mine = done.intersection(all_cells(design))
        seconds = sum(run["seconds"] for run in store.runs)
        state = Progress(len(mine), design.n_cells, len(done), seconds, None, shares(design, mine))
        return Status(design.name, state, len(done) - len(mine), tuple(store.runs))
