"""Results on disk: one JSON and one Markdown file per script, and a page made from all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from harness import machine
from harness.tables import Table
from harness.targets import Target, summary

FOLDER = Path(__file__).parent.parent / "results"


@dataclass(frozen=True)
class Report:
    """What one script found."""

    name: str
    title: str
    about: str
    tables: tuple[Table, ...]
    targets: tuple[Target, ...]
    machine: dict[str, Any]
    settings: dict[str, Any]
    raw: Any = None
    date: str = ""

    def markdown(self) -> str:
        """One section of the page."""
        parts = [f"## {self.title}", "", self.about, ""]
        for table in self.tables:
            parts += [table.markdown(), ""]
        return "\n".join(parts)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "date": self.date,
            "machine": self.machine,
            "settings": self.settings,
            "targets": [target.as_json() for target in self.targets],
            "tables": [table.as_json() for table in self.tables],
            "raw": self.raw,
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Report:
        tables = tuple(map(Table.from_json, found["tables"]))
        targets = tuple(map(Target.from_json, found["targets"]))
        return cls(**{**found, "tables": tables, "targets": targets})


def write(report: Report, folder: Path = FOLDER) -> None:
    """Write a report as JSON and as Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    found = report.as_json()
    found["date"] = found["date"] or datetime.now(timezone.utc).date().isoformat()
    (folder / f"{report.name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (folder / f"{report.name}.md").write_text(_alone(Report.from_json(found)), encoding="utf-8")


def read(name: str, folder: Path = FOLDER) -> Report | None:
    """Read a report, where there is one."""
    path = folder / f"{name}.json"
    return Report.from_json(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def write_page(names: Iterable[str], folder: Path = FOLDER) -> Path:
    """Make one page of all reports that there are, the targets first."""
    reports = [report for name in names if (report := read(name, folder)) is not None]
    targets = [target for report in reports for target in report.targets]
    quick = sorted({report.name for report in reports if report.settings.get("quick")})
    parts = [
        "# Benchmarks",
        "",
        "Written by `make bench`; what is measured, and how, is in [the benchmarks' README](../README.md).",
        "",
        *([f"Quick settings, not for quoting: {', '.join(quick)}.", ""] if quick else []),
        summary(targets).markdown(),
        "",
    ]
    for report in reports:
        parts += [report.markdown(), _measured_on(report), ""]
    page = folder / "README.md"
    page.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
    return page


def _measured_on(report: Report) -> str:
    return f"*{report.date}, {machine.sentence(report.machine)}*\n"


def _alone(report: Report) -> str:
    targets = f"{summary(list(report.targets)).markdown()}\n" if report.targets else ""
    return f"{report.markdown()}\n{targets}{_measured_on(report)}"
