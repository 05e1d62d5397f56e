"""Networks as objects of pyAgrum, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import TEXT, Coding, coding_of
from mapdag.data.labels import text_of
from mapdag.errors import MissingExtraError, ParameterError
from mapdag.graphs import DAG
from mapdag.networks import BayesianNetwork
from mapdag.networks.cpts import TOLERANCE, refuse_undefined
from mapdag.networks.sparse_tables import refuse_large

if TYPE_CHECKING:
    from types import ModuleType


def to_pyagrum(network: BayesianNetwork) -> Any:
    """Return a network as a `BayesNet` of pyAgrum.

    Columns of numbers become variables of numbers (`RangeVariable`, `IntegerVariable`, `NumericalDiscreteVariable`),
    others, intervals among them, variables with labels.
    """
    gum = _pyagrum()
    refuse_undefined(network.cpts, "pyAgrum")
    refuse_large(network.cpts, "pyAgrum")
    model = gum.BayesNet()
    for node in network.nodes:
        model.add(_variable(gum, node, network.levels[node], network.codings.get(node, TEXT)))
    for arc in network.dag.arcs:
        model.addArc(*arc)
    for node in network.nodes:
        family = (*network.parents(node), node)
        table = model.cpt(node)
        # Its arrays have the axes of its names in the opposite order.
        axes = [family.index(name) for name in reversed(table.names)]
        table[:] = np.ascontiguousarray(network.cpts[node].transpose(axes))
    return model


def from_pyagrum(model: Any, *, tolerance: float = TOLERANCE) -> BayesianNetwork:
    """Make a network from a `BayesNet` of pyAgrum.

    Parameters
    ----------
    model : pyagrum.BayesNet
        Variables of numbers become columns of numbers; a discretised variable becomes one that was cut at its ticks, so
        that numbers can be given as evidence, and tables of numbers be read.
    tolerance : float
        How far from one the probabilities of a configuration may sum; within, they are divided by their sum.

    Returns
    -------
    BayesianNetwork

    Examples
    --------
    >>> import mapdag as md
    >>> model = md.network("asia").to_pyagrum()  # doctest: +SKIP
    >>> md.from_pyagrum(model) == md.network("asia")  # doctest: +SKIP
    True
    """
    if not all(hasattr(model, name) for name in ("variable", "cpt", "arcs", "nodes")):
        raise ParameterError(f"model must be a BayesNet of pyAgrum, got {type(model).__name__}")
    gum = _pyagrum()
    variables = [model.variable(node) for node in sorted(model.nodes())]
    names = [variable.name() for variable in variables]
    arcs = [(model.variable(tail).name(), model.variable(head).name()) for tail, head in model.arcs()]
    dag = DAG(names, arcs)
    levels, cpts, codings = {}, {}, {}
    for name, variable in zip(names, variables, strict=True):
        levels[name], codings[name] = _meaning(gum, variable)
        axes = list(reversed(model.cpt(name).names))
        cpts[name] = np.asarray(model.cpt(name).toarray()).transpose(
            [axes.index(each) for each in (*dag.parents(name), name)]
        )
    return BayesianNetwork(dag, levels, cpts, tolerance=tolerance, codings=codings)


def _pyagrum() -> ModuleType:
    try:
        import pyagrum
    except ImportError as error:
        raise MissingExtraError(f"networks of pyAgrum need pyagrum: pip install pyagrum ({error})") from None
    module: ModuleType = pyagrum
    return module


def _variable(gum: ModuleType, node: str, labels: Sequence[str], coding: Coding) -> Any:
    """Return a variable of numbers where the levels are such, in increasing order; else one with labels."""
    values = coding.values(labels)
    if values.dtype.kind in "if" and all(low < high for low, high in itertools.pairwise(values.tolist())):
        numbers = values.tolist()
        if coding.type == "integer" and numbers[-1] - numbers[0] == len(numbers) - 1:
            return gum.RangeVariable(node, node, numbers[0], numbers[-1])
        kind = gum.IntegerVariable if coding.type == "integer" else gum.NumericalDiscreteVariable
        return kind(node, node, numbers)
    return gum.LabelizedVariable(node, node, list(labels))


def _meaning(gum: ModuleType, variable: Any) -> tuple[list[str], Coding]:
    """Return the levels of a variable and what they stand for."""
    kind, labels = variable.varType(), list(variable.labels())
    if kind in (gum.VarType_RANGE, gum.VarType_INTEGER):
        return labels, Coding("integer")
    if kind == gum.VarType_NUMERICAL:
        return [text_of(variable.numerical(code)) for code in range(len(labels))], Coding("float")
    if kind == gum.VarType_DISCRETIZED and len(labels) > 1:
        first, *inner, last = variable.ticks()
        # Its intervals are closed on the left, ours on the right.
        return labels, Coding("float", (first, *(math.nextafter(tick, -math.inf) for tick in inner), last))
    return labels, coding_of(labels)
