"""Options of `read` wherever a table is taken, and cuts within the folds of cross-validation."""

import json

import numpy as np
import pandas as pd
import pytest

import mapdag as md
from mapdag.data import ReadingOptions
from mapdag.data.preparation import prepare
from mapdag.errors import ParameterError
from mapdag.notices import unsaid

ROWS = {
    "sex": ["f", "m", "f", "m", None, "f"],
    "ill": ["no", "yes", "no", "yes", "no", "no"],
    "n": [30, 20, 9, 11, 5, 8],
}
SAME = md.read(ROWS, missing="drop", weights="n")
OPTIONS = {"missing": "drop", "weights": "n"}
DAG = md.DAG(["sex", "ill"], [("sex", "ill")])


@pytest.mark.parametrize(
    "call",
    [
        lambda data, **options: md.learn(data, "BDeu(1)", **options).score,
        lambda data, **options: md.hill_climb(data, "BDeu(1)", restarts=2, **options).score,
        lambda data, **options: md.tabu(data, "BDeu(1)", **options).score,
        lambda data, **options: md.best_dags(data, "BDeu(1)", k=2, **options)[1].score,
        lambda data, **options: md.arc_posteriors(data, "BDeu(1)", **options)["sex", "ill"],
        lambda data, **options: md.bootstrap(data, "BDeu(1)", R=5, **options).arcs(),
        lambda data, **options: md.cross_validate(data, ["BDeu(1)"], folds=3, **options).per_row[0],
        lambda data, **options: md.score(DAG, data, "BDeu(1)", **options),
        lambda data, **options: md.fit(DAG, data, **options),
        lambda data, **options: str(md.diagnose(DAG, data, "BDeu(1)", **options)),
        lambda data, **options: md.alpha_star(DAG, data, **options),
        lambda data, **options: md.theory.log_bayes_factor(DAG, data, "sex", "ill", "BDeu(1)", **options),
    ],
)
def test_whatever_takes_a_table_takes_the_options_of_read(call):
    assert call(ROWS, **OPTIONS) == call(SAME)
    assert call(pd.DataFrame(ROWS), **OPTIONS) == call(SAME)
    with pytest.raises(ParameterError, match="missing=, weights= cannot be given for a Dataset"):
        call(SAME, **OPTIONS)
    with pytest.raises(ParameterError, match='did you mean missing="drop"'):
        call(ROWS, mising="drop", weights="n")


def test_the_options_of_read_are_those_that_others_pass_on():
    import inspect

    parameters = [name for name in inspect.signature(md.read).parameters if name != "source"]
    assert sorted(parameters) == sorted(ReadingOptions.__annotations__)


def test_fit_reads_no_column_but_its_nodes_and_the_weights():
    table = {**ROWS, "junk": [[1], [2], [3], [4], [5], [6]]}
    assert md.fit(DAG, table, **OPTIONS) == md.fit(DAG, SAME)


# Cuts within folds ----------------------------------------------------------------------------------------------------


def numbers(rows=200, seed=1):
    rng = np.random.default_rng(seed)
    dose = rng.normal(size=rows)
    return {
        "dose": np.round(dose, 6).tolist(),
        "ill": np.where(dose + rng.normal(size=rows) > 0, "yes", "no").tolist(),
        "rare": ["one"] + ["usual"] * (rows - 1),
    }


def test_each_fold_is_cut_where_its_training_rows_say():
    """Written out: the same folds, each cut by `discretize` on the rows that are not held out."""
    table = numbers()
    found = md.cross_validate(table, ["BDeu(1)"], folds=4, seed=3, discretize="quantile(4)")
    frame = pd.DataFrame(table)
    fold = np.random.default_rng(3).permutation(np.arange(200) % 4)
    levels = {"ill": ["no", "yes"], "rare": ["one", "usual"]}
    for held_out in range(4):
        train, test = frame[fold != held_out], frame[fold == held_out]
        cuts = md.discretize(train, "quantile", bins=4, columns=["dose"])
        inside = test.assign(dose=test["dose"].clip(train["dose"].min(), train["dose"].max()))
        learned = md.learn(md.read(train, levels=levels, discretize=cuts), "BDeu(1)")
        expected = learned.fit().log_likelihood(md.read(inside, levels=levels, discretize=cuts))
        assert found.log_likelihood[0, held_out] == pytest.approx(expected, abs=1e-9)


def test_a_held_out_row_does_not_move_the_cuts():
    table = numbers()
    prepared = prepare(table, discretize="quantile")
    counting = np.ones(200)
    counting[np.argmax(table["dose"])] = 0
    with unsaid():
        found = prepared.dataset(counting).cuts
    others = pd.DataFrame(table)[counting > 0]
    assert found == md.discretize(others) != prepared.dataset().cuts


def test_whole_weights_are_dealt_among_folds_that_are_cut_apart():
    table = numbers(60) | {"n": [3] * 60}
    found = md.cross_validate(table, ["BDeu(1)"], folds=5, weights="n", discretize="quantile(2)")
    assert found.rows.tolist() == [36] * 5
    fractional = table | {"n": [1.5] * 60}
    assert md.cross_validate(fractional, ["BDeu(1)"], folds=5, weights="n", discretize="interval").rows.sum() == 90


def test_the_command_cuts_within_folds_too(run, tmp_path):
    table = pd.DataFrame(numbers())
    table.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = run(
        "cv", tmp_path / "t.csv", "--folds", 4, "--discretize", "quantile(4)", "--score", "BDeu(1)", "--json"
    )
    assert code == 0, err
    found = md.cross_validate(tmp_path / "t.csv", ["BDeu(1)"], folds=4, discretize="quantile(4)")
    assert json.loads(out)["results"][0]["log_likelihood_per_row"] == found.per_row[0]


def test_bootstrap_takes_the_cuts_of_the_whole_table():
    table = numbers()
    found = md.bootstrap(table, "BDeu(1)", R=5, discretize="quantile")
    assert found.arcs() == md.bootstrap(md.read(table, discretize="quantile"), "BDeu(1)", R=5).arcs()
