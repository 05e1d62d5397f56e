"""What the command ``theory`` makes: figures of the paper's theory, and the tables behind them, in a folder."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mapdag.graphs import arc_correlation, arc_probability, n_dags
from mapdag.io.files import write_text
from mapdag.paper import experiments
from mapdag.plots import theory as plots
from mapdag.plots.figures import save
from mapdag.theory import EXAMPLE_1, EXAMPLE_2, approximate_arc_probability, limit_curves


@dataclass(frozen=True)
class _Scale:
    """How much to compute."""

    alphas: int
    nodes: tuple[int, ...]
    rows: tuple[int, ...]
    shown_rows: tuple[int, ...]
    replicates: int
    networks: tuple[str, ...]
    samples: int
    pairs: int
    largest: int
    levels: tuple[int, ...]
    even_columns: int


_FULL = _Scale(
    alphas=281,
    nodes=(5, 10, 20, 50, 100, 200),
    rows=(50, 100, 200, 500, 1000, 2000, 5000),
    shown_rows=(50, 500, 5000),
    replicates=10,
    networks=("alarm", "insurance", "hailfinder", "win95pts"),
    samples=3,
    pairs=500,
    largest=200,
    levels=(2, 3, 5, 10, 20),
    even_columns=10,
)
_QUICK = _Scale(
    alphas=29,
    nodes=(5, 20, 50),
    rows=(50, 500),
    shown_rows=(50, 500),
    replicates=2,
    networks=("asia", "alarm"),
    samples=1,
    pairs=50,
    largest=20,
    levels=(2, 5),
    even_columns=6,
)


class Made(NamedTuple):
    """A figure or table, and what it took."""

    name: str
    what: str
    seconds: float


class _Run:
    """One run of the command: where to write, how much to compute, and what was written."""

    def __init__(self, out: Path, scale: _Scale, seed: int, show: Callable[[str], None]) -> None:
        self.out, self.scale, self.seed, self.show = out, scale, seed, show
        self.files: list[Made] = []
        self._began = time.perf_counter()

    def write(self, name: str, what: str, rows: Sequence[Any], figure: Any = None) -> None:
        """Write the rows of an experiment, and its figure, and note the time since the last."""
        if rows:
            table = io.StringIO(newline="")
            writer = csv.writer(table, lineterminator="\n")
            writer.writerow(rows[0]._fields)
            writer.writerows([[_shortest(value) for value in row] for row in rows])
            write_text(self.out / f"{name}.csv", table.getvalue())
        if figure is not None:
            save(figure, self.out / name)
        now = time.perf_counter()
        self.files.append(Made(name, what, now - self._began))
        self._began = now

    @property
    def alphas(self) -> list[float]:
        """Alphas over many decades, 1 among them."""
        return [float(a) for a in np.logspace(-6, 8, self.scale.alphas)]


def _shortest(value: Any) -> Any:
    """Write floats with the digits that matter: what differs beyond the tenth is rounding."""
    return f"{value:.10g}" if isinstance(value, float) else value


def _examples(run: _Run) -> None:
    for name, number, example in (("example1", "3.2", EXAMPLE_1), ("example2", "3.3", EXAMPLE_2)):
        run.show(example.name)
        points = limit_curves(*example.tables, run.alphas)
        what = f"{example.name} (the paper's figure {number}): BDs/BDeu and Bayes factors"
        run.write(name, what, points, plots.example_figure(example, points))


def _theorems(run: _Run) -> None:
    run.show("theorems")
    scales = [4**k for k in range(9)]
    figure = plots.theorems_figure([a for a in run.alphas if 1e-3 <= a <= 1e4], scales)
    run.write("theorems", "Theorems 1 and 2, BIC and BDeu", (), figure)
    points = experiments.threshold_agreement(pairs=run.scale.pairs, seed=run.seed)
    run.write("threshold", "Theorem 5 at finite alphas, random tables", points, plots.threshold_figure(points))


def _uniform(run: _Run) -> None:
    run.show("uniform prior")
    points = [p for p in (3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30) if p <= run.scale.largest]
    moments = experiments.uniform_prior(points)
    nodes = [n for n in (*range(2, 20), *range(20, 201, 5)) if n <= run.scale.largest]
    arcs = [(n, float(arc_probability(n)), approximate_arc_probability(n)) for n in nodes]
    run.write("uniform", "U: exact probabilities and correlations", moments, plots.uniform_figure(arcs, moments))
    run.write("expected", "MU: expected arcs, normalised over DAGs", experiments.expected_numbers())
    exact = [
        {
            "nodes": n,
            "dags": n_dags(n),
            "arc_probability": str(arc_probability(n)),
            "signed_correlation": str(arc_correlation(n)) if n > 2 else None,
            "presence_correlation": str(arc_correlation(n, coding="presence")) if n > 2 else None,
        }
        for n in range(2, 11)
    ]
    write_text(run.out / "uniform.json", json.dumps(exact, indent=1) + "\n")


def _searches(run: _Run) -> None:
    run.show("inclusion along a climb")
    climb = experiments.inclusion_along_climb(seed=run.seed)
    run.write("inclusion", "P(arc | rest) while climbing on noise", climb, plots.inclusion_figure(climb))
    scale = run.scale
    noise = experiments.noise_arcs(
        scale.nodes, scale.rows, replicates=scale.replicates, seed=run.seed, progress=run.show
    )
    run.write("noise", "arcs learned from pure noise", noise, plots.noise_figure(noise, scale.shown_rows))
    even = experiments.saturated_arcs(
        scale.levels,
        [n for n in scale.rows if n <= 2000],
        columns=scale.even_columns,
        replicates=min(scale.replicates, 5),
        seed=run.seed,
        progress=run.show,
    )
    run.write("saturation", "the best graph of all on noise with even levels", even, plots.saturation_figure(even))
    found = experiments.alpha_sensitivity(scale.networks, replicates=scale.samples, seed=run.seed, progress=run.show)
    run.write("alpha", "arcs against alpha (Silander's picture)", found, plots.sensitivity_figure(found))
    run.write("front", "both in short, for the front page", (), plots.front_figure(noise, found))


def make_figures(out: Path, *, quick: bool, seed: int, show: Callable[[str], None]) -> list[Made]:
    """Compute and write everything, and say what was made."""
    run = _Run(out, _QUICK if quick else _FULL, seed, show)
    for part in (_examples, _theorems, _uniform, _searches):
        part(run)
    return run.files
