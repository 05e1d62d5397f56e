"""Both ways of counting against a loop over the rows."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mapdag as md
import naive
from mapdag.counts import choice
from mapdag.families import FamilyScores
from strategies import as_dataset, family


def positive(values):
    return sorted(v for v in values if v > 0)


def check_batch(batch, rows, cards, child, parents, candidates, weights=None):
    starts = np.concatenate([[0], batch.counts.cell_ends]), np.concatenate([[0], batch.counts.total_ends])
    assert len(batch.q) == len(candidates)
    for t, candidate in enumerate(candidates):
        mine = sorted([*parents, candidate])
        counts = naive.table(rows, child, mine, cards, weights)
        cells = batch.counts.cells[starts[0][t] : starts[0][t + 1]]
        totals = batch.counts.totals[starts[1][t] : starts[1][t + 1]]
        assert positive(cells) == pytest.approx(positive(n for c in counts.values() for n in c))
        assert positive(totals) == pytest.approx(sorted(map(sum, counts.values())))
        assert batch.q[t] == naive.declared(mine, cards)
        assert batch.counts.q_obs[t] == len(counts)
        assert batch.counts.n_positive[t] == sum(n > 0 for c in counts.values() for n in c)
        assert batch.n_parents[t] == len(mine)
    assert batch.r == cards[child]


@pytest.mark.parametrize("backend", ["auto", "bitsets", "tables", "sorted"])
@given(case=family(min_columns=2, max_rows=200))
def test_extensions_count_what_a_loop_counts(backend, case):
    rows, cards, child, parents = case
    parents = parents[: len(cards) - 2]
    candidates = np.array([i for i in range(len(cards)) if i != child and i not in parents])
    counter = md.Counter(as_dataset(rows, cards), backend=backend)
    check_batch(counter.extensions(child, parents, candidates), rows, cards, child, parents, candidates)


@given(case=family(min_columns=2, max_rows=40), data=st.data())
def test_weighted_rows_count_by_their_weights(case, data):
    rows, cards, child, parents = case
    parents = parents[: len(cards) - 2]
    number = data.draw(st.sampled_from([st.integers(1, 1000), st.floats(0.1, 10)]))
    weights = data.draw(st.lists(number, min_size=len(rows), max_size=len(rows)))
    candidates = np.array([i for i in range(len(cards)) if i != child and i not in parents])
    batch = md.Counter(as_dataset(rows, cards, weights)).extensions(child, parents, candidates)
    check_batch(batch, rows, cards, child, parents, candidates, weights)


@given(case=family(max_rows=100))
def test_a_table_lists_its_configurations_in_order(case):
    rows, cards, child, parents = case
    table = md.Counter(as_dataset(rows, cards)).table(child, parents)
    counts = naive.table(rows, child, parents, cards)
    assert [tuple(c) for c in table.configurations.tolist()] == sorted(counts)
    assert table.dense().tolist() == [counts[c] for c in sorted(counts)]
    assert (table.r, table.q, table.total) == (cards[child], naive.declared(parents, cards), len(rows))
    assert table.n_ij.tolist() == [sum(counts[c]) for c in sorted(counts)]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 511, 512, 513, 40_000, 300_000])
def test_bitsets_agree_with_the_histogram_for_any_number_of_rows(n):
    # Sizes around words, registers and cache blocks; enough cells that blocks are cut.
    rng = np.random.default_rng(n)
    cards = [3, 2, 4, 7, 2, 5]
    codes = np.column_stack([rng.integers(0, card, n) for card in cards])
    codes[:, 4] = codes[:, 0] > 0
    data = as_dataset(codes, cards)
    candidates = np.array([3, 4, 5])
    found = []
    for backend in ["bitsets", "tables", "sorted"]:
        batch = md.Counter(data, backend=backend).extensions(1, [0, 2], candidates)
        runs = [
            np.split(batch.counts.cells, batch.counts.cell_ends[:-1]),
            np.split(batch.counts.totals, batch.counts.total_ends[:-1]),
        ]
        found.append([[positive(run.tolist()) for run in kind] for kind in runs])
    assert found[0] == found[1] == found[2]


def test_candidates_may_be_counted_in_different_ways():
    rng = np.random.default_rng(0)
    cards = [8, 8, 2, 12, 3, 300, 2]
    rows = np.column_stack([rng.integers(0, card, 400) for card in cards]).tolist()
    counter = md.Counter(as_dataset(rows, cards))
    candidates = [2, 3, 4, 5, 6]
    how = choice.choose(400, np.array([1, 0]), np.array(candidates), counter.cards, choice.AUTO)
    choice.choose_again(how, 400, 64, np.array([1, 0]), np.array(candidates), counter.cards)
    assert len(set(how.tolist())) == 3
    check_batch(counter.extensions(0, [1], candidates), rows, cards, 0, [1], candidates)
    families = FamilyScores(as_dataset(rows, cards), [md.BDeu(1), md.BIC()])
    together = families.extensions(0, [1], candidates)
    alone = [families.family(0, [1, c]).tolist() for c in candidates]
    assert together.T.tolist() == alone


@pytest.mark.parametrize(("cards", "parents"), [([2] * 27, range(2, 27)), ([100, 100, 100, 3], [1, 2])])
def test_memory_follows_the_rows_not_the_configurations(cards, parents):
    n = 20_000
    rng = np.random.default_rng(0)
    data = as_dataset(np.column_stack([rng.integers(0, card, n) for card in cards]), cards)
    counter = md.Counter(data)
    candidates = np.array([1] if len(cards) == 27 else [3])
    counter.extensions(0, list(parents), candidates)  # compiled before memory is measured
    tracemalloc.start()
    counter.extensions(0, list(parents), candidates)
    counter.table(0, list(parents))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * n


SCRIPT = """
import hashlib, numpy as np, mapdag as md
from mapdag.counts import bitsets
from mapdag.families import FamilyScores
rng = np.random.default_rng(3)
cards = [2, 3, 4, 2, 5, 3]
codes = np.column_stack([rng.integers(0, c, 3000) for c in cards])
data = md.Dataset.from_codes(codes, levels=cards)
found = []
for backend in ["bitsets", "tables", "sorted"]:
    for name in ["BDeu(1)", "BDs(0.1)", "BIC", "fNML", "K2"]:
        families = FamilyScores(data, [md.parse(name).likelihood], backend=backend)
        found += [families.extensions(0, p, [4, 5]).tobytes() for p in ([], [1], [1, 2], [1, 2, 3])]
print(hashlib.sha256(b"".join(found)).hexdigest())
print("vpopcnt" in "".join(bitsets._multiply.inspect_asm().values()))
"""


def run_on_cpu(tmp_path, **settings):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **settings}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    return done.stdout.split()


@pytest.mark.slow
def test_a_cpu_without_avx512_counts_and_scores_the_same_bits(tmp_path):
    here = run_on_cpu(tmp_path / "here")
    plain = run_on_cpu(tmp_path / "plain", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert plain[1] == "False"
    assert here[0] == plain[0]


@pytest.mark.slow
def test_scores_do_not_depend_on_the_hash_seed(tmp_path):
    found = {run_on_cpu(tmp_path, PYTHONHASHSEED=seed)[0] for seed in ("0", "1", "12345")}
    assert len(found) == 1


def test_an_unknown_backend_is_refused():
    with pytest.raises(md.errors.ParameterError, match="backend must be"):
        md.Counter(as_dataset([[0], [1]], [2]), backend="gpu")
    with pytest.raises(md.errors.ParameterError, match="weighted"):
        md.Counter(as_dataset([[0], [1]], [2], weights=[1, 2]), backend="bitsets")


@pytest.mark.parametrize("bad", [[[-1, 2]], [[[1]]], [["a"]], [[float("nan")]], np.zeros((0, 2))])
def test_a_table_of_nonsense_is_refused(bad):
    with pytest.raises(md.errors.DataError, match="count table"):
        md.CountTable.from_dense(bad)
