"""A result is a function of data, objective, options and seed: whoever asks, in whatever company, gets the same one.

Samples are small and sparse, so that ties and changes of direction are many: there a search that is interrupted at
another moment, and does not go on exactly where it was, ends elsewhere.
"""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.counts import Counter
from mapdag.search.cache import store
from mapdag.search.climbing import state as graph_state
from mapdag.search.orders import state, trees
from sharing import share_everything

OBJECTIVES = (
    "U+BDeu(10)",
    "Support(3)+MU(c=1)+BDs(1)",
    "MU(c=1)+BDs(1)",
    "U+BDeu(1)",
    "BIC",
    "Support(2)+MU(c=1)+BDs(10)",
    "U+K2",
)
SEARCHES = (
    {"effort": 0.1},
    {"search": "hc", "restarts": 2},
    {"search": "tabu"},
)
SAMPLES = (("insurance", 98, 2), ("child", 23, 3), ("sachs", 20, 1), ("asia", 15, 2))


def pairs(table):
    """Score a table in Python: no compiled search can do that by itself."""
    return -float(table.q_obs * table.r)


@contextmanager
def no_circumstances():
    yield


@contextmanager
def growth_all_the_time():
    """Room for next to nothing at first, and for one more each time that room is made: every moment is interrupted."""
    with pytest.MonkeyPatch.context() as patch:
        larger_store, new_store = store.grown, store.new_store
        larger_trees, new_trees = trees.larger_trees, trees.new_trees
        # Where room is made, sizes are given by position; at first, by name.
        patch.setattr(store, "new_store", lambda *shape, **sizes: new_store(*shape, **dict.fromkeys(sizes, 1)))
        patch.setattr(store, "grown", lambda old, *_: larger_store(old, len(old.scores) + 1, len(old.singles) + 1))
        patch.setattr(state, "new_trees", lambda n, rows, *_: new_trees(n, rows, 1, n))
        patch.setattr(state, "larger_trees", lambda old, *_: larger_trees(old, len(old.own) + 1, len(old.value) + 1))
        yield


@contextmanager
def questions_all_the_time():
    """Every family is asked for in Python, however small it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Counter, "is_compiled", False)
        yield


@contextmanager
def help_all_the_time():
    """Every request is shared among threads, however small it is."""
    with pytest.MonkeyPatch.context() as patch:
        share_everything(patch)
        yield


@contextmanager
def breaks_all_the_time():
    """The compiled search comes back after every node, or every set of parents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "_PATIENCE", 0.0)
        patch.setattr(graph_state, "_BUDGET", 1)
        yield


def weighted(data, weights):
    return md.Dataset(data.names, data.levels, data.codes, weights)


def answer(result):
    """Everything about a result but what it cost."""
    return result.dag, result.score, result.log_prior, result.log_likelihood, result.trace, result.stopped, result.alike


def differences(data, objective, company, options, *, unit_weights=True):
    """Circumstances under which the answer is not the one that `objective` alone gets in one thread."""
    alone = answer(md.learn(data, objective, threads=1, **options))
    odd = []

    def check(what, table=data, goals=(objective,), around=no_circumstances, **more):
        with around():
            found = md.learn(table, list(goals), **options, **more)
        if answer(found[list(goals).index(objective)]) != alone:
            odd.append(what)

    check("8 threads", threads=8)
    for threads in (1, 2):
        check(f"{threads} threads that ask", around=questions_all_the_time, threads=threads)
        check(f"{threads} threads that help", around=help_all_the_time, threads=threads)
    check("growth", around=growth_all_the_time, threads=1)
    check("growth and threads", around=growth_all_the_time, threads=2)
    check("breaks", around=breaks_all_the_time, threads=1)
    check("company before", goals=(*company, objective))
    check("company after", goals=(objective, *company))
    check("company and growth", goals=(*company, objective), around=growth_all_the_time)
    check("company in Python", goals=(md.U() + md.Custom(pairs), objective))
    check("watched", progress=lambda _: None)
    if unit_weights:
        check("unit weights", weighted(data, np.ones(data.n_rows, dtype=np.int64)))
        check("unit weights, threads", weighted(data, np.ones(data.n_rows)), threads=2)
    return odd


@pytest.mark.parametrize("options", SEARCHES, ids=lambda options: options.get("search", "orders"))
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample[0])
def test_circumstances_do_not_matter(sample, options):
    network, rows, seed = sample
    data = md.network(network).sample(rows, seed=seed)
    for objective, other in pairwise(OBJECTIVES[:3]):
        assert differences(data, objective, (other, "BIC"), options) == []


@pytest.mark.slow
@pytest.mark.parametrize("options", SEARCHES, ids=lambda options: options.get("search", "orders"))
@pytest.mark.parametrize("network", ["alarm", "insurance", "child", "hailfinder", "win95pts", "water"])
def test_circumstances_do_not_matter_on_many_samples(network, options):
    for seed in range(4, 7):
        for rows in (20, 60, 200):
            data = md.network(network).sample(rows, seed=seed)
            for i, objective in enumerate(OBJECTIVES):
                company = OBJECTIVES[:i] + OBJECTIVES[i + 1 :]
                assert differences(data, objective, company, options) == [], (network, rows, seed, objective)


@pytest.mark.parametrize("options", SEARCHES, ids=lambda options: options.get("search", "orders"))
def test_fractions_as_weights_do_not_depend_on_circumstances(options):
    if "search" not in options:
        options = {**options, "effort": 0.02}  # every family is asked for in Python
    data = md.network("insurance").sample(60, seed=5)
    rng = np.random.default_rng(1)
    table = weighted(data, rng.gamma(1.0, size=60))
    alone = md.learn(table, "U+BDeu(10)", threads=1, **options)
    assert differences(table, "U+BDeu(10)", ("BIC", "MU(c=1)+BDs(1)"), options, unit_weights=False) == []
    order = rng.permutation(60)
    shuffled = md.Dataset(data.names, data.levels, data.codes[:, order], table.weights[order])
    assert answer(md.learn(shuffled, "U+BDeu(10)", **options)) == answer(alone)


@st.composite
def tied_tables(draw):
    """Tables with more columns than are searched exactly: few rows, copies, functions of other columns."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, rows = draw(st.integers(12, 16)), draw(st.integers(4, 40))
    cards = rng.integers(2, 5, n)
    codes = np.array([rng.integers(0, card, rows) for card in cards])
    for x in range(1, n):
        kind = rng.integers(4)
        if kind == 0:
            codes[x] = codes[x - 1] % cards[x]
        elif kind == 1:
            codes[x] = np.where(rng.random(rows) < 0.3, codes[x], (codes[x - 1] + codes[x // 2]) % cards[x])
    names = tuple(f"X{i}" for i in range(n))
    return md.Dataset(
        names, {name: [str(i) for i in range(card)] for name, card in zip(names, cards, strict=True)}, codes
    )


@given(data=tied_tables(), objective=st.sampled_from(OBJECTIVES))
@settings(max_examples=6)
def test_circumstances_do_not_matter_where_ties_are_many(data, objective):
    company = tuple(other for other in OBJECTIVES[:3] if other != objective)
    assert differences(data, objective, company, {"effort": 0.1}) == []


def test_exact_search_counts_weights_of_one_as_rows():
    for network, rows in (("asia", 30), ("cancer", 12), ("sachs", 25)):
        data = md.network(network).sample(rows, seed=rows)
        table = weighted(data, np.ones(rows, dtype=np.int64))
        for objective in OBJECTIVES:
            one, other = (md.learn(each, objective, search="exact", threads=t) for t, each in ((1, data), (2, table)))
            assert answer(one) == answer(other)
    for one, other in zip(md.best_dags(data, k=5), md.best_dags(table, k=5, threads=1), strict=True):
        assert answer(one) == answer(other)
