"""Exact search, rankings and posteriors against the enumeration of all graphs."""

import math
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import CapacityError, GraphError, MapdagError, ParameterError
from mapdag.families import FamilyScores
from mapdag.objective.constraints import Constraints, make_rules
from mapdag.search import FamilyCache
from mapdag.search.exact import lattice
from mapdag.search.exact.lattice import TIE, Lattice
from mapdag.search.frame import memory
from mapdag.search.frame.options import Options
from naive_exact import all_dags, arc_probabilities, n_orders, scored
from strategies import as_dataset, small_data

LIKELIHOODS = [
    "BDeu(1)", "BDeu(1e-9)", "BDeu(1e5)", "BDs(10)", "BDs(1)", "K2", "BDJ", "BD(3)",
    "BIC", "AIC", "eBIC", "LogLik", "fNML", "qNML",
]  # fmt: skip
PRIORS = [
    "U", "MU(1/2)", "MU(1/8)", "VSP(0.2)", "MaxParents(1)+MU(1/2)", 'LogLinear([{"X0->X1": 1}, "arcs"], [1, -0.5])',
    'CS({"X0->X1": 0.9, "X1->X2": 0})', 'CS({"X0->X1": [0.2, 0.8, 0]})',
    'CS({"X0->X1": [0.5, 0.5, 0], "X1->X2": [0.3, 0.7, 0]})',
]  # fmt: skip
CONSTRAINTS = [
    {},
    {"max_parents": 1},
    {"max_parents": 2, "forbidden": [("X0", "X1"), ("X2", "X0")]},
    {"tiers": [["X2"], ["X0", "X1"]]},
    {"required": [("X2", "X0")], "forbidden": [("X1", "X2")]},
]


def obeys(dag, required=(), forbidden=(), max_parents=99, tiers=()):
    tier = {name: t for t, names in enumerate(tiers) for name in names}
    return (
        all(dag.has_arc(*arc) for arc in required)
        and not any(dag.has_arc(*arc) for arc in forbidden)
        and all(len(dag.parents(node)) <= max_parents for node in dag.nodes)
        and all(tier.get(a, 0) <= tier.get(b, 9) for a, b in dag.arcs)
    )


@st.composite
def problems(draw, max_columns=4):
    rows, cards = draw(small_data(min_columns=3, max_columns=max_columns, max_rows=60, max_levels=3))
    objective = f"{draw(st.sampled_from(PRIORS))}+{draw(st.sampled_from(LIKELIHOODS))}"
    return as_dataset(rows, cards), objective, draw(st.sampled_from(CONSTRAINTS))


@given(problem=problems())
@settings(max_examples=150)
def test_no_graph_scores_higher_and_none_as_high_has_fewer_arcs(problem):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        with pytest.raises(GraphError):
            md.learn(data, objective, search="exact", **constraints)
        return
    best = max(score for _, score in graphs)
    result = md.learn(data, objective, search="exact", threads=1, **constraints)
    assert obeys(result.dag, **constraints)
    assert result.converged
    assert result.score == pytest.approx(md.score(result.dag, data, objective), rel=1e-12)
    assert result.score >= best - TIE * 12
    assert result.dag.n_arcs <= min(dag.n_arcs for dag, score in graphs if score >= best - 1e-9)


@given(problem=problems(max_columns=5))
@settings(max_examples=100)
def test_lists_of_families_give_the_graph_that_tables_give(problem):
    data, objective, constraints = problem
    try:
        tables = md.learn(data, objective, search="exact", threads=1, **constraints)
    except GraphError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "fits", lambda _: False)
        lists = md.learn(data, objective, search="exact", threads=1, **constraints)
    assert lists.dag == tables.dag


def test_five_nodes():
    rng = np.random.default_rng(5)
    base = rng.integers(0, 2, (80, 5))
    base[:, 3] = base[:, 0] ^ base[:, 1]
    data = md.Dataset.from_codes(base, names=list("ABCDE"), levels=[2] * 5)
    graphs = list(scored(data, "MU(1/2)+BDs(1)"))
    assert len(graphs) == 29281
    result = md.learn(data, "MU(1/2)+BDs(1)", search="exact")
    assert result.score == pytest.approx(max(score for _, score in graphs), rel=1e-12)
    assert result.dag.n_arcs >= 2


@given(problem=problems(), threads=st.sampled_from([1, 3]))
@settings(max_examples=80)
def test_every_family_gets_the_score_of_the_library(problem, threads):
    data, objective, constraints = problem
    goal = md.parse(objective)
    try:
        rules = make_rules(Constraints(**constraints), goal.prior, data.names)
    except GraphError:
        return
    options = Options(constraints=Constraints(**constraints), threads=threads)
    problem = Lattice(options.make_cache(data, [goal]), goal, options)
    found = problem.scores()
    families = FamilyScores(data, [goal.likelihood])
    odds = goal.prior.log_odds(data.names)
    for child in problem.children:
        for place in range(child.size):
            parents = [i for i in range(data.n_columns) if child.nodes(place) >> i & 1]
            score = found[child.start + place]
            if len(parents) > rules.max_parents or place & child.demanded != child.demanded:
                assert score == -math.inf
                continue
            expected = families.family(child.node, parents)[0] + sum(odds[p, child.node] - TIE for p in parents)
            assert score + problem.base[child.node] == pytest.approx(expected, rel=1e-12, abs=1e-10)


def test_more_rows_than_a_tally_of_small_numbers_holds():
    data = md.network("asia").sample(70_000, seed=3)
    for objective in ("BDs(1)", "fNML"):
        result = md.learn(data, objective, search="exact")
        assert result.score >= md.tabu(data, objective).score - 1e-9


@pytest.mark.parametrize("weights", [[1.5] * 40, [2] * 40])
def test_weighted_rows_and_own_likelihoods_are_searched_too(weights):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, (40, 4))
    rows[:, 1] = rows[:, 0]
    data = as_dataset(rows, [3] * 4, weights=weights)
    own = md.Custom(lambda table: md.BIC().score(table))
    for objective in (md.MU(0.5) + md.BDs(1), md.MU(0.5) + own):
        result = md.learn(data, objective, search="exact", max_parents=2)
        best = max(score for dag, score in scored(data, objective) if obeys(dag, max_parents=2))
        assert result.score == pytest.approx(best, rel=1e-12)


def test_a_duplicated_column_has_one_parent_only():
    data = md.Dataset.from_codes(np.repeat([[0, 0, 0], [1, 1, 1]], 20, axis=0), names=list("ABC"), levels=[2] * 3)
    for objective in ("BDs(1)", "LogLik"):  # the second parent changes neither score
        assert md.learn(data, objective, search="exact").dag.arcs == (("A", "B"), ("A", "C"))


@given(problem=problems(), k=st.sampled_from([1, 2, 7, 600]))
@settings(max_examples=60)
def test_the_best_graphs_come_in_order_each_once(problem, k):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        return
    found = md.best_dags(data, objective, k=k, threads=1, **constraints)
    expected = sorted((score for _, score in graphs), reverse=True)[:k]
    assert len({result.dag for result in found}) == len(found) == len(expected)
    assert [result.score for result in found] == pytest.approx(expected, rel=1e-12, abs=12 * TIE)
    assert all(obeys(result.dag, **constraints) for result in found)


def test_rankings_begin_with_the_graph_of_exact_search_whatever_is_equally_good():
    """Equivalent graphs have equal scores, so that nearly always some others are as good."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, (int(rng.integers(4, 25)), int(rng.integers(3, 6))))
        if seed % 3 == 0:
            codes[:, 1] = codes[:, 0]
        if seed % 3 == 1:
            codes[:, 2] = 0
        weights = rng.random(len(codes)) + 0.1 if seed % 4 == 0 else None
        data = as_dataset(codes, [2] * codes.shape[1], weights=weights)
        objective = ["U+BDeu(1)", "MU(c=1)+BDs(1)", "BIC", "U+K2", "LogLik"][seed % 5]
        best = md.learn(data, objective, search="exact", max_parents=2)
        for k in (1, 2, 9):
            found = md.best_dags(data, objective, k=k, max_parents=2)
            assert found[0].dag == best.dag
            assert len({each.dag for each in found}) == len(found) == k
            sure = md.learn(data, objective, search="certified", ranks=k, max_parents=2)
            ranked = sure.certificate.ranked
            if k > 1:
                assert ranked[0][0] == sure.dag
                assert [score for _, score in ranked] == pytest.approx([each.score for each in found], abs=1e-6)
                sizes = [(round(score, 6), -dag.n_arcs) for dag, score in ranked]
                assert sizes == sorted(sizes, reverse=True)


def test_rankings_of_more_nodes_begin_with_the_best_graph():
    data = md.network("asia").sample(300, seed=2)
    found = md.best_dags(data, "BDeu(1)", k=30)
    assert found[0].score == pytest.approx(md.learn(data, "BDeu(1)", search="exact").score, rel=1e-12)
    assert len({result.dag for result in found}) == 30
    assert all(a.score >= b.score - 1e-6 for a, b in pairwise(found))
    # All graphs of the best class are as good as the best.
    best = [result for result in found if result.score > found[0].score - 1e-9]
    assert len({result.cpdag for result in best}) == 1


@given(problem=problems(), over=st.sampled_from(["orders", "dags"]))
@settings(max_examples=100)
def test_posteriors_are_those_of_the_enumeration(problem, over):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        return
    if over == "orders":
        graphs = [(dag, score + math.log(n_orders(dag))) for dag, score in graphs]
    expected, evidence = arc_probabilities(graphs, data.names)
    found = md.arc_posteriors(data, objective, over=over, threads=1, **constraints)
    for arc, probability in expected.items():
        assert found[arc] == pytest.approx(probability, abs=1e-9)
    assert found.log_evidence == pytest.approx(evidence, rel=1e-9)


def test_posteriors_of_strong_dependencies_do_not_overflow():
    data = md.network("asia").sample(20_000, seed=1)
    for over in ("orders", "dags"):
        found = md.arc_posteriors(data, over=over)
        assert np.isfinite(found.probabilities).all()
        assert found["smoke", "bronc"] + found["bronc", "smoke"] == pytest.approx(1, abs=1e-9)
        assert found.arcs(0.5)[0].probability > 0.99
    with pytest.raises(GraphError, match="'smoking' is not a node"):
        found["smoking", "lung"]


def test_equivalent_graphs_get_equal_directions_over_graphs():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 200)
    data = md.read({"A": a, "B": np.where(rng.random(200) < 0.9, a, 1 - a)})
    found = md.arc_posteriors(data, "BDeu(1)", over="dags")
    assert found["A", "B"] == pytest.approx(found["B", "A"], rel=1e-12)


def test_asia_is_found_whatever_the_threads_and_told_about():
    data = md.network("asia").sample(1000, seed=4)
    told = []
    one = md.learn(data, search="exact", threads=1, progress=told.append)
    two = md.learn(data, search="exact", threads=2)
    assert one.dag == two.dag
    assert one.families == two.families == 8 * 2**7
    assert one.score >= max(md.hill_climb(data, restarts=20, seed=s).score for s in range(3)) - 1e-9
    assert {each.phase for each in told} == {"counting", "scoring", "choosing parents", "choosing sinks"}
    assert all(0 <= each.done <= each.total for each in told)


def test_threads_that_count_different_sets_do_not_disturb_each_other():
    data = md.network("child").sample(100, seed=4)
    goal = md.parse("BDs(1)")
    cache = FamilyCache(data, [goal], constraints=Constraints(max_parents=3))
    one, four = (Lattice(cache, goal, Options(threads=n)).scores() for n in (1, 4))
    assert np.array_equal(one, four)


@pytest.mark.parametrize("n", [1, 2])
def test_one_node_and_two(n):
    data = md.Dataset.from_codes([[0, 0], [1, 1], [0, 0]] * 9, names=["A", "B"], levels=[2, 2]).select(["A", "B"][:n])
    arcs = [("A", "B")][: n - 1]
    assert list(md.learn(data, "BIC", search="exact").dag.arcs) == arcs
    assert len(md.best_dags(data, "BIC", k=9)) == 2 * n - 1
    for over in ("orders", "dags"):
        assert md.arc_posteriors(data, "BIC", over=over).probabilities.sum() == pytest.approx(n - 1, abs=1e-3)


def test_priors_that_look_at_whole_graphs_are_refused():
    data = md.network("asia").sample(20, seed=1)
    with pytest.raises(ParameterError, match=r"sum over arcs.*another search"):
        md.learn(data, 'LogLinear(["v_structures"])+BDeu(1)', search="exact")


def test_what_does_not_fit_is_refused_before_it_begins(monkeypatch):
    data = md.network("child").sample(50, seed=1)
    monkeypatch.setattr(memory, "available_memory", lambda: 1e8)
    with pytest.raises(CapacityError, match=r"20 nodes needs 0\.\d GB of memory, and 0\.1 GB are.*max_parents"):
        md.learn(data, search="exact", threads=1)
    with pytest.raises(CapacityError, match="at most 30 nodes, got 37"):
        md.learn(md.network("alarm").sample(50, seed=1), search="exact")
    with pytest.raises(CapacityError, match="at most 18 nodes, got 20"):
        md.arc_posteriors(data, over="dags")


def test_limits_end_with_a_climbed_graph_that_says_so():
    data = md.network("child").sample(500, seed=1)
    result = md.learn(data, search="exact", time_limit=0.01)
    assert result.stopped == "time_limit"
    assert result.score == pytest.approx(md.hill_climb(data).score)
    assert [each.stopped for each in md.best_dags(data, k=3, time_limit=0.01)] == ["time_limit"]
    with pytest.raises(MapdagError, match="time limit"):
        md.arc_posteriors(data, time_limit=0.01)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_with_a_climbed_graph_that_says_so(threads):
    data = md.network("child").sample(500, seed=1)
    md.learn(data, search="exact", time_limit=0.01)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    result = md.learn(data, search="exact", threads=threads)
    timer.join()
    assert result.stopped == "interrupted"
    assert result.dag.n_arcs > 0
    assert time.monotonic() - began < 60


def test_options_are_checked():
    data = md.network("asia").sample(20, seed=1)
    with pytest.raises(ParameterError, match="k must be a whole number"):
        md.best_dags(data, k=0)
    with pytest.raises(ParameterError, match="over must be"):
        md.arc_posteriors(data, over="graphs")
    with pytest.raises(ParameterError, match="takes no options of its own, not 'restarts'"):
        md.learn(data, search="exact", restarts=3)
    with pytest.raises(GraphError, match="form a cycle"):
        md.learn(data, search="exact", required=[("asia", "tub"), ("tub", "asia")])


def test_there_are_as_many_graphs_as_there_should_be():
    assert [sum(1 for _ in all_dags(list("ABCD"[:n]))) for n in range(1, 5)] == [1, 3, 25, 543]


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["MU(c=1)+BDs(1)", "BDeu(1)"])
def test_twenty_nodes(objective):
    data = md.network("child").sample(500, seed=1)
    result = md.learn(data, objective, search="exact")
    assert result.converged
    assert result.families == 20 * 2**19
    assert result.score >= md.tabu(data, objective, patience=50).score
    few = md.learn(data, objective, search="exact", max_parents=3)
    assert few.score <= result.score + 1e-9
    assert md.best_dags(data, objective, k=2, max_parents=3)[0].score == pytest.approx(few.score, rel=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("goal", ["MU(c=1)+BDs(1)", "qNML", "BIC", "BDeu(10)"])
def test_parts_and_layers_change_nothing(goal, threads, monkeypatch):
    """Many small parts of families and stretches of sets, shared among threads, give what one of each gives."""
    data = md.network("asia").sample(300, seed=2)
    options = {"forbidden": [("dysp", "asia"), ("xray", "tub")], "required": [("either", "xray")], "max_parents": 4}

    def everything():
        exact = md.learn(data, goal, search="exact", threads=threads, **options)
        ranked = md.best_dags(data, goal, k=8, threads=threads, **options)
        posteriors = [
            md.arc_posteriors(data, goal, over=over, threads=threads, **options) for over in ("orders", "dags")
        ]
        scores = [exact.score, *(each.score for each in ranked)]
        return [exact.dag, *(each.dag for each in ranked)], scores, [each.probabilities.tolist() for each in posteriors]

    whole = everything()
    monkeypatch.setattr(lattice, "_PART", 16)
    monkeypatch.setattr(lattice, "_STRETCH", 4)
    monkeypatch.setattr(lattice, "_SHORTEST", 3)
    assert len(lattice.layers(8)) == 6
    assert sorted(each for layer in lattice.layers(8) for each in layer) == [(i, i + 8) for i in range(0, 256, 8)]
    assert everything() == whole
