"""What every search takes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mapdag.checks import check_positive, check_whole
from mapdag.counts.device.devices import check_device, engine_on
from mapdag.errors import ParameterError, Setting
from mapdag.graphs import DAG
from mapdag.objective.constraints import Constraints
from mapdag.search.cache import FamilyCache
from mapdag.tasks import available_cores
from mapdag.wording import brief

if TYPE_CHECKING:
    from mapdag.contracts import Objective
    from mapdag.counts import Engine
    from mapdag.data import Dataset
    from mapdag.progress import OnProgress


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every search takes.

    Parameters
    ----------
    constraints : Constraints
        Required and forbidden arcs, tiers, a limit on parents.
    start : DAG, optional
        Where to start; the empty graph unless given.
    max_iter : int, optional
        Most moves to make.
    time_limit : float, optional
        Seconds after which the best graph so far is returned; compilation of kernels does not count.
    seed : int
        For whatever is random.
    threads : int, optional
        Threads to count and score with, as many as there are cores unless given; the result does not depend on it.
    engine : str or callable, optional
        Who counts, see `mapdag.counts.engine`, as the data set says unless given; the result does not depend on it.
    device : {"cpu", "cuda", "auto"}
        Where an engine that is not given counts: see `mapdag.counts.device`; the result does not depend on it.
    progress : bool or callable
        True for a bar; or a function that is called with a `Progress` after every step.
    catch_interrupt : bool
        Whether Ctrl-C ends the search with the best graph so far; otherwise it is raised.
    cancel : threading.Event, optional
        Ends the search when it is set, as Ctrl-C does.
    """

    constraints: Constraints = field(default_factory=Constraints)
    start: DAG | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    seed: int = 0
    threads: int | None = None
    engine: str | Callable[[Dataset], Engine] | None = None
    device: str = "cpu"
    progress: OnProgress | bool | None = None
    catch_interrupt: bool = True
    cancel: threading.Event | None = None

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            object.__setattr__(self, "time_limit", check_positive("time_limit", self.time_limit))
        for name in ("max_iter", "threads"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_whole(name, getattr(self, name), least=1))
        object.__setattr__(self, "seed", check_whole("seed", self.seed))
        if self.start is not None and not isinstance(self.start, DAG):
            raise ParameterError(f"start must be a DAG, got {brief(self.start)}")
        check_device(self.device)
        if self.engine is not None and self.device == "cuda":
            raise ParameterError("engine and ", Setting("device", "cuda"), " both say who counts: give one of them")

    @property
    def n_threads(self) -> int:
        """Threads to use: as many as there are cores for this process unless told otherwise."""
        return self.threads or available_cores()

    def make_cache(self, data: Dataset, objectives: list[Objective]) -> FamilyCache:
        """Cache of family scores for some objectives."""
        engine = engine_on(self.device, data) if self.engine is None else self.engine
        return FamilyCache(data, objectives, constraints=self.constraints, engine=engine, threads=self.n_threads)
