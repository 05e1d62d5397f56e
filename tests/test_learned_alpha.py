"""Learning alpha, and c or beta, together with the graph: `BDs(alpha="auto")`, `MU(c="auto")`."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.graphs import all_dags
from mapdag.objective import find_hyperparameters
from mapdag.objective.hyperparameters import LARGEST_ALPHA, SMALLEST_ALPHA, log_alpha_prior
from mapdag.search import joint

AUTO = "Support(3)+MU(c=auto)+BDs(alpha=auto)"


@pytest.fixture(scope="module")
def child():
    return md.network("child").sample(300, seed=3)


@pytest.fixture(scope="module")
def gaps():
    """Rows of ASIA in which one value of ten is missing."""
    full = md.network("asia").sample(300, seed=1)
    missing = np.random.default_rng(0).random(full.codes.shape) < 0.1
    codes = np.where(missing, -1, full.codes.astype(np.int64))
    return md.Dataset.from_codes(codes.T, names=full.names, levels=dict(full.levels), gap=-1)


def log_beta_prior(beta, n_nodes):
    """Log density of the Beta prior that is worth one more node with one arc, from its definition."""
    usual = min(2 / (n_nodes - 1), 0.5) if n_nodes > 1 else 0.5
    pairs = max((n_nodes - 1) / 2, 0.5)
    a, b = 1 + pairs * usual, 1 + pairs * (1 - usual)
    norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return norm + (a - 1) * math.log(beta) + (b - 1) * math.log1p(-beta)


def naive_joint(dag, data, prior, likelihood, alpha, beta):
    """Joint score of a graph and its hyperparameters, term by term."""
    objective = prior + likelihood(alpha)
    return md.score(dag, data, objective) + log_alpha_prior(alpha) + log_beta_prior(beta, len(dag.nodes))


@pytest.mark.parametrize("likelihood", [md.BDs, md.BDeu])
@pytest.mark.parametrize("n_arcs", [0, 3, 10])
def test_values_of_a_graph_are_the_best_on_a_grid(likelihood, n_arcs):
    truth = md.network("asia")
    data = truth.sample(200, seed=1)
    rng = np.random.default_rng(n_arcs)
    pairs = list(itertools.combinations(data.names, 2))
    arcs = [pairs[i] for i in rng.choice(len(pairs), n_arcs, replace=False)]
    dag = md.DAG(data.names, arcs)
    found = find_hyperparameters(dag, data, md.MU(beta="auto") + likelihood("auto"))
    beta = found.objective.prior.beta
    assert found.score == pytest.approx(
        naive_joint(dag, data, md.MU(beta=beta), likelihood, found.alpha, beta), abs=1e-9
    )
    for alpha in np.geomspace(SMALLEST_ALPHA, LARGEST_ALPHA, 60):
        # Two digits of alpha leave a tenth of a nat at most here.
        assert naive_joint(dag, data, md.MU(beta=beta), likelihood, float(alpha), beta) <= found.score + 0.1
    for other in np.linspace(0.01, 0.99, 50):
        other = float(other)  # noqa: PLW2901
        assert naive_joint(dag, data, md.MU(beta=other), likelihood, found.alpha, other) <= found.score + 0.1


@given(st.integers(1, 60), st.data())
def test_learned_beta_and_c_are_the_mode_of_their_posterior(n_nodes, drawn):
    n_arcs = drawn.draw(st.integers(0, math.comb(n_nodes, 2)))
    prior, density = md.MU(beta="auto").most_probable(n_arcs, n_nodes)
    assert density == pytest.approx(log_beta_prior(prior.beta, n_nodes))

    def log_posterior(beta):
        left = math.comb(n_nodes, 2) - n_arcs
        return n_arcs * math.log(beta) + left * math.log1p(-beta) + log_beta_prior(beta, n_nodes)

    best = max(np.linspace(0.001, 0.95, 2000), key=log_posterior)
    assert prior.beta == pytest.approx(best, rel=0.06, abs=1e-3)  # two digits
    other, _ = md.MU(c="auto").most_probable(n_arcs, n_nodes)
    assert 0 < other.beta_for(n_nodes) < 1
    if n_nodes >= 5 and 2 * n_arcs < math.comb(n_nodes, 2):
        assert other.c == pytest.approx((n_arcs + 1) / (n_nodes + 1), rel=0.06)


@pytest.mark.parametrize("search", ["orders", "hc", "tabu"])
def test_the_joint_score_never_falls(child, search, monkeypatch):
    scores = []
    accept = joint._Joint._accept

    def recorded(self, *arguments, **named):
        gained = accept(self, *arguments, **named)
        scores.append(self.values.score)
        return gained

    monkeypatch.setattr(joint._Joint, "_accept", recorded)
    result = md.learn(child, AUTO, search=search)
    assert len(scores) >= 4
    assert all(after >= before for before, after in itertools.pairwise(scores))
    assert result.learned.score == scores[-1]


@pytest.mark.parametrize(
    "asked",
    [AUTO, "MU(beta=auto)+BDeu(auto)", "MU(c=auto)+BIC", "BDs(auto)", "MaxParents(2)+MU(c=2)+BDeu(alpha='auto')"],
)
def test_the_objective_of_the_result_is_concrete_and_can_be_pasted(child, asked):
    result = md.learn(child, asked)
    assert not result.objective.is_auto
    again = md.learn(child, str(result.objective))
    assert again.dag == result.dag
    assert again.score == result.score == md.score(result.dag, child, result.objective)
    assert result.learned.asked == md.parse(asked)


@pytest.mark.parametrize("search", ["exact", "certified"])
def test_exact_and_certified_search_prove_optima_given_the_values(search):
    data = md.network("asia").sample(400, seed=2)
    result = md.learn(data, AUTO, search=search)
    assert result.score == pytest.approx(md.learn(data, result.objective, search="exact").score, abs=1e-9)
    if search == "certified":
        assert "proved" in str(result)
        assert f"given {result.learned.values}" in str(result)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(3, 60))
def test_no_graph_of_three_nodes_has_a_higher_joint_score(seed, n):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [2, 3, 2], (n, 3))
    codes[:, 2] = np.where(rng.random(n) < 0.7, codes[:, 0], codes[:, 2])
    data = md.Dataset.from_codes(codes, names=["A", "B", "C"], levels=[2, 3, 2])
    objective = md.parse("MU(beta=auto)+BDs(alpha=auto)")
    best = max(find_hyperparameters(dag, data, objective).score for dag in all_dags(data.names))
    found = md.learn(data, objective)
    # The values under which the graph was found are kept within half a nat of the most probable ones.
    assert find_hyperparameters(found.dag, data, objective).score >= best - 2 * joint.CLOSE


def test_the_answer_does_not_depend_on_threads_company_or_the_order_of_the_columns(child):
    one = md.learn(child, AUTO, threads=1)
    two = md.learn(child, AUTO, threads=2)
    _, three = md.learn(child, ["BIC", AUTO])
    shuffled = child.select(list(np.random.default_rng(1).permutation(child.names)))
    four = md.learn(shuffled, AUTO)
    for other in (two, three, four):
        assert other.objective == one.objective
        assert set(other.dag.arcs) == set(one.dag.arcs)
        assert other.score == one.score


def test_scanned_and_weighted_rows_give_the_same_values(child, tmp_path):
    child.to_pandas().to_csv(tmp_path / "child.csv", index=False)
    declared = dict(child.levels)
    expected = md.learn(child, AUTO)
    scanned = md.learn(md.scan(tmp_path / "child.csv", levels=declared), AUTO)
    weighted = md.learn(child.aggregated(), AUTO)
    for other in (scanned, weighted):
        assert other.objective == expected.objective
        assert other.dag == expected.dag
        assert other.score == expected.score


def test_constraints_are_obeyed(child):
    a, b = child.names[:2]
    result = md.learn(child, AUTO, required=[(a, b)], max_parents=2)
    assert result.dag.has_arc(a, b)
    assert max(len(result.dag.parents(node)) for node in result.dag.nodes) <= 2


def test_a_time_limit_gives_the_best_graph_so_far(child):
    result = md.learn(child, AUTO, time_limit=1e-9)
    assert result.stopped == "time_limit"
    assert not result.objective.is_auto


def test_ctrl_c_before_the_first_graph_gives_the_one_to_start_from(child, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(joint._Joint, "climb", interrupted)
    required = [child.names[:2]]
    result = md.learn(child, AUTO, required=required)
    assert result.stopped == "interrupted"
    assert result.dag.arcs == tuple(required)
    assert not result.objective.is_auto


def test_exact_search_refuses_many_nodes_before_other_searches_begin(monkeypatch):
    def begun(_):
        pytest.fail("a search has begun")

    monkeypatch.setattr(joint._Joint, "climb", begun)
    with pytest.raises(md.errors.CapacityError, match="at most 30 nodes, got 37"):
        md.learn(md.network("alarm").sample(10, seed=1), AUTO, search="exact")


def test_fit_uses_the_learned_alpha(child):
    result = md.learn(child, AUTO)
    assert result.fit() == result.fit(alpha=result.learned.alpha)
    assert result.fit() != result.fit(alpha=1)
    assert md.learn(child, "BDs(5)").fit() == md.learn(child, "BDs(5)").fit(alpha=1)


@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("n", [50, 500])
def test_noise_gets_no_arcs(levels, n):
    codes = np.random.default_rng([levels, n]).integers(0, levels, (n, 12))
    assert md.learn(md.read(codes), AUTO).dag.n_arcs == 0


def test_too_few_rows_leave_alpha_where_its_prior_has_it(child):
    with pytest.warns(md.errors.MapdagWarning, match="1 row: too few to learn alpha"):
        result = md.learn(child.take([0]), AUTO)
    assert result.learned.alpha == 1


def test_given_graphs_and_posteriors_take_the_most_probable_values():
    data = md.network("asia").sample(300, seed=1)
    result = md.learn(data, AUTO)
    given_values = md.Result.given(result.dag, data, AUTO)
    assert not given_values.objective.is_auto
    assert md.score(result.dag, data, AUTO) == given_values.score
    assert md.arc_posteriors(data, AUTO).objective == result.objective
    assert md.best_dags(data, AUTO, k=1)[0].objective == result.objective
    assert md.diagnose(result.dag, data, AUTO).objective == given_values.objective


def test_bootstrap_learns_values_once_unless_asked_otherwise():
    data = md.network("asia").sample(300, seed=1)
    once = md.bootstrap(data, AUTO, R=3)
    assert once.objective == md.learn(data, AUTO).objective
    assert md.bootstrap(data, AUTO, R=3, relearn=True).objective == md.parse(AUTO)


def test_cross_validation_learns_values_in_each_fold():
    data = md.network("asia").sample(300, seed=1)
    assert md.cross_validate(data, AUTO, folds=3).objectives == (md.parse(AUTO),)
    once, learned = md.cross_validate(data, AUTO, folds=3, relearn=False), md.learn(data, AUTO)
    assert once.objectives == (learned.objective,)
    given = md.cross_validate(data, learned.objective, folds=3, alpha=learned.learned.alpha)
    assert (once.log_likelihood == given.log_likelihood).all()


def test_values_are_learned_once_from_rows_with_gaps(gaps):
    once = md.cross_validate(gaps, AUTO, folds=2, em=True, relearn=False)
    assert once.objectives == (md.structural_em(gaps, AUTO).objective,)


def test_gaps_are_refused_in_the_words_of_the_objective(gaps):
    for call in (lambda: md.learn(gaps, AUTO, em=False), lambda: md.score(md.DAG(gaps.names), gaps, AUTO)):
        with pytest.raises(md.errors.DataError, match=r"BDs\(alpha=auto\) needs complete rows"):
            call()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("K2(alpha=auto)", "BDeu and BDs have it"),
        ("BIC(alpha=auto)", "BDeu and BDs have it"),
        ("qNML(alpha='auto')", "BDeu and BDs have it"),
        ("MU(c=automatic)+BIC", "expected a number"),
        ("MU(c='automatic')+BIC", "c must be a positive number or 'auto', got 'automatic'"),
        ("BDs('often')", "alpha must be a positive number or 'auto', got 'often'"),
    ],
)
def test_errors_name_what_can_be_learned(text, told):
    with pytest.raises(md.errors.NotationError, match=told):
        md.parse(text)


def test_a_score_without_a_graph_says_that_values_are_missing():
    table = md.CountTable.from_dense([[3, 1]])
    with pytest.raises(md.errors.ParameterError, match=r"BDs\(alpha=auto\) has no value yet: mapdag.learn learns it"):
        md.BDs("auto").score(table)
    with pytest.raises(md.errors.ParameterError, match=r"MU\(c=auto\) has no value yet"):
        md.MU(c="auto").log_odds(["A", "B"])


def test_the_notation_writes_what_it_reads():
    assert str(md.parse(AUTO)) == "Support(m=3)+MU(c=auto)+BDs(alpha=auto)"
    assert md.parse(str(md.parse(AUTO))) == md.parse(AUTO) == md.Support(3) + md.MU(c="auto") + md.BDs(alpha="auto")


def test_the_report_shows_the_profile(child, tmp_path):
    result = md.learn(child, AUTO)
    result.report(tmp_path / "learned.html")
    page = (tmp_path / "learned.html").read_text(encoding="utf-8")
    assert "Which alpha" in page
    assert result.learned.values in page


@pytest.mark.parametrize("impute", ["soft", "hard"])
def test_structural_em_learns_values_from_completed_rows(impute):
    truth = md.network("child")
    full = truth.sample(400, seed=4)
    rng = np.random.default_rng(1)
    codes = np.where(rng.random(full.codes.shape) < 0.1, -1, full.codes.astype(np.int64))
    data = md.Dataset.from_codes(codes.T, names=full.names, levels=dict(full.levels), gap=-1)
    found = md.structural_em(data, AUTO, impute=impute)
    assert not found.objective.is_auto
    assert found.learned.asked == md.parse(AUTO)
    assert 2 < found.learned.alpha < 50  # about 10 on the complete rows
    assert found.score == md.score(found.dag, found.data, found.objective)
    for step in found.steps:
        assert step.after >= step.before - 1e-6


def test_commands_tell_the_values_that_were_learned(run, tmp_path):
    data = md.network("asia").sample(300, seed=1)
    data.to_pandas().to_csv(tmp_path / "asia.csv", index=False)
    table = (tmp_path / "asia.csv", "--like", "asia", "--score", AUTO)
    expected = md.learn(data, AUTO)
    _, out, _ = run("learn", *table, "--json")
    found = json.loads(out)
    assert found["objective"] == str(expected.objective)
    assert found["learned"]["joint_score"] == pytest.approx(expected.learned.score)
    _, out, _ = run("score", "asia", *table, "--json")
    assert json.loads(out)["objective"] == str(md.score(md.network("asia").dag, data, AUTO).objective)
    _, out, _ = run("cv", *table, "--learn-once", "--folds", 2)
    assert str(expected.objective) in out
