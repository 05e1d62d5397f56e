"""``mapdag predict`` and ``mapdag cv --target``: what they print, what they write, how they fail."""

import csv
import json
import re

import numpy as np
import polars as pl
import pytest

import mapdag as md


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    frame = md.network("asia").sample(200, seed=3).to_polars().cast(pl.String)
    frame.insert_column(0, pl.Series("id", range(200))).write_csv(path)
    return path


def test_rows_come_back_with_predictions(run, rows, tmp_path):
    out = tmp_path / "out.csv"
    code, told, warned = run("predict", "asia", rows, "--target", "dysp", "--proba", "--out", out)
    assert (code, warned) == (0, "")
    assert "accuracy" in told
    assert "200 rows with predictions of dysp written" in told
    asia, given, found = md.network("asia"), pl.read_csv(rows), pl.read_csv(out)
    assert found.columns == [*given.columns, "predicted_dysp", "p_dysp_yes", "p_dysp_no"]
    assert found.select(given.columns).equals(given)
    assert found["predicted_dysp"].to_list() == asia.predict(given, "dysp").tolist()
    expected = asia.predict_proba(given, "dysp")
    assert np.allclose(found.select("p_dysp_yes", "p_dysp_no").to_numpy(), expected)


def test_rows_are_printed_where_no_file_is_named_and_the_target_is_not_needed(run, rows):
    given = pl.read_csv(rows).drop("dysp", "xray")
    given.write_csv(rows)
    code, printed, told = run("predict", "asia", rows, "--target", "dysp")
    assert (code, told) == (0, "")
    found = pl.read_csv(printed.encode())
    assert found.columns == [*given.columns, "predicted_dysp"]
    assert found["predicted_dysp"].to_list() == md.network("asia").predict(given, "dysp").tolist()


def test_json_has_the_predictions_and_how_good_they_are(run, rows, tmp_path):
    _, printed, _ = run("predict", "asia", rows, "--target", "dysp", "--proba", "--json")
    found = json.loads(printed)
    assert found["rows"] == len(found["predictions"]) == len(found["probabilities"]) == 200
    judged = md.evaluate(md.network("asia"), rows, "dysp")
    assert found["metrics"]["accuracy"] == pytest.approx(judged.accuracy)
    assert found["metrics"]["confusion"] == judged.confusion.tolist()
    assert found["levels"] == ["yes", "no"]
    _, printed, _ = run("predict", "asia", rows, "--target", "dysp", "--json", "--out", tmp_path / "out.parquet")
    assert "predictions" not in json.loads(printed)
    assert pl.read_parquet(tmp_path / "out.parquet").height == 200


def test_gaps_are_not_observed_and_targets_that_are_missing_not_judged(run, rows):
    frame = pl.read_csv(rows)
    holes = frame.with_columns(
        pl.when(pl.col("id") % 3 == 0).then(None).otherwise(pl.col("bronc")).alias("bronc"),
        pl.when(pl.col("id") < 20).then(pl.lit("-9")).otherwise(pl.col("dysp")).alias("dysp"),
        pl.when(pl.col("id") < 5).then(pl.lit("-9")).otherwise(pl.col("either")).alias("either"),
    )
    holes.write_csv(rows)
    code, _, told = run("predict", "asia", rows, "--target", "dysp", "--unseen", "error")
    assert code == 2
    assert re.search("--missing-value[ =]-9", told)
    _, printed, told = run("predict", "asia", rows, "--target", "dysp", "--missing-value", "-9", "--json")
    found = json.loads(printed)
    assert (found["metrics"]["rows"], found["metrics"]["unknown"]) == (180, 20)
    known = holes.with_columns(pl.col("dysp", "either").replace("-9", None))
    assert found["predictions"] == md.network("asia").predict(known, "dysp").tolist()


def test_missing_values_of_single_columns_are_not_taken_for_evidence(run, tmp_path):
    rows = md.network("asia").sample(60, seed=1).to_polars().cast(pl.String).with_columns(pl.lit(-9.0).alias("code"))
    holes = rows.with_columns(pl.when(pl.col("bronc") == "yes").then(pl.lit("-9")).otherwise("bronc").alias("bronc"))
    path = tmp_path / "rows.parquet"
    holes.write_parquet(path)
    given = ("--missing-value", "bronc=-9.0")
    _, printed, _ = run("predict", "asia", path, "--target", "dysp", *given, "--json")
    known = rows.with_columns(pl.when(pl.col("bronc") == "no").then("bronc").alias("bronc"))
    assert json.loads(printed)["predictions"] == md.network("asia").predict(known, "dysp").tolist()
    code, _, told = run("predict", "asia", path, "--target", "dysp", "--missing-value", "bronk=-9")
    assert code == 2
    assert "no column 'bronk' (did you mean 'bronc'?)" in told


def test_rows_that_cannot_happen_are_left_empty_and_counted(run, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("asia,lung,either\nno,yes,no\nno,no,no\n", encoding="utf-8")
    code, printed, told = run("predict", "asia", path, "--target", "tub", "--proba")
    assert code == 0
    assert printed.splitlines()[1:] == ["no,yes,no,,,", "no,no,no,no,0.0,1.0"]
    assert "1 row cannot happen whatever the level of tub: not predicted" in told
    path.write_text("asia,lung,either,tub\nno,yes,no,no\nno,no,no,no\n", encoding="utf-8")
    _, _, told = run("predict", "asia", path, "--target", "tub")
    assert "not predicted: 1 more" in told


def test_a_target_with_unknown_levels_is_predicted_but_not_judged(run, rows):
    pl.read_csv(rows).with_columns(dysp=pl.lit("perhaps")).write_csv(rows)
    code, printed, told = run("predict", "asia", rows, "--target", "dysp")
    assert code == 0
    assert len(printed.splitlines()) == 201
    assert "cannot be judged" in told
    assert "'perhaps'" in told


def test_numbers_are_cut_as_the_network_has_them(run, tmp_path):
    rng = np.random.default_rng(1)
    age = rng.normal(50, 10, 600)
    table = pl.DataFrame({"age": age, "ill": np.where(age + rng.normal(0, 5, 600) > 55, "yes", "no")})
    table.write_csv(tmp_path / "train.csv")
    data = md.read(tmp_path / "train.csv", discretize={"age": [45, 55]})
    network = md.learn(data, "BDeu(1)").fit()
    network.write(tmp_path / "net.json")
    pl.DataFrame({"age": [20.5, 70.25, None]}).write_csv(tmp_path / "new.csv")
    _, printed, _ = run("predict", tmp_path / "net.json", tmp_path / "new.csv", "--target", "ill")
    assert printed.splitlines()[1:3] == ["20.5,no", "70.25,yes"]
    _, printed, _ = run("predict", tmp_path / "net.json", tmp_path / "train.csv", "--target", "age", "--json")
    assert json.loads(printed)["metrics"]["rows"] == 600


@pytest.mark.filterwarnings("ignore:other programs cannot read")
@pytest.mark.parametrize("suffix", [".bif", ".json"])
def test_hostile_names_and_labels_survive(run, tmp_path, suffix):
    names = ["a,b", 'say "so"', "predicted_a,b", "naïve ☃"]
    data = md.read({name: ["x y", "<b>", "ü", "x y"] * 10 for name in names})
    md.learn(data, "BDeu(1)").fit().write(tmp_path / f"net{suffix}")
    md.write_table(data, tmp_path / "rows.csv")
    code, printed, told = run("predict", tmp_path / f"net{suffix}", tmp_path / "rows.csv", "--target", "a,b")
    assert code == 0, told
    header, *found = csv.reader(printed.splitlines())
    assert header == [*names, "predicted_a,b_"]
    assert all(row[0] == row[4] for row in found)


def test_nonsense_is_refused_before_anything_is_done(run, rows, tmp_path):
    code, _, told = run("predict", "asia", rows, "--target", "dyspn")
    assert code == 2
    assert "dysp" in told
    code, _, told = run("predict", "asia", rows, "--target", "dysp", "--out", tmp_path / "out.xls")
    assert code == 2
    assert ".csv" in told
    code, _, told = run("predict", "asia", tmp_path / "absent.csv", "--target", "dysp")
    assert code == 2
    assert "absent.csv" in told


def test_cross_validation_tells_how_well_a_column_is_predicted(run, rows):
    pl.read_csv(rows).drop("id", "asia", "tub").write_csv(rows)
    given = ["cv", rows, "--score", "BDeu(1)", "--score", "MaxParents(0)+BIC", "--folds", "4"]
    code, printed, _ = run(*given, "--target", "dysp")
    assert code == 0
    assert "with predictions of 'dysp' from all other columns" in printed
    assert "dysp under U+BDeu(alpha=1):" in printed
    _, printed, _ = run(*given, "--target", "dysp", "--json")
    found = json.loads(printed)["results"]
    expected = md.cross_validate(md.read(rows), ["BDeu(1)", "MaxParents(0)+BIC"], folds=4, target="dysp")
    assert [each["target"]["log_loss"] for each in found] == [each.log_loss for each in expected.metrics]
    assert len(found[0]["target"]["by_fold"]) == 4
    _, printed, _ = run(*given, "--json")
    assert "target" not in json.loads(printed)["results"][0]
    code, _, told = run(*given, "--target", "nothing")
    assert code == 2
    assert "nothing" in told
