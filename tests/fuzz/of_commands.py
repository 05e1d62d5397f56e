"""Command lines: every command, with the options that it has, and with others."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import sys
import warnings
from functools import cache
from typing import Any

import inputs
from target import folder

#: Arguments that each command takes: t a table, n a network, d results of a study, x a design.
COMMANDS = {
    "check": "t", "learn": "t", "bootstrap": "t", "cv": "t", "alpha": "t", "score": "nt", "fit": "nt", "sample": "n",
    "compare": "nn", "query": "n", "networks": "", "predict": "nt", "impute": "nt", "plot": "n", "report": "nt",
    "explore": "t", "diagnose": "nt", "cache": "", "study status": "d", "study report": "d", "study export": "d",
    "study merge": "dd", "study run": "x",
}  # fmt: skip
#: What is added, so that it ends soon and asks nobody.
ALSO = {
    "learn": ["--time-limit", "1", "--threads", "1"],
    "bootstrap": ["-R", "2", "--threads", "1", "--time-limit", "1"],
    "cv": ["--threads", "1", "--time-limit", "1", "--folds", "2"],
    "explore": ["--max-body", "0"],
    "study run": ["--workers", "1", "--time-limit", "1"],
}
_LEFT_OUT = {"--scheduler", "--workers", "--help", "--time-limit"}
_WRITTEN = {"--out", "--report", "--html", "--session"}
_SENSIBLE: dict[str, list[str]] = {
    "--missing": ["drop", "level", "error", "keep"],
    "--search": ["hc", "tabu", "orders", "exact", "certified"],
    "--device": ["cpu", "auto", "cuda"],
    "--discretize": ["quantile", "interval(3)", "Cancer=1,2", "hartemink"],
    "--how": ["joint", "marginal", "draw"],
    "--impute": ["soft", "hard"],
    "--like": ["cancer", "asia"],
    "--drop": ["Cancer", "Smoker"],
    "--target": ["Cancer", "Xray"],
    "--given": ["Smoker=True", "Cancer=False", "Cancer"],
    "--do": ["Smoker=True"],
    "--format": ["text", "csv", "latex", "markdown"],
    "--max-parents": ["0", "1", "3"],
    "--order": ["columns", "canonical"],
    "--method": ["exact", "samples"],
}


@cache
def _places() -> dict[str, list[str]]:
    """Files of each kind: good ones, damaged ones, none."""
    from of_studies import results_of

    place = folder()
    os.environ["MAPDAG_CACHE"] = str(place / "cache")
    (place / "gaps.csv").write_bytes((place / "cancer.csv").read_bytes().replace(b",True", b",", 40))
    (place / "hostile.csv").write_text('"=1+1","<b>",é\n"@x","</script>",1\n"-1","a\nb",2\n', encoding="utf-8")
    (place / "tiny.toml").write_text(
        'name = "tiny"\nnetworks = ["asia"]\nsizes = ["n=50"]\nobjectives = ["BIC"]\nreplicates = 1\ntest_rows = 20\n'
    )
    (place / "bad.toml").write_text('networks = 3\nsizes = ["n=\n')
    odd = ["none.csv", "bad.csv", ".", "tiers.txt"]
    found = {
        "t": ["cancer.csv", "cancer.csv", "gaps.csv", "hostile.csv", *odd],
        "n": ["cancer.bif", "cancer.bif", "cancer.csv", *odd],
        "x": ["tiny.toml", "tiny.toml", "bad.toml", *odd],
    }
    named = {kind: [str(place / name) for name in names] for kind, names in found.items()}
    named["n"] += ["cancer", "asia", "nosuch", "", "-"]
    named["t"] += ["-", "", "x" * 300, "~nouser/x", "/dev/null", str(place / "*.csv")]
    named["d"] = [
        str(results_of(False)),
        str(results_of(True)),
        str(place),
        str(place / "none"),
        str(place / "bad.csv"),
    ]
    return named


@cache
def _options(verb: str) -> tuple[tuple[str, bool], ...]:
    """Options of a command, and whether they take a value."""
    from typer.main import get_command

    from mapdag.cli.app import app

    found: Any = get_command(app)
    for word in verb.split():
        found = found.commands[word]
    options = [each for each in found.params if each.param_type_name == "option"]
    return tuple((max(each.opts, key=len), not each.is_flag) for each in options if not _LEFT_OUT & set(each.opts))


def command(rng: random.Random) -> list[str]:
    """Write a command line: mostly what a command takes, with values of all kinds."""
    places, verb = _places(), rng.choice(list(COMMANDS))
    kinds = COMMANDS[verb] if rng.random() < 0.9 else rng.choice(["", "t", "tn", "nnn"])
    good = rng.random() < 0.7
    arguments = [*verb.split(), *(places[kind][0] if good else rng.choice(places[kind]) for kind in kinds)]
    flags = list(_options(verb))
    for _ in range(rng.choice([0, 1, 2, 3, 4])):
        flag, takes = rng.choice(flags) if flags and rng.random() < 0.95 else ("--nonsense", True)
        arguments.append(flag)
        if takes:
            arguments.append(_value(rng, flag, places))
    if rng.random() < 0.02:
        arguments.append("--help")
    return [argument.replace("\0", "") for argument in [*arguments, *ALSO.get(verb, [])]]


def _value(rng: random.Random, flag: str, places: dict[str, list[str]]) -> str:
    """Choose a value for an option; what is written goes to our folder."""
    if flag in _WRITTEN:
        names = ["o.html"] * 4 if flag in {"--report", "--html"} else ["o.bif", "o.json", "o.csv", "o.csv.gz", "o.dot"]
        names += ["o.html", "nowhere/o.bif", "o.xyz", "out", "o.svg", "cancer.csv"]
        return str(folder() / "written" / rng.choice(names))
    if flag == "--score" and rng.random() < 0.8:
        return inputs.objective(rng)
    if flag in _SENSIBLE and rng.random() < 0.8:
        return rng.choice(_SENSIBLE[flag])
    if rng.random() < 0.5:
        return rng.choice(["1", "2", "0", "0.5", "3"])
    every = [*places["t"], *places["n"], *inputs.HOSTILE, "1", "2", "0", "-1", "0.5", "1e308", "nan", "9" * 400]
    return rng.choice(every)


@cache
def _assembled() -> Any:
    """Put the commands together once, which is most of the time of a small one."""
    from typer.main import get_command

    from mapdag.cli.app import app

    return get_command(app)


def run_command(arguments: list[str]) -> bool:
    """Run a command in this process: exit code 0 to 2 and, unless 0, something to read; its inputs stay as they are."""
    from mapdag.cli import app as module
    from mapdag.cli import main

    (folder() / "written").mkdir(exist_ok=True)
    kept = {name: (folder() / name).read_bytes() for name in ("cancer.csv", "cancer.bif", "gaps.csv")}
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv, sys.stdin, warnings.showwarning, module.app
    module.app = _assembled()
    sys.argv, sys.stdin = ["mapdag", *arguments], io.TextIOWrapper(io.BytesIO(b"a,b\nx,1\ny,2\n"))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code: Any = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv, sys.stdin, warnings.showwarning, module.app = before
    assert code in {0, 1, 2}, f"exit code {code}"
    told = err.getvalue()
    assert "internal error" not in told, told[-300:]
    assert "Traceback" not in told
    assert len(told) < 20_000, "more than some screens"
    assert code == 0 or told.strip() or out.getvalue().strip()
    if "--json" in arguments and code == 0 and "--help" not in arguments:
        for line in out.getvalue().splitlines():
            json.loads(line)
    assert kept == {name: (folder() / name).read_bytes() for name in kept}, "an input was changed"
    return code == 0
