"""The tables of `docs/study.md`, written anew from the results of the study.

Each stands between `<!-- table: NAME -->` and `<!-- /table -->`; the rest of the page is left alone. `make study` runs
this after `mapdag study report`, which writes all other tables, the claims and the figures.

    python benchmarks/study_tables.py results/paper docs/study.md
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mapdag.objective import DEFAULT
from mapdag.paper.claims import Finding, measure_claims
from mapdag.paper.misprint import suppose
from mapdag.paper.transcript import CLAIMS
from mapdag.study.design import n_rows
from mapdag.study.panel import Panel, read_panels
from mapdag.study.samples import load_network
from mapdag.study.statistics import paired_t

ARMS = (("file", "hc"), ("shuffled", "hc"), ("shuffled", "default"))
NAMES = ("`hc`, file order", "`hc`, shuffled", "default, shuffled")
SOME = {
    "U+BDeu (1)": "U+BDeu(alpha=1)",
    "U+BDeu (10)": "U+BDeu(alpha=10)",
    "MU(c=1)+BDs (1)": "MU(c=1)+BDs(alpha=1)",
    "BIC": "U+BIC",
}
FEW = 3  # samples that a test needs
ABSENT = "–"  # noqa: RUF001 - a dash, as typeset

Rows = list[list[str]]


class Results:
    """The arms of a study, and the values of their cells."""

    def __init__(self, panels: Sequence[Panel]) -> None:
        found = {(panel.columns, panel.search): panel for panel in panels}
        self.arms = [found[arm] for arm in ARMS]
        self.networks, self.sizes = self.arms[0].networks, self.arms[0].sizes

    def values(self, arm: Panel, metric: str, network: str, size: str, objective: str) -> np.ndarray:
        """Values of all replicates, NaN where there is none."""
        most = max(each.values["shd"].shape[2] for each in self.arms)
        values = np.full(most, np.nan)
        if network in arm.networks and size in arm.sizes and objective in arm.objectives:
            place = arm.networks.index(network), arm.sizes.index(size), slice(None), arm.objectives.index(objective)
            own = arm.values[metric][place]
            values[: len(own)] = own
        return values

    def average(self, arm: Panel, metric: str, network: str, size: str, objective: str) -> float:
        """Average over all replicates that there are."""
        values = self.values(arm, metric, network, size, objective)
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def joined(values: Sequence[float], digits: int = 0) -> str:
    """Several averages in one cell."""
    return " / ".join(ABSENT if np.isnan(value) else f"{value:.{digits}f}" for value in values)


def coverage(results: Results) -> Rows:
    """Samples by arm and n/p; networks with the same together."""
    most = len(results.arms[0].objectives)
    rows = [["arm", "network", *results.sizes]]
    for arm, name in zip(results.arms, NAMES, strict=True):
        groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for network in arm.networks:
            cells = [_samples(results, arm, network, size, most) for size in results.sizes]
            groups[tuple(cells)].append(network.upper())
        rows += [[name, ", ".join(networks), *cells] for cells, networks in groups.items()]
    return rows


def _samples(results: Results, arm: Panel, network: str, size: str, most: int) -> str:
    """How many samples were learned, with how many objectives where that is not all; several where it depends."""
    counts = [int(np.isfinite(results.values(arm, "shd", network, size, each)).sum()) for each in arm.objectives]
    shown = []
    for samples in sorted({each for each in counts if each}, reverse=True):
        learned = sum(each >= samples for each in counts)
        shown.append(str(samples) if learned == most else f"{samples} ({learned})")
    return ", ".join(shown) or ABSENT


def parts(results: Results) -> Rows:
    """In how many claims with figures each part of the verdict agrees, and differs."""
    rows = [["columns", "p-value", "direction", "counts"]]
    for arm in results.arms[:2]:
        found = [each.parts for each in measure_claims(arm)[: len(CLAIMS)]]
        each = [f"{kind.count(True)} / {kind.count(False)}" for kind in zip(*found, strict=True)]
        rows.append(["file order" if arm.columns == "file" else arm.columns, *each])
    return rows


def exchanged(results: Results) -> Rows:
    """Claims with p-values that the paper's suspect column has a part in: as they are, and with the other's values."""
    rows = [["#", "claim", "paper", "file order", "exchanged", "shuffled", "exchanged"]]
    found = [suppose(arm, measure_claims(arm)) for arm in results.arms[:2]]
    for several in zip(*found, strict=True):
        claim = several[0].measured.claim
        if claim.p:
            figures = [_with_parts(each) for pair in several for each in pair]
            rows.append([str(claim.number), claim.text, several[0].measured.paper, *figures])
    return rows


def _with_parts(found: Finding) -> str:
    return f"{found.measured} ({found.parts})"


def pigs(results: Results) -> Rows:
    """SHD of all arms on PIGS, and its arcs."""
    rows = [["n/p", *SOME, "arcs, U+BDeu (1)"]]
    for size in results.sizes:
        cells = [
            joined([results.average(arm, "shd", "pigs", size, each) for arm in results.arms]) for each in SOME.values()
        ]
        arcs = [results.average(arm, "arcs", "pigs", size, SOME["U+BDeu (1)"]) for arm in results.arms]
        rows.append([size, *cells, joined(arcs, 2)])
    return rows


def three_arms(results: Results) -> Rows:
    """SHD of all arms, averages over the samples that all of them have."""
    rows = [["network", "n/p", *SOME]]
    for network in results.arms[2].networks:
        for size in results.sizes:
            cells = []
            for objective in SOME.values():
                each = np.array([results.values(arm, "shd", network, size, objective) for arm in results.arms])
                common = each[:, np.isfinite(each).all(axis=0)]
                cells.append(joined(common.mean(axis=1)) if common.shape[1] >= FEW else "")
            if all(cells):
                rows.append([network.upper(), size, *cells])
    return rows


def searches(results: Results) -> Rows:
    """What the default search makes of an objective, against hill climbing on the same samples, columns shuffled."""
    _, climbed, found = results.arms
    rows = [["network", "n/p", *SOME.values()]]
    for network in found.networks:
        for size in ("0.1", "0.2", "0.5"):
            cells = [_change(results, climbed, found, network, size, each) for each in SOME.values()]
            if all(cells):
                rows.append([network.upper(), size, *cells])
    return rows


def _change(results: Results, climbed: Panel, found: Panel, network: str, size: str, objective: str) -> str:
    """Change of the predictive loss, its p-value over samples (two-sided), and SHD of both."""
    arms = (climbed, found)
    losses, distances = (
        np.array([results.values(arm, metric, network, size, objective) for arm in arms])
        for metric in ("loglik", "shd")
    )
    common = np.isfinite(losses).all(axis=0)
    if common.sum() < FEW:
        return ""
    before, after = losses[:, common]
    change, p = after.mean() / before.mean() - 1, paired_t(after, before, "two-sided")
    return f"{100 * change:+.2f} % ({p:.0e}), {' -> '.join(f'{x:.0f}' for x in distances[:, common].mean(axis=1))}"


def support(results: Results) -> Rows:
    """What `Support` changes: the default objective against the same without it, default search."""
    arm, without, limited = results.arms[2], "MU(c=1)+BDs(alpha=1)", str(DEFAULT)
    rows = [["network", "n/p", "rows", "samples", "SHD", "predictive loss", "same figures"]]
    for network in arm.networks:
        for size in ("0.1", "0.2"):
            metrics = ("shd", "loglik")
            both = np.array(
                [[results.values(arm, each, network, size, goal) for goal in (without, limited)] for each in metrics]
            )
            common = np.isfinite(both).all(axis=(0, 1))
            if common.sum() >= FEW:
                distance, loss = both[:, :, common].mean(axis=2)
                same = (both[:, 0, common] == both[:, 1, common]).all(axis=0).sum()
                own = [network.upper(), size, f"{n_rows(size, load_network(network).n_parameters):,}"]
                means = " -> ".join(f"{x:.1f}" for x in distance), " -> ".join(f"{x:.3f}" for x in loss)
                rows.append([*own, str(int(common.sum())), *means, str(int(same))])
    return rows


def averages(size: str) -> Callable[[Results], Rows]:
    """SHD with hill climbing, both orders of the columns, at one n/p."""
    shown = {"U+BDeu (1)": "", "U+BDeu (10)": "", "MU+BDs (1)": "MU(beta=0.5)+BDs(alpha=1)", **SOME}
    goals = {name: SOME.get(name, goal) for name, goal in shown.items()}

    def make(results: Results) -> Rows:
        rows = [["network", *goals]]
        for network in results.networks:
            pairs = [
                [results.average(arm, "shd", network, size, goal) for arm in results.arms[:2]]
                for goal in goals.values()
            ]
            if not np.isnan(pairs).any():
                rows.append([network.upper(), *map(joined, pairs)])
        return rows

    return make


TABLES: dict[str, Callable[[Results], Rows]] = {
    "coverage": coverage,
    "parts": parts,
    "exchanged": exchanged,
    "pigs": pigs,
    "three arms": three_arms,
    "searches": searches,
    "support": support,
    **{f"averages at {size}": averages(size) for size in ("0.1", "1", "5")},
}


def markdown(rows: Rows) -> str:
    """Rows as a table, the first one the headings; texts to the left, figures to the right."""
    left = {"arm", "network", "n/p", "columns", "claim", *SOME.values()}
    rule = ["---" if head in left else "---:" for head in rows[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))


def fill(page: str, results: Results) -> str:
    """Return the page with its tables as the results have them."""

    def write(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{markdown(TABLES[found[2]](results))}\n\n{found[3]}"

    return re.sub(r"(<!-- table: ([^>]*?) -->)\n.*?(<!-- /table -->)", write, page, flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("page", type=Path)
    given = parser.parse_args()
    text = given.page.read_text(encoding="utf-8")
    given.page.write_text(fill(text, Results(read_panels(given.directory))), encoding="utf-8")


if __name__ == "__main__":
    main()
