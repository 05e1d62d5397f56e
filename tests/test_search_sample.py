"""With many rows most of the search is done on a sample: drawn by content, so that one answer stays one answer."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.search import plan
from mapdag.search.orders import sample, search
from mapdag.search.orders.sample import draw
from test_search_orders import rearranged, renamed


def tally(data):
    """The distinct rows of a table, and how often each occurs."""
    rows, times = np.unique(data.codes.T, axis=0, return_counts=True)
    return dict(zip(map(tuple, rows.tolist()), times.tolist(), strict=True))


@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.1, 0.3, 0.5, 0.9]))
@settings(max_examples=40, deadline=None)
def test_a_sample_depends_on_the_rows_and_not_on_their_order_or_labels(seed, share):
    rng = np.random.default_rng(seed)
    data = md.network(str(rng.choice(["asia", "sachs", "insurance"]))).sample(2000, seed=seed)
    found = draw(data, share)
    assert found is not None
    every = tally(data)
    for row, times in tally(found).items():
        assert times in (int(np.floor(every[row] * share)), int(np.floor(every[row] * share)) + 1)
    order = rng.permutation(data.n_rows)
    tables = [rng.permutation(card) for card in data.cards]
    codes = np.array([table[column[order]] for table, column in zip(tables, data.codes, strict=True)])
    other = draw(md.Dataset(data.names, {name: len(data.levels[name]) for name in data.names}, codes), share)
    assert other is not None
    turned = {tuple(int(t[c]) for t, c in zip(tables, row, strict=True)): times for row, times in tally(found).items()}
    assert tally(other) == turned


def test_a_sample_has_about_as_many_rows_as_were_asked_for_and_their_frequencies():
    data = md.network("alarm").sample(40_000, seed=1)
    found = draw(data, 1 / 8)
    assert 4_500 < found.n_rows < 5_500
    for mine, every in zip(found.codes, data.codes, strict=True):
        shares, expected = (np.bincount(codes, minlength=4) / len(codes) for codes in (mine, every))
        assert np.abs(shares - expected).max() < 0.03


def test_a_table_whose_rows_are_all_alike_gives_no_sample():
    codes = np.array(np.meshgrid(*[[0, 1]] * 10)).reshape(10, -1)  # every row once: nothing tells one from another
    names = [f"X{i}" for i in range(10)]
    assert draw(md.Dataset(names, {name: ["0", "1"] for name in names}, codes), 0.1) is None


def test_a_sample_is_the_same_in_one_go_and_in_parts(monkeypatch):
    data = md.network("insurance").sample(3000, seed=2)
    expected = tally(draw(data, 0.2))
    monkeypatch.setattr(sample, "_AT_A_TIME", 400)
    assert tally(draw(data, 0.2)) == expected


def heavy(data, seed):
    """The same rows, some of them many times over."""
    weights = np.random.default_rng(seed).integers(1, 9, data.n_rows)
    return md.Dataset(data.names, data.levels, data.codes, weights, has_gaps=data.has_gaps)


@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.1, 0.3, 0.5, 0.9]), gaps=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_sample_does_not_depend_on_how_rows_are_held(seed, share, gaps):
    data = md.network("asia" if seed % 2 else "sachs").sample(1500, seed=seed)
    if gaps:
        hole = np.random.default_rng(seed).random(data.codes.shape) < 0.1
        codes = np.where(hole, -1, data.codes.astype(int)).T
        data = md.Dataset.from_codes(codes, names=data.names, levels=data.levels, gap=-1)
    weighted = heavy(data, seed)
    expected = draw(weighted.repeated(), share)
    assert expected is not None
    for held in (weighted, weighted.aggregated(), weighted.repeated().aggregated()):
        found = draw(held, share)
        assert np.array_equal(found.codes, expected.codes)


@pytest.fixture
def few_are_many(monkeypatch):
    """Tables of some thousand rows are searched as those of millions are."""
    monkeypatch.setattr(search, "_MANY", 1000)
    monkeypatch.setattr(search, "_FEWEST", 800)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("objective", ["MU(c=1)+BDs(1)", "Support(3)+U+BDeu(1)", "BIC"])
def test_searching_on_a_sample_gives_one_answer(objective):
    rng = np.random.default_rng(3)
    for network in ("alarm", "insurance"):
        data = md.network(network).sample(4000, seed=3)
        result = md.learn(data, objective, threads=1)
        assert result.converged
        assert result.score >= md.hill_climb(data, objective).score
        again = md.learn(data, objective, threads=3)
        assert (again.dag, again.score, again.trace) == (result.dag, result.score, result.trace)
        other, new = rearranged(data, rng, names=not result.alike)
        moved = md.learn(other, objective)
        assert moved.dag == renamed(result.dag, new, moved.dag.nodes)
        assert moved.score == result.score


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("rows", [3_000, 3_100])
def test_searching_does_not_depend_on_how_rows_are_held(rows, monkeypatch):
    monkeypatch.setattr(plan, "_FEW_ROWS", 0)  # weighted rows stay as they are, as those of large tables do
    monkeypatch.setattr(plan, "_FEW_TIMES", 0)
    data = md.network("insurance").sample(rows, seed=5)
    data = data.select(data.names[:14])
    result = md.learn(data)
    for held in (
        data.aggregated(),
        heavy(data, 1).aggregated(),
        md.Dataset(data.names, data.levels, data.codes, [1] * rows),
    ):
        expected = result if held.total == rows else md.learn(held.repeated())
        found = md.learn(held)
        assert (found.dag, found.score) == (expected.dag, expected.score)


@pytest.mark.usefixtures("few_are_many")
def test_searching_on_a_sample_obeys_constraints_limits_and_ctrl_c():
    data = md.network("alarm").sample(3000, seed=4)
    given = {"required": [("HR", "HYPOVOLEMIA")], "forbidden": [("LVFAILURE", "HISTORY"), ("HISTORY", "LVFAILURE")]}
    result = md.learn(data, max_parents=2, **given)
    assert result.dag.has_arc("HR", "HYPOVOLEMIA")
    assert not result.dag.has_arc("LVFAILURE", "HISTORY")
    assert not result.dag.has_arc("HISTORY", "LVFAILURE")
    assert max(len(result.dag.parents(name)) for name in data.names) <= 2
    short = md.learn(data, time_limit=0.05)
    assert short.stopped == "time_limit"
    assert short.score == pytest.approx(md.score(short.dag, data))
    assert md.learn(data, max_iter=10).stopped == "max_iter"


class InBlocks(md.Dataset):
    """A table whose rows are looked at block by block."""

    def sum(self, function, *arguments):
        blocks = np.array_split(self.codes, [0, 10, 700, 900, 901, 3000, 3500], axis=1)
        return reduce(add, [function(np.ascontiguousarray(block), *arguments) for block in blocks])


def test_a_sample_is_the_same_from_many_blocks():
    data = md.network("insurance").sample(5000, seed=5)
    assert tally(draw(InBlocks(data.names, data.levels, data.codes), 0.3)) == tally(draw(data, 0.3))


@pytest.mark.usefixtures("few_are_many")
def test_ctrl_c_while_the_sample_is_searched_keeps_what_it_has_brought(monkeypatch):
    def press(*_):
        raise KeyboardInterrupt

    data = md.network("alarm").sample(4000, seed=3)
    monkeypatch.setattr(search._Search, "_polish", press)  # the sample comes first
    result = md.learn(data)
    assert result.stopped == "interrupted"
    assert result.score > md.hill_climb(data).score + 10
    assert result.score == pytest.approx(md.score(result.dag, data))
