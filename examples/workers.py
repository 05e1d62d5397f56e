"""Write `workers.csv`: 1,841 men of a Czech car factory by six risk factors of coronary thrombosis.

The counts are those of Reinis et al. (Bratislavske lekarske listy 76, 1981, 137-150), as published by
Edwards and Havranek ("A fast procedure for model search in multidimensional contingency tables", Biometrika 72,
1985, 339-351): ``python examples/workers.py``.
"""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

#: From the one that changes slowest to the one that changes fastest, with levels in the order of the counts.
FACTORS = {
    "family": ("no", "yes"),  # family history of coronary heart disease
    "ratio": ("low", "high"),  # of beta to alpha lipoproteins: below 3, 3 or more
    "pressure": ("low", "high"),  # systolic: below 140 mm Hg, 140 or more
    "physical": ("no", "yes"),  # strenuous physical work
    "mental": ("no", "yes"),  # strenuous mental work
    "smoking": ("no", "yes"),
}
COUNTS = """
    44 40 112 67  129 145 12 23   35 12 80 33  109 67 7  9   23 32 70 66   50 80 7 13   24 25 73 57   51 63 7 16
     5  7  21  9    9  17  1  4    4  3 11  8   14 17 5  2    7  3 14 14    9 16 2  3    4  0 13 11    5 14 4  4
"""


def write(path: Path) -> None:
    """Write the table, a row for each combination of levels and how many men have it."""
    counts = map(int, COUNTS.split())
    rows = [(*levels, count) for levels, count in zip(itertools.product(*FACTORS.values()), counts, strict=True)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*FACTORS, "count"])
        writer.writerows(rows)


if __name__ == "__main__":
    write(Path(__file__).parent / "workers.csv")
