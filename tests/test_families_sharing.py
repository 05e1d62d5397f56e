"""Threads that share requests: the same scores to the last bit, whoever does what."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from golden_data import dataset
from mapdag.contracts import Prior, is_same
from mapdag.counts import Request
from mapdag.families import FamilyScores, crew
from mapdag.search import Options
from mapdag.search.climbing.moves import NONE
from mapdag.search.climbing.state import NO_GRAPHS, GraphState
from sharing import share_everything
from strategies import as_dataset, small_data

LIKELIHOODS = (md.BDs(1), md.BDeu(10), md.BIC())


@st.composite
def many_requests(draw):
    rows, cards = draw(small_data(min_columns=1, max_columns=6, max_rows=400))
    nodes = range(len(cards))
    requests = []
    for _ in range(draw(st.integers(1, 5))):
        order = draw(st.permutations(nodes))
        size = draw(st.integers(0, len(order) - 1))
        free = tuple(order[1 + size :])
        candidates = draw(st.sampled_from([None, (), free, free[:1]]))
        requests.append(Request(order[0], tuple(sorted(order[1 : 1 + size])), candidates))
    return as_dataset(rows, cards), requests


@settings(deadline=None, max_examples=60)
@given(asked=many_requests(), backend=st.sampled_from(["auto", "bitsets", "tables", "sorted"]))
def test_shared_requests_get_the_scores_of_one_thread(asked, backend):
    data, requests = asked
    alone = FamilyScores(data, LIKELIHOODS, backend=backend).scores(requests)
    with pytest.MonkeyPatch.context() as patch:
        share_everything(patch)
        shared = FamilyScores(data, LIKELIHOODS, backend=backend, threads=3).scores(requests)
    assert [each.tolist() for each in shared] == [each.tolist() for each in alone]


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 1024, 3000])
def test_blocks_of_rows_add_up(rows, monkeypatch):
    data = md.network("insurance").sample(rows, seed=3)
    requests = [Request(0, (3, 5), tuple(range(6, 27))), Request(2, (), (1, 4)), Request(1, (2, 3))]
    alone = FamilyScores(data, LIKELIHOODS).scores(requests)
    share_everything(monkeypatch)
    shared = FamilyScores(data, LIKELIHOODS, threads=4).scores(requests)
    assert all(np.array_equal(a, b) for a, b in zip(alone, shared, strict=True))


def test_more_requests_than_a_post_has_room_for_are_made_later(monkeypatch):
    # A node with many parents asks for as many smaller families.
    rng = np.random.default_rng(1)
    data = md.Dataset.from_codes(rng.integers(0, 2, (300, 90)))
    names = data.names
    start = md.DAG(names, [(each, names[0]) for each in names[1:80]])
    share_everything(monkeypatch)
    found = [md.hill_climb(data, "BIC", start=start, threads=k, max_iter=3) for k in (1, 3)]
    assert (found[0].trace, found[0].score) == (found[1].trace, found[1].score)


def test_searches_side_by_side_do_not_get_in_each_others_way(monkeypatch):
    share_everything(monkeypatch)
    samples = [dataset("child_115"), dataset("insurance_1000")]
    expected = [md.hill_climb(data, "BDeu(1)", threads=1) for data in samples]
    found = {}

    def search(i):
        found[i] = md.hill_climb(samples[i % 2], "BDeu(1)", threads=2)

    threads = [threading.Thread(target=search, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [found[i].trace for i in range(4)] == [expected[i % 2].trace for i in range(4)]


def test_a_helper_that_fails_is_noticed(monkeypatch):
    share_everything(monkeypatch)
    scores = FamilyScores(dataset("asia_1000"), LIKELIHOODS, threads=2)
    new_crew = scores._new_crew

    def failed(*sizes):
        made = new_crew(*sizes)
        made.board[crew.FAILED] = 1
        return made

    monkeypatch.setattr(scores, "_new_crew", failed)
    with pytest.raises(MemoryError):
        scores.extensions(0, (), (1, 2, 3, 4))


class Same(Prior):
    """A prior with the same odds for every arc, which says so arc by arc."""

    def log_odds(self, nodes):
        return np.full((len(nodes), len(nodes)), -1.5, order="F")

    def __str__(self):
        return "Same"


@pytest.mark.parametrize("search", ["hc", "tabu", "orders"])
def test_odds_that_are_the_same_for_all_arcs_take_no_matrix_and_change_nothing(search):
    data = dataset("asia_1000")
    mu = md.MU(c=1)
    odds = float(mu.log_odds(data.names)[0, 0])
    assert is_same(mu.log_odds(data.names))
    assert is_same((md.Support(3) + mu + md.U()).log_odds(data.names))

    class Matrix(Same):
        def log_odds(self, nodes):
            return np.full((len(nodes), len(nodes)), odds, order="F")

    one, other = (md.learn(data, prior + md.BDs(1), search=search) for prior in (mu, Matrix()))
    assert [(m.kind, m.start, m.end) for m in one.trace] == [(m.kind, m.start, m.end) for m in other.trace]
    cache = Options().make_cache(data, [mu + md.BDs(1)])
    assert cache.problem(mu + md.BDs(1)).odds.shape == (1, 1)


@settings(deadline=None, max_examples=30)
@given(
    drawn=small_data(min_columns=3, max_columns=7, max_rows=40),
    alpha=st.sampled_from([0.1, 1, 20]),
    m=st.integers(1, 6),
)
def test_every_move_is_the_best_one_as_seen_from_scratch(drawn, alpha, m):
    # Bounds are kept from move to move; who comes fresh to a graph has none.
    data = as_dataset(*drawn)
    goal = md.MaxParents(m) + md.U() + md.BDeu(alpha)
    result = md.hill_climb(data, goal, restarts=3, perturb=4, order="columns")
    cache = Options(threads=1).make_cache(data, [goal])
    dag = md.DAG(data.names)
    for move in result.trace:
        if move.kind == "restart":
            break
        state = GraphState(dag, goal, cache)
        while not state.refresh():
            pass
        step = state.best(0.0, NO_GRAPHS)
        assert (data.names[step.start], data.names[step.end], step.delta) == (move.start, move.end, move.delta)
        changes = {"add": dag.with_arc, "delete": dag.without_arc, "reverse": dag.with_reversed}
        dag = changes[move.kind](move.start, move.end)
    else:
        state = GraphState(dag, goal, cache)
        while not state.refresh():
            pass
        assert state.best(0.0, NO_GRAPHS).kind == NONE
