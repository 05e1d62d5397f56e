"""Objectives of a study: those of the library, and those whose alpha is Steck's optimal one, written ``alpha_S``.

That alpha depends on the data and on the graph, so such an objective is a text until a sample is there: learn with
alpha = 1, estimate alpha from the graph, learn again, until it settles (see `mapdag.theory.find_alpha_star`).
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from mapdag.errors import MapdagWarning, ParameterError
from mapdag.objective import parse

if TYPE_CHECKING:
    from mapdag.contracts import Objective

_PLACE = re.compile(r"BDeu\(\s*(?:alpha\s*=\s*)?alpha_S\s*\)", re.IGNORECASE)
_STANDS_FOR = "BDeu(alpha=1)"


def is_optimised(goal: str) -> bool:
    """Whether the alpha of an objective is to be found from the data.

    Examples
    --------
    >>> is_optimised("U+BDeu(alpha_S)"), is_optimised("U+BDeu(1)")
    (True, False)
    """
    return _PLACE.search(goal) is not None


def canonical(goal: str) -> str:
    """One text for each objective, however it was written.

    Examples
    --------
    >>> canonical("bdeu(10)"), canonical("MU(1/2) + BDs(1)"), canonical("BDeu(alpha_S)")
    ('U+BDeu(alpha=10)', 'MU(beta=0.5)+BDs(alpha=1)', 'U+BDeu(alpha_S)')
    """
    if not isinstance(goal, str):
        raise ParameterError(f"an objective of a study must be a text, got {goal!r}")
    if is_optimised(goal):
        return str(_parse(_PLACE.sub(_STANDS_FOR, goal))).replace(_STANDS_FOR, "BDeu(alpha_S)")
    return str(_parse(goal))


def at(goal: str, alpha: float) -> Objective:
    """Objective with this value for the alpha that is to be found."""
    return _parse(_PLACE.sub(lambda _: f"BDeu(alpha={alpha!r})", goal))


def _parse(text: str) -> Objective:
    """Read an objective, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MapdagWarning)
        return parse(text)
