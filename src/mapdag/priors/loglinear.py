"""The log-linear prior: any features of a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.contracts import Prior, write
from mapdag.errors import ParameterError
from mapdag.priors.arcs import arc_key, find_arc
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.graphs import DAG

    Floats = NDArray[np.float64]


_LARGEST = 1e100  # as of all parameters

_FEATURES: dict[str, Callable[[DAG], float]] = {
    "arcs": lambda dag: dag.n_arcs,
    "leaves": lambda dag: len(dag.leaves),
    "roots": lambda dag: len(dag.roots),
    "v_structures": lambda dag: len(dag.v_structures()),
}


@dataclass(frozen=True, repr=False)
class LogLinear(Prior):
    """Log-linear prior (Mukherjee and Speed 2008): ``log P = lam * sum of w_i f_i(G)``, no other constant.

    Parameters
    ----------
    features : sequence
        Each one a function of a `DAG`; or a mapping arc -> value, summed over the arcs of the graph (fast: it never
        needs the whole graph); or one of "arcs", "leaves", "roots", "v_structures".
    weights : sequence of float, optional
        One for each feature, 1 unless given.
    lam : float
        Strength of the whole prior.

    Examples
    --------
    >>> from mapdag import DAG
    >>> prior = LogLinear([{"A->B": 1}, "v_structures"], weights=[2, 1], lam=0.5)
    >>> prior.log_prior(DAG(["A", "B", "C"], [("A", "B"), ("C", "B")]))
    1.5
    """

    features: Sequence[Any]
    weights: Sequence[float] | None = None
    lam: float = 1.0

    def __post_init__(self) -> None:
        if not (callable(self.features) or isinstance(self.features, Iterable)):
            raise ParameterError(f"features must be functions, mappings or names, got {brief(self.features)}")
        alone = callable(self.features) or isinstance(self.features, (str, Mapping))
        features = (self.features,) if alone else tuple(self.features)
        given = (1.0,) * len(features) if self.weights is None else tuple(self.weights)
        weights = tuple(_number(w) for w in given)
        lam = _number(self.lam)
        if len(weights) != len(features):
            raise ParameterError(f"weights must be as many as features ({len(features)}), got {len(weights)}")
        if not all(abs(each) <= _LARGEST for each in (*weights, lam)):
            told = f"got {brief(given)} and {brief(self.lam)}"
            raise ParameterError(
                f"weights and lam must be finite numbers between -{_LARGEST:g} and {_LARGEST:g}, {told}"
            )
        for feature in features:
            if isinstance(feature, str) and feature not in _FEATURES:
                raise ParameterError(
                    f"features must be functions, mappings or one of {sorted(_FEATURES)}, got {feature!r}"
                )
            if not (isinstance(feature, (str, Mapping)) or callable(feature)):
                raise ParameterError(f"features must be functions, mappings or names, got {feature!r}")
        named = tuple(_keyed(f) if isinstance(f, Mapping) else f for f in features)
        object.__setattr__(self, "features", named)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "lam", lam)

    def __hash__(self) -> int:
        return hash(str(self))

    def _split(self) -> tuple[list[tuple[float, Any]], list[tuple[float, Any]]]:
        """Features that are sums over arcs, and the others, each with its weight."""
        assert self.weights is not None
        pairs = list(zip(self.weights, self.features, strict=True))
        arcwise = [pair for pair in pairs if isinstance(pair[1], Mapping) or pair[1] == "arcs"]
        return arcwise, [pair for pair in pairs if not (isinstance(pair[1], Mapping) or pair[1] == "arcs")]

    def log_odds(self, nodes: Sequence[str]) -> Floats:
        """Weighted values of the features that are sums over arcs."""
        odds = np.zeros((len(nodes), len(nodes)))
        index = {name: i for i, name in enumerate(nodes)}
        for weight, feature in self._split()[0]:
            if isinstance(feature, str):
                odds += self.lam * weight
                continue
            for key, value in feature.items():
                odds[find_arc(key, index)] += self.lam * weight * value
        return odds

    def remainder(self, dag: DAG) -> float:
        """Weighted values of the other features."""
        rest = self._split()[1]
        return self.lam * sum(w * (_FEATURES[f](dag) if isinstance(f, str) else _value(f, dag)) for w, f in rest)

    @property
    def is_arcwise(self) -> bool:
        """Whether all features are sums over arcs."""
        return not self._split()[1]

    def __str__(self) -> str:
        features = [
            f if isinstance(f, (str, Mapping)) else _Name(getattr(f, "__name__", "function")) for f in self.features
        ]
        return write("LogLinear", features=features, weights=self.weights, lam=self.lam)


def _number(value: Any) -> float:
    """Return a number as a float, and anything else as NaN."""
    try:
        return float(value) if isinstance(value, (int, float, np.number)) else math.nan
    except (OverflowError, TypeError):  # beyond floats; complex
        return math.nan


def _value(feature: Any, dag: DAG) -> float:
    """Return what a feature says of a graph."""
    value = _number(feature(dag))
    if not abs(value) <= _LARGEST:
        name = getattr(feature, "__name__", "a feature")
        raise ParameterError(f"the feature {name} must give every graph a finite number, got {brief(feature(dag))}")
    return value


def _keyed(feature: Mapping[Any, Any]) -> dict[Any, float]:
    """Write the arcs of a feature in one way, and check its values."""
    found = {arc_key(key): _number(value) for key, value in feature.items()}
    if not all(abs(value) <= _LARGEST for value in found.values()):
        raise ParameterError(f"a feature gives each arc a finite number, got {brief(dict(feature))}")
    return found


class _Name:
    """A word that is printed without quotes."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __str__(self) -> str:
        return self.word
