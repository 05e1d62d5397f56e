"""The figures of docs/theory.md, from the values of `mapdag.theory` and `mapdag.paper.experiments`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mapdag.plots.figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, mark_level, panels, style
from mapdag.theory import (
    EXAMPLE_1,
    Example,
    bic_gap,
    bic_gap_limit,
    entropy,
    largest_entropy,
    log_bdeu,
    log_bdeu_factor_limits,
    log_bdeu_leading,
    log_bdeu_limits,
    log_bds_over_bdeu_limits,
    posterior_entropy,
    sparse_posterior_entropy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from mapdag.paper.experiments import (
        AgreementPoint,
        AlphaPoint,
        ClimbPoint,
        NoisePoint,
        SaturationPoint,
        UniformPoint,
    )
    from mapdag.theory import LimitPoint

    _Learned = NoisePoint | SaturationPoint | AlphaPoint

T = TypeVar("T")

_ALPHA = r"imaginary sample size $\alpha$"
_LIKELIHOOD_COLOURS = {"BDeu": ORANGE, "BDs": BLUE}
# Where the two agree the thin line lies on the thick one, so that both are seen.
_LIKELIHOOD_LINES: dict[str, dict[str, Any]] = {
    "BDeu": {"color": ORANGE, "linewidth": 3.2, "markersize": 7},
    "BDs": {"color": BLUE, "linewidth": 1.5, "markersize": 3.5},
}
_PRIOR_LINES = {"U": "-", "MU(1/2)": "--", "MU(c=1)": ":"}


@style()
def example_figure(example: Example, points: Sequence[LimitPoint]) -> Figure:
    """Draw the paper's figure 3.2 or 3.3: BDs/BDeu, and the Bayes factors of G+ against G-, over alpha."""
    figure, (left, right) = panels(2)
    alphas = [point.alpha for point in points]
    one = min(points, key=lambda point: abs(math.log(point.alpha)))
    left.plot(alphas, np.exp([point.log_ratio for point in points]), color=INK)
    left.plot([one.alpha], [math.exp(one.log_ratio)], "o", color=INK, markersize=7)
    limits = log_bds_over_bdeu_limits(example.with_arc)
    for limit in sorted({round(math.exp(value), 9) for value in limits}):
        mark_level(left, limit)
    left.set(title=f"{example.name}: BDs / BDeu of G+", xlabel=_ALPHA, xscale="log", ylabel="ratio")
    for name, key in (("BDeu", "log_bdeu_factor"), ("BDs", "log_bds_factor")):
        colour = _LIKELIHOOD_COLOURS[name]
        right.plot(alphas, np.exp([getattr(point, key) for point in points]), color=colour, label=name)
        right.plot([one.alpha], [math.exp(getattr(one, key))], "o", color=colour, markersize=7)
    zero = math.exp(log_bdeu_factor_limits(*example.tables).zero)
    mark_level(right, zero)
    right.set(title="Bayes factor of G+ against G-", xlabel=_ALPHA, xscale="log", ylabel="G+ / G-")
    right.legend(loc="center right")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
    return figure


@style()
def theorems_figure(alphas: Sequence[float], scales: Sequence[int]) -> Figure:
    """Draw Theorem 1 (entropies grow), Theorem 2 (BDeu, at small alpha only) and BIC's distance to log BDeu."""
    from mapdag.counts import CountTable

    figure, (first, second, third) = panels(3, width=11.5)
    grid = list(alphas)
    first.plot(grid, posterior_entropy(EXAMPLE_1.without, grid), color=ORANGE, label=r"H(X|$\Pi$; $\alpha$), G-")
    first.plot(grid, posterior_entropy(EXAMPLE_1.with_arc, grid), color=ORANGE, linestyle="--", label="the same, G+")
    first.plot(grid, sparse_posterior_entropy(EXAMPLE_1.with_arc, grid), color=BLUE, linestyle=":", label="BDs, both")
    for limit in (entropy(EXAMPLE_1.with_arc), largest_entropy(EXAMPLE_1.with_arc)):
        mark_level(first, limit)
    first.set(title="Theorem 1: entropy grows", xlabel=_ALPHA, xscale="log", ylabel="nats")
    first.legend()
    table = CountTable.from_dense([[10, 1]])
    second.plot(grid, log_bdeu(table, grid), color=ORANGE, label="log BDeu of (10, 1)")
    small = [alpha for alpha in grid if alpha <= 3]
    second.plot(small, log_bdeu_leading(table, small), color=INK, linewidth=1, linestyle="--", label="leading term")
    mark_level(second, log_bdeu_limits(table).infinity)
    second.set(title=r"Theorem 2: small $\alpha$ only", xlabel=_ALPHA, xscale="log")
    second.legend(loc="lower right")
    counts = np.array([[30, 10], [15, 45]])
    gaps = [bic_gap(CountTable.from_dense(counts * k), 1.0) for k in scales]
    third.plot([int(counts.sum()) * k for k in scales], gaps, color=BLUE, marker="o")
    mark_level(third, bic_gap_limit(CountTable.from_dense(counts), 1.0))
    third.set(title="log BDeu - BIC settles", xlabel="rows", xscale="log")
    return figure


@style()
def threshold_figure(points: Sequence[AgreementPoint]) -> Figure:
    """Draw Theorem 5: how often each rule agrees with the sign of the Bayes factor under BDs, over alpha."""
    figure, (axes,) = panels(1, width=6.2)
    alphas = [point.alpha for point in points]
    for key, label, colour in (
        ("bds", "Theorem 5's threshold", RED),
        ("without_prior", r"$d_{EDF} < 0$ alone", ORANGE),
        ("leading", "leading term with its constants", BLUE),
    ):
        axes.plot(alphas, [getattr(point, key) for point in points], color=colour, marker="o", label=label)
    axes.set(title="Agreement with the Bayes factor under BDs", xlabel=_ALPHA, xscale="log", ylabel="share of pairs")
    axes.set_ylim(0, 1.04)
    axes.invert_xaxis()
    axes.legend(loc="lower right")
    return figure


@style()
def uniform_figure(arcs: Sequence[tuple[int, float, float]], points: Sequence[UniformPoint]) -> Figure:
    """Draw the uniform prior: P(i -> j) and correlations, exact and as the paper approximates them.

    Parameters
    ----------
    arcs : sequence of (N, exact, approximate)
    points : sequence of UniformPoint
    """
    figure, (left, right) = panels(2)
    nodes = [each[0] for each in arcs]
    left.plot(nodes, [each[1] for each in arcs], color=BLUE, label="exact")
    left.plot(nodes, [each[2] for each in arcs], color=ORANGE, linestyle="--", label="1/4 + 1/(4(N-1))")
    mark_level(left, 0.25)
    left.set(title="U: probability of an arc i → j", xlabel="nodes N", xscale="log")
    _plain_ticks(left.xaxis, [n for n in (2, 5, 10, 20, 50, 100, 200) if nodes[0] <= n <= nodes[-1]])
    left.legend()
    few = [point.nodes for point in points]
    for key, label, colour, line in (
        ("correlation_approximate", "the paper's formula", ORANGE, "--"),
        ("same_head", "i → j and k → j (0/1)", GREEN, "-"),
        ("presence", "presence (0/1)", BLUE, "-"),
        ("signed", "signed (-1/0/+1)", PURPLE, "-"),
    ):
        right.plot(few, [getattr(p, key) for p in points], color=colour, linestyle=line, marker="o", label=label)
    right.axhline(0, color=INK, linewidth=1)
    right.set(title="U: correlation of incident arcs", xlabel="nodes N")
    right.set_ylim(-0.22, 0.42)
    right.legend(loc="upper right", ncols=2)
    return figure


@style()
def inclusion_figure(points: Sequence[ClimbPoint]) -> Figure:
    """Draw what a climb on noise sees of its prior."""
    figure, (axes,) = panels(1, width=6.2)
    for prior, mine in _grouped(points, "prior").items():
        arcs = [point.arcs for point in mine]
        marker = "o" if len(arcs) < 3 else None
        colour = {"U": ORANGE, "MU(1/2)": BLUE}.get(prior, GREEN)
        axes.plot(arcs, [point.inclusion for point in mine], color=colour, label=prior, marker=marker)
        axes.plot(arcs[-1:], [mine[-1].inclusion], "o", color=colour, markersize=7)
    axes.set(title="Hill climbing on noise: P(arc | rest of the graph)", xlabel="arcs added so far")
    axes.set_ylim(0, 0.75)
    axes.legend(loc="center right")
    return figure


@style()
def noise_figure(points: Sequence[NoisePoint], rows: Sequence[int]) -> Figure:
    """Draw the arcs learned from pure noise against the number of columns, one panel for each number of rows."""
    figure, all_axes = panels(len(rows), width=11.5, height=3.8)
    top = max(_means(points, "rows", "objective", "nodes").values(), default=1.0)
    for axes, n in zip(all_axes, rows, strict=True):
        for objective, mine in _grouped([point for point in points if point.rows == n], "objective").items():
            prior, _, likelihood = objective.partition("+")
            name = likelihood.partition("(")[0]
            looks = {"linestyle": _PRIOR_LINES[prior], "marker": "o", **_LIKELIHOOD_LINES[name]}
            _plot_arcs(axes, mine, "nodes", label=f"{prior} + {name}", **looks)
        axes.set(title=f"{n:,} rows", xlabel="independent columns N", xscale="log")
        axes.set_yscale("symlog", linthresh=1, linscale=0.5)
        axes.set_ylim(-0.1, top * 1.6)
        _plain_ticks(axes.xaxis, sorted({point.nodes for point in points}))
        _plain_ticks(axes.yaxis, [v for v in (0, 1, 10, 100, 1000) if v <= top * 1.6])
    all_axes[0].set_ylabel("arcs learned (truth: 0)")
    all_axes[0].legend(fontsize=8, handlelength=4)
    return figure


@style()
def saturation_figure(points: Sequence[SaturationPoint]) -> Figure:
    """Draw the arcs of the best graph of all on noise against the rows, a line for each number of levels."""
    by_objective = _grouped(points, "objective")
    figure, all_axes = panels(len(by_objective), width=11.5, height=3.6)
    colours = (GREY, GREEN, BLUE, PURPLE, RED)
    top = max(point.arcs for point in points)
    for axes, (objective, mine) in zip(all_axes, by_objective.items(), strict=True):
        for (levels, same), colour in zip(sorted(_grouped(mine, "levels").items()), colours, strict=False):
            _plot_arcs(axes, same, "rows", color=colour, marker="o", label=f"{levels} levels")
        title = objective.replace("m=", "").replace("alpha=", "")
        axes.set(title=title, xlabel="rows", xscale="log")
        axes.set_ylim(-1, top + 2)
        _plain_ticks(axes.xaxis, sorted({point.rows for point in mine}))
    all_axes[0].set_ylabel("arcs of the best graph (truth: 0)")
    all_axes[-1].legend(fontsize=8)
    return figure


@style()
def sensitivity_figure(points: Sequence[AlphaPoint]) -> Figure:
    """Draw Silander's picture: learned arcs against alpha, one panel for each network."""
    by_network = _grouped(points, "network")
    figure, all_axes = panels(len(by_network), width=11.5, height=3.6)
    for axes, (name, mine) in zip(all_axes, by_network.items(), strict=True):
        for score, same in _grouped(mine, "score").items():
            prior, _, likelihood = score.partition("+")
            looks = {"linestyle": _PRIOR_LINES[prior], "color": _LIKELIHOOD_COLOURS[likelihood]}
            _plot_arcs(axes, same, "alpha", label=f"{prior} + {likelihood}", **looks)
        mark_level(axes, mine[0].true_arcs, label="truth")
        axes.set(title=f"{name}, {mine[0].rows:,} rows", xlabel=_ALPHA, xscale="log")
        axes.set_ylim(bottom=0)
        _plain_ticks(axes.xaxis, [0.1, 1, 10, 100])
    all_axes[0].set_ylabel("arcs learned")
    all_axes[0].legend(loc="upper left", fontsize=8, handlelength=2.5)
    return figure


@style()
def front_figure(noise: Sequence[NoisePoint], sensitivity: Sequence[AlphaPoint]) -> Figure:
    """Draw the front page: the usual score against ours, on noise and as alpha runs.

    Parameters
    ----------
    noise : sequence of NoisePoint
        The largest number of columns in it is shown, against rows.
    sensitivity : sequence of AlphaPoint
        Its first network is shown.
    """
    figure, (left, right) = panels(2, width=9.6, height=3.5)
    columns = max(point.nodes for point in noise)
    chosen = {"U+BDeu(1)": ("U + BDeu, the usual score", ORANGE), "MU(c=1)+BDs(1)": ("MU + BDs, the default", BLUE)}
    for objective, (label, colour) in chosen.items():
        mine = [point for point in noise if point.nodes == columns and point.objective == objective]
        _plot_arcs(left, mine, "rows", color=colour, marker="o", label=label)
    left.set(title=f"Pure noise: {columns} independent columns", xlabel="rows", xscale="log")
    left.set(ylabel="arcs learned (truth: 0)")
    _plain_ticks(left.xaxis, sorted({point.rows for point in noise}))
    left.legend()
    name = sensitivity[0].network
    sample = [point for point in sensitivity if point.network == name]
    for score, colour in (("U+BDeu", ORANGE), ("MU(c=1)+BDs", BLUE)):
        _plot_arcs(right, [point for point in sample if point.score == score], "alpha", color=colour, marker="o")
    mark_level(right, sample[0].true_arcs)
    right.annotate("true arcs", (0.1, sample[0].true_arcs), (0, -12), textcoords="offset points", color=GREY)
    title = f"{name.upper()}, {sample[0].rows:,} rows: arcs against " + r"$\mathbf{\alpha}$"
    right.set(title=title, xlabel=_ALPHA, xscale="log", ylabel="arcs learned")
    _plain_ticks(right.xaxis, [0.1, 1, 10, 100])
    left.set_ylim(bottom=-12)  # room for points at zero
    right.set_ylim(bottom=0)
    return figure


def _plot_arcs(axes: Axes, points: Iterable[_Learned], field: str, **looks: Any) -> None:
    """Draw a line through the average numbers of arcs, against a field of the points."""
    means = sorted(_means(points, field).items())
    axes.plot([x for x, _ in means], [arcs for _, arcs in means], **looks)


def _means(points: Iterable[_Learned], *fields: str) -> dict[Any, float]:
    """Average the numbers of arcs over replicates."""
    return {key: sum(point.arcs for point in same) / len(same) for key, same in _grouped(points, *fields).items()}


def _grouped(points: Iterable[T], *fields: str) -> dict[Any, list[T]]:
    found: dict[Any, list[T]] = {}
    for point in points:
        found.setdefault(attrgetter(*fields)(point), []).append(point)
    return found


def _plain_ticks(axis: Axis, values: Sequence[float]) -> None:
    """Put ticks at these values, written out, and nowhere else."""
    axis.set_ticks(list(values), [f"{value:g}" for value in values])
    axis.set_ticks([], minor=True)
