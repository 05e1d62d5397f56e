"""`BayesianNetwork`: a DAG with the levels of its nodes and their conditional probability tables, as a value.

The methods are thin. What it can be asked is in `questions`, what it can be turned into in `exports`; what the others
do is in `draws` and `likelihood`, and estimating is in `estimation`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, final, overload

import numpy as np

from mapdag.data.codings import Coding, Sealed, cuts_of, kept_codings
from mapdag.data.labels import declared_levels
from mapdag.errors import NetworkError, ParameterError
from mapdag.graphs import DAG
from mapdag.graphs.drawable import Drawable
from mapdag.networks.cpts import TOLERANCE, Floats, check_size, check_tolerance, checked_cpt, count_undefined
from mapdag.networks.evidence import level_code, levels_by_node
from mapdag.networks.exports import Exports
from mapdag.networks.questions import Questions
from mapdag.networks.sparse_tables import MixedTables, SparseTable, checked_sparse, equal_tables, held_tables
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import brief, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mapdag.data import Cuts, Dataset
    from mapdag.networks.probabilities import CPT


@final
@dataclass(frozen=True, eq=False, repr=False, init=False, slots=True)
class BayesianNetwork(Questions, Exports, Drawable, Tabular):
    """A discrete Bayesian network.

    A value: nothing in it can be changed, and two are equal if their graphs, levels and probabilities are.

    Parameters
    ----------
    dag : DAG
        The graph. The order of its nodes is the order of the columns of samples.
    levels : mapping
        The levels of each node, or how many there are.
    cpts : mapping
        For each node, the probabilities of its levels given its parents: an array with one axis per parent, in the
        order of `parents(node)`, and the last for the node itself.
    tolerance : float
        How far from one the sum of a row may be. Rows that are off by rounding, within this tolerance, are divided by
        their sum; others are refused.
    allow_undefined : bool
        Accept rows that are NaN throughout: configurations about which nothing is known.
    codings : mapping, optional
        What the levels of a node stand for, where that is anything but text (see `mapdag.data.Coding`): numbers, truth
        values, or intervals, into which tables of numbers are then cut. Not part of what makes two networks equal.

    Examples
    --------
    >>> from mapdag import DAG
    >>> from mapdag.networks import BayesianNetwork
    >>> net = BayesianNetwork(
    ...     DAG(["rain", "wet"], [("rain", "wet")]),
    ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
    ... )
    >>> net
    BayesianNetwork(2 nodes, 1 arc, 3 parameters)
    >>> net.probability("wet", "yes", rain="yes")
    0.95
    >>> print(net.query("rain", {"wet": "yes"}))
    rain  probability
    no    0.296296
    yes   0.703704
    >>> data = net.sample(1000, seed=1)
    >>> data
    Dataset(1,000 rows, 2 columns, 2 levels each)
    >>> round(net.log_likelihood(data), 1) == round(float(net.log_likelihood(data, by_row=True).sum()), 1)
    True
    """

    dag: DAG
    levels: Mapping[str, tuple[str, ...]]
    cpts: Mapping[str, Floats]
    codings: Mapping[str, Coding]

    def __init__(
        self,
        dag: DAG,
        levels: Mapping[str, Sequence[Any] | int],
        cpts: Mapping[str, Any],
        *,
        tolerance: float = TOLERANCE,
        allow_undefined: bool = False,
        codings: Mapping[str, Coding] | None = None,
    ) -> None:
        if not isinstance(dag, DAG):
            raise ParameterError(f"dag must be a DAG, got {type(dag).__name__}")
        if not dag.nodes:
            raise NetworkError("a network needs at least one node")
        if not isinstance(cpts, Mapping):
            raise ParameterError(f"cpts must be a mapping from nodes to probabilities, got {brief(cpts)}")
        declared = declared_levels(levels, dag.nodes)
        for node in dag.nodes:
            if node not in declared:
                raise NetworkError(f"no levels are given for the node {node!r}")
            if node not in cpts:
                raise NetworkError(f"no probabilities are given for the node {node!r}")
        if len(cpts) > len(dag.nodes):
            unknown = next(name for name in cpts if name not in declared)
            raise NetworkError(f"probabilities are given for {unknown!r}, which is not a node of the graph")
        held = held_tables(cpts)
        check_size(dag, declared, sparse=[node for node in dag.nodes if isinstance(held[node], SparseTable)])
        how: dict[str, Any] = {"tolerance": check_tolerance(tolerance), "allow_undefined": allow_undefined}
        checked: dict[str, Any] = {
            node: (checked_sparse if isinstance(held[node], SparseTable) else checked_cpt)(
                node, dag.parents(node), declared, held[node], **how
            )
            for node in dag.nodes
        }
        self._set(dag, declared, checked, codings or {})

    def _set(
        self,
        dag: DAG,
        levels: Mapping[str, tuple[str, ...]],
        cpts: Mapping[str, Floats],
        codings: Mapping[str, Coding],
    ) -> None:
        """Set the fields, sealed."""
        held: Sealed[Any] = Sealed(cpts)
        sparse = False
        for table in held.values():
            if isinstance(table, SparseTable):
                sparse = True
                table.seal()
            else:
                table.flags.writeable = False
        parts = {
            "dag": dag,
            "levels": Sealed(levels),
            "cpts": MixedTables(held) if sparse else held,
            "codings": kept_codings(codings, dag.nodes),
        }
        for field, value in parts.items():
            object.__setattr__(self, field, value)

    @classmethod
    def _trusted(
        cls,
        dag: DAG,
        levels: Mapping[str, tuple[str, ...]],
        cpts: Mapping[str, Floats],
        codings: Mapping[str, Coding] | None = None,
    ) -> BayesianNetwork:
        """Make a network from parts that are known to be right and that nobody else can change."""
        self = object.__new__(cls)
        cls._set(self, dag, levels, cpts, codings or {})
        return self

    # What it holds ---------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[str, ...]:
        """The node names."""
        return self.dag.nodes

    def parents(self, node: str) -> tuple[str, ...]:
        """Return the parents of a node, in the order of the axes of its table."""
        return self.dag.parents(node)

    def cpt(self, node: str) -> Floats:
        """Return the probabilities of a node given its parents: one axis per parent, the last for the node."""
        self.dag.index.position(node)  # an unknown name gets a suggestion
        return self.cpts[node]

    def table(self, node: str) -> CPT:
        """Return the same with the names of the levels, to be printed or turned into a frame.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> print(network("asia").table("tub"))
        tub given asia
        asia  yes   no
        yes   0.05  0.95
        no    0.01  0.99
        """
        from mapdag.networks.probabilities import CPT

        values = self.cpt(node)
        family = self.parents(node)
        return CPT(node, family, {name: self.levels[name] for name in (*family, node)}, values)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: the sum of (r - 1) q over the nodes."""
        return sum(table.size - table.size // table.shape[-1] for table in held_tables(self.cpts).values())

    @property
    def n_undefined(self) -> int:
        """The number of configurations whose probabilities are undefined (NaN)."""
        return sum(map(count_undefined, held_tables(self.cpts).values()))

    @property
    def cuts(self) -> Cuts:
        """Where columns of numbers are cut into the levels of their nodes, where they are."""
        return cuts_of(self.codings)

    def probability(self, node: str, level: Any, given: Mapping[str, Any] | None = None, /, **parents: Any) -> float:
        """Return an entry of a table: the probability of a level given those of all parents.

        Levels are labels, or the values of the table that they stand for; of a column that was cut, any number. `query`
        answers questions about other nodes than the parents.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> network("asia").probability("tub", "yes", asia="yes")
        0.05
        """
        chosen = {**levels_by_node("given", given), **parents}
        family = self.parents(node)
        if set(chosen) != set(family):
            raise ParameterError(
                f"the levels of exactly the parents of {node!r} are needed ({', '.join(family) or 'there are none'}), "
                f"got {', '.join(chosen) or 'none'}; use query() for other questions"
            )
        where = [
            level_code(self.levels, name, value, self.codings)
            for name, value in [*((parent, chosen[parent]) for parent in family), (node, level)]
        ]
        return float(held_tables(self.cpts)[node][tuple(where)])

    # What it does ----------------------------------------------------------------------------------------------

    def sample(
        self,
        n: int,
        seed: int | Sequence[int],
        *,
        evidence: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Dataset:
        """Draw rows from the joint distribution (see `mapdag.networks.draws` for the generator).

        The same seed gives the same rows on every machine, whatever the number of threads, and fewer rows are the
        first of more.

        Parameters
        ----------
        n : int
            How many.
        seed : int or sequence of int
            Non-negative.
        evidence : mapping, optional
            Levels by node. Rows are drawn from the distribution given them, exactly; none is thrown away.
        do : mapping or sequence of mappings, optional
            An experiment: levels that nodes are set to, by node; None for levels at random, all equally probable. Of
            several experiments, `n` rows each are drawn, one experiment after the other; ``{}`` is one in which nothing
            is set. The rows know what was set in them (`Dataset.interventions`).

        Examples
        --------
        >>> from mapdag.reference import network
        >>> network("asia").sample(3, seed=1).names[:3]
        ('asia', 'tub', 'smoke')
        >>> network("asia").sample(1000, seed=1, evidence={"xray": "yes"}).observed("xray")
        array([1000,    0])
        >>> network("asia").sample(500, seed=1, do=[{}, {"smoke": "yes"}, {"lung": None}]).interventions
        rows by what was set in them
        set    rows
        -       500
        smoke   500
        lung    500
        """
        from mapdag.networks import draws, propagation

        known = levels_by_node("evidence", evidence)
        if do is not None:
            from mapdag.networks.intervention import sample_experiments

            return sample_experiments(self, n, seed, do, known)
        return propagation.sample(self, n, seed, known) if known else draws.sample(self, n, seed)

    def sample_blocks(self, n: int, seed: int | Sequence[int], *, block: int = 2**16) -> Iterator[Dataset]:
        """Draw the same rows as `sample`, a block of them at a time, so that memory does not grow with `n`.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> [len(part) for part in network("asia").sample_blocks(1000, seed=1, block=400)]
        [400, 400, 200]
        """
        from mapdag.networks.draws import sample_blocks

        return sample_blocks(self, n, seed, block)

    @overload
    def log_likelihood(self, data: Any, *, by_row: Literal[False] = False) -> float: ...
    @overload
    def log_likelihood(self, data: Any, *, by_row: Literal[True]) -> Floats: ...
    def log_likelihood(self, data: Any, *, by_row: bool = False) -> float | Floats:
        """Return the log-likelihood of data, in natural logs.

        Columns are matched by name, levels by label. Rows that the network holds impossible have minus infinity, rows
        with undefined probabilities NaN.

        Parameters
        ----------
        data : Dataset, or any table that `mapdag.read` takes
            With a column for every node; others are ignored. A table is read with the levels of the network, so that
            a single row will do. The rows of a dataset count by their weights; where it has gaps, this is the
            log-likelihood of what is known, summed over what is not.
        by_row : bool
            Return an array with the log-probability of every row, weights left out, instead of their weighted sum.

        Returns
        -------
        float or array

        Examples
        --------
        >>> from mapdag.reference import network
        >>> asia = network("asia")
        >>> asia.log_likelihood(asia.sample(100, seed=1), by_row=True).shape
        (100,)
        >>> usual = {node: ["no"] for node in asia.nodes}
        >>> round(asia.log_likelihood(usual), 4)
        -1.2366
        """
        from mapdag.networks import likelihood

        return likelihood.log_by_row(self, data) if by_row else likelihood.log_likelihood(self, data)

    # Other networks made from it -------------------------------------------------------------------------------

    def renamed(self, mapping: Mapping[str, str]) -> BayesianNetwork:
        """Return the network with some nodes renamed, old name to new."""
        dag = self.dag.renamed(mapping)
        new = dict(zip(self.nodes, dag.nodes, strict=True))
        return BayesianNetwork._trusted(
            dag,
            {new[node]: labels for node, labels in self.levels.items()},
            {new[node]: table for node, table in held_tables(self.cpts).items()},
            {new[node]: coding for node, coding in self.codings.items()},
        )

    def reordered(self, nodes: Iterable[str]) -> BayesianNetwork:
        """Return the same network with its nodes, hence the columns of its samples, in another order."""
        dag = self.dag.reordered(nodes)
        cpts: dict[str, Any] = {}
        for node in dag.nodes:
            before = self.parents(node)
            axes = [before.index(parent) for parent in dag.parents(node)]
            turned = held_tables(self.cpts)[node].transpose(*axes, len(before))
            cpts[node] = turned if isinstance(turned, SparseTable) else np.ascontiguousarray(turned)
        return BayesianNetwork._trusted(dag, {node: self.levels[node] for node in dag.nodes}, cpts, self.codings)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        if self.dag != other.dag or dict(self.levels) != dict(other.levels):
            return False
        same = other if self.nodes == other.nodes else other.reordered(self.nodes)
        theirs = held_tables(same.cpts)
        return all(equal_tables(table, theirs[node]) for node, table in held_tables(self.cpts).items())

    def __hash__(self) -> int:
        return hash((self.dag, frozenset(self.levels.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays come back writable.
        return (BayesianNetwork._trusted, (self.dag, self.levels, held_tables(self.cpts), self.codings))

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each node: its levels, its parents, and how many parameters that takes.

        `table` has the probabilities of one.
        """
        nodes = self.nodes[:most]
        sizes = [held_tables(self.cpts)[node].shape for node in nodes]
        return Table(
            [
                Column("node", nodes),
                Column("levels", np.array([shape[-1] for shape in sizes], dtype=np.int64), right=True),
                Column("parents", [self.parents(node) for node in nodes], ", ".join),
                Column(
                    "parameters",
                    np.array([math.prod(shape[:-1]) * (shape[-1] - 1) for shape in sizes], dtype=np.int64),
                    ",",
                    right=True,
                ),
            ],
            title=self.size_text,
            left=len(self.nodes) - len(nodes),
        )

    def _repr_html_(self) -> str:
        # By name, as `mapdag.report` is a layer above this one.
        text: str = import_module("mapdag.report.notebook").network_html(self)
        return text

    @property
    def size_text(self) -> str:
        """How many nodes, arcs and parameters, in words."""
        counts = ((len(self.nodes), "node"), (self.dag.n_arcs, "arc"), (self.n_parameters, "parameter"))
        return ", ".join(plural(n, what) for n, what in counts)

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.size_text})"


def check_network(name: str, value: object) -> BayesianNetwork:
    """Return `value`, or say that it must be a network."""
    if not isinstance(value, BayesianNetwork):
        raise ParameterError(f"{name} must be a BayesianNetwork, got {type(value).__name__}")
    return value
