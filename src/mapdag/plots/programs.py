"""Linear programs with sparse constraints, solved by HiGHS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def differences(pairs: NDArray[np.int64], n: int) -> Any:
    """Return the sparse matrix that makes x_a - x_b of n unknowns, a row for each pair (a, b)."""
    from scipy.sparse import coo_array

    row = np.arange(len(pairs))
    entries = np.repeat([1.0, -1.0], len(pairs))
    return coo_array((entries, (np.concatenate([row, row]), pairs.T.ravel())), shape=(len(pairs), n))


def minimise(cost: NDArray[Any], matrix: Any, limits: NDArray[Any]) -> NDArray[np.float64]:
    """Minimise cost @ x subject to matrix @ x <= limits and x >= 0."""
    from scipy.optimize import linprog

    found = linprog(cost, A_ub=matrix.tocsr(), b_ub=limits, bounds=(0, None), method="highs")
    assert found.status == 0, found.message
    return np.asarray(found.x, dtype=np.float64)
