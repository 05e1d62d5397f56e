"""Sparse data, arc by arc: where BDeu's prior has sunk into configurations nobody saw, and which arcs hang on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.checks import check_positive, is_one_of
from mapdag.data import Dataset, ReadingOptions, as_dataset
from mapdag.errors import ParameterError
from mapdag.graphs import DAG
from mapdag.graphs.dag import check_dag
from mapdag.objective import DEFAULT, USUAL, ThinFamily, concrete, most_configurations, parse
from mapdag.priors import MU, U
from mapdag.public import public
from mapdag.scores import BDeu, BDs
from mapdag.tables import SHOWN, Table, Tabular, paragraphs
from mapdag.theory.count_tables import family_counter, without_parent
from mapdag.theory.effective import effective_alpha, effective_degrees_of_freedom, effective_parameters
from mapdag.theory.factors import (
    all_log_prior_odds,
    log_arc_odds,
    log_bdeu_factor,
    log_bds_factor,
    log_factor,
    support_odds,
)
from mapdag.theory.findings import ArcSupport, FamilySparsity, arc_table, family_table
from mapdag.theory.marginal import log_bds_over_bdeu
from mapdag.theory.summary import about_arcs, about_families, summary
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl
    from typing_extensions import Unpack

    from mapdag.contracts import Likelihood, Objective
    from mapdag.counts import CountTable
    from mapdag.data import Gaps

_DECADES = 3  # how far from alpha a crossing is looked for, either way
_PER_DECADE = 12


@dataclass(frozen=True)
class Diagnosis(Tabular):
    """What sparse data do to a graph; see `diagnose`.

    Attributes
    ----------
    objective : Objective
    alpha : float
        The imaginary sample size of the comparison.
    n_nodes, n_rows : int
    families : tuple of FamilySparsity
        One for each node.
    arcs : tuple of ArcSupport
        One for each arc, the weakest first.
    gaps : Gaps
        Where values are missing.
    """

    objective: Objective
    alpha: float
    n_nodes: int
    n_rows: float
    families: tuple[FamilySparsity, ...]
    arcs: tuple[ArcSupport, ...]
    gaps: Gaps

    def __str__(self) -> str:
        return summary(self)

    @property
    def sparse_families(self) -> tuple[FamilySparsity, ...]:
        """Families with configurations that were never observed, the sparsest first."""
        return tuple(sorted((family for family in self.families if family.is_sparse), key=_share_observed))

    @property
    def thin_families(self) -> tuple[ThinFamily, ...]:
        """Families with fewer rows per configuration than `Support` asks for, the thinnest first; see `Result.thin`."""
        support = self.objective.prior.support
        most = most_configurations(self.n_rows, USUAL if support is None else support)
        found = [family for family in self.families if family.observed > most]
        thin = [ThinFamily(f.node, f.parents, f.observed, self.n_rows / f.observed) for f in found]
        return tuple(sorted(thin, key=lambda family: (family.rows, family.node)))

    @property
    def unsupported(self) -> tuple[ArcSupport, ...]:
        """Arcs that the objective itself would drop."""
        return tuple(arc for arc in self.arcs if not arc.log_odds > 0)

    def lost(self, objective: str) -> tuple[ArcSupport, ...]:
        """Arcs that U+BDeu keeps and one of "U+BDs", "MU+BDeu", "MU+BDs" drops."""
        return tuple(arc for arc in self.arcs if arc.log_bdeu > 0 and objective in arc.lost_by)

    @property
    def sensitive_to_alpha(self) -> tuple[ArcSupport, ...]:
        """Arcs with support that vanishes within one decade of alpha, up or down."""
        low, high = self.alpha / 10, self.alpha * 10
        return tuple(a for a in self.arcs if a.log_odds > 0 and (a.alpha_range[0] > low or a.alpha_range[1] < high))

    @property
    def sensitive_to_beta(self) -> tuple[ArcSupport, ...]:
        """Arcs with support that MU would not give for some beta between 2/(N - 1), which is c = 1, and 1/2."""
        smallest = _beta_of_one(self.n_nodes)
        return tuple(a for a in self.arcs if a.log_odds > 0 and a.beta_needed >= smallest)

    def to_table(self, most: int | None = None, *, of: Literal["arcs", "families"] = "arcs") -> Table:
        """Return a row for each arc, the weakest first, or for each family, the sparsest first."""
        if not is_one_of(of, ("arcs", "families")):
            raise ParameterError(f"of must be 'arcs' or 'families', got {of!r}")
        if of == "arcs":
            return arc_table(self.arcs, most)
        return family_table(sorted(self.families, key=_share_observed), most)

    def to_pandas(self, *, of: Literal["arcs", "families"] = "arcs") -> Any:
        """Return a pandas DataFrame with a row for each arc, or for each family."""
        return self.to_table(of=of).to_pandas()

    def to_polars(self, *, of: Literal["arcs", "families"] = "arcs") -> pl.DataFrame:
        """Return a polars DataFrame with a row for each arc, or for each family."""
        return self.to_table(of=of).to_polars()

    def __repr__(self) -> str:
        return f"Diagnosis({plural(len(self.families), 'node')}, {plural(len(self.arcs), 'arc')})"

    def _repr_html_(self) -> str:
        families = family_table(self.sparse_families, SHOWN)._repr_html_() if self.sparse_families else ""
        arcs = arc_table(self.arcs, SHOWN)._repr_html_() if self.arcs else ""
        return "".join([paragraphs(about_families(self)), families, paragraphs(about_arcs(self)), arcs])


@public(ReadingOptions)
def diagnose(
    graph: Any,
    data: Any = None,
    objective: str | Objective | Likelihood | None = None,
    *,
    alpha: float | None = None,
    posterior: Any = None,
    **reading: Unpack[ReadingOptions],
) -> Diagnosis:
    """Say what sparse data do to the families and arcs of a graph.

    Parameters
    ----------
    graph : DAG, or anything that has one as its ``dag``
        A graph, a network, or the result of a search.
    data : Dataset, or anything that `mapdag.read` takes, optional
        With a column for every node, and no other. Where a network is given, a table is read with its levels, and
        numbers are cut where its own were. What a result was learned from unless given.
    objective : Objective, Likelihood or str, optional
        Under which arcs are judged: that of a result, or else the default of `mapdag.learn`, unless given. The log odds
        of an arc are minus infinity where its `Support` rules out the graph with the arc, unless a result was learned
        under constraints that require it.
    alpha : float, optional
        For comparing BDeu and BDs where the objective has none; 1 unless given. Otherwise the objective's own.
    posterior : Posterior, optional
        Of the same data, from `mapdag.posterior`: tells the probability of each arc over all graphs, while log odds are
        about this graph with and without the arc.
    **reading
        How to read the table, as in `mapdag.read`. Where there are gaps, each family is judged by the rows that have
        all its members, and each arc by the rows that have all members of the family with the arc; but the log odds
        under an objective that takes gaps (NAL, PNAL) are the difference of its scores, as in `log_bayes_factor`.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import mapdag as md
    >>> rows = [[0, 0, 0, 0]] * 3 + [[1, 1, 0, 0]] * 3 + [[1, 0, 1, 0]] * 3 + [[0, 1, 1, 1]] * 3
    >>> data = md.Dataset.from_codes(rows, names=["X", "Z", "W", "Y"], levels=[2, 2, 2, 2])
    >>> graph = md.DAG(data.names, [("Z", "X"), ("W", "X"), ("Y", "X")])
    >>> found = diagnose(graph, data, "U+BDeu(1)")
    >>> [(family.node, family.observed, family.configurations) for family in found.sparse_families]
    [('X', 4, 8)]
    >>> [(arc.start, arc.end, arc.supported_by) for arc in found.lost("U+BDs")]
    [('Y', 'X', ('U+BDeu',))]
    >>> print(found)  # the same as the command `mapdag diagnose`
    U+BDeu(alpha=1): 4 nodes, 3 arcs, 12 rows
    ...
    """
    dag = graph if isinstance(graph, DAG) else check_dag("graph", getattr(graph, "dag", graph))
    objective = parse(getattr(graph, "objective", DEFAULT) if objective is None else objective)
    table = _table(graph, data, reading)
    count = family_counter(dag, table)
    objective = concrete(objective, dag, table)
    own = getattr(objective.likelihood, "alpha", None)
    given = 1.0 if alpha is None else check_positive("alpha", alpha)
    used = given if own is None else check_positive("alpha", own)
    log_prior = all_log_prior_odds(objective.prior, dag)
    support = support_odds(table, objective, getattr(graph, "constraints", None))
    log_mu = float(MU(_beta_of_one(len(dag.nodes))).log_odds(dag.nodes)[0, 0]) if log_prior else 0.0
    # What a score makes of one table alone does not know of the rows in which the child lacks a parent, or was set.
    by_score = table.interventions is not None or (table.has_gaps and objective.likelihood.takes_gaps)
    known = log_arc_odds(dag, table, U() + objective.likelihood) if by_score else {}
    if posterior is not None and set(getattr(posterior, "nodes", ())) != set(dag.nodes):
        raise ParameterError("posterior must be one of mapdag.posterior, of the nodes of the graph")
    families, arcs = [], []
    for node in dag.nodes:
        parents = dag.parents(node)
        full = count(node, parents)
        families.append(_family(node, parents, full, used))
        for parent in parents:
            if table.has_gaps:  # both tables of an arc are of the same rows
                less = without_parent(full, _rank(table, parents, parent), len(table.levels[parent]))
            else:
                less = count(node, [p for p in parents if p != parent])
            tables = full, less
            others = [table.index(p) for p in parents if p != parent]
            odds = support(table.index(node), [*others, table.index(parent)], others) or log_prior[parent, node]
            factor = known.get((parent, node), log_factor(objective.likelihood, *tables))
            arc = _arc((parent, node), tables, objective.likelihood, factor, used, odds, log_mu)
            arcs.append(arc if posterior is None else replace(arc, probability=posterior[parent, node]))
    arcs.sort(key=lambda arc: arc.log_odds)
    return Diagnosis(objective, used, len(dag.nodes), table.total, tuple(families), tuple(arcs), table.gaps)


def _rank(table: Dataset, parents: Sequence[str], parent: str) -> int:
    """Return which of some parents this one is in a count table, where they are in the order of the columns."""
    return sorted(parents, key=table.index).index(parent)


def _share_observed(family: FamilySparsity) -> float:
    return family.observed / family.configurations


def _table(graph: Any, data: Any, reading: Mapping[str, Any]) -> Dataset:
    """Read the data with what the graph knows of them."""
    known = getattr(graph, "data", None) if data is None else data
    if known is None:
        raise ParameterError("data must be given, unless the graph is the result of a search")
    if isinstance(known, Dataset) or reading.get("levels") is not None or not hasattr(graph, "levels"):
        return as_dataset(known, **reading)
    return as_dataset(known, **{"like": graph, **reading})


def _family(node: str, parents: tuple[str, ...], table: CountTable, alpha: float) -> FamilySparsity:
    return FamilySparsity(
        node=node,
        parents=parents,
        configurations=table.q,
        observed=table.q_obs,
        parameters=(table.r - 1) * table.q,
        effective_parameters=effective_parameters(table),
        rows=table.total / max(table.q_obs, 1),
        effective_alpha=effective_alpha(table, alpha),
        log_bds_over_bdeu=log_bds_over_bdeu(table, alpha),
    )


def _beta_of_one(n_nodes: int) -> float:
    """Return the beta of MU(c=1), 1/2 where the nodes are too few for it."""
    return min(2 / (n_nodes - 1), 0.5) if n_nodes > 1 else 0.5


def _arc(
    ends: tuple[str, str],
    tables: tuple[CountTable, CountTable],
    likelihood: Likelihood,
    factor: float,
    alpha: float,
    log_prior: float,
    log_mu: float,
) -> ArcSupport:
    """Judge an arc from the tables of its family with it and without, its log Bayes factor and log prior odds."""
    limits = (math.nan, math.nan)
    if isinstance(likelihood, BDeu | BDs):
        score = type(likelihood)
        limits = _alpha_range(lambda a: log_factor(score(a), *tables) + log_prior, alpha)
    return ArcSupport(
        *ends,
        effective_degrees_of_freedom=effective_degrees_of_freedom(*tables),
        log_odds=factor + log_prior,
        log_bdeu=log_bdeu_factor(*tables, alpha),
        log_bds=log_bds_factor(*tables, alpha),
        log_mu=log_mu,
        alpha_range=limits,
        # MU multiplies the odds by (beta / 2) / (1 - beta): what makes them 1?
        beta_needed=1 / (1 + 0.5 * math.exp(min(factor, 700.0))),
    )


def _alpha_range(log_odds: Callable[[float], float], alpha: float) -> tuple[float, float]:
    """Return the alphas around this one between which the odds stay above 1."""
    if not log_odds(alpha) > 0:
        return alpha, alpha
    limits = []
    for direction, never in ((-1, 0.0), (1, math.inf)):
        steps = alpha * 10.0 ** (direction * np.arange(1, _DECADES * _PER_DECADE + 1) / _PER_DECADE)
        inside, outside = alpha, None
        for step in steps.tolist():
            if not log_odds(step) > 0:
                outside = step
                break
            inside = step
        limits.append(never if outside is None else _crossing(log_odds, inside, outside))
    return limits[0], limits[1]


def _crossing(log_odds: Callable[[float], float], inside: float, outside: float) -> float:
    """Halve until four digits are known."""
    while abs(math.log(outside / inside)) > 1e-4:
        middle = math.sqrt(inside * outside)
        if log_odds(middle) > 0:
            inside = middle
        else:
            outside = middle
    return inside
