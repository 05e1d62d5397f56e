"""One door for values that stand for levels: evidence, levels that are asked for, and back, predictions as values.

A level may be given as its label, or as the value that a table has for it: 1, 1.0, True, a scalar of numpy, an element
of a pandas categorical; of a column that was cut, any number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.codings import TEXT, Coding, Cuts, interval_levels
from mapdag.data.columns import is_missing
from mapdag.data.labels import Matcher, parse_numbers, text_of
from mapdag.data.lumping import OTHER
from mapdag.data.problems import listed
from mapdag.errors import ParameterError
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 20
_NONE: Mapping[str, Coding] = {}


def level_code(
    levels: Mapping[str, tuple[str, ...]], node: str, value: Any, codings: Mapping[str, Coding] = _NONE
) -> int:
    """Return the code of the level of a node that a value stands for, or say which levels there are.

    Examples
    --------
    >>> levels = {"smokes": ("False", "True"), "rating": ("1", "2"), "age": ("[0,40]", "(40,90]")}
    >>> codings = {"smokes": Coding("boolean"), "age": Coding("float", (0.0, 40.0, 90.0))}
    >>> [level_code(levels, "smokes", value, codings) for value in (True, "true", 1)]
    [1, 1, 1]
    >>> level_code(levels, "rating", 2.0, codings), level_code(levels, "age", 37, codings)
    (1, 0)
    >>> level_code(levels, "rating", 3)
    Traceback (most recent call last):
    mapdag.errors.ParameterError: 'rating' has no level 3; its levels are '1', '2'
    """
    if is_missing(value):
        raise ParameterError(f"{node!r} must have a level, got {value!r}; leave out nodes about which nothing is known")
    # Whether a column of yes and no came as numbers or as truth values is an accident; text is what it says.
    code = Matcher(levels[node], truths=not isinstance(value, str))(text_of(value))
    edges = codings.get(node, TEXT).edges
    if code is None and edges is not None and not isinstance(value, bool | np.bool_):
        code = _interval(node, value, levels[node], edges)
    if code is None and text_of(value) in codings.get(node, TEXT).lumped and OTHER in levels[node]:
        code = levels[node].index(OTHER)
    if code is None:
        known = listed(levels[node], _SHOWN)
        cut = "" if edges is None else ", or numbers within them"
        raise ParameterError(f"{node!r} has no level {_plain(value)!r}; its levels are {known}{cut}")
    return code


def levels_by_node(name: str, given: Any, *, optional: bool = True) -> Mapping[str, Any]:
    """Return levels by node as a mapping: itself, that of a pandas Series, or, where they are optional, none for None.

    Examples
    --------
    >>> levels_by_node("evidence", None)
    {}
    """
    if given is None and optional:
        return {}
    if getattr(given, "ndim", None) == 1 and hasattr(given, "to_dict"):
        given = given.to_dict()
    if not isinstance(given, Mapping):
        raise ParameterError(f"{name} must be a mapping from nodes to levels, got {brief(given)}")
    return given


def decoded(levels: tuple[str, ...], coding: Coding, codes: NDArray[np.intp]) -> NDArray[Any]:
    """Return what codes stand for in the type of the column: numbers, truth values, or labels.

    Examples
    --------
    >>> decoded(("1", "2", "4"), Coding("integer"), np.array([2, 0]))
    array([4, 1])
    """
    return coding.values(levels)[codes]


def _interval(node: str, value: Any, levels: tuple[str, ...], edges: tuple[float, ...]) -> int | None:
    """Return the code of the interval that a number falls into, or None where the value is no number."""
    number = parse_numbers([text_of(value)])
    if number is None:
        return None
    interval = int(Cuts({node: edges}).codes(node, number)[0])
    return levels.index(interval_levels(edges, levels)[interval])


def _plain(value: Any) -> Any:
    """Return scalars of numpy as Python's, which are written without their type."""
    return value.item() if isinstance(value, np.generic) else value
