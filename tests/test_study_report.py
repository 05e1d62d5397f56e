"""What a study reports: averages, tests and tables, from rows whose answers are known."""

import csv
import io
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from mapdag.errors import FileError, MissingExtraError, ParameterError
from mapdag.paper.report import SCORES, make_report, make_tables, render_report, summarise, write_report
from mapdag.study import Store, paper, run
from mapdag.study.averages import Heading, make_table, render_table
from mapdag.study.cells import FIELDS
from mapdag.study.export import export
from mapdag.study.formats import escape, lay_out
from mapdag.study.pairings import compare_all, compare_pairs, render_pairings
from mapdag.study.panel import METRICS, Panel, read_panel, read_panels
from mapdag.study.statistics import holm, paired_t, rank, wilcoxon, wins
from study_rows import DESIGN, make_panel, make_row

# Statistics


@pytest.mark.parametrize("alternative", ["less", "greater", "two-sided"])
def test_tests_are_those_of_scipy(alternative):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=40), rng.normal(0.3, size=40)
    assert paired_t(a, b, alternative) == pytest.approx(scipy.stats.ttest_rel(a, b, alternative=alternative).pvalue)
    assert paired_t(a, 0.2, alternative) == pytest.approx(
        scipy.stats.ttest_1samp(a, 0.2, alternative=alternative).pvalue
    )
    assert wilcoxon(a, b, alternative) == pytest.approx(scipy.stats.wilcoxon(a, b, alternative=alternative).pvalue)


def test_wilcoxon_is_exact_with_ties_and_normal_for_many_pairs():
    gaps = np.array([1.0, 1.0, -1.0, 2.0, -3.0, 2.0])
    ranks = scipy.stats.rankdata(np.abs(gaps))
    observed = ranks[gaps > 0].sum()
    sums = [np.dot(ranks, signs) for signs in itertools.product((0, 1), repeat=6)]
    assert wilcoxon(gaps, np.zeros(6), "greater") == pytest.approx(np.mean([each >= observed for each in sums]))
    assert wilcoxon(gaps, np.zeros(6), "less") == pytest.approx(np.mean([each <= observed for each in sums]))
    many = np.random.default_rng(2).normal(0.1, size=300)
    expected = scipy.stats.wilcoxon(many, alternative="greater", correction=False).pvalue
    assert wilcoxon(many, np.zeros(300), "greater") == pytest.approx(expected, rel=1e-6)


def test_the_t_test_by_hand():
    # Differences -1, -2, -1, -4: mean -2, standard deviation sqrt(2), t = -2 / (sqrt(2) / 2) = -2 sqrt(2), 3 degrees.
    p = paired_t([1, 2, 3, 4], [2, 4, 4, 8])
    assert p == pytest.approx(scipy.stats.t.cdf(-2 * math.sqrt(2), 3))
    assert p == pytest.approx(0.0331, abs=1e-4)


def test_tests_without_spread_have_an_answer():
    assert paired_t([1, 2, 3], [1, 2, 3]) == 1.0
    assert paired_t([1, 2, 3], [2, 3, 4]) == 0.0
    assert paired_t([1, 2, 3], [0, 1, 2]) == 1.0
    assert math.isnan(paired_t([1], [2]))
    assert wilcoxon([1, 2], [1, 2]) == 1.0


def test_holm_by_hand():
    assert holm([0.01, 0.02, 0.04, 0.5]) == pytest.approx([0.04, 0.06, 0.08, 0.5])
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    adjusted = holm([math.nan, 0.01, 0.04])
    assert math.isnan(adjusted[0])
    assert adjusted[1:] == pytest.approx((0.02, 0.04))


def test_wins_are_counted_strictly_and_at_the_precision_shown():
    a, b = [1.04, 2.0, 3.0], [1.01, 2.04, 3.06]
    assert (wins(a, b), wins(a, b, digits=1), wins(a, b, lower=False)) == (2, 1, 1)


def test_ranks_by_hand_and_by_scipy():
    table = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [1.0, 2.0, 2.0]])
    found = rank(table, ["a", "b", "c"])
    assert found.names == ("a", "b", "c")
    assert found.ranks == pytest.approx((1.25, 2.125, 2.625))
    assert found.p == pytest.approx(scipy.stats.friedmanchisquare(*table.T).pvalue)
    assert found.critical == pytest.approx(2.343 * math.sqrt(3 * 4 / (6 * 4)), abs=1e-3)  # Demsar (2006), table 5
    assert found.groups == ((0, 2),)
    assert rank(-table, ["a", "b", "c"], lower=False).ranks == found.ranks
    with pytest.raises(ParameterError, match="at least two columns"):
        rank([[1.0]], ["a"])


# Panels and comparisons


def test_averages_are_over_the_replicates_that_all_compared_objectives_have():
    rows = [
        make_row("asia", "1", 1, "U+BIC", shd=4),
        make_row("asia", "1", 2, "U+BIC", shd=8),
        make_row("asia", "1", 1, "U+K2", shd=5),
        make_row("child", "1", 1, "U+BIC", shd=1),
        make_row("asia", "1", 1, "U+BIC", shd=99, columns="shuffled"),
    ]
    panel = Panel.from_rows(rows, "file", "hc")
    assert panel.means("shd", ["U+BIC"])[0, 0, 0] == 6
    assert panel.means("shd", ["U+BIC", "U+K2"])[0, 0].tolist() == [4, 5]
    assert panel.cells("shd", ["U+BIC", "U+K2"]).tolist() == [[4, 5]]
    assert panel.cells("shd", ["U+BIC", "U+BDs(alpha=1)"]).shape == (0, 2)
    with pytest.raises(ParameterError, match="no results"):
        Panel.from_rows(rows, "file", "tabu")


def test_averages_of_the_same_values_in_another_order_are_tied():
    rng = np.random.default_rng(1)
    for _ in range(200):
        arcs = rng.integers(30, 60, 20)
        both = zip(("a", "b"), (arcs, rng.permutation(arcs)), strict=True)
        rows = [
            make_row("asia", "1", replicate, objective, arcs=int(n), true_arcs=46)
            for objective, each in both
            for replicate, n in enumerate(each, 1)
        ]
        (cell,) = Panel.from_rows(rows, "file", "hc").cells("arcs", ["a", "b"])
        assert cell[0] == cell[1]


def test_two_objectives_are_compared_cell_by_cell():
    panel = make_panel(
        lambda network, size, replicate, objective: {"shd": len(network) + (objective == "U+BIC") * replicate}
    )
    (found,) = compare_pairs(panel, [("bdeu(1)", "BIC")])
    assert (found.cells, found.wins, found.losses, found.shown_wins) == (60, 60, 0, 60)
    assert found.mean_second - found.mean_first == pytest.approx(1.5)
    assert found.t == 0.0
    every = compare_all(panel, "shd", objectives=["BIC", "BDeu(1)", "BDs(1)"])
    assert len(every) == 3
    assert every[0].first == "U+BDeu(alpha=1)"
    assert max(each.w_holm for each in every) <= 1.0
    assert "U+BIC" in render_pairings(every)
    assert len(render_pairings(every, "csv").splitlines()) == 4
    with pytest.raises(ParameterError, match="no results of U\\+AIC"):
        compare_pairs(panel, [("AIC", "BIC")])
    with pytest.raises(ParameterError, match="metric must be one of"):
        compare_pairs(panel, [("BDs(1)", "BIC")], "speed")


# Tables


def test_the_nine_tables_have_all_networks_and_sizes():
    tables = make_tables(make_panel())
    assert [table.name for table in tables] == [
        *("shd", "arcs", "loglik", "shd-bdeu", "arcs-bdeu", "loglik-bdeu", "shd-bds", "arcs-bds", "loglik-bds")
    ]
    assert [len(table.lines) for table in tables] == [60, 60, 30] * 3
    assert [len(table.headings) for table in tables] == [10] * 9
    assert tables[2].lines[0].values[0] == 10.0


def test_the_best_is_marked_at_the_precision_shown():
    shds = {"U+BDeu(alpha=1)": 12, "U+BIC": 11}
    arcs = {"U+BDeu(alpha=1)": 8, "U+BIC": 13}

    def value(network, size, replicate, objective):
        return {"shd": shds.get(objective, 15), "arcs": arcs.get(objective, 20)}

    panel = make_panel(value, networks=["asia"], sizes=["1"])
    by_shd, by_arcs = (make_table(panel, SCORES, metric=metric) for metric in ("shd", "arcs"))
    assert [i for i, best in enumerate(by_shd.lines[0].best) if best] == [9]
    assert [i for i, best in enumerate(by_arcs.lines[0].best) if best] == [0]
    assert "11.0*" in render_table(by_shd)
    assert "**11.0**" in render_table(by_shd, "markdown")
    assert r"\textbf{11.0}" in render_table(by_shd, "latex")
    read = list(csv.DictReader(io.StringIO(render_table(by_shd, "csv"))))
    assert (read[0]["BIC"], read[0]["samples"], read[0]["n/p"]) == ("11.0", "2", "1")


def test_missing_values_are_shown_as_missing():
    rows = [
        make_row("asia", "1", 1, "U+BIC"),
        make_row("asia", "0.5", 1, "U+BDeu(alpha=1)"),
        make_row("asia", "0.5", 2, "U+BIC"),
    ]
    panel = Panel.from_rows(rows, "file", "hc")
    table = make_table(panel, SCORES, metric="shd")
    assert len(table.lines) == 2
    for form in ("text", "markdown", "latex", "csv"):
        assert "nan" not in render_table(table, form)
    assert "samples" in render_table(table, "csv")
    empty = make_table(panel, [Heading("AIC", "", "U+AIC")], metric="shd")
    assert empty.lines == ()
    render_table(empty)


def test_special_characters_stay_themselves():
    assert escape("my_net & 50%", "latex") == r"my\_net \& 50\%"
    assert escape("a|b", "markdown") == r"a\|b"
    with pytest.raises(ParameterError, match="format must be one of"):
        lay_out([["a"]], "html")


# Whole reports


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    directory = tmp_path_factory.mktemp("study")
    small = paper().restricted(
        networks=["child", "insurance"], sizes=["0.2", "0.5", "1"], searches=["hc"], replicates=2
    )
    outcome = run(replace(small, test_rows=1000), directory, workers=1)
    assert outcome.complete
    return directory


def test_a_report_is_made_from_real_results(finished, tmp_path):
    report = make_report(finished)
    assert [arm.slug for arm in report.arms] == ["hc-file", "hc-shuffled"]
    assert all(len(arm.tables) == 9 and len(arm.findings) == 87 for arm in report.arms)
    assert sum(finding.verdict != "not testable" for finding in report.arms[0].findings) > 60
    text = render_report(report)
    assert text.count("Average SHD") == 2 * 3
    files = write_report(report, tmp_path)
    assert len(files) == len(set(files)) == 2 * (9 * 4 + 3) + 4 + 1
    assert all(file.stat().st_size > 0 for file in files)
    summary = summarise(report)
    assert summary["searches"]["hc"] == {"name": "hc", "options": {"order": "columns"}}
    assert summary["arms"][0]["ranks"]["shd"]["cells"] == 6
    assert sum(report.work.values()) > 0


def test_figures_are_drawn(finished, tmp_path):
    pytest.importorskip("matplotlib")
    from mapdag.plots.study import curves, write_figures

    report = make_report(finished)
    files = write_figures(report, tmp_path)
    assert {file.stem for file in files} >= {"shd-by-size", "arcs-by-size", "ranks-shd-hc-file"}
    assert all("<svg" in file.read_text() for file in files)
    again = write_figures(report, tmp_path / "again")
    assert len(again) == len(files)
    assert len(curves([report.arms[0].panel], "loglik", objectives=["U+BIC"]).axes) >= 2
    with pytest.raises(ParameterError, match="metric must be one of"):
        curves([report.arms[0].panel], "speed")


def test_a_missing_plotting_library_is_named(finished, monkeypatch):
    import sys

    from mapdag.plots.study import curves

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mapdag\[plots\]'"):
        curves([read_panel(finished)])


def test_rows_are_exported_in_full(finished, tmp_path):
    import polars as pl

    with Store(finished) as store:
        rows = list(store.rows())
    for name in ("rows.csv", "rows.csv.gz", "rows.parquet"):
        assert export(finished, tmp_path / name) == len(rows)
        table = pl.read_parquet(tmp_path / name) if name.endswith("parquet") else pl.read_csv(tmp_path / name)
        assert table.columns == list(FIELDS)
        assert table["shd"].to_list() == [row.shd for row in rows]
        assert table["log_likelihood"].to_list() == [row.log_likelihood for row in rows]
    export(finished, tmp_path / "again.csv.gz")
    assert (tmp_path / "again.csv.gz").read_bytes() == (tmp_path / "rows.csv.gz").read_bytes()
    with pytest.raises(ParameterError, match="out must end in"):
        export(finished, tmp_path / "rows.xlsx")
    with pytest.raises(FileError, match="no results of a study"):
        export(tmp_path / "nowhere", tmp_path / "rows.csv")


def test_panels_of_all_arms_are_read(finished):
    panels = read_panels(finished)
    assert [panel.arm for panel in panels] == ["hc, columns in file order", "hc, columns shuffled"]
    assert panels[0].objectives == DESIGN.objectives
    assert panels[0].n_results == 2 * 3 * 2 * 32
    assert "6 cells" in panels[0].extent
    assert set(METRICS) == set(panels[0].values)
