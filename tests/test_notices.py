"""Warnings: once in a call, at the caller's line. Progress and the line on compilation: only where asked for."""

import ast
import dataclasses
import io
import os
import subprocess
import sys
import time
import types
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag import notices
from mapdag.errors import MapdagWarning, ParameterError
from mapdag.progress import Bar, Progress, bar, shown

SOURCES = Path(md.__file__).parent
CODED = {"sex": [0, 1, 1, 0] * 9, "ill": [0, 1, 0, 1] * 9}
LEVELS = {"sex": ["f", "m"], "ill": ["no", "yes"]}
FEW = {"dose": [0.5, 1.5, 0.5, 1.5, 0.25] * 30, "ill": ["no", "yes"] * 75}
RARE = "MU(c=1.5)+BDs(1)"  # which warns of few nodes


def warnings_of(call, *arguments, **options):
    """Every warning of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments, **options)
    return caught


@pytest.mark.parametrize(
    ("call", "times"),
    [
        (lambda: md.read(CODED, levels=LEVELS), 1),
        (lambda: md.read(FEW, discretize={"dose": 5}), 1),
        (lambda: md.discretize(FEW, bins=5, columns=["dose"]), 1),
        (lambda: md.learn(CODED, RARE, levels=LEVELS), 2),
        (lambda: md.learn(CODED, [RARE, RARE], codes=True, levels=LEVELS), 1),
        (lambda: md.hill_climb(CODED, RARE), 1),
        (lambda: md.score(md.DAG(["sex", "ill"]), CODED, RARE), 1),
        (lambda: md.fit(md.DAG(["sex", "ill"]), CODED, levels=LEVELS), 1),
        (lambda: md.bootstrap(CODED, RARE, R=6, threads=2), 1),
        (lambda: md.cross_validate(CODED, [RARE], folds=4, levels=LEVELS), 2),
        (lambda: md.cross_validate(FEW, ["BDeu(1)"], folds=4, discretize={"dose": 5}), 1),
        (lambda: md.best_dags(CODED, RARE, k=3), 1),
        (lambda: md.arc_posteriors(CODED, RARE), 1),
        (lambda: md.diagnose(md.DAG(["sex", "ill"], [("sex", "ill")]), CODED, RARE), 1),
    ],
)
def test_every_warning_comes_once_and_points_at_the_callers_line(call, times):
    caught = warnings_of(call)
    said = [str(each.message) for each in caught]
    assert [Path(each.filename).name for each in caught] == ["test_notices.py"] * times, said
    assert {each.lineno for each in caught} == {call.__code__.co_firstlineno}
    assert {each.category for each in caught} == {MapdagWarning}


def test_a_new_table_under_a_network_is_warned_of_at_the_callers_line():
    table = {"dose": np.linspace(0, 1, 60).tolist(), "ill": ["no", "yes"] * 30}
    learned = md.learn(table, "BDeu(1)", discretize="quantile(2)", required=[("dose", "ill")])
    network = learned.fit()
    beyond = {"dose": [-5.0, 0.5], "ill": ["no", "yes"]}
    for call in (lambda: network.log_likelihood(beyond), lambda: network.predict(beyond, "ill")):
        caught = warnings_of(call)
        assert {Path(each.filename).name for each in caught} == {"test_notices.py"}


def test_the_next_call_warns_again():
    assert len(warnings_of(lambda: [md.hill_climb(CODED, RARE) for _ in range(3)])) == 3


def test_a_warning_that_is_an_error_is_raised_from_threads_too():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MapdagWarning, match="larger graphs"):
            md.bootstrap(CODED, RARE, R=4, threads=2)


def test_warnings_within_a_call_that_failed_do_not_outlive_it():
    with pytest.raises(ValueError, match="nope"), notices.said_once():
        raise ValueError("nope")
    assert len(warnings_of(lambda: (notices.warn("x"), notices.warn("x")))) == 2
    with notices.unsaid():
        notices.warn("x")


def test_all_warnings_go_through_one_door():
    for path in SOURCES.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        said = [call for call in calls if ast.unparse(call.func) in ("warnings.warn", "warnings.warn_explicit")]
        assert len(said) == (path.name == "notices.py" and path.parent == SOURCES), path


# Progress -------------------------------------------------------------------------------------------------------------


class Screen:
    every = 0.0

    def __init__(self):
        self.shown = []
        self.closed = False

    def show(self, text, done, total):
        self.shown.append((text, done, total))

    def close(self):
        self.closed = True


@pytest.fixture
def screen(monkeypatch):
    found = Screen()
    monkeypatch.setattr("mapdag.progress._screen", lambda lines: found)
    return found


DATA = md.network("asia").sample(300, seed=1)


@pytest.mark.parametrize(
    ("call", "last"),
    [
        (lambda progress: md.learn(DATA, progress=progress), None),
        (lambda progress: md.tabu(DATA, progress=progress), None),
        (lambda progress: md.learn(DATA, ["BDeu(1)", "BIC"], search="exact", progress=progress), None),
        (lambda progress: md.best_dags(DATA, k=3, progress=progress), ("ranking", 3, 3)),
        (lambda progress: md.arc_posteriors(DATA, progress=progress), None),
        (lambda progress: md.bootstrap(DATA, R=4, progress=progress), ("resamples", 4, 4)),
        (lambda progress: md.cross_validate(DATA, ["BIC"], folds=3, progress=progress), ("folds", 3, 3)),
    ],
)
def test_progress_true_shows_a_bar_and_nothing_is_shown_unasked(call, last, screen, capsys):
    def comparable(found):
        several = found if isinstance(found, tuple) else (found,)
        return [each.dag if hasattr(each, "dag") else str(getattr(each, "halves", each)) for each in several]

    silent = comparable(call(None))
    assert comparable(call(False)) == silent
    assert not screen.shown
    assert comparable(call(True)) == silent
    assert screen.shown
    assert screen.closed
    if last is not None:
        text, done, total = screen.shown[-1]
        assert text.startswith(last[0])
        assert (done, total) == last[1:]
    assert capsys.readouterr() == ("", "")
    with pytest.raises(ParameterError, match="progress must be True, False or a function"):
        call("yes")


def test_a_bar_is_closed_after_an_error(screen):
    with pytest.raises(ZeroDivisionError), shown(True, lambda found: found.search):
        raise ZeroDivisionError
    assert screen.closed


def test_the_time_left_follows_what_is_done(monkeypatch):
    clock = iter([100.0, 101.0, 110.0, 111.0, 200.0])
    monkeypatch.setattr("mapdag.progress.time", types.SimpleNamespace(monotonic=lambda: next(clock)))
    found = Screen()
    tell = Bar(found).counter("folds")
    tell(0, 10)
    tell(1, 10)
    tell(5, 10)
    assert [text for text, _, _ in found.shown] == ["folds 0/10", "folds 1/10, 9 s left", "folds 5/10, 10 s left"]
    state = Progress("moving", 3, 0, -12.3456, 1, 1200, 1.5)
    Bar(found).search(state)
    assert found.shown[-1][0] == "moving: score -12.346, 1 arc, 2 moves/s, 1,200 families"
    assert "nan" not in str(dataclasses.replace(state, score=float("nan")))


def test_lines_in_a_log_come_now_and_then(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with bar() as found:
        for done in range(1000):
            found.counter("resamples")(done, 1000)
    assert log.getvalue() == "mapdag: resamples 0/1,000\n"
    with bar(lines=False) as found:
        found.show("nothing")
    assert "nothing" not in log.getvalue()


def test_a_terminal_gets_a_bar_that_disappears():
    from rich.console import Console

    from mapdag.progress import _Terminal

    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=100, color_system=None)
    terminal = _Terminal(console)
    terminal.show("[hostile] folds 3/10", 3, 10)
    terminal._drawn.refresh()
    terminal.close()
    drawn = file.getvalue()
    assert "[hostile] folds 3/10" in drawn
    after = drawn[drawn.rindex("folds 3/10") + len("folds 3/10") :]
    assert "\x1b[2K" in after  # the line is erased
    assert after.endswith("\x1b[2K")


def test_a_notebook_gets_an_element_that_is_written_anew(monkeypatch):
    written = []
    handle = types.SimpleNamespace(update=lambda bundle, raw: written.append(bundle))
    display = types.SimpleNamespace(display=lambda bundle, raw, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with shown(True, lambda found: found.counter("a<b")) as tell:
        tell(3, 10)
    assert written[0]["text/html"] == '<progress value="3" max="10"></progress> a&lt;b 3/10'
    assert written[-1]["text/html"] == ""


# Compilation ----------------------------------------------------------------------------------------------------------

SCRIPT = """
import time
from mapdag import compiling
compiling._AFTER = 0.0
from mapdag.kernels import entry
from numba import njit

def function(x):
    return x + 1

function.__module__ = "mapdag.example"
compiled = njit(function)
slow = compiled._compiler.compile
compiled._compiler.compile = lambda *arguments: (time.sleep(0.5), slow(*arguments))[1]
compiled(3)
compiled(3.0)
"""


@pytest.mark.parametrize("quiet", ["0", "1"])
def test_compilation_is_announced_in_one_line_unless_told_not_to(quiet, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = {
        **os.environ,
        "MAPDAG_QUIET": quiet,
        "PYTHONPATH": str(SOURCES.parent),
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == (quiet == "0"), lines
    assert all(
        line.startswith("mapdag: compiling its kernels for this machine, once for each kind of use") for line in lines
    )


def test_other_peoples_functions_and_cached_kernels_are_not_announced(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import mapdag.kernels\nfrom numba import njit\nnjit(lambda x: x + 1)(3)\n", encoding="utf-8")
    environment = {**os.environ, "MAPDAG_QUIET": "0", "PYTHONPATH": str(SOURCES.parent)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_time_of_a_search_is_without_that_of_compilation(monkeypatch):
    from mapdag import compiling
    from mapdag.search.frame.options import Options
    from mapdag.search.frame.watch import EarlyEnd, Watch

    watch = Watch(Options(time_limit=0.15))
    with compiling.waiting():
        time.sleep(0.3)
    assert watch.seconds < 0.15
    watch.check()
    time.sleep(0.2)
    with pytest.raises(EarlyEnd):
        watch.check()


def test_pandas_frames_are_read_without_a_word():
    assert warnings_of(lambda: md.read(pd.DataFrame(CODED))) == []
