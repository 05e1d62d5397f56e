"""The published results of the study: whatever is made from its rows is what they say."""

import csv
import gzip
import io
import shutil
import sys
from pathlib import Path

import pytest

from mapdag.paper.report import make_report, write_report
from mapdag.study import RESULTS_VERSION, Row, Store, paper
from mapdag.study.cells import missing_tasks
from mapdag.study.formats import as_csv
from mapdag.study.panel import read_panels
from mapdag.study.records import same_results
from mapdag.study.store import CHANGED, ROWS, SUMMARY
from mapdag.study.worker import do_task

ROOT = Path(__file__).parent.parent
RESULTS, PAGE, BENCHMARKS = ROOT / "results" / "paper", ROOT / "docs" / "study.md", ROOT / "benchmarks"
if not all(each.exists() for each in (RESULTS, PAGE, BENCHMARKS)):
    pytest.skip("the results are not part of this copy", allow_module_level=True)
sys.path.append(str(BENCHMARKS))

import study_tables  # noqa: E402

PART = "default"  # the search whose rows are few


@pytest.fixture(scope="module")
def part(tmp_path_factory):
    """Published rows of one search, as a directory of results."""
    folder = tmp_path_factory.mktemp("part")
    with gzip.open(RESULTS / ROWS, "rt", encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines)
    place = head.index("search")
    with gzip.open(folder / ROWS, "wt", encoding="utf-8") as out:
        out.write(as_csv([head, *(row for row in rows if row[place] == PART)]))
    shutil.copy(RESULTS / SUMMARY, folder)
    return folder


def same(text, published):
    """Whether two files say the same; floats in full may differ in what other versions of numpy round otherwise."""
    if published.suffix != ".csv":
        return text == published.read_text(encoding="utf-8")
    old = csv.reader(io.StringIO(published.read_text(encoding="utf-8")))
    return all(
        a == b or float(a) == pytest.approx(float(b), rel=1e-6)
        for mine, theirs in zip(csv.reader(io.StringIO(text)), old, strict=True)
        for a, b in zip(mine, theirs, strict=True)
    )


def test_tables_and_comparisons_of_a_part_are_those_published(part, tmp_path):
    written = write_report(make_report(part, resamples=0), tmp_path)
    mine = [path for path in written if f"{PART}-shuffled" in str(path)]
    assert len(mine) > 40
    for path in mine:
        assert same(path.read_text(encoding="utf-8"), RESULTS / path.relative_to(tmp_path)), path.name


def test_claims_of_a_part_are_those_published(part):
    (arm,) = make_report(part).arms
    with (RESULTS / "claims.csv").open(encoding="utf-8", newline="") as lines:
        published = {int(row["number"]): row for row in csv.DictReader(lines) if row["arm"] == arm.panel.extent}
    assert sorted(published) == [finding.claim.number for finding in arm.findings]
    for finding in arm.findings:
        row = published[finding.claim.number]
        assert row["verdict"] == finding.verdict
        assert [row["p_agrees"], row["direction_agrees"], row["counts_agrees"]] == [
            "" if each is None else str(each) for each in finding.parts
        ]


def test_the_page_names_every_table_once_and_others_stay():
    text = PAGE.read_text(encoding="utf-8")
    assert all(text.count(f"<!-- table: {name} -->") == 1 for name in study_tables.TABLES)
    assert text.count("<!-- table: ") == text.count("<!-- /table -->") == len(study_tables.TABLES)


def test_published_cells_are_learned_again_the_same_unless_the_version_says_otherwise():
    # Where this fails, a change of the library alters what a study finds: RESULTS_VERSION is to be raised, and CHANGED
    # to say for which searches.
    with Store(RESULTS) as store:
        since = range(store.meta["results_version"] + 1, RESULTS_VERSION + 1)
        changed = frozenset().union(*(CHANGED[each] for each in since))
        valid = [label for label, (name, _) in store.searches.items() if name not in changed]
        published = {row.cell: row for row in store.rows()} if valid else {}
    some = paper().restricted(networks=["child", "insurance"], sizes=["0.1"], replicates=1, searches=valid)
    for task in missing_tasks(some):
        for row in do_task(task):
            if isinstance(row, Row):
                assert same_results(row, published[row.cell]), row.cell


@pytest.mark.slow
def test_every_file_and_every_table_of_the_page_is_what_the_rows_say(tmp_path):
    report = make_report(RESULTS)
    for path in write_report(report, tmp_path):
        if path.name != SUMMARY:
            assert same(path.read_text(encoding="utf-8"), RESULTS / path.relative_to(tmp_path)), path.name
    kept = {path.relative_to(RESULTS) for path in RESULTS.rglob("*") if path.is_file() and path.suffix != ".svg"}
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert kept - made == {Path(ROWS), Path("truth.txt")}
    text = PAGE.read_text(encoding="utf-8")
    assert study_tables.fill(text, study_tables.Results(read_panels(RESULTS))) == text
