"""What columns repeat of each other: copies, what follows from another column, sums of columns. By row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.problems import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_COPY = 0.01  # rows in which a near-copy differs, at most
_LEAST_DIFFERENT = 5  # rows that must have another value than most, or everything says the same of it
_PARALLEL = 0.999  # correlation of numbers that say the same
_PAIRED = 200  # columns that are compared with each other
_SAMPLE = 20_000  # rows for that
_REPEATS = 5  # rows for each value of a column, if it is to say anything that another one has to follow
_SUM_ROWS = 2_000  # rows in which sums are looked for
_MORE_ROWS = 10  # than columns, so that no sum fits by chance
_PART = 1e-3  # weight of a column that is part of a sum
_NEAR = 1e-4  # how near such weights, and what they make, must be
_EXACT = 1e-6  # what may be left of a sum, as a share of its spread


@dataclass(frozen=True)
class Twin:
    """A column that another one determines."""

    known: str
    follows: str
    mutual: bool  # whether it determines the other as well
    differing: int = 0  # rows in which that fails


def twins(columns: Mapping[str, NDArray[Any]]) -> list[Twin]:
    """Find columns that say the same, nearly the same, or follow from another; given as positions, by row."""
    names = list(columns)[:_PAIRED]
    n_rows = len(columns[names[0]]) if names else 0
    rows = np.arange(n_rows) if n_rows <= _SAMPLE else np.linspace(0, n_rows - 1, _SAMPLE).astype(np.intp)
    codes = {name: np.unique(columns[name][rows], return_inverse=True)[1].reshape(-1) for name in names}
    sizes = {name: int(code.max()) + 1 for name, code in codes.items()}
    usable = [name for name in names if sizes[name] > 1 and _REPEATS * sizes[name] <= len(rows)]
    found = []
    for i, first in enumerate(usable):
        for second in usable[i + 1 :]:
            forward, backward = (
                _failures(codes[a], codes[b], sizes[a], sizes[b]) for a, b in ((first, second), (second, first))
            )
            limit = _COPY * len(rows)
            if forward is not None and backward is not None and max(forward, backward) <= limit:
                found.append(Twin(first, second, mutual=True, differing=max(forward, backward)))
            elif forward == 0:
                found.append(Twin(first, second, mutual=False))
            elif backward == 0:
                found.append(Twin(second, first, mutual=False))
    return found


def _failures(known: NDArray[Any], follows: NDArray[Any], n_known: int, n_follows: int) -> int | None:
    """Count the rows that the best rule from one column to the other gets wrong; None where little is to be told."""
    table = np.bincount(known * n_follows + follows, minlength=n_known * n_follows).reshape(n_known, n_follows)
    wrong = len(known) - int(table.max(axis=1).sum())
    without = len(known) - int(table.sum(axis=0).max())
    return wrong if without >= _LEAST_DIFFERENT and 10 * wrong <= without else None


def parallels(columns: Mapping[str, NDArray[np.float64]]) -> list[tuple[str, str, float]]:
    """Find pairs of numeric columns that are the same up to units or a scale, and their correlations.

    That of the ranks counts as well: quantiles of a number and of its logarithm are the same.
    """
    names = [name for name in list(columns)[:_PAIRED] if np.ptp(columns[name]) > 0]
    if len(names) < 2:
        return []
    n_rows = len(columns[names[0]])
    rows = slice(None) if n_rows <= _SAMPLE else np.linspace(0, n_rows - 1, _SAMPLE).astype(np.intp)
    with np.errstate(all="ignore"):
        plain = np.corrcoef([columns[name] for name in names])
        ranked = np.corrcoef([_ranks(columns[name][rows]) for name in names])
    found = np.where(np.abs(ranked) > np.abs(plain), ranked, plain)
    pairs = np.argwhere(np.triu(np.abs(found) >= _PARALLEL, k=1))
    return [(names[i], names[j], float(found[i, j])) for i, j in pairs.tolist()]


def _ranks(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each number; equal ones share theirs."""
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - counts / 2)[place.reshape(-1)]


@dataclass(frozen=True)
class Sum:
    """A column that is the sum, the mean or the rest of others.

    Attributes
    ----------
    name : str
    parts : tuple of str
    means : bool
        Whether it is their mean.
    rest : bool
        Whether it is what they leave of a constant, as the last of several shares, or of 0 and 1 for each category.
    """

    name: str
    parts: tuple[str, ...]
    means: bool = False
    rest: bool = False

    def told(self) -> str:
        """Say what it is."""
        names = listed(self.parts, 5)
        if self.rest:
            return f"follows from {names}: they add up to the same in each row"
        return f"is the {'mean' if self.means else 'sum'} of {names}"


def sums(columns: Mapping[str, NDArray[np.float64]]) -> list[Sum]:
    """Find columns that are sums or means of at least two others, given as numbers, by row; NaN is missing.

    Columns with few distinct values come first, as a sum score has more of them than its items; each is compared with
    those before it that are no sums themselves.

    >>> rng = np.random.default_rng(1)
    >>> items = {f"q{i}": rng.integers(0, 4, 100).astype(float) for i in range(4)}
    >>> sums({"total": sum(items.values()), **items})
    [Sum(name='total', parts=('q0', 'q1', 'q2', 'q3'), means=False, rest=False)]
    """
    names = list(columns)[:_PAIRED]
    if len(names) < 3:
        return []
    table = np.array([columns[name] for name in names])
    table = table[:, np.isfinite(table).all(axis=0)]
    n_rows = table.shape[1]
    if n_rows < len(names) + _MORE_ROWS:
        return []
    if n_rows > _SUM_ROWS:
        table = table[:, np.linspace(0, n_rows - 1, _SUM_ROWS).astype(np.intp)]
    centred = table - table.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1))
    found: list[Sum] = []
    basis: list[NDArray[np.float64]] = []
    used: list[int] = []
    levels = [len(np.unique(row)) for row in table]
    for i in np.lexsort((spread, levels)).tolist():
        if spread[i] == 0:
            continue
        left = unit = centred[i] / np.linalg.norm(centred[i])
        for _ in range(2):  # twice, for the sake of digits
            left = left - sum((base * (base @ left) for base in basis), np.zeros_like(left))
        if len(used) > 1 and np.linalg.norm(left) < _EXACT:
            one = _as_sum(names, used, centred, i)
            if one is not None:
                found.append(one)
            continue
        if np.linalg.norm(left) >= _EXACT * np.linalg.norm(unit):
            basis.append(left / np.linalg.norm(left))
            used.append(i)
    return found


def _as_sum(names: Sequence[str], used: Sequence[int], centred: NDArray[np.float64], i: int) -> Sum | None:
    """Say which of some independent columns another one is the sum of, if it is."""
    lengths = np.linalg.norm(centred[used], axis=1)
    units = centred[used] / lengths[:, np.newaxis]
    try:
        weights = np.linalg.solve(units @ units.T, units @ centred[i]) / lengths
    except np.linalg.LinAlgError:
        return None
    parts = [k for k, weight in enumerate(weights) if abs(weight) > _PART]
    if len(parts) < 2:
        return None
    own = weights[parts]
    named = tuple(names[used[k]] for k in sorted(parts, key=lambda k: used[k]))

    def fits(tried: float | NDArray[np.float64]) -> bool:
        """Tell whether these weights make the column, to the last digits."""
        if not np.allclose(own, tried, rtol=_NEAR):
            return False
        left = centred[i] - (np.zeros(len(parts)) + tried) @ centred[[used[k] for k in parts]]
        return bool(np.linalg.norm(left) < _NEAR * np.linalg.norm(centred[i]))

    if fits(1.0):
        return Sum(names[i], named)
    if fits(1 / len(parts)):
        return Sum(names[i], named, means=True)
    if fits(-1.0):
        return Sum(names[i], named, rest=True)
    if int((own > 0).sum()) == 1 and fits(np.sign(own)):
        whole = parts[int(np.argmax(own))]  # which is then the sum of this column and the others
        others = [names[used[k]] for k in parts if k != whole]
        return Sum(names[used[whole]], (names[i], *others))
    return None
