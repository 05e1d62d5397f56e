"""The command line: what it prints, what it writes, how it fails."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mapdag as md
from golden_data import figures
from mapdag.errors import DEFAULT_SCORE
from mapdag.objective import DEFAULT

CENSUS = """\
age group;Beschäftigung;years of school;"income > 50k";país
18-29;"Angestellte, öffentlich";12;no;España
30-44;selbständig;16;yes;España
30-44;"Angestellte, öffentlich";12;no;México
45-64;arbeitslos;9;no;México
45-64;selbständig;16;yes;España
18-29;arbeitslos;9;no;México
65+;selbständig;12;yes;Perú
65+;arbeitslos;9;no;Perú
"""


@pytest.fixture
def asia(tmp_path):
    path = tmp_path / "asia.csv"
    md.network("asia").sample(800, seed=3).to_polars().write_csv(path)
    return path


def test_learn_prints_the_graph_and_writes_the_network(run, asia, tmp_path):
    code, out, _ = run("learn", asia, "--like", "asia", "--score", "BDeu(1)", "--out", tmp_path / "out.bif")
    assert code == 0
    assert "U+BDeu(alpha=1)" in out
    assert "compelled" in out
    learned = md.read_network(tmp_path / "out.bif")
    data = md.read(asia, like=md.network("asia"))
    assert learned.dag == md.learn(data, "BDeu(1)").dag
    assert learned == md.learn(data, "BDeu(1)").fit(alpha=1)


def test_the_default_score_is_that_of_the_library():
    assert str(DEFAULT) == DEFAULT_SCORE


def test_learn_as_json_has_every_promised_key(run, asia):
    _, out, _ = run("learn", asia, "--json")
    found = json.loads(out)
    assert {"score", "log_prior", "log_likelihood", "arcs", "families", "seconds", "converged", "cpdag"} <= set(found)
    dag = md.DAG(found["nodes"], map(tuple, found["arcs"]))
    scored = md.score(dag, md.read(asia))
    assert found["score"] == pytest.approx(scored)
    assert found["log_prior"] == pytest.approx(scored.log_prior)
    assert set(map(tuple, found["cpdag"]["arcs"])) == set(dag.to_cpdag().arcs)
    assert sorted(map(sorted, found["cpdag"]["edges"])) == sorted(map(sorted, dag.to_cpdag().edges))


def test_several_scores_come_back_together(run, asia, tmp_path):
    _, out, _ = run("learn", asia, "--score", "BDeu(1)", "--score", "BIC", "--json")
    found = json.loads(out)["results"]
    assert [each["objective"] for each in found] == ["U+BDeu(alpha=1)", "U+BIC"]
    assert found[1]["families"] < found[0]["families"]
    code, _, err = run("learn", asia, "--score", "BDeu(1)", "--score", "BIC", "--out", tmp_path / "x.bif")
    assert code == 2
    assert "--out takes the result of one --score" in err
    _, out, _ = run("score", "asia", asia, "--score", "K2", "--score", "BIC", "--json")
    assert len(json.loads(out)["results"]) == 2


def test_constraints_come_from_files(run, asia, tmp_path):
    (tmp_path / "require.csv").write_text("from,to\nasia,smoke\n")
    (tmp_path / "forbid.csv").write_text("from,to\nlung,smoke\nsmoke,lung\n\n")
    (tmp_path / "tiers.txt").write_text("asia,smoke\ntub,lung,bronc,either\nxray,dysp\n")
    (tmp_path / "tiers.json").write_text('[["asia", "smoke"], ["tub", "lung", "bronc", "either"], ["xray", "dysp"]]')
    for tiers in ("tiers.txt", "tiers.json"):
        _, out, _ = run(
            *(
                "learn",
                asia,
                "--require",
                "asia->smoke",
                "--require",
                tmp_path / "require.csv",
                "--forbid",
                tmp_path / "forbid.csv",
            ),
            *("--tiers", tmp_path / tiers, "--max-parents", 1, "--json"),
        )
        arcs = set(map(tuple, json.loads(out)["arcs"]))
        assert ("asia", "smoke") in arcs
        assert not arcs & {("smoke", "lung"), ("lung", "smoke"), ("dysp", "bronc"), ("xray", "either")}
        assert len({end for _, end in arcs}) == len(arcs)
    code, out, _ = run(
        "learn", asia, "--start", "asia", "--search", "tabu", "--time-limit", 60, "--threads", 1, "--json"
    )
    assert code == 0
    code, out, _ = run("learn", asia, "--search", "hc", "--restarts", 2, "--seed", 5, "--order", "columns", "--json")
    assert json.loads(out)["converged"]


def test_learn_certifies_the_best_graph(run, asia):
    _, climbed, _ = run("learn", asia, "--json")
    code, out, _ = run("learn", asia, "--search", "exact", "--max-parents", 4, "--json")
    assert code == 0
    assert json.loads(out)["converged"]
    assert json.loads(out)["score"] >= json.loads(climbed)["score"] - 1e-6


def test_score_adds_up(run, asia, tmp_path):
    _, out, _ = run("score", "asia", asia, "--score", "MU(c=1)+BDs(alpha=1)", "--json")
    found = json.loads(out)
    assert found["score"] == pytest.approx(found["log_prior"] + found["log_likelihood"])
    assert sum(found["by_node"].values()) == pytest.approx(found["log_likelihood"])
    scored = md.score(md.network("asia").dag, md.read(asia, like=md.network("asia")))
    assert found["score"] == pytest.approx(scored)
    _, out, _ = run("score", "asia", asia, "--by-node")
    assert "either" in out
    (tmp_path / "arcs.csv").write_text("from,to\nsmoke,lung\n")
    _, out, _ = run("score", tmp_path / "arcs.csv", asia, "--json")
    assert len(json.loads(out)["by_node"]) == 8


def test_levels_of_a_network_are_used_where_the_data_have_its_labels(run, tmp_path):
    data = md.network("asia").sample(2000, seed=1)
    codes = tmp_path / "codes.csv"
    rows = [",".join(data.names), *(",".join(map(str, row)) for row in data.codes.T.tolist())]
    codes.write_text("\n".join(rows))
    expected = md.score(md.network("asia").dag, data)
    code, out, err = run("score", "asia", codes, "--json")
    assert code == 0
    assert "codes" in err
    assert json.loads(out)["score"] == pytest.approx(expected)
    _, out, err = run("score", "asia", codes, "--like", "asia", "--codes", "--json")
    assert err == ""
    assert json.loads(out)["score"] == pytest.approx(expected)
    code, _, err = run("score", "asia", codes, "--labels", "--json")
    assert code == 2
    assert "--codes" in err
    text = codes.read_text().replace("0", "yes").replace("1", "no")
    codes.write_text(text.replace("yes", "Yes!", 1))
    code, _, err = run("score", "asia", codes)
    assert code == 2
    assert "'Yes!'" in err


def test_golden_levels_files_work(run, tmp_path):
    # Levels as JSON, data as codes: the golden score of the true graph.
    levels, golden = figures("child.levels"), figures("scores_child_115")
    (tmp_path / "levels.json").write_text(json.dumps(levels))
    source = Path(__file__).parent / "golden" / "child_115.csv.gz"
    _, out, _ = run(
        "score", "child", source, "--levels", tmp_path / "levels.json", "--codes", "--score", "BDeu(1)", "--json"
    )
    assert json.loads(out)["score"] == pytest.approx(golden["dags"]["true"]["scores"]["bde_iss1"]["total"], rel=1e-10)


def test_fit_sample_compare_query(run, asia, tmp_path):
    _, out, _ = run("fit", "asia", asia, "--out", tmp_path / "fitted.bif", "--alpha", 2, "--json")
    fitted = md.read_network(tmp_path / "fitted.bif")
    assert json.loads(out)["parameters"] == 18
    assert fitted == md.fit(md.network("asia").dag, md.read(asia, like=md.network("asia")), alpha=2)
    for name in ("rows.csv", "rows.parquet", "rows.arrow", "rows.tsv"):
        code, _, _ = run("sample", tmp_path / "fitted.bif", "-n", 50, "--seed", 9, "--out", tmp_path / name)
        assert code == 0
        again = md.read(tmp_path / name, like=fitted)
        assert np.array_equal(again.codes, fitted.sample(50, seed=9).codes)
    _, out, _ = run("compare", "asia", tmp_path / "fitted.bif", "--json")
    found = json.loads(out)
    assert {"shd", "hamming", "precision", "recall", "skeleton_precision", "skeleton_recall"} <= set(found)
    assert (found["shd"], found["precision"]) == (0, 1.0)
    _, out, _ = run("query", "asia", "lung", "bronc", "--given", "smoke=yes", "--json")
    assert np.array(json.loads(out)["probabilities"]) == pytest.approx(np.outer([0.1, 0.9], [0.6, 0.4]))


def test_bootstrap_cv_alpha_networks(run, asia, tmp_path):
    _, out, _ = run("bootstrap", asia, "-R", 10, "--seed", 1, "--out", tmp_path / "mean.dot", "--json")
    found = json.loads(out)
    assert {"threshold", "strengths", "averaged"} <= set(found)
    assert md.read_graph(tmp_path / "mean.dot").n_arcs == len(found["averaged"])
    _, out, _ = run("cv", asia, "--score", "BDeu(1)", "--score", "BIC", "--folds", 4, "--json")
    assert len(json.loads(out)["results"]) == 2
    _, out, _ = run("alpha", asia, "--json")
    assert json.loads(out)["converged"]
    _, out, _ = run("networks", "--json")
    assert len(json.loads(out)["networks"]) == 24
    for command in (("bootstrap", asia, "-R", 4), ("cv", asia, "--folds", 3), ("alpha", asia), ("networks",)):
        assert run(*command)[0] == 0


def test_posterior_is_told_saved_and_shown(run, asia, tmp_path):
    page, kept, drawn = tmp_path / "page.html", tmp_path / "asia.posterior", tmp_path / "consensus.dot"
    code, out, err = run("posterior", asia, "--draws", 50, "--seed", 1, "--save", kept, "--out", drawn)
    assert (code, err) == (0, "")
    assert "posterior exact, 50 sampled graphs" in out
    found = md.read_posterior(kept)
    assert md.read_graph(drawn).arcs == found.consensus(0.5).arcs
    code, out, _ = run("posterior", asia, "--method", "chains", "--sweeps", 500, "--report", page, "--json")
    told = json.loads(out)
    assert told["diagnosis"]["chains"] == 4
    assert told["advice"]
    assert "Posterior probability of the arc" in page.read_text(encoding="utf-8")
    code, _, err = run("posterior", asia, "--save", asia)
    assert code == 2
    assert "named twice" in err
    code, out, _ = run("diagnose", "asia", asia, "--posterior", kept)
    assert code == 0
    assert "probability" in out


@pytest.mark.parametrize("name", ["graph.dot", "graph.csv", "graph.txt", "graph.json"])
def test_graphs_are_written_in_the_format_of_their_name(run, asia, tmp_path, name):
    code, _, err = run("learn", asia, "--out", tmp_path / name)
    assert (code, err) == (0, "")
    assert md.read_graph(tmp_path / name) == md.learn(md.read(asia)).dag


def test_out_lists_every_format_there_is(run):
    from mapdag import io
    from mapdag.cli import outputs
    from mapdag.plots import FIGURE_SUFFIXES

    assert outputs.PICTURE_FILES == FIGURE_SUFFIXES
    for named, taken in ((outputs.NETWORK_FILES, io.NETWORK_SUFFIXES), (outputs.GRAPH_FILES, io.GRAPH_SUFFIXES)):
        assert named == tuple(suffix for suffix in taken if not suffix.endswith(".gz"))
    shown = " ".join(run("learn", "--help")[1].replace("-\n", "-").split())
    for ending in {*outputs.NETWORK_FILES, *outputs.GRAPH_FILES, *FIGURE_SUFFIXES}:
        assert ending in shown


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<svg"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_pictures_are_written_where_graphs_are(run, asia, tmp_path, name, start):
    out = tmp_path / name
    for command in (("learn", asia), ("bootstrap", asia, "-R", "3"), ("plot", "asia"), ("plot", "asia", "--cpdag")):
        code, _, err = run(*command, "--out", out)
        assert code == 0, err
        assert out.read_bytes().startswith(start)
        out.unlink()


def test_plot_draws_any_file_that_holds_a_graph(run, tmp_path):
    md.write_graph(md.DAG(["a & b", "c"], [("a & b", "c")]), tmp_path / "graph.csv")
    code, out, _ = run("plot", tmp_path / "graph.csv", "--out", tmp_path / "graph.svg", "--json")
    assert code == 0
    assert json.loads(out) == {"out": str(tmp_path / "graph.svg"), "nodes": 2, "arcs": 1}
    assert "a &amp; b" in (tmp_path / "graph.svg").read_text(encoding="utf-8")
    code, _, err = run("plot", "asia", "--out", tmp_path / "graph.jpg")
    assert code == 2
    assert "let it end in one of .svg, .png, .pdf" in err


def test_interventions_are_asked_for_by_do(run):
    code, out, _ = run("query", "asia", "smoke", "--do", "bronc=yes", "--json")
    assert code == 0
    assert json.loads(out)["probabilities"] == [0.5, 0.5]
    code, _, err = run("query", "asia", "smoke", "--do", "bronc")
    assert code == 2
    assert "--do takes NODE=LEVEL, got 'bronc'" in err


def test_a_page_about_a_given_network(run, asia, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = run("report", "asia", asia, "--out", page)
    assert code == 0, err
    assert "8 nodes, 8 arcs" in out
    assert "given, not learned" in out
    assert "log-likelihood of these rows, by the probabilities of the network: -1" in out
    text = page.read_text(encoding="utf-8")
    assert "given, judged by" in text
    assert f"<title>asia, {asia.name}: 8 nodes, 8 arcs</title>" in text
    assert "those of a network that was given" in text
    assert "learned with" not in text
    assert "How the score rose" not in text
    md.write_graph(md.network("asia").dag, tmp_path / "asia.txt")
    code, out, _ = run("report", tmp_path / "asia.txt", asia, "--out", page, "--score", "BIC", "--json")
    assert code == 0
    assert json.loads(out)["objective"] == "U+BIC"
    assert "log_likelihood" not in json.loads(out)
    assert "estimated from the data" in page.read_text(encoding="utf-8")
    code, _, err = run("report", "asia", asia, "--out", tmp_path / "page.pdf")
    assert code == 2
    assert "let it end in one of .html" in err


def test_tables_that_users_really_have(run, tmp_path):
    path = tmp_path / "census export.csv"
    path.write_bytes(CENSUS.encode("latin-1"))
    code, out, _ = run("learn", path, "--score", "BDeu(1)", "--json")
    assert code == 0
    assert json.loads(out)["nodes"] == ["age group", "Beschäftigung", "years of school", "income > 50k", "país"]
    assert md.read(path).levels["years of school"] == ("9", "12", "16")


BROKEN = {
    "missing file": (None, [], "no such file"),
    "empty": ("", [], "empty"),
    "header only": ("a,b\n", [], "no rows"),
    "ragged": ("a,b\nx,y\nx\ny,x\n", [], "line 3"),
    "too long": ("a,b\nx,y\nx,y,z\n", [], "line 3"),
    "binary": (bytes(range(256)) * 20, [], "text"),
    "duplicate names": ("a,a\nx,y\ny,x\n", [], "'a'"),
    "unnamed column": (",a,b\n1,x,y\n2,y,x\n", [], "--drop ''"),
    "all missing": ("a,b,c\nx,NA,u\ny,?,v\n", [], "'b'"),
    "partly missing": ("a,b\nx,u\n,v\ny,u\n", [], "missing"),
    "floats": ("a,b\n" + "".join(f"{i / 7:.4f},{'xy'[i % 2]}\n" for i in range(30)), [], "discretize"),
    "dates": ("d,b\n" + "".join(f"2024-01-{i + 1:02d},{'xy'[i % 2]}\n" for i in range(28)), [], "dates"),
    "identifiers": ("id,b\n" + "".join(f"p{i},{'xy'[i % 2]}\n" for i in range(300)), [], "identifier"),
    "constant": ("a,b\nx,u\nx,v\n", [], "constant"),
    "unknown score": ("a,b\nx,u\ny,v\n", ["--score", "BDx"], "no prior or likelihood is called 'BDx'"),
    "zero alpha": ("a,b\nx,u\ny,v\n", ["--score", "BDeu(0)"], "alpha must be a positive number, got 0"),
    "negative alpha": ("a,b\nx,u\ny,v\n", ["--score", "BDeu(-1)"], "alpha must be a positive number, got -1"),
    "beta": ("a,b\nx,u\ny,v\n", ["--score", "MU(beta=1.5)+BDs"], "strictly between 0 and 1, got 1.5"),
    "unknown search": ("a,b\nx,u\ny,v\n", ["--search", "ges"], "search must be one of"),
    "unknown missing": ("a,b\nx,u\ny,v\n", ["--missing", "maybe"], "missing must be"),
    "unwritable": ("a,b\nx,u\ny,v\n", ["--score", "BIC", "--out", "/no/such/folder/x.bif"], "/no/such/folder"),
    "full disk": ("a,b\nx,u\ny,v\n", ["--score", "BIC", "--out", "/dev/full"], "/dev/full"),
    "missing levels": ("a,b\nx,u\ny,v\n", ["--levels", "nowhere.json"], "nowhere.json"),
    "both declarations": ("a,b\nx,u\ny,v\n", ["--levels", "l.json", "--like", "asia"], "give one of them"),
    "missing constraint": ("a,b\nx,u\ny,v\n", ["--require", "nowhere.csv"], "nowhere.csv"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_input_is_one_clear_sentence_and_exit_code_2(run, tmp_path, monkeypatch, case):
    content, options, message = BROKEN[case]
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run("learn", path, *options)
    assert code == 2
    assert out == ""
    assert err.startswith("mapdag: ")
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({"levels.json": '{"smoke": ["yes"]}'}, ["--levels", "levels.json"], "'smoke' has the value 'no'"),
        ({"levels.json": "{"}, ["--levels", "levels.json"], "not JSON"),
        (
            {"r.csv": "from,to\nsmok,lung\n"},
            ["--require", "r.csv"],
            "'smok', which is not a column; did you mean 'smoke'",
        ),
        (
            {"r.csv": "a,b\nsmoke,lung\n"},
            ["--require", "r.csv"],
            "r.csv, line 1: a table of arcs has the columns 'from' and 'to'",
        ),
        (
            {"r.csv": "from,to\nasia,tub\ntub,lung\nlung,asia\n"},
            ["--require", "r.csv"],
            "the arcs contain a cycle: asia -> tub -> lung -> asia",
        ),
        (
            {"r.csv": "from,to\nasia,tub\n", "f.csv": "from,to\nasia,tub\n"},
            ["--require", "r.csv", "--forbid", "f.csv"],
            "asia -> tub is required, but",
        ),
        ({"t.json": '[["asia", 3]]'}, ["--tiers", "t.json"], "list of lists of names"),
        ({"t.json": "[["}, ["--tiers", "t.json"], "t.json, line 1"),
        ({}, ["--tiers", "smoke"], "tiers are read from a file"),
        ({}, ["--require", "smoke-lung"], "neither an arc, written 'A->B', nor a file"),
        ({"n.bif": "network x {\n}\nvariable a {\n  type discr"}, ["--like", "n.bif"], "n.bif, line 4"),
        (
            {"n.bif": "network x {}\nvariable a { type discrete[2] { u, v }; }\nprobability(a) { table 0.3, 0.3; }\n"},
            ["--start", "n.bif"],
            "sum",
        ),
        ({"bin.csv": "\x00\x01"}, ["--require", "bin.csv"], "bin.csv"),
    ],
)
def test_broken_side_files_are_pointed_at(run, asia, tmp_path, monkeypatch, files, options, message):
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        Path(name).write_text(content)
    code, out, err = run("learn", asia, *options)
    assert (code, out) == (2, "")
    assert message in err


def test_a_directory_is_not_a_table(run, tmp_path):
    code, _, err = run("learn", tmp_path)
    assert code == 2
    assert "directory" in err
    code, _, err = run("score", tmp_path / "nothing.bif", tmp_path)
    assert code == 2
    code, _, err = run("query", "asya", "lung")
    assert code == 2
    assert "did you mean 'asia'" in err
    code, _, err = run("query", "asia", "lung", "--given", "smoke")
    assert "NODE=LEVEL" in err
    code, _, err = run("sample", "asia", "--out", tmp_path / "rows.xls")
    assert ".parquet" in err


def test_missing_values_and_columns_can_be_dealt_with(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "id,a,b,w,t\n" + "".join(f"p{i},{'x' if i % 3 else ''},{'uv'[i % 2]},{i % 4},{i / 9}\n" for i in range(300))
    )
    common = (
        "learn",
        path,
        "--drop",
        "id",
        "--weights",
        "w",
        "--discretize",
        "quantile(4)",
        "--score",
        "BDeu(1)",
        "--json",
    )
    code, out, _ = run(*common, "--missing", "level")
    assert code == 0
    assert json.loads(out)["nodes"] == ["a", "b", "t"]
    assert run("learn", path, "--drop", "id", "--drop", "a", "--drop", "t", "--score", "BIC", "--json")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "--seed", "-7"], "seed must be a whole number of at least 0, got -7"),
        (["learn", "--max-iter", "0"], "max_iter must be"),
        (["learn", "--search", "tabu", "--restarts", "2"], "--search tabu takes memory, patience, not 'restarts'"),
        (["learn", "--score", "BDeu(1/0)"], "division by zero"),
        (["bootstrap", "--threads", "-1"], "threads must be"),
        (["bootstrap", "-R", "0"], "R must be"),
        (["cv", "--folds", "1"], "folds must be"),
        (["cv", "--seed", "-1"], "seed must be"),
        (["alpha", "--rounds", "0"], "max_rounds must be"),
        (["alpha", "--first", "-1"], "start must be a positive number"),
        (["learn", "--discretize", "quantile", "--discretize", "interval"], "--discretize takes one method"),
    ],
)
def test_options_outside_their_range_are_named(run, asia, arguments, message):
    command, *options = arguments
    code, out, err = run(command, asia, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert "internal error" not in err


def test_an_output_that_cannot_be_written_is_refused_before_the_work_begins(run, tmp_path):
    for name in ("graph.xyz", "no/such/folder/graph.bif"):
        code, _, err = run("learn", tmp_path / "not read yet.csv", "--out", tmp_path / name)
        assert code == 2
        assert "not read yet" not in err
    code, _, err = run("sample", "asia", "--out", tmp_path / "rows.xls")
    assert code == 2


def test_what_was_learned_is_shown_even_if_it_cannot_be_written(run, tmp_path, monkeypatch):
    def fail(*_):
        raise md.errors.FileError("out.bif: no space left on the disk")

    md.network("asia").sample(300, seed=3).to_polars().write_csv(tmp_path / "asia.csv")
    monkeypatch.setattr("mapdag.io.write_network", fail)
    code, out, err = run("learn", tmp_path / "asia.csv", "--json", "--out", tmp_path / "out.bif")
    assert code == 2
    assert json.loads(out)["converged"]
    assert err == "mapdag: out.bif: no space left on the disk\n"


def test_files_that_mapdag_wrote_can_be_used_again(run, asia, tmp_path):
    graph = tmp_path / "graph.csv"
    run("learn", asia, "--score", "BDeu(1)", "--out", graph)
    found = md.read_graph(graph)
    code, out, _ = run("learn", asia, "--require", graph, "--json")
    assert code == 0
    assert set(found.arcs) <= set(map(tuple, json.loads(out)["arcs"]))
    assert run("learn", asia, "--start", graph)[0] == 0
    (tmp_path / "few.csv").write_text("from,to\nsmoke,lung\n")
    assert run("learn", asia, "--start", tmp_path / "few.csv")[0] == 0


def test_a_warning_is_shown_once(run, tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("a,b,c\n" + "x,u,1\ny,v,2\nx,u,2\n" * 20)
    _, _, err = run("bootstrap", path, "-R", 10, "--score", "MU(c=2)+BDs(1)")
    assert err.count("MU(c=2) is meant for larger graphs") == 1


def test_ways_out_are_written_as_flags(run, tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"p{i},{i / 7:.3f},{'' if i == 5 else 'uv'[i % 2]},{i % 3}\n" for i in range(300)]
    path.write_text("id,t,b,c\n" + "".join(rows))
    _, _, err = run("learn", path)
    assert "--drop id" in err
    assert "--discretize quantile" in err
    assert "--missing drop" in err
    assert "drop=" not in err
    pasted = re.search(r"All at once: (.*)", err)[1].split()
    assert run("learn", path, *pasted, "--score", "BDeu(1)")[0] == 0


def test_names_with_quotes_and_brackets_are_written_as_a_shell_takes_them(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('"a]b","say ""hi""",x,y\n' + "k,1,u,v\nk,1,v,u\n" * 20)
    _, _, err = run("learn", path)
    pasted = shlex.split(re.search(r"All at once: (.*)", err)[1])
    assert pasted == ["--drop", "a]b", "--drop", 'say "hi"']
    assert run("learn", path, *pasted, "--score", "BDeu(1)")[0] == 0


def test_a_method_for_all_columns_has_exceptions(run, tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{20 + i * 7 % 60},{i * 13 % 89},{i % 31},{'uv'[i % 2]}\n" for i in range(120)]
    path.write_text("age,a=b,state,x\n" + "".join(rows))
    ways = [
        word for way in ("quantile(4)", "age=40,60", "a=b=interval(2)", "state=none") for word in ("--discretize", way)
    ]
    code, _, err = run("learn", path, *ways, "--score", "BDeu(1)", "--search", "hc", "--out", tmp_path / "out.json")
    assert code == 0, err
    levels = md.read_network(tmp_path / "out.json").levels
    assert levels["age"] == ("(-inf,40]", "(40,60]", "(60,inf)")
    assert len(levels["a=b"]) == 2
    assert len(levels["state"]) == 31


def test_columns_are_cut_at_given_points(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("age,x\n" + "".join(f"{20 + i % 60},{'uv'[i % 2]}\n" for i in range(120)))
    code, _, _ = run("learn", path, "--discretize", "age=40,60", "--score", "BDeu(1)", "--out", tmp_path / "out.json")
    assert code == 0
    assert md.read_network(tmp_path / "out.json").levels["age"] == ("(-inf,40]", "(40,60]", "(60,inf)")


def test_unexpected_errors_are_one_sentence(run, asia, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("oops")

    monkeypatch.setattr("mapdag.search.learn", broken)
    code, _, err = run("learn", asia)
    assert code == 2
    assert "internal error, please report it: RuntimeError: oops" in err
    monkeypatch.setenv("MAPDAG_TRACEBACK", "1")
    with pytest.raises(RuntimeError, match="oops"):
        run("learn", asia)


def test_ctrl_c_is_exit_code_130(run, asia, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("mapdag.crossvalidation.cross_validate", pressed)
    code, _, told = run("cv", asia)
    assert (code, told) == (130, "mapdag: interrupted\n")


def test_names_that_standard_output_cannot_encode_are_escaped(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("\u00e1s\u2192,b\n" + "0,1\n1,0\n1,1\n0,0\n" * 5, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mapdag", "check", table],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        encoding="latin-1",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "\u00e1s\\u2192" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_mistake_is_exit_code_2_even_if_standard_error_is_full():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "mapdag", "learn", "nosuch.csv"], stderr=full, check=False)
    assert done.returncode == 2


def test_the_installed_command_runs(tmp_path):
    path = tmp_path / "asia.csv.gz"
    text = md.network("asia").sample(300, seed=3).to_polars().write_csv()
    path.write_bytes(gzip.compress(text.encode()))
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-m", "mapdag", "learn", path], capture_output=True, text=True, check=True, env=environment
    )
    assert "converged" in done.stdout
    version = subprocess.run([sys.executable, "-m", "mapdag", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == f"mapdag {md.__version__}"
    wrong = subprocess.run([sys.executable, "-m", "mapdag", "lern"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_missing_values_of_single_columns_are_given_by_their_names(run, tmp_path):
    path = tmp_path / "table.csv"
    rows = [
        ("9" if i % 5 == 0 else str(i % 2), "99" if i % 7 == 0 else str(9 * (i % 3)), "a=b?"[i % 4]) for i in range(400)
    ]
    path.write_text("smoke,age,x\n" + "".join(",".join(row) + "\n" for row in rows))
    given = ["--missing-value", "smoke=9", "--missing-value", "age=99", "--missing-value", "*=="]
    code, out, _ = run("check", path, *given, "--json")
    assert code == 0
    found = json.loads(out)
    counted = [
        sum(row[0] == "9" for row in rows), sum(row[1] == "99" for row in rows), sum(row[2] in "=?" for row in rows)
    ]  # fmt: skip
    assert [column["missing"] for column in found["columns"]] == counted
    pasted = shlex.split(found["command"])
    assert "smoke=9" in pasted
    assert "*==" in pasted
    code, out, told = run(*pasted[1:], "--json")
    assert code == 0, told
    read = md.read(path, missing_values={"smoke": ["9"], "age": ["99"], "*": ["="]}, missing="level")
    assert json.loads(out)["score"] == md.learn(read).score
    code, _, told = run("learn", path, "--missing-value", "smok=9")
    assert code == 2
    assert "missing_values: no column 'smok' (did you mean 'smoke'?)" in told
