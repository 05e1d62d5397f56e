"""What only a GPU can show: its counts, sums and searches are those of the cores to the last bit; it leaves nothing.

Skipped where there is none. `benchmarks/results/gpu.log` is what a machine that has one said.
"""

import gc

import numpy as np
import pytest

import mapdag as md
from mapdag.counts import Request
from mapdag.counts.device.choice import Limits
from mapdag.counts.device.engine import DeviceEngine
from mapdag.errors import CapacityError, MapdagError
from mapdag.families import FamilyScores
from standin import TINY

pytestmark = pytest.mark.gpu

ALWAYS = Limits(call=-1e18)
OBJECTIVES = [
    "Support(3)+MU(c=1)+BDs(1)",
    "U+BDeu(10)",
    "BIC",
    "U+qNML",
    "U+fNML",
    "MU(c=1)+K2",
    "U+BDeu(1e9)",
    "U+BDs(1e-9)",
]


@pytest.fixture(scope="module")
def gpu():
    from mapdag.counts.device.devices import open_cuda

    try:
        return open_cuda()
    except MapdagError as error:
        pytest.skip(str(error))


def requests_of(data, rng, most):
    """Families of all sizes, each with all candidates, and alone."""
    n = data.n_columns
    found = [Request(child, (), tuple(j for j in range(n) if j != child)) for child in range(n)]
    for size in range(most + 1):
        child, *others = rng.permutation(n).tolist()
        parents = tuple(sorted(others[:size]))
        found += [Request(child, parents), Request(child, parents, tuple(others[size:]))]
    return found


@pytest.mark.parametrize(
    ("name", "rows", "most", "limits"),
    [
        ("asia", 17, 6, TINY),
        ("asia", 17, 6, ALWAYS),
        ("alarm", 5000, 5, TINY),
        ("alarm", 5000, 5, ALWAYS),
        ("alarm", 5000, 5, ALWAYS._replace(block_bytes=1000)),
        ("diabetes", 3001, 3, ALWAYS),
    ],
    ids=str,
)
def test_scores_are_the_same_to_the_last_bit(gpu, name, rows, most, limits):
    data = md.network(name).sample(rows, seed=1)
    requests = requests_of(data, np.random.default_rng(0), most)
    likelihoods = [md.parse(each).likelihood for each in OBJECTIVES]
    here = FamilyScores(data, likelihoods).scores(requests)
    there = FamilyScores(data, likelihoods, engine=lambda table: DeviceEngine(table, gpu, limits=limits)).scores(
        requests
    )
    for a, b in zip(here, there, strict=True):
        assert a.tobytes() == b.tobytes()


def test_codes_of_two_bytes(gpu):
    data = md.Dataset.from_codes(np.random.default_rng(0).integers(0, 300, (40_001, 3)), levels=[300, 300, 300])
    plan, counts = DeviceEngine(data, gpu).count([Request(2, (), (0,)), Request(0, (), (2,))])
    expected = np.bincount(data.codes[2].astype(np.int64) * 300 + data.codes[0], minlength=90_000)
    assert gpu.read(counts, 0, plan.cells).tolist() == expected.tolist()


@pytest.mark.parametrize("search", ["hc", "tabu", "orders", "exact"])
def test_every_search_finds_the_same(gpu, search):
    data = md.network("sachs").sample(3000, seed=2)
    if search == "exact":
        data = data.select(list(data.names[:7]))
    options = {"effort": 0.1} if search == "orders" else {}
    here = md.learn(data, OBJECTIVES, search=search, **options)
    there = md.learn(data, OBJECTIVES, search=search, engine=lambda x: DeviceEngine(x, gpu, limits=ALWAYS), **options)
    assert [(each.dag, each.score) for each in here] == [(each.dag, each.score) for each in there]


def test_a_gpu_is_asked_for_by_name(gpu):
    data = md.network("alarm").sample(400_000, seed=1)
    there, here = (md.learn(data, search="hc", device=device) for device in ("cuda", "cpu"))
    assert (there.dag, there.score) == (here.dag, here.score)
    assert (there.device, here.device) == (gpu.name, "cpu")


def test_data_that_do_not_fit_come_in_blocks(gpu, monkeypatch):
    data = md.network("alarm").sample(100_000, seed=1)
    monkeypatch.setattr(gpu, "memory", 1 << 20)
    limits = ALWAYS._replace(block_bytes=1 << 18)
    there = md.learn(data, search="hc", engine=lambda table: DeviceEngine(table, gpu, limits=limits))
    here = md.learn(data, search="hc")
    assert (there.dag, there.score) == (here.dag, here.score)


def test_memory_is_free_again_after_an_error_and_at_the_end(gpu):
    import cupy

    from mapdag.counts.device.cuda import Cuda

    data = md.network("alarm").sample(200_000, seed=1)
    md.learn(data, search="hc", device="cuda")
    gc.collect()
    before = cupy.cuda.runtime.memGetInfo()[0]
    device = Cuda()
    engine = DeviceEngine(data, device, limits=ALWAYS)
    engine.count([Request(0, (), (1, 2))])
    with pytest.raises(CapacityError, match="too little memory"):
        device.new_counts(1 << 40)
    with pytest.raises(ZeroDivisionError):
        md.learn(data, search="hc", device="cuda", progress=lambda progress: 1 // 0)
    assert md.learn(data, search="hc", device="cuda").converged
    del device, engine
    gc.collect()
    assert cupy.cuda.runtime.memGetInfo()[0] >= before - (1 << 20)


def test_counts_that_grow_leave_no_room_behind(gpu):
    from mapdag.counts.device.cuda import Cuda

    device = Cuda()
    for cells in range(1_000_000, 10_000_000, 250_000):
        device.new_counts(cells)
    assert device._pool.total_bytes() <= 4 * (1 << 24)
