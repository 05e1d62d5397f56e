"""The study's commands: what they print and write, and how they fail."""

import json
from functools import partial
from pathlib import Path

import pytest

from mapdag.study import status
from mapdag.study.__main__ import main as plain_main


@pytest.fixture
def study(run):
    """Run a subcommand of `mapdag study`."""
    return partial(run, "study")


QUICK = ("run", "paper", "--quick", "--workers", "1", "--searches", "hc")


def test_a_quick_study_from_run_to_report(study, tmp_path):
    out = tmp_path / "results"
    code, told, _ = study(*QUICK, "--out", out)
    assert code == 0
    assert "1,728 of 1,728 cells are done, 1,728 by this run" in told
    assert "0 by this run" in study(*QUICK, "--out", out)[1]
    code, told, _ = study("status", out)
    assert told.startswith("paper (quick): 1,728 of 1,728 cells are done")
    assert json.loads(study("status", out, "--json")[1])["networks"]["alarm"] == [576, 576]
    code, told, _ = study("report", out)
    assert code == 0
    assert "Average predictive log-likelihood for BDs and different MU priors" in told
    assert "correlation of SHD and log(n/p)" in told
    code, told, _ = study("report", out, "--claims", "--columns", "file", "--format", "markdown")
    assert told.count("\n| ") >= 79
    code, told, _ = study("report", out, "--compare", "MU(c=1)+BDs(1)", "--compare", "BDeu(10)", "--metric", "arcs")
    assert told.count("U+BDeu(alpha=10)") == 2
    code, told, _ = study("report", out, "--out", tmp_path / "report")
    assert code == 0
    assert (tmp_path / "report" / "claims.csv").exists()
    assert (tmp_path / "report" / "tables" / "hc-shuffled" / "shd.tex").exists()
    code, told, _ = study("report", out, "--columns", "file", "--html", tmp_path / "study.html")
    assert code == 0
    assert told == f"written to {tmp_path / 'study.html'}\n"
    code, _, err = study("report", out, "--html", tmp_path / "study.txt")
    assert code == 2
    assert ".html" in err
    code, told, _ = study("export", out, "--out", tmp_path / "rows.csv.gz")
    assert "1,728 rows" in told


def test_parts_are_run_apart_and_put_together(study, tmp_path):
    small = ("--networks", "child", "--columns", "file", "--replicates", "1")
    assert study(*QUICK, *small, "--sizes", "0.5", "--out", tmp_path / "a")[0] == 0
    assert (
        plain_main(
            [
                "run",
                "quick",
                *small,
                "--searches",
                "hc",
                "--sizes",
                "0.1",
                "--out",
                str(tmp_path / "b"),
                "--workers",
                "1",
            ]
        )
        == 0
    )
    code, told, _ = study("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "all")
    assert code == 0
    assert told.count("32 new cells") == 2
    assert status(tmp_path / "all").progress.done == 32  # of the design of the first one
    assert plain_main(["merge", str(tmp_path / "a"), "--out", str(tmp_path / "all")]) == 0
    assert plain_main(["status", str(tmp_path / "all")]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "papers", "--out", "x"), "papers: a design is 'paper', 'quick' or a TOML file"),
        ((*QUICK, "--networks", "asia", "--out", "x"), "there is no 'asia'"),
        ((*QUICK, "--sizes", "many", "--out", "x"), "a size must be"),
        ((*QUICK, "--order", "random", "--out", "x"), "order must be"),
        (("status", "nowhere"), "there are no results of a study here"),
        (("report", "nowhere"), "there are no results of a study here"),
        (("merge", "nowhere", "--out", "x"), "there are no results of a study here"),
    ],
)
def test_mistakes_are_one_sentence(study, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = study(*arguments)
    assert code == 2
    assert message in err


def test_no_results_are_told(study, tmp_path):
    assert study(*QUICK, "--time-limit", "1e-9", "--out", tmp_path / "none")[0] == 0
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "results.sqlite").touch()
    for folder in ("none", "empty"):
        for command in (("report",), ("export", "--out", tmp_path / "rows.csv")):
            code, _, told = study(command[0], tmp_path / folder, *command[1:])
            assert code == 2
            assert "there are no results" in told
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_full_disk_is_told(study, tmp_path):
    part = ("--networks", "child", "--sizes", "0.5", "--columns", "file", "--replicates", "1")
    assert study(*QUICK, *part, "--out", tmp_path / "a")[0] == 0
    (tmp_path / "rows.parquet").symlink_to("/dev/full")
    code, _, told = study("export", tmp_path / "a", "--out", tmp_path / "rows.parquet")
    assert code == 2
    assert "rows.parquet cannot be written" in told


def test_another_seed_is_refused_unless_told(study, tmp_path, capsys):
    small = (
        *QUICK,
        "--networks",
        "child",
        "--sizes",
        "0.1",
        "--columns",
        "file",
        "--replicates",
        "1",
        "--out",
        tmp_path,
    )
    assert study(*small)[0] == 0
    code, _, err = study(*small, "--seed", "2")
    assert code == 2
    assert "seed 1 (asked for: 2)" in err
    assert plain_main([*map(str, small), "--seed", "2"]) == 2
    assert "seed 1" in capsys.readouterr().err
    assert study(*small, "--seed", "2", "--fresh")[0] == 0


def test_cells_that_fail_make_the_command_fail(study, tmp_path):
    (tmp_path / "odd.toml").write_text(
        'networks = ["asia"]\nsizes = ["n=50"]\nobjectives = ["MU(c=5)+BDs(1)", "BIC"]\ntest_rows = 10\n'
    )
    code, told, err = study("run", tmp_path / "odd.toml", "--workers", "1", "--out", tmp_path)
    assert code == 1
    assert "1 of 2 cells are done" in told
    assert "failed: asia/n=50/1/file/hc/MU(c=5)+BDs(alpha=1)" in err
