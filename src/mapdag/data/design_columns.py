"""Columns about how the rows were sampled, by name and look: what groups rows, what weighs them, what is neither.

An identifier that repeats, or the unit of a panel, tells which rows belong together; the weights of a survey are known
by their names. None of them is a variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.rows import distinct_rows
from mapdag.wording import plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.data.advice import Fact
    from mapdag.data.columns import Column

    #: The columns of a table and what was found out about each.
    Known = Sequence[tuple[Column, Fact]]

_LEAST_GROUPS = 5
_REPEATED = 20  # rows per group from which on groups are values like others: states, centres, schools
_DISTINCT = 0.95  # groups for each row from which on they name the rows
_PANEL_TIMES, _PANEL_UNITS = 100, 20  # more times than that, or fewer units, are no panel to count by units
_PANEL_FILLED = 0.5  # rows for each unit and time, at least, where the two make a panel
_WITHOUT = 0.1  # share of the rows that may lack a group
_OWNED = 3  # columns that are constant in each group, at least, where only that tells the groups
_WONDER = -14.0  # log probability below which that is no chance
_BODY, _BODY_SPREAD = (2, 500), 0.4  # means of weights of bodies, in any unit, and their spread as a share of it
_NORMALISED = 0.02  # how far the mean of weights that were scaled to 1 is from it

#: What rows belong to, by its name alone, and what only with "id" and the like.
_UNITS = (
    r"person|pers|patient|subject|subj|participant|respondent|household|hh|litter|cage|nest|herd|village|classroom"
    r"|teacher|clinic|cluster|clust|psu|stratum|firm"
)
_VAGUE_UNITS = (
    r"resp|child|mother|woman|man|animal|rat|dog|plant|tree|house|family|fam|farm|school|class|hospital|practice|pair"
    r"|set|company|ad|event|incident|case|session|group|grp|unit"
)
_NUMBER = r"[_. -]?(id|no|nr|num|number|code|key)"
_GROUP_NAMES = re.compile(
    rf"({_UNITS})({_NUMBER})?|({_VAGUE_UNITS}){_NUMBER}|id[_. -]?({_UNITS}|{_VAGUE_UNITS})|v021", re.IGNORECASE
)
_TIME_NAMES = re.compile(
    r"(year|yr|wave|time|period|visit|month|week|day|round|occasion|session|quarter|date|age|t)\d*", re.IGNORECASE
)
_TIME_OF = re.compile(r"(day|week|month|quarter)[_. ]?of[_. ]?(the[_. ]?)?(week|month|year)", re.IGNORECASE)
_WEIGHT_NAMES = re.compile(
    r"(?P<vague>(weights?|wts?|wgts?|wght)[_. ]?\d*)|[pdsfa](sp|n)?_?(weights?|wght|wgt|wt)"
    r"|(an|design|post|pop|person|per|hh|house(hold)?"
    r"|final|fin|fn?l|sample|sampling|samp|survey|svy|case|int|exam|grossing|population|replicate|analysis)[_. ]?"
    r"(weights?|wght|wgt|wt)|(weights?|wght|wgt|wt)[_. ]?(final|person|per|hh|mec|int|ssall|ssps|s|trimmed|norm)?"
    r"(\d+yr|\d+)?|wtmec\d*yr|wtint\d*yr|_?finalwt|_llcpwt|v005|weights?_.*",
    re.IGNORECASE,
)
_PLAN_NAMES = re.compile(
    r"psu|ssu|sdmvpsu|sdmvstra|v02[123]|strat(um|a)?|fpc\d*|_psu|_ststr|(sel|selection|sampling|inclusion)?[_. ]?prob"
    r"(ability)?|pik",
    re.IGNORECASE,
)
_CLUSTER_NAMES = re.compile(r"psu|sdmvpsu|v021|_psu", re.IGNORECASE)
_PLAN = "looks like part of a sampling plan"
_BEST_WEIGHTS = ("anweight", "pspwght", "wtmec2yr", "wtssall", "perwt")


def with_design(known: Known, given: Mapping[str, Any]) -> list[Fact]:
    """Return the facts, those about columns of the sampling plan as they should be.

    Parameters
    ----------
    known : sequence of (Column, Fact)
        With all rows.
    given : mapping
        Options that were given: what they say of groups and weights is not looked for again.
    """
    facts = [_as_given(fact, given) for _, fact in known]
    if not any(fact.kind == "count" for fact in facts) and given.get("weights") is None:
        facts = _with_weights(list(zip((column for column, _ in known), facts, strict=True)))
    if given.get("groups") is None:
        facts = _with_groups(list(zip((column for column, _ in known), facts, strict=True)))
    return facts


def _as_given(fact: Fact, given: Mapping[str, Any]) -> Fact:
    """Return what a column is if it was given as one that weighs or groups the rows."""
    if fact.name == given.get("weights") and given.get("weighting") == "survey":
        return replace(fact, kind="weight", why="they are scaled to the effective size of the sample")
    if fact.name == given.get("groups"):
        return replace(fact, kind="identifier", groups=True, why=f"{plural(fact.levels, 'group')}")
    return fact


# Weights -------------------------------------------------------------------------------------------------------------


def _with_weights(known: Known) -> list[Fact]:
    plan = [_is_plan(column, fact) for column, fact in known]
    found = [fact.name for column, fact in known if _weighs(column, fact, has_plan=any(plan))]
    best = next(
        (name for wanted in _BEST_WEIGHTS for name in found if name.lower() == wanted), found[0] if found else None
    )
    facts = []
    for is_plan, (_, fact) in zip(plan, known, strict=True):
        if fact.name == best:
            facts.append(replace(fact, kind="weight", why="looks like the weights of a survey"))
        elif fact.name in found:
            facts.append(replace(fact, kind="identifier", why="looks like other weights of the survey"))
        elif is_plan and (best or sum(plan) > 1):
            facts.append(replace(fact, kind="identifier", why=_PLAN, is_key=False))
        else:
            facts.append(fact)
    return facts


def _weighs(column: Column, fact: Fact, *, has_plan: bool) -> bool:
    """Tell whether a column looks like weights: numbers above 0 with such a name, not of a body or a car."""
    named = _WEIGHT_NAMES.fullmatch(fact.name)
    numbers = (
        None if named is None or fact.missing or fact.kind not in {"numeric", "identifier"} else column.numbers(())
    )
    if named is None or numbers is None:
        return False
    by_row = numbers[column.index]
    if not (np.isfinite(by_row).all() and (by_row >= 0).all() and np.ptp(by_row) > 0):
        return False
    mean = float(by_row.mean())
    if named["vague"] is not None or (_BODY[0] < mean < _BODY[1] and by_row.std() < _BODY_SPREAD * mean):
        return has_plan or abs(mean - 1) < _NORMALISED
    return True


def _is_plan(column: Column, fact: Fact) -> bool:
    return _PLAN_NAMES.fullmatch(fact.name) is not None and column.n_rows > 0 and fact.kind != "constant"


# Groups --------------------------------------------------------------------------------------------------------------


def _with_groups(known: Known) -> list[Fact]:
    facts = [fact for _, fact in known]
    chosen = _group_column(known) or _panel_unit(known) or _owner(known)
    if chosen is None:
        return facts
    column, why = chosen
    groups = _codes(column)
    size = int(groups.max()) + 1
    sizes = np.bincount(groups)
    of = f"{size:,} groups of {plural(int(sizes.min()), 'row')}" + (
        f" to {sizes.max():,}" if sizes.max() > sizes.min() else ""
    )
    told = []
    for other, fact in known:
        codes = _codes(other)
        if other is column:
            told.append(replace(fact, kind="identifier", groups=True, why=f"{why}: {of}"))
        elif int(codes.max()) + 1 == size and len(distinct_rows(np.array([groups, codes]), [size, size])[0]) == size:
            told.append(replace(fact, kind="identifier", why=f"names the same groups as {column.name!r}"))
        else:
            told.append(fact)
    return told


def _codes(column: Column) -> NDArray[np.intp]:
    return np.unique(column.index, return_inverse=True)[1].reshape(-1)


def _groups(column: Column, fact: Fact, most: int = _REPEATED) -> bool:
    """Tell whether the values of a column are on several rows each, but not on many."""
    rows, size = column.n_rows - fact.missing, fact.levels
    if fact.missing > _WITHOUT * column.n_rows:
        return False
    return _LEAST_GROUPS <= size < _DISTINCT * rows and rows < most * size


def _group_column(known: Known) -> tuple[Column, str] | None:
    """Return an identifier that repeats; of several, the one with the fewest values."""
    found = [
        (len(np.unique(column.index)), column)
        for column, fact in known
        if fact.name
        and fact.kind in {"identifier", "numeric", "category", "text"}
        and (_GROUP_NAMES.fullmatch(fact.name) or fact.is_key)
        and (fact.why != _PLAN or _CLUSTER_NAMES.fullmatch(fact.name))
        and _groups(column, fact, _PANEL_TIMES if fact.kind == "identifier" and fact.is_key else _REPEATED)
    ]
    if not found:
        return None
    return min(found, key=lambda each: each[0])[1], "an identifier that repeats"


def _panel_unit(known: Known) -> tuple[Column, str] | None:
    """Return the column of a panel's units: together with a time, it names the rows, and most units have most times."""
    times = [column for column, fact in known if _TIME_NAMES.fullmatch(fact.name) and fact.kind != "constant"]
    for time in times:
        when = _codes(time)
        n_times = int(when.max()) + 1
        for column, fact in known:
            if (
                column is time
                or _TIME_NAMES.fullmatch(fact.name)
                or _TIME_OF.fullmatch(fact.name)
                or fact.kind in {"constant", "index", "weight"}
                or not _groups(column, fact, _PANEL_TIMES)
            ):
                continue
            units = _codes(column)
            size = int(units.max()) + 1
            if column.n_rows < _PANEL_FILLED * size * n_times or n_times < 2 or size < _PANEL_UNITS:
                continue
            if len(distinct_rows(np.array([units, when]), [size, n_times])[0]) == column.n_rows:
                return column, f"the unit of a panel, with {time.name!r}"
    return None


def _owner(known: Known) -> tuple[Column, str] | None:
    """Return a column, whatever it is called, of which each value has one value of most others, as persons have."""
    others = {fact.name: _codes(column) for column, fact in known if fact.is_kept}
    telling = {name: codes for name, codes in others.items() if (codes > 0).any()}
    for column, fact in known:
        if fact.kind in {"constant", "index", "weight", "date"} or len(telling) < _OWNED or not _groups(column, fact):
            continue
        codes = _codes(column)
        size = int(codes.max()) + 1
        again = column.n_rows - size  # rows that could have another value than the first of their group
        owned = [
            name
            for name, other in telling.items()
            if name != fact.name and _would_differ(other, again) and _follows(codes, size, other)
        ]
        if len(owned) >= max(_OWNED, len(telling) / 2):
            return column, f"each value has one of {plural(len(owned), 'other column')}"
    return None


def _would_differ(codes: NDArray[np.intp], rows: int) -> bool:
    """Tell whether so many rows that agree with another one would be a wonder, were they independent."""
    shares = np.bincount(codes) / len(codes)
    return rows * float(np.log((shares**2).sum())) < _WONDER


def _follows(codes: NDArray[np.intp], size: int, other: NDArray[np.intp]) -> bool:
    most = int(other.max()) + 1
    return len(distinct_rows(np.array([codes, other]), [size, most])[0]) == size
