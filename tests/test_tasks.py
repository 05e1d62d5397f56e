"""Independent tasks in threads: who does them, when and beside what else leaves no trace; none is lost."""

import threading
import time
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from golden_data import dataset
from mapdag.errors import DataError, ParameterError
from mapdag.notices import warn
from mapdag.search.frame import memory
from mapdag.tasks import Lane, divide, run_tasks, within

ASIA = dataset("asia_1000")


@dataclass
class Squares:
    """A job that notes what goes on."""

    pause: float = 0.0
    fails_at: int = -1
    at_work: int = 0
    most: int = 0
    begun: list = field(default_factory=list)
    lanes: list = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def do(self, number, lane):
        with self.lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            self.begun.append(number)
            self.lanes.append(lane)
        lane.cancel.wait(self.pause)
        if number == self.fails_at:
            raise DataError("number seven is broken")
        with self.lock:
            self.at_work -= 1
        return number**2


@given(threads=st.integers(1, 70), tasks=st.integers(0, 200))
def test_threads_are_divided_and_none_is_used_twice(threads, tasks):
    lanes = divide(threads, tasks)
    assert len(lanes) == max(min(threads, tasks), 1)
    assert sum(lanes) == threads
    assert min(lanes) >= 1
    assert max(lanes) - min(lanes) <= 1


@pytest.mark.parametrize("threads", [0, -1, 2.5, "many"])
def test_so_many_threads_there_are_not(threads):
    with pytest.raises(ParameterError, match="threads must be a whole number of at least 1"):
        divide(threads, 3)


@pytest.mark.parametrize(("count", "threads"), [(0, 3), (1, 4), (20, 1), (20, 3), (3, 20)])
def test_every_task_is_done_once(count, threads):
    job = Squares(pause=0.001)
    found = dict(run_tasks(job, count, what="square", threads=threads))
    assert found == {number: number**2 for number in range(count)}
    assert sorted(job.begun) == list(range(count))
    assert job.most <= threads


def test_no_more_are_under_way_than_find_room():
    job = Squares(pause=0.01)
    assert len(list(run_tasks(job, 12, what="square", threads=6, most=2))) == 12
    assert job.most <= 2
    assert {lane.threads for lane in job.lanes} == {3}


def test_a_slow_reader_does_not_hold_up_the_tasks():
    job = Squares()
    tasks = run_tasks(job, 50, what="square", threads=2)
    next(tasks)
    for _ in range(200):
        if len(job.begun) == 50:
            break
        time.sleep(0.01)
    assert len(job.begun) == 50
    assert len(list(tasks)) == 49


def test_an_error_ends_all_and_is_raised_as_it_is():
    job = Squares(pause=0.01, fails_at=7)
    with pytest.raises(DataError, match="number seven is broken"):
        list(run_tasks(job, 10_000, what="square", threads=3))
    assert len(job.begun) < 100
    assert all(lane.cancel.is_set() for lane in job.lanes)


class Waiting:
    """A job whose first task is done at once, and the others when nobody wants them any more."""

    ended = 0

    def do(self, number, lane):
        if number:
            assert lane.cancel.wait(30)
            self.ended += 1
        return number


def test_leaving_early_ends_what_is_running():
    job = Waiting()
    with closing(run_tasks(job, 10, what="task", threads=2)) as tasks:
        assert next(tasks) == (0, 0)
    assert job.ended in (1, 2)  # and nothing was begun afterwards


class Nested:
    """A job whose tasks have tasks."""

    def do(self, number, lane):
        inner = Squares(pause=0.01)
        found = sum(square for _, square in run_tasks(inner, number, what="square", threads=8))
        return found, inner.most, lane.threads


def test_tasks_within_tasks_use_no_more_threads_than_these_have():
    for number, (found, most, threads) in run_tasks(Nested(), 6, what="outer", threads=4):
        assert found == sum(i**2 for i in range(number))
        assert threads == 1
        assert most <= 1


def test_within_a_lane_nobody_gets_more_threads_than_it_has():
    with within(Lane(threads=2)):
        assert divide(None, 10) == (1, 1)
        assert divide(1, 10) == (1,)
        assert divide(8, 1) == (2,)
    assert divide(8, 1) == (8,)


class Warning_:
    def do(self, number, lane):
        warn("this is what everybody says")
        return number


def test_warnings_of_all_tasks_are_said_once():
    from mapdag.notices import said_once

    with pytest.warns(md.errors.MapdagWarning) as caught, said_once():
        list(run_tasks(Warning_(), 8, what="word", threads=3))
    assert len(caught) == 1


# What is made of them


@settings(max_examples=6)
@given(seed=st.integers(0, 2**40), threads=st.integers(1, 5), columns=st.permutations(range(5)))
def test_a_resample_is_a_function_of_its_seed_and_number(seed, threads, columns):
    """Whatever the threads, alone or beside others: the graphs add up from those of single resamples."""
    from mapdag.resamples import _Resamples
    from mapdag.search import Plan

    data = ASIA.select([ASIA.names[i] for i in columns])
    job = _Resamples(data, md.parse("BDeu(1)"), Plan.make(search="hc", seed=seed), seed, em=False)
    alone = [job.do(number, Lane()) for number in (3, 1, 4, 0, 2)]
    together = md.bootstrap(data, "BDeu(1)", R=5, seed=seed, threads=threads, search="hc")
    assert np.array_equal(sum(each.astype(int) for each in alone), together.halves)
    first = md.bootstrap(data, "BDeu(1)", R=3, seed=seed, threads=threads, search="hc")
    assert (first.halves <= together.halves).all()


@pytest.mark.parametrize("options", [{}, {"search": "hc", "restarts": 2}, {"search": "tabu"}, {"effort": 0.1}])
def test_folds_do_not_depend_on_threads(options):
    data = dataset("child_115")
    runs = [md.cross_validate(data, ["BDeu(1)", "BIC"], folds=4, seed=2, threads=t, **options) for t in (1, 3, 9)]
    for each in runs[1:]:
        assert np.array_equal(each.log_likelihood, runs[0].log_likelihood)
        assert np.array_equal(each.n_arcs, runs[0].n_arcs)


def test_where_memory_is_short_fewer_searches_run_at_a_time(monkeypatch):
    assert memory.tables_that_fit(ASIA) > 1
    expected = md.bootstrap(ASIA, "BIC", R=4, search="hc")
    monkeypatch.setattr(memory, "available_memory", lambda: 10.0)
    assert memory.tables_that_fit(ASIA) == 1
    assert np.array_equal(md.bootstrap(ASIA, "BIC", R=4, threads=4, search="hc").halves, expected.halves)


# Rows that count several times


@pytest.mark.parametrize("search", ["hc", "orders", "exact"])
@pytest.mark.parametrize("order", ["data", "columns"])
def test_rows_that_count_are_rows_that_repeat(search, order, monkeypatch):
    weighted = md.network("asia").sample(700, seed=3).aggregated()
    repeated = weighted.repeated()
    assert repeated.weights is None
    assert repeated.aggregated() == weighted
    found = md.learn(weighted, search=search, order=order)
    assert found.data is weighted
    monkeypatch.setattr("mapdag.search.plan._worth_repeating", lambda data: False)
    for other in (md.learn(weighted, search=search, order=order), md.learn(repeated, search=search, order=order)):
        assert other.dag == found.dag
        assert other.score == found.score
        assert other.alike == found.alike


def test_rows_with_fractions_or_very_many_are_not_repeated():
    from mapdag.search.plan import _worth_repeating

    table = {"a": ["x", "y", "x"], "b": ["u", "v", "v"]}
    assert not _worth_repeating(md.read({**table, "w": [1.5, 2, 3]}, weights="w"))
    assert not _worth_repeating(md.read({**table, "w": [10**9, 2, 3]}, weights="w"))
    assert _worth_repeating(md.read({**table, "w": [10**4, 2, 3]}, weights="w"))
    assert not _worth_repeating(md.read(table))
    with pytest.raises(DataError, match="fractions cannot be repeated"):
        md.read({**table, "w": [1.5, 2, 3]}, weights="w").repeated()
    assert md.learn(md.read({**table, "w": [10**9, 2, 3]}, weights="w"), "BIC").converged
