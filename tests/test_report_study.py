"""The page of a simulation study: what stands in it, and that it stands alone."""

import re

import pytest

from mapdag.paper.report import make_report
from mapdag.plots.study import figure_svg, make_figures
from mapdag.report.study import study_page, write_study
from mapdag.study import Arm, Design, Search, run

HC = Search.make("hc")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    design = Design(
        name="<b>small</b>",
        networks=("asia", "child"),
        sizes=("0.5", "1"),
        replicates=2,
        objectives=("U+BDeu(1)", "U+BDeu(10)", "MU(beta=1/2)+BDs(1)", "BIC"),
        arms=(Arm("file", HC), Arm("shuffled", HC)),
    )
    run(design, folder, workers=1)
    return make_report(folder)


@pytest.fixture(scope="module")
def text(report):
    return study_page(report, "mapdag study report DIR --html '<i>'")


def cells(text, key):
    body = re.search(rf'<table id="{key}".*?<tbody>(.*?)</tbody>', text, re.DOTALL)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    return [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows]


def test_every_claim_has_a_verdict_for_every_arm(text, report):
    rows = cells(text, "claim-table")
    assert [row[0] for row in rows] == [str(i) for i in range(1, 88)]
    for row, *findings in zip(rows, *(arm.findings for arm in report.arms), strict=True):
        for parts, verdict, finding in zip(row[6::3], row[7::3], findings, strict=True):
            assert parts == finding.judged
            assert verdict.startswith(finding.verdict)


def test_three_cells_are_too_few_to_judge_by(tmp_path):
    design = Design(
        name="few",
        networks=("asia",),
        sizes=("0.5", "1", "2"),
        replicates=2,
        objectives=("U+BDeu(1)", "U+BDeu(10)", "MU(beta=1/2)+BDs(1)", "MU(beta=1/2)+BDs(10)", "BIC"),
        arms=(Arm("file", HC),),
    )
    run(design, tmp_path, workers=1)
    few = study_page(make_report(tmp_path))
    verdicts = {row[7] for row in cells(few, "claim-table")}
    assert "too few cells (3 of the paper's 60)" in {each.replace("&#x27;", "'") for each in verdicts}
    assert not any(each.startswith(("agrees", "differs")) for each in verdicts)
    assert "measured on too few cells to agree or differ" in few
    assert "none judged" in few


def test_tables_have_the_averages_with_the_best_marked(text, report):
    for arm in report.arms:
        (averages,) = (each for each in arm.tables if each.name == "shd")
        rows = cells(text, f"{arm.slug}-shd")
        assert [row[:3] for row in rows] == [[each.network, each.size, "2"] for each in averages.lines]
        assert [row[3] for row in rows] == [f"{each.values[0]:.1f}" for each in averages.lines]
        assert {row[5] for row in rows} == {""}  # no Steck's alpha in this design
    assert text.count("<strong>") == sum(
        sum(line.best) for arm in report.arms for each in arm.tables for line in each.lines
    )


def test_the_page_stands_alone_and_escapes_names(text):
    assert not re.search(r'(?:src|href)="(?!#|data:)', text)
    assert "<b>small</b>" not in text
    assert "<i>" not in text
    assert "&lt;b&gt;small&lt;/b&gt;" in text


def test_figures_are_inline_once_each_and_always_the_same(text, report):
    found = make_figures(report)
    assert text.count("<figure>") == text.count("<svg") == len(found)
    identifiers = re.findall(r'<clipPath id="(\w+)"', text)
    assert len(set(identifiers)) == len(identifiers) > 0
    again = make_figures(report)["shd-by-size"]
    assert figure_svg(found["shd-by-size"], "a", "<x>") == figure_svg(again, "a", "<x>")
    assert 'aria-label="&lt;x&gt;"' in figure_svg(again, "a", "<x>")


def test_uneven_samples_are_pointed_out(tmp_path):
    design = Design(name="uneven", networks=("asia",), sizes=("1",), replicates=2, objectives=("U+BDeu(1)", "BIC"))
    run(design, tmp_path, workers=1)
    run(design.restricted(replicates=1), tmp_path, workers=1)
    assert "not testable" in study_page(make_report(tmp_path))
    assert "same number of samples" not in study_page(make_report(tmp_path))
    more = Design(name="uneven", networks=("asia",), sizes=("2",), replicates=1, objectives=("U+BDeu(1)", "BIC"))
    run(more, tmp_path, workers=1)
    write_study(tmp_path, tmp_path / "study.html")
    assert "same number of samples" in (tmp_path / "study.html").read_text(encoding="utf-8")
