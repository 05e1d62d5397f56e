"""Figures are drawn from plain values, saved as the same files every time, and refused kindly without matplotlib."""

import json
import sys

import pytest

from mapdag import theory
from mapdag.errors import MissingExtraError
from mapdag.paper import experiments
from mapdag.plots import figures
from mapdag.plots import theory as plots
from mapdag.theory import EXAMPLE_1


def without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_the_curves_are_those_that_are_computed():
    points = theory.limit_curves(*EXAMPLE_1.tables, [0.1, 1, 10])
    left, right = plots.example_figure(EXAMPLE_1, points).axes
    drawn = left.lines[0].get_ydata()
    assert drawn.tolist() == pytest.approx([2.71828182845904**point.log_ratio for point in points])
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["BDeu", "BDs"]


def test_the_same_figure_is_the_same_file(tmp_path):
    points = experiments.inclusion_along_climb(nodes=10, rows=50)
    contents = []
    for name in ("first", "second"):
        files = figures.save(plots.inclusion_figure(points), tmp_path / name)
        assert [path.suffix for path in files] == [".svg", ".png"]
        contents.append([path.read_bytes() for path in files])
    assert contents[0] == contents[1]


def test_the_command_writes_figures_and_tables(monkeypatch, run, tmp_path):
    code, out, _ = run("theory", "--out", tmp_path / "new" / "folder", "--quick", "--json")
    assert code == 0
    parts = [part["name"] for part in json.loads(out)["parts"]]
    written = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    figured = {name for name in parts if name != "expected"}
    assert {f"{name}.{suffix}" for name in figured for suffix in ("svg", "png")} <= written
    assert {"noise.csv", "alpha.csv", "example1.csv", "example2.csv", "expected.csv", "uniform.json"} <= written
    exact = json.loads((tmp_path / "new" / "folder" / "uniform.json").read_text())
    assert exact[1] == {
        "nodes": 3,
        "dags": 25,
        "arc_probability": "8/25",
        "signed_correlation": "-1/8",
        "presence_correlation": "-1/24",
    }


def test_without_matplotlib_the_way_to_install_it_is_said(monkeypatch, run, tmp_path):
    without_matplotlib(monkeypatch)
    with pytest.raises(MissingExtraError, match=r'pip install "mapdag\[plots\]"'):
        figures.matplotlib()
    code, _, err = run("theory", "--out", tmp_path)
    assert code == 2
    assert 'pip install "mapdag[plots]"' in err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_refused(monkeypatch, run, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run("theory", "--out", tmp_path / "file" / "folder")
    assert code == 2
    assert "folder: Not a directory" in err


def test_diagnose_shows_families_and_arcs(monkeypatch, run, tmp_path):
    import mapdag as md

    data = md.network("insurance").sample(300, seed=1)
    result = md.learn(data, "U+BDeu(10)", search="hc", order="columns")
    md.write_graph(result.dag, tmp_path / "graph.csv")
    data.to_polars().write_csv(tmp_path / "data.csv")
    arguments = ("diagnose", tmp_path / "graph.csv", tmp_path / "data.csv", "--like", "insurance")
    code, out, _ = run(*arguments, "--score", "U+BDeu(10)")
    assert code == 0
    assert "U+BDeu(alpha=10): 27 nodes, 51 arcs, 300 rows" in out
    assert "families with configurations that were never observed: 23" in out
    assert "11 arcs kept by U+BDeu, dropped by U+BDs" in out
    assert " 2.81 " in out  # what is left of alpha = 10
    shown = len(out.splitlines())
    assert len(run(*arguments, "--score", "U+BDeu(10)", "--all")[1].splitlines()) > shown
    code, out, _ = run(*arguments, "--score", "BIC", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["objective"] == "U+BIC"
    assert found["arcs"][0]["alpha_range"] == [None, None]
    assert {family["node"] for family in found["families"]} == set(data.names)
