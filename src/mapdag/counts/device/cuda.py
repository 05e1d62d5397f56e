"""NVIDIA GPUs, by way of CuPy, which is imported when one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts.device.choice import GLOBAL, SHARED
from mapdag.counts.device.interface import Device
from mapdag.errors import CapacityError, MissingExtraError, ParameterError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.counts.device.plan import Plan

# Counts that a block of threads has room for, and threads of a block: more for larger ones, as fewer of them share a
# processor.
_BLOCKS = ((6 << 10, 256), (12 << 10, 512), (28 << 10, 1024), (1 << 30, 1024))
_WAVES = 8  # blocks of threads for each processor
_ROWS = 1 << 14  # that a block of threads counts at least,
_ROWS_PER_CELL = 4  # and for each of its counts, which are added to those of others
_SUMMING = 128  # threads that sum one family's terms
_ALIGNED = 64  # rows that columns are filled up to
_USUAL = 48 << 10  # bytes that a block of threads has without asking
_CODES = {1: "unsigned char", 2: "unsigned short"}


@dataclass
class _Functions:
    """Functions of counts, and what they need, on the device."""

    scale: float
    tables: tuple[Any, ...]  # logs, bases, powers
    start: int
    known: Any  # `FUNCTION`, as bytes
    values: Any  # (terms, 2) that are looked up
    used: list[int]  # bytes of `known`, and terms


class Cuda(Device):
    """The NVIDIA GPU that is the current one of this process.

    Raises
    ------
    MissingExtraError
        Without CuPy.
    ParameterError
        If there is no GPU, or it cannot be used.
    """

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError:
            raise MissingExtraError("counting on a GPU needs CuPy: pip install 'mapdag[gpu]'") from None
        self._cupy = cupy
        try:
            properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
            self.memory = int(cupy.cuda.runtime.memGetInfo()[0])
        except cupy.cuda.runtime.CUDARuntimeError as error:
            way_out = Setting("device", "cpu")
            raise ParameterError(f"no NVIDIA GPU can be used here ({error}): pass ", way_out) from None
        self.name = properties["name"].decode()
        self._processors = int(properties["multiProcessorCount"])
        # Of this object: what it has taken is free again when it goes.
        self._pool = cupy.cuda.MemoryPool()
        self._modules: dict[str, Any] = {}
        self._counts: Any = None

    @cached_property
    def _source(self) -> str:
        return files("mapdag.counts.device").joinpath("kernels.cu").read_text(encoding="utf-8")

    def _kernel(self, name: str, code: str = _CODES[1]) -> Any:
        if code not in self._modules:
            # A multiplication and an addition in one step would round once, and on other processors twice.
            options = ("--std=c++17", "--fmad=false", f"-DCODE={code}")
            self._modules[code] = self._cupy.RawModule(code=self._source, options=options)
        return self._modules[code].get_function(name)

    @contextmanager
    def _memory(self) -> Iterator[None]:
        """Take memory from the own pool, and say it plainly where there is not enough."""
        try:
            with self._cupy.cuda.using_allocator(self._pool.malloc):
                yield
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            self._counts = None
            self._pool.free_all_blocks()
            raise CapacityError(
                f"{self.name} has too little memory left ({error}): pass ", Setting("device", "cpu")
            ) from None

    def _sent(self, *arrays: NDArray[Any]) -> list[Any]:
        """Send arrays to the device in one piece: each as bytes."""
        flat = [np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in arrays]
        ends = np.cumsum([-(-len(each) // 16) * 16 for each in flat])
        joined = np.zeros(max(int(ends[-1]), 16), dtype=np.uint8)
        begins = [0, *ends[:-1].tolist()]
        for begin, each in zip(begins, flat, strict=True):
            joined[begin : begin + len(each)] = each
        there = self._cupy.asarray(joined)
        return [there[begin:] for begin in begins]

    def load(self, blocks: Iterable[NDArray[Any]], shape: tuple[int, int], dtype: np.dtype[Any]) -> Any:
        """Take rows, in blocks (columns, some rows) of unsigned codes that make an array of this shape."""
        columns, n = shape
        with self._memory():
            rows = self._cupy.zeros((columns, -(-n // _ALIGNED) * _ALIGNED), dtype=dtype)
            begin = 0
            for block in blocks:
                end = begin + block.shape[1]
                for column, codes in zip(rows, block, strict=True):
                    column[begin:end].set(np.ascontiguousarray(codes, dtype=dtype))
                begin = end
        return rows, n

    def new_counts(self, cells: int) -> Any:
        """Make room for so many counts, all zero; the room of earlier ones is used for it."""
        with self._memory():
            if self._counts is None or len(self._counts) < cells:
                # The pool would keep the room of each that was too small, for nothing larger can use it.
                self._counts = None
                self._pool.free_all_blocks()
                self._counts = self._cupy.empty(max(1 << (cells - 1).bit_length(), 1), dtype=np.uint32)
        found = self._counts[:cells]
        found.fill(0)
        return found

    def count(self, rows: Any, plan: Plan, counts: Any) -> None:
        """Add rows to the tables of a plan."""
        for launch in self.launches(rows, plan, counts):
            launch()

    def launches(self, rows: Any, plan: Plan, counts: Any) -> list[Callable[[], None]]:
        """Prepare what `count` does, in several calls: each for groups of about the same size."""
        codes, n = rows
        sizes = plan.groups["size"]
        chosen = [(plan.ways == GLOBAL, 1024)]
        least = 0
        for most, threads in _BLOCKS:
            chosen.append(((plan.ways == SHARED) & (sizes > least) & (sizes <= most), threads))
            least = most
        chosen = [each for each in chosen if each[0].any()]
        with self._memory():
            members, tables, *groups = self._sent(plan.members, plan.tables, *(plan.groups[mine] for mine, _ in chosen))
        found: list[Callable[[], None]] = []
        for (mine, threads), some in zip(chosen, groups, strict=True):
            is_shared, number = plan.ways[mine][0] == SHARED, int(mine.sum())
            most = int(sizes[mine].max()) if is_shared else 0
            shares = max(min(-(-_WAVES * self._processors // number), n // max(_ROWS, _ROWS_PER_CELL * most)), 1)
            share = -(-n // shares // _ALIGNED) * _ALIGNED
            kernel = self._kernel("count_shared" if is_shared else "count_global", _CODES[codes.dtype.itemsize])
            if 4 * most > _USUAL:
                kernel.max_dynamic_shared_size_bytes = 4 * most
            arguments = codes, np.int64(codes.shape[1]), np.int64(n), np.int64(share), some, members, tables, counts
            found.append(partial(kernel, (number, -(-n // share)), (threads,), arguments, shared_mem=4 * most))
        return found

    def read(self, counts: Any, begin: int, end: int) -> NDArray[np.uint32]:
        """Return some counts."""
        found: NDArray[np.uint32] = counts[begin:end].get()
        return found

    def shapes(self, families: NDArray[Any], counts: Any) -> NDArray[np.int32]:
        """Return positive cells and observed configurations of families of a plan: an array (families, 2)."""
        found: NDArray[np.int32] = self.begin_shapes(families, counts).get()
        return found

    def begin_shapes(self, families: NDArray[Any], counts: Any) -> Any:
        """Begin with `shapes`; what is returned is on the device."""
        with self._memory():
            found = self._cupy.zeros((len(families), 2), dtype=np.int32)
            grid = len(families), _parts_of(families)
            self._kernel("shapes")(grid, (_SUMMING,), (counts, *self._sent(families), found))
        return found

    def new_functions(self, scale: float, tables: tuple[NDArray[Any], ...], start: int) -> Any:
        """Take what all functions need, and make room for functions."""
        with self._memory():
            there = tuple(self._cupy.asarray(each) for each in tables)
            known, values = self._cupy.empty(1 << 16, dtype=np.uint8), self._cupy.empty((1 << 14, 2), dtype=np.int64)
        return _Functions(scale, there, start, known, values, [0, 0])

    def add_functions(self, functions: Any, new: NDArray[Any], values: NDArray[np.int64]) -> None:
        """Take some more functions, and the terms that are looked up for them."""
        with self._memory():
            functions.known = self._longer(functions.known, functions.used[0], new.view(np.uint8))
            functions.values = self._longer(functions.values, functions.used[1], values)
        functions.used = [functions.used[0] + new.nbytes, functions.used[1] + len(values)]

    def _longer(self, there: Any, used: int, more: NDArray[Any]) -> Any:
        """Write more to what is there, or to a longer copy where it has no room."""
        if used + len(more) > len(there):
            longer = self._cupy.empty((2 * (used + len(more)), *there.shape[1:]), dtype=there.dtype)
            longer[:used] = there[:used]
            there = longer
        if len(more):
            there[used : used + len(more)].set(more)
        return there

    def sums(self, families: NDArray[Any], counts: Any, functions: Any, which: NDArray[np.int32]) -> NDArray[np.int64]:
        """Sum terms over cells, and over configurations, of families of a plan."""
        found: NDArray[np.int64] = self.begin_sums(families, counts, functions, which).get()
        return found

    def begin_sums(self, families: NDArray[Any], counts: Any, functions: Any, which: NDArray[np.int32]) -> Any:
        """Begin with `sums`; what is returned is on the device."""
        logs, bases, powers = functions.tables
        with self._memory():
            found = self._cupy.zeros((*which.shape[:2], 4), dtype=np.int64)
            mine, chosen = self._sent(families, which)
            numbers = np.int32(len(bases)), np.int32(functions.start)
            known = np.float64(functions.scale), functions.values, logs, bases, powers, *numbers
            grid = len(families), _parts_of(families), len(which)
            self._kernel("sums")(grid, (_SUMMING,), (counts, mine, chosen, functions.known, *known, found))
        return found


def _parts_of(families: NDArray[Any]) -> int:
    """How many blocks of threads share a family: of the largest one, each thread gets some tens of configurations."""
    most = int((families["above"].astype(np.int64) * families["below"]).max())
    return min(max(most // (32 * _SUMMING), 1), 1024)
