"""How kernels are compiled, and single machine instructions that Python has no name for.

An `entry` is called from Python and cached on disk; an `inner` function is called by other kernels only, which spares
the compiler its wrappers; a `part` is written apart from its callers for the reader's sake only, and compiled as if it
stood in them. The compiler goes through all that a function calls once more for each function that calls it, so that
long chains of calls are slow to compile: better an entry with many parts. A cached entry contains all that it calls.
State that kernels share is a `NamedTuple` with a comment for each field.

Numba notices when the file of a cached kernel changes, but not when a file does whose functions it calls. So the caches
of all kernels are dropped here, at the first import after any file with kernels has changed.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, typeof, types
from numba.core.cgutils import get_item_pointer, get_or_insert_function
from numba.extending import intrinsic
from numpy.typing import NDArray

from mapdag.compiling import announce, uninterrupted
from mapdag.disk import whole_file

F = TypeVar("F")

Ints: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]
Bools: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
RowNumbers: TypeAlias = NDArray[np.uint32]
Counts: TypeAlias = NDArray[Any]  # whole numbers of some width, or doubles where rows carry such weights


def _kernel_files(package: Path) -> list[Path]:
    """Find the files with kernels in them: those that import from here, and this one."""
    mark = b"from mapdag.kernels import"
    return [path for path in sorted(package.rglob("*.py")) if mark in path.read_bytes()]


def _times(package: Path, files: Iterable[Path]) -> str:
    """When each file was changed last."""
    return "".join(f"{path.relative_to(package).as_posix()} {path.stat().st_mtime_ns}\n" for path in files)


def _drop_stale_caches(package: Path) -> None:
    """Remove the caches of all kernels if any of their files is not as it was when they were made.

    The stamp lists the files. One that is not there yet is found when a file changes that calls its functions.
    """
    stamp = package / "__pycache__" / "kernels.stamp"
    before = stamp.read_text(encoding="utf-8") if stamp.exists() else ""
    known = [package / line.rpartition(" ")[0] for line in before.splitlines()]
    if known and all(path.exists() for path in known) and _times(package, known) == before:
        return
    files = _kernel_files(package)
    for folder in {path.parent / "__pycache__" for path in files}:
        for cached in [*folder.glob("*.nbi*"), *folder.glob("*.nbc*")]:  # those that were being written among them
            cached.unlink(missing_ok=True)
    stamp.parent.mkdir(exist_ok=True)  # it is not there yet where Python is told to write no bytecode
    with whole_file(stamp, stamp.with_name(f"{stamp.name}.{os.getpid()}")) as file:  # half a one would not know of all
        file.write(_times(package, files).encode())


announce()

# Where the package cannot be written to, it does not change either.
with contextlib.suppress(OSError):
    _drop_stale_caches(Path(__file__).parent)


def _keep_on_disk(dispatcher: Any) -> None:
    """Have what is compiled kept on the disk, if there is room; what is found there may be of any kind.

    A process may have been killed, or the disk may be full; and two processes that compile the same function for other
    types at the same time may name their files alike, so that each finds what the other one has compiled.
    """
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # there is no folder that can be written to
        return
    cache = dispatcher._cache  # noqa: SLF001 - there is no other way to it
    load, save = cache.load_overload, cache.save_overload

    def load_whole(signature: Any, target: Any) -> Any:
        try:
            found = load(signature, target)
        except Exception:  # noqa: BLE001 - cut off or damaged: whatever unpickling nonsense leads to
            with contextlib.suppress(OSError):
                Path(cache._cache_file._index_path).unlink(missing_ok=True)  # noqa: SLF001
            return None
        wanted = getattr(signature, "args", signature)
        return found if found is None or tuple(found.signature.args) == tuple(wanted) else None

    def save_if_possible(signature: Any, data: Any) -> None:
        with contextlib.suppress(Exception):
            save(signature, data)

    cache.load_overload, cache.save_overload = load_whole, save_if_possible


def _compile(function: F, *, cached: bool = False, **options: Any) -> F:
    """Compile a function for the types of its arguments, constants among them taken as what they are.

    To numba a constant argument is a type of its own, for which it would compile the function once more.
    """
    dispatcher: Any = njit(**options)(function)
    if cached:
        _keep_on_disk(dispatcher)
    template_of = dispatcher.get_call_template
    plain: Any = types.unliteral

    def without_constants(args: Any, named: Any) -> Any:
        return template_of(tuple(map(plain, args)), {name: plain(kind) for name, kind in named.items()})

    dispatcher.get_call_template = without_constants
    compile_for = dispatcher.compile

    def compile_whole(signature: Any) -> Any:
        with uninterrupted():  # until it is on disk
            return compile_for(signature)

    dispatcher.compile = compile_whole
    compiled: F = dispatcher
    return compiled


def entry(function: F) -> F:
    """Compile a kernel that Python calls; it runs without the interpreter's lock."""
    return _compile(function, cached=True, nogil=True, error_model="numpy")


def inner(function: F) -> F:
    """Compile a kernel that only other kernels call."""
    return _compile(function, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


def part(function: F) -> F:
    """Compile a piece of a kernel in the place where it is called."""
    options: dict[str, Any] = {"inline": "always"}
    compiled: F = njit(**options)(function)
    return compiled


# One function for each kind of array: left alone, the compiler makes a new one at every place that asks for an array.


@inner
def new_ints(size: int) -> Ints:
    """Array of whole numbers, to be filled."""
    return np.empty(size, np.int64)


#: What counters of random numbers are moved on by: the golden ratio as 64 bits.
STEP = np.uint64(0x9E3779B97F4A7C15)


@inner
def mix(word: Any) -> Any:
    """Scramble a word (splitmix64): sums of scrambled words stand for multisets, scrambled counters for randomness."""
    z = word + STEP
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def no_ints(size: int) -> Ints:
    """Array of whole numbers, all zero."""
    return np.zeros(size, np.int64)


@inner
def new_bools(size: int) -> Bools:
    """Array of truth values, to be filled."""
    return np.empty(size, np.bool_)


@inner
def new_floats(size: int) -> Floats:
    """Array of doubles, to be filled."""
    return np.empty(size, np.float64)


@inner
def new_rows(size: int) -> RowNumbers:
    """Array of row numbers, to be filled."""
    return np.empty(size, np.uint32)


@inner
def new_words(size: int) -> Words:
    """Array of words, to be filled."""
    return np.empty(size, np.uint64)


@inner
def no_words(size: int) -> Words:
    """Array of words, all zero."""
    return np.zeros(size, np.uint64)


@inner
def new_bitsets(rows: int, words: int) -> Words:
    """Table of words, to be filled."""
    return np.empty((rows, words), np.uint64)


@inner
def no_ranks(size: int) -> RowNumbers:
    """Array of numbers of rows or cells, all zero."""
    return np.zeros(size, np.uint32)


@inner
def no_counts(size: int) -> Counts:
    """Array of counts, all zero."""
    return np.zeros(size, np.int32)


@inner
def no_count_rows(rows: int, columns: int) -> Counts:
    """Table of counts, all zero."""
    return np.zeros((rows, columns), np.int32)


@inner
def new_scores(rows: int, columns: int) -> Floats:
    """Table of doubles, to be filled."""
    return np.empty((rows, columns), np.float64)


@inner
def new_table(rows: int, columns: int) -> Ints:
    """Table of whole numbers, to be filled."""
    return np.empty((rows, columns), np.int64)


@inner
def new_pairs(size: int) -> Ints:
    """Array of pairs of whole numbers, all zero."""
    return np.zeros((size, 2), np.int64)


_addresses: dict[Any, int] = {}


def _form(value: Any) -> Any:
    """Tell values of different types apart, faster than the compiler does."""
    if isinstance(value, tuple):
        return tuple(map(_form, value))
    return (value.dtype.str, value.ndim, value.flags.num) if isinstance(value, np.ndarray) else type(value)


def address_of(function: Any, *arguments: Any, varies: Any = None) -> int:
    """Address of a compiled kernel for arguments of these types, to be called by `call_at`.

    Parameters
    ----------
    function : kernel
    *arguments
    varies : array, optional
        The one among them whose type is not always the same, where there is but one: so many are slow to look at.
    """
    form = function, _form(arguments if varies is None else varies)
    if form not in _addresses:
        signature = tuple(map(typeof, arguments))
        if signature not in function.overloads:
            function.compile(signature)
        compiled = function.overloads[signature]
        _addresses[form] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return _addresses[form]


@intrinsic
def call_at(_context: Any, address: Any, *arguments: Any) -> Any:
    """Call a kernel that returns nothing by its address, so that the compiler need not go through it again.

    Arguments are passed one by one: to put arrays into a tuple counts the owners of each.
    """
    del address

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        pointer = context.call_conv.get_function_type(types.none, arguments).as_pointer()
        function = builder.inttoptr(values[0], pointer)
        unpacked = [builder.extract_value(values[1], i) for i in range(len(arguments))]
        status, _ = context.call_conv.call_function(builder, function, types.none, arguments, unpacked)
        with builder.if_then(status.is_error, likely=False):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    several: Any = types.StarArgTuple
    return types.none(types.int64, several(arguments)), generate


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return an array that does not know who owns it, or a tuple of such arrays; what else there is stays as it is."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo, array.parent = (each.type(None) for each in (array.meminfo, array.parent))
        return array._getvalue()  # noqa: SLF001 - there is no other way to it
    if isinstance(kind, types.BaseTuple):
        kinds: Any = kind
        for i, each in enumerate(kinds):
            part = _without_owners(context, builder, each, builder.extract_value(value, i))
            value = builder.insert_value(value, part, i)
    return value


@intrinsic
def lend(_context: Any, state: Any = None) -> Any:
    """Lend state to the kernels that an entry calls: its arrays, whose owners are not counted at every call any more.

    The entry's caller has them, so that they live at least as long.
    """

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return _without_owners(context, builder, state, values[0])

    return state(state), generate


@intrinsic
def popcount(_context: Any, _word: Any = None) -> Any:
    """Number of set bits of a word: one instruction where the CPU has it, also in vectors."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


@intrinsic
def trailing_zeros(_context: Any, _word: Any = None) -> Any:
    """Position of the lowest set bit of a word that is not zero."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


@intrinsic
def bits_of(_context: Any, _number: Any = None) -> Any:
    """Bits of a double, as a whole number."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.uint64))

    return types.uint64(types.float64), generate


def _pointer(context: Any, builder: Any, kind: Any, array: Any, position: Any) -> Any:
    """Address of one entry of a flat array."""
    point: Any = get_item_pointer
    return point(context, builder, kind, context.make_array(kind)(context, builder, array), [position])


# What threads share without locks. Entries have 8 bytes, so they are read and written whole.


@intrinsic
def fetch_add(_context: Any, array: Any, _position: Any, _amount: Any = None) -> Any:
    """Add to an entry of an array that threads share; returns what was there before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", address, args[2], ordering="seq_cst")

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def exchange_if(_context: Any, array: Any, _position: Any, _expected: Any, _new: Any = None) -> Any:
    """Change an entry of an array that threads share if it is as expected; tells whether it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _pointer(context, builder, signature.args[0], args[0], args[1])
        done = builder.cmpxchg(address, args[2], args[3], ordering="seq_cst", failordering="seq_cst")
        return builder.extract_value(done, 1)

    return types.boolean(array, types.int64, types.int64, types.int64), generate


@intrinsic
def look(_context: Any, array: Any, _position: Any = None) -> Any:
    """Read an entry that another thread may be writing: what that thread wrote before it is then seen, too."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(address, ordering="acquire", align=8)

    return array.dtype(array, types.int64), generate


@intrinsic
def publish(_context: Any, array: Any, _position: Any, _value: Any = None) -> Any:
    """Write an entry for other threads to `look` at, after all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], address, ordering="release", align=8)
        return context.get_dummy_value()

    return types.none(array, types.int64, array.dtype), generate


_declare: Any = get_or_insert_function
_PAUSE = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}.get(platform.machine())


@intrinsic
def breathe(_context: Any = None) -> Any:
    """Let a moment pass: what a thread does that waits for another one which is about to be done."""

    def generate(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        if _PAUSE is not None:
            kind: Any = ir.FunctionType(ir.VoidType(), [])
            builder.call(_declare(builder.module, kind, _PAUSE), [])
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def give_way(_context: Any = None) -> Any:
    """Let other threads have this core, if any want it; where the system has no such call, nothing happens."""

    def generate(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        if os.name == "posix":
            kind: Any = ir.FunctionType(ir.IntType(32), [])
            builder.call(_declare(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.none(), generate
