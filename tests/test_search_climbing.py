"""What every search promises, whatever the data, the objective, the constraints and the seed."""

import inspect
import itertools
import math
import re
import signal
import threading
import time
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from golden_data import dataset
from mapdag.counts import Counter
from mapdag.data import ReadingOptions
from mapdag.errors import CycleError, GraphError, ParameterError
from mapdag.families import FamilyScores
from mapdag.search import SEARCHES, FamilyCache, LearnOptions, Options
from mapdag.search.cache import Ask, pairs, store
from mapdag.search.climbing.moves import TOLERANCE
from sharing import share_everything
from strategies import as_dataset, small_data

OBJECTIVES = [
    "BDeu(1)",
    "BDs(10)",
    "MU(1/2)+BDs(1)",
    "MU(1/8)+BIC",
    "VSP(0.2)+K2",
    'CS({"X0->X1": 0.9, "X1->X2": 0})+BDeu(1)',
    'CS({"X0->X1": [0.2, 0.8, 0]})+BDs(1)',
    'LogLinear([{"X0->X1": 1}, "v_structures"], [1, -0.5])+BDeu(1)',
    "MaxParents(1)+MU(1/2)+AIC",
    "qNML",
]


def neighbours(dag):
    for a, b in itertools.permutations(dag.nodes, 2):
        try:
            if dag.has_arc(a, b):
                yield dag.without_arc(a, b)
                yield dag.with_reversed(a, b)
            elif not dag.has_arc(b, a):
                yield dag.with_arc(a, b)
        except CycleError:  # noqa: PERF203 - the way to ask
            continue


@st.composite
def problems(draw):
    """Data, an objective, and constraints that do not contradict each other."""
    rows, cards = draw(small_data(min_columns=3, max_columns=5, max_rows=80, max_levels=3))
    data = as_dataset(rows, cards)
    order = draw(st.permutations(data.names))
    forward = list(itertools.combinations(order, 2))
    required = draw(st.lists(st.sampled_from(forward), max_size=2, unique=True))
    objective = draw(st.sampled_from(OBJECTIVES))
    if objective.startswith("CS"):
        required = []
    others = [arc for arc in itertools.permutations(data.names, 2) if arc not in required and set(arc) != {"X0", "X1"}]
    forbidden = draw(st.lists(st.sampled_from(others), max_size=4, unique=True))
    limit = draw(st.sampled_from([None, 2, 3]))
    tiers = draw(st.sampled_from([(), (order[:2], order[2:])])) if not objective.startswith("CS") else ()
    if objective.startswith("MaxParents"):
        required = required[:1]
    return data, objective, {"required": required, "forbidden": forbidden, "max_parents": limit, "tiers": tiers}


def obeys(dag, required=(), forbidden=(), max_parents=None, tiers=()):
    tier = {name: t for t, names in enumerate(tiers) for name in names}
    return (
        all(dag.has_arc(*arc) for arc in required)
        and not any(dag.has_arc(*arc) for arc in forbidden)
        and (max_parents is None or all(len(dag.parents(node)) <= max_parents for node in dag.nodes))
        and all(tier.get(a, 0) <= tier.get(b, 9) for a, b in dag.arcs)
    )


@given(problem=problems(), search=st.sampled_from(["orders", "hc", "tabu"]), seed=st.integers(0, 99))
@settings(max_examples=120)
def test_the_result_obeys_its_constraints_and_cannot_be_improved_by_one_move(problem, search, seed):
    data, objective, constraints = problem
    special = {"hc": {"restarts": 2, "perturb": 3}, "tabu": {}, "orders": {"effort": 0.1}}[search]
    result = md.learn(data, objective, search=search, seed=seed, **constraints, **special)
    assert obeys(result.dag, **constraints)
    scored = md.score(result.dag, data, objective)
    assert result.score == pytest.approx(scored, rel=1e-9)
    assert result.log_prior == pytest.approx(scored.log_prior)
    assert math.isfinite(result.score)
    md.DAG(result.dag.nodes, result.dag.arcs)  # raises on a cycle
    for other in neighbours(result.dag):
        if obeys(other, **constraints):
            assert md.score(other, data, objective) - scored <= TOLERANCE * 1.01
    assert set(result.compelled) | set(result.reversible) == set(result.dag.arcs)
    assert result.cpdag == result.dag.to_cpdag()


@given(problem=problems())
@settings(max_examples=40)
def test_every_move_of_the_trace_adds_what_it_says(problem):
    data, objective, constraints = problem
    for search in ("hc", "tabu"):
        result = md.learn(data, objective, search=search, **constraints)
        dag = md.DAG(data.names, constraints["required"])
        if objective.startswith("CS"):
            continue  # its start graph is not empty
        for move in result.trace:
            change = {"add": dag.with_arc, "delete": dag.without_arc, "reverse": dag.with_reversed}[move.kind]
            after = change(move.start, move.end)
            gain = md.score(after, data, objective) - md.score(dag, data, objective)
            assert move.delta == pytest.approx(gain, abs=1e-7)
            assert move.n_arcs == after.n_arcs
            assert move.score == pytest.approx(md.score(after, data, objective), rel=1e-9)
            dag = after
        if search == "hc":
            assert dag == result.dag


def test_thirty_objectives_count_each_family_once():
    data = dataset("alarm_509")
    objectives = [
        f"{prior}{like}({a})" for prior in ("", "MU(1/2)+", "MU(c=1)+") for like in ("BDeu", "BDs") for a in (1, 5)
    ]
    together = md.learn(data, objectives, search="hc")
    alone = [md.learn(data, each, search="hc") for each in objectives]
    assert [r.dag for r in together] == [r.dag for r in alone]
    assert [r.score for r in together] == [r.score for r in alone]
    assert sum(r.families for r in together) < 0.25 * sum(r.families for r in alone)


def test_the_cache_counts_what_it_has_not_seen():
    data = dataset("asia_1000")
    objectives = [md.parse(each) for each in ("BDeu(1)", "BIC", "MU(c=1)+BDeu(1)")]
    cache = FamilyCache(data, objectives)
    assert [cache.index(each) for each in objectives] == [0, 1, 0]
    everyone = np.ones(8, dtype=bool)
    everyone[:2] = False
    cache.fetch([Ask(0, (1,), everyone)])
    assert cache.families == 8  # the family itself, without its parent, and with six candidates
    expected = FamilyScores(data, [md.BDeu(1), md.BIC()]).family(0, [1, 2])
    assert cache.family(0, [1, 2]).tolist() == expected.tolist()
    cache.fetch([Ask(0, (1,), everyone)])
    assert cache.families == 8
    cache.family(3, [])
    cache.family(3, [])
    assert cache.families == 9


@pytest.mark.parametrize("name", ["asia_1000", "child_115"])
def test_the_store_grows_and_compiled_and_asked_scores_agree(name, monkeypatch):
    data = dataset(name)
    expected = md.learn(data, "BDeu(1)")
    made = []

    def tiny_at_first(n, k, columns, singles):
        made.append(columns)
        return new_store(n, k, *((2, 2) if len(made) == 1 else (columns, singles)))

    new_store = store.new_store
    monkeypatch.setattr(store, "new_store", tiny_at_first)
    assert md.learn(data, "BDeu(1)").trace == expected.trace
    assert len(made) > 3
    monkeypatch.setattr(Counter, "is_compiled", False)
    asked = md.learn(data, "BDeu(1)", threads=2)
    assert (asked.trace, asked.score) == (expected.trace, expected.score)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_result_does_not_depend_on_threads(threads, monkeypatch):
    share_everything(monkeypatch)
    result = md.learn(dataset("child_1150"), "MU(c=1)+BDs(1)", threads=threads)
    monkeypatch.undo()
    reference = md.learn(dataset("child_1150"), "MU(c=1)+BDs(1)", threads=1)
    assert (result.dag, result.score, result.trace) == (reference.dag, reference.score, reference.trace)


def test_restarts_never_lose_and_are_reproducible():
    data = dataset("insurance_1000")
    plain = md.hill_climb(data, "BDeu(1)")
    again = [md.hill_climb(data, "BDeu(1)", restarts=5, perturb=8, seed=seed) for seed in (1, 1, 2)]
    assert again[0].trace == again[1].trace
    assert all(r.score >= plain.score for r in again)
    assert sum(move.kind == "restart" for move in again[0].trace) == 5
    assert md.hill_climb(data, "BDeu(1)", restarts=2).trace == md.hill_climb(data, "BDeu(1)", restarts=2).trace


def test_restarts_keep_the_best_graph_they_meet():
    # Each pair is independent: hill climbing from the empty graph finds nothing, a perturbed graph may be the best.
    parity = as_dataset([[a, b, a ^ b] for a in (0, 1) for b in (0, 1)] * 25, [2, 2, 2])
    for seed in range(40):
        result = md.hill_climb(parity, "BDeu(1)", restarts=2, perturb=2, seed=seed)
        assert result.score >= max((move.score for move in result.trace), default=-math.inf) - TOLERANCE


def test_a_start_graph_is_climbed_from():
    data = dataset("asia_1000")
    end = md.learn(data)
    again = md.learn(data, start=end.dag)
    assert again.dag == end.dag
    assert again.trace == ()
    reordered = md.learn(data, start=end.dag.reordered(data.names[::-1]))
    assert reordered.dag == end.dag


def test_limits_return_the_best_graph_so_far_and_say_so():
    data = dataset("alarm_509")
    short = md.learn(data, max_iter=5)
    assert (short.stopped, short.converged, len(short.trace)) == ("max_iter", False, 5)
    assert short.dag.n_arcs == 5
    assert "stopped early (max iter), best so far" in str(short)
    brief = md.learn(data, time_limit=1e-6)
    assert brief.stopped == "time_limit"
    assert brief.score == pytest.approx(md.score(brief.dag, data))
    walk = md.learn(data, search="tabu", max_iter=3)
    assert walk.stopped == "max_iter"


def test_ctrl_c_returns_the_best_graph_so_far():
    def press(progress):
        if progress.phase == "moving" and progress.done == 4:
            signal.raise_signal(signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    result = md.learn(dataset("alarm_509"), progress=press)
    assert result.stopped == "interrupted"
    assert len(result.trace) == 4
    assert result.score == pytest.approx(md.score(result.dag, dataset("alarm_509")))


def test_ctrl_c_ends_all_objectives():
    def press(progress):
        if progress.phase == "moving" and progress.done == 2:
            signal.raise_signal(signal.SIGINT)

    results = md.learn(dataset("alarm_509"), ["BDeu(1)", "BIC", "BDs(1)"], progress=press)
    assert [result.stopped for result in results] == ["interrupted"] * 3
    assert [result.dag.n_arcs for result in results] == [2, 0, 0]


def test_progress_tells_every_step():
    told = []
    result = md.learn(dataset("asia_1000"), progress=told.append)
    assert [p.done for p in told if p.phase == "scoring"][-1] == 8
    starts = [p for p in told if p.phase == "searching"]
    assert [p.done for p in starts] == list(range(1, len(starts) + 1))
    assert starts[-1].done <= starts[-1].total
    moves = [p for p in told if p.phase == "moving"]
    assert moves[0].done == 1
    assert max(told, key=lambda p: p.score).score == pytest.approx(result.score)
    assert told[-1].n_arcs == result.dag.n_arcs
    assert all(p.seconds <= time.perf_counter() for p in told)


def test_ties_go_to_fewer_arcs():
    # Example 2 of the paper: the arc Y -> X changes nothing under BDs.
    rows = [[x, z, w, y] for z, w, y, x in [(0, 0, 0, 0), (1, 0, 0, 1), (0, 1, 0, 1), (1, 1, 1, 0)] for _ in range(3)]
    data = as_dataset(rows, [2, 2, 2, 2])
    start = md.DAG(data.names, [("X1", "X0"), ("X2", "X0")])
    forbidden = [(a, b) for a, b in itertools.permutations(data.names, 2) if b != "X0"]
    assert md.learn(data, "BDs(1)", start=start, forbidden=forbidden).dag.n_arcs == 2
    assert md.learn(data, "BDeu(1)", start=start, forbidden=forbidden).dag.has_arc("X3", "X0")


def test_ones_own_likelihood_works_in_every_search():
    def mdl(table):
        return md.LogLik().score(table) - math.log(table.total) / 2 * (table.r - 1) * table.q

    data = dataset("asia_1000")
    for search in ("orders", "hc", "tabu"):
        own = md.learn(data, md.Custom(mdl), search=search)
        assert own.dag == md.learn(data, md.BIC(), search=search).dag


def test_no_objective_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        md.learn(dataset("asia_1000"), [])


def test_the_default_objective_is_sparse_mu_bds_with_support():
    assert str(md.learn(dataset("asia_1000")).objective) == "Support(m=3)+MU(c=1)+BDs(alpha=1)"
    md.learn(dataset("asia_1000").select(["asia", "tub", "smoke"]))  # without a warning


def test_one_column_is_a_graph_too():
    data = dataset("asia_1000").select(["asia"])
    result = md.learn(data, "BDeu(1)")
    assert result.dag.n_arcs == 0
    assert result.converged


def test_any_table_can_be_learned_from():
    result = md.learn({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30, "c": [1, 2, 2] * 20}, "BDeu(1)")
    assert set(result.dag.skeleton()) == {("a", "b")}


def test_required_pairs_are_oriented_as_the_other_constraints_allow():
    data = as_dataset([[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]], [2] * 4)
    either = md.CS({"X0->X1": (0.5, 0.5, 0), "X1->X2": 1, "X2->X0": 1}) + md.BDs(1)
    assert md.learn(data, either).dag.has_arc("X1", "X0")
    pair = md.CS({"X0->X1": (0.5, 0.5, 0)}) + md.BDs(1)
    assert md.learn(data, pair, required=[("X1", "X2"), ("X2", "X0")]).dag.has_arc("X1", "X0")
    star = md.CS({f"X{i}->X3": (0.5, 0.5, 0) for i in range(3)}) + md.BDs(1)
    tree = md.learn(data, star, max_parents=1).dag
    assert all(tree.has_arc(f"X{i}", "X3") or tree.has_arc("X3", f"X{i}") for i in range(3))
    ring = md.CS({"X0->X1": 1, "X1->X2": 1, "X2->X0": 1}) + md.BDs(1)
    with pytest.raises(GraphError, match="the required arcs cannot all be there without a cycle"):
        md.learn(data, ring)


def test_constraints_identify_directions():
    data = dataset("asia_1000")
    free = md.learn(data, "BDeu(1)", search="hc", order="columns")
    assert ("smoke", "lung") in free.reversible
    known = md.learn(data, "BDeu(1)", required=[("smoke", "lung")], start=free.dag)
    assert ("smoke", "lung") in known.compelled
    assert ("smoke", "bronc") in known.reversible
    tiers = [["asia", "smoke"], ["tub", "lung", "bronc"], ["either"], ["xray", "dysp"]]
    assert md.learn(data, "BDeu(1)", tiers=tiers).reversible == ()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_likelihood_must_return_a_number(value):
    def odd(table):
        return value if table.n_parents else -1.0

    with pytest.raises(
        ParameterError, match=r"Custom\(odd\) must return a finite number, got .* for '\w+' with parents"
    ):
        md.learn(dataset("asia_1000"), md.Custom(odd))


def test_searches_have_names():
    data = dataset("asia_1000")
    assert md.hill_climb(data, "BIC", max_parents=2).dag == md.learn(data, "BIC", search="hc", max_parents=2).dag
    assert md.tabu(data, "BIC").trace == md.learn(data, "BIC", search="tabu").trace


def test_every_option_is_declared_and_documented():
    searches = [inspect.signature(search).parameters.values() for search in SEARCHES.values()]
    special = {p.name for parameters in searches for p in parameters if p.kind is p.KEYWORD_ONLY}
    general = {field.name for kind in (md.Constraints, Options) for field in fields(kind)}
    own = {"constraints", "catch_interrupt", "cancel"}
    assert set(LearnOptions.__annotations__) == {"search", "order"} | special | general - own | {
        *ReadingOptions.__annotations__
    }
    assert set(LearnOptions.__annotations__) <= set(re.findall(r"\w+", md.learn.__doc__))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"search": "ges"}, ParameterError, "search must be one of orders, hc, tabu"),
        ({"order": "random"}, ParameterError, "order must be"),
        ({"search": "hc", "patience": 3}, ParameterError, "search=\"hc\" takes restarts, perturb, not 'patience'"),
        ({"max_iter": 0}, ParameterError, "max_iter must be a whole number of at least 1, got 0"),
        ({"threads": -1}, ParameterError, "threads must be"),
        ({"time_limit": 0}, ParameterError, "time_limit must be a positive number, got 0"),
        ({"search": "hc", "restarts": -1}, ParameterError, "restarts must be"),
        ({"search": "tabu", "memory": 0}, ParameterError, "memory must be"),
        ({"max_parents": -1}, ParameterError, "max_parents must be a whole number"),
        ({"required": [("smok", "lung")]}, GraphError, "names 'smok', which is not a column; did you mean 'smoke'"),
        ({"forbidden": [("asia", "asia")]}, GraphError, "is a loop"),
        ({"tiers": [["asia"], ["asia"]]}, GraphError, "'asia' is in tiers 1 and 2"),
        ({"tiers": [["asi"]]}, GraphError, "tier 1 has 'asi', which is not a column; did you mean 'asia'"),
        ({"required": [("asia", "tub"), ("tub", "asia")]}, GraphError, "are both required: they form a cycle"),
        ({"required": [("asia",)]}, ParameterError, r"required must be pairs \(from, to\)"),
        ({"required": "asia"}, ParameterError, r"required must be pairs \(from, to\)"),
        ({"tiers": {"asia": 1}}, ParameterError, "tiers must be a sequence of groups"),
        ({"effort": -1}, ParameterError, "effort must be a number of at least 0, got -1"),
        ({"seed": -1}, ParameterError, "seed must be a whole number of at least 0, got -1"),
        ({"search": "hc", "restarts": 1.5}, ParameterError, "restarts must be a whole number"),
        ({"search": "hc", "restarts": 1, "perturb": 0}, ParameterError, "perturb must be a whole number of at least 1"),
        ({"threads": "a"}, ParameterError, "threads must be a whole number"),
        ({"start": "[A][B]"}, ParameterError, "start must be a DAG"),
        ({"required": [("asia", "tub"), ("tub", "lung"), ("lung", "asia")]}, CycleError, "asia -> tub -> lung -> asia"),
        ({"required": [("asia", "tub")], "forbidden": [("asia", "tub")]}, GraphError, "asia -> tub is required, but"),
        ({"required": [("tub", "asia")], "tiers": [["asia"], ["tub"]]}, GraphError, "tub -> asia is required, but"),
        (
            {"required": [("asia", "tub"), ("smoke", "tub")], "max_parents": 1},
            GraphError,
            "tub has 2 required parents, but max_parents is 1",
        ),
        ({"start": md.DAG(["asia"])}, GraphError, "must have the same nodes"),
    ],
)
def test_nonsense_is_refused_with_its_reason(options, error, message):
    with pytest.raises(error, match=message):
        md.learn(dataset("asia_1000"), **options)


def test_a_start_graph_must_obey_the_constraints():
    data = dataset("asia_1000")
    start = md.DAG(data.names, [("asia", "tub"), ("smoke", "tub")])
    with pytest.raises(GraphError, match="start graph has the arc asia -> tub, which"):
        md.learn(data, start=start, forbidden=[("asia", "tub")])
    with pytest.raises(GraphError, match="start graph gives tub 2 parents, but max_parents is 1"):
        md.learn(data, start=start, max_parents=1)


def test_contradictory_priors_are_refused():
    data = dataset("asia_1000")
    with pytest.raises(GraphError, match="the prior requires an arc between asia and tub, but both"):
        md.learn(data, md.CS({"asia->tub": (0.5, 0.5, 0)}) + md.BDeu(1), forbidden=[("asia", "tub"), ("tub", "asia")])
    certain = md.learn(data, md.CS({"asia->smoke": 1, "smoke->dysp": (0, 0, 1)}) + md.BDeu(1))
    assert certain.dag.has_arc("asia", "smoke")
    assert not certain.dag.has_arc("smoke", "dysp")


@pytest.mark.parametrize("n_nodes", [2, 5, 6])
@pytest.mark.parametrize("threads", [1, 2])
def test_both_directions_of_a_pair_are_scored_from_one_table(n_nodes, threads):
    rng = np.random.default_rng(n_nodes)
    cards = [2, 3, 4, 2, 70, 3][:n_nodes]
    # The highest level of each column never occurs, so that BDs and BDeu differ, and so do the two directions of BDs.
    rows = np.column_stack([rng.integers(0, max(card - 1, 2), 3000) for card in cards]).tolist()
    data = as_dataset(rows, cards)
    likelihoods = [md.BDeu(1), md.BDs(10), md.K2(), md.BIC(), md.fNML(), md.qNML(), md.BDeu(1e6)]
    cache = FamilyCache(data, [md.U() + each for each in likelihoods], threads=threads)
    wanted = rng.random((n_nodes, n_nodes)) < 0.7
    np.fill_diagonal(wanted, val=False)
    assert list(cache.pair_up(wanted)) == [n_nodes]
    assert cache.families == n_nodes + wanted.sum()
    places = pairs.find_roots(cache.zobrist, cache.store)
    families = FamilyScores(data, likelihoods)
    for child in range(n_nodes):
        assert cache.store.own[places[child]].tolist() == families.family(child, []).tolist()
        for parent in range(n_nodes):
            found = cache.store.scores[places[child], :, parent]
            if wanted[parent, child]:
                assert found.tolist() == families.family(child, [parent]).tolist()
            else:
                assert np.isnan(found).all()
    assert list(cache.pair_up(wanted)) == []  # known by now


def test_without_rows_there_is_nothing_to_pair_up_and_no_arc():
    data = md.Dataset(list("abcd"), [["x", "y"]] * 4, np.zeros((4, 0), dtype=np.uint8))
    assert list(FamilyCache(data, [md.U() + md.BDeu(1)]).pair_up(~np.eye(4, dtype=np.bool_))) == []
    result = md.learn(data, "BDeu(1)", search="hc")
    assert (result.score, result.dag.arcs) == (0.0, ())


@pytest.mark.parametrize("search", ["hc", "tabu", "orders"])
def test_a_search_that_is_stopped_at_once_still_counts_the_families_of_its_result(search):
    result = md.learn(dataset("asia_1000"), "BDeu(1)", search=search, time_limit=1e-9)
    assert (result.stopped, result.families) == ("time_limit", 8)
