"""The experiments behind docs/theory.md, and every table and claim of that page that is not a block of Python."""

import csv
import re
from pathlib import Path
from statistics import mean

import numpy as np
import pytest

import mapdag as md
from mapdag.errors import ParameterError
from mapdag.paper import experiments

DOCS = Path(__file__).parent.parent / "docs"
pytestmark = pytest.mark.skipif(not (DOCS / "theory.md").exists(), reason="not part of this distribution")


def stored(name):
    with (DOCS / "img" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def doc_table(name):
    """Rows of the Markdown table after its marker, as dicts."""
    text = (DOCS / "theory.md").read_text(encoding="utf-8")
    lines = text.split(f"<!-- table: {name} -->\n")[1].split("\n\n")[0].splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in rows]


def as_stored(points):
    """Rows as the command writes them."""
    write = lambda value: f"{value:.10g}" if isinstance(value, float) else str(value)  # noqa: E731 - two words
    return [{key: write(value) for key, value in point._asdict().items()} for point in points]


def test_the_table_of_noise_is_the_mean_of_the_stored_runs():
    rows = stored("noise")
    for line in doc_table("noise"):
        for column in list(line)[2:]:
            runs = [
                int(r["arcs"])
                for r in rows
                if (r["nodes"], r["rows"], r["objective"]) == (line["columns"], line["rows"], f"{column}(1)")
            ]
            assert len(runs) == 10
            assert line[column] == f"{mean(runs):.1f}"


def test_the_table_of_alphas_is_the_mean_of_the_stored_runs():
    rows = stored("alpha")
    for line in doc_table("alpha"):
        for column in list(line)[3:]:
            runs = [
                int(r["arcs"])
                for r in rows
                if (r["network"], r["alpha"], r["score"]) == (line["network"], line["alpha"], column)
            ]
            assert len(runs) == 3
            assert line[column] == f"{mean(runs):.1f}"
            assert line["true arcs"] == str(md.network(line["network"]).dag.n_arcs)


def test_the_table_of_saturated_families_is_the_mean_of_the_stored_runs():
    rows = stored("saturation")
    for line in doc_table("saturation"):
        for column in list(line)[2:]:
            key = (line["levels"], line["rows"], column)
            runs = [int(r["arcs"]) for r in rows if (r["levels"], r["rows"], r["objective"]) == key]
            assert len(runs) == 5
            assert line[column] == f"{mean(runs):.1f}"
    limited = [int(r["arcs"]) for r in rows if r["objective"].startswith("Support")]
    assert sum(limited) <= 2  # two binary columns that are dependent by chance


def test_saturated_families_are_found_as_stored():
    found = as_stored(experiments.saturated_arcs([3, 5], [50, 100], replicates=2))
    wanted = [r for r in stored("saturation") if r["levels"] in {"3", "5"} and r["rows"] in {"50", "100"}]
    assert found == [r for r in wanted if int(r["replicate"]) < 2]


def test_what_the_page_says_of_its_tables_is_so():
    for line in doc_table("noise"):
        arcs = {name: float(line[name]) for name in list(line)[2:]}
        assert arcs["U+BDs"] >= arcs["U+BDeu"]
        assert arcs["MU(c=1)+BDeu"] <= 2
        assert arcs["MU(c=1)+BDs"] <= 2
        if line["rows"] == "50":
            assert arcs["U+BDs"] > arcs["U+BDeu"]
            assert arcs["MU(1/2)+BDs"] > arcs["MU(1/2)+BDeu"]
    by_network = {}
    for line in doc_table("alpha"):
        by_network.setdefault(line["network"], []).append({k: float(v) for k, v in list(line.items())[1:]})
    for lines in by_network.values():
        _, one, ten, hundred = lines
        for score in ("U+BDeu", "U+BDs", "MU(c=1)+BDeu", "MU(c=1)+BDs"):
            assert one[score] < ten[score] < hundred[score]
            assert hundred[score] > hundred["true arcs"]
        for line in lines:
            assert line["MU(c=1)+BDeu"] < line["U+BDeu"]
            assert line["MU(c=1)+BDs"] < line["U+BDs"]
        for line in (ten, hundred):
            assert line["U+BDs"] < line["U+BDeu"]
            assert line["MU(c=1)+BDs"] < line["MU(c=1)+BDeu"]


def test_small_tables_of_noise_are_learned_as_stored():
    found = as_stored(experiments.noise_arcs([5, 10, 20, 50], [50, 500], replicates=3))
    wanted = [r for r in stored("noise") if int(r["nodes"]) <= 50 and r["rows"] in {"50", "500"}]
    assert found == [r for r in wanted if int(r["replicate"]) < 3]


def test_alphas_are_learned_as_stored():
    found = as_stored(experiments.alpha_sensitivity(["insurance"], replicates=1))
    assert found == [r for r in stored("alpha") if (r["network"], r["replicate"]) == ("insurance", "0")]


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("inclusion", experiments.inclusion_along_climb),
        ("expected", experiments.expected_numbers),
        ("uniform", experiments.uniform_prior),
        ("threshold", experiments.threshold_agreement),
    ],
)
def test_other_tables_are_as_stored(name, run):
    assert as_stored(run()) == stored(name)


@pytest.mark.slow
def test_everything_is_learned_as_stored():
    assert as_stored(experiments.noise_arcs()) == stored("noise")
    assert as_stored(experiments.alpha_sensitivity()) == stored("alpha")
    assert as_stored(experiments.saturated_arcs()) == stored("saturation")


def test_every_figure_of_the_page_is_there():
    text = (DOCS / "theory.md").read_text(encoding="utf-8")
    linked = re.findall(r"\((img/[^)]+)\)", text)
    assert len(linked) > 8
    assert all((DOCS / path).exists() for path in linked)


def test_noise_is_independent_and_repeats_itself():
    data = experiments.noise_table(4, 2000, seed=[1, 2])
    assert data.cards.tolist() == [2, 3, 4, 2]
    assert np.array_equal(data.codes, experiments.noise_table(4, 2000, seed=[1, 2]).codes)
    assert abs(np.corrcoef(data.codes)[np.triu_indices(4, 1)]).max() < 0.1


def test_expected_numbers_need_a_prior_that_exists():
    assert [point.prior for point in experiments.expected_numbers((4,))] == ["MU(1/2)", "MU(c=1)"]
    with pytest.raises(ParameterError, match="nodes must be"):
        experiments.expected_numbers((5, 3))  # where MU(c=1) would have beta = 1


def test_what_is_being_done_is_told():
    told = []
    experiments.noise_arcs([5], [50], objectives=["BDeu"], replicates=1, progress=told.append)
    experiments.alpha_sensitivity(["asia"], rows=50, scores=["BDs"], alphas=[1], replicates=1, progress=told.append)
    assert told == ["noise: 5 columns, 50 rows", "alpha: asia, sample 1"]
