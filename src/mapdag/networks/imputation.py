"""Filling the gaps of a table by what a network says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mapdag.checks import check_whole, is_one_of
from mapdag.data import Dataset
from mapdag.data.codings import TEXT, interval_numbers
from mapdag.data.filling import numbers_within, with_values
from mapdag.data.problems import rows_text
from mapdag.errors import NetworkError, ParameterError, Setting
from mapdag.networks.evidence import decoded
from mapdag.networks.inputs import readable_again, rows_as_evidence
from mapdag.networks.network import check_network
from mapdag.public import public
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import brief, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mapdag.data.labels import Codes
    from mapdag.networks.cpts import Floats
    from mapdag.networks.network import BayesianNetwork


@dataclass(frozen=True, repr=False)
class Imputation(Tabular):
    """A table whose gaps were filled; made by `impute`.

    Attributes
    ----------
    data : Dataset
        The rows without gaps; of several draws the first.
    draws : tuple of Dataset
        All of them.
    incomplete : Dataset
        The rows as they were.
    network : BayesianNetwork
        What they were filled by.
    how : {"joint", "marginal", "draw"}
    seed : int
    """

    data: Dataset
    draws: tuple[Dataset, ...] = field(repr=False)
    incomplete: Dataset = field(repr=False)
    network: BayesianNetwork = field(repr=False)
    how: str = field(default="joint", repr=False)
    seed: int = field(default=0, repr=False)

    @cached_property
    def probabilities(self) -> Mapping[str, Floats]:
        """For each column that has gaps, the distribution of each of them given what is known, in the order of rows."""
        from mapdag.networks.prediction import predict_proba

        found = {}
        for name in self.incomplete.gaps.missing:
            rows = self.incomplete.take(~self._known(name))
            others = rows.select([other for other in rows.names if other != name]) if rows.n_columns > 1 else None
            card = len(self.network.levels[name])
            if others is None:
                found[name] = np.tile(self.network.query(name).values, (rows.n_rows, 1))
            else:
                found[name] = predict_proba(self.network, others, name).reshape(-1, card)
        return found

    def fill(self, table: Any, *, draw: int = 0) -> Any:
        """Return the table that was filled, with values of its own types in its gaps.

        A column of numbers that was cut gets a number from the interval: the median of those that the table has there,
        or, where gaps were filled by draws (``how="draw"``), one of them at random. All else stays as it is.

        Parameters
        ----------
        table : pandas or polars frame
            The same that `impute` was given.
        draw : int
            Which of the draws, counted from 0.

        Examples
        --------
        >>> import mapdag as md
        >>> import pandas as pd
        >>> retired = ["no", "yes", "yes", "yes", "no"]
        >>> table = pd.DataFrame({"age": [21.0, None, 62.0, 64.0, 24.0] * 9, "retired": retired * 9})
        >>> found = md.structural_em(table, discretize={"age": [40]})
        >>> md.impute(found.network, table).fill(table).head(2)
            age retired
        0  21.0      no
        1  62.0     yes
        """
        if not hasattr(table, "columns"):
            raise ParameterError(f"table must be a pandas or polars frame, got {brief(table)}")
        if table.shape[0] != self.incomplete.n_rows:
            rows = plural(self.incomplete.n_rows, "row")
            raise ParameterError(f"table must be the one that was imputed, which has {rows}, got {table.shape[0]:,}")
        draw = check_whole("draw", draw)
        if draw >= len(self.draws):
            raise ParameterError(f"draw must be below {len(self.draws)}, the number of draws, got {draw}")
        filled, found = self.draws[draw], {}
        places = {str(name): i for i, name in enumerate(table.columns)}
        for number, name in enumerate(self.incomplete.gaps.missing):
            gone = ~self._known(name)
            codes, coding = filled.column(name).astype(np.intp), self.network.codings.get(name, TEXT)
            known = np.asarray(table[table.columns[places[name]]], dtype=object)[~gone]
            is_text = len(known) > 0 and all(isinstance(value, str) for value in known)
            values = decoded(filled.levels[name], TEXT if is_text else coding, codes[gone]).tolist()
            if coding.edges is not None:
                rng = np.random.default_rng([self.seed, draw, number]) if self.how == "draw" else None
                intervals = interval_numbers(coding.edges, filled.levels[name])[codes]
                donors = known.astype(np.float64), intervals[~gone]
                values = numbers_within(intervals[gone], *donors, coding.edges, rng)
                values = list(map(str, values)) if is_text else values
            found[places[name]] = gone, values
        return with_values(table, found)

    def _known(self, name: str) -> NDArray[np.bool_]:
        known: NDArray[np.bool_] = self.incomplete.column(name) < len(self.incomplete.levels[name])
        return known

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each gap: where it was, what it was filled with, and how probable that is."""
        rows, columns, labels, sure = [], [], [], []
        for name, distribution in self.probabilities.items():
            where = np.flatnonzero(~self._known(name))
            codes = self.data.column(name)[where]
            rows += (where + 1).tolist()
            columns += [name] * len(where)
            labels += [self.data.levels[name][code] for code in codes.tolist()]
            sure += distribution[np.arange(len(where)), codes].tolist()
        order = np.argsort(rows, kind="stable")[:most].tolist()
        return Table(
            [
                Column("row", np.array([rows[i] for i in order], dtype=np.int64), ",", right=True),
                Column("column", [columns[i] for i in order]),
                Column("level", [labels[i] for i in order]),
                Column("probability", np.array([sure[i] for i in order]), ".4g", right=True),
            ],
            title=repr(self),
            left=len(rows) - len(order),
            rest="more gaps",
        )

    def __repr__(self) -> str:
        gaps = plural(int((~self.incomplete.known).sum()), "gap")
        several = f", {len(self.draws)} times" if len(self.draws) > 1 else ""
        return f"{gaps} filled in {plural(self.incomplete.n_rows, 'row')}{several}"


@public()
def impute(
    network: BayesianNetwork,
    data: Any,
    *,
    how: Literal["joint", "marginal", "draw"] = "joint",
    draws: int = 1,
    seed: int = 0,
    threads: int | None = None,
) -> Imputation:
    """Fill the gaps of a table by what a network says of them, given what is known of each row.

    Parameters
    ----------
    network : BayesianNetwork
        Such as `fit` or `structural_em` make from the same rows.
    data : Dataset with gaps, or any table that `mapdag.read` takes
        Columns that are no node are left out, and nodes without a column are not added.
    how : {"joint", "marginal", "draw"}
        By the levels that are most probable together, in each row; by the most probable level of each gap for itself,
        which is right most often; or by draws from their joint distribution, which keeps what varies as variable as it
        is.
    draws : int
        How often to draw (multiple imputation): analyse each for itself, and pool what comes out.
    seed : int
        The same gives the same draws.
    threads : int, optional
        All cores unless given; the result does not depend on it.

    Returns
    -------
    Imputation

    Raises
    ------
    NetworkError
        If what is known of a row is impossible under the network.

    Examples
    --------
    >>> import mapdag as md
    >>> asia = md.network("asia")
    >>> rows = [{"smoke": "yes", "lung": None, "either": "yes", "tub": "no"}, {"smoke": None, "lung": "no"}]
    >>> print(md.impute(asia, rows))
    4 gaps filled in 2 rows
    row  column  level  probability
      1  lung    yes              1
      2  tub     no          0.9896
      2  smoke   no          0.5238
      2  either  no          0.9896
    """
    from mapdag.networks.draws import key_of
    from mapdag.networks.gaps import fill, log_known

    check_network("network", network)
    if not is_one_of(how, ("joint", "marginal", "draw")):
        raise ParameterError(f"how must be 'joint', 'marginal' or 'draw', got {brief(how)}")
    draws = check_whole("draws", draws, least=1)
    threads = None if threads is None else check_whole("threads", threads, least=1)
    if draws > 1 and how != "draw":
        raise ParameterError(
            Setting("draws", draws), " needs ", Setting("how", "draw"), ": there is one most probable way to fill gaps"
        )
    key = int(key_of(seed)[0])
    codes, incomplete = _evidence(network, data)
    impossible = np.isneginf(log_known(network, codes))
    if impossible.any():
        raise NetworkError(
            f"what is known of {rows_text(impossible)} is impossible under the network, so that nothing can be said of "
            "the gaps; leave these rows out"
        )
    if how == "marginal":
        filled = [_marginal(network, codes, incomplete)]
    else:
        filled = list(fill(network, codes, draws=draws if how == "draw" else 0, seed=key, threads=threads or 0))
    every = tuple(_dataset(network, each, incomplete) for each in filled)
    return Imputation(every[0], every, incomplete, network, how, key)


def _evidence(network: BayesianNetwork, data: Any) -> tuple[Codes, Dataset]:
    """Return codes of all nodes, gaps being the number of levels; and the columns that the table has, as data."""
    source = data if isinstance(data, Dataset) else readable_again(data)
    known = rows_as_evidence(source, network.nodes, network)
    codes = np.empty((len(network.nodes), known.n_rows), dtype=np.uint16)
    for row, node in zip(codes, network.nodes, strict=True):
        card = len(network.levels[node])
        row[:] = known.codes.get(node, card)
        if node in known.known:
            row[~known.known[node]] = card
    names = [node for node in network.nodes if node in known.codes]
    if isinstance(data, Dataset):
        names = [name for name in data.names if name in known.codes]
    if not names:
        raise ParameterError("data must have a column of some node of the network")
    levels = {name: network.levels[name] for name in names}
    chosen = codes[[network.nodes.index(name) for name in names]]
    weights = data.weights if isinstance(data, Dataset) else None
    return codes, Dataset(tuple(names), levels, chosen, weights, network.codings, has_gaps=True)


def _marginal(network: BayesianNetwork, codes: Codes, incomplete: Dataset) -> Codes:
    """Fill each gap by its own most probable level."""
    from mapdag.networks.propagation import first_best

    found = codes.copy()
    asked = Imputation(incomplete, (), incomplete, network)
    for name, distribution in asked.probabilities.items():
        place = network.nodes.index(name)
        found[place, found[place] == len(network.levels[name])] = first_best(distribution.T)
    return found


def _dataset(network: BayesianNetwork, codes: Codes, like: Dataset) -> Dataset:
    chosen = codes[[network.nodes.index(name) for name in like.names]]
    return Dataset(like.names, like.levels, chosen, like.weights, like.codings)
