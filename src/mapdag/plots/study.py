"""Figures of a study: measures against the size of the sample, network by network, and critical differences.

Each function returns a matplotlib `Figure`, made without a display; `write_figures` saves them all.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.errors import MissingExtraError, ParameterError
from mapdag.study.panel import METRICS, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mapdag.paper.report import Report
    from mapdag.study.statistics import Ranks

#: Objectives that the curves show unless others are asked for, those there are.
SHOWN = (
    "U+BDeu(alpha=1)",
    "U+BDeu(alpha=10)",
    "MU(beta=0.5)+BDs(alpha=1)",
    "MU(c=1)+BDs(alpha=1)",
    "U+BIC",
)
# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = ("#D55E00", "#E69F00", "#0072B2", "#009E73", "#555555", "#CC79A7", "#56B4E9", "#000000")
_STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D")
_WIDE = 4  # panels side by side


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("figures of a study need matplotlib: pip install 'mapdag[plots]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def curves(panels: Sequence[Panel], metric: str = "shd", *, objectives: Sequence[str] | None = None) -> Figure:
    """Draw averages against n/p, one picture for each network, one line for each objective, dashed for other arms.

    Parameters
    ----------
    panels : sequence of Panel
        Arms of a study.
    metric : str
        As in `mapdag.study.panel.METRICS`.
    objectives : sequence of str, optional
        `SHOWN` unless given.
    """
    if metric not in METRICS:
        raise ParameterError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}")
    networks = list(dict.fromkeys(network for panel in panels for network in panel.networks))
    known = [each for panel in panels for each in panel.objectives]
    shown = [each for each in objectives or SHOWN if each in known] or list(dict.fromkeys(known))[: len(_COLOURS)]
    wide = min(_WIDE, len(networks))
    high = -(-len(networks) // wide)
    figure = _figure(3.1 * wide, 2.5 * high + 0.9)
    axes = figure.subplots(high, wide, squeeze=False).ravel()
    for place, axis in enumerate(axes):
        if place >= len(networks):
            axis.set_visible(False)
            continue
        _draw_network(axis, panels, networks[place], metric, shown)
        if place % wide == 0:
            axis.set_ylabel(METRICS[metric].title)
    _legend(figure, panels, shown)
    return figure


def _draw_network(axis: Axes, panels: Sequence[Panel], network: str, metric: str, objectives: Sequence[str]) -> None:
    for arm, panel in enumerate(panels):
        if network not in panel.networks:
            continue
        sizes = panel.ratio_sizes()
        places = [panel.sizes.index(size) for size in sizes]
        x = np.array([float(size) for size in sizes])
        means = panel.means(metric, objectives, common=False)[panel.networks.index(network)][places]
        for i in range(len(objectives)):
            there = np.isfinite(means[:, i])
            style = {"color": _COLOURS[i % len(_COLOURS)], "linestyle": _STYLES[arm % len(_STYLES)]}
            axis.plot(
                x[there], means[there, i], marker=_MARKERS[arm % len(_MARKERS)], markersize=3, linewidth=1.2, **style
            )
    if metric == "arcs":
        axis.axhline(1.0, color="#999999", linewidth=0.8, zorder=0)
    axis.set_xscale("log")
    ticks = sorted({float(size) for panel in panels for size in panel.ratio_sizes()})
    axis.set_xticks(ticks, [format(tick, "g") for tick in ticks], fontsize=8)
    axis.minorticks_off()
    axis.tick_params(axis="y", labelsize=8)
    axis.set_title(network.upper(), fontsize=9)
    axis.set_xlabel("n/p", fontsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _legend(figure: Figure, panels: Sequence[Panel], objectives: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=_COLOURS[i % len(_COLOURS)], linewidth=2, label=objective)
        for i, objective in enumerate(objectives)
    ]
    if len(panels) > 1:
        lines += [
            Line2D(
                *([], []),
                color="#333333",
                linestyle=_STYLES[arm % len(_STYLES)],
                marker=_MARKERS[arm % len(_MARKERS)],
                markersize=4,
                label=panel.arm,
            )
            for arm, panel in enumerate(panels)
        ]
    figure.legend(handles=lines, loc="outside lower center", ncols=4, fontsize=8, frameon=False)


def critical_differences(ranks: Ranks, title: str = "") -> Figure:
    """Draw average ranks on a line; a bar joins objectives whose ranks do not differ significantly (Demsar, 2006)."""
    k = len(ranks.names)
    half = -(-k // 2)
    groups = ranks.groups
    top = 1.2 + 0.35 * len(groups)
    figure = _figure(10, 0.24 * (half + top) + 1.0)
    axis = figure.subplots()
    low, high = 1.0, float(k)
    reach = (high - low) * 0.55
    axis.set_xlim(high + reach, low - reach)  # the best to the right
    axis.set_ylim(top + half + 0.5, -2.2)
    axis.axis("off")
    axis.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(1, k + 1, max(1, k // 16)):
        axis.plot([tick, tick], [-0.25, 0], color="black", linewidth=1)
        axis.text(tick, -0.4, str(tick), ha="center", va="bottom", fontsize=8)
    for i, (name, value) in enumerate(zip(ranks.names, ranks.ranks, strict=True)):
        right = i < half
        level = top + (i if right else k - 1 - i)
        end = low - reach * 0.06 if right else high + reach * 0.06
        axis.plot([value, value, end], [0, level, level], color="#777777", linewidth=0.7)
        text = f" {name}  {value:.2f}" if right else f"{value:.2f}  {name} "
        axis.text(end, level, text, ha="left" if right else "right", va="center", fontsize=8)
    for i, (first, last) in enumerate(groups):
        y = 0.5 + 0.35 * i
        axis.plot([ranks.ranks[first] - 0.06, ranks.ranks[last] + 0.06], [y, y], color="black", linewidth=2.5)
    start = high
    axis.plot([start, start - ranks.critical], [-1.6, -1.6], color="black", linewidth=2.5)
    axis.text(start - ranks.critical, -1.6, f"  critical difference {ranks.critical:.2f}", va="center", fontsize=8)
    axis.set_title(
        f"{title + ': ' if title else ''}average ranks over {ranks.cells} cells, the best to the right", fontsize=9
    )
    return figure


def make_figures(report: Report) -> dict[str, Figure]:
    """Return all figures of a report by name."""
    panels = [arm.panel for arm in report.arms]
    found = {f"{metric}-by-size": curves(panels, metric) for metric in ("shd", "arcs")}
    for arm in report.arms:
        for metric in ("shd", "loglik"):
            ranks = arm.ranks(metric)
            if ranks is not None:
                title = f"{METRICS[metric].title}, {arm.panel.arm}"
                found[f"ranks-{metric}-{arm.slug}"] = critical_differences(ranks, title)
    return found


def write_figures(report: Report, out: str | Path, *, suffix: str = ".svg") -> list[Path]:
    """Save all figures of a report to a folder; returns the files."""
    folder = Path(out)
    files = []
    for name, figure in make_figures(report).items():
        folder.mkdir(parents=True, exist_ok=True)
        files.append(folder / f"{name}{suffix}")
        _save(figure, files[-1], suffix.removeprefix("."), name)
    return files


def figure_svg(figure: Figure, name: str, title: str = "") -> str:
    """Return a figure as one `svg` element, to be put into a page.

    Parameters
    ----------
    figure : Figure
    name : str
        Of the figure, different from that of others in the same page.
    title : str
        What it shows, for those who cannot see it.
    """
    out = io.StringIO()
    _save(figure, out, "svg", name)
    element = out.getvalue()
    label = f'role="img" aria-label="{escape(title)}"'
    return element[element.index("<svg") :].replace("<svg", f"<svg {label}", 1)


def _save(figure: Figure, target: Any, form: str, salt: str) -> None:
    """Save a figure; the same results make the same file, without a date and with identifiers that depend on a name."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": salt}):
        figure.savefig(target, format=form, metadata={"Date": None} if form == "svg" else None)
