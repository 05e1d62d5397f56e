"""Running a study: its design, its samples, what a row says, and that nothing is lost, done twice or mixed up."""

import json
import math
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import mapdag as md
from mapdag.errors import FileError, FormatError, ParameterError, StudyError
from mapdag.study import Arm, Design, Processes, Search, Serial, Store, paper, quick, read_design, run, status
from mapdag.study import store as store_module
from mapdag.study.cells import COSTS, FIELDS, all_cells, missing_tasks
from mapdag.study.design import design_from, n_rows
from mapdag.study.executors import Event
from mapdag.study.samples import column_order, draw_sample, load_truth
from mapdag.study.store import RESULTS_VERSION, merge
from mapdag.study.worker import Failure, do_task

TINY = Design(
    name="tiny",
    networks=("asia", "child"),
    sizes=("n=60", "1"),
    replicates=2,
    objectives=("U+BDeu(1)", "MU(c=1)+BDs(1)", "U+BDeu(alpha_S)", "BIC"),
    arms=(
        Arm("file", Search.make("hc")),
        Arm("shuffled", Search.make("hc")),
        Arm("shuffled", Search.make("tabu")),
        # Of the searches this one is interrupted most, and learns in the company of all others.
        Arm("shuffled", Search.make({"label": "default", "effort": 0.2}), ("U+BDeu(10)", "Support(3)+MU(c=1)+BDs(1)")),
    ),
    test_rows=500,
)


def results(directory):
    """All rows without what they cost."""
    with Store(directory) as store:
        return [tuple(getattr(row, name) for name in FIELDS if name not in COSTS) for row in store.rows()]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    directory = tmp_path_factory.mktemp("reference")
    assert run(TINY, directory, executor=Serial()).complete
    return directory


# The design


def test_the_paper_has_32_objectives_and_38400_networks_in_file_order():
    design = paper()
    assert len(design.objectives) == len(set(design.objectives)) == 32
    assert design.restricted(columns=["file"]).n_cells == 38_400
    assert sum("BDs" in each for each in design.objectives) == 15
    assert len(list(all_cells(quick()))) == quick().n_cells


@pytest.mark.parametrize(
    ("size", "parameters", "rows"),
    [
        ("0.1", 509, 51),
        ("0.5", 509, 255),
        ("0.1", 5, 1),
        ("0.1", 15, 2),
        ("0.2", 2656, 531),
        ("5", 230, 1150),
        ("0.1", 1, 1),
    ],
)
def test_halves_of_rows_are_rounded_up(size, parameters, rows):
    assert n_rows(size, parameters) == rows


def test_a_design_survives_json():
    again = Design.from_dict(json.loads(json.dumps(TINY.as_dict())))
    assert again == TINY


def test_a_design_is_read_from_toml(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'networks = ["asia"]\nratios = [0.5, 1]\nsizes = ["n=500"]\nreplicates = 3\nseed = 7\n'
        'objectives = ["bdeu(1)", "MU(c=1) + BDs(1)", "BDeu(alpha_S)"]\ncolumns = ["file", "shuffled"]\n'
        'searches = ["hc", {label = "tabu20", search = "tabu", patience = 20}]\n'
    )
    design = read_design(file)
    assert design.name == "mine"
    assert design.sizes == ("0.5", "1", "n=500")
    assert design.objectives == ("U+BDeu(alpha=1)", "MU(c=1)+BDs(alpha=1)", "U+BDeu(alpha_S)")
    assert [(arm.columns, arm.search.label) for arm in design.arms][1] == ("file", "tabu20")
    assert design.n_cells == 3 * 3 * 3 * 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"networks": []}, "networks must name at least one"),
        ({"networks": ["asia", "ASIA"]}, "networks must have different names"),
        ({"sizes": ["none"]}, "a size must be"),
        ({"sizes": ["1", "1.0"]}, "sizes must be different"),
        ({"replicates": 0}, "replicates must be a whole number"),
        ({"objectives": ["BDx(1)"]}, "BDx"),
        ({"colums": ["file"]}, "'colums'"),
        ({"columns": ["sorted"]}, "columns must be 'file' or 'shuffled'"),
        ({"searches": ["hc", {"label": "hc", "search": "tabu"}]}, "different labels"),
    ],
)
def test_a_bad_design_is_refused_with_its_reason(changed, message):
    values = {"networks": ["asia"], "sizes": ["1"], "objectives": ["BIC"], **changed}
    with pytest.raises((ParameterError, md.errors.NotationError), match=message):
        design_from(values)


def test_a_file_that_is_no_design_is_refused(tmp_path):
    with pytest.raises(FileError, match="'paper', 'quick' or a TOML file"):
        read_design(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("networks = [")
    with pytest.raises(FormatError, match=r"bad\.toml"):
        read_design(tmp_path / "bad.toml")


def test_unknown_options_of_a_search_are_refused_before_anything_runs(tmp_path):
    design = replace(TINY, arms=(Arm("file", Search.make({"search": "hc", "patience": 3})),))
    with pytest.raises(ParameterError, match="patience"):
        run(design, tmp_path)


# Samples and rows


def test_samples_depend_on_seed_network_size_and_replicate_only():
    tasks = list(missing_tasks(TINY))
    network = md.network("asia")
    asia = [task for task in tasks if task.network == "asia" and task.size == "n=60"]
    drawn = {task: draw_sample(task, network) for task in asia}
    by_replicate = {task.replicate: drawn[task] for task in asia}
    assert all(drawn[task] == by_replicate[task.replicate] for task in asia)
    assert by_replicate[1] != by_replicate[2]
    alone = next(missing_tasks(TINY.restricted(networks=["asia"], sizes=["n=60"], objectives=["BIC"])))
    assert draw_sample(alone, network) == by_replicate[1]
    other = next(missing_tasks(replace(TINY, seed=2)))
    assert draw_sample(other, network) != by_replicate[1]
    shuffled = [column_order(task, network.nodes) for task in asia if task.columns == "shuffled"]
    assert len(set(shuffled)) == 2
    assert all(sorted(order) == sorted(network.nodes) for order in shuffled)


@pytest.mark.parametrize("columns", ["file", "shuffled"])
def test_a_row_says_what_learning_it_alone_says(columns):
    task = next(
        each for each in missing_tasks(TINY) if each.network == "child" and each.size == "1" and each.columns == columns
    )
    truth = load_truth("child", TINY.seed, TINY.test_rows)
    data = draw_sample(task, truth.network)
    table = data.select(column_order(task, data.names))
    rows = [row for row in do_task(task) if hasattr(row, "shd")]
    assert len(rows) == task.n_cells
    for row in rows:
        goal = row.objective if row.alpha is None else f"U+BDeu({row.alpha})"
        options = {"effort": 0.2} if row.search == "default" else {"search": row.search}
        result = md.learn(table, goal, threads=1, **options)
        learned = result.fit(alpha=1)
        against = md.compare(truth.network.dag.to_cpdag(), result.cpdag)
        assert row.score == result.score
        assert row.shd == md.shd(truth.network.dag, result.dag)
        assert (row.arcs, row.true_arcs, row.n) == (result.dag.n_arcs, 25, 230)
        assert (row.precision, row.recall) == (against.precision, against.recall)
        assert row.log_likelihood == pytest.approx(learned.log_likelihood(truth.test), rel=1e-12)


def test_log_likelihoods_of_families_too_large_to_lay_out_are_right():
    from mapdag.study.judge import Judge

    truth = load_truth("child", 1, 300)
    data = truth.network.sample(40, seed=5)
    nodes = data.names
    dag = md.DAG(nodes, [(parent, nodes[-1]) for parent in nodes[:9]])
    expected = md.fit(dag, data, alpha=1).log_likelihood(truth.test)
    judge = Judge(truth, data)
    assert judge._limit < math.prod(len(data.levels[name]) for name in nodes[:9])
    assert judge.judge(dag).log_likelihood == pytest.approx(expected, rel=1e-12)


def test_the_optimal_alpha_is_the_fixed_point_and_cycles_are_flagged(monkeypatch):
    design = TINY.restricted(networks=["child"], sizes=["1"], objectives=["BDeu(alpha_S)"], columns=["file"])
    row = next(do_task(next(missing_tasks(design))))
    truth = load_truth("child", TINY.seed, TINY.test_rows)
    data = draw_sample(next(missing_tasks(design)), truth.network)
    dag = md.learn(data, f"BDeu({row.alpha!r})", search="hc").dag
    assert row.flag == ""
    assert md.alpha_star(dag, data) == pytest.approx(row.alpha)
    turns = iter([4.0, 2.0, 3.0, 2.0])
    monkeypatch.setattr("mapdag.theory.optimum.alpha_star", lambda dag, data: next(turns))
    row = next(do_task(next(missing_tasks(design))))
    assert (row.flag, row.alpha) == ("cycle", 2.0)
    assert row.score == pytest.approx(md.learn(data, "BDeu(2)", search="hc").score)


def test_an_objective_that_a_network_cannot_have_fails_alone():
    design = replace(TINY, objectives=("MU(c=5)+BDs(1)", "BIC"), networks=("asia",), sizes=("n=60",))
    news = list(do_task(next(missing_tasks(design))))
    failed = [each for each in news if isinstance(each, Failure)]
    assert [each.cell.objective for each in failed] == ["MU(c=5)+BDs(alpha=1)"]
    assert "c must" in failed[0].message or "beta" in failed[0].message
    assert any(getattr(each, "objective", "") == "U+BIC" for each in news)


# Resuming


def test_processes_find_what_one_process_finds(reference, tmp_path):
    outcome = run(TINY, tmp_path, executor=Processes(2))
    assert outcome.complete
    assert results(tmp_path) == results(reference)


def test_a_run_goes_on_where_it_was_stopped(reference, tmp_path):
    stops = iter([False] * 5 + [True] * 1000)

    class Stopping(Serial):
        def run(self, tasks, stop):
            return super().run(tasks, lambda: next(stops))

    first = run(TINY, tmp_path, executor=Stopping())
    assert 0 < first.done < first.total
    second = run(TINY, tmp_path, workers=1)
    assert second.complete
    assert first.fresh + second.fresh == TINY.n_cells
    assert results(tmp_path) == results(reference)


def test_a_design_that_has_grown_adds_only_what_is_missing(reference, tmp_path):
    part = TINY.restricted(networks=["child"], objectives=["BIC"], searches=["hc"], replicates=1)
    assert run(part, tmp_path, workers=1).fresh == part.n_cells
    assert run(TINY, tmp_path, workers=1).fresh == TINY.n_cells - part.n_cells
    assert results(tmp_path) == results(reference)
    assert status(tmp_path).progress.done == TINY.n_cells
    run(part, tmp_path, workers=1)
    assert status(tmp_path).elsewhere == TINY.n_cells - part.n_cells


def test_another_seed_or_version_is_refused_unless_told(tmp_path, monkeypatch):
    part = TINY.restricted(networks=["asia"], objectives=["BIC"], searches=["hc"], columns=["file"])
    run(part, tmp_path, workers=1)
    with pytest.raises(StudyError, match=r"seed 1 \(asked for: 2\)"):
        run(replace(part, seed=2), tmp_path, workers=1)
    monkeypatch.setattr(store_module, "RESULTS_VERSION", RESULTS_VERSION + 1)
    with pytest.raises(StudyError, match="results_version"):
        run(part, tmp_path, workers=1)
    assert run(part, tmp_path, workers=1, fresh=True).fresh == part.n_cells


def test_a_version_that_changed_one_search_leaves_the_results_of_others(tmp_path, monkeypatch):
    part = TINY.restricted(networks=["asia"], sizes=["n=60"], objectives=["BIC", "U+BDeu(10)"], columns=["shuffled"])
    run(part, tmp_path, workers=1)
    before = results(tmp_path)
    changed = {**store_module.CHANGED, RESULTS_VERSION + 1: frozenset({"tabu"})}
    monkeypatch.setattr(store_module, "RESULTS_VERSION", RESULTS_VERSION + 1)
    monkeypatch.setattr(store_module, "CHANGED", changed)
    with pytest.raises(StudyError, match="results of tabu here are of an older version"):
        run(part, tmp_path, workers=1)
    assert run(part, tmp_path, workers=1, fresh=True).fresh == part.restricted(searches=["tabu"]).n_cells
    assert results(tmp_path) == before
    climbs = part.restricted(searches=["hc"])
    run(climbs, tmp_path / "climbs", workers=1)
    monkeypatch.setattr(store_module, "RESULTS_VERSION", RESULTS_VERSION + 2)
    monkeypatch.setattr(store_module, "CHANGED", {**changed, RESULTS_VERSION + 2: frozenset({"tabu"})})
    assert run(climbs, tmp_path / "climbs", workers=1).fresh == 0  # nothing of theirs has changed


def test_published_results_are_read_and_continued(reference, tmp_path):
    from mapdag.paper.report import make_report, write_report
    from mapdag.study.export import export

    folder = tmp_path / "published"
    write_report(make_report(reference), folder)
    export(reference, folder / "rows.csv.gz")
    assert not (folder / "results.sqlite").exists()
    assert results(folder) == results(reference)
    assert status(folder).progress.done == TINY.n_cells
    again = write_report(make_report(folder), tmp_path / "again")
    for path in again:
        assert path.read_bytes() == (folder / path.relative_to(tmp_path / "again")).read_bytes()
    larger = replace(TINY, replicates=3)
    assert run(larger, folder, workers=1).fresh == larger.n_cells - TINY.n_cells
    assert (folder / "results.sqlite").exists()
    (folder / "results.sqlite").unlink()
    (folder / "rows.csv.gz").write_bytes((folder / "rows.csv.gz").read_bytes()[:100])
    with pytest.raises(FileError, match=r"rows\.csv\.gz and summary\.json cannot be read"):
        results(folder)


def test_a_label_always_means_the_same_search(tmp_path):
    part = TINY.restricted(networks=["asia"], objectives=["BIC"], searches=["hc"], columns=["file"])
    run(part, tmp_path, workers=1)
    other = replace(part, arms=(Arm("file", Search.make({"label": "hc", "search": "hc", "restarts": 2})),))
    with pytest.raises(StudyError, match="give it another label"):
        run(other, tmp_path, workers=1)


def test_two_runs_in_one_directory_are_refused(tmp_path):
    with Store(tmp_path, create=True) as store, store.locked(), pytest.raises(StudyError, match="another run"):
        run(TINY, tmp_path, workers=1)


def test_a_task_that_breaks_is_told_and_tried_again_next_time(tmp_path):
    part = TINY.restricted(networks=["asia"], searches=["hc"], columns=["file"])

    class Breaking(Serial):
        def run(self, tasks, stop):
            yield Event(tasks[0], error="MemoryError: no more")
            yield from super().run(tasks[1:], stop)

    outcome = run(part, tmp_path, executor=Breaking())
    assert not outcome.complete
    assert "no more" in outcome.failures[0]
    assert run(part, tmp_path, workers=1).complete


def test_a_worker_that_dies_takes_only_its_task_with_it(tmp_path):
    part = TINY.restricted(networks=["asia"], sizes=["n=60"], searches=["hc"], columns=["file"])
    tasks = list(missing_tasks(part))
    executor = Processes(1)
    events = executor.run([*tasks, *tasks], lambda: False)
    first = next(events)
    os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)
    rest = list(events)
    assert first.rows
    assert sum(bool(event.error) for event in rest) == 1
    assert sum(event.work is not None for event in rest) >= 2


def test_the_time_limit_ends_a_run_early(tmp_path):
    outcome = run(TINY, tmp_path, workers=1, time_limit=1e-6)
    assert not outcome.complete
    assert not outcome.failures
    with pytest.raises(ParameterError, match="time_limit"):
        run(TINY, tmp_path, workers=1, time_limit=0)


def test_progress_adds_up(tmp_path):
    told = []
    part = TINY.restricted(searches=["hc"])
    run(part, tmp_path, workers=1, progress=told.append)
    assert told[-1].done == told[-1].total == part.n_cells
    assert [share.done for share in told[-1].networks] == [share.total for share in told[-1].networks]
    assert told[-1].left == pytest.approx(0, abs=1e-9)
    assert told[0].left is None or told[0].left > 0
    assert "cells" in str(told[0])


# Several machines


def test_results_of_several_machines_are_put_together(reference, tmp_path):
    run(TINY.restricted(networks=["asia"]), tmp_path / "a", workers=1)
    run(TINY.restricted(networks=["child"]), tmp_path / "b", workers=1)
    run(TINY.restricted(networks=["child"], replicates=1), tmp_path / "c", workers=1)
    found = merge([tmp_path / "a", tmp_path / "b", tmp_path / "c"], tmp_path / "all")
    assert list(found.values()) == [32 + 16 + 8, 32 + 16 + 8, 0]
    assert results(tmp_path / "all") == results(reference)
    assert run(TINY, tmp_path / "all", workers=1).fresh == 0
    with Store(tmp_path / "all") as store:
        assert len(store.runs) == 4


def test_a_run_is_there_once_however_often_it_is_put_together(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "a")
    before = len(status(tmp_path / "a").runs)
    assert merge([tmp_path / "a", tmp_path / "a"], tmp_path / "a") == {str(tmp_path / "a"): 0}
    assert len(status(tmp_path / "a").runs) == before
    found = merge([tmp_path / "a", tmp_path / "a"], tmp_path / "b")
    assert found == {str(tmp_path / "a"): TINY.n_cells}
    assert len(status(tmp_path / "b").runs) == before
    assert results(tmp_path / "b") == results(reference)


def test_what_cannot_be_put_together_is_named_and_nothing_is_made(reference, tmp_path):
    for name in ("a", "b"):
        shutil.copytree(reference, tmp_path / name)
    with closing(sqlite3.connect(tmp_path / "a" / "results.sqlite")) as db:
        db.execute("DROP TABLE meta")
    with pytest.raises(FileError, match=r"a/results\.sqlite: no such table: meta"):
        merge([tmp_path / "a"], tmp_path / "new")
    with pytest.raises(FileError, match="no results of a study here"):
        merge([tmp_path / "nowhere"], tmp_path / "nowhere")
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "nowhere").exists()
    with closing(sqlite3.connect(tmp_path / "a" / "results.sqlite")) as db:
        db.execute("DROP TABLE runs")
        db.execute("CREATE TABLE runs (id)")
    with pytest.raises(FileError, match=r"a/results\.sqlite"):
        merge([tmp_path / "b"], tmp_path / "a")


def test_results_are_read_where_nothing_can_be_written(reference, tmp_path, monkeypatch):
    out = tmp_path / "a"
    shutil.copytree(reference, out)
    monkeypatch.setattr("mapdag.study.store.os.access", lambda *_: False)
    assert status(out).progress.done == TINY.n_cells
    assert [path.name for path in out.iterdir() if "-" in path.name] == []


def test_reading_does_not_wait_for_who_writes(reference, tmp_path):
    shutil.copytree(reference, tmp_path / "a")
    with closing(sqlite3.connect(tmp_path / "a" / "results.sqlite", isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert status(tmp_path / "a").progress.done == TINY.n_cells


def test_results_that_do_not_belong_together_are_not_put_together(tmp_path):
    part = TINY.restricted(networks=["asia"], objectives=["BIC"], searches=["hc"], columns=["file"])
    run(part, tmp_path / "a", workers=1)
    run(replace(part, seed=2), tmp_path / "b", workers=1)
    with pytest.raises(StudyError, match="seed is 2 there, but 1"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    run(part, tmp_path / "c", workers=1)
    with sqlite3.connect(tmp_path / "c" / "results.sqlite") as db:
        db.execute("UPDATE results SET shd = shd + 1")
    db.close()
    with pytest.raises(StudyError, match="other results"):
        merge([tmp_path / "a", tmp_path / "c"], tmp_path / "more")


def test_results_of_several_versions_are_put_together_where_no_search_of_theirs_has_changed(tmp_path, monkeypatch):
    part = TINY.restricted(networks=["asia"], sizes=["n=60"], objectives=["BIC"], columns=["shuffled"])
    climbs, tabu = part.restricted(searches=["hc"]), part.restricted(searches=["tabu"])
    old, new, both = (tmp_path / each for each in ("old", "new", "both"))
    run(part.restricted(replicates=1), old, workers=1)
    now = RESULTS_VERSION + 1
    monkeypatch.setattr(store_module, "RESULTS_VERSION", now)
    monkeypatch.setattr(store_module, "CHANGED", {**store_module.CHANGED, now: frozenset({"tabu"})})
    run(climbs, new, workers=1)
    run(part, both, workers=1)

    def put_together(name, *sources, **options):
        found = merge(sources, tmp_path / name, **options)
        with Store(tmp_path / name) as store:
            return sum(found.values()), len(store), store.meta["results_version"]

    # Only the older results have what changed: all stay, and are of the older version, in either order.
    for place, sources in enumerate([(old, new), (new, old)]):
        n = climbs.n_cells + tabu.restricted(replicates=1).n_cells
        assert put_together(f"kept{place}", *sources) == (n, n, now - 1)
        with pytest.raises(StudyError, match="results of tabu here are of an older version"):
            run(part, tmp_path / f"kept{place}", workers=1)
    # Both have it: those of the older version go, if one says so.
    for place, sources in enumerate([(old, both), (both, old)]):
        with pytest.raises(StudyError, match="results of tabu there are of an older version"):
            put_together(f"refused{place}", *sources)
        assert put_together(f"fresh{place}", *sources, fresh=True)[1:] == (part.n_cells, now)
        assert results(tmp_path / f"fresh{place}") == results(both)
    # An unknown version may have changed anything.
    monkeypatch.setattr(store_module, "CHANGED", {})
    with pytest.raises(StudyError, match="results_version is"):
        put_together("unknown", old, new, fresh=True)


# Killed at any moment

DESIGN = """
networks = ["asia", "child"]
sizes = ["n=60", "n=200"]
replicates = 12
objectives = ["U+BDeu(1)", "MU(c=1)+BDs(1)", "U+BDeu(alpha_S)", "BIC"]
columns = ["file", "shuffled"]
test_rows = 2000
"""


def start(design, out):
    paths = os.pathsep.join([str(Path(md.__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "mapdag.study", "run", str(design), "--out", str(out), "--workers", "2"]
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def kill_and_resume(tmp_path, times, seed):
    """Kill so many runs at random moments, resume each; tells how many cells each kill left to be done."""
    design = tmp_path / "design.toml"
    design.write_text(DESIGN)
    began = time.monotonic()
    assert start(design, tmp_path / "whole").wait() == 0
    whole = time.monotonic() - began
    expected = results(tmp_path / "whole")
    assert len(expected) == read_design(design).n_cells
    rng = random.Random(seed)
    left = []
    for i in range(times):
        out = tmp_path / f"killed{i}"
        process = start(design, out)
        time.sleep(rng.uniform(0.3, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (out / "results.sqlite").exists():
            left.append(len(expected) - len(results(out)))
        assert start(design, out).wait() == 0
        assert results(out) == expected
    return left


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_run_is_resumed_without_loss_or_double(tmp_path):
    kill_and_resume(tmp_path, times=2, seed=1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_twenty_killed_runs_are_resumed_without_loss_or_double(tmp_path):
    left = kill_and_resume(tmp_path, times=20, seed=2)
    assert any(left)


def test_running_needs_neither_polars_nor_the_command_line(tmp_path):
    code = f"""
import sys
for name in ("polars", "typer", "rich", "pandas", "pyarrow", "matplotlib", "tomli", "click"):
    sys.modules[name] = None
from mapdag.study.__main__ import main
sys.exit(main(["run", "quick", "--out", {str(tmp_path)!r}, "--networks", "child", "--sizes", "0.5", "--searches", "hc",
    "--workers", "1"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "192 of 192 cells are done" in done.stdout
