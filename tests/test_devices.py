"""A device counts and sums as this machine does, to the last bit; without a GPU, a stand-in of the same interface."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.counts import Counter, Request
from mapdag.counts.device import devices
from mapdag.counts.device.engine import DeviceEngine
from mapdag.counts.table import declared
from mapdag.errors import DataError, MapdagWarning, MissingExtraError, ParameterError
from mapdag.families import Criterion, FamilyScores
from mapdag.kernels import entry
from mapdag.terms.formulas import RISING_ONCE, XLOGX, constants_of, term_of
from mapdag.terms.functions import collect, constants_for, new_collection, written
from mapdag.terms.sums import new_terms
from standin import TINY, StandIn, term
from strategies import as_dataset, small_data

LIKELIHOODS = [
    *(md.parse(f"{name}({alpha})").likelihood for name in ("BDeu", "BDs") for alpha in (1e-9, 0.3, 1, 10, 700, 1e9)),
    *(md.parse(name).likelihood for name in ("K2", "BDJ", "BIC", "AIC", "LogLik", "eBIC", "fNML", "qNML")),
]


def every_request(data, rng):
    """Nodes alone and in pairs, families with all candidates, single families; in random order."""
    n = data.n_columns
    found = [Request(child, ()) for child in range(n)]
    found += [Request(child, (), tuple(j for j in range(n) if j != child)) for child in range(n)]
    for _ in range(6):
        child, *others = rng.permutation(n).tolist()
        size = int(rng.integers(0, len(others) + 1))
        parents = tuple(sorted(others[:size]))
        found += [Request(child, parents), Request(child, parents, tuple(others[size:]))]
    return [found[i] for i in rng.permutation(len(found))]


def on(device, limits=TINY):
    return lambda data: DeviceEngine(data, device, limits=limits)


@given(small_data(), st.integers(0, 99), st.sampled_from([200, 1 << 30]))
def test_counts_are_those_of_the_cores(drawn, seed, memory):
    data = as_dataset(*drawn)
    requests = every_request(data, np.random.default_rng(seed))
    requests = [each for each in requests if each.candidates is None or each.candidates]
    device = StandIn(memory)
    here, there = Counter(data).tables(requests), DeviceEngine(data, device, limits=TINY).tables(requests)
    for request, a, b in zip(requests, here, there, strict=True):
        assert (a.child, a.r, a.total) == (b.child, b.r, b.total)
        for name in ("q", "log_q", "n_parents"):
            assert getattr(a, name).tolist() == getattr(b, name).tolist()
        q, _ = declared([math.prod(int(data.cards[p]) for p in parents) for parents in request.families()])
        assert b.q.tolist() == q.tolist()
        for name in ("q_obs", "n_positive"):
            assert getattr(a.counts, name).tolist() == getattr(b.counts, name).tolist()
        for part, ends in (("cells", "cell_ends"), ("totals", "total_ends")):
            runs = [np.split(getattr(x.counts, part), getattr(x.counts, ends)[:-1]) for x in (a, b)]
            for one, two in zip(*runs, strict=True):
                assert sorted(one[one > 0].tolist()) == sorted(two[two > 0].tolist())


@settings(max_examples=25)
@given(small_data(), st.integers(0, 99), st.sampled_from([200, 1 << 30]), st.sampled_from([math.inf, 3.0]))
def test_scores_are_the_same_to_the_last_bit(drawn, seed, memory, most):
    data = as_dataset(*drawn)
    requests = every_request(data, np.random.default_rng(seed))
    criteria = [Criterion(each, (most,) * data.n_columns) for each in LIKELIHOODS]
    here = FamilyScores(data, criteria).scores(requests)
    there = FamilyScores(data, criteria, engine=on(StandIn(memory))).scores(requests)
    for a, b in zip(here, there, strict=True):
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


@entry
def _collected(kind, param, total, found):
    return collect(kind, param, total, found)


@entry
def _term_here(kind, param, n, terms):
    return term_of(kind, param, constants_of(kind, param), n, terms)


@settings(max_examples=300)
@given(
    st.sampled_from([1, 30, 5_000, 20_000, 2_100_000, 10**7, 2**32 - 1]),
    st.one_of(st.floats(1e-12, 79), st.sampled_from([0.32, 0.3200001, 1.0, 1.0000001, 79.9, 1e-300])),
    st.floats(0, 1),
)
def test_a_term_takes_nothing_that_processors_do_differently(total, param, share):
    terms = new_terms(total)
    for kind, a in ((XLOGX, 0.0), (RISING_ONCE, param)):
        found = new_collection(4)
        assert _collected(kind, a, total, found) == 0
        assert _collected(kind, a, total, found) == 0
        functions = [*constants_for(terms), *(each.tolist() for each in written(found, 0, terms))]
        counts = {
            1,
            2,
            16,
            17,
            63,
            64,
            65,
            8191,
            8192,
            8193,
            total,
            round(total**share),
            round(min(total, 9000) * share),
        }
        for n in (n for n in counts if 1 <= n <= total):
            assert term(n, functions[5][0], functions) == _term_here(kind, a, n, terms), (kind, n)


def test_functions_that_need_logs_of_large_counts_stay_here():
    assert _collected(RISING_ONCE, 1e4, 10**6, new_collection(4)) == -1
    assert _collected(3, 2.0, 10**6, new_collection(4)) == -1
    full = new_collection(1)
    assert [_collected(RISING_ONCE, a, 100, full) for a in (0.1, 0.2, 0.1)] == [0, -2, 0]


@pytest.mark.parametrize("search", ["hc", "tabu", "exact", "orders"])
def test_every_search_finds_the_same(search):
    data = md.network("sachs").sample(120, seed=2).select(["Akt", "Erk", "PKA", "Mek", "Raf", "Jnk"])
    objectives = ["Support(3)+MU(c=1)+BDs(1)", "U+BDeu(10)", "U+fNML"]
    options = {"effort": 0.02} if search == "orders" else {}
    options |= {"forbidden": [("Akt", "Erk")], "max_parents": 3}
    device = StandIn(700)
    here = md.learn(data, objectives, search=search, **options)
    there = md.learn(data, objectives, search=search, engine=on(device), **options)
    assert [(each.dag, each.score) for each in here] == [(each.dag, each.score) for each in there]
    assert {each.device for each in here} == {"cpu"}
    assert {each.device for each in there} == {"a stand-in"}
    assert all(device.calls[name] for name in ("load", "shared", "sums", "read"))
    assert "on a stand-in" in str(there[0])


def test_large_tables_are_counted_in_parts_in_the_memory_of_all_or_by_the_cores():
    data = md.network("alarm").sample(200, seed=1)
    device = StandIn()
    requests = [Request(0, (1, 2, 3, 4), (5, 6, 7)), Request(7, (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12), (13,))]
    criteria = [md.BDs(1)]
    there = FamilyScores(data, criteria, engine=on(device, TINY._replace(most_block=60, most_passes=2))).scores(
        requests
    )
    for a, b in zip(FamilyScores(data, criteria).scores(requests), there, strict=True):
        assert a.tobytes() == b.tobytes()
    engine = DeviceEngine(data, device, limits=TINY)
    turns, elsewhere = engine.divide(requests)
    assert [number for number, _ in elsewhere.places] == [1]
    assert sum(len(turn.requests) for turn in turns) >= 1
    engine.count([Request(0, (1, 2), (5, 6))])
    assert device.calls["parts"] + device.calls["global"] > 0


def test_a_family_with_more_cells_than_numbers_is_left_to_the_cores():
    data = md.Dataset.from_codes(np.random.default_rng(0).integers(0, 2, (50, 72)), levels=[2] * 72)
    requests = [Request(0, tuple(range(1, 71)), (71,)), Request(0, tuple(range(1, 72))), Request(0, (), (1, 2))]
    there = FamilyScores(data, [md.BDeu(1)], engine=on(StandIn())).scores(requests)
    for a, b in zip(FamilyScores(data, [md.BDeu(1)]).scores(requests), there, strict=True):
        assert a.tobytes() == b.tobytes()


def test_little_is_not_sent_to_a_device():
    data = md.network("asia").sample(100, seed=1)
    device = StandIn()
    found = md.learn(data, engine=lambda table: DeviceEngine(table, device))
    assert found.score == md.learn(data).score
    assert not any(device.calls.values())


def test_codes_of_two_bytes():
    data = md.Dataset.from_codes(np.random.default_rng(0).integers(0, 300, (400, 3)), levels=[300, 300, 300])
    device = StandIn()
    plan, counts = DeviceEngine(data, device, limits=TINY).count([Request(2, (), (0,)), Request(0, (), (2,))])
    expected = np.bincount(data.codes[2].astype(np.int64) * 300 + data.codes[0], minlength=90_000)
    assert device.read(counts, 0, plan.cells).tolist() == expected.tolist()
    assert plan.families[["place", "above", "below"]].tolist() == [(0, 1, 300), (0, 300, 1)]


def test_no_rows_one_row_one_column():
    nobody = md.Dataset.from_codes(np.zeros((0, 2), dtype=np.int64), levels=[2, 2])
    one = md.Dataset.from_codes([[0, 1, 0]], levels=[2, 2, 2])
    for data in (nobody, one, one.select(["X1"])):
        there, here = (md.learn(data, "BDeu(1)", search="hc", engine=who) for who in (on(StandIn()), None))
        assert (there.dag, there.score) == (here.dag, here.score)


def test_ones_own_likelihood_gets_tables_here():
    data = md.network("asia").sample(60, seed=3)
    own = md.Custom(lambda table: -float(table.q_obs) - float((table.counts == 1).sum()))
    here = md.learn(data, [own, "BIC"], search="hc")
    there = md.learn(data, [own, "BIC"], search="hc", engine=on(StandIn()))
    assert [(each.dag, each.score) for each in here] == [(each.dag, each.score) for each in there]


def test_a_table_on_disk_is_handed_over_in_blocks(tmp_path):
    md.write_table(md.network("sachs").sample(300, seed=1), tmp_path / "sachs.csv")
    scanned = md.scan(tmp_path / "sachs.csv", cache=tmp_path)
    device = StandIn()
    here, there = md.learn(scanned, search="hc"), md.learn(scanned, search="hc", engine=on(device))
    assert (here.dag, here.score) == (there.dag, there.score)
    assert device.calls["load"] == 1


@pytest.fixture
def gpu(monkeypatch):
    device = StandIn()
    monkeypatch.setattr(devices, "open_cuda", lambda: device)
    monkeypatch.setattr("mapdag.counts.device.engine.Limits", lambda: TINY)
    return device


def test_a_device_is_asked_for_by_name(gpu, run):
    data = md.network("asia").sample(200, seed=1)
    assert md.learn(data, device="cpu").device == "cpu"
    assert not any(gpu.calls.values())
    found = md.learn(data, search="hc", device="cuda")
    assert found.device == "a stand-in"
    assert gpu.calls["sums"]
    assert found.score == md.learn(data, search="hc").score
    assert md.learn(data, device="auto").device == "cpu"  # too little to be worth it


def test_auto_takes_a_gpu_where_rows_are_many(gpu, monkeypatch):
    monkeypatch.setattr(devices, "_WORTH", 1.0)
    data = md.network("asia").sample(200, seed=1)
    assert md.learn(data, search="hc", device="auto").device == "a stand-in"
    weighted = md.read({"a": [0, 1, 0], "b": [0, 1, 1], "n": [0.5, 2, 1]}, weights="n", codes=True)
    assert md.learn(weighted, "BDeu(1)", device="auto").device == "cpu"


def test_whole_weights_that_can_be_repeated_are_counted_by_a_gpu_and_others_here(gpu):
    columns = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "n": [5, 7, 1, 2]}
    data = md.read(columns, weights="n", codes=True)
    assert md.hill_climb(data, "BDeu(1)", device="cuda").device == "a stand-in"
    fractions = md.read({**columns, "n": [0.5, 7, 1, 2]}, weights="n", codes=True)
    with pytest.warns(MapdagWarning, match="rows with weights are counted on this machine's cores: a stand-in is not"):
        found = md.hill_climb(fractions, "BDeu(1)", device="cuda")
    assert found.device == "cpu"
    assert found.score == md.hill_climb(fractions, "BDeu(1)").score
    with pytest.raises(DataError, match="device="):
        DeviceEngine(fractions, gpu)


def test_without_a_gpu_cuda_says_why_and_auto_goes_on(monkeypatch):
    data = md.network("asia").sample(200, seed=1)
    monkeypatch.setattr(devices, "_WORTH", 0.0)
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'mapdag\[gpu\]'"):
        md.learn(data, device="cuda")
    assert md.learn(data, device="auto").device == "cpu"


def test_what_is_no_device_is_refused(run):
    data = md.network("asia").sample(20, seed=1)
    with pytest.raises(ParameterError, match="device must be one of cpu, cuda, auto, got 'gpu'"):
        md.learn(data, device="gpu")
    with pytest.raises(ParameterError, match='engine and device="cuda" both say who counts'):
        md.learn(data, device="cuda", engine="cores")


def test_the_command_line_takes_a_device(gpu, run, tmp_path):
    md.write_table(md.network("sachs").sample(100, seed=1), tmp_path / "sachs.csv")
    code, out, _ = run("learn", tmp_path / "sachs.csv", "--search", "hc", "--device", "cuda")
    assert code == 0
    assert "on a stand-in" in out


def test_a_study_runs_on_a_device_in_one_process(gpu, tmp_path):
    from mapdag.study import Design, Store, run

    design = Design(name="tiny", networks=("asia",), sizes=("n=60",), replicates=1, objectives=("BIC", "BDs(1)"))
    for device in ("cpu", "cuda"):
        assert run(design, tmp_path / device, workers=1, device=device).complete
    found = [[(row.objective, row.score, row.shd) for row in Store(tmp_path / each).rows()] for each in ("cpu", "cuda")]
    assert sorted(found[0]) == sorted(found[1])
    assert gpu.calls["sums"]
    with pytest.raises(ParameterError, match='device="cuda" is for this machine: leave out cluster'):
        run(design, tmp_path / "more", cluster="tcp://127.0.0.1:1", device="cuda")


def test_processes_of_a_study_divide_the_cores_and_share_the_device(monkeypatch):
    from mapdag.study import executors
    from mapdag.study.executors import Processes, Serial, make_executor

    monkeypatch.setattr(executors, "available_cores", lambda: 16)
    assert isinstance(make_executor(device="cuda"), Serial)
    assert make_executor(device="cuda")._means == ("cuda", None)
    assert Processes(5, device="cuda")._means == ("cuda", 3)
    assert Processes(32, device="cuda")._means == ("cuda", 1)
    assert make_executor()._means == ("cpu", 1)
