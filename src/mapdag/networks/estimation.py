"""Estimating the probabilities of a network with a known graph."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args

import numpy as np

from mapdag.checks import check_positive, is_one_of
from mapdag.data import ReadingOptions
from mapdag.errors import NetworkError, ParameterError
from mapdag.graphs.dag import check_dag
from mapdag.networks.completed import Completed
from mapdag.networks.cpts import Floats, check_size
from mapdag.networks.inputs import cell_numbers, needed_columns
from mapdag.networks.network import BayesianNetwork
from mapdag.networks.sparse_tables import (
    DENSE_ENTRIES,
    MAX_CELLS,
    SPARSE_SHARE,
    ObservedCells,
    SparseTable,
    count_observed,
)
from mapdag.notices import warn
from mapdag.public import public
from mapdag.wording import brief

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.data.dataset import Dataset
    from mapdag.graphs import DAG

Method = Literal["bayes", "bds", "mle"]
Unobserved = Literal["uniform", "error", "nan"]

_GRAPH_ALONE = "; files of a graph alone can hold it without the tables: .csv, .dot, .txt or .json (mapdag.write_graph)"


@public(ReadingOptions)
def fit(
    dag: DAG,
    data: Any,
    *,
    alpha: float = 1.0,
    method: Method = "bayes",
    unobserved: Unobserved = "uniform",
    **reading: Unpack[ReadingOptions],
) -> BayesianNetwork:
    r"""Estimate the conditional probability tables of a graph from data.

    Parameters
    ----------
    dag : DAG
        Its nodes are columns of the data.
    data : Dataset, or any table that `mapdag.read` takes
        Columns that are no node are ignored. The levels of the network are the declared ones, observed or not; the
        rows of a dataset count by their weights. Where it has gaps, probabilities are those that EM converges to, see
        `fit_em`.
    alpha : float
        The imaginary sample size; maximum likelihood does without.
    method : {"bayes", "bds", "mle"}
        With r levels, q configurations of the parents and q_obs observed ones:

        - "bayes": posterior means under the uniform Dirichlet prior of BDeu,
          :math:`(\alpha / (r q) + n_{ijk}) / (\alpha / q + n_{ij})`; uniform where a configuration was not observed.
        - "bds": the same with :math:`q_{obs}` for q, which is the prior of BDs. It has nothing to say on
          configurations that were not observed: see `unobserved`.
        - "mle": maximum likelihood, :math:`n_{ijk} / n_{ij}`; see `unobserved` as well.
    unobserved : {"uniform", "error", "nan"}
        What "bds" and "mle" do about a configuration that was not observed: make all levels equally probable, raise
        `NetworkError`, or leave its row undefined, NaN throughout.
    **reading
        How to read the table, as in `mapdag.read`: ``levels``, ``weights``, ``missing`` and so on.

    Returns
    -------
    BayesianNetwork
        Its nodes in the order of the graph.

    Raises
    ------
    CapacityError
        If the tables together would have more than 2**28 entries, where large ones hold the observed configurations of
        the parents and one row for all others; `mapdag.write_graph` can still write the graph.
    DataError
        If a node has no column, or a column cannot be used as it is.

    Examples
    --------
    >>> from mapdag import DAG, Dataset
    >>> data = Dataset.from_codes([[0, 0], [0, 1], [0, 1]], names=["A", "B"], levels=[["no", "yes"], ["no", "yes"]])
    >>> dag = DAG(["A", "B"], [("A", "B")])
    >>> fit(dag, data, alpha=2).cpt("B").round(3)
    array([[0.375, 0.625],
           [0.5  , 0.5  ]])
    >>> fit(dag, data, method="mle", unobserved="nan").cpt("B").round(3)
    array([[0.333, 0.667],
           [  nan,   nan]])
    >>> fit(dag, {"A": ["x", "y", "y"], "B": ["low", "low", "high"]}, method="mle").probability("B", "low", A="y")
    0.5
    """
    _check_options(alpha, method, unobserved)
    check_dag("dag", dag)
    table = needed_columns(data, dag.nodes, **reading)
    if table.has_gaps:
        return _fit_gaps(dag, table, alpha, method, unobserved)
    levels = {node: table.levels[node] for node in dag.nodes}
    observed = {node: cells for node in dag.nodes if (cells := _sparse_cells(table, node, dag)) is not None}
    check_size(dag, levels, advice=_GRAPH_ALONE, sparse=observed)
    cpts: dict[str, Any] = {}
    for node in dag.nodes:
        if node in observed:
            sparse = _estimate_sparse(dag, levels, node, observed[node], float(alpha), method)
            unknown = sparse.n_undefined
            if unknown and unobserved == "error":
                codes = np.array(np.unravel_index(sparse.first_rest(), sparse.shape[:-1]))
                _refuse_unknown(node, dag.parents(node), levels, codes, unknown, sparse.n_configurations)
            if unknown and unobserved == "uniform":
                sparse = replace(sparse, rest=np.full_like(sparse.rest, 1 / len(sparse.rest)))
            cpts[node] = sparse
            continue
        counts = count_cells(table, [*dag.parents(node), node])
        cpts[node] = estimate(counts, float(alpha), method)
        missing = np.isnan(cpts[node][..., 0])
        if missing.any():
            if unobserved == "error":
                codes = np.array(np.unravel_index(int(np.argmax(missing)), missing.shape))
                _refuse_unknown(node, dag.parents(node), levels, codes, int(missing.sum()), missing.size)
            cpts[node][missing] = 1 / cpts[node].shape[-1] if unobserved == "uniform" else np.nan
    return BayesianNetwork._trusted(dag, levels, cpts, table.codings)  # noqa: SLF001 - right by construction


def _refuse_unknown(node: str, parents: Any, levels: Any, codes: Any, unknown: int, size: int) -> NoReturn:
    """Say which configuration, of how many, was not observed."""
    where = ", ".join(f"{name}={levels[name][code]}" for name, code in zip(parents, codes, strict=True))
    where = f" given {where}" if where else ""
    raise NetworkError(
        f"there is no estimate of {node!r}{where}: this configuration was not observed "
        f"({unknown:,} of {size:,} were not); pass unobserved='uniform' or 'nan'"
    )


def _sparse_cells(data: Dataset, node: str, dag: DAG) -> ObservedCells | None:
    """Count the cells of a family that occur, if few enough do for its table to be sparse."""
    family = [*dag.parents(node), node]
    cards = [len(data.levels[name]) for name in family]
    entries = math.prod(cards)
    if entries <= DENSE_ENTRIES or entries > MAX_CELLS or isinstance(data, Completed):
        return None
    table = _rows_that_count(data, family)
    found: ObservedCells = table.sum(count_observed, cards, table.weights)
    configurations, _ = found.by_configuration(cards[-1])
    return found if len(configurations) <= SPARSE_SHARE * (entries // cards[-1]) else None


def _estimate_sparse(
    dag: DAG, levels: Mapping[str, tuple[str, ...]], node: str, observed: ObservedCells, alpha: float, method: Method
) -> SparseTable:
    """Estimate the probabilities of observed configurations, and of all others, as `_estimate` does."""
    shape = tuple(len(levels[name]) for name in (*dag.parents(node), node))
    configurations, counts = observed.by_configuration(shape[-1])
    kept = counts.any(axis=-1)  # rows may weigh nothing
    q = math.prod(shape[:-1]) if method == "bayes" else int(kept.sum())
    imaginary = 0.0 if method == "mle" else alpha / max(q, 1)
    none = np.zeros(shape[-1])
    rest = posterior_means(none, imaginary) if method == "bayes" else none + np.nan
    return SparseTable(shape, configurations[kept], posterior_means(counts[kept], imaginary), rest)


def _fit_gaps(dag: DAG, table: Dataset, alpha: float, method: Method, unobserved: Unobserved) -> BayesianNetwork:
    """Fit by EM, and say so where it did not converge."""
    from mapdag.networks.em import fit_em

    if method == "bds" or unobserved != "uniform":
        what = "method='bds'" if method == "bds" else f"unobserved={unobserved!r}"
        raise ParameterError(
            f"{what} is for complete rows, but the data have gaps ({table.gaps!r}), and every configuration is then "
            "expected to occur; use method='bayes' or 'mle', and unobserved='uniform'"
        )
    found = fit_em(dag, table, alpha=alpha, method=method)
    if not found.converged:
        warn(f"EM did not converge in {found.iterations:,} iterations; mapdag.fit_em takes more")
    return found.network


def _check_options(alpha: float, method: str, unobserved: str) -> None:
    alpha = check_positive("alpha", alpha)
    if not is_one_of(method, get_args(Method)):
        raise ParameterError(f"method must be 'bayes', 'bds' or 'mle', got {brief(method)}")
    if not is_one_of(unobserved, get_args(Unobserved)):
        raise ParameterError(f"unobserved must be 'uniform', 'error' or 'nan', got {brief(unobserved)}")
    if method == "bayes" and unobserved != "uniform":
        raise ParameterError(
            f"unobserved={unobserved!r} needs method 'bds' or 'mle': 'bayes' has an estimate everywhere"
        )


def count_cells(data: Dataset, family: list[str]) -> Floats:
    """Count the rows of every cell of a family, the child last: one axis per member, in this order.

    Rows in which the child was set do not count.
    """
    if isinstance(data, Completed):
        return data.expected(family)
    cards = [len(data.levels[name]) for name in family]
    table = _rows_that_count(data, family)
    counts: NDArray[Any] = table.sum(_count_cells, cards, table.weights)
    return counts.astype(np.float64).reshape(cards)


def _rows_that_count(data: Dataset, family: list[str]) -> Dataset:
    """Return the columns of a family, the child last, without the rows in which the child was set."""
    table = data.select(family)
    return table if table.interventions is None else table.take(~table.interventions.rows_of(family[-1]))


def _count_cells(codes: NDArray[Any], cards: list[int], weights: NDArray[Any] | None) -> NDArray[Any]:
    """Count the rows of every cell, in one line."""
    return np.bincount(cell_numbers(list(codes), cards), weights=weights, minlength=math.prod(cards))


def posterior_means(counts: Floats | NDArray[np.int64], imaginary: float) -> Floats:
    """Return the posterior means of each row's probabilities, its prior being `imaginary` rows spread evenly.

    Examples
    --------
    >>> posterior_means(np.array([[1.0, 2.0], [0.0, 0.0]]), 1.0)
    array([[0.375, 0.625],
           [0.5  , 0.5  ]])
    """
    means: Floats = (counts + imaginary / counts.shape[-1]) / (counts.sum(axis=-1, keepdims=True) + imaginary)
    return means


def estimate(counts: Floats, alpha: float, method: Method) -> Floats:
    """Return the estimates; rows about which the method has nothing to say are NaN."""
    observed = counts.any(axis=-1)
    if method == "bayes":
        return posterior_means(counts, alpha / observed.size)
    with np.errstate(invalid="ignore"):
        estimates = posterior_means(counts, alpha / max(int(observed.sum()), 1) if method == "bds" else 0.0)
    estimates[~observed] = np.nan
    return estimates
