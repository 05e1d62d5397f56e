"""The front door: `learn`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from mapdag.errors import ParameterError
from mapdag.objective import DEFAULT, parse
from mapdag.search.climbing import hill_climb, tabu
from mapdag.search.constraints import Constraints
from mapdag.search.run import OnProgress, Options, as_dataset

if TYPE_CHECKING:
    from mapdag.contracts import Likelihood, Objective
    from mapdag.graphs import DAG
    from mapdag.search.result import Result

SEARCHES: Mapping[str, Callable[..., Result]] = MappingProxyType({"hc": hill_climb, "tabu": tabu})


@overload
def learn(data: Any, objective: str | Objective | Likelihood = ..., **options: Any) -> Result: ...
@overload
def learn(data: Any, objective: Sequence[str | Objective | Likelihood], **options: Any) -> tuple[Result, ...]: ...
def learn(
    data: Any,
    objective: str | Objective | Likelihood | Sequence[str | Objective | Likelihood] = DEFAULT,
    *,
    search: str = "hc",
    order: str = "columns",
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Sequence[Sequence[str]] = (),
    max_parents: int | None = None,
    start: DAG | None = None,
    max_iter: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: OnProgress | None = None,
    **special: Any,
) -> Result | tuple[Result, ...]:
    """Learn the DAG with the highest posterior score that a search can find.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes
    objective : Objective, Likelihood, str, or a sequence of them
        What to maximise: prior + likelihood, ``MU(c=1) + BDs(alpha=1)`` unless given. Several objectives share one
        cache of family scores and give a tuple of results.
    search : {"hc", "tabu"}
        Hill climbing or tabu search.
    order : {"columns"}
        How ties are broken: by the order of the columns.
    required, forbidden : iterable of (str, str)
        Arcs that must, or must not, be in the graph.
    tiers : sequence of sequences of str
        Groups of nodes in temporal order: no arc goes from a later group to an earlier one.
    max_parents : int, optional
        Most parents that a node may have.
    start : DAG, optional
        Where to start; the empty graph unless given.
    max_iter : int, optional
        Most moves to make.
    time_limit : float, optional
        Seconds after which the best graph so far is returned, marked as such. So does Ctrl-C.
    seed : int, optional
        For whatever is random (restarts).
    threads : int, optional
        Threads to count and score with; the result does not depend on it.
    progress : callable, optional
        Called with a `Progress` after every step.
    **special
        Options of one search: ``restarts`` and ``perturb`` of "hc", ``memory`` and ``patience`` of "tabu".

    Returns
    -------
    Result, or a tuple of them

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.read({"rain": ["no", "no", "yes", "yes"] * 50, "wet": ["no", "no", "yes", "yes"] * 50})
    >>> md.learn(data, "BDeu(1)").dag.arcs
    (('rain', 'wet'),)
    """
    if search not in SEARCHES:
        raise ParameterError(f"search must be one of {', '.join(SEARCHES)}, got {search!r}")
    if order != "columns":
        raise ParameterError(f"order must be 'columns', got {order!r}")
    table = as_dataset(data)
    options = Options(
        constraints=Constraints(required, forbidden, tiers, max_parents),
        start=start,
        max_iter=max_iter,
        time_limit=time_limit,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    several = isinstance(objective, Sequence) and not isinstance(objective, str)
    objectives = [parse(each) for each in objective] if several else [parse(objective)]  # type: ignore[union-attr,arg-type]
    cache = options.make_cache(table, objectives)
    check_special(search, special)
    results = tuple(SEARCHES[search](each, cache, options, **special) for each in objectives)
    return results if several else results[0]


def check_special(search: str, special: Mapping[str, Any]) -> None:
    """Refuse options that a search does not take."""
    known = [name for name, p in inspect.signature(SEARCHES[search]).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in special:
        if name not in known:
            raise ParameterError(f"search={search!r} takes {', '.join(known)}, not {name!r}")
