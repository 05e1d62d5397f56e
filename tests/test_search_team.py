"""Explorations side by side: who does what, when, and beside whom leaves no trace."""

import threading
import time

import numpy as np
import pytest

import mapdag as md
from mapdag.search.cache.gate import Gate
from mapdag.search.cache.store import new_store

NETWORKS = (("alarm", 300), ("insurance", 200), ("hailfinder", 250), ("win95pts", 300))


@pytest.mark.parametrize(("network", "rows"), NETWORKS)
def test_threads_do_not_change_the_search_over_orders(network, rows):
    data = md.network(network).sample(rows, seed=7)
    one = md.learn(data, threads=1, effort=0.5)
    for threads in (2, 3, 7, 50):  # with 50, explorations are begun that are not needed
        many = md.learn(data, threads=threads, effort=0.5)
        assert (many.dag, many.score, many.trace) == (one.dag, one.score, one.trace)


def test_questions_of_all_explorations_are_asked_together():
    class Counted(md.counts.Counter):
        calls = 0

        @property
        def is_compiled(self):
            return False

        def tables(self, requests):
            Counted.calls += 1
            return super().tables(requests)

    data = md.network("child").sample(300, seed=1)
    expected = md.learn(data, effort=0.3)
    asked = md.learn(data, effort=0.3, engine=Counted)
    assert (asked.dag, asked.score, asked.trace) == (expected.dag, expected.score, expected.trace)
    assert Counted.calls < asked.families / 20


def test_searches_in_many_threads_share_a_cache_without_a_trace():
    # Searches that start together, each in its own thread, on one machine: stores, memos and pools must not mix.
    data = [md.network("insurance").sample(150, seed=seed) for seed in range(4)]
    alone = [md.learn(each, threads=1, effort=0.3) for each in data]
    found = [None] * 4

    def learn(i):
        found[i] = md.learn(data[i], threads=2, effort=0.3)

    threads = [threading.Thread(target=learn, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [(each.dag, each.score, each.trace) for each in found] == [(e.dag, e.score, e.trace) for e in alone]


def test_an_error_in_a_thread_ends_the_search(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("mapdag.search.orders.state.explore", fail)
    with pytest.raises(MemoryError):
        md.learn(md.network("alarm").sample(200, seed=1), threads=3)


def test_a_time_limit_ends_all_threads():
    data = md.network("andes").sample(2000, seed=1)
    md.learn(data, threads=3, effort=0.01)
    began = time.perf_counter()
    result = md.learn(data, threads=3, time_limit=0.3)
    assert result.stopped == "time_limit"
    assert time.perf_counter() - began < 30
    assert result.score >= md.hill_climb(data).score


def test_who_rebuilds_is_alone():
    gate, inside, worst = Gate(), [0], [0]
    lock = threading.Lock()

    def visit():
        for _ in range(200):
            with gate.inside():
                with lock:
                    inside[0] += 1
                with lock:
                    inside[0] -= 1

    def rebuild():
        for _ in range(100):
            with gate.alone(), gate.alone():  # who is alone stays so
                worst[0] = max(worst[0], inside[0])

    threads = [threading.Thread(target=visit) for _ in range(4)] + [threading.Thread(target=rebuild) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert not any(each.is_alive() for each in threads)
    assert worst == [0]


def test_who_finds_the_work_done_meanwhile_waits_for_nobody():
    gate = Gate()
    entered, leave = threading.Event(), threading.Event()

    def visit():
        with gate.inside():
            entered.set()
            leave.wait(30)

    visitor = threading.Thread(target=visit)
    visitor.start()
    entered.wait(30)
    with gate.alone(lambda: False) as mine, gate.inside():
        assert not mine
        assert visitor.is_alive()
    leave.set()
    visitor.join(30)
    with gate.alone(lambda: True) as mine, gate.alone(lambda: False) as again:
        assert (mine, again) == (True, False)


def test_threads_claim_places_in_a_store_once():
    from mapdag.search.cache.store import COLUMNS, SINGLES, find_column, keep_single, make_column

    store = new_store(5, 2, columns=4000, singles=4000)
    keys = np.random.default_rng(1).integers(0, 2**64, (3000, 2), dtype=np.uint64)
    made = [[0] * len(keys) for _ in range(4)]

    def work(who):
        for i in np.random.default_rng(who).permutation(len(keys)).tolist():
            made[who][i] = make_column(keys[i], store)
            assert keep_single(keys[i], np.array([float(i), -float(i)]), store)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert store.used[COLUMNS] == store.used[SINGLES] == len(keys)
    assert made[0] == made[1] == made[2] == made[3] == [find_column(key, store) for key in keys]
    assert sorted(made[0]) == list(range(len(keys)))
