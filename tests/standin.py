"""A device that is none: what `mapdag.counts.device` asks of a GPU, done by NumPy and plain Python.

Terms are computed as `kernels.cu` does, operation by operation, so that tests without a GPU show that this gives the
same sums as the formulas of `mapdag.terms`.
"""

import math
import struct
from functools import cache

import numpy as np

from mapdag.counts.device.choice import GLOBAL, Limits
from mapdag.counts.device.interface import Device

#: Little is counted as much is: in blocks of rows, in several passes over them, in the memory of the device.
TINY = Limits(
    block=40, most_block=60, most_passes=3, most_tables=2, most_cells=3000, batch=4000, block_bytes=600, call=-1e18
)


class StandIn(Device):
    """Counts in NumPy; `calls` tells what was asked."""

    name = "a stand-in"

    def __init__(self, memory=1 << 30):
        self.memory = memory
        self.calls = {"load": 0, "shared": 0, "global": 0, "parts": 0, "sums": 0, "read": 0}

    def load(self, blocks, shape, dtype):
        blocks = [np.asarray(block) for block in blocks]
        rows = np.concatenate(blocks, axis=1) if blocks else np.empty(shape)
        assert rows.shape == tuple(shape)
        assert rows.astype(dtype).nbytes <= self.memory
        self.calls["load"] += 1
        return rows.astype(dtype)

    def new_counts(self, cells):
        return np.zeros(cells, dtype=np.uint32)

    def count(self, rows, plan, counts):
        for group, way in zip(plan.groups, plan.ways, strict=True):
            cell = np.zeros(rows.shape[1], dtype=np.int64)
            for member in plan.members[group["member_begin"] : group["member_end"]]:
                cell = cell * member["levels"] + rows[member["variable"]]
            start = 0
            for table in plan.tables[group["table_begin"] : group["table_end"]]:
                size = int(group["cells"]) * int(table["levels"])
                found = np.bincount(cell * table["levels"] + rows[table["variable"]], minlength=size)
                begin = max(int(group["begin"]) - start, 0)
                end = min(int(group["begin"]) + int(group["size"]) - start, size)
                counts[table["place"] + begin : table["place"] + end] += found[begin:end].astype(np.uint32)
                start += size
            self.calls["global" if way == GLOBAL else "shared"] += 1
            self.calls["parts"] += int(group["begin"] > 0)

    def read(self, counts, begin, end):
        self.calls["read"] += 1
        return counts[begin:end]

    def shapes(self, families, counts):
        tables = [_table(family, counts) for family in families]
        found = [((each > 0).sum(), (each.sum(axis=1) > 0).sum()) for each in tables]
        return np.array(found, dtype=np.int32).reshape(-1, 2)

    def new_functions(self, scale, tables, start):
        return [scale, *tables, start, [], []]

    def add_functions(self, functions, new, values):
        functions[5] += new.tolist()
        functions[6] += values.tolist()

    def sums(self, families, counts, functions, which):
        self.calls["sums"] += 1
        found = np.zeros((*which.shape[:2], 4), dtype=np.int64)
        found_term = cache(lambda n, number: term(n, functions[5][number], functions))
        for t, family in enumerate(families):
            table = _table(family, counts)
            for i in range(len(which)):
                if which[i, t, 0] >= 0:
                    for k, cells in enumerate((table.ravel(), table.sum(axis=1).ravel())):
                        terms = [found_term(n, int(which[i, t, k])) for n in cells[cells > 0].tolist()]
                        found[i, t, 2 * k : 2 * k + 2] = [sum(each) for each in zip(*terms, strict=True)]
        return found


def _table(family, counts):
    shape = int(family["above"]), int(family["levels"]), int(family["below"])
    return counts[family["place"] : family["place"] + math.prod(shape)].astype(np.int64).reshape(shape)


def term(n, function, functions):
    """`add_term` of kernels.cu."""
    scale, logs, bases, powers, start, _, values = functions
    a, offset, first, kind, begin, length, _ = function
    if n < length:
        return tuple(values[begin + n])
    log = _log_integer(n, logs)
    high, low = _xlogx(n, log, scale)
    if kind == 0:
        return high, low
    if first != 0.0 and start <= n < len(bases):
        p = powers[n].tolist()
        b = a * a
        even = (p[0] + a * p[1]) + b * (p[2] + a * p[3])
        odd = (p[4] + a * p[5]) + b * (p[6] + a * p[7])
        rest = first + a * (even + b * b * odd)
        high, low = bases[n].tolist()
    else:
        inverse = 1.0 / n
        z = a * inverse
        assert z < 0.02
        tail = 1 / 5 - z * (1 / 6 - z * (1 / 7 - z * (1 / 8 - z / 9)))
        step = z * (1 - z * (1 / 2 - z * (1 / 3 - z * (1 / 4 - z * tail))))
        inverse *= 1 - z * (1 - z * (1 - z * (1 - z * (1 - z * (1 - z * (1 - z))))))
        y = inverse * inverse
        stirling = inverse * (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188))))
        rest = n * step + (a - 0.5) * (log[0] + step) + stirling + offset
        high -= n * int(scale)
    if scale >= 2.0**40:
        return high + math.floor(rest * scale + 0.5), low
    more, less = _fixed(rest, 0.0, scale)
    return high + more, low + less


def _two_sum(x, y):
    s = x + y
    t = s - x
    return s, (x - (s - t)) + (y - t)


def _two_product(x, y):
    p = x * y
    t = 134217729.0 * x
    xh = t - (t - x)
    xl = x - xh
    t = 134217729.0 * y
    yh = t - (t - y)
    yl = y - yh
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


def _log_integer(n, logs):
    bits = struct.unpack("<q", struct.pack("<d", float(n)))[0]
    e = (bits >> 52) - 1023
    m = struct.unpack("<d", struct.pack("<q", (bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000))[0]
    c, hi, lo = logs[int((m - 1.0) * 128)].tolist()
    z = m * c - 1.0
    square, error = _two_product(z, z)
    tail = (
        z
        * square
        * (1 / 3 - z * (1 / 4 - z * (1 / 5 - z * (1 / 6 - z * (1 / 7 - z * (1 / 8 - z * (1 / 9 - z / 10)))))))
    )
    hi, more = _two_sum(e * 0.6931471803691238, hi)
    lo = more + (e * 1.9082149292705877e-10 + lo)
    hi, more = _two_sum(hi, z)
    lo += more
    hi, more = _two_sum(hi, -0.5 * square)
    lo += more - 0.5 * error + tail
    return _two_sum(hi, lo)


def _xlogx(n, log, scale):
    product, error = _two_product(float(n), log[0])
    return _fixed(product, error + n * log[1], scale)


def _fixed(hi, lo, scale):
    whole = math.floor(hi * scale)
    return whole, math.floor(((hi * scale - whole) + lo * scale) * 2.0**30 + 0.5)
