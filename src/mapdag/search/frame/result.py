"""What a search returns: values only."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.data import as_dataset
from mapdag.data.groups import rows_of
from mapdag.data.interventions import always_set
from mapdag.errors import DataError
from mapdag.graphs import NextExperiments, meek_closure, next_experiments
from mapdag.graphs.dag import check_dag
from mapdag.graphs.drawable import Drawable
from mapdag.notices import warn
from mapdag.objective import (
    DEFAULT,
    USUAL,
    USUAL_ALPHA,
    ThinFamily,
    find_hyperparameters,
    parse,
    score,
    thin_families,
    thin_sentence,
)
from mapdag.objective.constraints import Constraints, make_rules
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import named, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mapdag.contracts import Likelihood, Objective
    from mapdag.data import Dataset
    from mapdag.graphs import CPDAG, DAG
    from mapdag.networks import CPT, AdjustedEffect, BayesianNetwork
    from mapdag.objective import Hyperparameters
    from mapdag.objective.constraints import Rules
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.certificate import Certificate
    from mapdag.search.frame.watch import Watch
    from mapdag.search.repeats import Repeats

MoveKind = Literal["add", "delete", "reverse", "reorder", "restart"]
Stopped = Literal["converged", "max_iter", "time_limit", "interrupted", "given"]

_NAMED = 10  # columns of a group that are named


@dataclass(frozen=True)
class Move:
    """One step of a search.

    Attributes
    ----------
    kind : {"add", "delete", "reverse", "reorder", "restart"}
        A reorder takes the graph of a better order of the nodes, a restart jumps to another graph; they have no arc.
    start, end : str
        The arc, as it was before the move.
    delta : float
        What the move added to the score.
    score : float
        The score after it.
    n_arcs : int
        Arcs after it.
    """

    kind: MoveKind
    start: str
    end: str
    delta: float
    score: float
    n_arcs: int

    def __str__(self) -> str:
        arc = f" {self.start} -> {self.end}" if self.start else ""
        return f"{self.kind}{arc} ({self.delta:+.3f})"


@dataclass(frozen=True, repr=False)
class Result(Drawable, Tabular):
    """A learned graph, its score and how it was found.

    Attributes
    ----------
    dag : DAG
        The best graph found.
    objective : Objective
        What was maximised.
    log_prior, log_likelihood : float
        The two parts of the score.
    trace : tuple of Move
        Every step, in order.
    families : int
        Families counted for this result (fewer when another objective had counted them before).
    seconds : float
        Wall-clock time.
    stopped : {"converged", "max_iter", "time_limit", "interrupted", "given"}
        Why the search ended; unless it converged, `dag` is the best graph so far, or there was no search (`given`).
    data : Dataset
        What it was learned from.
    knowledge : tuple of (str, str)
        Arcs whose direction the constraints or the prior impose.
    alike : tuple of tuples of str
        Groups of columns that the data cannot tell apart, such as copies of a column: which of them an arc goes to is
        decided by their names (with ``order="columns"``, where this is empty, by their order).
    certificate : Certificate, optional
        How far the best possible graph can be, where that was asked for.
    device : str
        Who counted the rows: "cpu", or the name of a GPU.
    learned : Hyperparameters, optional
        How alpha, and c or beta, were learned, where the objective left that to the data.
    constraints : Constraints
        What the graph had to obey; without them, the score of a graph whose required arcs `Support` would rule out is
        another one.
    left_out : str
        What the default search left out, as it would have been more than its usual work; ``effort="full"`` does it.
    repeats : Repeats, optional
        What speaks against independent rows, where they repeat each other.
    """

    dag: DAG
    objective: Objective
    log_prior: float
    log_likelihood: float
    trace: tuple[Move, ...] = field(repr=False)
    families: int
    seconds: float
    stopped: Stopped
    data: Dataset = field(repr=False)
    knowledge: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    alike: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    certificate: Certificate | None = field(default=None, repr=False)
    device: str = field(default="cpu", repr=False)
    learned: Hyperparameters | None = field(default=None, repr=False)
    constraints: Constraints = field(default_factory=Constraints, repr=False)
    left_out: str = field(default="", repr=False)
    repeats: Repeats | None = field(default=None, repr=False)

    @classmethod
    def given(
        cls, graph: Any, data: Any, objective: str | Objective | Likelihood = DEFAULT, **constraints: Any
    ) -> Result:
        """Look at a graph that was given, not learned, in the same way: its score, its class, its report.

        Parameters
        ----------
        graph : DAG, or anything that has one as its ``dag``
        data : Dataset, or anything that `mapdag.read` takes
            With a column for every node; others are ignored.
        objective : Objective, Likelihood or str
        **constraints
            `required`, `forbidden`, `tiers` and `max_parents`, as in `mapdag.score`.

        Examples
        --------
        >>> import mapdag as md
        >>> asia = md.network("asia")
        >>> print(md.Result.given(asia, asia.sample(500, seed=1), "MU(c=1)+BDs(1)"))
        MU(c=1)+BDs(alpha=1): -1156.6150 = -22.2967 (prior) + -1134.3183
        8 nodes, 8 arcs: 5 compelled, 3 reversible (their directions are not identified)
        given, not learned
        """
        dag = check_dag("graph", getattr(graph, "dag", graph))
        table, goal = as_dataset(data).select(dag.nodes), parse(objective)
        learned = find_hyperparameters(dag, table, goal) if goal.is_auto else None
        limits = Constraints(**constraints)
        goal = goal if learned is None else learned.objective
        value = score(dag, table, goal, **limits.options)
        return cls(
            dag=dag,
            objective=goal,
            learned=learned,
            log_prior=value.log_prior,
            log_likelihood=value.log_likelihood,
            trace=(),
            families=0,
            seconds=0.0,
            stopped="given",
            data=table,
            knowledge=known_directions(dag, make_rules(limits, goal.prior, table.names)),
            constraints=limits,
        )

    @property
    def score(self) -> float:
        """Posterior score: log prior + log likelihood."""
        return self.log_prior + self.log_likelihood

    @property
    def observed(self) -> Dataset:
        """The rows as they were observed, missing values and all."""
        return self.data

    @property
    def converged(self) -> bool:
        """Whether the search ended by itself."""
        return self.stopped == "converged"

    @cached_property
    def cpdag(self) -> CPDAG:
        """Equivalence class of the graph: what the data can tell; experiments tell directions that others do not."""
        return self.dag.to_cpdag(self.targets)

    @property
    def targets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that were set in some rows; `Dataset.interventions`."""
        return () if self.data.interventions is None else self.data.interventions.targets

    @cached_property
    def settled(self) -> tuple[tuple[str, str], ...]:
        """Arcs that are compelled because of experiments: without them, data and constraints would leave them open."""
        if not self.targets:
            return ()
        open_before = _identified(self.dag.to_cpdag(), self.knowledge)
        return tuple(arc for arc in self.compelled if open_before.has_edge(*arc))

    @cached_property
    def identified(self) -> CPDAG:
        """The equivalence class, with the directions that the constraints add to it: what data and constraints tell."""
        return _identified(self.cpdag, self.knowledge)

    @property
    def compelled(self) -> tuple[tuple[str, str], ...]:
        """Arcs whose direction is the same in every equivalent graph that obeys the constraints."""
        return tuple(arc for arc in self.dag.arcs if self.identified.has_arc(*arc))

    @property
    def reversible(self) -> tuple[tuple[str, str], ...]:
        """Arcs that some equivalent graph has in the other direction: do not read a direction into them."""
        return tuple(arc for arc in self.dag.arcs if self.identified.has_edge(*arc))

    @cached_property
    def thin(self) -> tuple[ThinFamily, ...]:
        """Families with fewer rows per configuration of the parents than `Support` asks for, the thinnest first.

        Where the objective has no such limit, the usual one is applied; where it has, there are none, unless required
        arcs won against it. The score of such a family is hardly evidence for its arcs: see `docs/theory.md`.
        """
        support = self.objective.prior.support
        return thin_families(self.dag, self.data, USUAL if support is None else support)

    @property
    def left_out_sentence(self) -> str:
        """Say what the search left out for want of work, and how to have it; nothing if there is nothing."""
        if not self.left_out:
            return ""
        return f'usual work done, so left out: {self.left_out} (effort="full", --effort full: all of it)'

    @property
    def fit_alpha(self) -> float:
        """Imaginary sample size with which `fit` estimates probabilities: the learned alpha, else 1."""
        alpha = None if self.learned is None else self.learned.alpha
        return USUAL_ALPHA if alpha is None else alpha

    def fit(self, **options: Any) -> BayesianNetwork:
        """Estimate the parameters of the graph from the data it was learned from; options as in `mapdag.fit`.

        With the learned `alpha`, where the objective left it to the data, else with 1, unless given.
        """
        from mapdag.networks import fit

        return fit(self.dag, self.data, **{"alpha": self.fit_alpha, **options})

    def effect(self, cause: str, effect: str, **options: Any) -> CPT:
        """Return the distribution of a node after each intervention on another one, if the graph decides it.

        It does if arcs are causes, if nothing outside the table affects two of its columns, and if all graphs that fit
        equally well agree (`identified`). No table shows the first two; the third is checked here. Where the graph has
        no directed path from the cause to the effect, there is no effect in this graph; a warning says so, with the
        log Bayes factor of the missing arc and what the two columns alone say. `adjusted` needs no path.

        Parameters
        ----------
        cause, effect : str
            Two nodes.
        **options
            Of `mapdag.fit`.

        Raises
        ------
        GraphError
            If the direction of an arc on which the effect depends is not identified.

        Examples
        --------
        >>> import mapdag as md
        >>> data = md.network("asia").sample(5000, seed=1).select(["smoke", "bronc", "dysp"])
        >>> found = md.learn(data, tiers=[["smoke"], ["bronc"], ["dysp"]]).effect("smoke", "bronc")
        >>> found.values.round(2)
        array([[0.59, 0.41],
               [0.31, 0.69]])
        """
        self.identified.check_identifiable(cause, effect)
        if cause != effect and effect not in self.dag.descendants(cause) and cause not in self.dag.descendants(effect):
            warn(self._without_path(cause, effect))
        return self.fit(**options).effect(cause, effect)

    def _without_path(self, cause: str, effect: str) -> str:
        """Say that a graph without a path is no estimate of an effect, and what the data say."""
        alone = type(self.dag)([cause, effect])
        two = self.data.select([cause, effect])
        factors = [
            score(dag.with_arc(cause, effect), data, self.objective.likelihood).log_likelihood
            - score(dag, data, self.objective.likelihood).log_likelihood
            for dag, data in ((self.dag, self.data), (alone, two))
        ]
        told = (
            f"the graph has no directed path from {cause!r} to {effect!r}, so that it has no effect in this graph: "
            f"that is no estimate. The log Bayes factor of {cause} -> {effect} is {factors[0]:.3g} given all other "
            f"arcs, {factors[1]:.3g} in the two columns alone. "
        )
        sure = "mapdag.bootstrap and mapdag.arc_posteriors tell how sure the graph is"
        if self.targets:  # shares of rows in which variables were set are no probabilities
            return told + sure
        try:
            rates = self.adjusted(cause, effect)
        except DataError:  # no row has values in both
            return told + sure
        outcome = int(np.argmax(np.ptp(rates.mean, axis=0)))
        figures = zip(rates.levels[cause], rates.mean, rates.lower, rates.upper, strict=True)
        shares = [
            f"{mean[outcome]:.3f} ({low[outcome]:.3f} to {high[outcome]:.3f}) at {level!r}"
            for level, mean, low, high in figures
        ]
        return (
            f"{told}There, P({effect} = {rates.levels[effect][outcome]}) is {named(shares, 4)} of {cause!r}. "
            f"result.adjusted({cause!r}, {effect!r}, given=[...]) adjusts for what you choose; {sure}"
        )

    def adjusted(self, cause: str, effect: str, given: str | Iterable[str] = (), **options: Any) -> AdjustedEffect:
        """Return the effect of an intervention, adjusted for columns of one's own choice, with credible intervals.

        From the data alone: the graph has no part in it, nor have values that structural EM filled in: rows that lack
        one of the columns do not count. `mapdag.adjusted_effect` has the other options.

        Parameters
        ----------
        cause, effect : str
            Two columns.
        given : str or iterable of str
            What to adjust for. `dag.adjustment_set` proposes a set, `dag.is_adjustment_set` says whether one will do.

        Examples
        --------
        >>> import mapdag as md
        >>> result = md.learn(md.network("asia").sample(2000, seed=1))
        >>> found = result.adjusted("bronc", "dysp", given="smoke")
        >>> [round(value, 2) for value in found.difference("yes", "yes", "no")]
        [0.69, 0.65, 0.72]
        """
        from mapdag.networks import adjusted_effect

        return adjusted_effect(self.observed, cause, effect, given, **options)

    def next_experiments(self) -> NextExperiments:
        """Tell which variable to set next: how many of the open directions that would settle, on average.

        See `mapdag.next_experiments`; what constraints and earlier experiments tell is taken into account.

        Examples
        --------
        >>> import mapdag as md
        >>> found = md.learn(md.network("asia").sample(5000, seed=1), "MU(c=1)+BDs(1)")
        >>> print(found.next_experiments())
        2 edges of unknown direction; averages over 3 graphs of the class
        ...
        """
        return next_experiments(self.identified)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a page of HTML about the result that needs nothing else; options as in `mapdag.report.write_result`.

        Needs the extra ``plots``.
        """
        # By name, as `mapdag.report` is a layer above this one.
        import_module("mapdag.report").write_result(self, path, **options)

    def explore(self, *, height: int = 720) -> Any:
        """Show the explorer in a notebook: the graph follows the prior, beginning with this objective and these data.

        Needs the extra ``explore``; the page is served by this process, on this machine only.

        Parameters
        ----------
        height : int
            Of the frame, in pixels.
        """
        # By name, as `mapdag.explorer` is a layer above this one.
        return import_module("mapdag.explorer.doors").show(self, height=height)

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each arc: where it starts and ends, and whether its direction is identified."""
        reversible = set(self.reversible)
        arcs = self.dag.arcs[:most]
        return Table(
            [
                Column("start", [arc[0] for arc in arcs]),
                Column("end", [arc[1] for arc in arcs]),
                Column("direction", ["reversible" if arc in reversible else "compelled" for arc in arcs]),
            ],
            left=self.dag.n_arcs - len(arcs),
        )

    def _repr_html_(self) -> str:
        text: str = import_module("mapdag.report.notebook").result_html(self)
        return text

    def __repr__(self) -> str:
        return f"<Result {self.objective}: {self.score:.4f}, {plural(self.dag.n_arcs, 'arc')}, {self.stopped}>"

    def __str__(self) -> str:
        return "\n".join(
            [
                *([str(self.repeats)] if self.repeats else []),
                f"{self.objective}: {self.score:.4f} = {self.log_prior:.4f} (prior) + {self.log_likelihood:.4f}",
                f"{plural(len(self.dag.nodes), 'node')}, {plural(self.dag.n_arcs, 'arc')}{self._directions()}",
                self._ending(),
                *([f"learned from {rows_of(self.observed)}"] if self.observed.is_scaled else []),
                *([self.left_out_sentence] if self.left_out else []),
                *([str(self.learned)] if self.learned else []),
                *([str(self.certificate) + self._given_values()] if self.certificate else []),
                *([thin_sentence(self.thin, self.objective)] if self.thin else []),
                *self._experiments(),
                *(f"the data cannot tell apart: {named(group, _NAMED)}" for group in self.alike[:_NAMED]),
                *([f"... and {len(self.alike) - _NAMED:,} more such groups"] if len(self.alike) > _NAMED else []),
            ]
        )

    def _given_values(self) -> str:
        """Say what a proof takes for granted."""
        return f", given {self.learned.values}" if self.learned else ""

    def _directions(self) -> str:
        """Say which directions the data tell, where there are arcs."""
        if not self.dag.n_arcs:
            return ""
        told = f": {len(self.compelled):,} compelled, {len(self.reversible):,} reversible"
        whose = "its direction is" if len(self.reversible) == 1 else "their directions are"
        return told + (f" ({whose} not identified)" if self.reversible else "")

    def _experiments(self) -> list[str]:
        """Say what experiments have told, and what they cannot tell."""
        if not self.targets:
            return []
        variables = plural(len(set().union(*self.targets)), "variable")
        told = [f"experiments on {variables} settle the direction of {plural(len(self.settled), 'arc')}"]
        names = always_set(self.data.interventions)
        if names:
            whose = "its" if len(names) == 1 else "their"
            told.append(f"set in every row: {named(names, _NAMED)}; nothing can be learned about {whose} parents")
        return told

    def _ending(self) -> str:
        if self.stopped == "given":
            return "given, not learned"
        work = f"{plural(len(self.trace), 'move')}, {plural(self.families, 'family')}, {self.seconds:.3f} s"
        early = f"stopped early ({self.stopped.replace('_', ' ')}), best so far"
        where = "" if self.device == "cpu" else f" on {self.device}"
        return f"{work}{where}, {'converged' if self.converged else early}"


def _identified(cpdag: CPDAG, knowledge: Sequence[tuple[str, str]]) -> CPDAG:
    """Return what knowledge of directions adds to a class."""
    told = [arc for arc in knowledge if cpdag.has_edge(*arc)]
    return meek_closure(cpdag, told) if told else cpdag


def make_result(
    dag: DAG, objective: Objective, cache: FamilyCache, watch: Watch, *, families: int, trace: Iterable[Move] = ()
) -> Result:
    """Make a result of a graph, its score added up anew from its families."""
    which = cache.index(objective)
    members = [(i, tuple(dag.parent_indices(i))) for i in range(len(dag.nodes))]
    cache.score(members)
    parts = [float(cache.family(*family)[which]) for family in members]
    return Result(
        dag=dag,
        objective=objective,
        log_prior=objective.prior.log_prior(dag),
        log_likelihood=math.fsum(parts),
        trace=tuple(trace),
        families=families,
        seconds=watch.seconds,
        stopped=watch.stopped,
        data=cache.data,
        knowledge=known_directions(dag, cache.rules(objective)),
        device=cache.device,
        constraints=cache.constraints,
    )


def known_directions(dag: DAG, rules: Rules) -> tuple[tuple[str, str], ...]:
    """Return the arcs of a graph that constraints and prior do not allow the other way round."""
    index = {name: i for i, name in enumerate(dag.nodes)}
    places = [(index[a], index[b]) for a, b in dag.arcs]
    return tuple(arc for arc, (i, j) in zip(dag.arcs, places, strict=True) if rules.allowed[i, j] > rules.allowed[j, i])
