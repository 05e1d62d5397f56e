"""Results as arrays: one value for each network, size, replicate and objective, NaN where there is none.

A panel holds one arm of a study, that is one order of the columns and one search. Where two or more objectives are
compared, their averages are over the replicates that all of them have; a cell is a combination of network and size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from mapdag.errors import ParameterError
from mapdag.study.design import Design, network_name
from mapdag.study.store import Store
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mapdag.study.cells import Row

    Floats = NDArray[np.float64]

Direction = Literal["lower", "higher", "one"]


@dataclass(frozen=True)
class Metric:
    """What is measured of a learned network.

    Attributes
    ----------
    name, title : str
        Its name here, and for people.
    best : {"lower", "higher", "one"}
        Which values are best; "one": those closest to 1.
    digits : int
        Decimals that are shown; wins are also counted at this precision.
    of : callable
        The value of a row.
    """

    name: str
    title: str
    best: Direction
    digits: int
    of: Callable[[Row], float] = field(repr=False)

    @property
    def is_cost(self) -> bool:
        """Whether less counts as better where two are compared: arcs, too."""
        return self.best != "higher"


_DIGITS = 10  # of an average; the rest is rounding

METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        each.name: each
        for each in (
            Metric("shd", "SHD", "lower", 1, lambda row: row.shd),
            Metric("arcs", "arcs / true arcs", "one", 2, lambda row: row.arc_ratio),
            Metric("loglik", "log-likelihood / -10000", "lower", 2, lambda row: row.log_likelihood / -10_000.0),
            Metric("precision", "precision", "higher", 3, lambda row: row.precision),
            Metric("recall", "recall", "higher", 3, lambda row: row.recall),
            Metric("seconds", "seconds", "lower", 3, lambda row: row.seconds),
        )
    }
)


@dataclass(frozen=True, eq=False)
class Panel:
    """Results of one arm.

    Attributes
    ----------
    columns, search : str
        The arm.
    networks, sizes, objectives : tuple of str
        The axes, in the order of the design; the remaining one are the replicates.
    true_arcs : mapping of str to int
        Arcs of each true graph.
    values : mapping of str to array (networks, sizes, replicates, objectives)
        By metric.
    """

    columns: str
    search: str
    networks: tuple[str, ...]
    sizes: tuple[str, ...]
    objectives: tuple[str, ...]
    true_arcs: Mapping[str, int] = field(repr=False)
    values: Mapping[str, Floats] = field(repr=False)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], columns: str, search: str, design: Design | None = None) -> Panel:
        """Arrange rows; the axes are in the order of the design where there is one, otherwise sorted."""
        mine = [row for row in rows if row.columns == columns and row.search == search]
        if not mine:
            raise ParameterError(f"there are no results with columns {columns!r} and search {search!r}")
        networks = _axis((row.network for row in mine), map(network_name, design.networks) if design else ())
        sizes = _axis((row.size for row in mine), design.sizes if design else ())
        objectives = _axis((row.objective for row in mine), design.every_objective if design else ())
        replicates = sorted({row.replicate for row in mine})
        axes: tuple[Sequence[str | int], ...] = (networks, sizes, replicates, objectives)
        shape = tuple(map(len, axes))
        places = [{key: i for i, key in enumerate(axis)} for axis in axes]
        values = {name: np.full(shape, np.nan) for name in METRICS}
        for row in mine:
            keys: tuple[str | int, ...] = (row.network, row.size, row.replicate, row.objective)
            place = tuple(known[key] for known, key in zip(places, keys, strict=True))
            for name, metric in METRICS.items():
                values[name][place] = metric.of(row)
        return cls(columns, search, networks, sizes, objectives, {row.network: row.true_arcs for row in mine}, values)

    @property
    def arm(self) -> str:
        """The arm in words."""
        return f"{self.search}, columns {'in file order' if self.columns == 'file' else 'shuffled'}"

    @property
    def extent(self) -> str:
        """The arm, and how many cells it has: the fewer, the less its tests can find."""
        cells = int(np.isfinite(self.values["shd"]).any(axis=(2, 3)).sum())
        return f"{self.arm}, {plural(cells, 'cell')} of network and size"

    @property
    def n_results(self) -> int:
        """Learned networks."""
        return int(np.isfinite(self.values["shd"]).sum())

    def resampled(self, rng: np.random.Generator) -> Panel:
        """Draw the replicates of every network and size anew, with replacement: what other samples might have given.

        All objectives and metrics of a replicate stay together. Where some replicates have no results at all, only the
        others are drawn.
        """
        there = np.isfinite(self.values["shd"]).any(axis=3)
        # Those that are there come first; so many numbers are drawn below their count.
        order, counts = np.argsort(~there, axis=2, kind="stable"), there.sum(axis=2, keepdims=True)
        picked = (rng.random(there.shape) * np.maximum(counts, 1)).astype(np.int64)
        drawn = np.take_along_axis(order, picked, axis=2)
        beyond = np.arange(there.shape[2]) >= counts
        values = {}
        for name, each in self.values.items():
            taken = np.take_along_axis(each, drawn[..., None], axis=2)
            taken[beyond] = np.nan
            values[name] = taken
        return replace(self, values=values)

    def exchanged(self, metric: str, one: str, other: str) -> Panel:
        """Return a panel where one objective has another's values of a metric."""
        values = self.values[metric].copy()
        values[..., self.objectives.index(one)] = values[..., self.objectives.index(other)]
        return replace(self, values={**self.values, metric: values})

    def has(self, objectives: Iterable[str]) -> bool:
        """Whether there are any results of each of these objectives."""
        return all(objective in self.objectives for objective in objectives)

    def means(self, metric: str, objectives: Sequence[str], *, common: bool = True) -> Floats:
        """Averages over replicates: (networks, sizes, objectives), NaN where there are none.

        Parameters
        ----------
        metric : str
        objectives : sequence of str
        common : bool
            Whether to take only those replicates that have all the objectives.
        """
        data = np.full((*self.values[metric].shape[:3], len(objectives)), np.nan)
        for i, objective in enumerate(objectives):
            if objective in self.objectives:
                data[..., i] = self.values[metric][..., self.objectives.index(objective)]
        known = np.isfinite(data)
        if common:
            known &= known.all(axis=-1, keepdims=True)
        count = known.sum(axis=2)
        total = np.where(known, data, 0.0).sum(axis=2)
        # Ratios that add up to the same must be tied, in whatever order they were added.
        return np.where(count > 0, np.round(total / np.maximum(count, 1), _DIGITS), np.nan)

    def cells(self, metric: str, objectives: Sequence[str], sizes: Iterable[str] | None = None) -> Floats:
        """Averages of the cells that have all the objectives: (cells, objectives)."""
        means = self.means(metric, objectives)
        if sizes is not None:
            wanted = set(sizes)
            means = means[:, [i for i, size in enumerate(self.sizes) if size in wanted]]
        flat = means.reshape(-1, len(objectives))
        return flat[np.isfinite(flat).all(axis=1)]

    def ratio_sizes(self, *, below: float = np.inf, at_least: float = 0.0) -> tuple[str, ...]:
        """Sizes that are ratios n/p in a range."""
        return tuple(each for each in self.sizes if not each.startswith("n=") and at_least <= float(each) < below)


def read_panel(directory: str | Path, *, columns: str = "file", search: str = "hc") -> Panel:
    """Read one arm of the results in a directory."""
    with Store(directory) as store:
        return Panel.from_rows(store.rows(), columns, search, store.design)


def read_panels(directory: str | Path) -> tuple[Panel, ...]:
    """Read all arms of the results in a directory: that of the paper first."""
    with Store(directory) as store:
        design, rows = store.design, list(store.rows())
    arms = sorted({(row.columns, row.search) for row in rows}, key=lambda arm: (arm[1] != "hc", arm[1], arm[0]))
    return tuple(Panel.from_rows(rows, *arm, design) for arm in arms)


def _axis(found: Iterable[str], order: Iterable[str]) -> tuple[str, ...]:
    """Return what was found: first in the order of the design, then the rest."""
    present = set(found)
    first = [each for each in order if each in present]
    return (*first, *sorted(present.difference(first), key=_natural))


def _natural(text: str) -> tuple[float, str]:
    try:
        return float(text.removeprefix("n=")), text
    except ValueError:
        return 0.0, text
