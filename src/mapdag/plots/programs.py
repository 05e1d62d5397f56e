"""Linear programs with sparse constraints, solved by HiGHS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def entries(rows: NDArray[np.int64], columns: NDArray[np.int64], value: float) -> list[NDArray[Any]]:
    """Put one value at several places of a matrix."""
    return [rows, columns, np.full(len(rows), value)]


def minimise(cost: NDArray[Any], terms: list[NDArray[Any]], limits: NDArray[Any]) -> NDArray[np.float64]:
    """Minimise cost @ x subject to A @ x <= limits and x >= 0; `terms` are the `entries` of A, one after the other."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows, columns, values = (np.concatenate(terms[part::3]) for part in range(3))
    matrix = coo_array((values, (rows, columns)), shape=(len(limits), len(cost))).tocsr()
    found = linprog(cost, A_ub=matrix, b_ub=limits, bounds=(0, None), method="highs")  # type: ignore[call-overload]  # sparse, too
    assert found.status == 0, found.message
    return np.asarray(found.x, dtype=np.float64)
