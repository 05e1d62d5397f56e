"""Inputs that once took forever, all memory, or ended in a foreign exception."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

import mapdag as md
from mapdag.checks import check_positive, check_whole
from mapdag.cli.options import load_tiers
from mapdag.counts import CountTable
from mapdag.data.labels import ordered
from mapdag.errors import CapacityError, DataError, FileError, FormatError, MapdagError, ParameterError, StudyError
from mapdag.study.design import design_from
from mapdag.study.design import read_design as design_of

LONG = "9" * 5000
MANY = 300_000  # what took time in squares would now take hours
VARIABLES = "".join(f"variable {name} {{ type discrete [ 2 ] {{ x, y }}; }}\n" for name in "ab")
SMALL = VARIABLES + "probability ( a ) { table 0.5, 0.5; }\n"


@pytest.mark.parametrize(
    "text",
    [
        SMALL + "probability ( b | a ) { ( )" + " " * MANY,
        VARIABLES + 'variable "' + '\\"' * MANY,
        'network x { property "' + '\\"' * MANY + "\n",
        '// x\nnetwork "' + '\\"' * MANY,
        "network x { property " + '" ' * MANY + '"\n',
        f"variable a {{ type discrete [ {MANY + 1} ] {{ " + ",".join(f"l{i}" for i in range(MANY)) + ",l0 }; }\n",
        "variable a { type discrete [ 2 ] { a" + " " * MANY + "b, c }; }\n",
        "network x" + " " * MANY + "\n",
        VARIABLES + "probability ( a | " + "b, " * MANY + ") { table 1; }\n",
        'net\n{\n}\nnode a { states = ("' + '\\"' * MANY + "\n",
        "BAYES\n99999999\n" + "65000 " * 1000 + "\n",
    ],
    ids=["blanks", "escapes", "property", "comment", "quotes", "levels", "label", "name", "family", "net", "uai"],
)
def test_networks_are_read_in_time_that_follows_the_file(text):
    with pytest.raises((FormatError, CapacityError)):
        md.read_network(text)


def test_labels_that_are_parts_of_each_other_are_tried_once():
    parents = [f"p{i}" for i in range(26)]
    one = "{ type discrete [ 1 ] { a }; }\n"
    levels = "".join(f"variable {name} {one}probability ( {name} ) {{ table 1; }}\n" for name in parents)
    text = levels + "variable c { type discrete [ 2 ] { a, a a }; }\nvariable d { type discrete [ 2 ] { x, y }; }\n"
    text += "probability ( c ) { table 0.5 0.5; }\n"
    text += f"probability ( d | c, {', '.join(parents)} ) {{ ({'a ' * 60}) 0.5, 0.5; }}\n"
    with pytest.raises(FormatError, match="expected one level for each of the 27 parents"):
        md.read_network(text)


def test_few_letters_cannot_stand_for_very_many_arcs():
    names = " ".join(f"a{i}" for i in range(2000))
    with pytest.raises(FormatError, match="more than 1,000,000 arrows"):
        md.read_graph(f"digraph {{\n {{ {names} }} -> {{ b{names} }} }}")
    with pytest.raises(CapacityError, match="at most 32,768 nodes"):
        md.DAG([f"a{i}" for i in range(40_000)])


def test_more_levels_or_intervals_than_possible_are_refused_at_once():
    with pytest.raises(DataError, match="1,000,000,000 are declared, at most 65,536"):
        md.read(b"a,b\n1,y\n0,z\n", levels={"a": 10**9})
    with pytest.raises(DataError, match="at most 65,536"):
        md.read(b"a,b\n1,y\n0,z\n", levels={"a": 10**400})
    for way in ("interval(1000000000)", f"quantile({LONG})"):
        with pytest.raises(ParameterError, match="bins must be at most 65,536"):
            md.read(b"a,b\n1.5,y\n2.5,z\n", discretize=way)


def test_whole_numbers_of_any_length_are_labels():
    assert ordered([LONG, "10", "-" + LONG, "9"]) == ["-" + LONG, "9", "10", LONG]
    assert md.read(f"a,b\n{LONG},y\n1,z\n".encode()).levels["a"] == ("1", LONG)
    assert md.read({"a": [10**400, 1, 2], "b": [0, 1, 0]}).levels["a"] == ("1", "2", str(10**400))
    with pytest.raises(DataError, match="cannot be written as a label"):
        md.read({"a": [10**5000, 1, 2], "b": [0, 1, 0]})
    for check in (check_positive, check_whole):
        with pytest.raises(ParameterError, match=r"x must be .*, got a number of more than 30 digits"):
            check("x", 10**5000)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_damaged_files_are_refused(tmp_path, pack):
    path = tmp_path / "levels.json"
    for text, read in ((b"a,b\nx,y\nz,w\n" * 9, md.read), (b'{"a": ["x", "y"]}', None)):
        data = pack(text)
        for cut in range(1, len(data)):
            path.write_bytes(data[:cut])
            with pytest.raises(DataError):
                md.read(path) if read else md.read(b"a,b\nx,1\ny,2\n", levels=path)


def test_nested_and_odd_documents_are_refused(tmp_path):
    path = tmp_path / "x.json"
    for text in ("[" * 100_000, '{"a":' * 100_000, f'{{"a": {LONG}}}'):
        path.write_text(text)
        with pytest.raises(DataError):
            md.read(b"a,b\nx,1\ny,2\n", levels=path)
    for text in ("[" * 100_000, f"[{LONG}]", "a," + "b" * 200_000, 'a,"b'):
        path.write_text(text)
        with pytest.raises(FormatError):
            load_tiers(str(path))


def test_half_characters_are_refused():
    with pytest.raises(DataError, match="line 2: half of a pair of characters"):
        md.read(io.StringIO("a,b\n\ud800,y\nx,z\n"))


@pytest.mark.parametrize("name", ["x" * 5000 + ".csv", "a/" * 3000 + "x.csv", "~nouser/x.csv", "a\0b.csv"])
def test_names_that_no_file_has_are_refused(name, run):
    for read in (md.read, md.check, md.scan, md.read_network, md.read_graph):
        with pytest.raises(MapdagError) as error:
            read(name)
        assert len(str(error.value)) < 4000
    if "\0" not in name:
        code, _, told = run("learn", name)
        assert code == 2
        assert "internal error" not in told


@pytest.mark.parametrize("encoding", ["\x00", "hex", "", "klingon", 3])
def test_encodings_that_are_none_are_refused(encoding):
    with pytest.raises(ParameterError, match=r"encoding must be (one that Python knows|a text)"):
        md.read(b"a,b\nx,y\n", encoding=encoding)


@pytest.mark.parametrize(
    "change",
    [
        {"arms": [1]}, {"arms": {"a": 1}}, {"arms": [{}]}, {"arms": 3}, {"ratios": 3}, {"objectives": 3}, {"sizes": 3},
        {"arms": [{"columns": "file", "search": "hc", "objectives": 3}]}, {"networks": 3}, {"networks": "asia"},
        {"searches": 3}, {"searches": [{"search": ["a"]}]}, {"searches": [{"search": "hc", "x": {}}]}, {"columns": 3},
        {"objectives": [f"BDeu({i + 1})" for i in range(10_001)]},
        {"sizes": [f"n={LONG}"]}, {"sizes": ["n=²"]}, {"replicates": 10**400}, {"objectives": [["BIC"]]},
    ],
)  # fmt: skip
def test_designs_of_another_shape_are_refused(change):
    design = {"networks": ["asia"], "sizes": ["n=500"], "objectives": ["BIC"], "replicates": 2, **change}
    with pytest.raises(ParameterError):
        design_from(design)


# Numbers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["BIC(k=1e308)", "eBIC(gamma=1e308)", "BD(1e308)", "BDs(1e101)", "Support(1e200)"])
def test_parameters_that_would_overflow_are_refused(text):
    with pytest.raises(MapdagError, match=r"at most 1e\+100"):
        md.parse(text)


def test_the_smallest_probabilities_of_arcs_have_the_right_odds():
    nodes = list("abcdefgh")
    for beta in (5e-324, 1e-310, 1e-300, 0.1):
        expected = mpmath.log(mpmath.mpf(beta) / 2) - mpmath.log1p(-mpmath.mpf(beta))
        assert md.MU(beta=beta).log_odds(nodes)[0, 1] == pytest.approx(float(expected), rel=1e-15)
    assert md.MU(c=5e-324).log_odds(nodes)[0, 1] == pytest.approx(float(mpmath.log(mpmath.mpf(5e-324) / 7)), rel=1e-15)


@pytest.mark.parametrize("alpha", [5e-324, 1e-310, 1e-300, 1e-299, 1e-200, 1e100])
def test_pseudo_counts_of_any_size_give_the_right_score(alpha):
    counts = np.array([[3, 0], [0, 3], [2, 1], [0, 0]])
    table = CountTable.from_dense(counts)
    for likelihood, cells in ((md.BD(alpha), 1), (md.BDeu(alpha), 8), (md.BDs(alpha), 6)):
        with mpmath.workdps(700):
            a = mpmath.mpf(alpha) / cells
            expected = mpmath.fsum(
                mpmath.loggamma(2 * a) - mpmath.loggamma(2 * a + int(row.sum()))
                + mpmath.fsum(mpmath.loggamma(a + int(n)) - mpmath.loggamma(a) for n in row)
                for row in counts if row.sum()
            )  # fmt: skip
            assert likelihood.score(table) == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e8])
def test_searches_end_where_weights_are_large_and_odd(scale):
    sample = md.network("sachs").sample(1000, seed=3)
    weights = np.random.default_rng(3).uniform(1000, 50_000, 1000) * scale
    columns = {name: [sample.levels[name][code] for code in sample.column(name)] for name in sample.names}
    data = md.read(columns, weights=weights, weighting="counts")
    climbed = md.hill_climb(data, threads=1)
    for found in (climbed, md.tabu(data, threads=1)):
        assert found.stopped == "converged"
        assert len(found.trace) < 1000
        assert math.isclose(found.score, md.score(found.dag, data), rel_tol=1e-12)


def test_the_search_over_orders_ends_where_sums_of_scores_are_rounded():
    """Copies of columns, so that moves come in ties, whose sums of huge scores differ in their last digits."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size=(40, 5))[:, rng.integers(0, 5, 25)]
    codes = np.where(rng.random(codes.shape) < 0.1, 1 - codes, codes)
    data = md.read(codes, weights=rng.uniform(1, 50, 40) * 1e12, weighting="counts", codes=True)
    for objective in ("BDeu(10)", "MU(c=1)+BDs"):
        found = md.learn(data, objective, threads=1, max_parents=1, time_limit=60)
        assert found.stopped == "converged"
        assert found.score >= md.hill_climb(data, objective, threads=1, max_parents=1).score


def test_compilation_does_not_count_as_time_of_a_search(monkeypatch):
    compiled = itertools.count(0, 1000)  # each time somebody asks, kernels have taken a quarter of an hour more
    monkeypatch.setattr("mapdag.compiling.seconds", lambda: float(next(compiled)))
    data = md.network("cancer").sample(200, seed=1)
    for search in ("hc", "tabu", "orders", "exact"):
        assert md.learn(data, search=search, threads=1, time_limit=1e-9).stopped == "converged"


# Messages and files ---------------------------------------------------------------------------------------------------


def test_no_message_is_longer_than_a_screen():
    with pytest.raises(MapdagError) as error:
        md.read_network("BAYES\n" + "9" * 100_000 + "\n")
    assert len(str(error.value)) < 4000
    with pytest.raises(MapdagError) as error:
        md.parse("x" * 100_000)
    assert len(str(error.value)) < 4000
    with pytest.raises(MapdagError) as error:
        md.DAG(["a"], [("a", "b" * 100_000)])
    assert len(str(error.value)) < 4000


def test_a_command_does_not_write_over_what_it_reads(run, tmp_path):
    table = tmp_path / "table.csv"
    md.network("cancer").sample(300, seed=1).to_polars().write_csv(table)
    before = table.read_bytes()
    for out in (table, f"{tmp_path}/./table.csv"):
        code, _, told = run("learn", table, "--out", out)
        assert code == 2
        assert "is named twice: a command does not write over what it reads" in told
    assert table.read_bytes() == before


def test_a_command_writes_over_no_part_of_what_it_reads(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MAPDAG_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "fold"
    folder.mkdir()
    gaps = "asia,smoke\nyes,\nno,yes\n,no\n"
    files = [tmp_path / "f-1.csv", folder / "p1.csv", folder / "p2.csv"]
    for file in files:
        file.write_text(gaps)
    drawn = ("--how", "draw", "--draws")
    for command in (
        ("impute", "asia", "f-1.csv", *drawn, "2", "--out", "f.csv"),
        ("impute", "asia", "f-1.csv", *drawn, "1000000000", "--out", "~/f.csv"),
        ("impute", "asia", "f-1.csv", "--out", "~/f-1.csv"),
        ("impute", "asia", "~/f-1.csv", "--out", "f-1.csv"),
        ("learn", "fold", "--search", "hc", "--out", "fold/p1.csv"),
        ("learn", "fold/*.csv", "--search", "hc", "--out", "fold/p2.csv"),
    ):
        code, _, told = run(*command)
        assert code == 2
        assert "is named twice" in told
    assert all(file.read_text() == gaps for file in files)
    assert run("impute", "asia", "f-1.csv", *drawn, "2", "--out", "g.csv")[0] == 0
    assert (tmp_path / "g-2.csv").exists()


def test_results_that_are_damaged_are_named(tmp_path):
    from mapdag.study import Store

    (tmp_path / "results.sqlite").write_bytes(b"SQLite format 3\0" + b"nonsense" * 500)
    with pytest.raises(FileError, match=r"results\.sqlite"), Store(tmp_path) as store:
        list(store.rows())


def test_what_keeps_a_study_from_running_is_told_apart(tmp_path):
    from mapdag.study import Store

    with Store(tmp_path, create=True) as store:
        with store.locked(), Store(tmp_path) as other, pytest.raises(StudyError, match="another run"), other.locked():
            pass
        (tmp_path / "results.lock").write_bytes(b"nonsense" * 500)
        with pytest.raises(FileError, match=r"results\.lock cannot be used"), store.locked():
            pass


@pytest.mark.parametrize("number", [2.0, -0.0, np.int8(2)])
def test_whole_numbers_of_any_type_are_whole_numbers(number):
    """Compiled code takes what it is given for a machine's integer."""
    data = md.network("cancer").sample(100, seed=1)
    for search in ("hc", "tabu", "orders", "exact", "certified"):
        options = {"max_parents": number, "seed": number, "threads": max(number, 1)}
        expected = md.learn(data, "BDs", search=search, max_parents=int(number), seed=int(number))
        assert md.learn(data, "BDs", search=search, **options).dag == expected.dag
    assert md.hill_climb(data, "BDs", restarts=number, perturb=1.0, max_iter=3.0).dag.n_arcs <= 3
    assert md.bootstrap(data, "BDs", R=2.0, search="hc", max_parents=number).nodes == data.names


def test_complex_numbers_are_no_numbers():
    for check in (check_positive, check_whole):
        with pytest.raises(ParameterError):
            check("x", np.complex128(1))


def test_what_is_no_graph_is_refused_by_its_type():
    data = md.network("cancer").sample(50, seed=1)
    calls = (
        lambda: md.score(data, data),
        lambda: md.fit(data, data),
        lambda: md.fit_em(data, data),
        lambda: md.diagnose(data, data),
        lambda: md.shd(data, md.network("cancer").dag),
        lambda: md.compare(md.network("cancer").dag, data),
        lambda: md.certify(data),
        lambda: md.learn(data, required=3),
        lambda: md.learn(data, forbidden=[1]),
        lambda: md.learn(data, tiers=3),
        lambda: md.learn(data, tiers=[1]),
    )
    for call in calls:
        with pytest.raises(ParameterError, match="must be"):
            call()


@pytest.mark.parametrize("scale", [1e9, 1e12])
def test_proofs_end_where_scores_are_so_large_that_sums_are_rounded(scale):
    """Nothing left to decide, moves that gain by rounding alone: the one was a crash, the other had no end."""
    rng = np.random.default_rng(1)
    for number in range(6):
        codes = rng.integers(0, 3, size=(5 + 10 * (number % 3), 4))
        data = md.read(codes, weights=rng.uniform(0.5, 10, len(codes)) * scale, codes=True)
        for objective, most in (("AIC", 0), ('CS({"X1->X2": 0.9})+BDs', 2), ("BIC", None)):
            found = md.learn(data, objective, search="certified", ranks=3, within=0.0, max_parents=most, threads=1)
            best = md.learn(data, objective, search="exact", max_parents=most, threads=1)
            assert math.isclose(found.score, best.score, rel_tol=1e-12)
            ranked = [score for _, score in found.certificate.ranked]
            assert ranked == sorted(ranked, reverse=True)


@pytest.fixture(scope="module")
def small_study(tmp_path_factory):
    from mapdag.study import Design, Serial
    from mapdag.study import run as run_study

    place = tmp_path_factory.mktemp("study")
    objectives = ("BIC", "U+BDeu(1)")
    run_study(Design(name="s", networks=("asia",), sizes=("n=50",), replicates=1, objectives=objectives, test_rows=20),
              place, executor=Serial())  # fmt: skip
    return place


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE results SET arcs = 'many'", "UPDATE results SET shd = x'ff'", "UPDATE results SET size = 'a'",
        "UPDATE results SET score = 'nan'", "UPDATE results SET replicate = -1",
        "UPDATE meta SET value = '3' WHERE key = 'design'", "UPDATE meta SET value = '{' WHERE key = 'seed'",
        "UPDATE meta SET value = '\"4\"' WHERE key = 'results_version'",
        "UPDATE meta SET value = '{\"arms\": 3}' WHERE key = 'design'",
        "UPDATE searches SET options = 'none'", "UPDATE runs SET versions = 'x'", "UPDATE runs SET seconds = 'long'",
        "UPDATE work SET cpu = x'00'", "DROP TABLE runs; CREATE TABLE runs (x)",
    ],
)  # fmt: skip
def test_results_that_no_study_has_written_are_refused(small_study, tmp_path, change, run):
    import shutil
    import sqlite3

    place = tmp_path / "damaged"
    shutil.copytree(small_study, place)
    with sqlite3.connect(place / "results.sqlite") as db:
        db.executescript(change)
    db.close()
    refused = []
    for command in (["status"], ["report"], ["merge", small_study, "--out"]):
        code, _, told = run("study", *command, place)
        assert "internal error" not in told
        assert "Traceback" not in told
        refused.append(code == 2)
    assert any(refused)


def test_replicates_of_any_number_can_be_reported(small_study, tmp_path, run):
    import shutil
    import sqlite3

    shutil.copytree(small_study, tmp_path / "far")
    with sqlite3.connect(tmp_path / "far" / "results.sqlite") as db:
        db.execute("UPDATE results SET replicate = ?", (2**62,))
    db.close()
    assert run("study", "report", tmp_path / "far")[0] == 0


def test_published_results_that_are_damaged_are_refused(small_study, tmp_path, run):
    from mapdag.paper.report import make_report, write_report

    report = make_report(small_study, resamples=0)
    whole = tmp_path / "whole"
    write_report(report, whole)
    assert run("study", "export", small_study, "--out", whole / "rows.csv.gz")[0] == 0
    assert run("study", "status", whole)[0] == 0
    rows, summary = (whole / "rows.csv.gz").read_bytes(), (whole / "summary.json").read_text()
    for cut in range(12, len(rows), 40):  # data of gzip that make no sense
        (whole / "rows.csv.gz").write_bytes(rows[:cut] + b"\xff\x07" + rows[cut + 2 :])
        assert run("study", "status", whole)[0] in {0, 2}
    (whole / "rows.csv.gz").write_bytes(rows)
    for odd in ("3", "[]", "{}", '"x"', "[" * 100_000):
        for key in ("searches", "runs", "worker_seconds", "design"):
            (whole / "summary.json").write_text(summary.replace(f'"{key}": ', f'"{key}": {odd}, "was": ', 1))
            code, _, told = run("study", "report", whole)
            assert code in {0, 2}
            assert "internal error" not in told


@pytest.mark.parametrize(
    "cells",
    [
        ["1e400", "1e500", "2.5"], ["1e-400", "0", "1.5"], ["1e23", "99999999999999991611392", "0.5"],
        ["0.1", "0.1000000000000000055511151231257827", "0.2"], ["1e-999999999999999999999", "0.5", "0.0"],
    ],
)  # fmt: skip
def test_numbers_that_floats_cannot_tell_apart_stay_apart(cells, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells * 4)))
    for data in (md.read(path), md.scan(path, cache=tmp_path / "cache")):
        assert set(data.levels["a"]) == {cell.removesuffix(".0") for cell in cells}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_few_bytes_cannot_unpack_to_all_memory(pack, tmp_path, monkeypatch):
    monkeypatch.setattr("mapdag.disk._ENOUGH", 10_000_000)
    packed = pack(b"a,b\n" + b"x,1\ny,2\n" * 2_500_000)
    assert len(packed) < 100_000
    path = tmp_path / "table.csv"
    path.write_bytes(packed)
    for read in (md.read, md.check, lambda file: md.read(b"a,b\nx,1\ny,2\n", levels=file)):
        with pytest.raises(MapdagError, match="more than 200 times its size"):
            read(path)
    if pack is gzip.compress:
        for read in (md.read_network, md.read_graph):
            with pytest.raises(MapdagError, match="more than 200 times its size"):
                read(path)
    whole = pack(b"a,b\n" + b"x,1\ny,2\n" * 1000)  # small tables may be as regular as they like
    assert md.read(whole).n_rows == 2000


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")
def test_devices_are_no_files(run, tmp_path):
    for read in (md.read, md.check, md.scan, md.read_network, md.read_graph, load_tiers, design_of):
        with pytest.raises(MapdagError, match="/dev/zero is a device, not a file"):
            read("/dev/zero")
    with pytest.raises(MapdagError, match="/dev/zero is a device, not a file"):
        md.read(b"a,b\nx,1\ny,2\n", levels="/dev/zero")
    assert run("learn", "/dev/zero")[0] == 2
    with pytest.raises(MapdagError, match="is empty"):
        md.read("/dev/null")


def test_more_columns_than_a_graph_has_nodes_are_refused():
    from mapdag.data.source import MAX_COLUMNS
    from mapdag.graphs.nodes import MAX_NODES

    assert MAX_COLUMNS == MAX_NODES
    names = [f"c{i}" for i in range(MAX_COLUMNS + 1)]
    rows = [",".join(names), ",".join("x" for _ in names), ",".join("y" for _ in names)]
    table = "\n".join([*rows, ""]).encode()
    with pytest.raises(CapacityError, match="32,769 columns, at most 32,768 are possible: leave some out by drop="):
        md.read(table)
    with pytest.raises(CapacityError, match="32,769 columns"):
        md.check(table)
    assert md.read(table, drop=names[3:]).names == ("c0", "c1", "c2")


@pytest.mark.parametrize("options", [{"separator": math.nan}, {"separator": 3}, {"missing_values": 3}, {"drop": 3}])
def test_options_of_another_type_are_refused(options):
    with pytest.raises(ParameterError, match="must be"):
        md.read(b"a,b\nx,1\ny,2\n", **options)


@pytest.mark.parametrize("by_polars", [False, True])
@pytest.mark.parametrize(
    "text",
    [b'a,b\n"x\r\ny",1\r\nz,2\r\n', b"a,b\rx,1\ry,2\r", b"a,b\nx,1\ny,2", b"a,b\n\nx,1\n\ny,2\n\n", b'a\n"x\n"\ny\n'],
)
def test_tables_in_zstandard_are_read_as_they_are(text, by_polars, monkeypatch):
    from mapdag.data import content

    pyarrow = pytest.importorskip("pyarrow")
    if by_polars:  # where there is no pyarrow
        monkeypatch.setattr(content, "_unzstd", content._unzstd_by_polars)
    packed = pyarrow.compress(text, codec="zstd", asbytes=True)
    assert md.read(packed) == md.read(text)
    assert md.read(packed).levels == md.read(text).levels


def test_few_bytes_of_zstandard_cannot_unpack_to_all_memory(monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr("mapdag.disk._ENOUGH", 10_000_000)
    packed = pyarrow.compress(b"a,b\n" + b"x,1\ny,2\n" * 2_500_000, codec="zstd", asbytes=True)
    with pytest.raises(MapdagError, match="more than 200 times its size"):
        md.read(packed)
    for cut in range(5, len(packed), 100):
        with pytest.raises(MapdagError):
            md.read(packed[:cut])
