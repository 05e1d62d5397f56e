"""How close the counting kernels come to the machine: words and rows a second against bare loops."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from harness.samples import SEED
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.timing import Rounds, best_of, timed

SETS = (("alarm", 5_000), ("andes", 5_785), ("alarm", 50_000), ("alarm", 500_000))
ROUNDS = Rounds(least=5, most=40, budget=1.0)


def bare_kernels() -> tuple[Any, Any]:
    """The least that counting can be: ANDs and popcounts in registers; increments of a small table."""
    from numba import njit, types
    from numba.extending import intrinsic

    @intrinsic
    def popcount(_context: Any, _word: Any = None) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate

    @njit(error_model="numpy")
    def words(a: Any, b: Any, repeat: int) -> int:
        """Eight products of four bitsets with two, over and over: all in the first-level cache."""
        total = 0
        for _ in range(repeat):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0
            for w in range(a.shape[1]):
                s0 += popcount(a[0, w] & b[0, w])
                s1 += popcount(a[1, w] & b[0, w])
                s2 += popcount(a[2, w] & b[0, w])
                s3 += popcount(a[3, w] & b[0, w])
                s4 += popcount(a[0, w] & b[1, w])
                s5 += popcount(a[1, w] & b[1, w])
                s6 += popcount(a[2, w] & b[1, w])
                s7 += popcount(a[3, w] & b[1, w])
            total += s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
            b[0, 0] ^= np.uint64(total)  # or the compiler would take the loop out
        return total

    @njit(error_model="numpy")
    def rows(ids: Any, codes: Any, tables: Any, repeat: int) -> int:
        """Four tables at a time, `id * r + code` each, r = 4."""
        for _ in range(repeat):
            for i in range(len(ids)):
                cell = np.uint64(ids[i]) * np.uint64(4)
                tables[0, cell + np.uint64(codes[0, i])] += 1
                tables[1, cell + np.uint64(codes[1, i])] += 1
                tables[2, cell + np.uint64(codes[2, i])] += 1
                tables[3, cell + np.uint64(codes[3, i])] += 1
        return tables[0, 0]

    return words, rows


def peaks() -> tuple[float, float]:
    """Gword/s and Grow/s of the bare kernels on one core."""
    words, rows = bare_kernels()
    rng = np.random.default_rng(SEED)
    width, repeat = 512, 4_000  # 4 + 2 bitsets of 4 KiB
    a, b = (rng.integers(0, 2**63, (k, width), dtype=np.uint64) for k in (4, 2))
    words(a, b, 1)
    g_words = 8 * width * repeat / best_of(partial(words, a, b, repeat), ROUNDS).best / 1e9
    n, again = 5_000, 1_000
    ids, codes = rng.integers(0, 12, n).astype(np.uint32), rng.integers(0, 4, (4, n)).astype(np.uint8)
    tables = np.zeros((4, 64), dtype=np.int32)
    rows(ids, codes, tables, 1)
    g_rows = 4 * n * again / best_of(partial(rows, ids, codes, tables, again), ROUNDS).best / 1e9
    return g_words, g_rows


@cache
def repeated_count() -> Any:
    """A compiled loop around the package's counting, so that calls from Python, 0.1 ms each, are not what is timed.

    The one place here that looks inside the package.
    """
    from numba import njit

    from mapdag.counts.choice import BITSETS, SORTED, count
    from mapdag.counts.rows import number_rows, sort_rows

    @njit(error_model="numpy")
    def again(data: Any, family: Any, candidates: Any, how: int, repeat: int) -> int:
        """Count one family with each candidate, over and over; rows are numbered anew each time, as in a search."""
        total = 0
        rows = number_rows(data.codes, family, data.cards)
        order = sort_rows(rows.ids, rows.n_cells)
        for _ in range(repeat):
            if how != BITSETS:
                rows = number_rows(data.codes, family, data.cards)
            if how == SORTED:
                order = sort_rows(rows.ids, rows.n_cells)
            total += count(data, family, rows, order, candidates, how).cells[0]
        return total

    return again


def achieved(data: Any, parents: list[int], backend: str) -> tuple[float, float]:
    """Gword/s and Grow/s for the first node, some parents, and all other nodes as candidates.

    Words are those that must be combined: the cells that occur times the candidates' levels but the last.
    """
    import mapdag as md
    from mapdag.counts import choice

    counter = md.Counter(data)
    how = {"bitsets": choice.BITSETS, "tables": choice.TABLES, "sorted": choice.SORTED}[backend]
    family = np.array([*parents, 0], dtype=np.int64)
    candidates = np.array([v for v in range(1, len(data.names)) if v not in parents], dtype=np.int64)
    cells = np.unique(data.codes[family], axis=1).shape[1]
    call = partial(repeated_count(), counter.rows, family, candidates, how)
    call(1)
    # The rows are numbered once outside the loop; enough repetitions make that, and the call, disappear.
    once = timed(partial(call, 10))[0] / 10
    repeat = max(3, min(20_000, round(0.05 / once)))
    seconds = best_of(partial(call, repeat), ROUNDS).best / repeat
    levels = sum(len(data.levels[data.names[v]]) - 1 for v in candidates)
    return cells * levels * data.n_rows / 64 / seconds / 1e9, data.n_rows * len(candidates) / seconds / 1e9


def measure(settings: Settings) -> tuple[list[Table], list[Any], Any]:
    import mapdag as md

    progress("roofline: bare kernels")
    g_words, g_rows = peaks()
    rows = [("bare AND + popcount, 4 x 2 registers", "", g_words, 1.0, None, None)]
    rows.append(("bare histogram, 4 tables of 48 cells", "", None, None, g_rows, 1.0))
    for name, n in SETS[:2] if settings.quick else SETS:
        data = md.network(name).sample(n, seed=SEED)
        progress(f"roofline: {name} {n:,}")
        for parents in ([], [1], [1, 2]):
            for backend in ("bitsets", "tables", "sorted"):
                by_words, by_rows = achieved(data, parents, backend)
                shown = by_words if backend == "bitsets" else None
                share = None if shown is None else shown / g_words
                what = f"{backend}, {len(parents)} parents and each other node"
                rows.append((what, f"{name} {n:,}", shown, share, by_rows, by_rows / g_rows))
    columns = ("kernel", "data", "Gword/s", "of the peak", "Grow/s", "of the bare histogram")
    note = (
        "One core; the best kernel for a family is the one with the most Grow/s (rows times candidates). Achieved "
        "figures are of one family with all candidates: its cells, the counts and their sums, without scoring."
    )
    return [Table("Roofline", columns, tuple(rows), note)], [], {"peak_gword": g_words, "peak_grow": g_rows}


if __name__ == "__main__":
    Script("roofline", "Roofline", __doc__ or "", measure).main()
