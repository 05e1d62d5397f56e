"""Search for a graph together with alpha, and c or beta: what maximises their joint score.

Hill climbing under a small grid of alphas, with shared counts, gives the first graphs: a dense graph favours a large
alpha, and a large alpha dense graphs, so that there are several local maxima. From the best of them, the chosen search
under the values so far and the choice of values for its graph alternate. A step that does not raise the joint score is
not taken, so that it never falls.
"""

from __future__ import annotations

import math
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from mapdag.families import check_gaps
from mapdag.notices import warn
from mapdag.objective import find_hyperparameters, usual_values
from mapdag.search.climbing.moves import tie
from mapdag.search.climbing.search import climb_hills, walk_tabu
from mapdag.search.exact.lattice import Lattice
from mapdag.search.exact.search import search_exactly
from mapdag.search.frame.watch import EarlyEnd, Watch
from mapdag.search.orders.search import search_orders
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.objective import Hyperparameters
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.result import Result

START_ALPHAS = (0.5, 5.0, 50.0)  # hill climbing begins under each
_BEFORE = {climb_hills: (), walk_tabu: (climb_hills,), search_orders: (climb_hills,)}  # searches before the chosen one
MAX_ROUNDS = 4  # of each search
CLOSE = 0.5  # nats below the most probable values of a graph that others are kept, since it was found under them


def search_jointly(
    objective: Objective,
    data: Dataset,
    options: Options,
    search: Callable[..., Result],
    special: Mapping[str, Any],
) -> Result:
    """Find the graph, the alpha and the c or beta with the highest joint score.

    Parameters
    ----------
    objective : Objective
        With something to be learned.
    data : Dataset
    options : Options
        A time limit is one for the whole.
    search : callable
        Exact and certified search come last, after the default search has found values.
    special : mapping
        Options of that search.
    """
    check_gaps(data, objective.likelihood)
    if search is search_exactly:  # what is too large for it is refused before the other searches begin
        usual = usual_values(objective, data.n_columns)
        Lattice(options.make_cache(data, [usual]), usual, options)
    run = _Joint(objective, data, options)
    with run.watch:
        run.climb()
        for each in _BEFORE.get(search, (climb_hills, search_orders)):
            run.alternate(each, {})
        run.alternate(search, special, last=True)
    run.ensure_graph()
    return run.result()


@dataclass
class _Joint:
    """The best graph and values so far, and what finding them took."""

    asked: Objective
    data: Dataset
    options: Options
    watch: Watch = field(init=False)
    families: int = 0
    best: Result | None = None
    values: Hyperparameters | None = None

    def __post_init__(self) -> None:
        self.watch = Watch(self.options)

    def climb(self) -> None:
        """Climb hills under each alpha of the grid, and under the prior of a graph without arcs, sharing counts."""
        n = self.data.n_columns
        sparse = usual_values(self.asked, n, START_ALPHAS[1], arcs_per_node=0)
        grid = list(dict.fromkeys([*(usual_values(self.asked, n, alpha) for alpha in START_ALPHAS), sparse]))
        cache = self.options.make_cache(self.data, grid)
        for objective in grid:
            self._accept(climb_hills(objective, cache, self._left()), -math.inf)

    def ensure_graph(self) -> None:
        """Take the graph to start from, where the search was interrupted before it had any."""
        if self.best is None:
            usual, interrupted = usual_values(self.asked, self.data.n_columns), threading.Event()
            interrupted.set()
            cache = self.options.make_cache(self.data, [usual])
            with suppress(EarlyEnd):
                self._accept(climb_hills(usual, cache, replace(self.options, cancel=interrupted)), -math.inf)

    def alternate(self, search: Callable[..., Result], special: Mapping[str, Any], *, last: bool = False) -> None:
        """Search under the best values, choose the values that fit the graph, and so on, while that gains.

        Graphs of the `last` search are taken if they are as good as the best one: it may prove that they are optimal.
        """
        for _ in range(MAX_ROUNDS):
            assert self.values is not None
            under = self.values
            cache = self.options.make_cache(self.data, [under.objective])
            found = search(under.objective, cache, self._left(), **special)
            gained = self._accept(found, under.log_hyperprior, or_equal=last)
            if not gained or self.values.objective == under.objective:
                return

    def _left(self) -> Options:
        """Return the options with the time that is left; raises where none is, if there is something to return."""
        if self.best is not None:
            self.watch.check()
        limit = None if self.options.time_limit is None else max(self.watch.left, 1e-3)
        return replace(self.options, time_limit=limit)

    def _accept(self, found: Result, log_hyperprior: float, *, or_equal: bool = False) -> bool:
        """Take a graph, with the values that fit it, if that raises the joint score; tells whether it does.

        `log_hyperprior`: of the values under which it was found, which are kept if they are as good as any.
        """
        values = find_hyperparameters(
            found.dag, self.data, self.asked, engine=self.options.engine, threads=self.options.n_threads
        )
        if values.score - (found.score + log_hyperprior) < CLOSE:
            values = replace(
                values,
                objective=found.objective,
                log_prior=found.log_prior,
                log_likelihood=found.log_likelihood,
                log_hyperprior=log_hyperprior,
            )
        self.families += found.families
        before = -math.inf if self.values is None else self.values.score
        gained = values.score - before > tie(values.score)
        if gained or (or_equal and values.score >= before - tie(before)):
            self.best, self.values = found, values
        if found.stopped in ("interrupted", "time_limit"):
            raise EarlyEnd(found.stopped)
        return gained

    def result(self) -> Result:
        """Return the best graph, scored under its own values."""
        assert self.best is not None
        assert self.values is not None
        if self.values.is_flat:
            warn(
                f"{plural(self.data.n_rows, 'row')}: too few to learn alpha, which has the most probable value of its "
                "prior distribution"
            )
        return replace(
            self.best,
            objective=self.values.objective,
            log_prior=self.values.log_prior,
            log_likelihood=self.values.log_likelihood,
            families=self.families,
            seconds=self.watch.seconds,
            stopped=self.best.stopped if self.watch.stopped == "converged" else self.watch.stopped,
            learned=self.values,
        )
