"""What an intervention would do, by adjusting for variables of one's own choice, with credible intervals.

No graph is needed: the g-formula for one time, also called standardization and back-door adjustment (Robins, 1986;
Pearl, 2009, "Causality", 3.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.checks import check_positive, check_probability, check_whole
from mapdag.counts import engine_of
from mapdag.data import ReadingOptions, as_dataset
from mapdag.data.interventions import refuse_interventions
from mapdag.data.problems import listed, unknown_names
from mapdag.data.source import names_in
from mapdag.errors import DataError, ParameterError
from mapdag.public import public
from mapdag.tables import Column, Table, Tabular

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from mapdag.counts import CountTable

_CELLS = 2**22  # entries drawn at once
_SHOWN = 8  # names


@dataclass(frozen=True)
class AdjustedEffect(Tabular):
    """The distribution of a variable after each intervention on another one, adjusted for some others.

    Attributes
    ----------
    cause, effect : str
    given : tuple of str
        What is adjusted for.
    levels : mapping
        Of the cause and of the effect.
    mean, lower, upper : array (levels of the cause, levels of the effect)
        Posterior means, and the ends of credible intervals.
    level : float
        The probability of each interval.
    rows : int or float
        Rows in which all these columns are known, or their weight.
    unsupported : float
        The share of the rows in strata of `given` in which some level of the cause does not occur: there, nothing but
        the prior tells what it would do.
    draws : array (draws, levels of the cause, levels of the effect)
    """

    cause: str
    effect: str
    given: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    mean: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: float
    rows: float
    unsupported: float
    draws: NDArray[np.float64] = field(repr=False)

    def difference(self, outcome: str, level: str, other: str) -> tuple[float, float, float]:
        """Return by how much the probability of an outcome is higher at one level of the cause than at another.

        Returns
        -------
        tuple of float
            The posterior mean and the ends of the credible interval.
        """
        ends = self.levels[self.cause]
        for name, value, known in (
            (self.effect, outcome, self.levels[self.effect]),
            *((self.cause, each, ends) for each in (level, other)),
        ):
            if value not in known:
                raise ParameterError(f"{name!r} has no level {value!r}; its levels are {listed(known)}")
        column = self.draws[:, :, self.levels[self.effect].index(outcome)]
        found = column[:, ends.index(level)] - column[:, ends.index(other)]
        low, high = np.quantile(found, [(1 - self.level) / 2, (1 + self.level) / 2])
        return float(found.mean()), float(low), float(high)

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each level of the cause and of the effect."""
        causes, outcomes = self.levels[self.cause], self.levels[self.effect]
        every = [(i, j) for i in range(len(causes)) for j in range(len(outcomes))]
        shown = every[:most]
        values = (np.array([table[i, j] for i, j in shown]) for table in (self.mean, self.lower, self.upper))
        heads = ("probability", f"{(1 - self.level) / 2:.1%}", f"{(1 + self.level) / 2:.1%}")
        return Table(
            [
                Column(f"do({self.cause})", [causes[i] for i, _ in shown]),
                Column(self.effect, [outcomes[j] for _, j in shown]),
                *(Column(head, each, ".4f", right=True) for head, each in zip(heads, values, strict=True)),
            ],
            left=len(every) - len(shown),
        )

    def __str__(self) -> str:
        by = f"adjusted for {listed(self.given, _SHOWN)}" if self.given else "not adjusted for anything"
        told = [f"{self.effect!r} after each intervention on {self.cause!r}, {by}; {self.rows:,.6g} rows"]
        if self.unsupported:
            told.append(
                f"{self.unsupported:.1%} of the rows are in strata that lack some level of {self.cause!r}: nothing but "
                "the prior tells what it would do there"
            )
        return "\n".join([*told, str(self.to_table())])

    __repr__ = __str__


@public(ReadingOptions)
def adjusted_effect(
    data: Any,
    cause: str,
    effect: str,
    given: str | Iterable[str] = (),
    *,
    prior: float = 0.5,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> AdjustedEffect:
    r"""Return the distribution of a variable after each intervention on another one, adjusted for what one chooses.

    It is :math:`\sum_z P(y \mid x, z) P(z)` over the observed strata z, with independent Dirichlet posteriors; that
    of P(z) is the Bayesian bootstrap of the strata. It is the effect of an intervention if `given` suffices to
    adjust for (`DAG.is_adjustment_set` says whether it does in a graph); no table can show that. Nothing is learned
    from any graph, so that a graph without a path does not make the effect zero.

    Parameters
    ----------
    data : Dataset, or anything that `mapdag.read` takes
        Rows that lack one of the columns do not count.
    cause, effect : str
    given : str or iterable of str
        What to adjust for; nothing by default, as in a randomized trial.
    prior : float
        The pseudo-count of each level of the effect, for each level of the cause in each stratum; 1/2 is Jeffreys'.
    level : float
        The probability of credible intervals.
    draws : int
        Draws from the posterior.
    seed : int
    **reading
        How to read the table, as in `mapdag.read`.

    Returns
    -------
    AdjustedEffect

    Examples
    --------
    >>> import mapdag as md
    >>> data = md.network("asia").sample(2000, seed=1)
    >>> print(md.adjusted_effect(data, "smoke", "bronc"))
    'bronc' after each intervention on 'smoke', not adjusted for anything; 2,000 rows
    do(smoke)  bronc  probability    2.5%   97.5%
    yes        yes         0.5833  0.5531  0.6144
    yes        no          0.4167  0.3856  0.4469
    no         yes         0.2940  0.2655  0.3224
    no         no          0.7060  0.6776  0.7345
    """
    check_positive("prior", prior)
    check_whole("draws", draws, least=1)
    check_probability("level", level)
    adjusted = tuple(dict.fromkeys(names_in(given, "given")))
    table = as_dataset(data, **reading)
    unknown = [name for name in (cause, effect, *adjusted) if name not in table.levels]
    if unknown:
        raise unknown_names(unknown, table.names, "adjusted_effect")
    if cause == effect or {cause, effect} & set(adjusted):
        raise ParameterError(
            f"cause, effect and given must be different columns, got {[cause, effect, *adjusted]!r:.200}"
        )
    refuse_interventions(table, "an adjusted effect", "; the effect of a fitted network does (`Result.effect`)")
    index = {name: i for i, name in enumerate(table.names)}
    parents = sorted(index[name] for name in (cause, *adjusted))
    counts = engine_of(table).table(index[effect], parents)
    if not counts.q_obs:
        raise DataError(f"an adjusted effect: no row has values in all of {listed([cause, effect, *adjusted])}")
    levels = {name: table.levels[name] for name in (cause, effect)}
    strata = _by_stratum(counts, parents.index(index[cause]), len(levels[cause]))
    drawn = _draw(strata, float(prior), draws, np.random.default_rng(seed))
    ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    weight = strata.sum(axis=(1, 2))
    lacking = (strata.sum(axis=2) == 0).any(axis=1)
    return AdjustedEffect(
        cause, effect, adjusted, levels, _mean(strata, float(prior)), ends[0], ends[1], float(level),
        float(weight.sum()), float(weight[lacking].sum() / weight.sum()), drawn,
    )  # fmt: skip


def _by_stratum(counts: CountTable, cause: int, size: int) -> NDArray[np.float64]:
    """Return counts by stratum, level of the cause and level of the effect; `cause` is its place among the parents."""
    others = np.delete(counts.configurations, cause, axis=1)
    _, stratum = np.unique(others, axis=0, return_inverse=True)
    stratum = stratum.reshape(-1)
    found = np.zeros((int(stratum.max()) + 1, size, counts.r))
    of_cell = np.repeat(np.arange(counts.q_obs), np.diff(counts.offsets))
    where = (stratum[of_cell], counts.configurations[of_cell, cause].astype(np.intp), counts.levels)
    np.add.at(found, where, counts.counts)
    return found


def _mean(strata: NDArray[np.float64], prior: float) -> NDArray[np.float64]:
    inner = (strata + prior) / (strata + prior).sum(axis=2, keepdims=True)
    outer = strata.sum(axis=(1, 2))
    found: NDArray[np.float64] = np.einsum("z,zxy->xy", outer / outer.sum(), inner)
    return found


def _draw(strata: NDArray[np.float64], prior: float, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw distributions of the effect for each level of the cause."""
    found = np.empty((draws, *strata.shape[1:]))
    step = max(_CELLS // strata.size, 1)
    for low in range(0, draws, step):
        n = min(step, draws - low)
        inner = _dirichlet(strata + prior, n, rng)
        outer = _dirichlet(strata.sum(axis=(1, 2)), n, rng)
        found[low : low + n] = np.einsum("nz,nzxy->nxy", outer, inner)
    return found


def _dirichlet(counts: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from Dirichlet distributions over the last axis; by logs, as gammas of small shapes underflow."""
    # A gamma of shape a is one of shape a + 1, times a uniform number to the power of 1 / a.
    logs = np.log(rng.standard_gamma(counts + 1, (n, *counts.shape)))
    logs += np.log1p(-rng.random((n, *counts.shape))) / counts
    logs -= logs.max(axis=-1, keepdims=True)
    found: NDArray[np.float64] = np.exp(logs)
    return found / found.sum(axis=-1, keepdims=True)
