"""Designs of studies, and their results, damaged."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import inputs
from target import folder

from mapdag.paper.report import make_report, render_report, write_report
from mapdag.study import Design, Serial, run, status
from mapdag.study.design import design_from
from mapdag.study.export import export
from mapdag.study.store import merge


def read_design(values: dict[str, Any]) -> None:
    """Make a design."""
    assert design_from(values).n_cells > 0


class Damage(NamedTuple):
    """What is done to the results of a study, and what is then asked of them."""

    published: bool  # whether they are texts, or a data base
    change: Callable[[Path], None]
    told: str
    ask: str
    form: str


def damage(rng: random.Random) -> Damage:
    """Choose how results are damaged: bytes, cells, values."""
    published = rng.random() < 0.4
    kind = rng.choice(["bytes", "cell", "cell", "meta", "table"])
    state = random.Random(rng.random())
    change = {"bytes": _bytes, "cell": _cell, "meta": _meta, "table": _table}[kind]
    ask = rng.choice(["status", "report", "report", "export", "merge", "merge into", "run"])
    form = rng.choice(["text", "markdown", "latex", "csv"])
    return Damage(published, lambda path: change(path, published, state), kind, ask, form)


def use_results(given: Damage) -> None:
    """Ask something of damaged results; results that are whole stay so."""
    with tempfile.TemporaryDirectory(dir=folder()) as name:
        place, out = Path(name, "results"), Path(name, "out")
        place.mkdir()
        for path in results_of(given.published).iterdir():
            shutil.copy(path, place / path.name)
        given.change(place)
        _ask(given, place, out)


def _ask(given: Damage, place: Path, out: Path) -> None:
    if given.ask == "status":
        str(status(place))
    elif given.ask == "report":
        report = make_report(place, resamples=0)
        assert render_report(report, given.form) or True
        write_report(report, out)
    elif given.ask == "export":
        export(place, out.with_suffix(".csv"))
    elif given.ask == "merge":
        merge([place, results_of(given.published)], out)
    elif given.ask == "merge into":
        merge([results_of(False)], place)
    else:
        run(_design(), place, executor=Serial())


def _design() -> Design:
    return Design(
        name="tiny", networks=("asia",), sizes=("n=60",), replicates=2, objectives=("U+BDeu(1)", "BIC"), test_rows=50
    )


@cache
def results_of(published: bool) -> Path:
    """Run a small study; its results as they are, or as they are published."""
    place = folder() / f"results-{published}"
    if not published:
        run(_design(), place, executor=Serial())
        return place
    whole = results_of(False)
    place.mkdir()
    write_report(make_report(whole, resamples=0), place)
    shutil.rmtree(place / "tables")
    shutil.rmtree(place / "comparisons")
    export(whole, place / "rows.csv.gz")
    return place


def _bytes(place: Path, published: bool, rng: random.Random) -> None:
    path = rng.choice([place / "rows.csv.gz", place / "summary.json"]) if published else place / "results.sqlite"
    path.write_bytes(inputs.damaged(rng, path.read_bytes()))


def _odd(rng: random.Random) -> Any:
    found = inputs.value(rng)
    return found if isinstance(found, (str, float, bytes, type(None))) else rng.choice([-1, 0, 1, 2**62, b"\xff\x00"])


def _cell(place: Path, published: bool, rng: random.Random) -> None:
    if published:
        with gzip.open(place / "rows.csv.gz", "rt", encoding="utf-8", newline="") as file:
            rows = [line.split(",") for line in file.read().splitlines()]
        row = rng.randrange(len(rows))
        rows[row][rng.randrange(len(rows[row]))] = str(_odd(rng)).replace("\n", " ")
        text = "\n".join(",".join(each) for each in rows)
        with gzip.open(place / "rows.csv.gz", "wt", encoding="utf-8", errors="replace") as file:
            file.write(text)
        return
    with sqlite3.connect(place / "results.sqlite") as db:
        table = rng.choice(["results", "results", "results", "runs", "work", "searches"])
        columns = [each[1] for each in db.execute(f"PRAGMA table_info({table})")]
        try:
            where = "" if rng.random() < 0.5 else " WHERE replicate = 1" if table == "results" else ""
            db.execute(f"UPDATE {table} SET {rng.choice(columns)} = ?{where}", (_odd(rng),))
        except (sqlite3.Error, UnicodeError):
            pass  # keys, not null, not text
    db.close()


def _meta(place: Path, published: bool, rng: random.Random) -> None:
    changed = json.dumps(inputs.value(rng))
    if published:
        path = place / "summary.json"
        summary = json.loads(path.read_text())
        summary[rng.choice(list(summary))] = json.loads(changed)
        if rng.random() < 0.5 and isinstance(summary.get("design"), dict) and summary["design"]:
            summary["design"][rng.choice(list(summary["design"]))] = inputs.value(rng)
        path.write_text(json.dumps(summary))
        return
    with sqlite3.connect(place / "results.sqlite") as db:
        key = rng.choice(["results_version", "seed", "test_rows", "design", "design"])
        if key == "design" and rng.random() < 0.8:
            design = _design().as_dict()
            design[rng.choice(list(design))] = inputs.value(rng)
            changed = json.dumps(design)
        if rng.random() < 0.1:
            changed = "{nonsense"
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (changed, key))
    db.close()


def _table(place: Path, published: bool, rng: random.Random) -> None:
    if published:
        rng.choice([place / "rows.csv.gz", place / "summary.json"]).unlink()
        return
    with sqlite3.connect(place / "results.sqlite") as db:
        table = rng.choice(["results", "runs", "work", "searches", "meta"])
        kind = rng.randrange(4)
        if kind == 0:
            db.execute(f"DROP TABLE {table}")
        elif kind == 1:
            db.execute(f"DELETE FROM {table}")
        elif kind == 2:
            db.executescript(f"DROP TABLE {table}; CREATE TABLE {table} (x)")
        else:
            db.execute(f"ALTER TABLE {table} ADD COLUMN more")
    db.close()
