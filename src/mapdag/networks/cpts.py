"""What makes a conditional probability table: its shape, its range and rows that sum to one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mapdag.errors import CapacityError, NetworkError, ParameterError
from mapdag.wording import brief

if TYPE_CHECKING:
    from mapdag.graphs import DAG

Floats = NDArray[np.float64]
Levels = Mapping[str, tuple[str, ...]]

TOLERANCE = 1e-5
"""How far from one the sum of a row may be.

Files round probabilities: a row of seven times 0.1428571 is off by 3e-7, which is the worst of all the bundled
networks; pyAgrum writes six digits, with which a row of twenty is off by 1e-5 at most. Much beyond that, a row is as
likely to be wrong as to be rounded, and the caller has to say which.
"""

ROUNDING = 1e-12
"""Rows this close to one are kept as they are, so that what is written is what is read back."""

MAX_ENTRIES = 2**28
"""The most entries that the tables of a network may have together: 2 GiB."""

MAX_PARENTS = 31
"""Arrays have at most 32 axes in some versions of numpy; with two levels each, `MAX_ENTRIES` allows fewer anyway."""


def check_size(dag: DAG, levels: Levels, advice: str = "", *, sparse: Collection[str] = ()) -> None:
    """Refuse graphs whose tables would not fit into memory, naming the largest; `advice` ends the message.

    Those of some nodes may be `sparse`, which takes no more room than the data.
    """
    sizes = {}
    for node in dag.nodes:
        if node in sparse:
            continue
        n_parents = len(dag.parents(node))
        if n_parents > MAX_PARENTS:
            raise CapacityError(
                f"{node!r} has {n_parents} parents, more than the {MAX_PARENTS} that a table can have{advice}"
            )
        sizes[node] = math.prod(len(levels[name]) for name in (node, *dag.parents(node)))
    total = sum(sizes.values())
    if total > MAX_ENTRIES:
        largest = max(sizes, key=sizes.__getitem__)
        raise CapacityError(
            f"the conditional probability tables would have {total:,} entries, more than {MAX_ENTRIES:,}; the largest, "
            f"of {largest!r} given {len(dag.parents(largest))} parents, {sizes[largest]:,}: use fewer parents or levels"
            f"{advice}"
        )


def checked_cpt(
    node: str, parents: Sequence[str], levels: Levels, table: Any, *, tolerance: float, allow_undefined: bool
) -> Floats:
    """Return a table as a new array with rows that sum to one, or say what is wrong with it.

    Parameters
    ----------
    node, parents, levels
        The family, and the levels of its members at least.
    table : array-like
        One axis per parent, in this order, and the last for the node.
    tolerance : float
        Rows whose sum is further than this from one are refused; those within are divided by it.
    allow_undefined : bool
        Whether rows may be undefined: NaN throughout.
    """
    try:
        values = np.array(table, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise NetworkError(f"the probabilities of {node!r} must be an array of numbers") from None
    shape = tuple(len(levels[name]) for name in (*parents, node))
    if values.shape != shape:
        axes = ", ".join(f"{name} {size}" for name, size in zip((*parents, node), shape, strict=True))
        raise NetworkError(f"the probabilities of {node!r} must have shape {shape} ({axes}), got {values.shape}")
    rows = values.reshape(-1, shape[-1])
    finite = np.asarray(np.isfinite(rows).all(axis=1))
    negative = np.asarray((rows < 0).any(axis=1))
    undefined = np.asarray(np.isnan(rows).all(axis=1)) & bool(allow_undefined)
    family = (node, parents, levels)
    _refuse(~finite & ~undefined, family, "a probability that is not a finite number")
    _refuse(negative, family, "a negative probability")
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1) > ROUNDING
    far = np.abs(sums - 1) > tolerance
    if far.any():
        _refuse(far, family, f"probabilities that sum to {sums[np.argmax(far)]:.10g} instead of 1")
    rows[off] /= sums[off, None]
    return values


def check_tolerance(tolerance: float) -> float:
    """Return the tolerance, which must be from 0 to 1."""
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise ParameterError(f"tolerance must be from 0 to below 1, got {brief(tolerance)}")
    return float(tolerance)


def refuse_undefined(cpts: Mapping[str, Floats], what: str) -> None:
    """Refuse tables with undefined rows where `what` needs them all."""
    undefined = {
        node: count for node, table in getattr(cpts, "held", cpts).items() if (count := count_undefined(table))
    }
    if undefined:
        node, count = next(iter(undefined.items()))
        more = f", and those of {len(undefined) - 1:,} more nodes" if len(undefined) > 1 else ""
        raise NetworkError(
            f"{what} needs all probabilities, but {count:,} configurations of {node!r} are undefined (NaN){more}; "
            "fit with unobserved='uniform'"
        )


def count_undefined(table: Any) -> int:
    """Count the configurations whose probabilities are NaN, of an array or a sparse table."""
    return int(np.isnan(table[..., 0]).sum()) if isinstance(table, np.ndarray) else table.n_undefined


def _refuse(rows: NDArray[np.bool_], family: tuple[str, Sequence[str], Levels], what: str) -> None:
    """Raise an error that names the first of the rows, if there are any."""
    if not rows.any():
        return
    node, parents, levels = family
    count = int(rows.sum())
    more = f" (and {count - 1:,} more of its {rows.size:,} configurations)" if count > 1 else ""
    raise NetworkError(f"{node!r}{configuration_text(parents, levels, int(np.argmax(rows)))} has {what}{more}")


def configuration_text(parents: Sequence[str], levels: Levels, number: int) -> str:
    """Write a configuration, by its number, as an apposition to its node: nothing where there are no parents.

    >>> configuration_text(["A", "B"], {"A": ("no", "yes"), "B": ("low", "high")}, 2)
    ' given A=yes, B=low'
    """
    if not parents:
        return ""
    codes = np.unravel_index(number, [len(levels[parent]) for parent in parents])
    return " given " + ", ".join(f"{name}={levels[name][code]}" for name, code in zip(parents, codes, strict=True))
