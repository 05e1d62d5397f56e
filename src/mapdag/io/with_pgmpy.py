"""Networks and graphs as objects of pgmpy, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import TEXT, Coding, coding_of
from mapdag.data.columns import from_objects
from mapdag.data.labels import text_of
from mapdag.errors import MissingExtraError, NetworkError
from mapdag.graphs import CPDAG, DAG
from mapdag.io.with_networkx import from_networkx
from mapdag.networks import BayesianNetwork
from mapdag.networks.cpts import TOLERANCE, Floats, refuse_undefined
from mapdag.networks.sparse_tables import refuse_large

if TYPE_CHECKING:
    from collections.abc import Mapping


def to_pgmpy(source: BayesianNetwork | DAG | CPDAG) -> Any:
    """Return a network as a `DiscreteBayesianNetwork`, a DAG as a `DAG`, a CPDAG as a `PDAG` of pgmpy.

    The names of states are what the levels stand for: numbers for columns of numbers, and so on.
    """
    try:
        from pgmpy import base
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError as error:
        raise MissingExtraError(f"to_pgmpy needs pgmpy: pip install pgmpy ({error})") from None
    if isinstance(source, CPDAG):
        graph = base.PDAG(directed_ebunch=list(source.arcs), undirected_ebunch=list(source.edges))
        graph.add_nodes_from(source.nodes)
        return graph
    model = base.DAG() if isinstance(source, DAG) else DiscreteBayesianNetwork()
    dag = source if isinstance(source, DAG) else source.dag
    model.add_nodes_from(dag.nodes)
    model.add_edges_from(dag.arcs)
    if isinstance(source, BayesianNetwork):
        refuse_undefined(source.cpts, "pgmpy")
        refuse_large(source.cpts, "pgmpy")
        states = {
            node: source.codings.get(node, TEXT).values(labels).tolist() for node, labels in source.levels.items()
        }
        for node in source.nodes:
            parents = list(source.parents(node))
            size = len(states[node])
            cards = [len(states[parent]) for parent in parents]
            named = {member: states[member] for member in (node, *parents)}
            values = source.cpts[node].reshape(-1, size).T
            model.add_cpds(TabularCPD(node, size, values, parents or None, cards or None, state_names=named))
    return model


def from_pgmpy(model: Any, *, tolerance: float = TOLERANCE) -> BayesianNetwork | DAG | CPDAG:
    """Make a network, a DAG or a CPDAG from an object of pgmpy.

    Parameters
    ----------
    model : DiscreteBayesianNetwork, DAG or PDAG
        Names and states that are not text become text; what states were (numbers, truth values, intervals such as
        "(40,60]") is remembered, for evidence and predictions.
    tolerance : float
        How far from one the probabilities of a configuration may sum; within, they are divided by their sum.

    Returns
    -------
    BayesianNetwork, DAG or CPDAG
        A DAG for a network without any tables.

    Examples
    --------
    >>> import mapdag as md
    >>> model = md.network("asia").to_pgmpy()  # doctest: +SKIP
    >>> md.from_pgmpy(model) == md.network("asia")  # doctest: +SKIP
    True
    """
    cpds = model.get_cpds() if hasattr(model, "get_cpds") else None
    if not cpds:
        return from_networkx(model)
    dag = DAG.from_networkx(model)
    own = {}
    for cpd in cpds:
        if not hasattr(cpd, "state_names") or not hasattr(cpd, "values"):
            raise NetworkError(f"only tables of discrete variables can be read, got a {type(cpd).__name__}")
        own[cpd.variable] = cpd
    states = {str(name): list(cpd.state_names[name]) for name, cpd in own.items()}
    cpts = {str(name): _table(cpd, states, dag) for name, cpd in own.items()}
    levels = {name: [text_of(state) for state in found] for name, found in states.items()}
    codings = {name: _coding(found, levels[name]) for name, found in states.items()}
    return BayesianNetwork(dag, levels, cpts, tolerance=tolerance, codings=codings)


def _table(cpd: Any, states: Mapping[str, list[Any]], dag: DAG) -> Floats:
    """Return a table with our axes, and along each the states in the order that the variable itself has them."""
    axes = [str(name) for name in cpd.variables]
    values = np.asarray(cpd.values, dtype=np.float64)
    for axis, variable in enumerate(cpd.variables):
        here = list(cpd.state_names[variable])
        if str(variable) not in states or set(map(text_of, here)) != set(map(text_of, states[str(variable)])):
            raise NetworkError(f"the states of {variable!r} in the table of {cpd.variable!r} are not those of its own")
        values = values.take([here.index(state) for state in states[str(variable)]], axis=axis)
    node = str(cpd.variable)
    if set(axes) != {node, *dag.parents(node)}:
        raise NetworkError(f"the table of {node!r} is given {axes[1:]}, but the arcs come from {dag.parents(node)}")
    return values.transpose([axes.index(name) for name in (*dag.parents(node), node)])


def _coding(states: Sequence[Any], labels: Sequence[str]) -> Coding:
    """Return what states are, if all are the same kind of thing: as the values of a column."""
    coding = from_objects("states", states).coding
    return coding_of(labels) if coding == TEXT else coding
