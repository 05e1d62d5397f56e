"""How kernels are compiled, and single machine instructions that Python has no name for.

An `entry` is called from Python and cached on disk; an `inner` function is called by other kernels only, which spares
the compiler its wrappers; a `part` is written apart from its callers for the reader's sake only, and compiled as if it
stood in them. The compiler goes through all that a function calls once more for each function that calls it, so that
long chains of calls are slow to compile: better an entry with many parts. A cached entry contains all that it calls.
"""

from __future__ import annotations

from typing import Any, TypeVar

from numba import njit, types
from numba.extending import intrinsic

F = TypeVar("F")


def entry(function: F) -> F:
    """Compile a kernel that Python calls; it runs without the interpreter's lock."""
    options: dict[str, Any] = {"cache": True, "nogil": True}
    compiled: F = njit(**options)(function)
    return compiled


def inner(function: F) -> F:
    """Compile a kernel that only other kernels call."""
    options: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: F = njit(**options)(function)
    return compiled


def part(function: F) -> F:
    """Compile a piece of a kernel in the place where it is called."""
    options: dict[str, Any] = {"inline": "always"}
    compiled: F = njit(**options)(function)
    return compiled


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
