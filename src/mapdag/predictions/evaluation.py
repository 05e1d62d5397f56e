"""`evaluate` and `metrics`: predictions of a network, or any others, put beside what turned out to be the case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data import Dataset
from mapdag.data.columns import from_any
from mapdag.data.labels import label_list, ordered
from mapdag.data.meanings import ReadOptions, meanings_of
from mapdag.data.problems import listed, rows_text
from mapdag.errors import DataError, ParameterError, Setting
from mapdag.networks.inputs import readable_again, rows_as_evidence
from mapdag.networks.network import check_network
from mapdag.networks.training_rows import is_estimated_from
from mapdag.notices import warn
from mapdag.predictions.measures import Metrics, codes_of
from mapdag.public import public
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mapdag.networks import BayesianNetwork
    from mapdag.networks.inputs import Unseen

    Floats = NDArray[np.float64]

_SUM = 1e-6  # how far from one the probabilities of a row may add up


@public()
def evaluate(network: BayesianNetwork, data: Any, target: str, *, unseen: Unseen = "gap") -> Metrics:
    """Predict a column of a table from the others by a network, and judge the predictions by what the column holds.

    Parameters
    ----------
    network : BayesianNetwork
    data : Dataset, or any table that `mapdag.read` takes
        As for `BayesianNetwork.predict_proba`; the rows of a dataset count by their weights. Rows in which the target
        is missing are not judged.
    target : str
        A node, and a column.
    unseen : {"gap", "error"}
        What to do about values that are no level of the network, as in `BayesianNetwork.predict`.

    Returns
    -------
    Metrics

    Warns
    -----
    MapdagWarning
        If the probabilities of the network are those that `fit` finds in these rows: the figures then are too good.

    Examples
    --------
    >>> import mapdag as md
    >>> asia = md.network("asia")
    >>> round(md.evaluate(asia, asia.sample(1000, seed=1), "lung").accuracy, 3)
    0.998
    """
    check_network("network", network)
    network.dag.index.position(target)  # an unknown name gets a suggestion
    data = readable_again(data)
    found = rows_as_evidence(data, [target], network, unseen=unseen)
    if target not in found.codes:
        raise DataError(f"the data have no column {target!r} to judge predictions by")
    actual = found.codes[target].astype(np.intp)
    if target in found.known:
        actual = np.where(found.known[target], actual, -1)
        if (actual < 0).all():
            rows_as_evidence(data, [target], network)  # which says what it holds instead of levels, if it does
    weights = data.weights if isinstance(data, Dataset) else None
    if is_estimated_from(network, data):
        warn(
            "the network was estimated from these very rows: it predicts them better than it will predict new rows; "
            "mapdag.cross_validate (mapdag cv --target) estimates how well it predicts new rows"
        )
    probabilities = network.predict_proba(data, target, unseen=unseen)
    return Metrics(network.levels[target], actual, probabilities, _checked_weights(weights, found.n_rows))


def metrics(
    actual: ArrayLike,
    probabilities: ArrayLike,
    *,
    levels: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
) -> Metrics:
    """Judge predicted probabilities by what turned out to be the case.

    Parameters
    ----------
    actual : sequence
        The actual levels: text, numbers or booleans, in a list, an array or a Series. Missing ones are not judged.
    probabilities : array (rows, levels)
        As `BayesianNetwork.predict_proba` and scikit-learn's classifiers give them; of two levels, those of the second
        will do. Rows that are NaN throughout have no prediction.
    levels : sequence, optional
        The levels in the order of the columns; the distinct actual ones in order unless given.
    weights : array (rows,), optional
        How many observations each row stands for.

    Returns
    -------
    Metrics

    Examples
    --------
    >>> import mapdag as md
    >>> asia = md.network("asia")
    >>> rows = asia.sample(1000, seed=1)
    >>> found = md.metrics(rows.to_polars()["dysp"], asia.predict_proba(rows, "dysp"), levels=asia.levels["dysp"])
    >>> print(found)
    1,000 rows, 2 levels
    figure              value   guess
    accuracy           0.8690  0.5850
    balanced accuracy  0.8751  0.5000
    log loss           0.3711  0.6786
    Brier score        0.1097  0.2428
    AUC                0.8803  0.5000
    calibration error  0.0152  0.0000
    level  rows  predicted  precision  recall     auc
    yes     415        472     0.8008  0.9108  0.8803
    no      585        528     0.9299  0.8393  0.8803
    >>> found.confusion
    array([[378.,  37.],
           [ 94., 491.]])
    """
    table = _numbers("probabilities", probabilities)
    if table.ndim == 1:
        table = np.column_stack([1 - table, table])
    if table.ndim != 2:
        raise ParameterError(f"probabilities must have a row for each prediction, got shape {table.shape}")
    column = from_any("actual", actual)
    if levels is None:
        distinct = [label for label in meanings_of(column, ReadOptions(), None) if label is not None]
        levels = ordered(distinct)
    names = label_list(levels, "actual")
    if len(names) != table.shape[1]:
        raise ParameterError(
            f"probabilities must have one column for each of {len(names)} levels ({listed(names, 5)}), got "
            f"{table.shape[1]}: name the levels in their order by ",
            Setting("levels", ["..."]),
        )
    if len(column.index) != len(table):
        raise ParameterError(
            f"probabilities must have as many rows as actual ({len(column.index):,}), got {len(table):,}"
        )
    _check_probabilities(table)
    return Metrics(names, codes_of(column, names), table, _checked_weights(weights, len(table)))


def _numbers(name: str, values: ArrayLike) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be an array of numbers, got {brief(values)}") from None


def _check_probabilities(table: Floats) -> None:
    """Probabilities are between 0 and 1 and add up to 1, in rows that are not NaN throughout."""
    given = ~np.isnan(table).all(axis=1)
    with np.errstate(invalid="ignore"):
        wrong = given & ~((table >= 0).all(axis=1) & (np.abs(table.sum(axis=1) - 1) <= _SUM))
    if wrong.any():
        raise ParameterError(
            f"probabilities must be between 0 and 1 and add up to 1 (or be NaN throughout), which {rows_text(wrong)} "
            f"does not: {table[wrong][0].tolist()}"
        )


def _checked_weights(weights: ArrayLike | None, n_rows: int) -> Floats:
    if weights is None:
        return np.ones(n_rows)
    found = _numbers("weights", weights)
    if found.shape != (n_rows,) or not np.isfinite(found).all() or (found < 0).any():
        raise ParameterError(f"weights must be {n_rows:,} numbers of at least 0, one per row, got {brief(weights)}")
    return found
