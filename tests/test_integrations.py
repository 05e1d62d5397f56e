"""Modules for other programs, called as these programs call them."""

import csv
import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mapdag as md

MODULE = Path(__file__).parent.parent / "integrations" / "benchpress" / "mapdag"
if not MODULE.exists():
    pytest.skip("integrations are not part of this copy", allow_module_level=True)
SCHEMA = json.loads((MODULE / "schema.json").read_text(encoding="utf-8"))["items"]
LEARNED, CURVE = SCHEMA["examples"]


def script(tmp_path, **changes):
    """Run the script on `data.csv` as Snakemake does, all options being texts; returns its names."""
    output = {name: str(tmp_path / name) for name in ("adjmat", "time", "ntests")}
    options = {name: str(value) for name, value in {**LEARNED, **changes}.items()}
    given = {"input": {"data": str(tmp_path / "data.csv")}, "output": output, "wildcards": options, "threads": 1}
    below = tmp_path / "script.py"  # Snakemake puts lines of its own above a script
    below.write_text(f"import sys\n\n{(MODULE / 'script.py').read_text(encoding='utf-8')}", encoding="utf-8")
    return runpy.run_path(str(below), {"snakemake": SimpleNamespace(**given)})


def call(tmp_path, text, **changes):
    """Run the script on a text; returns the three files that it writes."""
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    script(tmp_path, **changes)
    return tuple((tmp_path / name).read_text(encoding="utf-8") for name in ("adjmat", "time", "ntests"))


def benchpress_text(data):
    """Write categorical data as Benchpress does."""
    rows = [data.names, data.cards, *data.codes.T]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("options", "objective"),
    [
        (LEARNED, "Support(3)+MU(c=auto)+BDs(alpha=auto)"),
        ({**CURVE, "c": 2}, "Support(3)+MU(c=2)+BDs(1)"),
        ({"prior": "U", "score": "BDeu", "alpha": 5, "support": None}, "U+BDeu(5)"),
        ({"prior": "U", "score": "BIC", "support": None, "search": "hc"}, "BIC"),
        ({"prior": "MU", "c": 1, "score": "qNML", "support": 2, "search": "tabu"}, "Support(2)+MU(c=1)+qNML"),
        ({"prior": "MU", "c": 1, "alpha": 1, "search": "exact"}, "Support(3)+MU(c=1)+BDs(1)"),
    ],
)
def test_benchpress_gets_the_graph_that_mapdag_learns(tmp_path, options, objective):
    data = md.network("asia").sample(300, seed=1)
    matrix, seconds, tests = call(tmp_path, benchpress_text(data), **options)
    names, *rows = csv.reader(matrix.splitlines())
    found = md.DAG.from_adjacency(np.array(rows, dtype=int), names)
    search = {**LEARNED, **options}["search"]
    assert found == md.learn(data, objective, search=search, threads=1).dag
    assert float(seconds) > 0
    assert tests == "None\n"


def test_benchpress_declares_levels_that_no_row_has(tmp_path):
    text = "a,b,c\n" + "3,2,4\n" + "0,1,0\n0,0,1\n1,1,3\n" * 20
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    data = script(tmp_path)["read"](tmp_path / "data.csv")
    assert data.names == ("a", "b", "c")
    assert data.cards.tolist() == [3, 2, 4]
    assert data.n_rows == 60


@pytest.mark.parametrize("text", ["a,b\n0.2,2.3\n3.2,1.5\n", "a,b\n2,2\n0,\n", "a,b\n"])
def test_benchpress_is_told_what_is_not_categorical(tmp_path, text):
    with pytest.raises(ValueError, match="mapdag needs categorical data"):
        call(tmp_path, text)


def test_the_schema_of_the_module_has_what_its_script_reads():
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"]) == set(LEARNED) == set(CURVE)
    assert {"rule.smk", "script.py", "schema.json", "info.json", "docs.rst", "bibtex.bib"} <= {
        path.name for path in MODULE.iterdir()
    }
    json.loads((MODULE / "info.json").read_text(encoding="utf-8"))
