"""Any dataset survives the trip through pandas, polars, Arrow and text; levels do not depend on the order of rows."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import polars as pl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mapdag.data import Dataset, read

# Anything printable, with the characters that text files trip over made likely.
label = st.text(
    st.sampled_from(" ,;\"'|\t.?NA01é-") | st.characters(codec="utf-8", categories=["L", "N", "P", "S"]),
    min_size=1,
    max_size=6,
).filter(lambda text: text == text.strip())
name = label.filter(lambda text: "\x00" not in text)


@st.composite
def datasets(draw, labels=label):
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True))
    levels = {n: draw(st.lists(labels, min_size=2, max_size=5, unique=True)) for n in names}
    rows = draw(st.integers(1, 12))
    codes = [[draw(st.integers(0, len(levels[n]) - 1)) for n in names] for _ in range(rows)]
    weights = draw(st.none() | st.lists(st.integers(1, 9), min_size=rows, max_size=rows))
    return Dataset.from_codes(codes, names=names, levels=levels, weights=weights)


def split(data):
    """Weights travel as a column of their own."""
    return {} if data.weights is None else {"weights": "the weight"}


@settings(deadline=None)
@given(datasets())
def test_pandas_and_back(data):
    frame = data.to_pandas(weights="the weight")
    assert read(frame, **split(data)) == data


@settings(deadline=None)
@given(datasets())
def test_polars_and_arrow_and_back(data):
    frame = data.to_polars(weights="the weight")
    assert read(frame, **split(data)) == data
    assert read(frame.lazy(), **split(data)) == data
    assert read(frame.to_arrow(), **split(data)) == data


@settings(deadline=None)
@given(datasets(), st.sampled_from(",;\t|"), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_and_back(data, separator, encoding):
    assume(all(n not in levels for n, levels in data.levels.items()))  # else it looks like a table without a header
    frame = data.to_polars(weights="the weight")
    text = frame.write_csv(separator=separator, quote_style="non_numeric").encode(encoding)
    found = read(text, levels=data.levels, separator=separator, **split(data))
    assert found == data


@settings(deadline=None)
@given(datasets(), st.randoms(use_true_random=False))
def test_levels_do_not_depend_on_the_order_of_rows(data, rng):
    frame = data.to_polars(weights="the weight").select(data.names).cast(pl.String)
    order = list(range(data.n_rows))
    rng.shuffle(order)
    options = {"missing": "level", "missing_values": ["nothing"], "max_levels": 256}
    wide = pl.concat([frame, pl.DataFrame({n: ["first", "second"] for n in data.names})])
    shuffled = pl.concat([wide[order], wide[data.n_rows :]])
    ours, theirs = read(wide, **options), read(shuffled, **options)
    assert ours.levels == theirs.levels
    assert ours.take([*order, data.n_rows, data.n_rows + 1]) == theirs


def test_levels_do_not_depend_on_hashing_or_threads():
    code = (
        "import numpy as np, polars as pl; from mapdag.data import read;"
        "rng = np.random.default_rng(1);"
        "t = {c: rng.choice(['b', 'a', 'z', 'é', '10', '9'], 5000) for c in 'xyz'};"
        "d = [read(t), read(pl.DataFrame(t)), read(pl.DataFrame(t).write_csv().encode())];"
        "assert d[0] == d[1] == d[2];"
        "print(dict(d[0].levels), d[2].codes.sum())"
    )
    results = set()
    for seed, threads in (("0", "1"), ("1", "4"), ("2", "2")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "POLARS_MAX_THREADS": threads, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
        results.add(done.stdout)
    assert len(results) == 1


def test_large_tables_of_text_equal_small_ones_put_together():
    rng = np.random.default_rng(2)
    codes = np.column_stack([rng.integers(0, k, 60_000) for k in (2, 3, 11, 200)])
    levels = [["no", "yes"], ["low", "mid", "high"], 11, [f"site {i:03d}" for i in range(200)]]
    data = Dataset.from_codes(codes, names=["a", "b", "c", "d"], levels=levels)
    text = data.to_polars().write_csv().encode()
    found = read(text)
    assert found.with_levels(data.levels) == data
    assert found.levels["c"] == data.levels["c"]
