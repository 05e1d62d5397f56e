"""Certified search against the enumeration of all graphs and against exact search; its bounds against any graph."""

import json
import math
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import GraphError, MapdagWarning, ParameterError
from mapdag.families import FamilyScores
from mapdag.graphs.masks import members
from mapdag.search import Options, Plan
from mapdag.search.certified import proof
from mapdag.search.certified.asking import AskedLattice
from mapdag.search.certified.atoms import find_atoms
from mapdag.search.certified.candidates import join, words_of
from mapdag.search.certified.counting import CountedLattice
from mapdag.search.certified.cuts import Adjacent, Cluster, Separator, has_parent
from mapdag.search.certified.relaxation import Relaxation
from mapdag.search.certified.sets import Listed, tighten_limits
from mapdag.search.certified.tree import Tree
from mapdag.search.frame.watch import Watch
from mapdag.search.orders.search import search_orders
from naive_exact import scored
from test_search_exact import obeys, problems

pytest.importorskip("highspy", reason="certified search needs HiGHS: pip install 'mapdag[exact]'")


@contextmanager
def proved_by(way):
    """Prove by cuts and decisions, by cuts and then dynamic programming, or by dynamic programming at once."""
    with pytest.MonkeyPatch.context() as patch:
        if way != "sets":
            patch.setattr(proof, "AT_ONCE", 0)
        if way == "cuts":
            patch.setattr(proof, "is_small", lambda _: False)
        yield


WAYS = "cuts", "cuts and sets", "sets"


@given(problem=problems(), way=st.sampled_from(WAYS))
@settings(max_examples=80, deadline=None)
def test_no_graph_scores_higher(problem, way):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        with pytest.raises(GraphError):
            md.learn(data, objective, search="certified", **constraints)
        return
    best = max(score for _, score in graphs)
    with proved_by(way):
        result = md.learn(data, objective, search="certified", threads=1, **constraints)
    assert obeys(result.dag, **constraints)
    assert result.score == pytest.approx(best, rel=1e-12, abs=1e-6)
    assert result.certificate.proved
    assert result.certificate.bound >= best - 1e-9


def test_all_graphs_of_five_nodes():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (80, 5))
    rows[:, 3] = rows[:, 0] ^ rows[:, 1]
    data = md.Dataset.from_codes(rows, names=list("ABCDE"), levels=[2] * 5)
    graphs = list(scored(data, "MU(1/2)+BDs(1)"))
    assert len(graphs) == 29281
    best = max(score for _, score in graphs)
    for way in WAYS:
        with proved_by(way):
            result = md.learn(data, "MU(1/2)+BDs(1)", search="certified")
        assert result.certificate.proved
        assert result.score == pytest.approx(best, abs=1e-6)


def random_problem(rng):
    """A table, an objective and constraints, of all kinds."""
    n = int(rng.integers(5, 9))
    names = [f"X{i}" for i in range(n)]
    cards = rng.integers(2, 4, n)
    rows = rng.integers(0, cards, (int(rng.integers(20, 400)), n))
    for child in range(1, n):  # some depend on others, alone or together
        parents = rng.choice(child, min(child, int(rng.integers(0, 4))), replace=False)
        copied = rng.random(len(rows)) < 0.7
        rows[copied, child] = rows[copied][:, parents].sum(axis=1) % cards[child]
    pick = lambda items: items[int(rng.integers(len(items)))]  # noqa: E731
    likelihood = pick(["BDs(1)", "BDs(10)", "BDeu(1)", "K2", "BIC", "AIC", "fNML", "qNML"])
    weights = rng.integers(1, 4, len(rows)) + (0.0 if "NML" in likelihood else rng.random(len(rows)))
    some = weights if rng.random() < 0.25 else None
    data = md.Dataset.from_codes(rows, names=names, levels=cards.tolist(), weights=some)
    prior = pick(["U", "MU(c=1)", "VSP(0.2)", 'CS({"X0->X1": 0.9, "X1->X2": 0})', 'CS({"X0->X1": [0.5, 0.5, 0]})'])
    support = pick(["", "", "Support(3)+"])
    order = rng.permutation(n)
    constraints = pick(
        [
            {},
            {},
            {"max_parents": int(rng.integers(1, 4))},
            {"required": [(names[order[0]], names[order[1]])], "forbidden": [(names[order[2]], names[order[3]])]},
            {"tiers": [[names[i] for i in order[: n // 2]], [names[i] for i in order[n // 2 :]]], "max_parents": 3},
        ]
    )
    return data, f"{support}{prior}+{likelihood}", constraints


def check_against_exact_search(seed):
    rng = np.random.default_rng([18, seed])
    data, objective, constraints = random_problem(rng)
    try:
        best = md.learn(data, objective, search="exact", **constraints)
    except GraphError:
        with pytest.raises(GraphError):
            md.learn(data, objective, search="certified", **constraints)
        return
    with proved_by(WAYS[seed % 3 % 2]):
        found = md.learn(data, objective, search="certified", **constraints)
    assert found.certificate.proved
    assert found.certificate.bound >= found.score
    assert found.score == pytest.approx(best.score, abs=2e-6)


def test_the_best_graph_is_that_of_exact_search():
    for seed in range(30):
        check_against_exact_search(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 200))
def test_the_best_graph_is_that_of_exact_search_in_many_cases(seed):
    check_against_exact_search(seed)


@given(problem=problems(), slack=st.sampled_from([0.0, 2.0]))
@settings(max_examples=60, deadline=None)
def test_families_that_are_counted_and_asked_for_are_the_same(problem, slack):
    data, objective, constraints = problem
    goal, options = md.parse(objective), Plan.make(**constraints).options
    try:
        cache = options.make_cache(data, [goal])
        cache.rules(goal)
    except GraphError:
        return
    scores = FamilyScores(data, [cache.criterion(goal)])
    one, other = (
        kind(goal, cache, Watch(options), scores, slack=slack).enumerate() for kind in (CountedLattice, AskedLattice)
    )
    assert (one.families.sets == other.families.sets).all()
    assert (one.families.scores == other.families.scores).all()
    assert (one.families.starts == other.families.starts).all()


@pytest.mark.parametrize("n_rows", [1, 63, 64, 300])
def test_tables_of_few_and_of_many_cells_are_counted_alike(n_rows):
    cards = [2, 13, 3, 14, 2, 15]
    rng = np.random.default_rng(n_rows)
    data = md.Dataset.from_codes(rng.integers(0, cards, (n_rows, 6)), levels=cards)
    goal, options = md.parse("MU(1/2)+BDs(1)"), Plan.make(max_parents=3).options
    cache = options.make_cache(data, [goal])
    scores = FamilyScores(data, [cache.criterion(goal)])
    one, other = (
        kind(goal, cache, Watch(options), scores, slack=1e9).enumerate() for kind in (CountedLattice, AskedLattice)
    )
    assert (one.families.sets == other.families.sets).all()
    assert (one.families.scores == other.families.scores).all()


@pytest.mark.parametrize("likelihood", ["BDs(1)", "BDs(8)", "BDeu(0.3)", "BDeu(20)", "K2", "BDJ"])
def test_no_larger_family_exceeds_what_atoms_leave(likelihood):
    goal = md.parse(likelihood)
    tightest = 0.0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        cards = rng.integers(2, 5, 5)
        rows = rng.integers(0, cards, (int(rng.integers(5, 200)), 5))
        rows[:, 0] = np.where(rng.random(len(rows)) < 0.8, rows[:, 1] % cards[0], rows[:, 0])
        data = md.Dataset.from_codes(rows, levels=cards.tolist())
        atoms = find_atoms(data.codes, data.cards.astype(np.int64), ~np.eye(5, dtype=bool))
        families = FamilyScores(data, [goal.likelihood])
        scores = {mask: families.family(0, members(mask))[0] for mask in range(0, 32, 2)}
        for mask in scores:
            limit = what_atoms_leave(data, goal.likelihood, members(mask), atoms)
            cells = len(np.unique(rows[:, [0, *members(mask)]], axis=0))
            assert limit <= -cells * np.log(cards[0]) + 1e-9
            above = [score for other, score in scores.items() if other & mask == mask and other != mask]
            assert all(score <= limit + 1e-9 for score in above)
            tightest = max([tightest, *(score / limit for score in above)])
    assert tightest > 0.5  # it is a bound that says something


def what_atoms_leave(data, likelihood, parents, atoms):
    """What no family of node 0 exceeds with more than some parents."""
    columns = data.codes.T
    groups = np.array([len(np.unique(columns[:, [0, *parents]], axis=0))], dtype=np.int32)
    observed = len(np.unique(columns[:, parents], axis=0)) if len(parents) else 1
    r, declared = data.cards[0], np.prod(data.cards[list(parents)])
    pseudo = {
        "BDs": lambda: likelihood.alpha / (r * observed),
        "BDeu": lambda: likelihood.alpha / (r * declared),
        "K2": lambda: 1.0,
        "BDJ": lambda: 0.5,
    }[type(likelihood).__name__]()
    zero = np.zeros(1, dtype=np.int64)
    listed = Listed(zero, zero, zero.astype(np.uint64), zero, np.zeros(1), np.zeros(1), np.ones(1))
    limits = np.zeros(1)
    tighten_limits(listed, groups, np.array([float(pseudo)]), data.cards.astype(np.int64), atoms, limits)
    return min(limits[0], -groups[0] * np.log(r))


def random_families(rng, n, words=1):
    """Families with scores that mean nothing: hard for any search."""
    parts = []
    for child in range(n):
        others = [x for x in range(n) if x != child]
        sets = {0: 0.0}
        for _ in range(rng.integers(2, 25)):
            some = rng.choice(others, rng.integers(1, min(4, n)), replace=False)
            sets[sum(1 << int(x) for x in some)] = float(rng.normal(5, 3))
        order = sorted(sets, key=lambda each: -sets[each])
        parts.append((words_of(order, words), np.array([sets[each] for each in order])))
    return join(parts)


def best_by_sets(families):
    """Score of the best graph, by dynamic programming over sets of nodes."""
    n = families.n_nodes
    parents = [int(word[0]) for word in families.sets]
    best = [0.0]
    for nodes in range(1, 1 << n):
        top = -np.inf
        for child in range(n):
            if nodes >> child & 1:
                before = nodes & ~(1 << child)
                mine = range(families.starts[child], families.starts[child + 1])
                first = next(f for f in mine if parents[f] & ~before == 0)
                top = max(top, best[before] + families.scores[first])
        best.append(top)
    return best[-1]


def test_the_best_graph_is_found_from_nothing_and_no_bound_is_below_it():
    for seed in range(60):
        check_tree(np.random.default_rng(seed), 3 + seed % 8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_the_best_graph_is_found_from_nothing_in_many_cases(seed):
    rng = np.random.default_rng([1, seed])
    check_tree(rng, int(rng.integers(8, 14)))


def test_the_best_graph_is_found_by_deciding_arcs_where_cuts_are_few(monkeypatch):
    monkeypatch.setattr(Separator, "facets", lambda *_: [])
    parts = [check_tree(np.random.default_rng(seed), 9).n_nodes for seed in range(25)]
    assert max(parts) > 2


def check_tree(rng, n):
    families = random_families(rng, n)
    best = best_by_sets(families)
    bounds = []
    tree = Tree(families, (), Watch(Options(threads=1)))
    bound = tree._relaxation.bound

    def noted():
        bounds.append(bound())
        return bounds[-1]

    tree._relaxation.bound = noted
    told = []  # what would be told if it were stopped here
    tell = tree._tell

    def note():
        told.append(tree.bound)
        tell()

    tree._tell = note
    tree.run()
    assert min(told) >= best - 1e-9
    assert all(after <= before + 1e-9 for before, after in pairwise(told))
    assert tree.score == pytest.approx(best, abs=1e-9)
    assert best - 1e-9 <= tree.bound <= best + 2e-6
    assert tree._relaxation.total + bounds[0] >= best - 1e-9  # nothing had been decided then
    return tree


def test_bounds_are_safe_whatever_the_solver_says():
    rng = np.random.default_rng(0)
    for _ in range(20):
        families = random_families(rng, 6)
        relaxation = Relaxation(families)
        best = best_by_sets(families)
        for _ in range(5):
            member = rng.random(6) < 0.6
            if member.sum() > 1:
                relaxation.add([Cluster(member, 1)])
        for _ in range(20):
            relaxation.multipliers = rng.exponential(2.0, len(relaxation.cuts))
            assert relaxation.total + relaxation.bound() >= best - 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_graphs_that_come_next_and_common_arcs_are_those_of_exact_search(seed):
    data = md.network("asia").sample(200, seed=seed).select(["tub", "smoke", "lung", "bronc", "either"])
    ranked = md.best_dags(data, "MU(c=1)+BDs(1)", k=150)
    found = md.learn(data, "MU(c=1)+BDs(1)", search="certified", within=0.8, ranks=8).certificate
    assert [score for _, score in found.ranked] == pytest.approx([each.score for each in ranked[:8]], abs=1e-6)
    assert len({dag for dag, _ in found.ranked}) == 8
    close = [each.dag for each in ranked if each.score > ranked[0].score - 0.8 + 2e-6]
    assert len(close) < 150
    assert set(found.arcs) == set.intersection(*({*dag.arcs} for dag in close))
    assert {frozenset(edge) for edge in found.edges} == set.intersection(
        *({frozenset(arc) for arc in dag.arcs} for dag in close)
    )


def test_the_bound_says_where_no_graph_is_left():
    rng = np.random.default_rng(1)
    for _ in range(5):
        families = random_families(rng, 6)
        without = np.ones(len(families.owner), dtype=np.bool_)
        for parent, child in ((0, 1), (1, 0)):
            without &= ~(has_parent(families, parent) & (families.owner == child))
        relaxation = Relaxation(families)
        relaxation.add([Adjacent(0, 1)])
        relaxation.solve()
        assert (relaxation.bound() > -math.inf) == (not without.all())
        relaxation.restrict(without)
        relaxation.solve()
        assert relaxation.bound() == -math.inf


@pytest.mark.parametrize("way", WAYS)
def test_where_pairs_must_be_adjacent_parts_without_graphs_are_left_at_once(way):
    rows = [[0, -1, 0, 2, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, -1], [0, 0, 0, 2, 0], [0, -1, 0, 0, 0], [0, 0, 0, 2, -1]]
    weights, cards = [2, 11, 1, 6, 3, 1, 2], [1, 1, 4, 3, 1]
    data = md.Dataset.from_codes([*rows, [0, 0, -1, 1, 0]], names=list("ABCDE"), levels=cards, weights=weights, gap=-1)
    pairs = {
        "D->B": [0.2, 0.3, 0.5],
        "D->A": [0, 0.5, 0.5],
        "C->A": [0.6, 0.4, 0],
        "C->D": [0, 0.5, 0.5],
        "B->E": [0, 0.5, 0.5],
        "B->C": [1, 0, 0],
        "E->D": [0.95, 0.05, 0],
        "C->E": 0.67,
        "E->A": [0.6, 0.4, 0],
        "B->A": 0.49,
    }
    objective = md.Support(2.5) + md.CS(pairs) + md.NAL()
    best = md.best_dags(data, objective, k=400)
    with proved_by(way):
        found = md.learn(data, objective, search="certified", within=0.5, ranks=3, time_limit=120)
    assert found.stopped == "converged"
    near = [set(each.dag.arcs) for each in best if each.score > best[0].score - 0.5]
    assert len(near) < len(best)
    assert set(found.certificate.arcs) == set.intersection(*near)
    joined = [{frozenset(arc) for arc in arcs} for arcs in near]
    assert {frozenset(edge) for edge in found.certificate.edges} == set.intersection(*joined)


def test_a_known_graph_is_certified_as_it_is():
    data = md.network("asia").sample(500, seed=1)
    poor = md.Result.given(md.DAG(data.names), data, "MU(c=1)+BDs(1)")
    best = md.learn(data, "MU(c=1)+BDs(1)", search="exact")
    found = md.certify(poor)
    assert found.dag == poor.dag
    assert found.certificate.gap == pytest.approx(best.score - poor.score, abs=1e-5)
    assert not found.certificate.proved
    assert "within" in str(found.certificate)
    assert md.certify(best).certificate.proved
    assert md.certify(best).certificate.complete


def test_what_is_proved_is_said_exactly():
    data = md.network("asia").sample(500, seed=1)
    assert md.learn(data, "MU(c=1)+BDs(1)", search="certified").certificate.among == "all graphs"
    assert md.learn(data, search="certified").certificate.among == "all graphs that Support(3) allows"
    limited = md.learn(data, search="certified", max_parents=1, forbidden=[("asia", "tub")]).certificate
    assert limited.among == "graphs with at most 1 parent that Support(3) allows and that obey the constraints"
    assert str(limited) == f"proved optimal among {limited.among}"
    larger = md.certify(md.Result.given(md.network("asia").dag, data, "BDeu(1)"), max_parents=2).certificate
    assert larger.among == "graphs with at most 2 parents"


def test_a_graph_that_breaks_the_constraints_is_not_certified():
    data = md.network("asia").sample(100, seed=1)
    with pytest.raises(GraphError, match="max_parents is 1"):
        md.certify(md.Result.given(md.network("asia").dag, data), max_parents=1)


def test_a_graph_that_is_none_of_those_that_are_allowed_is_not_certified():
    data = md.network("asia").sample(500, seed=1)
    best = md.learn(data, "BDeu(1)", search="exact")
    for limits, why in (
        ({"required": [("asia", "xray")]}, "lacks the arc asia -> xray"),
        ({"forbidden": best.dag.arcs[:1]}, f"has the arc {' -> '.join(best.dag.arcs[0])}"),
        ({"tiers": [[best.dag.arcs[0][1]], [best.dag.arcs[0][0]]]}, f"has the arc {' -> '.join(best.dag.arcs[0])}"),
    ):
        with pytest.raises(GraphError, match=f"cannot be certified: it {why}"):
            md.certify(best, **limits)
    for objective, why in (
        ("MaxParents(1)+BDeu(1)", "max_parents is 1"),
        ('CS({"asia->xray": [1, 0, 0]})+BDeu(1)', "lacks"),
    ):
        with pytest.raises(GraphError, match=why):
            md.certify(md.Result.given(md.network("asia").dag, data, objective))


def test_thin_required_arcs_are_certified_with_their_constraints_only():
    rng = np.random.default_rng(0)
    data = md.read(rng.integers(0, 5, (100, 5)), max_levels=5)
    required = [(parent, "X5") for parent in data.names[:3]]
    with pytest.warns(MapdagWarning, match="win"):
        found = md.learn(data, required=required)
    with pytest.raises(GraphError, match=r"more thinly than Support\(3\) allows: X5 .* required arcs, pass these"):
        md.certify(found)
    with pytest.warns(MapdagWarning, match="win"):
        told = md.certify(md.Result.given(found.dag, data), required=required)
    assert told.score == told.certificate.score == found.score
    assert told.certificate.proved


def test_a_certificate_under_a_limit_on_parents_is_complete():
    data = md.network("asia").sample(500, seed=1)
    for engine in ("cores", "blocks"):  # families that are counted by sets, and those that are asked for
        for objective, limits in (("MaxParents(1)+BDeu(10)", {}), ("BDeu(10)", {"max_parents": 1})):
            told = md.learn(data, objective, search="certified", engine=engine, **limits).certificate
            assert (told.complete, told.among) == (True, "graphs with at most 1 parent")


def test_priors_that_look_at_whole_graphs_and_impossible_constraints_are_refused():
    data = md.network("asia").sample(100, seed=1)
    with pytest.raises(ParameterError, match="sum over arcs"):
        md.learn(data, 'LogLinear(["leaves"])+BDeu(1)', search="certified")
    with pytest.raises(GraphError, match="both required"):
        md.learn(data, search="certified", required=[("asia", "tub"), ("tub", "asia")])
    with pytest.raises(ParameterError, match="within"):
        md.learn(data, search="certified", within=-1)
    with pytest.raises(ParameterError, match="within"):
        md.learn(data, search="hc", within=1)


@pytest.mark.parametrize(
    ("constraints", "why"),
    [
        ({"required": [("asia", "tub"), ("tub", "either"), ("either", "asia")]}, "cycle"),
        ({"required": [("asia", "tub"), ("smoke", "tub")], "max_parents": 1}, "tub has 2 required parents"),
        ({"required": [("asia", "tub")], "tiers": [["tub"], ["asia"]]}, "asia -> tub is required, but"),
        ({"required": [("asia", "tub")], "forbidden": [("asia", "tub")]}, "asia -> tub is required, but"),
        ({"required": [("asia", "nobody")]}, "'nobody', which is not a column"),
    ],
)
def test_constraints_that_no_graph_obeys_are_refused(constraints, why):
    data = md.network("asia").sample(100, seed=1)
    with pytest.raises(GraphError, match=why):
        md.learn(data, search="certified", **constraints)


def test_limits_end_with_a_graph_and_what_is_known_of_it():
    data = md.network("insurance").sample(300, seed=1)
    result = md.learn(data, "MU(c=1)+BDs(1)", search="certified", time_limit=1e-3)
    assert result.stopped == "time_limit"
    assert result.certificate.bound == np.inf
    assert not result.certificate.proved
    assert "no bound" in str(result)


def test_time_that_the_default_search_has_used_up_is_not_all_of_it(monkeypatch):
    data = md.network("asia").sample(300, seed=1)
    given = []

    def search(objective, cache, options, **special):
        given.append(options.time_limit)
        return replace(search_orders(objective, cache, options, **special), stopped="time_limit")

    monkeypatch.setattr(proof, "search_orders", search)
    result = md.learn(data, search="certified", time_limit=1000)
    assert given[0] < 1000
    assert result.certificate.proved
    assert result.stopped == "converged"


def test_ctrl_c_ends_the_proof_with_the_graph_and_the_bound_so_far():
    data = md.network("insurance").sample(300, seed=1)
    told = []

    def stop(progress):
        told.append(progress.phase)
        if sum(phase.startswith("proving") for phase in told) == 3:
            raise KeyboardInterrupt

    result = md.learn(data, "MU(c=1)+BDs(1)", search="certified", max_parents=2, progress=stop)
    assert result.stopped == "interrupted"
    assert np.isfinite(result.certificate.bound)
    assert result.certificate.bound >= result.score
    assert "enumerating" in told


@pytest.mark.parametrize("goal", ["MU(c=1)+BDs(1)", md.Custom(lambda counts: -float(len(counts.counts)))])
def test_an_enumeration_that_is_interrupted_leaves_a_bound_on_smaller_families(goal):
    data = md.network("insurance").sample(300, seed=1)
    data = data.select(data.names[:9])

    def stop(progress):
        if progress.phase == "enumerating" and progress.families > 9 * 8 * 7:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(0.3)  # until the main thread has heard of it

    result = md.learn(data, goal, search="certified", max_parents=6, progress=stop)
    assert result.stopped == "interrupted"
    assert "graphs with at most" in result.certificate.among
    assert "6 parents" not in result.certificate.among
    assert result.score <= result.certificate.bound < np.inf


def test_weighted_rows_and_own_likelihoods_are_certified_too():
    table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 1, 0], "n": [9.5, 2.5, 3, 12]}
    data = md.read(table, weights="n", codes=True)
    for goal in ("BDeu(1)", md.Custom(lambda counts: -float(counts.q_obs))):
        result = md.learn(data, goal, search="certified")
        assert result.certificate.proved
        assert result.score == pytest.approx(md.learn(data, goal, search="exact").score)


@pytest.mark.parametrize("n", [1, 2])
def test_one_node_and_two(n):
    result = md.learn({f"x{i}": [0, 1, 1, 0, 1] for i in range(n)}, "MU(1/2)+BDeu(1)", search="certified")
    assert result.certificate.proved
    assert result.dag.n_arcs == n - 1


def test_certificates_go_through_the_command_line(tmp_path, run):
    md.write_table(md.network("asia").sample(500, seed=1), tmp_path / "t.csv")
    options = "--search", "certified", "--within", "1", "--ranks", "2"
    code, out, _ = run("learn", tmp_path / "t.csv", *options, "--json")
    found = json.loads(out)["certificate"]
    assert code == 0
    assert found["proved"] is True
    assert found["gap"] <= 1e-6
    assert found["among"] == "all graphs that Support(3) allows"
    assert len(found["ranked"]) == 2
    code, out, _ = run("learn", tmp_path / "t.csv", *options)
    assert "proved optimal among all graphs that Support(3) allows" in out
    assert "the next best graphs are lower by" in out


@pytest.mark.parametrize("seed", range(6))
def test_gaps_are_no_levels(seed):
    rng = np.random.default_rng(seed)
    rows, n = [5, 120, 30, 60, 8, 90][seed], 3 + seed % 3
    codes = rng.integers(0, 3, size=(rows, n))
    codes[:, 1] = np.where(rng.random(rows) < 0.8, codes[:, 0], codes[:, 1])
    gone = rng.random((rows, n)) < [0.7, 0.3, 0.05, 0.3, 0.7, 0.7][seed]
    columns = {
        f"v{i}": [None if gap else str(x) for x, gap in zip(codes[:, i], gone[:, i], strict=True)] for i in range(n)
    }
    data = md.read(columns, missing="keep", levels={name: ["0", "1", "2"] for name in columns})
    for objective in ("PNAL", "NAL", "MU(c=1)+PNAL"):
        best, found = (md.learn(data, objective, search=search) for search in ("exact", "certified"))
        assert found.score == pytest.approx(best.score, rel=1e-12)
        assert found.score == pytest.approx(md.score(found.dag, data, objective), rel=1e-12)
        assert found.certificate.proved
        assert "proved" in str(found.certificate)


# The graphs that come next --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("few", [0, 8], ids=["by the tree", "by dynamic programming"])
def test_ranked_graphs_are_the_best_ones(few, monkeypatch):
    monkeypatch.setattr(proof, "_FEW", few)
    rng = np.random.default_rng(1)
    for case in range(25):
        n, rows = int(rng.integers(2, 5)), int(rng.choice([4, 10, 100]))
        codes = rng.integers(0, 2, size=(rows, n))
        if case % 3 == 0:
            codes[:, 1] = codes[:, 0]  # ties
        data = md.Dataset.from_codes(codes, levels=[["0", "1"]] * n)
        objective, k = ["AIC", "BIC", "BDJ", "BDeu(1)", "K2"][case % 5], int(rng.choice([2, 3, 8]))
        options = [{}, {"max_parents": 1}, {"required": [data.names[:2]]}][case % 3]
        found = md.learn(data, objective, search="certified", ranks=k, threads=1, **options).certificate.ranked
        wanted = md.best_dags(data, objective, k=k, threads=1, **options)
        assert [score for _, score in found] == pytest.approx([each.score for each in wanted], abs=1e-6)
        assert len({dag for dag, _ in found}) == len(found)
        assert all(score == pytest.approx(md.score(dag, data, objective)) for dag, score in found)


@pytest.mark.parametrize("few", [0, 8])
def test_ranking_ends_where_there_are_no_more_graphs(few, monkeypatch):
    """No graph was known then, and arcs were decided again and again."""
    monkeypatch.setattr(proof, "_FEW", few)
    data = md.Dataset.from_codes(np.random.default_rng(2).integers(0, 2, size=(30, 3)))
    a, b, c = data.names
    options = {"search": "certified", "threads": 1, "max_parents": 1}
    found = md.learn(data, "K2", required=[(a, b), (b, c)], ranks=5, **options)
    assert [dag for dag, _ in found.certificate.ranked] == [md.DAG(data.names, [(a, b), (b, c)])]
    assert len(md.learn(data, "K2", ranks=10**6 if few else 20, **options).certificate.ranked) == 16


@pytest.mark.parametrize(
    "options", [{"within": math.nan}, {"within": -5}, {"within": "a"}, {"ranks": 0}, {"ranks": 1.5}]
)
def test_certifying_checks_its_options_as_learning_does(options):
    found = md.hill_climb(md.network("cancer").sample(50, seed=1), "BDs")
    with pytest.raises(ParameterError, match=next(iter(options))):
        md.certify(found, **options)


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_ranks_begin_with_the_graph_of_the_result(ranks):
    for seed in range(6):
        codes = np.random.default_rng(seed).integers(0, 2, (12, 4))
        codes[:2] = [[0] * 4, [1] * 4]
        codes[:, 1] = codes[:, 0] if seed % 3 == 0 else codes[:, 1]
        data = md.Dataset.from_codes(codes, names=list("ABCD"), levels=[2] * 4)
        for objective in ("BDeu(1)", "BIC", "K2"):
            found = md.learn(data, objective, search="certified", ranks=ranks)
            ranked = found.certificate.ranked
            assert ranked[0][0] == found.dag
            assert len({dag for dag, _ in ranked}) == ranks
            scores = [each.score for each in md.best_dags(data, objective, k=ranks)]
            assert [score for _, score in ranked] == pytest.approx(scores, abs=1e-9)
            assert found.dag == md.learn(data, objective, search="certified").dag
