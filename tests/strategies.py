"""Random data sets and families for Hypothesis: unobserved levels and configurations included."""

from hypothesis import strategies as st

import mapdag as md


@st.composite
def small_data(draw, min_columns=1, max_columns=5, max_rows=60, max_levels=5):
    """Rows of codes, and the number of declared levels of each column (often more than occur)."""
    cards = draw(st.lists(st.integers(2, max_levels), min_size=min_columns, max_size=max_columns))
    # Levels are drawn from a part of the declared ones, so that some never occur.
    row = st.tuples(*[st.integers(0, draw(st.integers(0, card - 1))) for card in cards])
    rows = draw(st.lists(row, min_size=1, max_size=max_rows))
    return rows, cards


@st.composite
def family(draw, **options):
    """A data set, a child and its parents."""
    rows, cards = draw(small_data(**options))
    order = draw(st.permutations(range(len(cards))))
    size = draw(st.integers(0, len(cards) - 1))
    return rows, cards, order[0], sorted(order[1 : 1 + size])


def as_dataset(rows, cards, weights=None):
    return md.Dataset.from_codes(rows, names=[f"X{i}" for i in range(len(cards))], levels=cards, weights=weights)


@st.composite
def data_with_gaps(draw, **options):
    """Rows of codes in which None stands where a value is missing, and the number of declared levels."""
    rows, cards = draw(small_data(**options))
    share = draw(st.sampled_from([0, 1, 3, 8]))
    cell = st.integers(0, 9)
    return [tuple(None if draw(cell) < share else code for code in row) for row in rows], cards


def with_gaps(rows, cards, weights=None):
    codes = [[-1 if code is None else code for code in row] for row in rows]
    names = [f"X{i}" for i in range(len(cards))]
    return md.Dataset.from_codes(codes, names=names, levels=cards, weights=weights, gap=-1)
