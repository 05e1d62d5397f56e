"""Filling gaps: the most probable levels, draws, and what the command writes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import naive_networks as naive
from tests.test_gaps_networks import completions, rows_with_gaps, with_holes
from typer.testing import CliRunner

import mapdag as md
from mapdag.cli.app import app, in_flags
from mapdag.errors import NetworkError, ParameterError


@given(naive.networks(), st.integers(0, 99), st.sampled_from(["joint", "marginal", "draw"]))
@settings(max_examples=40, deadline=None)
def test_what_is_known_stays_and_what_is_filled_is_possible(net, seed, how):
    data = with_holes(net.sample(8, seed), 0.4, seed)
    found = md.impute(net, data, how=how, seed=seed)
    assert not found.data.has_gaps
    assert np.array_equal(found.data.codes[data.known], data.codes[data.known])
    for row, whole in zip(rows_with_gaps(net, data), naive.rows_of(found.data), strict=True):
        ways = list(completions(net, row))
        if how != "marginal":  # levels that are probable apart may be impossible together
            assert naive.joint(naive.plain(net)[0], whole) > 0
        if how == "joint":
            assert naive.joint(naive.plain(net)[0], whole) == pytest.approx(max(p for _, p in ways))


@given(naive.networks(), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_probabilities_are_those_of_each_gap(net, seed):
    data = with_holes(net.sample(6, seed), 0.4, seed)
    found = md.impute(net, data)
    _, cards = naive.plain(net)
    for name, distribution in found.probabilities.items():
        expected = []
        for row in rows_with_gaps(net, data):
            if row[name] is None:
                shares = np.zeros(cards[name])
                for filled, p in completions(net, row):
                    shares[filled[name]] += p
                expected.append(shares / shares.sum())
        assert distribution == pytest.approx(np.array(expected), abs=1e-9)
    assert len(found.to_pandas()) == (~data.known).sum()


def test_draws_differ_as_much_as_they_should_and_repeat_with_the_seed():
    net = md.network("asia")
    data = with_holes(net.sample(400, seed=1), 0.3, seed=1)
    one, two = (md.impute(net, data, how="draw", draws=20, seed=seed) for seed in (1, 2))
    again = md.impute(net, data, how="draw", draws=20, seed=1, threads=1)
    assert one.draws == again.draws
    assert one.draws != two.draws
    share = np.mean([each.column("smoke") == 0 for each in one.draws], axis=0)[~data.known[data.index("smoke")]]
    expected = one.probabilities["smoke"][:, 0]
    assert np.abs(share - expected).mean() < 0.1
    assert share.mean() == pytest.approx(expected.mean(), abs=0.05)


def test_it_is_right_more_often_than_the_most_frequent_level():
    net = md.network("alarm")
    full = net.sample(500, seed=1)
    data = with_holes(full, 0.2, seed=2)
    found = md.impute(net, data, how="marginal")
    gone = ~data.known
    right = (found.data.codes == full.codes)[gone].mean()
    mode = np.array([np.argmax(data.observed(name)) for name in data.names])
    assert right > (mode[:, None] == full.codes)[gone].mean() + 0.1


def test_tables_may_lack_columns_and_have_more():
    net = md.network("asia")
    found = md.impute(net, {"smoke": ["yes", None], "age": [20, 30], "lung": [None, "no"]})
    assert found.data.names == ("smoke", "lung")
    assert not found.data.has_gaps


def test_numbers_that_were_cut_are_filled_by_intervals():
    rng = np.random.default_rng(1)
    numbers = rng.normal(size=300)
    table = {"x": numbers.tolist(), "y": np.where(numbers > 0, "a", "b").tolist()}
    table["x"][0] = None
    data = md.read(table, missing="keep", discretize="quantile(2)")
    net = md.fit(md.DAG(["x", "y"], [("x", "y")]), data)
    found = md.impute(net, table)
    assert found.data.row(0)["x"] in data.levels["x"]
    assert found.data.n_rows == 300


@pytest.mark.parametrize("how", ["joint", "draw"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_tables_are_filled_by_values_of_their_own_types_and_scales(make, how):
    rng = np.random.default_rng(1)
    age = rng.normal(50, 15, 300).round().astype(int).tolist()
    columns = {
        "age": age,
        "old": [a > 50 for a in age],
        "dose": (rng.random(300) / 7).tolist(),
        "sex": ["f", "m"] * 150,
    }
    for i, values in enumerate(columns.values()):
        values[i::9] = [None] * len(values[i::9])
    table = make(columns)
    ways = {"age": [40.0, 50.0, 60.0], "dose": 3}
    net = md.structural_em(table, "BDeu(1)", discretize=ways, missing="keep").network
    found = md.impute(net, table, how=how, draws=2 if how == "draw" else 1)
    filled = found.fill(table, draw=len(found.draws) - 1)
    assert list(filled.columns) == list(columns)
    for name, values in columns.items():
        own = [None if pd.isna(value) else value for value in filled[name].to_list()]
        assert None not in own
        assert all(new == old for new, old in zip(own, values, strict=True) if old is not None)
        assert set(own) <= set(values)  # numbers, too, are some that were observed
    assert (md.read(filled, like=net).codes == found.draws[-1].codes).all()
    assert found.fill(table, draw=0).equals(md.impute(net, table, how=how).fill(table))


def test_tables_that_were_not_imputed_are_refused():
    found = md.impute(md.network("asia"), pl.DataFrame({"lung": [None, "no"], "smoke": ["yes", "no"]}))
    with pytest.raises(ParameterError, match="2 rows, got 1"):
        found.fill(pl.DataFrame({"lung": ["no"], "smoke": ["no"]}))
    with pytest.raises(ParameterError, match="frame, got"):
        found.fill({"lung": ["no"]})
    with pytest.raises(ParameterError, match="draw must be below 1"):
        found.fill(pl.DataFrame({"lung": [None, "no"], "smoke": ["yes", "no"]}), draw=1)


def test_pooled_estimates_follow_rubins_rules():
    values, within = [1.0, 1.4, 0.9, 1.3], [0.04, 0.05, 0.04, 0.05]
    found = md.pool_estimates(values, within)
    between = sum((value - 1.15) ** 2 for value in values) / 3
    assert found.estimate == pytest.approx(1.15)
    assert found.standard_error**2 == pytest.approx(0.045 + 1.25 * between)
    assert found.degrees_of_freedom == pytest.approx(3 * (1 + 0.045 / (1.25 * between)) ** 2)
    assert md.pool_estimates(values, within, degrees_of_freedom=20).degrees_of_freedom < 20
    same = md.pool_estimates([2.0, 2.0], [0.01, 0.01])
    assert same.upper == pytest.approx(2 + 1.959964 * 0.1)
    for bad in (([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, 2.0], [1.0, -1.0]), (["a", "b"], [1, 2])):
        with pytest.raises(ParameterError):
            md.pool_estimates(*bad)


def test_rows_that_cannot_happen_are_named():
    net = md.network("asia")
    with pytest.raises(NetworkError, match=r"1 of 1 rows .* impossible"):
        md.impute(net, [{"tub": "yes", "either": "no", "lung": None}])


@pytest.mark.parametrize(
    ("options", "message"),
    [({"how": "best"}, "how must be"), ({"draws": 0}, "draws"), ({"draws": 2}, 'how="draw"'), ({"seed": -1}, "seed")],
)
def test_options_are_checked(options, message):
    with pytest.raises(ParameterError, match=message):
        md.impute(md.network("asia"), [{"lung": None, "smoke": "no"}], **options)


# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    net = md.network("asia")
    md.write_network(net, tmp_path / "net.bif")
    (tmp_path / "t.csv").write_text("id,smoke,lung,either,note\n1,yes,,yes,x\n2,?,no,no,\n")
    return tmp_path


def test_the_command_fills_gaps_and_leaves_all_else_as_it_is(files):
    out = files / "filled.csv"
    result = CliRunner().invoke(app, ["impute", str(files / "net.bif"), str(files / "t.csv"), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_text().splitlines() == ["id,smoke,lung,either,note", "1,yes,yes,yes,x", "2,no,no,no,"]
    assert "2 gaps filled in 2 rows" in result.output


def test_the_command_draws_several_tables(files):
    out = files / "filled.csv"
    arguments = ["impute", str(files / "net.bif"), str(files / "t.csv"), "--how", "draw", "--draws", "3"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert result.exit_code == 0, result.output
    for i in (1, 2, 3):
        assert pl.read_csv(files / f"filled-{i}.csv")["smoke"].null_count() == 0
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code != 0


def test_the_command_learns_with_em(files, tmp_path):
    data = with_holes(md.network("asia").sample(1000, seed=1), 0.2, seed=1)
    md.write_table(data, tmp_path / "gaps.csv")
    arguments = ["learn", str(tmp_path / "gaps.csv")]
    for more in (["--em", "--bootstrap", "2"], ["--missing", "keep", "--em"]):
        result = CliRunner().invoke(app, [*arguments, *more, "--score", "BDeu(1)", "--json"])
        assert result.exit_code == 0, result.output
        assert '"converged": true' in result.output
    result = CliRunner().invoke(app, [*arguments, "--missing", "keep", "--score", "PNAL"])
    assert result.exit_code == 0, result.output
    chosen = CliRunner().invoke(app, [*arguments, "--missing", "keep", "--score", "BIC", "--bootstrap", "2"])
    assert chosen.exit_code == 0, chosen.output
    assert "structural EM:" in chosen.output
    arguments[0] = "bootstrap"
    refused = CliRunner().invoke(app, [*arguments, "--missing", "keep", "--score", "BIC", "-R", "2"])
    assert refused.exit_code != 0
    assert in_flags(refused.exception).endswith("any objective, --em")


@pytest.mark.parametrize("command", [["bootstrap", "-R", "2"], ["cv", "--folds", "2"]])
def test_commands_that_learn_again_and_again_take_gaps_with_em(command, tmp_path):
    data = with_holes(md.network("asia").sample(800, seed=1), 0.2, seed=1)
    md.write_table(data, tmp_path / "gaps.csv")
    name, *options = command
    result = CliRunner().invoke(app, [name, str(tmp_path / "gaps.csv"), *options, "--em", "--score", "BDeu(1)"])
    assert result.exit_code == 0, result.output
