"""Make patients.csv, the table of the tutorial: a survey of a walk-in clinic, invented from beginning to end.

Every value is drawn given the columns before it, so that the graph behind the table is known: see `ARCS`. The table has
what real ones have: an identifier, numbers, a count, answers that are missing, and a level that nobody happened to have
(nobody was sent in as "immediate").
"""

from __future__ import annotations

import csv
import random
from bisect import bisect_right
from pathlib import Path

ROWS = 1000
SEED = 20

ARCS = [
    ("age", "smoking"),
    ("age", "bmi"),
    ("exercise", "bmi"),
    ("age", "hypertension"),
    ("bmi", "hypertension"),
    ("bmi", "diabetes"),
    ("smoking", "lung_disease"),
    ("hypertension", "heart_disease"),
    ("smoking", "heart_disease"),
    ("heart_disease", "ecg"),
    ("heart_disease", "chest_pain"),
    ("lung_disease", "breathless"),
    ("heart_disease", "breathless"),
    ("diabetes", "visits"),
    ("lung_disease", "visits"),
    ("breathless", "triage"),
    ("chest_pain", "triage"),
    ("ecg", "admitted"),
    ("triage", "admitted"),
]


class Draws:
    """Draws from a few distributions, from uniform numbers only: the same with every version of Python."""

    def __init__(self, seed: int) -> None:
        self._uniform = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        """Heads or tails."""
        return self._uniform() < probability

    def one_of(self, **weights: float) -> str:
        """One of a few labels, in proportion to their weights."""
        names, place, total = list(weights), self._uniform() * sum(weights.values()), 0.0
        for name in names:
            total += weights[name]
            if place < total:
                return name
        return names[-1]

    def bell(self, centre: float, spread: float) -> float:
        """Nearly a normal deviate: the sum of twelve uniform numbers."""
        return centre + spread * (sum(self._uniform() for _ in range(12)) - 6)

    def count(self, mean: float) -> int:
        """Successes among twenty trials."""
        return sum(self.chance(mean / 20) for _ in range(20))


def patient(draw: Draws) -> dict[str, object]:
    """Make up one patient."""
    age = round(min(max(draw.bell(52, 18), 18), 95))
    group = bisect_right([40, 60], age)
    sex = draw.one_of(female=0.52, male=0.48)
    smoking = draw.one_of(never=(6, 4, 4)[group], former=(1, 4, 5)[group], current=(4, 3, 1)[group])
    exercise = draw.one_of(rarely=4, weekly=4, daily=3)
    bmi = draw.bell({"rarely": 30.0, "weekly": 26.5, "daily": 23.5}[exercise] + (0, 1.5, 0.5)[group], 2.8)
    heavy = bisect_right([25, 30], bmi)
    hypertension = draw.chance((0.06, 0.15, 0.40, 0.18, 0.40, 0.65, 0.45, 0.62, 0.85)[3 * group + heavy])
    diabetes = draw.chance((0.04, 0.10, 0.38)[heavy])
    lung_disease = draw.chance({"never": 0.04, "former": 0.22, "current": 0.48}[smoking])
    smokes = smoking == "current"
    heart_disease = draw.chance((0.05, 0.25, 0.32, 0.62)[2 * hypertension + smokes])
    ecg = draw.one_of(normal=1, abnormal=4 if heart_disease else 0.08)
    chest_pain = draw.chance(0.65 if heart_disease else 0.10)
    severity = lung_disease + heart_disease
    breathless = draw.one_of(none=(8, 3, 1)[severity], mild=(2, 4, 3)[severity], severe=(0.3, 3, 6)[severity])
    visits = draw.count(1.2 + 3.0 * diabetes + 2.5 * lung_disease)
    urgency = {"none": 0, "mild": 1, "severe": 2}[breathless] + 2 * chest_pain
    triage = draw.one_of(
        later=(8, 4, 1, 0.5, 0.2)[urgency], standard=(3, 6, 4, 2, 1)[urgency], urgent=(0.2, 1, 4, 7, 9)[urgency]
    )
    likely = {"later": 0.02, "standard": 0.12, "urgent": 0.55}[triage] + (0.35 if ecg == "abnormal" else 0)
    yes_no = {True: "yes", False: "no"}
    return {
        "age": age,
        "sex": sex,
        "smoking": smoking if draw.chance(0.97) else "",
        "exercise": exercise if draw.chance(0.98) else "",
        "bmi": f"{bmi:.1f}",
        "hypertension": yes_no[hypertension],
        "diabetes": yes_no[diabetes],
        "lung_disease": yes_no[lung_disease],
        "heart_disease": yes_no[heart_disease],
        "ecg": ecg,
        "chest_pain": yes_no[chest_pain],
        "breathless": breathless,
        "visits": visits,
        "triage": triage,
        "admitted": yes_no[draw.chance(likely)],
    }


def write(path: Path) -> None:
    """Write the table."""
    draw = Draws(SEED)
    rows = [{"patient": f"P{i:04}", **patient(draw)} for i in range(1, ROWS + 1)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    write(Path(__file__).with_name("patients.csv"))
