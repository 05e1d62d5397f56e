"""EM (Dempster, Laird and Rubin 1977): the probabilities of a graph from rows with gaps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mapdag.checks import check_positive, check_whole, is_one_of
from mapdag.data import ReadingOptions, ScannedDataset, with_gaps
from mapdag.data.interventions import refuse_interventions
from mapdag.data.labels import code_dtype
from mapdag.data.rows import distinct_rows
from mapdag.errors import ParameterError
from mapdag.graphs.dag import check_dag
from mapdag.networks.cpts import Floats, check_size
from mapdag.networks.estimation import posterior_means
from mapdag.networks.inputs import needed_columns
from mapdag.networks.network import BayesianNetwork, check_network
from mapdag.public import public
from mapdag.wording import brief

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mapdag.data import Dataset
    from mapdag.data.labels import Codes
    from mapdag.graphs import DAG

MAX_ITER = 500
TOLERANCE = 1e-6

#: Gives the expected counts of all families under a network, and the log-likelihood of what is known.
Expecting: TypeAlias = "Callable[[BayesianNetwork], tuple[list[Floats], float]]"


@dataclass(frozen=True)
class EM:
    """Probabilities that EM found, and how; made by `fit_em`.

    Attributes
    ----------
    network : BayesianNetwork
    log_likelihood : float
        Of what is known, under the network.
    trace : tuple of float
        What EM maximises, after each iteration: the log-likelihood, and the log of the prior up to a constant. It never
        falls.
    converged : bool
        Whether the last iteration brought less than was asked for.
    """

    network: BayesianNetwork
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool

    @property
    def iterations(self) -> int:
        """How many there were."""
        return len(self.trace)

    def __repr__(self) -> str:
        ended = "converged" if self.converged else "not converged"
        return f"EM(log-likelihood {self.log_likelihood:,.2f}, {self.iterations} iterations, {ended})"


@public(ReadingOptions)
def fit_em(
    dag: DAG,
    data: Any,
    *,
    alpha: float = 1.0,
    method: Literal["bayes", "mle"] = "bayes",
    start: BayesianNetwork | None = None,
    max_iter: int = MAX_ITER,
    tolerance: float = TOLERANCE,
    threads: int | None = None,
    **reading: Unpack[ReadingOptions],
) -> EM:
    r"""Estimate the conditional probability tables of a graph from data with gaps.

    Each iteration counts what the network expects of every row, exactly (E step), and makes the most of these counts (M
    step), :math:`(a_{ijk} + E[n_{ijk}]) / (a_{ij} + E[n_{ij}])`, as `fit` does with those of complete rows. So the
    log-likelihood of what is known plus the sum of :math:`a_{ijk} \log \theta_{ijk}` never falls. That finds a local
    maximum; values must be missing at random, that is, for reasons that what is known explains.

    Parameters
    ----------
    dag : DAG
        Its nodes are columns of the data.
    data : Dataset, or any table that `mapdag.read` takes
        Gaps are kept as such (``missing="keep"``) unless `missing` says otherwise. Of a table that was scanned, each
        iteration goes through all blocks.
    alpha : float
        The imaginary sample size of the Dirichlet prior, spread evenly over the cells of each table.
    method : {"bayes", "mle"}
        With this prior or without. Configurations that are not expected at all get equal probabilities under "mle".
    start : BayesianNetwork, optional
        Where to start: with the same graph and levels. By default, the rows that have all members of a family say what
        its probabilities are at first.
    max_iter : int
        Most iterations.
    tolerance : float
        What an iteration must bring to be worth another, for each row.
    threads : int, optional
        All cores unless given; the result does not depend on it.
    **reading
        How to read the table, as in `mapdag.read`.

    Returns
    -------
    EM

    Examples
    --------
    >>> import mapdag as md
    >>> table = {"rain": ["no", "no", "yes", None, "yes"] * 20, "wet": ["no", "no", "yes", "yes", None] * 20}
    >>> found = md.fit_em(md.DAG(["rain", "wet"], [("rain", "wet")]), table, missing="keep")
    >>> found.converged, round(found.network.probability("wet", "yes", rain="yes"), 2)
    (True, 0.99)
    """
    alpha = check_positive("alpha", alpha)
    tolerance = check_positive("tolerance", tolerance)
    max_iter = check_whole("max_iter", max_iter, least=1)
    threads = None if threads is None else check_whole("threads", threads, least=1)
    check_dag("dag", dag)
    if not is_one_of(method, ("bayes", "mle")):
        raise ParameterError(f"method must be 'bayes' or 'mle', got {brief(method)}")
    table = needed_columns(data, dag.nodes, **with_gaps(data, reading)).select(dag.nodes)
    refuse_interventions(table, "EM", "; mapdag.fit does, where no value is missing")
    levels = {node: table.levels[node] for node in dag.nodes}
    check_size(dag, levels)
    if start is not None and (check_network("start", start).dag != dag or dict(start.levels) != levels):
        raise ParameterError("start must have the graph and the levels that are asked for")
    prior = float(alpha) if method == "bayes" else 0.0
    first = _locally(dag, table) if start is None else start.reordered(dag.nodes)
    return _iterate(
        first, _expecting(first, table, threads or 0), prior, max_iter, tolerance * max(float(table.total), 1.0)
    )


def _expecting(first: BayesianNetwork, table: Dataset, threads: int) -> Expecting:
    """Return the E step for the rows of a table, wherever they are, and networks with the levels of the first."""
    from mapdag.networks.gaps import codes_with_gaps, expect

    if isinstance(table, ScannedDataset):
        return lambda network: _parted(network, table.sum(_expect_block, network))
    distinct = table.aggregated()  # equal rows expect the same
    codes, weights = codes_with_gaps(first, distinct), np.asarray(distinct.weights, dtype=np.float64)

    def expect_rows(network: BayesianNetwork) -> tuple[list[Floats], float]:
        counts, log = expect(network, codes, weights, threads)
        return counts, float((log * weights).sum())

    return expect_rows


def _expect_block(codes: Codes, network: BayesianNetwork) -> Floats:
    """Return expected counts of all families in a block of rows and, last, the log-likelihood: to be added up."""
    from mapdag.networks.gaps import expect

    cards = [len(network.levels[node]) for node in network.nodes]
    rows, weights = distinct_rows(codes, [card + 1 for card in cards])
    mine: Codes = codes[:, rows].astype(code_dtype(cards, gaps=True), copy=False)
    counts, log = expect(network, mine, weights, threads=1)
    return np.concatenate([*(each.ravel() for each in counts), [(log * weights).sum()]])


def _parted(network: BayesianNetwork, flat: Floats) -> tuple[list[Floats], float]:
    """Take apart what `_expect_block` puts together."""
    shapes = [network.cpts[node].shape for node in network.nodes]
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    counts = [part.reshape(shape) for part, shape in zip(np.split(flat[:-1], ends), shapes, strict=True)]
    return counts, float(flat[-1])


def _iterate(network: BayesianNetwork, expect: Expecting, alpha: float, max_iter: int, least: float) -> EM:
    """Go from network to network until an iteration brings less than this."""
    counts, log = expect(network)
    reached, trace = -np.inf, []
    for _ in range(max_iter):
        network = _most_probable(network, counts, alpha)
        counts, log = expect(network)
        before, reached = reached, log + _log_prior(network, alpha)
        trace.append(reached)
        if reached - before < least:
            break
    return EM(network, log, tuple(trace), bool(reached - before < least))


def _most_probable(network: BayesianNetwork, counts: list[Floats], alpha: float) -> BayesianNetwork:
    """Make the most of expected counts: the M step."""
    cpts = {}
    for node, mine in zip(network.nodes, counts, strict=True):
        with np.errstate(invalid="ignore"):
            table = posterior_means(mine, alpha * mine.shape[-1] / mine.size)
        cpts[node] = np.where(np.isnan(table), 1 / table.shape[-1], table)
    return BayesianNetwork._trusted(network.dag, network.levels, cpts, network.codings)  # noqa: SLF001


def _log_prior(network: BayesianNetwork, alpha: float) -> float:
    if not alpha:
        return 0.0
    return float(sum(alpha / table.size * np.log(table).sum() for table in network.cpts.values()))


def _locally(dag: DAG, table: Dataset) -> BayesianNetwork:
    """Fit each family to the rows that have all its members, one more row being spread over its cells."""
    from mapdag.counts import engine_of

    counter, cpts = engine_of(table), {}
    for i, node in enumerate(dag.nodes):
        parents = dag.parent_indices(i)
        shape = [len(table.levels[dag.nodes[member]]) for member in (*parents, i)]
        found = counter.table(i, parents)
        counts = np.zeros(shape)
        where = np.repeat(np.arange(found.q_obs), np.diff(found.offsets))
        cells = (*found.configurations[where].T.astype(np.intp), found.levels)
        counts[cells] = found.counts
        cpts[node] = posterior_means(counts, shape[-1] / counts.size)
    return BayesianNetwork._trusted(dag, {node: table.levels[node] for node in dag.nodes}, cpts, table.codings)  # noqa: SLF001
