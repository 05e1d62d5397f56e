"""Causal effects under a posterior over graphs: how strong, and whether there is any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mapdag.checks import check_number, check_whole
from mapdag.errors import ParameterError
from mapdag.networks import CPT
from mapdag.networks.evidence import level_code
from mapdag.tables import Column, Table, Tabular
from mapdag.wording import brief

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from mapdag.data.codings import Coding
    from mapdag.graphs import DAG
    from mapdag.sampling.dirichlet_networks import DirichletNetworks
    from mapdag.sampling.graph_posterior import Posterior

    Floats = NDArray[np.float64]

_MASS = 0.95  # of an interval, unless the user says otherwise


class Estimate(NamedTuple):
    """A posterior mean, and its credible interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class EffectPosterior(Tabular):
    """Draws of P(effect | do(cause)) from its posterior, over graphs and their probabilities.

    Attributes
    ----------
    cause, effect : str
    levels : mapping
        The levels of both.
    draws : float array (draws, levels of the cause, levels of the effect)
        Each row sums to 1. In graphs without a directed path, all rows are the same.
    probability : float
        That there is any effect: the share of the sampled graphs with a directed path from the cause to the effect.
    """

    cause: str
    effect: str
    levels: Mapping[str, tuple[str, ...]] = field(repr=False)
    draws: Floats = field(repr=False)
    probability: float
    codings: Mapping[str, Coding] = field(default_factory=dict, repr=False)

    @property
    def mean(self) -> CPT:
        """Posterior mean of the distribution of the effect after each intervention."""
        return CPT(self.effect, (self.cause,), self.levels, self.draws.mean(axis=0), done=True)

    def interval(self, mass: float = _MASS) -> tuple[Floats, Floats]:
        """Return the bounds of the credible interval of each entry, as much of the posterior below as above it."""
        low, high = np.quantile(self.draws, _tails(mass), axis=0)
        return low, high

    def difference(self, level: Any, made: Any, instead_of: Any, *, mass: float = _MASS) -> Estimate:
        """Return how much more probable a level of the effect is when the cause is made one level instead of another.

        Parameters
        ----------
        level
            Of the effect.
        made, instead_of
            Of the cause.
        mass : float
            Posterior probability of the credible interval.

        Returns
        -------
        Estimate
        """
        k = level_code(self.levels, self.effect, level, self.codings)
        i, j = (level_code(self.levels, self.cause, each, self.codings) for each in (made, instead_of))
        return _estimate(self.draws[:, i, k] - self.draws[:, j, k], mass)

    def strength(self, mass: float = _MASS) -> Estimate:
        """Return the largest total variation distance between two interventions: 0 for no effect, at most 1."""
        apart = np.abs(self.draws[:, :, None, :] - self.draws[:, None, :, :]).sum(axis=3) / 2
        return _estimate(apart.max(axis=(1, 2)), mass)

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each intervention and each level of the effect, with its 95% credible interval."""
        means, (low, high) = self.draws.mean(axis=0), self.interval()
        i, k = (each.ravel() for each in np.indices(means.shape))
        shown = slice(None, most)
        columns = [
            Column(f"do({self.cause})", i[shown], levels=self.levels[self.cause]),
            Column(self.effect, k[shown], levels=self.levels[self.effect]),
            *(
                Column(name, values[i, k][shown], ".3f", right=True)
                for name, values in (("mean", means), ("low", low), ("high", high))
            ),
        ]
        title = f"{self.effect} given do({self.cause}): probability of an effect {self.probability:.3f}"
        return Table(columns, title=title, left=means.size - len(i[shown]))


def draw_effects(
    posterior: Posterior, tables: DirichletNetworks, cause: str, effect: str, draws: int, seed: int
) -> EffectPosterior:
    """Draw effects; see `Posterior.effect`."""
    draws = check_whole("draws", draws, least=1)
    every = posterior.graphs
    data = posterior.data
    assert data is not None  # otherwise there were no tables
    every[0].dag.index.pair((cause, effect))  # unknown names, and a node that is both, are refused
    rng = np.random.default_rng(check_whole("seed", seed, least=0))
    levels = {node: data.levels[node] for node in (cause, effect)}
    values = np.empty((draws, len(levels[cause]), len(levels[effect])))
    for i, place in enumerate(np.linspace(0, len(every) - 1, draws).round().astype(int).tolist()):
        values[i] = _drawn_effect(every[place].dag, tables, cause, effect, rng)
    codings = {node: coding for node, coding in data.codings.items() if node in levels}
    return EffectPosterior(cause, effect, levels, values, posterior.path(cause, effect), codings)


def _drawn_effect(dag: DAG, tables: DirichletNetworks, cause: str, effect: str, rng: np.random.Generator) -> Floats:
    """Draw the distribution of the effect after each intervention, in one graph."""
    above = {effect, *dag.ancestors(effect)}
    network = tables.draw(dag, [node for node in dag.nodes if node in above], rng)
    if cause in above:
        return network.effect(cause, effect).values
    return network.query(effect).values[None, :]


def _tails(mass: float) -> tuple[float, float]:
    mass = check_number("mass", mass, least=0)
    if not 0 < mass < 1:
        raise ParameterError(f"mass must be between 0 and 1, got {brief(mass)}")
    return (1 - mass) / 2, (1 + mass) / 2


def _estimate(values: Floats, mass: float) -> Estimate:
    low, high = np.quantile(values, _tails(mass))
    return Estimate(float(values.mean()), float(low), float(high))
