"""Rows that belong together, and survey weights: what they count as, and who knows of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mapdag as md
from mapdag.data.groups import effective, renumbered, rows_of
from mapdag.errors import DataError, MapdagWarning, ParameterError
from mapdag.resamples import resample
from mapdag.search.repeats import find_repeats

RNG = np.random.default_rng(35)
CHILD = md.network("child").sample(200, seed=1)
TIMES = RNG.integers(2, 21, CHILD.n_rows)
WHO = np.repeat(np.arange(CHILD.n_rows), TIMES)
REPEATED = CHILD.take(WHO)
NUMBERS = [float(weight) for weight in RNG.uniform(500, 6000, CHILD.n_rows)]


def frame(data=REPEATED, **columns):
    return data.to_pandas().assign(**columns)


@pytest.fixture(scope="module")
def grouped():
    return md.read(frame(who=WHO), groups="who")


def test_repeated_rows_in_groups_give_the_graph_of_one_row_of_each(grouped):
    one, many = md.learn(CHILD, search="hc"), md.learn(grouped, search="hc")
    assert many.dag == one.dag
    assert many.score == pytest.approx(one.score, abs=1e-6)
    assert grouped.total == pytest.approx(CHILD.n_rows)
    assert "3 rows in 2 groups" not in str(one)
    assert f"{REPEATED.n_rows:,} rows in 200 groups, which count as one observation each" in str(many)


def test_groups_are_the_same_as_a_column_as_an_array_and_by_any_labels(grouped):
    assert md.read(frame(), groups=WHO) == grouped
    assert md.read(frame(who=[f"p{i}" for i in WHO]), groups="who") == grouped
    assert md.read(grouped) == grouped
    assert md.read(REPEATED, groups=WHO) == grouped
    assert "who" not in grouped.names


def test_the_order_of_rows_changes_nothing(grouped):
    order = np.random.default_rng(1).permutation(grouped.n_rows)
    other = md.read(frame(who=WHO).iloc[order], groups="who", levels=grouped.levels)
    assert md.learn(other, search="hc").score == md.learn(grouped, search="hc").score


def test_groups_of_one_row_each_change_nothing():
    assert md.read(CHILD, groups=np.arange(CHILD.n_rows)).weights is None


def test_rows_are_left_out_before_groups_are_counted():
    table = {"a": ["x", None, "y", "y"], "b": ["u", "v", "u", "v"], "who": [1, 1, 2, 2]}
    found = md.read(table, groups="who", missing="drop")
    assert found.weights.tolist() == [1.0, 0.5, 0.5]
    assert found.n_groups == 2


def test_rows_without_a_group_are_groups_of_their_own_and_a_warning_says_so():
    table = {"a": ["x", "y", "x", "y"], "who": ["p", "p", None, None]}
    with pytest.warns(MapdagWarning, match="no value in 2 rows: each of these counts as a group of its own"):
        assert md.read(table, groups="who").total == 3


def test_counts_in_groups_are_shared_by_the_rows_of_each():
    table = {"a": ["x", "y", "x"], "n": [3, 1, 7], "who": [1, 1, 2]}
    assert md.read(table, weights="n", groups="who", drop=[]).weights.tolist() == [0.75, 0.25, 1.0]


def test_resamples_draw_whole_groups(grouped):
    drawn = resample(grouped, np.random.SeedSequence(1))
    assert drawn.total == pytest.approx(CHILD.n_rows)
    counts = np.bincount(drawn.groups, minlength=CHILD.n_rows)
    assert set(counts - TIMES) <= {0, *-TIMES}
    assert 0.5 < (counts > 0).mean() < 0.75


def test_folds_keep_groups_whole(grouped):
    found = md.cross_validate(grouped, "BIC", folds=4, search="hc")
    assert found.rows == pytest.approx([50] * 4)
    with pytest.raises(ParameterError, match=r"must not exceed the number of groups \(2\), got 3"):
        md.cross_validate({"a": ["x", "y"] * 3, "b": ["u", "v"] * 3, "who": [1, 2] * 3}, "BIC", groups="who", folds=3)


def test_survey_weights_add_up_to_kishs_effective_sample_size():
    data = md.read(frame(CHILD, w=NUMBERS), weights="w", weighting="survey")
    kish = sum(NUMBERS) ** 2 / sum(w * w for w in NUMBERS)
    assert data.total == pytest.approx(kish)
    assert "Kish's effective sample size" in str(md.learn(data, search="hc"))
    again = md.read(data, weighting="survey")
    assert again.total == pytest.approx(kish)


def test_survey_weights_that_are_equal_count_each_row_once():
    assert md.read(frame(CHILD, w=3000), weights="w", weighting="survey") == md.read(frame(CHILD))


@pytest.mark.parametrize("numbers", [NUMBERS, [float(round(each)) for each in NUMBERS], [w / 1000 for w in NUMBERS]])
def test_weights_that_are_hardly_counts_are_refused_with_both_ways_out(numbers):
    table = frame(CHILD, w=numbers)
    with pytest.raises(DataError, match=r'weighting="survey".*weighting="counts"'):
        md.read(table, weights="w")
    assert md.read(table, weights="w", weighting="counts").total == pytest.approx(sum(numbers))
    assert md.check(table, weights="w").options == {"weights": "w", "weighting": "survey"}


def test_counts_of_aggregated_tables_are_taken_as_counts():
    full = md.network("asia").sample(5000, seed=1)
    rows = full.aggregated()
    assert md.read(rows.to_pandas(weights="n"), weights="n").total == 5000
    dropped = md.read(rows.to_pandas(weights="n"), weights="n", drop=["dysp"])
    assert dropped.total == 5000
    assert md.read(rows.to_pandas(weights="any name"), weights="any name").total == 5000


def test_what_is_wrong_with_groups_and_kinds_of_weights_is_said():
    table = {"a": ["x", "y"], "b": ["u", "v"]}
    with pytest.raises(ParameterError, match=r'weighting must be "counts", "survey" or "distinct", got \'kish\''):
        md.read(table, weights=[1, 2], weighting="kish")
    with pytest.raises(ParameterError, match="says what weights= are, which must be given, too"):
        md.read(table, weighting="survey")
    with pytest.raises(DataError, match="groups must be one value per row"):
        md.read(table, groups=[1])
    with pytest.raises(DataError, match=r"groups: no column is called 'who'|groups.*who"):
        md.read(table, groups="who")


def test_sums_over_groups_are_those_of_loops():
    groups = RNG.integers(0, 9, 40)
    weights = RNG.uniform(1, 9, 40)
    means = {g: weights[groups == g].mean() for g in set(groups.tolist())}
    kish = sum(means.values()) ** 2 / sum(mean**2 for mean in means.values())
    found = effective(weights, renumbered(groups), "survey")
    assert found.sum() == pytest.approx(kish)
    assert found[0] / found[1] == pytest.approx(
        weights[0] / (groups == groups[0]).sum() / (weights[1] / (groups == groups[1]).sum())
    )


def test_scikit_learns_estimator_takes_groups_and_weights():
    sklearn = pytest.importorskip("mapdag.sklearn")
    learner = sklearn.StructureLearner(search="hc").fit(frame(), groups=WHO)
    assert learner.dag_ == md.learn(CHILD, search="hc").dag
    weighed = sklearn.StructureLearner(search="hc", weighting="survey").fit(frame(CHILD), sample_weight=NUMBERS)
    assert weighed.result_.data.is_scaled


# What check proposes -------------------------------------------------------------------------------------------------


def options(**columns):
    return md.check(frame(**columns)).options


def test_check_proposes_groups_for_identifiers_that_repeat_by_name_or_by_what_follows_from_them():
    assert options(patient_id=WHO) == {"groups": "patient_id"}
    keys = RNG.permutation(100_000)[WHO] / 7
    assert options(measured=keys) == {"groups": "measured"}
    assert options(patient=WHO, name=[f"N{i}" for i in WHO]) == {"groups": "patient", "drop": ["name"]}
    found = md.check(frame(patient=WHO))
    assert "use as groups: an identifier that repeats: 200 groups of" in str(found)
    assert md.read(frame(patient=WHO), **found.options).n_groups == 200


def test_check_proposes_the_unit_of_a_panel_as_groups():
    n, years = 40, np.arange(2001, 2011)
    unit, year = np.repeat([f"country {i}" for i in range(n)], len(years)), np.tile(years, n)
    columns = {name: RNG.choice(["u", "v", "w"], len(unit)) for name in "abc"}
    found = md.check({"state": unit, "year": year, **columns}).options
    assert found["groups"] == "state"


def test_check_knows_the_columns_of_a_sampling_plan():
    n = CHILD.n_rows
    plan = {"pspwght": RNG.uniform(0.2, 4, n), "psu": RNG.integers(1, 3, n), "stratum": RNG.integers(1, 12, n)}
    found = md.check(frame(CHILD, **plan)).options
    assert found == {"weights": "pspwght", "weighting": "survey", "drop": ["psu", "stratum"]}
    weight = RNG.normal(70, 10, n).round(1)
    assert "weights" not in md.check(frame(CHILD, weight=weight, height=weight * 2 + RNG.normal(0, 9, n))).options


def test_columns_of_independent_rows_are_no_groups():
    n = 400
    rows = {"zone": RNG.integers(0, 60, n), "age": RNG.integers(18, 90, n), "sex": RNG.choice(["f", "m"], n)}
    rows |= {name: RNG.choice(["u", "v", "w"], n) for name in "abcd"}
    assert "groups" not in md.check(rows).options


def test_options_that_were_given_become_part_of_the_line():
    found = md.check(frame(CHILD, w=NUMBERS, who=np.arange(CHILD.n_rows) // 2), weights="w", groups="who")
    assert found.code == 'md.learn(df, weights="w", weighting="survey", groups="who")'


def distinct(data):
    """Return the rows that come first among those that are alike."""
    return data.take(np.sort(np.unique(data.codes, axis=1, return_index=True)[1]))


def test_what_parts_of_groups_count_as_is_said(grouped):
    part = grouped.take(np.arange(0, grouped.n_rows, 10))
    assert f"{part.n_groups} groups, which count as {part.total:,.1f} observations" in rows_of(part)
    assert "one observation each" in rows_of(grouped)


# Rows that repeat, without groups -----------------------------------------------------------------------------------


def test_result_and_report_say_that_rows_repeat(tmp_path):
    with pytest.warns(MapdagWarning, match='rows repeat each other: .* Pass groups="COLUMN" .* weighting="distinct"'):
        found = md.learn(REPEATED, search="hc")
    assert found.score == md.score(found.dag, REPEATED)
    assert found.repeats.rows == REPEATED.n_rows
    assert str(found).startswith("rows repeat each other")
    found.report(tmp_path / "page.html")
    assert "rows repeat each other" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_rows_that_repeat_count_once_if_asked():
    found = md.learn(md.read(REPEATED, weighting="distinct"), search="hc")
    one = md.learn(distinct(REPEATED), search="hc")
    assert (found.dag, found.score, found.repeats) == (one.dag, one.score, None)
    with pytest.raises(ParameterError, match='weighting="distinct" is for rows without weights= and groups='):
        md.read(REPEATED, weighting="distinct", groups=WHO)


def test_distinct_rows_with_missing_values_and_of_few_columns_count_once():
    table = {"a": ["x", "x", None, None, "y"], "b": ["u", "u", "v", "v", None]}
    assert md.read(table, weighting="distinct", missing="keep").n_rows == 3


def test_repeated_noise_gets_no_arcs():
    noise = md.data.Dataset.from_codes(RNG.integers(0, 3, (100, 20)))
    repeated = md.read(noise.take(np.repeat(np.arange(100), TIMES[:100])), weighting="distinct")
    assert md.learn(repeated).dag.n_arcs == 0


def test_whoever_says_that_each_row_counts_is_believed():
    found = md.learn(md.read(REPEATED, weighting="counts"), search="hc")
    assert found.repeats is None
    assert found.data.n_rows == REPEATED.n_rows


def test_rows_that_are_alike_in_some_columns_count_as_one_observation():
    rng = np.random.default_rng(4)
    repeated = CHILD.take(np.repeat(np.arange(CHILD.n_rows), rng.integers(2, 21, CHILD.n_rows)))
    other = rng.integers(0, 4, (repeated.n_rows, 3))
    columns = {**{name: repeated.column(name) for name in CHILD.names}, **dict(zip("abc", other.T, strict=True))}
    table = {name: values.astype(str) for name, values in columns.items()}
    with pytest.warns(MapdagWarning, match="to count those that are alike in "):
        found = md.learn(table, search="hc")
    assert set(found.repeats.columns) <= set(CHILD.names)
    once = md.read(table, weighting="distinct")
    assert CHILD.n_rows / 2 < once.total <= CHILD.n_rows
    assert once.n_rows == repeated.n_rows


def test_rows_of_different_experiments_are_not_copies_of_each_other():
    rows, one = np.tile(np.arange(CHILD.n_rows), 2), CHILD.names[1]
    was_set = [None] * CHILD.n_rows + [one] * CHILD.n_rows
    once = md.read(CHILD.take(rows), interventions=was_set)
    assert find_repeats(once) is None
    twice = once.take(np.tile(np.arange(once.n_rows), 2))
    found = md.read(twice, weighting="distinct")
    assert found.n_rows == once.aggregated().n_rows
    assert found.interventions.counts().tolist() == once.aggregated().interventions.counts().tolist()


@pytest.mark.parametrize("name", ["asia", "alarm", "win95pts", "sachs"])
def test_independent_rows_are_not_taken_for_repeated_ones(name):
    for size in (100, 1000):
        assert find_repeats(md.network(name).sample(size, seed=3)) is None


def test_what_is_said_of_repeats_depends_on_no_order_of_rows_or_columns():
    order, names = RNG.permutation(REPEATED.n_rows), list(RNG.permutation(REPEATED.names))
    found = find_repeats(REPEATED.take(order).select(names))
    assert replace(found, columns=()) == replace(find_repeats(REPEATED), columns=())
    assert set(found.columns) == set(REPEATED.names)


def test_resamples_and_folds_tell_repeated_rows():
    with pytest.warns(MapdagWarning, match="rows repeat each other"):
        md.bootstrap(REPEATED, R=5, search="hc")
    with pytest.warns(MapdagWarning, match="rows repeat each other"):
        md.cross_validate(REPEATED, "BIC", folds=3, search="hc")


def test_structural_em_counts_groups_and_says_so():
    rows = REPEATED.to_pandas().mask(RNG.random((REPEATED.n_rows, REPEATED.n_columns)) < 0.02)
    found = md.structural_em(rows, groups=WHO, search="hc", impute="hard")
    assert "in 200 groups, which count as one observation each" in str(found)
    assert found.data.total == pytest.approx(CHILD.n_rows)


def test_identifiers_of_many_rows_each_are_groups_too():
    who = np.repeat(np.arange(40), 30)
    items = {name: RNG.choice(["u", "v", "w"], len(who)) for name in "abc"}
    assert md.check({"id": who, **items}).options == {"groups": "id"}
