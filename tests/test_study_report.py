"""What a study reports: averages, tests, tables and claims, from rows whose answers are known."""

import csv
import io
import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.stats

from mapdag.errors import FileError, MissingExtraError, ParameterError
from mapdag.paper import checks
from mapdag.paper.checks import Measure
from mapdag.paper.claims import measure_claims, render_claims
from mapdag.paper.objectives import FIRST_TABLE, goal
from mapdag.paper.report import make_report, render_report, summarise, write_report
from mapdag.paper.tables import SCORES, make_tables
from mapdag.paper.transcript import CLAIMS
from mapdag.study import Store, paper, run
from mapdag.study.averages import Heading, make_table, render_table
from mapdag.study.cells import FIELDS, Row
from mapdag.study.export import export
from mapdag.study.formats import escape, lay_out
from mapdag.study.pairings import compare_all, compare_pairs, render_pairings
from mapdag.study.panel import METRICS, Panel, read_panel, read_panels
from mapdag.study.statistics import holm, paired_t, rank, wilcoxon, wins

DESIGN = paper()


def make_row(network, size, replicate, objective, **changed):
    values = {
        "network": network,
        "size": size,
        "replicate": replicate,
        "columns": "file",
        "search": "hc",
        "objective": objective,
        "n": 100,
        "shd": 10,
        "arcs": 10,
        "true_arcs": 10,
        "log_likelihood": -100_000.0,
        "score": -1.0,
        "precision": 0.5,
        "recall": 0.5,
        "skeleton_precision": 0.5,
        "skeleton_recall": 0.5,
        "moves": 3,
        "stopped": "converged",
        "graph": "0",
        "alpha": None,
        "flag": "",
        "families": 1,
        "seconds": 0.1,
    }
    return Row(**{**values, **changed})


def make_rows(value, *, replicates=2, networks=DESIGN.networks, sizes=DESIGN.sizes, objectives=DESIGN.objectives):
    """Rows of the paper's design; `value` gives what differs from one to the next."""
    for network, size, replicate, objective in itertools.product(networks, sizes, range(1, replicates + 1), objectives):
        yield make_row(network, size, replicate, objective, **value(network, size, replicate, objective))


def make_panel(value=lambda *_: {}, **options):
    return Panel.from_rows(make_rows(value, **options), "file", "hc", DESIGN)


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


# Claims


def test_the_claims_are_complete():
    claims = CLAIMS
    assert [claim.number for claim in claims] == list(range(1, 80))
    # Figures that the transcript of the paper counts: 62 printed p-values for 70 tests, 61 counts out of 60.
    each = [claim.check.func is checks.better and not claim.check.keywords["readings"] for claim in claims]
    tests = sum(len(claim.check.keywords["pairs"]) for claim, apart in zip(claims, each, strict=True) if apart)
    single = sum(bool(claim.p) for claim, apart in zip(claims, each, strict=True) if not apart)
    assert sum(len(claim.p) for claim in claims) == 62
    assert tests + single == 62 + 3 + 5
    assert sum(len(claim.k) for claim in claims if claim.of == 60) == 61
    assert {claim.metric for claim in claims} <= {"shd", "arcs", "loglik", "arcs, shd"}
    assert all(claim.text for claim in claims)


def test_every_objective_of_the_claims_is_in_the_design():
    def names(value):
        if isinstance(value, str):
            return {value} if "BD" in value or "BIC" in value else set()
        if isinstance(value, partial):
            return names(list(value.keywords.values()))
        return {name for each in value for name in names(each)} if isinstance(value, (tuple, list, dict)) else set()

    used = names([claim.check for claim in CLAIMS])
    assert used <= {*DESIGN.objectives, "MU+BDs", "BIC"}
    assert set(FIRST_TABLE) <= set(DESIGN.objectives)


def test_claims_agree_with_results_made_to_agree_and_differ_from_others():
    better = {goal("MU", "BDs", 1): 4, goal("MU", "BDs", 10): 5, goal("U", "BDeu", 1): 8, goal("U", "BDeu", 10): 12}

    def value(network, size, replicate, objective):
        noise = (len(network) + len(size) + replicate) % 3
        return {"shd": better.get(objective, 9) + noise * (objective in better), "arcs": better.get(objective, 9)}

    found = {finding.claim.number: finding for finding in measure_claims(make_panel(value))}
    assert len(found) == 79
    for number in (1, 2, 17, 20, 21):
        assert found[number].verdict == "agrees"
        assert found[number].measures[0].k == 60
        assert found[number].measures[0].p < 1e-10
    assert found[4].verdict == "agrees"  # BIC 9 against 12 and more
    assert found[12].verdict == "agrees"
    assert found[3].measures[0].k == 60
    assert found[3].verdict == "differs"  # in 60 of 60, not in 40
    assert found[8].measures[0].k == 0
    assert found[22].measures[0].k == 0
    assert found[23].measures[1].k == 60
    assert found[27].verdict == "agrees"
    assert found[32].verdict == "agrees"  # log-likelihoods are all the same
    assert found[18].verdict == "differs"  # no trend at all
    assert not any(finding.verdict == "not testable" for finding in found.values())
    opposite = {n.claim.number: n for n in measure_claims(make_panel(lambda *cell: {"shd": 20 - value(*cell)["shd"]}))}
    assert opposite[1].verdict == "differs"
    assert opposite[1].direction == "opposite"


def test_correlations_with_the_sample_size_are_found():
    trend = {"diabetes": 3.0, "pigs": 2.0, "water": 0.0}

    def value(network, size, replicate, objective):
        return {"shd": round(500 + 100 * trend.get(network, -4.0) * math.log(float(size)))}

    found = {finding.claim.number: finding for finding in measure_claims(make_panel(value, replicates=1))}
    assert (found[18].measures[0].k, found[18].measures[0].m, found[18].verdict) == (7, 10, "agrees")
    assert (found[19].measures[0].k, found[19].verdict) == (2, "agrees")


def test_claims_whose_cells_are_missing_are_not_testable_and_say_why():
    few = make_panel(networks=["child"], sizes=["1"], replicates=1)
    found = {finding.claim.number: finding for finding in measure_claims(few)}
    assert found[1].verdict == "not testable"
    assert found[1].reason.startswith("missing cells: fewer than two with MU(beta=0.5)+BDs(alpha=1)")
    assert found[19].verdict == found[33].verdict == found[63].verdict == "not testable"
    some = make_panel(networks=["child", "alarm"], objectives=["U+BIC", "U+BDeu(alpha=1)"])
    found = {finding.claim.number: finding for finding in measure_claims(some)}
    assert found[5].measures[0].m == 12
    assert found[1].verdict == "not testable"
    assert all(
        finding.reason.startswith("missing cells") for finding in found.values() if finding.verdict == "not testable"
    )


def test_claims_are_written_with_all_arms():
    panel = make_panel()
    findings = measure_claims(panel)
    for form in ("text", "markdown", "latex"):
        text = render_claims([findings, findings], ["one", "two"], form)
        assert text.count("\n") >= 79
        assert "nan" not in text
    rows = list(csv.DictReader(io.StringIO(render_claims([findings], ["one"], "csv"))))
    assert {int(row["number"]) for row in rows} == set(range(1, 80))
    assert rows[0]["paper_p"] == "0.00018"
    assert str(Measure("x", 0.012, 3, 4, 60)) == "0.012, 3/60 (4)"


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
    assert all(len(arm.tables) == 9 and len(arm.findings) == 79 for arm in report.arms)
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
