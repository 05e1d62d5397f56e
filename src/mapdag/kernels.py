"""How kernels are compiled, and single machine instructions that Python has no name for.

An `entry` is called from Python and cached on disk; an `inner` function is called by other kernels only, which spares
the compiler its wrappers; a `part` is written apart from its callers for the reader's sake only, and compiled as if it
stood in them. The compiler goes through all that a function calls once more for each function that calls it, so that
long chains of calls are slow to compile: better an entry with many parts. A cached entry contains all that it calls.

Numba notices when the file of a cached kernel changes, but not when a file does whose functions it calls. So the caches
of all kernels are dropped here, at the first import after any of their files has changed.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit, typeof, types
from numba.extending import intrinsic

F = TypeVar("F")

#: Every file with kernels in it.
FILES = (
    "counts/bitsets.py",
    "counts/dispatch.py",
    "counts/histogram.py",
    "kernels.py",
    "objective/kernel.py",
    "recipes.py",
    "search/climb.py",
    "search/families.py",
    "search/graph.py",
    "search/moves.py",
    "search/order.py",
    "search/refining.py",
    "search/store.py",
    "search/subsets.py",
    "search/sums.py",
    "search/tallies.py",
    "search/tree.py",
    "terms.py",
)


def _drop_stale_caches(package: Path) -> None:
    """Remove the caches of all kernels if any of their files is not as it was when they were made."""
    seen = "".join(f"{name} {(package / name).stat().st_mtime_ns}\n" for name in FILES)
    stamp = package / "__pycache__" / "kernels.stamp"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == seen:
        return
    for folder in {(package / name).parent / "__pycache__" for name in FILES}:
        for cached in [*folder.glob("*.nbi"), *folder.glob("*.nbc")]:
            cached.unlink(missing_ok=True)
    stamp.parent.mkdir(exist_ok=True)  # it is not there yet where Python is told to write no bytecode
    stamp.write_text(seen, encoding="utf-8")


# Where the package cannot be written to, it does not change either.
with contextlib.suppress(OSError):
    _drop_stale_caches(Path(__file__).parent)


def entry(function: F) -> F:
    """Compile a kernel that Python calls; it runs without the interpreter's lock."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
    compiled: F = njit(**options)(function)
    return compiled


def inner(function: F) -> F:
    """Compile a kernel that only other kernels call."""
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    compiled: F = njit(**options)(function)
    return compiled


def part(function: F) -> F:
    """Compile a piece of a kernel in the place where it is called."""
    options: dict[str, Any] = {"inline": "always"}
    compiled: F = njit(**options)(function)
    return compiled


# One function for each kind of array: left alone, the compiler makes a new one at every place that asks for an array.


@inner
def new_ints(size: int) -> Any:
    """Array of whole numbers, to be filled."""
    return np.empty(size, np.int64)


@inner
def new_floats(size: int) -> Any:
    """Array of doubles, to be filled."""
    return np.empty(size, np.float64)


@inner
def new_rows(size: int) -> Any:
    """Array of row numbers, to be filled."""
    return np.empty(size, np.uint32)


@inner
def new_words(size: int) -> Any:
    """Array of words, to be filled."""
    return np.empty(size, np.uint64)


@inner
def no_counts(size: int) -> Any:
    """Array of counts, all zero."""
    return np.zeros(size, np.int32)


_addresses: dict[Any, int] = {}


def _form(value: Any) -> Any:
    """Tell values of different types apart, faster than the compiler does."""
    if isinstance(value, tuple):
        return tuple(map(_form, value))
    return (value.dtype.str, value.ndim, value.flags.num) if isinstance(value, np.ndarray) else type(value)


def address_of(function: Any, *arguments: Any) -> int:
    """Address of a compiled kernel for arguments of these types, to be called by `call_at`."""
    form = function, _form(arguments)
    if form not in _addresses:
        signature = tuple(map(typeof, arguments))
        if signature not in function.overloads:
            function.compile(signature)
        compiled = function.overloads[signature]
        _addresses[form] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return _addresses[form]


@intrinsic
def call_at(_context: Any, address: Any, arguments: Any = None) -> Any:
    """Call a kernel that returns nothing by its address, so that the compiler need not go through it again."""
    del address

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = signature.args[1].types
        pointer = context.call_conv.get_function_type(types.none, kinds).as_pointer()
        function = builder.inttoptr(values[0], pointer)
        unpacked = [builder.extract_value(values[1], i) for i in range(len(kinds))]
        status, _ = context.call_conv.call_function(builder, function, types.none, kinds, unpacked)
        with builder.if_then(status.is_error, likely=False):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.int64, arguments), generate


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
