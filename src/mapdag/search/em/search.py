"""Structural EM (Friedman 1998): complete the rows by what a network expects, learn from them, and again."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal

from mapdag.checks import check_whole, is_one_of
from mapdag.data import ScannedDataset, as_dataset, split_options, with_gaps
from mapdag.data.interventions import refuse_interventions
from mapdag.errors import DataError, Function, ParameterError
from mapdag.networks import fit
from mapdag.notices import warn
from mapdag.objective import DEFAULT, parse
from mapdag.public import public
from mapdag.scores import PNAL
from mapdag.search.em.result import EMResult, EMStep
from mapdag.search.em.steps import Run, clock
from mapdag.search.frame.result import Result
from mapdag.search.plan import LearnOptions, Plan
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.objective import Goal

DRAWS, STEPS = 64, 20
SOFT_WORK, HARD_WORK = 1 << 24, 1 << 26
"""Up to which `learn` takes structural EM, soft and hard: cells of rows with gaps, and pairs of gaps in a row.

Either takes a minute or two of one core: 10^5 rows of ALARM with a fifth of the cells missing are 10 million.
"""
MOST_CELLS = 1 << 31
"""Cells of a table in files, or on a cluster, up to which structural EM takes all rows into memory: 2 GiB."""


@public(LearnOptions)
def structural_em(
    data: Any,
    objective: Goal = DEFAULT,
    *,
    impute: Literal["soft", "hard"] = "soft",
    draws: int = DRAWS,
    starts: int | None = None,
    max_steps: int = STEPS,
    **options: Unpack[LearnOptions],
) -> EMResult:
    """Learn a graph from data with gaps under any objective (Friedman 1998).

    Each step completes the rows by what the network so far expects, learns a graph from them, and fits its
    probabilities by EM; until a search gains nothing, the score for what is known gains nothing, or steps run out.
    That score never falls, and the last graph is the best one by it. Values must be missing at random, that is, for
    reasons that what is known explains. Without missing values the result is that of `mapdag.learn`.

    The default search is done on rows with their most probable completion, which are counted fast. Where `impute` is
    "soft", graphs are nevertheless judged by all completions, and at last steps that count all completions go on by
    hill climbing from the graph so far.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes
        Gaps are kept as such (``missing="keep"``) unless `missing` says otherwise. The rows of a table that was
        scanned, or that is on a cluster, are taken into memory, where they have at most 2 billion cells.
    objective : Objective, Likelihood or str
        As in `mapdag.learn`; one that takes fractions of rows unless `impute` is "hard" (fNML and qNML do not).
    impute : {"soft", "hard"}
        Judge graphs by all completions of a row with their probabilities, or by the most probable one only, as R
        bnlearn does: that is faster, and makes the data look surer than they are. Searches other than the default one
        take all completions in every step, too.
    draws : int
        Expected counts are exact, but for gaps of a row that depend on each other and may hold more than a thousand
        joint levels, or fewer where there is no room for all rows (8 million in all): there as many draws stand for
        them, spread evenly, a power of two. ``data.drawn`` of the result says how many gaps that were.
    starts : int, optional
        How often to start: from what PNAL learns from the rows that are complete in a family, which many gaps may lead
        astray; from the empty graph; then from gaps filled at random. Or from `start`, and then at random. The best by
        `EMResult.observed_score` is returned. 2 unless given; 1 with `start`. The default search compares them on a
        sample of 10,000 rows where there are more than 40,000, and goes on from the best with all rows.
    max_steps : int
        Most steps of each start: under the default search, of each of three stages, which are one order of the nodes,
        all orders, and, if `impute` is "soft", hill climbing with all completions.
    **options
        As in `mapdag.learn`, for the search in each step, which begins with the graph of the last. ``time_limit`` and
        Ctrl-C are about the whole.

    Returns
    -------
    EMResult

    Examples
    --------
    >>> import mapdag as md
    >>> rows = md.network("asia").sample(500, seed=1).to_pandas()
    >>> rows.loc[::3, "lung"] = None
    >>> found = md.structural_em(rows, "BDeu(1)", missing="keep", levels=dict(md.network("asia").levels))
    >>> found.converged, found.network.dag == found.dag
    (True, True)
    """
    reading, searching = split_options(options)
    if not is_one_of(impute, ("soft", "hard")):
        raise ParameterError(f"impute must be 'soft' or 'hard', got {brief(impute)}")
    draws = check_whole("draws", draws, least=1)
    starts = None if starts is None else check_whole("starts", starts, least=1)
    max_steps = check_whole("max_steps", max_steps, least=1)
    if draws & (draws - 1):
        raise ParameterError(f"draws must be a power of two, got {draws}")
    goal = parse(objective)
    plan = em_plan(**searching)
    table = as_dataset(data, **with_gaps(data, reading))
    plan.check(table.names, [goal])
    return learn_by_em(plan, table, goal, impute=impute, draws=draws, starts=starts, max_steps=max_steps)


def em_plan(**options: Any) -> Plan:
    """Check the options of the search in each step."""
    engine = options.pop("engine", None)
    if engine is not None and not is_one_of(engine, ("cores",)):
        raise ParameterError(
            'engine must be "cores" in structural EM: what rows are expected to hold is counted in memory'
        )
    return Plan.make(**options)


def learn_by_em(
    plan: Plan,
    table: Dataset,
    goal: Objective,
    *,
    impute: Literal["soft", "hard"] = "soft",
    draws: int = DRAWS,
    starts: int | None = None,
    max_steps: int = STEPS,
) -> EMResult:
    """Do as `structural_em` does, by a plan, options and constraints being checked."""
    if goal.likelihood.whole_counts and impute == "soft":
        raise DataError(
            f"{goal.likelihood} is defined for whole counts, but completions by their probabilities are fractions of "
            "rows: pass impute='hard' to mapdag.structural_em, or take another score"
        )
    if not table.has_gaps:
        return _from_complete_rows(plan, table, goal)
    refuse_interventions(table, "structural EM", "; learn under PNAL, which does")
    arranged, alike = plan.arrange(_in_memory(table))
    run = Run(arranged, goal, replace(plan, order="columns"), impute, draws, max_steps, clock())
    found = run.best(starts or (2 if plan.options.start is None else 1))
    names = table.names
    return replace(
        found,
        dag=found.dag.reordered(names),
        network=found.network.reordered(names),
        data=found.data.select(names),
        incomplete=table,
        alike=alike,
        certificate=found.certificate and found.certificate.reordered(names),
    )


def _in_memory(table: Dataset) -> Dataset:
    """Return a table in memory whose rows are in files, or on a cluster."""
    if not isinstance(table, ScannedDataset):
        return table
    if table.n_rows * table.n_columns > MOST_CELLS:
        raise DataError(
            f"structural EM needs all rows in memory, and {table.n_rows:,} rows of {table.n_columns:,} columns are too "
            f"many (more than {MOST_CELLS:,} cells): pass data.sample(n); or learn under PNAL, which goes by counts"
        )
    return table.to_dataset()


def learned_once(plan: Plan, table: Dataset, goal: Objective, *, em: bool) -> Objective:
    """Return an objective with the values of alpha, and of c or beta, that a table gives; itself if all are given."""
    return learn_by_em(plan, table, goal).objective if em and goal.is_auto else plan.concrete(goal, table)


def learn_with_gaps(plan: Plan, table: Dataset, goals: Sequence[Objective], *, em: bool) -> tuple[Result, ...]:
    """Learn from rows with gaps under each objective by the best way that is feasible, as `mapdag.learn` says.

    `em`: by structural EM, however long that takes, also under objectives that take gaps as they are.
    """
    gaps = table.gaps
    rows = gaps.rows - gaps.complete
    work = rows * table.n_columns + sum(gaps.missing.values()) + 2 * sum(gaps.together.values())
    if table.interventions is not None:
        work = HARD_WORK + 1
    ways = [_way(0 if em else work, goal, em=em) for goal in goals]
    plain = [goal if way == "gaps" else goal.prior + PNAL() for goal, way in zip(goals, ways, strict=True)]
    counted = [i for i, way in enumerate(ways) if way in ("gaps", "PNAL")]
    found: dict[int, Result] = {}
    if counted:
        found |= zip(counted, plan.run(table, [plain[i] for i in counted]), strict=True)
    for i, way in enumerate(ways):
        if way in ("soft", "hard"):
            em_plan(engine=plan.options.engine)
            plan.check(table.names, [goals[i]])
            found[i] = learn_by_em(plan, table, goals[i], impute=way)
        elif way == "PNAL":
            why, way_out = (
                f"structural EM would take long for {rows:,} rows with missing values",
                " takes them all the same",
            )
            if table.interventions is not None:
                why, way_out = "structural EM takes no interventions", " takes rows without"
            warn(
                f"{goals[i].likelihood} needs complete rows, and {why}: the graph was learned under PNAL, from rows "
                "that are complete in a family; ",
                Function("em", "structural_em"),
                way_out,
            )
    return tuple(found[i] for i in range(len(goals)))


def _way(work: int, goal: Objective, *, em: bool) -> Literal["gaps", "soft", "hard", "PNAL"]:
    """Choose how to learn from rows with gaps: a function of the table and the objective."""
    if not em and goal.likelihood.takes_gaps:
        return "gaps"
    if not em and work > HARD_WORK:
        return "PNAL"
    return "soft" if work <= SOFT_WORK and not goal.likelihood.whole_counts else "hard"


def _from_complete_rows(plan: Plan, table: Dataset, goal: Objective) -> EMResult:
    """Learn from rows without gaps: that is the search, and nothing else."""
    (found,) = plan.run(table, [goal], checked=True)
    network = fit(found.dag, table, alpha=found.fit_alpha)
    joint = found.learned.log_hyperprior if found.learned else 0.0
    log = network.log_likelihood(table)
    given = {each.name: getattr(found, each.name) for each in fields(Result)}
    step = EMStep(found.score, found.score, found.score + joint, log, found.dag.n_arcs)
    return EMResult(**given, network=network, incomplete=table, steps=(step,), observed_score=found.score + joint)
