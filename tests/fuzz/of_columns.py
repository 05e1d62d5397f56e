"""Columns in memory, of every type and in every holder: rows have one level if, and only if, they have one value."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import mapdag as md

_EPOCH = dt.datetime(2020, 1, 1, 5, tzinfo=dt.timezone.utc).replace(tzinfo=None)
_STEPS = [0, 1, 2, 1_000, 1_001, 60_000_000, 86_400_000_000, 86_400_000_001]  # microseconds
#: Values of each kind, all different, with the types that hold them: of numpy, pandas, polars and Arrow.
_KINDS: dict[str, tuple[list[Any], list[Any], list[str], list[Any], list[Any]]] = {
    "small": ([0, 1, 2, 9, -1], [np.int8, np.int64, np.float32], ["Int8", "Int64"], [pl.Int16, pl.Int64], [pa.int32()]),
    "whole": ([0, 1, -7, 2**53, 2**53 + 1, 2**62, -(2**53) - 1], [np.int64], ["Int64"], [pl.Int64], [pa.int64()]),
    "huge": ([2**64 - 1, 2**64 - 2, 5, 2**63, 2**63 - 1], [np.uint64], ["UInt64"], [pl.UInt64], [pa.uint64()]),
    "float": ([0.1, 0.5, 1.5, 1e300, -2.25, 1e-300, 0.30000000000000004, 0.3], [np.float64], ["Float64"], [pl.Float64],
              [pa.float64()]),
    "narrow": ([0.5, 1.5, -2.25, 0.25, 3.5], [np.float16, np.float32, np.longdouble], ["Float32"], [pl.Float32],
               [pa.float32()]),
    "decimal": ([Decimal(x) for x in ("1.5", "2", "9007199254740993.5", "9007199254740993.25", "0.01")], [], [],
                [pl.Decimal(38, 2)], [pa.decimal128(30, 2)]),
    "truth": ([True, False], [np.bool_], ["boolean"], [pl.Boolean], [pa.bool_()]),
    "text": (["a", "A", "é", "1", "01", "x y", "T00:00:00", "true x", "-", "None"], [object, np.dtypes.StringDType()],
             ["string", "category", "object"], [pl.String, pl.Categorical], [pa.string(), pa.large_string()]),
    "day": ([dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in (0, 1, 400, -3000)], ["M8[D]", "M8[s]"], [], [pl.Date],
            [pa.date32()]),
    "moment": ([_EPOCH + dt.timedelta(microseconds=i) for i in _STEPS], ["M8[us]", "M8[ns]"], ["datetime64[us]"],
               [pl.Datetime("us"), pl.Datetime("ns")], [pa.timestamp("us"), pa.timestamp("ns")]),
    "clock": ([(_EPOCH + dt.timedelta(microseconds=i)).time() for i in _STEPS[:-2]], [], [], [pl.Time],
              [pa.time64("us"), pa.time64("ns")]),
    "span": ([dt.timedelta(microseconds=i) for i in _STEPS], ["m8[us]", "m8[ns]"], ["timedelta64[us]"],
             [pl.Duration("us"), pl.Duration("ns")], [pa.duration("us")]),
}  # fmt: skip


class Given(NamedTuple):
    """A column: its kind, its values (None: missing), and who holds them."""

    kind: str
    rows: list[Any]
    holder: str
    dtype: Any


def column(rng: random.Random) -> Given:
    """Choose some values, and who holds them."""
    kind = rng.choice(list(_KINDS))
    values, *types = _KINDS[kind]
    some = rng.sample(values, rng.randint(2, len(values)))
    rows = [*some, *rng.choices(some, k=rng.choice([5, 40, 300]))]
    if rng.random() < 0.4:
        rows = [None if rng.random() < 0.2 else value for value in rows]
    rng.shuffle(rows)
    holders = ["list", "objects", *("numpy", "masked") * bool(types[0]), *["pandas"] * bool(types[1]), "pandas objects"]
    holder = rng.choice([*holders, "polars", "arrow", "pandas arrow", "chunks"])
    place = {"numpy": 0, "masked": 0, "pandas": 1, "polars": 2}.get(holder, 3)
    return Given(kind, rows, holder, rng.choice(types[place]) if types[place] else None)


def _held(given: Given) -> Any:
    """Put the values into their holder."""
    values, dtype = given.rows, given.dtype
    filler = next(value for value in values if value is not None) if any(v is not None for v in values) else 0
    full = [filler if value is None else value for value in values]
    gone = [value is None for value in values]
    make: dict[str, Callable[[], Any]] = {
        "list": lambda: values,
        "objects": lambda: np.array(values, dtype=object),
        "numpy": lambda: np.array(full, dtype=dtype) if any(gone) else np.array(values, dtype=dtype),
        "masked": lambda: np.ma.array(np.array(full, dtype=dtype), mask=gone),
        "pandas": lambda: pd.Series(values, dtype=dtype),
        "pandas objects": lambda: pd.Series(values, dtype=object),
        "polars": lambda: pl.Series(values, dtype=dtype),
        "arrow": lambda: pa.array(values, dtype),
        "pandas arrow": lambda: pd.Series(values, dtype=pd.ArrowDtype(dtype)),
        "chunks": lambda: pa.chunked_array([pa.array(values[:3], dtype), pa.array(values[3:], dtype)]),
    }
    return make[given.holder]()


def read_column(given: Given) -> bool:
    """Read it: rows have the same code if they have the same value, and only then; the label says which."""
    values = given.rows
    if given.holder == "numpy" and None in values:
        return False
    if len({value for value in values if value is not None}) < 2:
        return False
    part = _held(given)
    other = ["u", "v"] * len(values)
    table: Any = {"a": part, "b": other[: len(values)]}
    if given.holder in {"arrow", "chunks"}:
        table = pa.table(table)
    elif given.holder == "pandas arrow":
        table = pd.DataFrame(table)
    data = md.read(table, missing="keep", max_levels=500, discretize={"a": "none"})
    codes, labels = data.codes[0].tolist(), (*data.levels["a"], None)
    found = [labels[code] for code in codes]
    by_value: dict[Any, set[str | None]] = {}
    for value, label in zip(values, found, strict=True):
        by_value.setdefault(value, set()).add(label)
    assert all(len(each) == 1 for each in by_value.values()), by_value
    assert len({next(iter(each)) for each in by_value.values()}) == len(by_value), by_value
    assert by_value.get(None, {None}) == {None}
    plain = md.read({"a": values, "b": table["b"] if isinstance(table, dict) else other[: len(values)]},
                    missing="keep", max_levels=500, discretize={"a": "none"})  # fmt: skip
    assert {_canonical(x) for x in plain.levels["a"]} == {_canonical(x) for x in data.levels["a"]}, given.holder
    return True


def _canonical(label: str) -> object:
    """What a label means: dates may have a time, and narrow floats other digits."""
    try:
        number = float(label)
    except ValueError:
        return label.removesuffix(" 00:00:00")
    return label if math.isinf(number) else round(number, 6)
