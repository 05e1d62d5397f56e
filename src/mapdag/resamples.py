"""How sure is each arc: learning again and again from resampled rows, and the averaged network."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mapdag.checks import check_number, check_whole
from mapdag.data import as_dataset, split_options, with_gaps
from mapdag.errors import CycleError, ParameterError, Setting
from mapdag.families import check_gaps
from mapdag.graphs import DAG
from mapdag.objective import DEFAULT, parse
from mapdag.progress import OnCount, shown
from mapdag.public import public
from mapdag.search import Plan, SearchOptions
from mapdag.search.em.search import em_plan, learn_by_em, learned_once
from mapdag.search.frame.memory import tables_that_fit
from mapdag.search.repeats import tell_repeats
from mapdag.tables import SHOWN, Column, Table, Tabular
from mapdag.tasks import run_tasks
from mapdag.wording import brief, plural

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.contracts import Likelihood, Objective
    from mapdag.data import Dataset
    from mapdag.search import Result
    from mapdag.tasks import Lane

    Floats = NDArray[np.float64]


class Strength(NamedTuple):
    """How often two nodes were adjacent, and how often the arc between them went this way when they were."""

    start: str
    end: str
    strength: float
    direction: float


@dataclass(frozen=True)
class Bootstrap(Tabular):
    """Frequencies of arcs in graphs learned from resampled rows.

    Attributes
    ----------
    nodes : tuple of str
    objective : Objective
    replicates : int
    halves : int64 array (N, N)
        In how many graphs the equivalence class, with the directions that constraints add, has the arc i -> j, times
        two; an undirected edge counts once each way.
    """

    nodes: tuple[str, ...] = field(repr=False)
    objective: Objective
    replicates: int
    halves: NDArray[np.int64] = field(repr=False)

    @property
    def strength(self) -> Floats:
        """Share of graphs in which two nodes are adjacent."""
        share: Floats = (self.halves + self.halves.T) / (2 * self.replicates)
        return share

    @property
    def direction(self) -> Floats:
        """Share of graphs with i -> j among those in which the two are adjacent; 0 where they never are."""
        either = self.halves + self.halves.T
        share: Floats = self.halves / np.maximum(either, 1)
        return share

    @property
    def threshold(self) -> float:
        """Strength above which an arc is taken as real (Scutari and Nagarajan 2013).

        The distribution of the strengths of all pairs is compared with the one of a graph that is certain, t of the
        pairs at 0 and the rest at 1; t minimises the L1 distance between the two, and the threshold is the t-quantile:
        the smallest strength that at least a share t of the pairs does not exceed (R's type 1, as in R bnlearn).
        """
        observed = np.sort(self.strength[np.triu_indices(len(self.nodes), 1)])
        if not len(observed):
            return 0.0
        values, last = np.unique(observed, return_index=True)
        cumulative = np.append(last[1:], len(observed)) / len(observed)
        # On [0, 1] the distribution function is 0 up to the first value, then cumulative[i] up to value i + 1.
        heights = np.concatenate([[0.0], cumulative])
        widths = np.diff(np.concatenate([[0.0], values, [1.0]]))
        order = np.argsort(heights, kind="stable")
        middle = np.searchsorted(np.cumsum(widths[order]), widths.sum() / 2)
        t = heights[order][min(middle, len(heights) - 1)]
        return float(values[min(np.searchsorted(cumulative, t - 1e-12), len(values) - 1)])

    def arcs(self, above: float = 0.0) -> list[Strength]:
        """List the pairs that were adjacent in more than `above` of the graphs, or in all of them, strongest first.

        Each pair is listed once, in the direction it took more often.
        """
        return [Strength(*arc) for arc in self._ranked(check_number("above", above, least=0))]

    def _ranked(self, above: float) -> Iterator[tuple[str, str, float, float]]:
        strength, direction = self.strength, self.direction
        upper = np.triu(np.ones(strength.shape, dtype=bool), 1)
        i, j = np.nonzero(((strength > above) | (strength == 1)) & ((direction > 0.5) | ((direction == 0.5) & upper)))
        order = np.lexsort((-direction[i, j], -strength[i, j]))  # equals stay in the order of the nodes
        i, j = i[order], j[order]
        names = np.array(self.nodes, dtype=object)
        return zip(names[i], names[j], strength[i, j].tolist(), direction[i, j].tolist(), strict=True)

    def averaged(self, threshold: float | None = None) -> DAG:
        """Build the averaged network: the arcs above the threshold, strongest first, unless they close a cycle.

        Arcs between nodes that were adjacent in all graphs count as above any threshold, as in R bnlearn.

        Parameters
        ----------
        threshold : float, optional
            `threshold`, found from the data, unless given.
        """
        limit = self.threshold if threshold is None else check_number("threshold", threshold, least=0)
        if limit > 1:
            raise ParameterError(f"threshold must be between 0 and 1, got {brief(threshold)}")
        dag = DAG(self.nodes)
        for arc in self.arcs(above=limit):
            try:
                dag = dag.with_arc(arc.start, arc.end)
            except CycleError:  # noqa: PERF203 - the way to ask
                continue
        return dag

    def to_table(self, most: int | None = None, *, above: float = 0.0) -> Table:
        """Return a row for each pair that was adjacent in more than `above` of the graphs, or all; strongest first."""
        arcs = self.arcs(above)
        shown = arcs if most is None else arcs[: check_whole("most", most)]
        return Table(
            [
                Column("start", [arc.start for arc in shown]),
                Column("end", [arc.end for arc in shown]),
                Column("strength", np.array([arc.strength for arc in shown]), ".3f", right=True),
                Column("direction", np.array([arc.direction for arc in shown]), ".3f", right=True),
            ],
            title=f"{self.objective}, {plural(self.replicates, 'replicate')}, threshold {self.threshold:.3f}",
            left=len(arcs) - len(shown),
        )

    def _shown(self) -> Table:
        return self.to_table(SHOWN, above=self.threshold)


@public(SearchOptions)
def bootstrap(
    data: Any,
    objective: str | Objective | Likelihood = DEFAULT,
    *,
    R: int = 200,  # noqa: N803 - the name every textbook uses
    em: bool = False,
    relearn: bool = False,
    seed: int = 0,
    threads: int | None = None,
    cluster: Any = None,
    progress: OnCount | bool | None = None,
    **options: Unpack[SearchOptions],
) -> Bootstrap:
    """Learn from R resamples of the rows, to see how strong each arc is and how sure its direction.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes
    objective : Objective, Likelihood or str
    R : int
        Number of resamples.
    em : bool
        Learn by structural EM, for data with gaps.
    relearn : bool
        Whether "auto" values of alpha, and of c or beta, are learned from each resample; otherwise they are learned
        once, from the whole table. Resamples repeat rows, so that columns look more dependent in them than they are.
    seed : int
        Each resample has its own stream of random numbers: the result does not depend on who does it.
    threads : int, optional
        Resamples to learn from at a time; as many as there are cores unless given.
    cluster : optional
        Where to do it instead: the address of a scheduler of Dask, a client of it, or a number of processes to be
        started on this machine.
    progress : bool or callable
        True shows a bar; a function is called with the number of resamples done and R.
    **options
        As in `learn`. Where ``discretize`` chooses the cuts of continuous columns, it does so once, from the whole
        table: the resamples share them.

    Examples
    --------
    >>> import mapdag as md
    >>> columns = {"rain": ["no", "yes"] * 60, "wet": ["no", "yes"] * 60, "moon": ["new", "full", "full"] * 40}
    >>> data = md.read(columns)
    >>> strengths = md.bootstrap(data, "BDeu(1)", R=20, seed=1)
    >>> strengths.arcs()[0]
    Strength(start='rain', end='wet', strength=1.0, direction=0.5)
    >>> strengths.averaged()
    <DAG [rain][moon][wet|rain]>
    """
    R = check_whole("R", R, least=1)  # noqa: N806 - the paper's letter
    reading, searching = split_options(options)
    if em:
        reading = with_gaps(data, reading)
    goal = parse(objective)
    plan = (em_plan if em else Plan.make)(**searching, seed=seed, threads=threads)
    with shown(progress, lambda bar: bar.counter("resamples")) as tell:
        table = as_dataset(data, **reading)
        plan.check(table.names, [goal])
        if not em:
            check_gaps(table, goal.likelihood, Setting("em", True))
        tell_repeats(table, threads)
        if not relearn:
            goal = learned_once(plan, table, goal, em=em)
        job = _Resamples(table, goal, plan, plan.options.seed, em)
        with closing(_grow(job, R, threads=threads, cluster=cluster)) as found:
            for strengths in found:
                if tell is not None:
                    tell(strengths.replicates, R)
    return strengths


def growing(
    table: Dataset,
    objective: Objective,
    plan: Plan,
    *,
    R: int = 200,  # noqa: N803 - as there
    threads: int | None = None,
) -> Generator[Bootstrap, None, None]:
    """Give what is known after each resample, for those who watch; the last one is what `bootstrap` returns.

    Close it to leave early.

    Parameters
    ----------
    table : Dataset
    objective : Objective
    plan : Plan
        How to learn from each, and the seed.
    R, threads
        As in `bootstrap`.
    """
    check_whole("R", R, least=1)
    plan.check(table.names, [objective])
    return _grow(_Resamples(table, objective, plan, plan.options.seed, em=False), R, threads=threads)


def _grow(job: _Resamples, size: int, *, threads: int | None, cluster: Any = None) -> Generator[Bootstrap, None, None]:
    total = np.zeros((job.data.n_columns, job.data.n_columns), dtype=np.int64)
    most = tables_that_fit(job.data)
    tasks = run_tasks(job, size, what="resample", threads=threads, most=most, cluster=cluster)
    with closing(tasks) as found:
        for done, (_, halves) in enumerate(found, 1):
            total += halves
            yield Bootstrap(job.data.names, job.objective, done, total.copy())


def resample(data: Dataset, stream: np.random.SeedSequence) -> Dataset:
    """Draw as many rows as there are, with replacement; weighted rows in proportion to their weights.

    Where rows are grouped, whole groups are drawn. Otherwise, rows of each experiment are drawn from those of the same
    one: what is set is not left to chance.
    """
    rng, parts = np.random.default_rng(stream), data.experiments()
    if data.groups is not None:
        return _resampled_groups(data, data.groups, rng)
    if data.weights is None:
        return data.take(np.concatenate([rows[rng.integers(0, len(rows), len(rows))] for rows in parts]))
    times = np.zeros(data.n_rows, dtype=np.int64)
    for rows in parts:
        mine = data.weights[rows]
        times[rows] = rng.multinomial(math.ceil(math.fsum(mine)), mine / mine.sum())
    drawn = np.flatnonzero(times)
    was_set = data.interventions and data.interventions.take(drawn, data.names)
    gaps, codes = data.has_gaps, data.codes[:, drawn]
    return type(data)(data.names, data.levels, codes, times[drawn], has_gaps=gaps, interventions=was_set)


def _resampled_groups(data: Dataset, groups: NDArray[np.int64], rng: np.random.Generator) -> Dataset:
    """Draw groups in proportion to their weights; each is drawn with all its rows, which share one observation."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    each = np.bincount(groups, weights=weights)
    times = rng.multinomial(max(round(data.total), 1), each / each.sum())
    drawn = np.flatnonzero(times[groups])
    counts = (times[groups] * weights / each[groups])[drawn]
    was_set = data.interventions and data.interventions.take(drawn, data.names)
    return replace(data, codes=data.codes[:, drawn], weights=counts, groups=groups[drawn], interventions=was_set)


@dataclass(frozen=True)
class _Resamples:
    """What all resamples share."""

    data: Dataset
    objective: Objective
    plan: Plan
    seed: int
    em: bool

    def do(self, number: int, lane: Lane) -> NDArray[np.uint8]:
        """Learn from one resample: arcs of the class as constraints direct them, 2 where i -> j, 1 where i - j."""
        stream = np.random.SeedSequence(self.seed, spawn_key=(number,))
        seed = int(stream.generate_state(1)[0])
        plan = self.plan.changed(seed=seed, threads=lane.threads, cancel=lane.cancel)
        drawn = resample(self.data, stream)
        learned: Result = (
            learn_by_em(plan, drawn, self.objective) if self.em else plan.run(drawn, [self.objective], checked=True)[0]
        )
        adjacency = learned.identified.to_adjacency()
        return np.where(adjacency & adjacency.T, 1, 2 * adjacency).astype(np.uint8)
