"""The front door: `posterior`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.checks import check_positive, check_whole, is_one_of
from mapdag.data import as_dataset, split_options
from mapdag.errors import CapacityError, MapdagError, ParameterError, Setting
from mapdag.objective import DEFAULT, parse
from mapdag.objective.constraints import complete_start
from mapdag.public import public
from mapdag.sampling.chains import Chains
from mapdag.sampling.convergence import effective_size, monte_carlo_error, normal_scores, r_hat
from mapdag.sampling.graph_posterior import Convergence, Drawn, Posterior
from mapdag.sampling.layering import ExactSums, LayerDraws
from mapdag.sampling.parent_lists import list_families, members_of
from mapdag.search.exact.lattice import Lattice
from mapdag.search.exact.posterior import MOST_DAGS, PosteriorSums
from mapdag.search.frame.watch import EarlyEnd, Watch
from mapdag.search.orders.search import search_orders
from mapdag.search.plan import LearnOptions, Plan
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.objective import Goal
    from mapdag.sampling.chains import Run
    from mapdag.sampling.parent_lists import ListedFamilies
    from mapdag.search.cache import FamilyCache
    from mapdag.search.frame.options import Options

    Floats = NDArray[np.float64]

METHODS = ("auto", "exact", "chains")
_EXACT = 16  # nodes up to which the sum over graphs takes a few seconds
_LISTING = 1 / 3  # of the time limit that sets of parents may be scored for


@public(LearnOptions, but=["search", "start", "max_iter"])
def posterior(
    data: Any,
    objective: Goal = DEFAULT,
    *,
    method: str = "auto",
    chains: int = 4,
    draws: int = 1000,
    error: float = 0.005,
    sweeps: int = 100_000,
    **options: Unpack[LearnOptions],
) -> Posterior:
    """Compute or sample the posterior over graphs, P(graph | data).

    Parameters
    ----------
    data, objective
        As in `mapdag.learn`; the prior must be a sum over arcs. "auto" values are learned by the default search, and
        taken as given here.
    method : {"auto", "exact", "chains"}
        "exact" sums over all graphs (at most 18 nodes) and draws graphs independently; "chains" samples them by Markov
        chains, whose steps draw the parents of a few nodes anew, all at once; "auto" is exact for at most 16 nodes.
    chains : int
        How many chains; the first one starts at the graph of a quick search, the others come from anywhere.
    draws : int
        Graphs to draw where the method is exact; chains keep as many as it takes.
    error : float
        Chains run until no arc's probability has a larger Monte Carlo standard error.
    sweeps : int
        And no longer than so many sweeps over all nodes, each.
    **options
        Constraints, `seed`, `threads`, `time_limit`, `progress` and how to read the table, as in `mapdag.learn`. When
        `time_limit` is reached, or Ctrl-C pressed, the chains so far are returned. Without them the result depends on
        the seed, but neither on `threads` nor on the order of the columns.

    Returns
    -------
    Posterior

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.network("asia").sample(500, seed=1)
    >>> found = md.posterior(data, "MU(c=1)+BDs(1)", seed=1)
    >>> 0.99 < found.edge("smoke", "bronc") <= 1
    True
    >>> found.method, len(found.graphs)
    ('exact', 1000)
    """
    if not is_one_of(method, METHODS):
        raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {brief(method)}")
    chains, draws = check_whole("chains", chains, least=2), check_whole("draws", draws, least=1)
    error, sweeps = check_positive("error", error), check_whole("sweeps", sweeps, least=1)
    reading, searching = split_options(options)
    plan = Plan.make(**searching)
    table = as_dataset(data, **reading)
    goal = parse(objective)
    if not goal.prior.is_arcwise:
        raise ParameterError(f"posterior needs a prior that is a sum over arcs, and {goal.prior} looks at whole graphs")
    plan.check(table.names, [goal])
    goal = plan.concrete(goal, table)
    if method == "auto":
        method = "exact" if table.n_columns <= _EXACT else "chains"
    if method == "exact" and table.n_columns > MOST_DAGS:
        raise CapacityError(
            f"method='exact' takes at most {MOST_DAGS} nodes, got {table.n_columns}; use ", Setting("method", "chains")
        )
    arranged, _ = plan.arrange(table)
    with plan.begun() as settings:
        cache = settings.make_cache(arranged, [goal])
        try:
            if method == "exact":
                found = _exactly(goal, cache, settings, draws)
            else:
                found = _by_chains(goal, cache, settings, chains, error, sweeps)
        except EarlyEnd as end:
            why = end.reason.replace("_", " ")
            raise MapdagError(f"stopped early ({why}), before there were graphs to report") from end
    return _reordered(found, table)


def _exactly(goal: Objective, cache: FamilyCache, options: Options, draws: int) -> Posterior:
    """Sum over all graphs, and draw some."""
    lattice = Lattice(cache, goal, options, charge=0.0, copies=2)
    n, names = lattice.n_nodes, cache.data.names
    sums = PosteriorSums(lattice)
    probabilities, evidence = sums.over_graphs()
    constant = goal.prior.constant(names)
    evidence += sum(lattice.base) + constant
    draw = LayerDraws(ExactSums(lattice, sums.single, sums.within, sums.rest), np.random.default_rng(options.seed))
    graphs = []
    for i in range(draws):
        lattice.watch.check()
        graphs.append(draw.draw())
        lattice.watch.tell("drawing graphs", i + 1, draws)
    known: dict[tuple[int, int], int] = {}
    which = np.array([[known.setdefault((x, mask), len(known)) for x, mask in enumerate(graph)] for graph in graphs])
    places = [lattice.children[x].start + lattice.children[x].place(mask) for x, mask in known]
    scores = sums.single[places]
    sets = np.array([[mask] for _, mask in known], dtype=np.uint64).reshape(-1, 1)
    total = scores[which].sum(axis=1) + (sum(lattice.base) + constant)
    drawn = Drawn(sets, which.reshape(1, draws, n).astype(np.int32), total.reshape(1, draws))
    probabilities = np.clip(probabilities, 0.0, 1.0)
    seconds, stopped = lattice.watch.seconds, lattice.watch.stopped
    return Posterior(names, goal, "exact", probabilities, drawn, 0.0, float(evidence), None, stopped, seconds, None)


def _by_chains(
    goal: Objective, cache: FamilyCache, options: Options, n_chains: int, error: float, sweeps: int
) -> Posterior:
    """Sample by Markov chains."""
    watch = Watch(options)
    names = cache.data.names
    rules = cache.rules(goal)
    base = complete_start(None, rules, names)
    share = None if options.time_limit is None else options.time_limit * _LISTING
    families = list_families(goal, cache, Watch(replace(options, time_limit=share)))
    watch.check()
    left = None if options.time_limit is None else max(watch.left / 5, 1e-3)
    quick = search_orders(goal, cache, replace(options, time_limit=left, progress=None), effort=0.0)
    if quick.stopped == "interrupted":
        raise EarlyEnd("interrupted")
    best = families.of_graph(quick.dag.parent_masks)
    empty = families.of_graph(base.parent_masks)
    if families.pinned.any() and not _is_listed(families, best, quick.dag.parent_masks):
        best = empty
    starts = [best, *[empty] * (n_chains - 1)]
    spread = [False, *[True] * (n_chains - 1)]
    runner = Chains(families, starts, spread, seed=options.seed, watch=watch)
    run, stopped = runner.run(error=error, most=sweeps)
    return _summary(goal, cache.data, families, run, stopped, watch.seconds)


def _is_listed(families: ListedFamilies, found: NDArray[np.int64], parents: Sequence[int]) -> bool:
    sizes = np.bitwise_count(families.sets[found]).sum(axis=1)
    return sizes.tolist() == [mask.bit_count() for mask in parents]


def _summary(
    goal: Objective, data: Dataset, families: ListedFamilies, run: Run, stopped: str, seconds: float
) -> Posterior:
    """Say what chains have found."""
    from mapdag.sampling.chains import arc_shares

    members, starts = families.members(), families.starts
    probabilities = arc_shares(run.held.sum(axis=(0, 1), dtype=np.int64), starts, members)
    means = np.array([[arc_shares(held, starts, members) for held in chain] for chain in run.held])
    n = families.n_nodes
    ratio, size = np.ones((n, n)), np.full((n, n), float(run.draws.shape[0] * run.draws.shape[1]))
    for i, j in np.argwhere((probabilities > 0) & (probabilities < 1)).tolist():
        has = members[run.draws[:, :, j], i].astype(np.float64)[:, :, None]
        ratio[i, j], size[i, j] = r_hat(has)[0], effective_size(has)[0]
    scores = families.scores[run.draws].sum(axis=2) + goal.prior.constant(data.names)
    ranks = normal_scores(scores)[:, :, None]
    convergence = Convergence(
        chains=len(run.draws),
        sweeps=run.sweeps,
        finished=run.finished,
        error=monte_carlo_error(means),
        r_hat=ratio,
        ess=size,
        score_r_hat=float(r_hat(ranks)[0]),
        score_ess=float(effective_size(ranks)[0]),
    )
    used, which = np.unique(run.draws, return_inverse=True)
    drawn = Drawn(families.sets[used], which.reshape(run.draws.shape).astype(np.int32), scores)
    return Posterior(
        data.names,
        goal,
        "chains",
        probabilities,
        drawn,
        families.left_out,
        math.nan,
        convergence,
        stopped,
        seconds,
        None,
        cut_at=families.cut_at,
    )


def _reordered(found: Posterior, data: Dataset) -> Posterior:
    """Put the nodes into the order of the table."""
    at = [found.nodes.index(name) for name in data.names]
    square = np.ix_(at, at)
    words = found.drawn.sets.shape[1]
    members = members_of(found.drawn.sets, len(at))[:, at]
    padded = np.zeros((len(members), 64 * words), dtype=np.bool_)
    padded[:, : len(at)] = members
    sets = np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    known = found.convergence
    if known is not None:
        known = known._replace(error=known.error[square], r_hat=known.r_hat[square], ess=known.ess[square])
    drawn = Drawn(sets, np.ascontiguousarray(found.drawn.which[:, :, at]), found.drawn.scores)
    probabilities = np.ascontiguousarray(found.probabilities[square])
    return replace(found, nodes=data.names, probabilities=probabilities, drawn=drawn, convergence=known, data=data)
