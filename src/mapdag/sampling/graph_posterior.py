"""`Posterior`: probabilities of arcs, paths and blankets, and graphs drawn from the posterior."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mapdag.checks import check_number, check_whole, is_one_of
from mapdag.errors import CycleError, GraphError, MissingExtraError, ParameterError
from mapdag.graphs import CPDAG, DAG, NextExperiments
from mapdag.sampling.model_averages import ModelAverages
from mapdag.search.exact.posterior import ArcProbability
from mapdag.tables import SHOWN, Column, Table, Tabular
from mapdag.wording import brief, near, plural

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from mapdag.contracts import Objective
    from mapdag.data import Dataset
    from mapdag.graphs.drawable import Picture

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]

_GOOD_R_HAT = 1.05
_UNSURE = 0.005  # arcs closer than that to 0 or 1 are not judged
_LEFT_OUT = 0.01  # above which what is left out is said


class GraphShare(NamedTuple):
    """A graph and its posterior probability."""

    dag: DAG
    score: float
    probability: float


class ClassShare(NamedTuple):
    """An equivalence class and its posterior probability."""

    cpdag: CPDAG
    probability: float


class SampledGraph(NamedTuple):
    """A graph that was drawn, and its score."""

    dag: DAG
    score: float


class Convergence(NamedTuple):
    """How far Markov chains can be relied on; see `docs/posterior.md`.

    Attributes
    ----------
    chains, sweeps : int
        Chains, and sweeps over all nodes of each that count.
    finished : bool
        Whether the Monte Carlo error asked for was reached.
    error, r_hat, ess : float array (N, N)
        Of the probability of each arc: Monte Carlo standard error; split R-hat and effective number of draws.
    score_r_hat, score_ess : float
        The same for the score, by ranks.
    """

    chains: int
    sweeps: int
    finished: bool
    error: Floats
    r_hat: Floats
    ess: Floats
    score_r_hat: float
    score_ess: float


class Drawn(NamedTuple):
    """Graphs that were drawn, by their families."""

    sets: Words  # (families, words) parents, as bits of nodes
    which: NDArray[np.int32]  # (chains, draws, nodes)
    scores: Floats  # (chains, draws)


@dataclass(frozen=True, eq=False)
class Posterior(ModelAverages, Tabular):
    """The posterior over graphs: exact, or as Markov chains have sampled it.

    Answers to `query`, `marginals`, `predict_proba`, `log_likelihood` and `effect` are averaged over graphs.

    Attributes
    ----------
    nodes : tuple of str
    objective : Objective
        With the values of alpha, c or beta that were used.
    method : {"exact", "chains"}
    probabilities : float array (N, N)
        ``probabilities[i, j]`` of the arc from node i to node j.
    left_out : float
        Bound on the posterior probability of the sets of parents that were scored and left out; 0 where all count.
    log_evidence : float
        Log of the sum of exp(score) over all graphs; not a number where it is not known.
    convergence : Convergence or None
        None where probabilities of arcs are exact and graphs were drawn independently.
    stopped : {"converged", "max_iter", "time_limit", "interrupted"}
        Why sampling ended; "max_iter" where `sweeps` did not suffice for the error that was asked for.
    seconds : float
    data : Dataset or None
        The rows that it was computed from; None where it was read from a file without them.
    alpha : float or None
        Imaginary sample size with which the probabilities of the sampled graphs are estimated, instead of the
        pseudo-counts of the score.
    cut_at : int or None
        Sets with more parents were not looked at, for want of time or memory; None where all were that may matter.
    """

    nodes: tuple[str, ...] = field(repr=False)
    objective: Objective
    method: Literal["exact", "chains"]
    probabilities: Floats = field(repr=False)
    drawn: Drawn = field(repr=False)
    left_out: float
    log_evidence: float
    convergence: Convergence | None = field(repr=False)
    stopped: str
    seconds: float
    data: Dataset | None = field(repr=False)
    alpha: float | None = field(default=None, repr=False)
    cut_at: int | None = None

    def __getitem__(self, arc: tuple[str, str]) -> float:
        """Probability of an arc, given as a pair of names."""
        return float(self.probabilities[self._at(arc[0]), self._at(arc[1])])

    def _at(self, name: str) -> int:
        if name not in self.nodes:
            close = near(str(name), self.nodes)
            raise GraphError(f"{brief(name)} is not a node" + (f"; did you mean {close[0]!r}?" if close else ""))
        return self.nodes.index(name)

    def edge(self, a: str, b: str) -> float:
        """Probability that two nodes are adjacent."""
        return min(self[a, b] + self[b, a], 1.0)

    def path(self, a: str, b: str) -> float:
        """Probability of a directed path from one node to another: the share of the sampled graphs that have one."""
        self._at(a), self._at(b)
        return self.probability(lambda dag: b in dag.descendants(a))

    def blanket(self, node: str) -> dict[str, float]:
        """Probability of each other node to be in the Markov blanket of a node, the most probable first."""
        self._at(node)
        times: Counter[str] = Counter()
        for dag, count in self._distinct:
            times.update(dict.fromkeys(dag.markov_blanket(node), count))
        others = [name for name in self.nodes if name != node]
        total = self.drawn.scores.size
        return {name: times[name] / total for name in sorted(others, key=lambda name: -times[name])}

    def probability(self, function: Callable[[DAG], Any]) -> float:
        """Mean of a function of a graph over the sampled graphs: a probability, where it returns True or False.

        Examples
        --------
        >>> import mapdag as md
        >>> found = md.posterior(md.network("asia").sample(500, seed=1), seed=1)
        >>> found.probability(lambda dag: dag.n_arcs > 4) > 0.9
        True
        """
        if not callable(function):
            raise ParameterError(f"function must be a function of a DAG, got {brief(function)}")
        total = math.fsum(float(function(dag)) * count for dag, count in self._distinct)
        return total / self.drawn.scores.size

    @property
    def strength(self) -> Floats:
        """Probability that two nodes are adjacent, for each pair; what arcs are drawn by."""
        share: Floats = np.minimum(self.probabilities + self.probabilities.T, 1.0)
        return share

    def arcs(self, least: float = 0.0) -> tuple[ArcProbability, ...]:
        """Arcs of at least some probability, the most probable first."""
        least = check_number("least", least, least=0)
        found = [arc for arc in self._every() if arc.probability >= least]
        return tuple(sorted(found, key=lambda arc: -arc.probability))

    def _every(self) -> Iterator[ArcProbability]:
        for i, j in np.argwhere(self.probabilities > 0).tolist():
            yield ArcProbability(self.nodes[i], self.nodes[j], float(self.probabilities[i, j]))

    def consensus(self, threshold: float = 0.5) -> DAG:
        """Return the arcs above a probability, the most probable first, unless they close a cycle."""
        limit = check_number("threshold", threshold, least=0)
        if limit > 1:
            raise ParameterError(f"threshold must be between 0 and 1, got {brief(threshold)}")
        dag = DAG(self.nodes)
        for arc in self.arcs(limit):
            if arc.probability > limit:
                try:
                    dag = dag.with_arc(arc.start, arc.end)
                except (CycleError, GraphError):
                    continue
        return dag

    # The sampled graphs --------------------------------------------------------------------------------------------

    @property
    def trace(self) -> Floats:
        """Scores of the sampled graphs, (chains, draws)."""
        return self.drawn.scores

    @cached_property
    def graphs(self) -> tuple[SampledGraph, ...]:
        """The sampled graphs with their scores, chain after chain; equal ones are one object."""
        rows = self._rows()
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        dags = [self._dag(rows[i]) for i in first]
        return tuple(
            SampledGraph(dags[i], score)
            for i, score in zip(which.ravel().tolist(), self.drawn.scores.ravel().tolist(), strict=True)
        )

    @cached_property
    def _distinct(self) -> tuple[tuple[DAG, int], ...]:
        """Different graphs, and how often each was drawn."""
        times: Counter[int] = Counter()
        dags: dict[int, DAG] = {}
        for graph in self.graphs:
            times[id(graph.dag)] += 1
            dags[id(graph.dag)] = graph.dag
        return tuple((dags[each], count) for each, count in times.items())

    def _rows(self) -> NDArray[np.int32]:
        return self.drawn.which.reshape(-1, len(self.nodes))

    def _dag(self, families: NDArray[np.int32]) -> DAG:
        masks = [sum(int(word) << 64 * i for i, word in enumerate(self.drawn.sets[f])) for f in families]
        return DAG.from_parent_masks(self.nodes, masks, check=False)

    def best(self, most: int = 10) -> tuple[GraphShare, ...]:
        """Return the sampled graphs with the highest scores, and their probabilities.

        Probabilities are exact where the evidence is known, otherwise the share of the draws.
        """
        most = check_whole("most", most, least=1)
        scores = {id(graph.dag): graph.score for graph in self.graphs}
        ranked = sorted(self._distinct, key=lambda each: -scores[id(each[0])])[:most]
        total = self.drawn.scores.size
        known = not math.isnan(self.log_evidence)
        return tuple(
            GraphShare(dag, score, math.exp(score - self.log_evidence) if known else count / total)
            for dag, count, score in ((dag, count, scores[id(dag)]) for dag, count in ranked)
        )

    def best_classes(self, most: int = 10) -> tuple[ClassShare, ...]:
        """Return the equivalence classes that were drawn most often, and the share of the draws that each has."""
        most = check_whole("most", most, least=1)
        times: Counter[CPDAG] = Counter()
        was_set = None if self.data is None else self.data.interventions
        for dag, count in self._distinct:
            times[dag.to_cpdag(() if was_set is None else was_set.targets)] += count
        return tuple(ClassShare(cpdag, count / self.drawn.scores.size) for cpdag, count in times.most_common(most))

    def next_experiments(self) -> NextExperiments:
        """Tell which variable to set next, on average over the graphs that were drawn.

        For each, how many directions an experiment that sets it would settle, and how much it would tell about the
        equivalence class: the entropy of the classes that it would leave less that of those now, as the draws have them
        (too little where nearly all draws are of different classes).
        """
        targets = () if self.data is None or self.data.interventions is None else self.data.interventions.targets
        total = self.drawn.scores.size
        now = [(dag.to_cpdag(targets), dag, count) for dag, count in self._distinct]
        settled, information = {}, {}
        before = _entropy(_added_up((cpdag, count) for cpdag, _, count in now), total)
        n_open = sum(cpdag.n_edges * count for cpdag, _, count in now) / total
        for name in self.nodes:
            then = [(dag.to_cpdag((*targets, (name,))), count) for _, dag, count in now]
            settled[name] = n_open - sum(cpdag.n_edges * count for cpdag, count in then) / total
            information[name] = max(_entropy(_added_up(then), total) - before, 0.0)
        return NextExperiments(n_open, settled, total, information)

    # How it is shown -----------------------------------------------------------------------------------------------

    @property
    def advice(self) -> str:
        """How far the numbers can be relied on, in sentences."""
        told = []
        found = self.convergence
        if found is not None:
            told.append(_chains_sentence(found, self.nodes, self.probabilities, self.stopped))
        if self.left_out > _LEFT_OUT:
            bound = min(self.left_out, 1.0)
            told.append(f"Sets of parents that were left out have a posterior probability of at most {bound:.2g}.")
        if self.cut_at is not None:
            told.append(
                f"Sets of more than {plural(self.cut_at, 'parent')} were not looked at, for want of time or memory: "
                "set max_parents to make that a part of the question."
            )
        return " ".join(told)

    def to_table(self, most: int | None = None) -> Table:
        """Return a row for each arc with a probability above 0, the most probable first."""
        arcs = self.arcs()
        shown = arcs if most is None else arcs[: check_whole("most", most)]
        columns = [
            Column("start", [arc.start for arc in shown]),
            Column("end", [arc.end for arc in shown]),
            Column("probability", np.array([arc.probability for arc in shown]), ".3f", right=True),
            Column("edge", np.array([self.edge(arc.start, arc.end) for arc in shown]), ".3f", right=True),
        ]
        if self.convergence is not None:
            at = [(self.nodes.index(arc.start), self.nodes.index(arc.end)) for arc in shown]
            error = np.array([self.convergence.error[place] for place in at])
            columns.append(Column("error", error, ".3f", right=True))
        drawn = plural(self.drawn.scores.size, "sampled graph")
        how = "exact" if self.method == "exact" else f"by {plural(len(self.drawn.scores), 'chain')}"
        title = f"{self.objective}, posterior {how}, {drawn}"
        notes = [self.advice] if self.advice else []
        return Table(columns, title=title, notes=notes, left=len(arcs) - len(shown), rest="less probable")

    def _shown(self) -> Table:
        return self.to_table(SHOWN)

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, threshold: float = 0.5, of: str = "graph"
    ) -> Picture | None:
        """Draw the arcs: shown in a notebook, or written to a file. Needs the extra ``plots``.

        Parameters
        ----------
        path : path, optional
            SVG, PNG or PDF, by its ending; without one, the picture is returned.
        threshold : float
            Of the consensus graph.
        of : {"graph", "arcs"}
            "graph": the consensus graph, arcs as thick as their nodes are probably adjacent; "arcs": the probabilities
            of all arcs as a heat map, a row for each start.
        """
        if not is_one_of(of, ("graph", "arcs")):
            raise ParameterError(f"of must be 'graph' or 'arcs', got {brief(of)}")
        found: Picture | None
        if of == "graph":
            found = self.consensus(threshold).plot(path, bootstrap=self)
        else:  # by name, as `mapdag.plots` is a layer above this one
            title = f"Posterior probability of arcs under {self.objective}"
            found = import_module("mapdag.plots.heat_map").plot_matrix(self.nodes, self.probabilities, title, path)
        return found

    # What it can be turned into ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the rows to a file, which `mapdag.read_posterior` reads.

        The file has a version; see `mapdag.sampling.posterior_files`.
        """
        from mapdag.sampling.posterior_files import write_posterior

        write_posterior(self, path)

    def to_arviz(self, *, least: float = 0.005) -> Any:
        """Return the draws as ArviZ takes them, with its figures and diagnoses: needs ``pip install arviz``.

        Variables are ``score``, ``n_arcs``, and ``arc``: whether each arc is there, for arcs whose probability is
        neither below `least` nor above 1 - `least`.

        Parameters
        ----------
        least : float
        """
        try:
            arviz = import_module("arviz")
        except ImportError:
            raise MissingExtraError("to_arviz needs ArviZ, which is not installed: pip install arviz") from None
        least = check_number("least", least, least=0)
        unsure = (self.probabilities >= least) & (self.probabilities <= 1 - least) & (self.probabilities > 0)
        arcs = np.argwhere(unsure)
        has = np.stack([self._has(i, j) for i, j in arcs.tolist()], axis=-1) if len(arcs) else None
        sizes = np.bitwise_count(self.drawn.sets).sum(axis=1)[self.drawn.which].sum(axis=2)
        values: dict[str, Any] = {"score": self.drawn.scores, "n_arcs": sizes.astype(np.int64)}
        coords, dims = {}, {}
        if has is not None:
            values["arc"] = has.astype(np.int64)
            coords = {"arcs": [f"{self.nodes[i]} -> {self.nodes[j]}" for i, j in arcs.tolist()]}
            dims = {"arc": ["arcs"]}
        older = int(arviz.__version__.split(".")[0]) < 1
        return arviz.from_dict(
            **{"posterior" if older else "data": values if older else {"posterior": values}}, coords=coords, dims=dims
        )

    def _has(self, i: int, j: int) -> NDArray[np.bool_]:
        """Whether each sampled graph has an arc, (chains, draws)."""
        bit = np.uint64(1) << np.uint64(i % 64)
        found: NDArray[np.bool_] = (self.drawn.sets[:, i // 64] & bit != 0)[self.drawn.which[:, :, j]]
        return found


def _chains_sentence(found: Convergence, nodes: tuple[str, ...], arcs: Floats, stopped: str) -> str:
    """Say whether chains agree, and how large their error is."""
    unsure = (arcs > _UNSURE) & (arcs < 1 - _UNSURE)
    worst = float(np.where(unsure, found.r_hat, 1.0).max(initial=1.0))
    fewest = float(np.where(unsure, found.ess, np.inf).min(initial=found.score_ess))
    ran = f"{plural(found.chains, 'chain')} of {plural(found.sweeps, 'sweep')}"
    error = f"largest Monte Carlo error of an arc {found.error.max(initial=0.0):.3f}"
    if max(worst, found.score_r_hat) <= _GOOD_R_HAT:
        told = f"{ran} agree (R-hat at most {max(worst, found.score_r_hat):.2f}), {error}, "
        told += f"at least {fewest:,.0f} effective draws."
    elif worst <= _GOOD_R_HAT:
        told = f"{ran}: they disagree about the score (R-hat {found.score_r_hat:.2f}); {error}."
    else:
        i, j = np.unravel_index(int(np.where(unsure, found.r_hat, 1.0).argmax()), arcs.shape)
        told = f"{ran} disagree: R-hat is {worst:.2f} for {nodes[i]} -> {nodes[j]}, and should be below {_GOOD_R_HAT}; "
        told += "do not rely on these probabilities, and let the chains run longer."
    early = {"time_limit": "the time limit", "interrupted": "an interruption", "max_iter": "the limit on sweeps"}
    if stopped in early:
        told += f" Sampling ended by {early[stopped]}, before the error that was asked for was reached."
    return told


def _added_up(parts: Iterable[tuple[CPDAG, int]]) -> list[int]:
    """How often each class was drawn."""
    times: Counter[CPDAG] = Counter()
    for cpdag, count in parts:
        times[cpdag] += count
    return list(times.values())


def _entropy(times: Sequence[int], total: int) -> float:
    return -math.fsum(n / total * math.log(n / total) for n in times)
