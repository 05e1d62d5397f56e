"""Counts of blocks add up to the counts of the whole table, to the last bit of every score."""

import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.counts import Request
from mapdag.counts.agenda import Agenda
from mapdag.counts.passes import Parts, Slices, add_parts, count_blocks
from mapdag.counts.summed import BlocksEngine, SummedEngine
from mapdag.families import FamilyScores
from strategies import as_dataset


class Pieces:
    """Rows cut at some places, empty blocks among them."""

    def __init__(self, codes, cuts):
        self.blocks = np.split(codes, cuts, axis=1)

    def __len__(self):
        return len(self.blocks)

    def codes(self, i):
        return self.blocks[i]


class Planes(Pieces):
    """The same as bit planes."""

    def __init__(self, codes, cuts, cards):
        super().__init__(codes, cuts)
        self.cards = cards

    def planes(self, i):
        block = self.blocks[i]
        n = block.shape[1]
        planes = []
        for column, card in zip(block, self.cards, strict=True):
            for p in range(int(card - 1).bit_length()):
                plane = np.zeros((n + 63) // 64 * 8, dtype=np.uint8)
                packed = np.packbits(column >> p & 1, bitorder="little")
                plane[: len(packed)] = packed
                planes.append(plane.view(np.uint64))
        return np.array(planes, dtype=np.uint64).reshape(len(planes), (n + 63) // 64), n


class Blocked:
    """A data set whose rows come in blocks."""

    engine = "blocks"
    weights = interventions = None

    def __init__(self, data, blocks):
        self.names, self.levels, self.cards = data.names, data.levels, data.cards
        self.widths, self.has_gaps = data.widths, data.has_gaps
        self.n_rows, self.n_columns, self.total = data.n_rows, data.n_columns, data.total
        self.blocks = blocks


NO_GAPS, SOME_GAPS = st.just(0.0), st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0])


@st.composite
def tables(draw, max_columns=10, levels=(1, 2, 3, 4, 9, 40, 300), gaps=NO_GAPS):
    """A table, cut into blocks; some columns may have gaps."""
    cards = draw(st.lists(st.sampled_from(levels), min_size=1, max_size=max_columns))
    n = draw(st.sampled_from([1, 2, 63, 64, 65, 200, 700]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    codes = np.column_stack([rng.integers(0, draw(st.integers(1, card)), n) for card in cards])
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=6)))
    shares = np.array([draw(gaps) for _ in cards])
    codes = np.where(rng.random(codes.shape) < shares, -1, codes)
    data = md.Dataset.from_codes(codes, levels=cards, gap=-1)
    blocks = draw(st.sampled_from([Pieces(data.codes, cuts), Planes(data.codes, cuts, data.widths)]))
    return data, Blocked(data, blocks)


def requests_of(n, rng):
    """Families of all sizes up to eight parents, alone and with candidates."""
    found = [Request(child, (), tuple(i for i in range(n) if i != child)) for child in range(n)]
    for _ in range(6):
        order = rng.permutation(n).tolist()
        size = int(rng.integers(0, min(n, 9)))
        child, parents, others = order[0], tuple(sorted(order[1 : 1 + size])), order[1 + size :]
        found += [Request(child, parents), Request(child, parents, tuple(others))]
    return [each for each in found if each.families()]


def runs(batch):
    cells, totals = batch.counts.cells, batch.counts.totals
    return [
        (sorted(mine[mine > 0].tolist()), sorted(sums[sums > 0].tolist()))
        for mine, sums in zip(
            np.split(cells, batch.counts.cell_ends[:-1]), np.split(totals, batch.counts.total_ends[:-1]), strict=True
        )
    ]


def assert_same(batches, expected):
    for one, other in zip(batches, expected, strict=True):
        assert runs(one) == runs(other)
        assert (one.child, one.r, one.total) == (other.child, other.r, other.total)
        for name in ("q", "log_q", "n_parents"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
        for name in ("n_positive", "q_obs"):
            assert getattr(one.counts, name).tolist() == getattr(other.counts, name).tolist()


@given(case=tables(), seed=st.integers(0, 100))
def test_blocks_add_up_to_the_counts_of_the_whole_table(case, seed):
    data, blocked = case
    requests = requests_of(data.n_columns, np.random.default_rng(seed))
    assert_same(BlocksEngine(blocked).tables(requests), md.Counter(data).tables(requests))


@given(case=tables(gaps=SOME_GAPS), seed=st.integers(0, 100))
def test_rows_with_gaps_are_left_out_of_the_tables_of_blocks_as_of_the_whole(case, seed):
    data, blocked = case
    requests = requests_of(data.n_columns, np.random.default_rng(seed))
    engine, counter = BlocksEngine(blocked), md.Counter(data)
    assert_same(engine.tables(requests), counter.tables(requests))
    for request in requests[-2:]:
        one, other = (each.table(request.child, request.parents) for each in (engine, counter))
        for name in ("r", "q", "offsets", "levels", "counts", "configurations"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


@settings(max_examples=20)
@given(case=tables(levels=(2, 3, 4, 9), gaps=SOME_GAPS), seed=st.integers(0, 100))
def test_node_averages_are_the_same_to_the_last_bit(case, seed):
    data, blocked = case
    criteria = [md.NAL(), md.PNAL(), md.PNAL(0.1)]
    requests = requests_of(data.n_columns, np.random.default_rng(seed))
    here, there = FamilyScores(data, criteria).scores(requests), FamilyScores(blocked, criteria).scores(requests)
    assert [each.tolist() for each in here] == [each.tolist() for each in there]


@given(case=tables(), seed=st.integers(0, 100))
def test_a_table_in_full_is_that_of_all_rows(case, seed):
    data, blocked = case
    engine, counter = BlocksEngine(blocked), md.Counter(data)
    for request in requests_of(data.n_columns, np.random.default_rng(seed))[data.n_columns :]:
        one, other = (each.table(request.child, request.parents) for each in (engine, counter))
        assert (one.r, one.q, one.n_nodes) == (other.r, other.q, other.n_nodes)
        for name in ("offsets", "levels", "counts", "configurations"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


@settings(max_examples=20)
@given(case=tables(levels=(2, 3, 4, 9)), seed=st.integers(0, 100))
def test_scores_are_the_same_to_the_last_bit(case, seed):
    data, blocked = case
    criteria = [md.BDs(1), md.BDeu(10), md.BIC(), md.fNML(), md.qNML()]
    requests = requests_of(data.n_columns, np.random.default_rng(seed))
    here, there = FamilyScores(data, criteria).scores(requests), FamilyScores(blocked, criteria).scores(requests)
    assert [each.tolist() for each in here] == [each.tolist() for each in there]


def test_keys_of_rows_with_gaps_may_need_more_than_64_bits():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (300, 12))
    codes[150:] = codes[:150]
    codes[:150:2, 8:] = -1
    data = md.Dataset.from_codes(codes, levels=[300] * 12, gap=-1)
    blocked = Blocked(data, Pieces(data.codes, [100, 100, 220]))
    requests = [Request(11, tuple(range(8)), (8, 9, 10)), Request(8, (*range(8), 11)), Request(3, tuple(range(3)))]
    assert_same(BlocksEngine(blocked).tables(requests), md.Counter(data).tables(requests))
    assert sorted(BlocksEngine(blocked).table(11, range(11)).counts.tolist()) == [1] * 75 + [2] * 75


@pytest.mark.parametrize("levels", [300, 65_536])
def test_keys_may_need_more_than_64_bits(levels):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, levels, (300, 12))
    codes[150:] = codes[:150]  # so that some cells are met in two blocks
    data = as_dataset(codes, [levels] * 12)
    blocked = Blocked(data, Pieces(data.codes, [100, 100, 220]))
    requests = [Request(11, tuple(range(8)), (8, 9, 10)), Request(8, (*range(8), 11)), Request(3, tuple(range(3)))]
    assert_same(BlocksEngine(blocked).tables(requests), md.Counter(data).tables(requests))
    assert BlocksEngine(blocked).table(11, range(11)).counts.tolist() == [2] * 150


class Many(SummedEngine):
    """Stands for so many copies of a table that counts do not fit into 32 bits."""

    copies = 10**7

    def __init__(self, data):
        super().__init__(data)
        self.n_rows = self.total = data.n_rows * self.copies
        self.codes = data.codes

    def parts(self, turn):
        part = count_blocks(Slices(self.codes, 100), turn, self.cards)
        sparse = tuple(each._replace(counts=each.counts * self.copies) for each in part.sparse)
        return Parts(part.full * self.copies, sparse)


@pytest.mark.parametrize("cards", [[2, 3, 4, 3], [300, 300, 300, 2]])
def test_ten_to_the_tenth_rows_do_not_overflow(cards):
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, card, 1000) for card in cards])
    data = as_dataset(codes, cards)
    weighted = as_dataset(codes, cards, weights=[Many.copies] * 1000)
    requests = [Request(0, (), (1, 2, 3)), Request(1, (0, 2), (3,)), Request(3, (0, 1, 2)), Request(2, ())]
    assert_same(Many(data).tables(requests), md.Counter(weighted).tables(requests))
    criteria = [md.BDs(1), md.BDeu(10), md.BIC(), md.fNML(), md.K2()]
    scores = FamilyScores(data, criteria, engine=Many)
    assert scores.engine.total == 10**10
    expected = FamilyScores(weighted, criteria).scores(requests)
    # A likelihood may know the number of rows: it is that of the copies.
    scores._recipes = FamilyScores(weighted, criteria)._recipes
    assert [each.tolist() for each in scores.scores(requests)] == [each.tolist() for each in expected]


@pytest.mark.parametrize("most", [1, 40, 300])
def test_what_does_not_fit_into_memory_takes_several_passes(most):
    data = md.network("asia").sample(500, seed=1)
    requests = requests_of(8, np.random.default_rng(3))
    engine = BlocksEngine(data)
    engine.most_cells = most
    assert_same(engine.tables(requests), md.Counter(data).tables(requests))
    assert engine.work.passes > 1
    turns = Agenda(requests, data.cards, 500, 500, most).turns
    assert all(len(turn.families) == 1 or turn.full <= most for turn in turns)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_blocks(threads):
    data = md.network("alarm").sample(3000, seed=1)
    blocked = Blocked(data, Slices(data.codes, 170))
    engine = BlocksEngine(blocked)
    engine.threads = threads
    requests = requests_of(37, np.random.default_rng(0))
    assert_same(engine.tables(requests), md.Counter(data).tables(requests))
    assert engine.work == type(engine.work)(calls=1, passes=1, requests=len(requests), families=engine.work.families)
    assert engine.work.families == sum(len(each.families()) for each in requests)


def test_an_error_in_a_block_ends_the_pass():
    asked = []

    class Broken(Slices):
        def codes(self, i):
            asked.append(i)
            if i == 3:
                raise OSError("disk on fire")
            return super().codes(i)

    data = md.network("asia").sample(1000, seed=1)
    engine = BlocksEngine(Blocked(data, Broken(data.codes, 1)))
    engine.threads = 2
    before = threading.active_count()  # of tests before this one, too
    with pytest.raises(OSError, match="disk on fire"):
        engine.tables([Request(0, ())])
    assert len(asked) < 1000
    assert threading.active_count() <= before + 4  # a few that wait for the next work


def test_families_with_the_same_members_share_a_table():
    data = md.network("alarm").sample(100, seed=1)
    pairs = [Request(child, (), tuple(i for i in range(37) if i != child)) for child in range(37)]
    turns = Agenda(pairs, data.cards, 100, 100, 10**6).turns
    assert sum(len(candidates) for turn in turns for _, candidates in turn.families) == 37 * 36 // 2


def test_an_empty_table_has_no_counts():
    data = md.Dataset(("a", "b"), {"a": ["x", "y"], "b": ["x", "y"]}, np.zeros((2, 0), dtype=int))
    engine = BlocksEngine(data)
    batch = engine.tables([Request(0, (), (1,))])[0]
    assert batch.counts.q_obs.tolist() == [0]
    assert engine.table(0, (1,)).q_obs == 0


def test_weighted_rows_are_refused():
    with pytest.raises(md.errors.DataError, match=r"weights are counted in memory only: pass engine=\"cores\""):
        BlocksEngine(as_dataset([[0], [1]], [2], weights=[1, 2]))


@pytest.mark.parametrize("search", ["orders", "hc", "tabu"])
def test_every_search_finds_the_same_in_blocks(search):
    data = md.network("alarm").sample(400, seed=2).select(list(md.network("alarm").nodes[:12]))
    options = {"effort": 0.1} if search == "orders" else {}
    here, there = (md.learn(data, search=search, engine=engine, **options) for engine in (None, "blocks"))
    assert (here.dag, here.score) == (there.dag, there.score)


def test_the_first_pass_of_a_search_is_one_call():
    data = md.network("alarm").sample(400, seed=2)
    made = []

    def make(table):
        made.append(BlocksEngine(table))
        return made[-1]

    result = md.learn(data, search="hc", engine=make)
    assert result.dag == md.learn(data, search="hc").dag
    moves = len(result.trace)
    assert made[0].work.passes <= 2 * moves + 2


@example(sizes=[0, 3])
@given(sizes=st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_parts_add_up_in_any_order(sizes):
    cards, rng = [300, 300, 300], np.random.default_rng(0)
    data = as_dataset(rng.integers(0, 3, (sum(sizes) + 1, 3)), cards)
    turn = Agenda([Request(0, (1,), (2,)), Request(0, (), (1,))], data.cards, 10, 10, 10**6).turns[0]
    assert turn.sparse
    pieces = Pieces(data.codes, np.cumsum(sizes))
    each = [count_blocks(Pieces(piece, []), turn, data.cards) for piece in pieces.blocks]
    one, other = add_parts([*each]), count_blocks(pieces, turn, data.cards)
    assert one.full.tolist() == other.full.tolist()
    assert [(k[0].tolist(), c.tolist()) for k, c in one.sparse] == [
        (k[0].tolist(), c.tolist()) for k, c in other.sparse
    ]
