"""Structural EM: graphs from rows with gaps under any objective."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from tests.strategies import data_with_gaps, with_gaps
from tests.test_gaps_networks import with_holes

import mapdag as md
from mapdag.errors import DataError, MapdagWarning, ParameterError
from mapdag.families import FamilyScores
from mapdag.networks.posteriors import work_beyond_lists
from mapdag.search.em import search, steps
from mapdag.search.em.completed import expected_rows
from naive_exact import all_dags


@pytest.fixture(scope="module")
def asia():
    net = md.network("asia")
    return net, net.sample(1000, seed=1), with_holes(net.sample(1000, seed=1), 0.2, seed=2)


def never_falls(found):
    return all(step.after >= step.before - 1e-9 * abs(step.before) for step in found.steps)


@pytest.mark.parametrize("objective", ["MU(c=1)+BDs(1)", "BDeu(10)", "BIC", "K2", "U+eBIC"])
def test_expected_scores_never_fall_under_any_objective(asia, objective):
    found = md.structural_em(asia[2], objective)
    assert found.converged
    assert found.steps
    assert never_falls(found)
    assert found.score == pytest.approx(md.score(found.dag, found.data, objective), rel=1e-9)
    assert found.data.total == pytest.approx(1000)
    assert found.incomplete == asia[2]
    assert found.network.dag == found.dag


def test_it_finds_more_than_the_complete_rows_alone_and_less_than_all_of_them(asia):
    net, full, data = asia
    test = net.sample(5000, seed=9)
    whole, em = md.learn(full, "BDeu(1)").fit(), md.structural_em(data, "BDeu(1)").network
    rest = md.learn(data.complete_rows(), "BDeu(1)").fit()
    assert whole.log_likelihood(test) > em.log_likelihood(test) > rest.log_likelihood(test)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_hard_imputation_learns_from_whole_rows(asia, share):
    data = with_holes(asia[1], share, seed=3)
    found = md.structural_em(data, "qNML", impute="hard")
    assert not found.data.has_gaps
    assert np.array_equal(found.data.codes[data.known], data.codes[data.known])
    if not share:
        assert found.score == md.learn(asia[1], "qNML").score


@pytest.mark.parametrize("impute", ["soft", "hard"])
@pytest.mark.parametrize("options", [{}, {"search": "hc"}, {"objective": "BDeu(alpha='auto')"}, {"max_parents": 1}])
def test_without_gaps_it_is_the_search_to_the_last_bit(asia, impute, options):
    found, plain = md.structural_em(asia[1], impute=impute, starts=3, **options), md.learn(asia[1], **options)
    assert (found.dag, found.score, found.log_prior) == (plain.dag, plain.score, plain.log_prior)
    assert found.trace == plain.trace
    assert found.network == plain.fit()
    assert found.observed_score == pytest.approx(found.score + (plain.learned.log_hyperprior if plain.learned else 0))


@given(data_with_gaps(min_columns=2, max_columns=4, max_rows=15))
@settings(max_examples=10, deadline=None)
def test_small_and_hostile_tables_without_gaps_are_learned_as_ever(drawn):
    data = with_gaps(*drawn)
    full = md.Dataset(data.names, data.levels, np.where(data.known, data.codes, 0).astype(data.codes.dtype))
    found, plain = md.structural_em(full, "BDeu(1)"), md.learn(full, "BDeu(1)")
    assert (found.dag, found.score) == (plain.dag, plain.score)


@pytest.mark.parametrize("search", ["orders", "hc"])
@pytest.mark.parametrize("impute", ["soft", "hard"])
@given(data_with_gaps(min_columns=2, max_columns=5, max_rows=30))
@settings(max_examples=10, deadline=None)
def test_the_score_for_what_is_known_never_falls(impute, search, drawn):
    data = with_gaps(*drawn)
    found = md.structural_em(data, impute=impute, search=search)
    known = [*(step.score for step in found.steps), found.observed_score]
    assert known == sorted(known)
    assert found.steps[-1].score == found.observed_score or found.stopped != "converged"


def test_rows_of_one_weight_are_counted_as_weighted_rows_are(asia):
    _, full, _ = asia
    same = md.Dataset(full.names, dict(full.levels), full.codes, np.full(1000, 0.25))
    mixed = md.Dataset(
        full.names,
        dict(full.levels),
        np.concatenate([full.codes, full.codes[:, :1]], axis=1),
        np.concatenate([[0.125], np.full(999, 0.25), [0.125]]),
    )
    for parents in ([], [1], [2, 4], [1, 2, 4, 5]):
        one, two = (FamilyScores(each, [md.BDs(1), md.BIC()]).family(3, parents) for each in (same, mixed))
        assert one == pytest.approx(two, rel=1e-13)


@given(data_with_gaps(min_columns=2, max_columns=4, max_rows=15))
@settings(max_examples=20, deadline=None)
def test_small_and_hostile_tables_are_learned_from(drawn):
    data = with_gaps(*drawn)
    for how in ("soft", "hard"):
        found = md.structural_em(data, "BDeu(1)", impute=how)
        assert math.isfinite(found.score)
        assert never_falls(found)


def test_constraints_hold_and_the_same_seed_gives_the_same(asia):
    rules = {"required": [("asia", "xray")], "forbidden": [("smoke", "lung")], "max_parents": 2}
    one, two = (md.structural_em(asia[2], "BDeu(1)", threads=threads, starts=2, **rules) for threads in (1, 2))
    assert one.dag.has_arc("asia", "xray")
    assert not one.dag.has_arc("smoke", "lung")
    assert one.dag == two.dag
    assert one.score == two.score


def test_several_starts_are_never_worse(asia):
    one, some, three = (md.structural_em(asia[2], "BIC", starts=starts) for starts in (1, None, 3))
    assert three.observed_score >= some.observed_score >= one.observed_score
    empty = md.structural_em(asia[2], "BIC", start=md.DAG(asia[2].names))
    assert some.observed_score == max(one.observed_score, empty.observed_score)


def test_time_limits_end_it_with_the_best_so_far():
    net = md.network("alarm")
    data = with_holes(net.sample(500, seed=1), 0.2, seed=1)
    began = time.perf_counter()
    found = md.structural_em(data, time_limit=0.05)
    assert time.perf_counter() - began < 20
    assert found.stopped == "time_limit"
    assert found.network.dag == found.dag


def test_ctrl_c_ends_it_with_the_best_so_far(asia):
    calls = []

    def stop(progress):
        calls.append(progress)
        raise KeyboardInterrupt

    found = md.structural_em(asia[2], "BDeu(1)", progress=stop)
    assert calls
    assert found.stopped == "interrupted"


@pytest.mark.parametrize("where", ["_fitted", "_completed", "_learn", "_first"])
def test_ctrl_c_anywhere_keeps_what_an_earlier_step_or_start_has_found(asia, monkeypatch, where):
    calls, method = [], getattr(steps.Run, where)

    def press(self, *arguments):
        calls.append(where)
        if len(calls) == 2 + (where == "_learn"):  # which finds the first graph, too
            raise KeyboardInterrupt
        return method(self, *arguments)

    monkeypatch.setattr(steps.Run, where, press)
    found = md.structural_em(asia[2], "BDeu(1)")
    assert found.stopped == "interrupted"
    assert found.network.dag == found.dag


def test_one_step_returns_what_it_has_learned(asia):
    found = md.structural_em(asia[2], "BDeu(1)", max_steps=1, start=md.DAG(asia[2].names))
    assert [step.impute for step in found.steps] == ["hard", "hard", "soft"]
    assert found.dag.n_arcs > 0
    found = md.structural_em(asia[2], "BDeu(1)", max_steps=1, search="hc", start=md.DAG(asia[2].names))
    assert len(found.steps) == 1
    assert found.dag.n_arcs == found.steps[0].n_arcs > 0
    assert found.stopped == "max_iter"
    assert found.score == pytest.approx(md.score(found.dag, found.data, "BDeu(1)"))


def test_the_engine_that_is_the_default_may_be_named(asia):
    assert md.structural_em(asia[2], "BIC", engine="cores").dag == md.structural_em(asia[2], "BIC").dag


def test_threads_are_checked(asia):
    dag = md.DAG(asia[2].names)
    for function in (
        lambda n: md.fit_em(dag, asia[2], threads=n),
        lambda n: md.impute(md.network("asia"), asia[2], threads=n),
    ):
        for threads in (0, -1, "x"):
            with pytest.raises(ParameterError, match="threads must be"):
                function(threads)


def test_resampling_without_em_says_how_to_learn_by_it(asia):
    for function in (md.bootstrap, md.cross_validate):
        with pytest.raises(DataError, match=r"BIC needs complete rows.*em=True"):
            function(asia[2], "BIC")


def test_reports_and_fits_are_about_the_completed_rows(asia, tmp_path):
    found = md.structural_em(asia[2], "BDeu(1)")
    found.report(tmp_path / "page.html")
    assert "rows have gaps" in (tmp_path / "page.html").read_text()
    assert found.fit().dag == found.dag
    assert "structural EM" in str(found)


def test_adjusted_effects_are_of_what_is_known_whatever_the_graph_fills_in(asia):
    found = md.structural_em(asia[2], "BDeu(1)")
    known = md.adjusted_effect(asia[2], "smoke", "bronc", "lung")
    assert found.adjusted("smoke", "bronc", "lung").mean.tolist() == known.mean.tolist()
    assert known.rows < found.data.total


def test_effects_of_columns_that_are_never_known_together_are_no_crash():
    apart = {"a": ["x", "y", None, None] * 20, "b": [None, None, "u", "v"] * 20, "c": ["p", "q", "q", "p", "p"] * 16}
    data = md.read(apart, missing="keep")
    with pytest.raises(DataError, match="no row has values in all of 'a', 'b'"):
        md.adjusted_effect(data, "a", "b")
    with pytest.warns(md.errors.MapdagWarning, match="no directed path"):
        md.structural_em(data, "BDeu(1)").effect("a", "b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"impute": "some"}, "impute must be"),
        ({"draws": 3}, "power of two"),
        ({"starts": 0}, "starts"),
        ({"max_steps": 0}, "max_steps"),
        ({"search": "none"}, "search must be"),
        ({"engine": "blocks"}, 'engine must be "cores" in structural EM'),
    ],
)
def test_options_are_checked(asia, options, message):
    with pytest.raises(ParameterError, match=message):
        md.structural_em(asia[2], **options)


def test_scores_of_whole_rows_say_that_soft_counts_are_none(asia):
    with pytest.raises(DataError, match=r"whole counts.*impute='hard'"):
        md.structural_em(asia[2], "fNML")
    assert md.structural_em(asia[2], "fNML", impute="hard").converged


# Downstream -----------------------------------------------------------------------------------------------------------


def test_cross_validation_judges_held_out_rows_by_what_is_known(asia):
    data = asia[2].take(range(300))
    found = md.cross_validate(data, ["MU(c=1)+PNAL", "U+PNAL(k=1)"], folds=3)
    rest = md.cross_validate(data, ["BDeu(1)"], folds=3, em=True)
    assert np.isfinite(found.log_likelihood).all()
    assert np.isfinite(rest.log_likelihood).all()
    assert rest.per_row[0] > found.per_row[1]  # nothing is learned under so large a penalty


def test_bootstrap_takes_gaps_with_and_without_em(asia):
    data = asia[2].take(range(300))
    for found in (md.bootstrap(data, "PNAL", R=4), md.bootstrap(data, "BDeu(1)", R=2, em=True)):
        assert found.strength.max() == 1.0
    with pytest.raises(DataError, match="needs complete rows"):
        md.bootstrap(data, "BDeu(1)", R=2)


def test_pnal_results_report_fit_and_tell_thin_families(asia, tmp_path):
    found = md.learn(asia[2], "PNAL")
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "rows have gaps" in page
    assert "estimated by EM" in page
    assert found.fit() == md.fit(found.dag, asia[2])


@pytest.mark.parametrize("search", ["hc", "exact", "certified"])
@pytest.mark.parametrize("impute", ["soft", "hard"])
def test_gaps_in_a_column_of_one_level_are_no_trouble(search, impute):
    codes = [[0, 0, 0], [1, -1, 0], [1, 1, -1], [-1, 1, -1], [0, 0, 0], [0, -1, -1]] * 5
    data = md.Dataset.from_codes(codes, names=list("ABC"), levels=[2, 2, 1], gap=-1)
    found = md.structural_em(data, "BDeu(1)", search=search, impute=impute)
    assert found.dag == found.network.dag
    assert math.isfinite(found.observed_score)


@pytest.mark.parametrize("search", ["exact", "certified", "hc"])
def test_every_search_counts_what_rows_are_expected_to_hold(search):
    pytest.importorskip("highspy")
    for seed in range(6):
        rng = np.random.default_rng([31, seed])
        cards = rng.integers(1, 4, 3)
        codes = rng.integers(0, cards, (15, 3))
        codes[rng.random(codes.shape) < 0.3] = -1
        data = md.Dataset.from_codes(codes, names=list("ABC"), levels=cards.tolist(), gap=-1)
        found = md.structural_em(data, "Support(2)+BDs(1)", search=search)
        rows = expected_rows(found.network, data, 64, 0, 1, least=0.5)
        assert md.score(found.dag, rows, found.objective) == pytest.approx(found.score)
        best = max(md.score(dag, rows, found.objective) for dag in all_dags(list("ABC")))
        for other in ("exact", "certified"):
            again = md.learn(rows, found.objective, search=other)
            assert again.score == pytest.approx(best)
            assert again.certificate is None or again.certificate.proved
        assert md.certify(found).certificate.bound == pytest.approx(
            max(md.score(dag, found.data, found.objective) for dag in all_dags(list("ABC")))
        )


def test_configurations_of_light_rows_are_observed():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (40, 2))
    codes[:, 1] = np.where(rng.random(40) < 0.9, codes[:, 0], codes[:, 1])
    codes[0, 1] = -1
    for weight in (1.0, 0.1, 0.01):
        data = md.Dataset.from_codes(codes, names=["A", "B"], levels=[3, 3], weights=np.full(40, weight), gap=-1)
        soft, hard = (md.structural_em(data, "BDs(1)", impute=impute) for impute in ("soft", "hard"))
        assert soft.log_likelihood == pytest.approx(hard.log_likelihood, rel=0.05)
        assert soft.observed_score < 0


@pytest.mark.parametrize("search", ["orders", "hc"])
@pytest.mark.parametrize("impute", ["soft", "hard"])
def test_the_result_is_the_best_graph_on_the_way_by_what_is_known(impute, search):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        codes = md.network("asia").sample(80, seed=seed).codes.T.astype(int)
        codes[rng.random(codes.shape) < 0.35] = -1
        data = md.Dataset.from_codes(codes, names=md.network("asia").nodes, levels=[2] * 8, gap=-1)
        found = md.structural_em(data, "BDeu(1)", impute=impute, starts=1, search=search)
        scores = [step.score for step in found.steps]
        assert found.stopped == "converged"
        assert found.observed_score == max(scores) == scores[-1]
        short = md.structural_em(data, "BDeu(1)", impute=impute, starts=1, max_steps=1, search=search)
        assert short.observed_score >= short.steps[0].score


@pytest.mark.parametrize("impute", ["soft", "hard"])
def test_with_many_rows_it_starts_from_a_sample_of_them(asia, monkeypatch, impute):
    monkeypatch.setattr(steps, "_MANY", 900)
    monkeypatch.setattr(steps, "_SAMPLE", 500)
    one, two = (md.structural_em(asia[2], impute=impute, threads=threads) for threads in (1, 2))
    assert one.data.n_rows == 1000
    assert (one.dag, one.observed_score) == (two.dag, two.observed_score)
    mixed = asia[2].take(np.random.default_rng(0).permutation(1000))
    assert md.structural_em(mixed, impute=impute).dag == one.dag


@pytest.mark.parametrize("impute", ["soft", "hard"])
def test_certificates_are_about_the_graph_that_is_returned(impute):
    pytest.importorskip("highspy")
    unproved = 0
    for seed in range(14):
        rng = np.random.default_rng([31, seed])
        codes = rng.integers(0, (cards := rng.integers(2, 4, 4)), (40, 4))
        for column in range(1, 4):
            copied = rng.random(40) < 0.6
            codes[copied, column] = codes[copied, column - 1] % cards[column]
        codes[rng.random(codes.shape) < 0.6 * rng.random(4)] = -1
        data = md.Dataset.from_codes(codes, names=list("ABCD"), levels=cards.tolist(), gap=-1)
        limits = {"tiers": [["A", "B"], ["C", "D"]] if seed % 2 else []}
        steps = 1 if seed % 3 else 20
        found = md.structural_em(data, "BDeu(1)", search="certified", impute=impute, max_steps=steps, **limits)
        best = md.learn(found.data, "BDeu(1)", search="exact", **limits).score
        told = found.certificate
        assert told is None or told.score == pytest.approx(found.score, rel=1e-9)
        assert told is None or told.bound == pytest.approx(best, rel=1e-9)
        assert told is None or told.proved == (best - found.score < 1e-5)
        assert told is None or "the rows as they are completed" in str(found)
        unproved += told is None or not told.proved
        known = {arc for arc in found.dag.arcs if arc[0] in "AB" and arc[1] in "CD"} if seed % 2 else set()
        assert set(found.knowledge) == known
    assert unproved


@pytest.mark.filterwarnings("ignore:required arcs")
@pytest.mark.parametrize("options", [{}, {"impute": "hard"}, {"search": "orders"}])
def test_a_thin_required_arc_does_not_end_the_search_at_its_start(options):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 30, 60), rng.integers(0, 3, 60), rng.integers(0, 2, (60, 2))])
    rows[:, 3] = rows[:, 2]
    rows[rng.random(rows.shape) < 0.15] = -1
    data = md.Dataset.from_codes(rows, names=list("ABCD"), levels=[30, 3, 2, 2], gap=-1)
    found = md.structural_em(data, required=[("A", "B")], **options)
    assert found.dag.has_arc("A", "B")
    assert found.dag.has_arc("C", "D") or found.dag.has_arc("D", "C")
    assert math.isfinite(found.score)
    assert math.isfinite(found.observed_score)
    assert md.score(found.dag, found.data, found.objective, required=[("A", "B")]) == pytest.approx(found.score)


def test_learn_does_the_best_with_gaps_that_is_feasible_and_says_which(monkeypatch):
    data = with_holes(md.network("asia").sample(300, seed=1), 0.2, seed=1)
    found, pnal, rough = md.learn(data, ["BDeu(1)", "PNAL", "fNML"])
    assert isinstance(found, md.EMResult)
    assert found.score == md.structural_em(data, "BDeu(1)").score
    assert not isinstance(pnal, md.EMResult)
    assert rough.score == md.structural_em(data, "fNML", impute="hard").score
    assert isinstance(md.learn(data, "PNAL", em=True), md.EMResult)
    monkeypatch.setattr(search, "SOFT_WORK", 10)
    assert md.learn(data, "BDeu(1)").score == md.structural_em(data, "BDeu(1)", impute="hard").score
    monkeypatch.setattr(search, "HARD_WORK", 10)
    with pytest.warns(md.errors.MapdagWarning, match="learned under PNAL"):
        found = md.learn(data, "MU(c=1)+BDeu(1)")
    assert found.score == md.learn(data, "MU(c=1)+PNAL").score


def test_graphs_under_which_rows_cannot_be_completed_are_left_out(monkeypatch):
    data = with_holes(md.network("asia").sample(400, seed=1), 0.2, seed=1)
    monkeypatch.setattr(steps, "work_beyond_lists", lambda dag, _, most: most + (dag.n_arcs > 3))
    with pytest.warns(md.errors.MapdagWarning, match="ended early: under the next graph, which has"):
        found = md.structural_em(data, "BIC", search="hc")
    assert found.dag.n_arcs <= 7  # that to start from has one parent for each node


def test_work_that_rows_need_beyond_lists_is_that_of_their_tables():
    names = [f"v{i}" for i in range(10)]
    dag = md.DAG(names, [(a, names[-1]) for a in names[:-1]])
    data = md.Dataset.from_codes([[-1] * 10, [-1] * 10, [0] * 10], names=names, levels=[4] * 10, gap=-1)
    assert work_beyond_lists(dag, data, 1 << 62) >= 2 * 4**10
    assert work_beyond_lists(dag, data, 10) == work_beyond_lists(dag, data, 1 << 62) // 2
    assert work_beyond_lists(md.DAG(names), data, 10) == 0


def test_required_parents_remain_where_graphs_are_too_dense_to_begin_from(monkeypatch):
    monkeypatch.setattr(steps.Run, "_is_dense", lambda self, dag: dag.n_arcs > 6)
    table = md.network("asia").sample(200, seed=1).to_pandas()
    table = table.mask(np.random.default_rng(0).random(table.shape) < 0.1)
    arcs = {("asia", "dysp"), ("smoke", "dysp")}
    with pytest.warns(MapdagWarning):  # that a later graph is too dense
        found = md.structural_em(table, "U+BDeu(1)", required=sorted(arcs), starts=3, impute="hard")
    assert arcs <= set(found.dag.arcs)
