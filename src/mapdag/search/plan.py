"""The front door: `learn`, and the searches by their names."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from mapdag.checks import is_one_of
from mapdag.data import ReadingOptions, as_dataset, split_options, with_gaps
from mapdag.errors import ParameterError, Setting
from mapdag.objective import DEFAULT, parse, parse_all, usual_values
from mapdag.objective.constraints import Constraints, complete_start, make_rules
from mapdag.progress import OnProgress, shown
from mapdag.public import public
from mapdag.search.canonical.columns import canonical_order
from mapdag.search.certified.search import search_certified
from mapdag.search.climbing.search import climb_hills, walk_tabu
from mapdag.search.exact.search import search_exactly
from mapdag.search.frame.options import Options
from mapdag.search.joint import search_jointly
from mapdag.search.orders.search import search_orders
from mapdag.search.repeats import calls_for_a_look, tell_repeats
from mapdag.wording import brief

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.contracts import Objective
    from mapdag.counts import Engine
    from mapdag.data import Dataset
    from mapdag.graphs import DAG
    from mapdag.objective import Goal
    from mapdag.search.frame.result import Result

SEARCHES: Mapping[str, Callable[..., Result]] = MappingProxyType(
    {
        "orders": search_orders,
        "hc": climb_hills,
        "tabu": walk_tabu,
        "exact": search_exactly,
        "certified": search_certified,
    }
)
TIES = ("data", "columns")

# Up to so many rows in all, or so many for each row with a weight, it is faster to repeat rows than to weigh them.
_FEW_ROWS, _FEW_TIMES = 100_000, 4


_GENERAL = tuple(each.name for each in fields(Options) if each.name not in ("constraints", "cancel"))
_LIMITS = tuple(each.name for each in fields(Constraints))


class SearchOptions(ReadingOptions, total=False):
    """How to read the table, which search, within which limits: what all that learn take; see `learn`."""

    search: str
    order: str
    required: Iterable[tuple[str, str]]
    forbidden: Iterable[tuple[str, str]]
    tiers: Sequence[Sequence[str]]
    max_parents: int | None
    start: DAG | None
    max_iter: int | None
    time_limit: float | None
    device: str
    effort: float | Literal["full"]
    restarts: int
    perturb: int | None
    memory: int
    patience: int
    within: float | None
    ranks: int


class LearnOptions(SearchOptions, total=False):
    """Options of `learn`."""

    seed: int
    threads: int | None
    engine: str | Callable[[Dataset], Engine]
    progress: OnProgress | bool | None


@dataclass(frozen=True)
class Plan:
    """How to search: the options of `learn`, checked, to be used on several tables."""

    search: str
    order: str
    options: Options
    special: Mapping[str, Any]

    @classmethod
    def make(cls, *, catch_interrupt: bool = True, **options: Any) -> Plan:
        """Check the options of `learn` that say how to search."""
        given: dict[str, Any] = {"search": "orders", "order": "data", **options, "catch_interrupt": catch_interrupt}
        search, order = given.pop("search"), given.pop("order")
        if not is_one_of(search, SEARCHES):
            raise ParameterError(f"search must be one of {', '.join(SEARCHES)}, got {brief(search)}")
        if not is_one_of(order, TIES):
            raise ParameterError(f"order must be one of {', '.join(TIES)}, got {brief(order)}")
        limits = {name: given.pop(name) for name in _LIMITS if name in given}
        general = {name: given.pop(name) for name in _GENERAL if name in given}
        special = {each: _special(each) for each in SEARCHES}
        for name in given:
            if name not in special[search]:
                takes = ", ".join(special[search]) or "no options of its own"
                told = [Setting("search", search), f" takes {takes}, not {name!r}"]
                owner = next((each for each in SEARCHES if name in special[each]), None)
                raise ParameterError(*told, *([", which is for ", Setting("search", owner)] if owner else []))
        return cls(search, order, Options(constraints=Constraints(**limits), **general), given)

    def changed(self, **options: Any) -> Plan:
        """Return the same plan with other general options."""
        return replace(self, options=replace(self.options, **options))

    def arrange(self, data: Dataset) -> tuple[Dataset, tuple[tuple[str, ...], ...]]:
        """Put the columns into the order by which ties are broken; also, which of them the data cannot tell apart.

        Rows that count several times are repeated where that is faster: compiled code counts rows, not weights.
        """
        engine = data.engine if self.options.engine is None else self.options.engine
        if is_one_of(engine, ("cores",)) and _worth_repeating(data):
            data = data.repeated()
        if self.order == "columns" or not data.has_rows:
            return data, ()
        found = canonical_order(data, threads=self.options.n_threads)
        alike = tuple(tuple(data.names[i] for i in group) for group in found.alike)
        return data.select([data.names[i] for i in found.columns]), alike

    @contextmanager
    def begun(self) -> Iterator[Options]:
        """Give the options of one run, its progress shown if that was asked for."""
        with shown(self.options.progress, lambda bar: bar.search) as tell:
            yield replace(self.options, progress=tell)

    def check(self, names: Sequence[str], objectives: Sequence[Objective]) -> None:
        """Refuse constraints that contradict each other, the prior or the start, for tables with these columns."""
        for objective in objectives:
            rules = make_rules(self.options.constraints, usual_values(objective, len(names)).prior, names)
            complete_start(self.options.start, rules, names)

    def concrete(self, goal: Objective, data: Dataset) -> Objective:
        """Return an objective with the values of alpha, and of c or beta, that the default search learns.

        Itself if nothing is to be learned.
        """
        if not goal.is_auto:
            return goal
        return replace(self, search="orders", special={}).run(data, [goal])[0].objective

    def run(self, data: Dataset, goals: Sequence[Goal], *, checked: bool = False) -> tuple[Result, ...]:
        """Learn under each objective, sharing one cache of family scores; after Ctrl-C the rest is not begun.

        `checked`: whether `check` has been asked about these columns and objectives.
        """
        with self.begun() as options:
            return self._run(data, goals, options, checked=checked)

    def _run(self, data: Dataset, goals: Sequence[Goal], options: Options, *, checked: bool) -> tuple[Result, ...]:
        table, names = data, data.names
        objectives = [parse(goal) for goal in goals]
        if not objectives:
            raise ParameterError("objectives must name at least one")
        if not checked:  # here, so that what is wrong is said in the order of the table
            self.check(names, objectives)
        data, alike = self.arrange(data)
        search, results = SEARCHES[self.search], []
        scores = options.make_cache(data, [each for each in objectives if not each.is_auto])
        for objective in objectives:
            if objective.is_auto:
                results.append(search_jointly(objective, data, options, search, self.special))
            else:
                results.append(search(objective, scores, options, **self.special))
            if results[-1].stopped == "interrupted":
                done = threading.Event()
                done.set()
                options = replace(options, cancel=done)
        return tuple(
            replace(
                each,
                dag=each.dag.reordered(names),
                data=table,
                alike=alike,
                certificate=each.certificate and each.certificate.reordered(names),
            )
            for each in results
        )


def _worth_repeating(data: Dataset) -> bool:
    """Whether rows with weights are counted faster one by one."""
    if data.weights is None or data.weights.dtype.kind == "f":
        return False
    return bool(data.total <= max(_FEW_ROWS, _FEW_TIMES * data.n_rows))


@cache
def _special(search: str) -> tuple[str, ...]:
    """Options of one search that not every search has."""
    parameters = inspect.signature(SEARCHES[search]).parameters.values()
    return tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)


@overload
def learn(data: Any, objective: Goal = ..., *, em: bool | None = ..., **options: Unpack[LearnOptions]) -> Result: ...
@overload
def learn(
    data: Any, objective: Sequence[Goal], *, em: bool | None = ..., **options: Unpack[LearnOptions]
) -> tuple[Result, ...]: ...
@public(LearnOptions)
def learn(
    data: Any,
    objective: Goal | Sequence[Goal] = DEFAULT,
    *,
    em: bool | None = None,
    **options: Unpack[LearnOptions],
) -> Result | tuple[Result, ...]:
    """Learn the DAG with the highest posterior score that a search can find.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes
    objective : Objective, Likelihood, str, or a sequence of them
        What to maximise: prior + likelihood, ``Support() + MU(c=1) + BDs(alpha=1)`` unless given. Several objectives
        share one cache of family scores and give a tuple of results. ``BDs(alpha="auto")``, ``BDeu(alpha="auto")``,
        ``MU(c="auto")`` and ``MU(beta="auto")`` leave a value to the data: it is learned together with the graph, and
        the objective of the result has it.
    em : bool, optional
        What to do about missing values that are kept (``missing="keep"``), under objectives that need complete rows,
        as all but `NAL` and `PNAL` do: True learns by `structural_em`, False refuses them. Unless given, it is
        `structural_em` where that takes a minute or two (17 million cells of rows with missing values, and pairs of
        these in a row); with ``impute="hard"`` for up to 67 million, and for scores that take whole counts only; beyond
        that, `PNAL` in place of the likelihood, with a warning. The type of the result (`EMResult`) and its objective
        say which.
    search : {"orders", "hc", "tabu", "exact", "certified"}
        Search over orders of the nodes, which gives the best graphs; hill climbing, which is the fastest; tabu search;
        the best of all graphs (some twenty nodes; see `docs/search.md`); or the best graph with a bound on all others
        (tens of nodes; see `docs/certified.md`).
    order : {"data", "columns"}
        How ties are broken: by what the data say of the nodes, so that neither the order of the columns nor names,
        labels or the order of the rows matter; or by the order of the columns, as R bnlearn does.
    required, forbidden : iterable of (str, str)
        Arcs that must, or must not, be in the graph.
    tiers : sequence of sequences of str
        Groups of nodes in temporal order: no arc goes from a later group to an earlier one.
    max_parents : int, optional
        Most parents that a node may have.
    start : DAG, optional
        Where to start; the empty graph unless given.
    max_iter : int, optional
        Most moves to make, for each objective.
    time_limit : float, optional
        Seconds, for each objective, after which the best graph so far is returned, marked as such. So does Ctrl-C. The
        time that kernels take to compile, once on a machine, does not count.
    seed : int
        For whatever is random (restarts); 0 unless given.
    threads : int, optional
        Threads to count and score with, all cores unless given; the result does not depend on it.
    engine : str or callable, optional
        Who counts: "cores", this machine, where the table is in memory; or another engine that was registered, or a
        function that makes one for a data set (`docs/extend.md`). The result does not depend on it.
    device : {"cpu", "cuda", "auto"}
        Where rows are counted and terms summed: "cuda" is an NVIDIA GPU (extra ``gpu``), "auto" one if there is one and
        it is worth it; "cpu" unless given. The result, which says who it was, does not depend on it.
    progress : bool or callable
        True shows a bar while the search runs, in a terminal or a notebook; a function is called with a `Progress`
        after every step. Nothing is shown unless asked for.
    **options
        Those above; the options of one search: ``effort`` of "orders" (a multiple of the usual work, or
        "full": without a bound on it, see `docs/search.md`), ``restarts`` and ``perturb`` of "hc",
        ``memory`` and ``patience`` of "tabu", ``within`` and ``ranks`` of "certified"; and, where `data` is no
        `Dataset` yet, those of `mapdag.read`: ``levels``, ``like``, ``weights``, ``weighting``, ``groups``,
        ``interventions``, ``drop``, ``missing``, ``missing_values``, ``discretize``, ``codes``, ``max_levels``,
        ``lump``, ``separator`` and ``encoding``.

    Returns
    -------
    Result, or a tuple of them

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.read({"rain": ["no", "no", "yes", "yes"] * 50, "wet": ["no", "no", "yes", "yes"] * 50})
    >>> md.learn(data, "BDeu(1)").dag.arcs
    (('rain', 'wet'),)
    >>> counts = {"rain": ["no", "no", "yes", "yes"], "wet": ["no", "yes", "no", "yes"], "n": [70, 10, 5, 45]}
    >>> md.learn(counts, "BDeu(1)", weights="n").dag.arcs
    (('rain', 'wet'),)
    """
    reading, searching = split_options(options)
    if em is not None and not isinstance(em, bool):
        raise ParameterError(f"em must be True, False or None, got {brief(em)}")
    plan = Plan.make(**searching)
    goals, several = parse_all(objective)
    table = as_dataset(data, **(with_gaps(data, reading) if em else reading))
    if table.has_gaps and em is not False:
        from mapdag.search.em.search import learn_with_gaps  # which searches by plans

        found = learn_with_gaps(plan, table, goals, em=bool(em))
    else:
        found = plan.run(table, goals)
    if all(each.stopped != "interrupted" for each in found) and calls_for_a_look(table, [each.dag for each in found]):
        repeats = tell_repeats(table, plan.options.threads)
        found = tuple(replace(each, repeats=repeats) for each in found)
    return found if several else found[0]


@public(LearnOptions, but=["search"])
def hill_climb(data: Any, objective: Goal = DEFAULT, **options: Unpack[LearnOptions]) -> Result:
    """Learn by hill climbing over single-arc additions, deletions and reversals; options as in `learn`.

    Examples
    --------
    >>> import mapdag as md
    >>> md.hill_climb(md.network("asia").sample(500, seed=1), "BDeu(1)", restarts=3).converged
    True
    """
    options["search"] = "hc"
    return learn(data, objective, **options)


@public(LearnOptions, but=["search"])
def tabu(data: Any, objective: Goal = DEFAULT, **options: Unpack[LearnOptions]) -> Result:
    """Learn by tabu search, which goes on where hill climbing stops; options as in `learn`.

    Examples
    --------
    >>> import mapdag as md
    >>> md.tabu(md.network("asia").sample(500, seed=1), "BDeu(1)", patience=15).converged
    True
    """
    options["search"] = "tabu"
    return learn(data, objective, **options)
