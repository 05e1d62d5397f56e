"""Why an arc: what it is worth, what removing or turning it costs, and what else would explain its end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.counts import engine_of
from mapdag.explorer.answers import finite
from mapdag.families import Criterion, FamilyScores
from mapdag.graphs import DAG
from mapdag.notices import heard
from mapdag.objective.constraints import Constraints, make_rules, place_of
from mapdag.search.limits import criterion_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mapdag.data import Dataset
    from mapdag.explorer.library import Table
    from mapdag.explorer.settings import Arc, Settings
    from mapdag.objective.constraints import Rules


_ALTERNATIVES = 6
_LEVELS = 40  # levels of a node that the table of counts shows, the most frequent ones


def explain(table: Table, settings: Settings, arcs: Sequence[Arc], arc: Arc) -> dict[str, Any]:
    """Say why an arc is in a graph, or why it is not.

    Parameters
    ----------
    table : Table
    settings : Settings
    arcs : sequence of arcs
        The graph.
    arc : (str, str)
        Whether it is there or not.
    """
    with heard():
        return _Arc(table, settings, DAG(table.data.names, arcs), arc).facts()


class _Arc:
    """One arc of a graph, and what would change with it."""

    def __init__(self, table: Table, settings: Settings, dag: DAG, arc: Arc) -> None:
        self._data, self._settings, self._dag = table.data, settings, dag
        self._judge = Judge(table.data, settings)
        self._arc = arc
        self._start, self._end = place_of(arc, {name: i for i, name in enumerate(table.data.names)})
        self._present = dag.has_arc(*arc)
        self._others = [p for p in dag.parent_indices(self._end) if p != self._start]

    def facts(self) -> dict[str, Any]:
        """Return all that is to be said."""
        a, b, judge = self._start, self._end, self._judge
        likelihood = judge.likelihood(b, [*self._others, a]) - judge.likelihood(b, self._others)
        prior = math.inf if judge.is_demanded(a, b) else float(judge.odds[a, b])
        alone = judge.family(b, [a]) - judge.family(b, [])
        names = self._data.names
        return {
            "arc": list(self._arc),
            "present": self._present,
            "factor": finite(likelihood + prior),
            "likelihood": finite(likelihood),
            "prior": finite(prior),
            "alone": finite(alone),
            "remove": self._remove(likelihood + prior),
            "turn": self._turn(),
            "add": None if self._present else self._add(likelihood + prior),
            "table": self._table(),
            "others": [names[p] for p in self._others],
            "alternatives": self._alternatives(),
            "reversible": self._present and not self._dag.to_cpdag().has_arc(*self._arc),
        }

    def _remove(self, factor: float) -> dict[str, Any]:
        if not self._present:
            return {"impossible": "it is not there"}
        if self._arc in self._settings.required:
            return {"cost": finite(factor), "text": "it is required"}
        return {"cost": finite(factor)} if math.isfinite(factor) else {"impossible": "the prior demands it"}

    def _add(self, factor: float) -> dict[str, Any]:
        if self._dag.has_arc(self._arc[1], self._arc[0]):
            return {"impossible": "the two are joined the other way round: turn that arc"}
        way = self._path(self._arc[1], self._arc[0])
        if way:
            return {"impossible": f"would close a cycle: {' -> '.join([*way, self._arc[1]])}"}
        why = self._forbidden(self._start, self._end)
        if why:
            return {"impossible": why}
        if factor == -math.inf:
            return {"impossible": self._thin(self._arc[1])}
        return {"cost": finite(-factor)}

    def _turn(self) -> dict[str, Any]:
        """Say what turning costs; of an arc that is there."""
        a, b, judge = self._start, self._end, self._judge
        if not self._present:
            return {"impossible": "it is not there"}
        way = self._path(self._arc[0], self._arc[1], without=self._arc)
        if way:
            return {"impossible": f"would close a cycle: {' -> '.join([*way, self._arc[0]])}"}
        why = self._forbidden(b, a)
        if why:
            return {"impossible": why}
        own = list(self._dag.parent_indices(a))
        before = judge.family(b, [*self._others, a]) + judge.family(a, own)
        after = judge.family(b, self._others) + judge.family(a, [*own, b])
        if after == -math.inf:
            return {"impossible": self._thin(self._arc[0])}
        return {"cost": finite(before - after)}

    def _forbidden(self, start: int, end: int) -> str:
        """Say what forbids an arc, if anything does."""
        names, rules = self._data.names, self._judge.rules
        arc = names[start], names[end]
        if rules.allowed[start, end]:
            size = len(self._dag.parent_indices(end)) + 1
            over = size > rules.max_parents
            return f"{arc[1]} may have {rules.max_parents} parents at most" if over else ""
        if arc in self._settings.forbidden:
            return f"{arc[0]} -> {arc[1]} is forbidden"
        if arc[::-1] in self._settings.required:
            return f"{arc[1]} -> {arc[0]} is required"
        tiers = {name: i for i, tier in enumerate(self._settings.tiers) for name in tier}
        if tiers.get(arc[0], 0) > tiers.get(arc[1], len(tiers)):
            return f"{arc[0]} is in a later tier than {arc[1]}"
        return f"the prior rules out {arc[0]} -> {arc[1]}"

    def _thin(self, node: str) -> str:
        return f"the parents of {node} would leave fewer than {self._settings.support:g} rows for each configuration"

    def _path(self, start: str, end: str, without: Arc | None = None) -> list[str]:
        """Find a way along the arcs from one node to another; nothing where there is none."""
        before: dict[str, str] = {start: ""}
        layer = [start]
        while layer and end not in before:
            following = []
            for node in layer:
                for child in self._dag.children(node):
                    if child not in before and (node, child) != without:
                        before[child] = node
                        following.append(child)
            layer = following
        if end not in before:
            return []
        way = [end]
        while before[way[-1]]:
            way.append(before[way[-1]])
        return way[::-1]

    def _alternatives(self) -> list[dict[str, Any]]:
        """Find what else would explain the end: the best parents in the place of the start."""
        names, judge, b = self._data.names, self._judge, self._end
        below = {self._data.index(name) for name in self._dag.descendants(names[b])}
        free = [
            x
            for x in range(len(names))
            if x not in below and x not in (self._start, b, *self._others) and judge.rules.allowed[x, b]
        ]
        here = judge.family(b, self._dag.parent_indices(b))
        told = (
            [
                {
                    "text": "none in its place",
                    "parents": self._named(self._others),
                    "cost": here - judge.family(b, self._others),
                }
            ]
            if self._present
            else []
        )
        if free and len(self._others) < judge.rules.max_parents:
            scores = judge.extensions(b, self._others, free)
            for place in np.argsort(-scores, kind="stable")[:_ALTERNATIVES].tolist():
                x = free[place]
                told.append(
                    {
                        "text": f"{names[x]} in its place" if self._present else f"{names[x]} added",
                        "parents": self._named([*self._others, x]),
                        "cost": here - float(scores[place]),
                    }
                )
        finite_ones = [each for each in told if math.isfinite(each["cost"])]  # type: ignore[arg-type]
        return sorted(finite_ones, key=lambda each: each["cost"])

    def _named(self, nodes: Sequence[int]) -> list[str]:
        return [self._data.names[p] for p in sorted(nodes)]

    def _table(self) -> dict[str, Any]:
        """Count the levels of the end by those of the start, whatever the other parents."""
        found = engine_of(self._data).table(self._end, [self._start])
        cards = [len(self._data.levels[name]) for name in self._arc]
        full = np.zeros(cards, dtype=found.counts.dtype)
        full[found.configurations[:, 0]] = found.dense()
        rows, columns = (_most_frequent(full.sum(axis=axis)) for axis in (1, 0))
        levels = [self._data.levels[name] for name in self._arc]
        return {
            "parent": [levels[0][i] for i in rows],
            "child": [levels[1][i] for i in columns],
            "counts": full[np.ix_(rows, columns)].tolist(),
            "hidden": [cards[0] - len(rows), cards[1] - len(columns)],
        }


def _most_frequent(totals: Any) -> list[int]:
    chosen: list[int] = np.sort(np.argsort(-totals, kind="stable")[:_LEVELS]).tolist()
    return chosen


# Judging -------------------------------------------------------------------------------------------------------------


class Judge:
    """Scores families of one table; nodes are column indices.

    Parameters
    ----------
    data : Dataset
    settings : Settings
    """

    def __init__(self, data: Dataset, settings: Settings) -> None:
        with heard():
            self.objective = settings.objective
            self.odds = np.broadcast_to(self.objective.prior.log_odds(data.names), (data.n_columns, data.n_columns))
            self._constraints = Constraints(**settings.limits)
            self._rules = make_rules(self._constraints, self.objective.prior, data.names)
        self._data = data
        self._demanded = self.objective.prior.required_pairs(data.names)
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    @property
    def rules(self) -> Rules:
        """What graphs must obey."""
        return self._rules

    @cached_property
    def _scores(self) -> FamilyScores:
        criterion = Criterion(self.objective.likelihood)
        if self.objective.prior.support is not None:
            with heard():
                criterion = criterion_of(self.objective, self._data, self._rules)
        return FamilyScores(self._data, [criterion])

    def likelihood(self, child: int, parents: Iterable[int]) -> float:
        """Log-likelihood of a family; minus infinity where it is thinner than allowed."""
        key = (child, tuple(sorted(parents)))
        if key not in self._known:
            self._known[key] = float(self._scores.family(*key)[0])
        return self._known[key]

    def prior(self, child: int, parents: Iterable[int]) -> float:
        """Log-odds of the arcs of a family."""
        return math.fsum(float(self.odds[p, child]) for p in parents)

    def family(self, child: int, parents: Iterable[int]) -> float:
        """Score of a family with the prior of its arcs."""
        members = tuple(parents)
        return self.likelihood(child, members) + self.prior(child, members)

    def extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float64]:
        """Scores of a family with each candidate added."""
        found = self._scores.extensions(child, sorted(parents), candidates)[0]
        base = self.prior(child, parents)
        return np.asarray(found + base + self.odds[np.array(candidates, dtype=np.int64), child])

    def is_demanded(self, start: int, end: int) -> bool:
        """Whether the prior demands that two nodes be joined."""
        return (min(start, end), max(start, end)) in self._demanded
