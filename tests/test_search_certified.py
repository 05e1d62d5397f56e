"""Certified search against the enumeration of all graphs and against exact search; its bounds against any graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import GraphError, ParameterError
from mapdag.families import FamilyScores
from mapdag.search import Options, Plan
from mapdag.search.certified.asking import AskedLattice
from mapdag.search.certified.candidates import join, words_of
from mapdag.search.certified.counting import CountedLattice
from mapdag.search.certified.tree import Tree
from mapdag.search.frame.watch import Watch
from naive_exact import scored
from test_search_exact import obeys, problems

pytest.importorskip("highspy", reason="certified search needs HiGHS: pip install 'mapdag[exact]'")


@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_no_graph_scores_higher(problem):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        with pytest.raises(GraphError):
            md.learn(data, objective, search="certified", **constraints)
        return
    best = max(score for _, score in graphs)
    result = md.learn(data, objective, search="certified", threads=1, **constraints)
    assert obeys(result.dag, **constraints)
    assert result.score == pytest.approx(best, rel=1e-12, abs=1e-6)
    assert result.certificate.proved
    assert result.certificate.bound >= best - 1e-9


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


@pytest.mark.parametrize("seed", range(12))
def test_the_best_graph_is_found_from_nothing_and_no_bound_is_below_it(seed):
    check_tree(np.random.default_rng(seed), 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_the_best_graph_is_found_from_nothing_in_many_cases(seed):
    rng = np.random.default_rng([1, seed])
    check_tree(rng, int(rng.integers(3, 13)))


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
    tree.run()
    assert tree.score == pytest.approx(best, abs=1e-9)
    assert best - 1e-9 <= tree.bound <= best + 2e-6
    assert tree._relaxation.total + bounds[0] >= best - 1e-9  # nothing had been decided then
