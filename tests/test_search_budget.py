"""The default search does no more than its usual work, ends at the same place everywhere, and says what it left out."""

import pytest

import mapdag as md
from mapdag.search.orders import budget, state, trees


class Counted(md.counts.Counter):
    """Counts in Python, so that compiled code must ask."""

    is_compiled = False


def answer(result):
    return result.dag, result.score, result.trace, result.left_out


# From no work for a single order to a few rounds of assembly.
BUDGETS = 1e3, 4e6, 1e7, 2.5e7, 6e7


@pytest.mark.parametrize("work", BUDGETS)
def test_neither_threads_nor_engines_nor_pauses_change_where_the_work_ends(work, monkeypatch):
    monkeypatch.setattr(budget, "_USUAL", work)
    data = md.network("win95pts").sample(300, seed=3)
    one = md.learn(data, threads=1)
    assert one.left_out
    assert one.left_out in str(one)
    assert answer(md.learn(data, threads=5)) == answer(one)
    assert answer(md.learn(data, threads=2, progress=lambda _: None)) == answer(one)
    monkeypatch.setattr(state, "_PATIENCE", work / 50)
    assert answer(md.learn(data, threads=2)) == answer(one)
    monkeypatch.setattr(state, "new_trees", lambda n, rows, *_: trees.new_trees(n, rows, 1, n))
    assert answer(md.learn(data, threads=1)) == answer(one)
    if work <= 1e7:
        assert answer(md.learn(data, engine=Counted)) == answer(one)


def test_more_work_is_never_worse_than_hill_climbing_and_full_does_all(monkeypatch):
    data = md.network("alarm").sample(400, seed=1)
    usual, climbed = md.learn(data), md.hill_climb(data)
    assert not usual.left_out
    for work in BUDGETS:
        monkeypatch.setattr(budget, "_USUAL", work)
        assert md.learn(data).score >= climbed.score
        assert answer(md.learn(data, effort="full")) == answer(usual)


def test_pairs_of_parents_are_left_out_where_there_are_too_many(monkeypatch):
    data = md.network("andes").sample(60, seed=1)
    monkeypatch.setattr(budget, "_USUAL", 1e7)
    assert "pairs of parents with 0 instead of 11 leading candidates" in md.learn(data).left_out


def test_other_words_for_effort_are_refused():
    with pytest.raises(md.errors.ParameterError, match="effort must be a number of at least 0, or \"full\", got 'all'"):
        md.learn(md.network("asia").sample(50, seed=1), effort="all")
