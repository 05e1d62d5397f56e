"""What the project promises, and whether a measurement keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.tables import Table, show

Sense = Literal[">=", "<="]


@dataclass(frozen=True)
class Target:
    """One promise: `what` is at least or at most `limit`; `measured` is what was found.

    `doubt` says why the measurement cannot be trusted, whichever way it came out; empty where it can.
    """

    what: str
    sense: Sense
    limit: float
    measured: float
    unit: str = "x"
    doubt: str = ""

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.sense == ">=" else self.measured <= self.limit

    @property
    def verdict(self) -> str:
        found = "met" if self.met else "MISSED"
        return f"in doubt ({found}): {self.doubt}" if self.doubt else found

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Target:
        return cls(**{key: value for key, value in found.items() if key != "met"})


def summary(targets: list[Target]) -> Table:
    """All targets with what was measured beside them."""
    rows = [
        (t.what, f"{t.sense} {t.limit:,g} {t.unit}", f"{show(float(t.measured))} {t.unit}", t.verdict) for t in targets
    ]
    met, doubted = sum(t.met and not t.doubt for t in targets), sum(bool(t.doubt) for t in targets)
    return Table(
        "Targets", ("what", "target", "measured", ""), tuple(rows), f"{met} of {len(targets)} met; {doubted} in doubt."
    )
