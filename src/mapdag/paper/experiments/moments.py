"""The uniform prior over DAGs, exactly, beside the paper's approximations; MU normalised over DAGs, beside its own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from mapdag.checks import check_whole
from mapdag.graphs import arc_correlation, arc_probability, pattern_probability
from mapdag.theory import approximate_arc_correlation, approximate_arc_probability


class UniformPoint(NamedTuple):
    """Exact first and second moments of arcs under U, and the paper's approximations.

    Attributes
    ----------
    nodes : int
    arc, arc_approximate : float
        P(i -> j), and 1/4 + 1/(4(N-1)).
    signed, presence : float
        Correlation of two pairs that share a node, coded -1/0/+1 or 0/1.
    same_head : float
        Correlation of the indicators of ``i -> j`` and ``k -> j``.
    disjoint : float
        Correlation of the presence of arcs in two pairs without a common node (NaN for three nodes).
    correlation_approximate : float
        The paper's formula.
    """

    nodes: int
    arc: float
    arc_approximate: float
    signed: float
    presence: float
    same_head: float
    disjoint: float
    correlation_approximate: float


class ExpectationPoint(NamedTuple):
    """Expected number of arcs under MU: normalised over DAGs, and as a product over pairs (the paper's)."""

    nodes: int
    prior: str
    exact: float
    product: float


def uniform_prior(nodes: Sequence[int] = (3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30)) -> tuple[UniformPoint, ...]:
    """Compute the moments of arcs under U.

    Examples
    --------
    >>> point, = uniform_prior([3])
    >>> point.arc, point.signed, round(point.correlation_approximate, 3)
    (0.32, -0.125, 0.293)
    """
    found = []
    for n in nodes:
        p = arc_probability(n)
        head = (pattern_probability(n, "collider") - p**2) / (p * (1 - p))
        found.append(
            UniformPoint(
                nodes=n,
                arc=float(p),
                arc_approximate=approximate_arc_probability(n),
                signed=float(arc_correlation(n)),
                presence=float(arc_correlation(n, coding="presence")),
                same_head=float(head),
                disjoint=float(arc_correlation(n, coding="presence", incident=False)) if n > 3 else float("nan"),
                correlation_approximate=approximate_arc_correlation(n),
            )
        )
    return tuple(found)


def expected_numbers(nodes: Sequence[int] = (5, 10, 20, 30)) -> tuple[ExpectationPoint, ...]:
    """Compute how many arcs MU expects when its probabilities are normalised over DAGs, which rules out cycles.

    From four nodes on: with fewer, MU(c=1) would have a beta = 2 / (N - 1) of 1 and more.

    Examples
    --------
    >>> [(point.prior, round(point.exact, 2), point.product) for point in expected_numbers([10])]
    [('MU(1/2)', 18.49, 22.5), ('MU(c=1)', 9.09, 10.0)]
    """
    found = []
    for n in [check_whole("nodes", n, least=4) for n in nodes]:
        for name, beta in (("MU(1/2)", Fraction(1, 2)), ("MU(c=1)", Fraction(2, n - 1))):
            exact = n * (n - 1) * arc_probability(n, beta / 2 / (1 - beta))
            found.append(ExpectationPoint(n, name, float(exact), float(n * (n - 1) * beta / 2)))
    return tuple(found)
