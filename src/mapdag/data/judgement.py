"""What a column seems to be, judged by its distinct values against its rows: the one place where that is decided.

The thresholds were set by looking at the columns of several hundred public tables; `tests/data/judged.json` keeps what
many of them are. Columns with declared levels are never judged: the user knows better.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mapdag.data.gaps import is_monotone, missing_together
from mapdag.data.labels import MAX_LEVELS, are_dates, are_integral, parse_numbers
from mapdag.data.meanings import meanings_of
from mapdag.data.problems import listed
from mapdag.data.rows import distinct_rows
from mapdag.wording import plural

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from mapdag.data.columns import Column
    from mapdag.data.meanings import ReadOptions


#: What a column can be. From "count" on, some take more than one column, or all of its rows, to tell.
ColumnKind: TypeAlias = Literal[
    "category", "numeric", "identifier", "count", "date", "text", "constant", "index", "weight"
]

#: Up to so many distinct values are levels, whatever they are: small tables of codes are nobody's mistake.
FEW = 10

#: Rows for each configuration of its parents that a family needs (the m of `mapdag.Support` in the default objective).
SUPPORT = 3

_ROWS_PER_CELL = 100
_THREE_BINS = 100

#: The share of the rows below which a level is rare, in columns that have very many.
RARE = 0.01

_MOST_BINS = 5  # more make tables that nobody reads

_SURELY_DISTINCT = 0.9  # of the rows have a text of their own: an identifier
_DISTINCT = 0.95  # the same for whole numbers, which must also be dense: else they are amounts
_DENSE = 1.1  # width of the range of an enumeration, in numbers that occur
_LEAST_ROWS = 5  # of an identifier
_REPEATED = 20  # rows per value from which a column called "..._id" holds codes of groups
_DOZEN = 12  # distinct numbers from 0 or 1 on without gaps that are codes, given rows enough
_SMALL_CODES = 20  # the same that may be codes
_ROWS_PER_CODE = 5
_SENTENCE = 4  # words of free text
_LONG = 40  # characters of free text
_YEARS = (1500, 2100)

_INDEX_NAMES = re.compile(
    r"(unnamed: ?\d+|rownames?|row[._ ]names?|row[._ ]?(id|num|number|index)|index|\.\.\.1)?", re.IGNORECASE
)
_NO_NAME = re.compile(r"(unnamed: ?\d+|rownames?|row[._ ]names?|\.\.\.1)?", re.IGNORECASE)
_WHO = (
    r"id|ids|idno|uid|pid|sid|uuid|guid|nr|ssn|case|caseno|case[_. ]?(id|no|number)|record|subject|subj|patient"
    r"|respondent|person|participant|customer|client|member|user|account"
)
_ID_NAMES = re.compile(rf"({_WHO})", re.IGNORECASE)
_LIKE_ID_NAMES = re.compile(
    rf".*[_. -]({_WHO}|key|code|ref|no)|(id|ID)[_. -].*|.*[a-z](Id|ID|Key|No)|ID[A-Z]*\d*|key|code|ref"
)
#: What all-distinct whole numbers are called that name rows.
_KEY_NAMES = re.compile(
    r"seq(n|no|num|uence)?|p(id|er)?s?_?(num|nr)|(pid|pers|person|obs|doc|serial|acc(ession)?|reg|ref|rec|study|tag|plot|"
    r"ticket|barcode|house|case|row|line|item)[._ ]?(n|no|nr|num|number|code|cod)?|id(num|number|code|x)?"
    r"|.*(idno|pidnum)|(hh|fam|indiv|emp|firm|sch(ool)?|dist(rict)?|county|state|cnty|clinic|hosp(ital)?|pat|subj?|stud|loan|acct)"
    r"[._ ]?(id|n|no|nr|num|number|code|cod)|student|pupil|individual|household|employee|district|dept|psu|fips|zip"
    r"|zip[._ ]?code|postcode|.*[._ ](fips|seq|seqn|num|nr)|key\d*",
    re.IGNORECASE,
)
#: What is counted or measured in whole numbers, however evenly a design spreads them.
_MEASURED = re.compile(
    r"age.*|.*[._ ]age|edu.*|year.*|.*years?|yr|time.*|.*time|day.*|week.*|month.*|period|quarter|wave|hour.*|dose.*"
    r"|conc.*|dist|distance|height|weight|temp.*|score|rank",
    re.IGNORECASE,
)
_NUMERALS = 0.8  # share of the labels of a column of numbers among which some are none
_MANY_NUMBERS = 50  # labels from which such a column is none of categories
_CALENDAR = {"mon": 12, "month": 12, "months": 12, "hour": 24, "hr": 24, "hours": 24, "day": 31}
_LEADING_ZERO = re.compile(r"[+-]?0\d+", re.ASCII)
_PERIOD = re.compile(r"\d{4}-\d{2}|\d{4}[- ]?[QW]\d{1,2}", re.ASCII)
_CLOCK_TIME = re.compile(r"\d{1,3}:[0-5]\d(:[0-5]\d([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?", re.ASCII)
_THOUSANDS_POINT = re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?|[+-]?\d{1,3}(,\d+)?", re.ASCII)
_AMOUNT = re.compile(r"[$€£¥+-]?\s*[$€£¥+-]?\d[\d,.' ]*\s*[%$€£¥]?", re.ASCII)


@dataclass(frozen=True)
class Judgement:
    """What a column seems to be."""

    kind: ColumnKind = "category"
    why: str = ""  # what speaks for it: a predicate with figures
    sure: bool = True  # whether it would mislead to take it for categories
    numeric: bool = False  # whether it could be cut
    codes: bool = False  # whether numbers might be codes of categories, for all that is known
    many: int = 0  # the number of levels, if that alone speaks against it
    odd: tuple[str, ...] = ()  # labels that are no numbers, if they alone speak against it


CATEGORY = Judgement()


def bins_for(rows: float) -> int:
    """Return into how many bins numbers are best cut, given so many rows.

    A node and two parents of b bins each make b^3 cells. In samples of ten continuous variables with known arcs, most
    of them were found where 50 to 150 rows were left for a cell: with 2 bins up to 800 rows, 3 to 3,000, 4 at 10,000
    (docs/check.md). Two bins cannot show what rises and falls again: from 100 rows on there are three, at little cost.

    >>> [bins_for(rows) for rows in (84, 150, 6_400, 10**6)]
    [2, 3, 4, 5]
    """
    bins = 2 if rows < _THREE_BINS else 3
    while bins < _MOST_BINS and _ROWS_PER_CELL * (bins + 1) ** 3 <= rows:
        bins += 1
    return bins


def judge(column: Column, options: ReadOptions) -> Judgement:
    """Say what a column without declared levels seems to be."""
    if column.kind == "nested":
        return Judgement("text", f"holds {column.note}, which cannot be categories")
    named_index = _INDEX_NAMES.fullmatch(column.name) is not None
    named = named_index or _ID_NAMES.fullmatch(column.name) is not None
    if column.n_positions <= min(FEW, options.max_levels) and not named:
        return CATEGORY
    counts = column.tally()
    numbers = None if _has_codes(column) else column.numbers(options.missing_texts(column.name))
    if numbers is not None:
        return _judge_numbers(column, numbers, counts, options, named_index=named_index)
    return _judge_texts(column, counts, options, named_index=named_index)


def _has_codes(column: Column) -> bool:
    """Tell whether a column of text has leading zeros, as post codes have: then it holds no numbers."""
    return column.values is None and any(label and _LEADING_ZERO.match(label.strip()) for label in column.labels)


# Numbers -----------------------------------------------------------------------------------------------------------


def _judge_numbers(
    column: Column, numbers: NDArray[np.float64], counts: NDArray[Any], options: ReadOptions, *, named_index: bool
) -> Judgement:
    present = ~np.isnan(numbers) & (counts > 0)
    distinct = np.unique(numbers[present])
    size, rows = len(distinct), int(counts[present].sum())
    whole = are_integral(distinct)
    if whole and options.insists(size):
        return CATEGORY
    if rows == size == column.n_rows and _is_index(column, numbers, options, named=named_index, whole=whole):
        return Judgement("index", f"numbers the {rows:,} rows", numeric=True)
    if size <= FEW and not _is_small_id(column, size):
        return _within(size, options)
    figures = f"{size:,} distinct {'whole ' if whole else ''}numbers from {distinct[0]:.6g} to {distinct[-1]:.6g}"
    observations = rows * options.weight
    if whole and size <= options.max_levels and _codes_by_name(column.name, distinct, observations):
        return CATEGORY
    named = _identifies(column.name, size, observations) and (whole or _ID_NAMES.fullmatch(column.name))
    if named or (whole and _enumerates(column, distinct, counts[present], numbers, options)):
        return Judgement("identifier", f"looks like an identifier ({figures} in {rows:,} rows)", numeric=True)
    if whole and _are_days(distinct):
        return Judgement("date", f"holds dates ({size:,} distinct, written {distinct[0]:.0f} to {distinct[-1]:.0f})")
    if not whole:
        return Judgement("numeric", f"looks continuous ({figures})", numeric=True)
    return _judge_whole(distinct, observations, options, figures)


def _judge_whole(distinct: NDArray[np.float64], observations: float, options: ReadOptions, figures: str) -> Judgement:
    """Judge whole numbers that are amounts or codes."""
    size = len(distinct)
    codes, enough = size <= options.max_levels, observations >= SUPPORT * size**2
    without_gaps = distinct[0] in {0.0, 1.0} and distinct[-1] - distinct[0] + 1 == size
    if codes and enough and without_gaps and size <= _DOZEN:
        return CATEGORY
    # There may be rows enough for two such parents, or few values.
    few = without_gaps and size <= _SMALL_CODES and observations >= _ROWS_PER_CODE * size
    sure = not (codes and (enough or few))
    return Judgement("numeric", f"looks continuous ({figures})", sure, numeric=True, codes=codes)


def _are_days(distinct: NDArray[np.float64]) -> bool:
    """Tell whether whole numbers are days, written as 20190131."""
    years, days = np.divmod(distinct, 10_000)
    months, days = np.divmod(days, 100)
    inside = (_YEARS[0] <= years) & (years <= _YEARS[1]) & (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)
    return bool(inside.all())


def _is_index(column: Column, numbers: NDArray[np.float64], options: ReadOptions, *, named: bool, whole: bool) -> bool:
    """Tell whether distinct numbers number the rows: whole ones in their order, and first or called so.

    A first column without a name of its own does in any order: tables are sorted and sampled before they are written.
    """
    by_row = numbers[column.index]
    if column.name == options.first and _NO_NAME.fullmatch(column.name) and len(by_row) > 1:
        return True
    if not whole:
        return False
    if named:
        return len(by_row) > 1 and bool(np.all(np.diff(by_row) > 0))
    if _ID_NAMES.fullmatch(column.name) or _LIKE_ID_NAMES.fullmatch(column.name):
        return False
    return column.name == options.first and by_row[0] in {0.0, 1.0} and bool(np.all(np.diff(by_row) == 1))


def _identifies(name: str, size: int, rows: float) -> bool:
    """Tell whether a column with many values is called an identifier: of rows, or of groups of not too many rows."""
    if _ID_NAMES.fullmatch(name):
        return True
    return _LIKE_ID_NAMES.fullmatch(name) is not None and rows < _REPEATED * size


def _is_small_id(column: Column, size: int) -> bool:
    """Tell whether a few values, one on each row, are called an identifier."""
    return _LEAST_ROWS <= size == column.n_rows and _ID_NAMES.fullmatch(column.name) is not None


def _enumerates(
    column: Column,
    distinct: NDArray[np.float64],
    counts: NDArray[Any],
    numbers: NDArray[np.float64],
    options: ReadOptions,
) -> bool:
    """Tell whether whole numbers, by their values alone, are names of something: rows, or groups of rows."""
    size, low, high = len(distinct), float(distinct[0]), float(distinct[-1])
    rows = float(counts.sum()) * options.weight
    if size >= _DISTINCT * rows and size > _SMALL_CODES and low >= 0 and _KEY_NAMES.fullmatch(column.name):
        return True
    if high - low + 1 > _DENSE * size:
        return False
    if size >= _DISTINCT * rows:
        # Ranks are as dense, but in no order, and not the first thing that a table tells.
        steps = np.diff(numbers[column.index])
        if column.name != options.first and not (np.all(steps >= 0) or np.all(steps <= 0)):
            return False
        years = _YEARS[0] <= low and high <= _YEARS[1]
        return 0 <= low <= 1 + (_DENSE - 1) * size or (low >= 100 and size > _SMALL_CODES and not years)
    # As many rows for each, as in panels and repeated measurements.
    balanced = np.mean(counts == np.median(counts)) >= _DISTINCT
    dense = low in {0.0, 1.0} and high - low + 1 == size and size > _SMALL_CODES
    return dense and bool(balanced) and _MEASURED.fullmatch(column.name) is None


def _codes_by_name(name: str, distinct: NDArray[np.float64], rows: float) -> bool:
    """Tell whether a column is called like one of codes: months, or a number of something that many rows share."""
    most = _CALENDAR.get(name.lower())
    if most is not None and distinct[0] >= 0 and distinct[-1] <= most:
        return True
    return _LIKE_ID_NAMES.fullmatch(name) is not None and rows >= _REPEATED * len(distinct)


# Texts -------------------------------------------------------------------------------------------------------------


def _judge_texts(column: Column, counts: NDArray[Any], options: ReadOptions, *, named_index: bool) -> Judgement:
    labels = meanings_of(column, options, None)
    by_label: dict[str, int] = {}
    for label, count in zip(labels, counts.tolist(), strict=True):
        if label is not None and count:
            by_label[label] = by_label.get(label, 0) + count
    size, rows = len(by_label), sum(by_label.values())
    if options.insists(size):
        return CATEGORY
    if named_index and 1 < size == column.n_rows:
        return Judgement("index", f"names the {rows:,} rows")
    if size <= FEW and not _is_small_id(column, size):
        return _within(size, options)
    found = _judge_labels(column, sorted(by_label), rows, options)
    odd = _not_numbers(by_label)
    unlikely = found.kind == "category" and (not found.sure or size > _MANY_NUMBERS)
    if odd and (found.kind == "text" or found.many or unlikely):
        return Judgement("text", f"holds numbers, but for {listed(odd, 5)} ({size:,} levels)", odd=odd)
    if found.many and found.kind == "identifier":
        frequent = sum(count for count in by_label.values() if count >= RARE * rows)
        if 2 * frequent >= rows:
            figures = f"{size:,} levels in {rows:,} rows, max_levels is {options.max_levels:,}"
            return replace(found, kind="category", sure=False, why=f"has many levels, most of them rare ({figures})")
    return found


def _judge_labels(column: Column, texts: Sequence[str], rows: int, options: ReadOptions) -> Judgement:
    """Judge more than a few labels."""
    size, observations = len(texts), rows * options.weight
    figures = f"{size:,} levels in {rows:,} rows"
    if size <= options.max_levels and observations >= SUPPORT * size**2 and all(map(_PERIOD.fullmatch, texts)):
        return CATEGORY  # quarters of birth, with rows enough for two such parents
    if column.kind == "temporal" or are_dates(texts):
        return Judgement("date", f"holds dates or times ({size:,} distinct, {_short(texts[0])} to {_short(texts[-1])})")
    if all(_CLOCK_TIME.fullmatch(text) for text in texts):
        told = f"holds times of day or durations ({size:,} distinct, such as {_short(texts[0])})"
        return Judgement("date", told)
    written = _as_amounts(texts)
    if written:
        return Judgement("text", f"holds {written}: {size:,} distinct, such as {_short(texts[0])}")
    if _identifies(column.name, size, observations):
        return Judgement("identifier", f"looks like an identifier ({figures})")
    if 2 * size > observations:
        return _judge_rare(texts, observations, figures)
    if size <= options.max_levels and SUPPORT * size > observations:
        return Judgement("category", f"has hardly {SUPPORT} rows for each label ({figures})", sure=False)
    return _within(size, options)


def _not_numbers(texts: Collection[str]) -> tuple[str, ...]:
    """Return the labels that are no numbers where most of them are."""
    odd = tuple(text for text in texts if parse_numbers([text]) is None)
    return odd if 0 < len(odd) <= (1 - _NUMERALS) * len(texts) else ()


def _judge_rare(texts: Sequence[str], observations: float, figures: str) -> Judgement:
    """Judge labels of which hardly any is on more than one row."""
    if _are_sentences(texts):
        return Judgement("text", f"looks like free text ({figures}, such as {_short(texts[0])})")
    if len(texts) >= _SURELY_DISTINCT * observations:
        return Judgement("identifier", f"looks like an identifier ({figures})")
    return Judgement("text", f"has hardly two rows for each label ({figures})")


def _within(size: int, options: ReadOptions) -> Judgement:
    if size <= options.max_levels:
        return CATEGORY
    what = f"has {size:,} levels, like an identifier (max_levels is {options.max_levels:,})"
    return Judgement("identifier", what, many=size if size <= MAX_LEVELS else 0)


def _are_sentences(texts: Collection[str]) -> bool:
    words = np.mean([len(text.split()) for text in texts])
    return bool(words >= _SENTENCE or np.mean([len(text) for text in texts]) > _LONG)


def _as_amounts(texts: Collection[str]) -> str:
    """Say in which way amounts are written that are not read as numbers, if the texts are such."""
    if all(text.isdigit() for text in texts) or not all(_AMOUNT.fullmatch(text) for text in texts):
        return ""
    if any("." in text for text in texts) and all(_THOUSANDS_POINT.fullmatch(text) for text in texts):
        return "amounts with points between thousands (write 6804.80 for 6.804,80)"
    bare = [re.sub(r"[$€£¥%' ]|,(?=\d{3})", "", text) for text in texts]
    return (
        "" if parse_numbers(bare) is None else "amounts that are not plain numbers (units or separators of thousands)"
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONG else f"{text[: _LONG - 3]}...")


# What only several columns together tell -----------------------------------------------------------------------------

_MANY_ROWS = 0.1  # share of the rows, with gaps, that would be missed
_COUNT_NAMES = re.compile(
    r"(freq|frequency|frequencies|freqs|n|count|counts|cnt|n_?obs|0)\d*|n[_. ]?(rows|obs|cases)|(count|freq)[_. ].*"
    r"|.*[_. ](count|freq)|(?P<vague>(num|number|size|obs|observed|cases|total|value|values|weight|weights)\d*)",
    re.IGNORECASE,
)
_AGGREGATED = 10_000  # rows up to which a table may be one of counts
_LEAST_COUNTED = 4
_LEAST_COUNT = 3  # that some row must have: 0 and 1 are levels
_FILLED = 0.25  # share of the cells that have a row, unless the counts are in order
_WELL_FILLED = 0.5  # the same where the name says little
_RECURRING = 4  # rows for each value of a number that is part of a design


def may_have_counts(names: Sequence[str], n_rows: int) -> bool:
    """Tell whether it is worth looking for a column of counts."""
    return _LEAST_COUNTED <= n_rows <= _AGGREGATED and any(_COUNT_NAMES.fullmatch(name) for name in names)


def count_column(columns: Sequence[Column], options: ReadOptions) -> str | None:
    """Find the column that counts how often the combination of the others occurred, if the table is such a table."""
    named = [column for column in columns if _COUNT_NAMES.fullmatch(column.name) and _holds_counts(column, options)]
    # What `groupby(...).size().reset_index()` makes is called 0, and last; else 0 is one of several categories.
    named = [column for column in named if column.name != "0" or column is columns[-1]]
    named.sort(key=lambda column: not column.name[-1:].isdigit())
    for column in reversed(named):  # the last, as a rule; but "count" rather than "count2011"
        others = [other for other in columns if other is not column and not _COUNT_NAMES.fullmatch(other.name)]
        others = [other for other in others if not _is_judged(other, options, "index")]
        found = _COUNT_NAMES.fullmatch(column.name)
        if found is not None and found["vague"] and any(len(np.unique(other.index)) > _DOZEN for other in others):
            continue  # the weights of animals, one for each animal and day
        if others and all(_is_factor(other, options) for other in others) and _is_design(column, others):
            return column.name
    return None


def _holds_counts(column: Column, options: ReadOptions) -> bool:
    if column.declared is not None or column.name in options.declared or column.name in options.cut | options.uncut:
        return False
    numbers = column.numbers(options.missing_texts(column.name))
    if numbers is None:
        return False
    by_row = numbers[column.index]
    return bool(np.all(by_row >= 0) and np.ptp(by_row) > 0 and by_row.max() >= _LEAST_COUNT) and are_integral(by_row)


def _is_judged(column: Column, options: ReadOptions, kind: str) -> bool:
    if column.declared is not None or column.name in options.declared:
        return kind == "category"
    return judge(column, options).kind == kind


def _is_factor(column: Column, options: ReadOptions) -> bool:
    """Tell whether a column can be part of a design: a category, or numbers that recur."""
    # Every combination has one row, however often it occurred.
    if _is_judged(column, replace(options, weight=math.inf), "category"):
        return True
    return _RECURRING * len(np.unique(column.index)) <= len(column.index)


def _is_design(counts: Column, others: Sequence[Column]) -> bool:
    """Tell whether the rows are distinct, and fill a good part of all combinations or are ordered by their counts."""
    n_rows = len(counts.index)
    combinations, cells = combinations_of(others)
    if combinations < n_rows:
        return False
    values = counts.numbers(())
    name = _COUNT_NAMES.fullmatch(counts.name)
    vague = name is not None and name["vague"] is not None
    ordered = not vague and values is not None and bool(np.all(np.diff(values[counts.index]) <= 0))
    return ordered or n_rows >= (_WELL_FILLED if vague else _FILLED) * cells


def is_count_name(name: Any) -> bool:
    """Tell whether a column of numbers is called as counts are, and nothing else is."""
    found = _COUNT_NAMES.fullmatch(name) if isinstance(name, str) else None
    return found is not None and found["vague"] is None


def combinations_of(columns: Sequence[Column]) -> tuple[int, int]:
    """Return how many combinations of values rows have, and how many there could be, given what follows from what."""
    codes = [np.unique(column.index, return_inverse=True)[1].reshape(-1) for column in columns]
    codes.sort(key=lambda code: -int(code.max()))
    cells = 1
    chosen: list[NDArray[Any]] = []
    combinations = 1
    for code in codes:
        sizes = [int(each.max()) + 1 for each in (*chosen, code)]
        more = len(distinct_rows(np.array([*chosen, code]), sizes)[0])
        if more > combinations:  # else it follows from the others, such as groups of ages from ages
            chosen.append(code)
            combinations, cells = more, math.prod(sizes)
    return combinations, cells


# Missing values ----------------------------------------------------------------------------------------------------


def describe_missing(missing: Mapping[str, NDArray[np.bool_]]) -> list[str]:
    """Say which rows lack values, and which columns lack them together, given the columns that do."""
    if not missing:
        return []
    table = np.array(list(missing.values()))
    n_rows, incomplete = table.shape[1], int(table.any(axis=0).sum())
    have = "has" if incomplete == 1 else "have"
    notes = [f"{incomplete:,} of {n_rows:,} rows {have} missing values, in {plural(len(missing), 'column')}"]
    groups: dict[bytes, list[str]] = {}
    for name, rows in missing.items():
        groups.setdefault(np.packbits(rows).tobytes(), []).append(name)
    notes += [
        f"{listed(names, 5)} are missing in the same {_rows(int(missing[names[0]].sum()))}"
        for names in groups.values()
        if len(names) > 1
    ]
    if len(groups) > 1 and is_monotone(missing_together(table)):
        notes.append("the pattern is monotone: rows that lack one column lack all that are missing more often")
    if incomplete > _MANY_ROWS * n_rows:
        notes.append(
            "structural EM learns from all that is known, without leaving out rows or adding levels: "
            "mapdag.structural_em, or mapdag learn --em"
        )
    return notes


def _rows(count: int) -> str:
    return "row" if count == 1 else f"{count:,} rows"
