"""Priors made of probabilities of single arcs: the variable selection prior and the completed prior."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.checks import check_probability
from mapdag.contracts import Prior, write
from mapdag.errors import ParameterError
from mapdag.priors.arcs import ArcKey, arc_key, find_arc, reverse_key
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class VSP(Prior):
    """Variable selection prior: every possible parent of every node is in with its own probability.

    ``log P = sum over arcs of log(p / (1 - p))``; the constant sum of log(1 - p) over all possible arcs is dropped.

    Parameters
    ----------
    beta : float or mapping
        One probability for all arcs; or node -> probability of each of its parents; or arc -> probability, an arc
        written ``"A->B"`` or ``("A", "B")``. Mappings may mix both; an arc overrides its node.
    default : float, optional
        Probability of what a mapping leaves out; without it, leaving something out is an error.

    Examples
    --------
    >>> VSP(0.1)
    VSP(beta=0.1)
    >>> VSP({"B": 0.2, "A->B": 0.5}, default=0.1).log_odds(["A", "B"]).round(3).tolist()
    [[0.0, 0.0], [-2.197, 0.0]]
    """

    beta: float | Mapping[Any, float]
    default: float | None = None

    def __post_init__(self) -> None:
        if self.default is not None:
            object.__setattr__(self, "default", check_probability("default", self.default))
        if isinstance(self.beta, Mapping):
            frozen = {arc_key(k): check_probability(f"beta of {k!r}", v) for k, v in self.beta.items()}
            object.__setattr__(self, "beta", frozen)
        else:
            object.__setattr__(self, "beta", check_probability("beta", self.beta))

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def score_equivalent(self) -> bool:  # type: ignore[override]  # only with one probability for all
        """Whether one probability holds for all arcs."""
        return not isinstance(self.beta, Mapping)

    def log_odds(self, nodes: Sequence[str]) -> Floats:
        """Logit p of every arc."""
        n = len(nodes)
        if not isinstance(self.beta, Mapping):
            return np.full((n, n), math.log(self.beta) - math.log1p(-self.beta))
        p = np.full((n, n), math.nan if self.default is None else self.default)
        index = {name: i for i, name in enumerate(nodes)}
        for key, value in self.beta.items():
            if key in index:
                p[:, index[key]] = value
        for key, value in self.beta.items():
            if key not in index:
                p[find_arc(key, index)] = value
        np.fill_diagonal(p, 0.5)
        if np.isnan(p).any():
            i, j = np.argwhere(np.isnan(p))[0]
            raise ParameterError(f"VSP says nothing about the arc {nodes[i]} -> {nodes[j]}; pass default=")
        logit: Floats = np.log(p) - np.log1p(-p)
        return logit

    def __str__(self) -> str:
        return write("VSP", beta=self.beta, default=self.default)


@dataclass(frozen=True, repr=False, init=False)
class CS(Prior):
    """Completed prior (Castelo and Siebes 2000): probabilities elicited for some pairs of nodes, 1/3 each for the rest.

    ``log P = sum over pairs of log p(->), log p(<-) or log p(none)``, all constants kept. Probabilities 0 and 1 are
    hard constraints.

    Parameters
    ----------
    table : mapping or iterable of rows
        Arc -> p, or arc -> (p of the arc, p of its reverse, p of neither); an arc is ``"A->B"`` or ``("A", "B")``.
        Rows are (from, to, p) or (from, to, p, p of the reverse, p of neither). Where one direction is given alone,
        the other two states get (1 - p)/2 each; where both directions are given, no arc gets the rest.

    Examples
    --------
    >>> CS({"A->B": 0.8})
    CS(table={"A->B": 0.8})
    >>> CS({"A->B": 0.8}).log_odds(["A", "B"]).round(3).tolist()
    [[0.0, 2.079], [0.0, 0.0]]
    """

    table: Mapping[ArcKey, tuple[float, ...]]

    def __init__(self, table: Mapping[Any, Any] | Iterable[Sequence[Any]]) -> None:
        if isinstance(table, Mapping):
            rows = [(key, value if isinstance(value, Sequence) else (value,)) for key, value in table.items()]
        elif isinstance(table, str) or not isinstance(table, Iterable):
            raise ParameterError(f"CS takes a mapping or rows (from, to, p), got {brief(table)}")
        else:
            rows = list(map(_row, table))
        object.__setattr__(self, "table", {arc_key(key): _check_row(arc_key(key), values) for key, values in rows})
        _complete(self.table)  # to complain at once

    def __hash__(self) -> int:
        return hash(str(self))

    def log_odds(self, nodes: Sequence[str]) -> Floats:
        """Log p(->) - log p(none); minus infinity for impossible arcs."""
        odds = np.zeros((len(nodes), len(nodes)))
        for i, j, (forward, backward, none) in self._resolved(nodes):
            against = math.log(none) if none > 0 else 0.0
            odds[i, j], odds[j, i] = _log(forward) - against, _log(backward) - against
        return odds

    def required_pairs(self, nodes: Sequence[str]) -> frozenset[tuple[int, int]]:
        """Pairs whose p(none) is 0."""
        return frozenset((min(i, j), max(i, j)) for i, j, (_, _, none) in self._resolved(nodes) if none == 0)

    def constant(self, nodes: Sequence[str]) -> float:
        """Log p(none) of every pair that need not be adjacent."""
        given = self._resolved(nodes)
        elicited = sum(math.log(none) for _, _, (_, _, none) in given if none > 0)
        return elicited - (math.comb(len(nodes), 2) - len(given)) * math.log(3)

    def _resolved(self, nodes: Sequence[str]) -> list[tuple[int, int, tuple[float, float, float]]]:
        index = {name: i for i, name in enumerate(nodes)}
        found: dict[frozenset[int], tuple[int, int, tuple[float, float, float]]] = {}
        for key, values in _complete(self.table).items():
            i, j = find_arc(key, index)
            if frozenset((i, j)) in found:
                raise ParameterError(f"CS has two entries for the pair {nodes[i]}, {nodes[j]}")
            found[frozenset((i, j))] = (i, j, values)
        return list(found.values())

    def __str__(self) -> str:
        return write("CS", table={key: row[0] if len(row) == 1 else row for key, row in self.table.items()})


def _row(row: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the arc and the probabilities of a row."""
    values = tuple(row) if isinstance(row, Iterable) and not isinstance(row, str) else ()
    if len(values) < 3:
        raise ParameterError(
            f"a row of CS is (from, to, p) or (from, to, p, p of the reverse, p of neither), got {brief(row)}"
        )
    return values[:2], values[2:]


def _check_row(key: ArcKey, values: Sequence[Any]) -> tuple[float, ...]:
    """One or three probabilities."""
    real = (int, float, np.integer, np.floating)
    if len(values) not in (1, 3) or not all(
        isinstance(v, real) and not isinstance(v, bool) and 0 <= v <= 1 for v in values
    ):
        raise ParameterError(f"CS needs one or three probabilities for {key!r}, got {brief(tuple(values))}")
    numbers = tuple(map(float, values))
    if len(numbers) == 3 and abs(sum(numbers) - 1) > 1e-9:
        raise ParameterError(f"the three probabilities of {key!r} must sum to 1, got {tuple(values)}")
    return numbers


def _complete(table: Mapping[ArcKey, tuple[float, ...]]) -> dict[ArcKey, tuple[float, float, float]]:
    """Bring elicited probabilities into triplets (arc, reverse, neither)."""
    complete: dict[ArcKey, tuple[float, float, float]] = {}
    spelled = {reverse_key(reverse_key(key)): key for key in table}
    for key, numbers in table.items():
        reverse = spelled.get(reverse_key(key))
        if len(numbers) == 3:
            complete[key] = (numbers[0], numbers[1], numbers[2])
        elif reverse is None or len(table[reverse]) == 3:
            complete[key] = (numbers[0], (1 - numbers[0]) / 2, (1 - numbers[0]) / 2)
        elif reverse not in complete:
            back = table[reverse][0]
            if numbers[0] + back > 1 + 1e-9:
                raise ParameterError(f"the probabilities of {key!r} and {reverse!r} sum to more than 1")
            complete[key] = (numbers[0], back, max(0.0, 1 - numbers[0] - back))
    return complete


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf
