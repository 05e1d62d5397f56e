"""What a better search makes of an objective: predictive loss and SHD of the default search against hill climbing.

A score that overfits finds more to overfit, the better the search. For each objective, network and size that both arms
of a study's results have, columns shuffled: the change of the predictive loss (minus the log-likelihood of the test
set), the p-value of a paired t test over samples, two-sided, and the average SHD of both. As Markdown.

    python benchmarks/study_searches.py results/paper --sizes 0.1,0.2,0.5
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from statistics import fmean

from scipy.stats import ttest_rel

from mapdag.study import Row, Store

OBJECTIVES = ("U+BDeu(alpha=1)", "U+BDeu(alpha=10)", "MU(c=1)+BDs(alpha=1)", "U+BIC")
FEW = 3  # samples that a test needs


def compared(climbed: dict[int, Row], found: dict[int, Row]) -> str:
    """One cell of the table."""
    common = sorted(set(climbed) & set(found))
    if len(common) < FEW:
        return "-"
    before, after = ([-rows[i].log_likelihood for i in common] for rows in (climbed, found))
    change = fmean(after) / fmean(before) - 1
    p = ttest_rel(after, before).pvalue if after != before else 1.0
    distances = " -> ".join(f"{fmean(rows[i].shd for i in common):.0f}" for rows in (climbed, found))
    return f"{100 * change:+.2f} % ({p:.0e}), {distances}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--sizes", default="0.1,0.2,0.5", type=lambda text: text.split(","))
    parser.add_argument("--objectives", default=OBJECTIVES, nargs="+")
    given = parser.parse_args()
    rows: defaultdict[tuple[str, str, str, str], dict[int, Row]] = defaultdict(dict)
    with Store(given.directory) as store:
        for row in store.rows():
            if row.columns == "shuffled":
                rows[row.network, row.size, row.objective, row.search][row.replicate] = row
    print(f"| network | n/p | {' | '.join(given.objectives)} |")
    print("|---|---" + "|---" * len(given.objectives) + "|")
    for network in sorted({key[0] for key in rows if key[3] == "default"}):
        for size in given.sizes:
            cells = [compared(*(rows[network, size, o, arm] for arm in ("hc", "default"))) for o in given.objectives]
            if any(cell != "-" for cell in cells):
                print(f"| {network.upper()} | {size} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
