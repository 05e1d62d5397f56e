"""check: what it finds in whole tables, and that what it says can be pasted."""

from __future__ import annotations

import json
import pickle
import shlex
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mapdag as md
from mapdag.errors import DataError

RNG = np.random.default_rng(3)
KINDS = {"category", "numeric", "identifier", "count", "date", "text", "constant", "index"}


def messy(n=120):
    return pd.DataFrame(
        {
            "patient no": [f"P{i}" for i in range(n)],
            "age": RNG.integers(18, 90, n),
            "bmi": RNG.normal(25, 4, n).round(1),
            'it\'s "odd"': RNG.choice(["a", "b"], n),
            "-x": [f"{i} words that nobody can count" for i in range(n)],
            "a=b": RNG.choice(["u", None, "v", "v", "v", "v", "v"], n),
            "site": ["A"] * n,
            "when": pd.date_range("2020-01-01", periods=n),
            "größe $HOME": RNG.choice(["S", "M", "L"], n),
        }
    )


def kinds(found):
    return {column.name: column.kind for column in found.columns}


def pasted(command):
    """Run a command as a shell would, in this process."""
    from typer.testing import CliRunner

    from mapdag.cli.app import app

    words = shlex.split(command)
    assert words[0] == "mapdag"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CliRunner().invoke(app, [*words[1:], "--json", "--score", "BDeu(1)", "--search", "hc"])


def test_a_messy_table_is_judged_and_the_line_works(tmp_path):
    path = tmp_path / "my table (1).csv"
    messy().to_csv(path)
    found = md.check(path)
    assert kinds(found) == {
        "": "index",
        "patient no": "identifier",
        "age": "numeric",
        "bmi": "numeric",
        'it\'s "odd"': "category",
        "-x": "text",
        "a=b": "category",
        "site": "constant",
        "when": "date",
        "größe $HOME": "category",
    }
    result = pasted(found.command)
    assert result.exit_code == 0, result.output
    nodes = json.loads(result.output)["nodes"]
    assert nodes == ["age", "bmi", 'it\'s "odd"', "a=b", "größe $HOME"]
    data = eval(found.code.replace("md.learn(", "md.read("))
    assert list(data.names) == nodes
    assert md.read(path, **found.options) == data


def test_what_is_to_be_left_out_may_begin_with_a_dash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    messy()[["-x", "age", "a=b"]].to_csv("-table.csv", index=False)
    found = md.check("-table.csv")
    assert "./-table.csv" in found.command
    assert "--drop=-x" in found.command
    assert pasted(found.command).exit_code == 0


def test_the_command_prints_what_there_is_to_paste(tmp_path):
    path = tmp_path / "t.csv"
    messy().to_csv(path, index=False)
    run = [sys.executable, "-m", "mapdag", "check", str(path)]
    text = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    found = json.loads(subprocess.run([*run, "--json"], capture_output=True, text=True, check=True).stdout)
    assert text.rstrip().endswith(found["command"])
    assert found["command"] == md.check(str(path)).command
    for column in found["columns"]:
        keys = {"name", "kind", "levels", "missing", "advice", "common", "lowest", "highest", "suspects"}
        assert set(column) == keys
        assert column["kind"] in KINDS
        assert isinstance(column["levels"], int)
        assert isinstance(column["missing"], int)
    assert found == json.loads(json.dumps(md.check(str(path)).to_dict()))


def test_a_table_in_memory_has_code_but_no_command():
    frame = messy()
    found = md.check(frame)
    assert found.command == ""
    assert found.code.startswith("md.learn(df, ")
    data = eval(found.code.replace("md.learn(", "md.read("), {"md": md, "df": frame})
    assert md.read(frame, **found.options) == data
    assert str(found).endswith(found.code)
    assert "größe $HOME" in str(found)
    assert pickle.loads(pickle.dumps(found)) == found


def test_read_says_the_same_as_check():
    frame = messy()
    found = md.check(frame)
    with pytest.raises(DataError) as error:
        md.read(frame)
    remedy = {setting.option: setting.value for setting in error.value.remedy}
    assert remedy == {**found.options, "discretize": "quantile"}
    assert md.read(frame, **remedy).names == md.read(frame, **found.options).names


def test_names_are_escaped_in_notebooks():
    page = md.check({"<script>": ["a", "b"] * 5, "x": ["u", "v"] * 5})._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    "make", [lambda f: f, pl.from_pandas, pa.Table.from_pandas, lambda f: f.to_csv(index=False).encode()]
)
def test_every_kind_of_table_gives_the_same(make):
    frame = messy().drop(columns="when")
    expected, found = md.check(frame), md.check(make(frame))
    assert found.columns == expected.columns
    assert found.options == expected.options


# Codes for missing values ---------------------------------------------------------------------------------------


def survey(n=200):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "smoke": rng.choice([0, 1, 2, 3, 9], n, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
            "weight": np.where(rng.random(n) < 0.1, 999, rng.integers(55, 180, n)),
            "agree": rng.choice(["yes", "no", "Refused", "Not applicable"], n, p=[0.4, 0.4, 0.1, 0.1]),
            "income": np.where(rng.random(n) < 0.1, "refused", rng.integers(900, 5000, n).astype(str)),
            "score": rng.integers(0, 10, n),
            "change": rng.integers(-3, 4, n),
        }
    )


def test_codes_for_missing_values_are_suspected_by_column():
    frame = survey()
    found = md.check(frame)
    expected = {"smoke": ["9"], "weight": ["999"], "agree": ["Refused"], "income": ["refused"]}
    assert found.options["missing_values"] == expected
    assert {c.name: list(c.suspects) for c in found.columns if c.suspects} == expected
    assert kinds(found)["income"] == "numeric"
    by_name = {column.name: column for column in found.columns}
    assert "'Not applicable' stays a level" in by_name["agree"].advice
    assert by_name["smoke"].missing == int((frame["smoke"] == 9).sum())
    data = md.read(frame, **found.options)
    assert data.levels["smoke"][:4] == ("0", "1", "2", "3")
    assert "9" not in data.levels["smoke"]
    assert md.check(frame.to_csv(index=False).encode()).columns == found.columns
    quiet = md.check(frame, missing_values={name: [] for name in frame})
    assert not any(column.suspects for column in quiet.columns)


def test_check_shows_what_columns_hold():
    by_name = {column.name: column for column in md.check(survey()).columns}
    assert by_name["score"].extremes == ("0", "9")
    assert by_name["weight"].shown.endswith(" to 999")
    label, count = by_name["agree"].common[0]
    assert by_name["agree"].shown.startswith(f"{label} ({count})")


# Counts ------------------------------------------------------------------------------------------------------------


def design(*sizes):
    grid = np.indices(sizes).reshape(len(sizes), -1)
    return pd.DataFrame({f"f{i}": [f"l{level}" for level in axis] for i, axis in enumerate(grid)})


@pytest.mark.parametrize("name", ["Freq", "n", "count", "Count", "frequency", "N", "0"])
def test_counts_of_an_aggregated_table_are_weights(name):
    frame = design(4, 4, 2).assign(**{name: RNG.integers(0, 70, 32)})
    found = md.check(frame)
    assert kinds(found)[name] == "count"
    assert found.options == {"weights": name}
    with pytest.raises(DataError, match=f'{name!r} counts the rows of an aggregated table.*pass weights="{name}"'):
        md.read(frame)
    assert md.read(frame, **found.options).total == frame[name].sum()
    assert md.check(frame, weights=name).options == {"weights": name}


def test_designs_may_have_numbers_and_groups_of_them():
    frame = design(2, 5).merge(pd.DataFrame({"age": range(10, 95, 5)}), how="cross")
    frame = frame.assign(group=frame["age"] // 20, Freq=RNG.integers(0, 300, len(frame)))
    found = md.check(frame)
    assert kinds(found)["Freq"] == "count"
    assert md.read(frame, **found.options).total == frame["Freq"].sum()


def test_how_much_of_a_design_there_must_be_depends_on_the_name():
    whole = design(4, 4, 4).assign(count=[7 * i % 60 for i in range(64)])
    for rows, names in ((64, {"n", "total"}), (24, {"n"}), (10, set())):
        part = whole.sample(rows, random_state=1)
        found = {
            name for name in ("n", "total") if kinds(md.check(part.rename(columns={"count": name})))[name] == "count"
        }
        assert found == names


def test_of_several_columns_that_may_be_counts_the_likeliest_is_taken():
    counts = [7 * i % 60 for i in range(64)]
    frame = design(4, 4, 4).assign(count=counts, count2011=counts[::-1])
    assert md.check(frame).options["weights"] == "count"
    assert md.check(frame.rename(columns={"count": "n", "count2011": "freq"})).options["weights"] == "freq"
    zero = design(4, 4, 4).assign(**{"0": counts})
    assert md.check(zero).options == {"weights": "0"}
    assert kinds(md.check(zero[["0", "f0", "f1", "f2"]]))["0"] == "numeric"  # what has no name from groupby


def test_counts_in_order_need_no_full_design():
    frame = md.network("asia").sample(500, seed=1).to_pandas().astype(str).value_counts().reset_index()
    assert md.check(frame).options == {"weights": "count"}


def test_columns_that_only_have_the_name_are_no_counts():
    n = 200
    frame = pd.DataFrame({"x": RNG.choice(["a", "b"], n), "y": RNG.choice(["a", "b"], n), "n": RNG.integers(0, 60, n)})
    assert kinds(md.check(frame))["n"] == "numeric"
    assert kinds(md.check(frame.assign(n=RNG.integers(0, 5, n))))["n"] == "category"
    xor = pd.DataFrame({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "n": [0, 1, 1, 0]})
    assert kinds(md.check(xor))["n"] == "category"
    assert md.read(xor).n_columns == 3
    assert md.read(design(2, 2).assign(n=[4, 5, 6, 7]), levels={"n": [4, 5, 6, 7]}).n_columns == 3


# Several columns ---------------------------------------------------------------------------------------------------


def notes(**columns):
    return "\n".join(md.check({name: list(values) for name, values in columns.items()}).notes)


def test_copies_and_what_follows_from_what_are_noted():
    a = RNG.integers(0, 3, 400)
    near = a.copy()
    near[:2] = (near[:2] + 1) % 3
    assert "'b' says the same as 'a'" in notes(a=a, b=[f"level {value}" for value in a])
    assert "'b' says nearly the same as 'a' (2 rows differ)" in notes(a=a, b=near)
    assert "'b' follows from 'a'" in notes(a=a, b=a > 1)
    assert "'a' follows from 'b'" in notes(a=a > 1, b=a)
    x = RNG.normal(20, 5, 400)
    assert "'c' and 'f' rise and fall together" in notes(c=x, f=x * 1.8 + 32)
    assert "'c' and 'e' rise and fall together (correlation +1.0000)" in notes(c=x, e=np.exp(x))
    assert notes(a=a, b=RNG.integers(0, 3, 400), c=RNG.normal(size=400), d=[0] * 398 + [1, 1]) == ""


@pytest.mark.parametrize(("size", "noted"), [(6, False), (60, True)])
def test_near_copies_differ_little_for_what_there_is_to_tell(size, noted):
    a = np.arange(400) < size
    b = np.roll(a, 1)
    assert ("'b' says nearly the same as 'a' (2 rows differ)" in notes(a=a, b=b)) == noted
    assert notes(a=a, b=~a).startswith("'b' says the same as 'a'")


def test_of_very_many_columns_those_that_need_a_word_are_printed():
    found = md.check({f"v{i}": [0, 1] * 5 for i in range(3_000)})
    assert "\n... and 3,000 categories to be used as they are\n" in str(found)
    assert str(found).count("\n") < 120
    assert len(found.columns) == 3_000


def test_one_row_is_one_row():
    gap = [None, *["a", "b"] * 20]
    found = notes(x=gap, y=gap, z=["u", "v", "w"] * 13 + ["u", "v"])
    assert "1 of 41 rows has missing values, in 2 columns" in found
    assert "'x', 'y' are missing in the same row" in found


def test_the_pattern_of_what_is_missing_is_noted():
    n = 90
    full = RNG.choice(["u", "v"], n).tolist()
    tail = [None if i >= 60 else value for i, value in enumerate(full)]
    more = [None if i >= 30 else value for i, value in enumerate(full)]
    found = notes(a=full, b=tail, c=more, d=more)
    assert "60 of 90 rows have missing values, in 3 columns" in found
    assert "structural EM" in found
    assert "structural EM" not in notes(a=full, b=[None, *full[1:]])
    assert "'c', 'd' are missing in the same 60 rows" in found
    assert "monotone" in found
    assert "monotone" not in notes(a=full, b=tail, c=[None, *full[1:]])
    assert "monotone" not in notes(a=full, b=tail, c=more, d=[None, *full[1:]])


def test_few_incomplete_rows_are_dropped_and_many_are_not():
    n = 100
    full = RNG.choice(["u", "v"], n).tolist()
    assert md.check({"a": full, "b": [None] * 20 + full[20:]}).options == {"missing": "drop"}
    assert md.check({"a": full, "b": [None] * 50 + full[50:]}).options == {"missing": "level"}
    # What is missing matters only where it is used.
    assert md.check({"a": full, "b": full, "id": [None] * 60 + [f"p{i}" for i in range(40)]}).options == {
        "drop": ["id"]
    }


def test_rows_are_not_left_out_where_they_take_a_level_with_them():
    table = {
        "a": ["u", "v"] * 50,
        "b": ["x"] * 80 + ["y"] * 20,
        "c": ["s", "t", "t", "s"] * 20 + [None] * 20,
    }
    found = md.check(table)
    assert found.options == {"missing": "level"}
    assert md.read(table, **found.options).names == ("a", "b", "c")


def test_columns_that_rows_left_out_make_useless_are_left_out_too():
    table = {
        "a": ["u", "v"] * 50,
        "b": ["x"] * 80 + [None] * 10 + ["y"] * 10,
        "c": ["s", "t", "t", "s"] * 20 + [None] * 20,
    }
    found = md.check(table)
    assert found.options == {"missing": "drop", "drop": ["b"]}
    assert "leave out" in next(column.advice for column in found.columns if column.name == "b")
    assert md.read(table, **found.options).names == ("a", "c")


def test_numbers_that_cannot_be_cut_are_left_out():
    values = RNG.normal(size=60)
    table = {"a": values, "b": np.append(values[:-1], np.inf), "c": RNG.choice(["u", "v"], 60)}
    found = md.check(table)
    assert found.options == {"discretize": "quantile(2)", "drop": ["b"]}
    assert md.read(table, **found.options).names == ("a", "c")


def test_numbers_that_identify_the_rows_that_remain_are_cut_all_the_same():
    number = [*range(1, 81), *range(181, 201)]
    table = {"number": number, "x": ["u", "v", "v", "u"] * 20 + [None] * 20, "y": RNG.choice(["u", "v"], 100)}
    found = md.check(table)
    assert kinds(found)["number"] == "numeric"
    assert found.options["discretize"] == {"*": "quantile(2)", "number": "quantile(2)"}
    assert md.read(table, **found.options).cards.tolist() == [2, 2, 2]


def test_numbers_are_cut_by_the_rows_that_weights_stand_for():
    table = {"x": np.linspace(0, 1, 200) ** 2, "y": ["u", "v"] * 100, "n": [100] * 200}
    assert md.check(table, drop="n").options["discretize"] == "quantile(3)"
    assert md.check(table, weights="n").options["discretize"] == "quantile(5)"


def test_declared_levels_that_no_row_has_are_noted():
    frame = pd.DataFrame({"x": pd.Categorical(["a", "b"] * 5, ["a", "b", "c"]), "y": [1, 2] * 5})
    column = md.check(frame).columns[0]
    assert (column.kind, column.levels) == ("category", 3)
    assert column.advice == "declares levels that no row has: 'c'"
    column = md.check({"x": ["a", "b"] * 5}, levels={"x": ["a", "b", "d"]}).columns[0]
    assert "'d'" in column.advice


def test_what_the_user_says_is_part_of_the_line(tmp_path):
    path = tmp_path / "t.csv"
    messy().to_csv(path, index=False, sep=";")
    levels = tmp_path / "the levels.json"
    levels.write_text(json.dumps({"größe $HOME": ["S", "M", "L", "XL"]}))
    found = md.check(path, separator=";", drop=["age"], levels=str(levels), missing_values=["u"])
    assert {"separator", "levels", "missing_values", "drop"} <= set(found.options)
    assert "age" not in kinds(found)
    result = pasted(found.command)
    assert result.exit_code == 0, result.output
    assert "age" not in json.loads(result.output)["nodes"]
    assert md.check(path, separator=";", levels={"größe $HOME": ["S", "M", "L", "XL"]}).command == ""


def test_what_cannot_be_helped_is_said():
    found = md.check({"id": [f"p{i}" for i in range(50)]})
    assert found.code == found.command == ""
    assert found.problems == ("no columns are left of the table",)
    found = md.check(pd.DataFrame([[1, 2], [2, 1]] * 10, columns=["x", "x"]))
    assert "more than one column named 'x'" in found.problems[0]
    for source in (3, {}, pl.DataFrame({"x": []})):
        with pytest.raises(DataError):
            md.check(source)
    with pytest.raises(DataError, match="drop: no column 'y'"):
        md.check({"x": ["a", "b"]}, drop="y")
    with pytest.raises(DataError, match="weights: no column 'y'"):
        md.check({"x": ["a", "b"]}, weights="y")


def test_tables_of_one_row_or_column():
    assert md.check({"x": ["a"], "y": ["b"]}).problems
    assert md.check({"x": ["a", "b"]}).options == {}
    assert md.check({"x": [0.5]}).columns[0].kind == "constant"
    assert md.check(pl.DataFrame({"x": [[1], [2]], "y": ["a", "b"]})).options == {"drop": ["x"]}


def test_a_dataset_is_fine_as_it_is():
    data = md.network("asia").sample(100, seed=1)
    found = md.check(data)
    assert set(kinds(found).values()) == {"category"}
    assert found.options == {}
    assert md.check(data.aggregated()).options == {}


def test_a_stream_that_can_be_read_once_is_enough():
    frame = messy()
    reader = pa.Table.from_pandas(frame.drop(columns="when")).to_reader()
    assert kinds(md.check(reader))["bmi"] == "numeric"


def test_of_hundreds_of_columns_those_that_need_a_word_are_shown():
    wide = {f"item {i}": ["yes", "no", "no"] * 20 for i in range(150)} | {"weight": np.linspace(40, 99, 60)}
    found = md.check(wide)
    lines = str(found).splitlines()
    assert len(lines) < 20 + sum(map(bool, found.notes))
    assert any(line.startswith("weight  numeric") for line in lines)
    assert "... and 150 categories to be used as they are" in lines
    assert "item 7<" not in found._repr_html_()
    assert len(found.to_pandas()) == 151
    assert repr(found) == str(found)


# What columns repeat of each other -----------------------------------------------------------------------------------


def test_sums_of_columns_are_named_and_left_out():
    rng = np.random.default_rng(2)
    items = {f"q{i}": rng.integers(0, 4, 300) for i in range(6)}
    low, high = (sum(items[f"q{i}"] for i in part) for part in (range(3), range(3, 6)))
    race = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame({"total": low + high, "low": low, **items, "high": high, "mean": (low + high) / 6})
    for i, name in enumerate(["white", "black", "other"]):
        frame[name] = (race == i).astype(int)
    found = md.check(frame)
    told = {column.name: column.advice for column in found.columns if column.name in found.options["drop"]}
    assert set(told) == {"total", "low", "high", "mean", "white"}
    assert told["low"] == "leave out: is the sum of 'q0', 'q1', 'q2'"
    assert "'black', 'other': they add up to the same" in told["white"]


def test_rare_levels_become_one_and_new_rows_are_coded_alike(tmp_path):
    rng = np.random.default_rng(3)
    shares = np.r_[[0.3, 0.2, 0.1], np.full(300, 0.4 / 300)]
    breed = rng.choice([f"b{i}" for i in range(303)], 4000, p=shares)
    table = {"breed": breed.tolist(), "big": np.where(breed == "b0", "yes", rng.choice(["yes", "no"], 4000)).tolist()}
    found = md.check(table)
    assert found.options == {"lump": {"breed": 0.01}}
    data = md.read(table, **found.options)
    assert data.levels["breed"] == ("b0", "b1", "b2", "other")
    assert "b7" in data.codings["breed"].lumped
    pl.DataFrame(table).write_csv(tmp_path / "t.csv")
    assert md.scan(tmp_path / "t.csv", lump=0.01, cache=tmp_path / "cache").to_dataset() == data
    network = md.fit(md.DAG(["breed", "big"], [("breed", "big")]), data)
    md.write_network(network, tmp_path / "n.json")
    again = md.read_network(tmp_path / "n.json")
    assert again == network
    rare, other = (again.predict_proba({"breed": [level]}, "big") for level in ("b7", "other"))
    np.testing.assert_array_equal(rare, other)
    with pytest.raises(DataError, match=r"lump=\{\"breed\": 0.01\}"):
        md.read(table)


def test_body_weights_of_years_are_no_survey_weights():
    rng = np.random.default_rng(6)
    before = rng.normal(70, 15, 400).round(1)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "wt71": before, "Postwt": before + rng.normal(3, 6, 400)})
    found = md.check(frame)
    assert kinds(found) == {"sex": "category", "wt71": "numeric", "Postwt": "numeric"}
    assert "weights" not in found.options


def test_weights_of_animals_do_not_count_rows():
    rng = np.random.default_rng(7)
    days = [(chick, day, chick % 3) for chick in range(30) for day in range(8)]
    frame = pd.DataFrame(days, columns=["Chick", "Time", "Diet"]).assign(weight=rng.integers(35, 300, len(days)))
    assert kinds(md.check(frame))["weight"] == "numeric"
