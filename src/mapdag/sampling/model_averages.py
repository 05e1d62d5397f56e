"""What a posterior over graphs says of rows: answers of the networks of its graphs, averaged."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, overload

import numpy as np

from mapdag.checks import check_whole
from mapdag.data.codings import TEXT
from mapdag.data.labels import code_dtype
from mapdag.errors import NetworkError, ParameterError
from mapdag.networks import Distribution, Marginals
from mapdag.networks.evidence import decoded, levels_by_node
from mapdag.networks.gaps import log_known
from mapdag.networks.inputs import needed_columns, readable_again, rows_as_evidence
from mapdag.networks.likelihood import log_by_row
from mapdag.networks.propagation import first_best
from mapdag.sampling.causal_effects import EffectPosterior, draw_effects
from mapdag.sampling.dirichlet_networks import DirichletNetworks
from mapdag.scores import BDeu

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from mapdag.data.labels import Codes
    from mapdag.graphs import DAG
    from mapdag.networks import BayesianNetwork
    from mapdag.sampling.graph_posterior import Posterior

    Floats = NDArray[np.float64]

GRAPHS = 200
"""Sampled graphs that answers are averaged over, unless the user says otherwise."""


class NetworkShare(NamedTuple):
    """A sampled graph with the posterior means of its probabilities, and its share of the graphs."""

    network: BayesianNetwork
    share: float


class ModelAverages:
    """Answers of the networks of sampled graphs, averaged by their posterior probability.

    The probabilities of each graph are their posterior means, given the rows that the posterior was computed from.
    """

    @property
    def _posterior(self) -> Posterior:
        return cast("Posterior", self)

    @cached_property
    def _tables(self) -> DirichletNetworks:
        found = self._posterior
        if found.data is None:
            raise ParameterError(
                "this posterior was read from a file, which has no rows: pass them to mapdag.read_posterior(path, data)"
            )
        likelihood = found.objective.likelihood if found.alpha is None else BDeu(found.alpha)
        return DirichletNetworks(found.data, likelihood)

    def _spread(self, graphs: int) -> list[tuple[DAG, int]]:
        """Return graphs that are evenly spread over the sampled ones, and how often each occurs."""
        every = self._posterior.graphs
        most = min(check_whole("graphs", graphs, least=1), len(every))
        times: Counter[DAG] = Counter()
        for place in np.linspace(0, len(every) - 1, most).round().astype(int).tolist():
            times[every[place].dag] += 1
        return list(times.items())

    def networks(self, graphs: int = GRAPHS) -> tuple[NetworkShare, ...]:
        """Return the networks that answers are averaged over.

        Parameters
        ----------
        graphs : int
            How many of the sampled graphs, evenly spread; equal ones are put together.

        Returns
        -------
        tuple of NetworkShare
        """
        chosen = self._spread(graphs)
        total = sum(times for _, times in chosen)
        return tuple(NetworkShare(self._tables.mean(dag), times / total) for dag, times in chosen)

    def query(
        self,
        nodes: str | Iterable[str],
        evidence: Mapping[str, Any] | None = None,
        *,
        do: Mapping[str, Any] | None = None,
        graphs: int = GRAPHS,
    ) -> Distribution:
        """Return the joint distribution of a few nodes given the levels of others, averaged over graphs.

        Evidence also tells which graphs are probable: each counts by its share times the probability of the evidence.

        Parameters
        ----------
        nodes, evidence, do
            As in `BayesianNetwork.query`.
        graphs : int
            As in `networks`.

        Examples
        --------
        >>> import mapdag as md
        >>> found = md.posterior(md.network("asia").sample(500, seed=1), seed=1)
        >>> 0.8 < found.query("bronc", {"dysp": "yes"}).probability(bronc="yes") < 0.9
        True
        """
        known, done = levels_by_node("evidence", evidence), levels_by_node("do", do)
        answers, logs = [], []
        for network, share in self.networks(graphs):
            changed = network.do(done) if done else network
            log = changed.log_probability(known) if known else 0.0
            if log > -np.inf:
                answers.append(network.query(nodes, known, do=done))
                logs.append(np.log(share) + log)
        if not answers:
            raise NetworkError("the evidence has probability zero under every graph")
        values = np.tensordot(_shares(np.array(logs)), np.array([each.values for each in answers]), axes=1)
        first = answers[0]
        return Distribution(first.nodes, first.levels, values / values.sum(), first.codings)

    def marginals(self, evidence: Mapping[str, Any] | None = None, *, graphs: int = GRAPHS) -> Marginals:
        """Return the distribution of every node given the levels of some, averaged over graphs; see `query`."""
        known = levels_by_node("evidence", evidence)
        shared = self.networks(graphs)
        found = [network.marginals(known) for network, _ in shared]
        weights = _shares(
            np.array([np.log(share) + (network.log_probability(known) if known else 0.0) for network, share in shared])
        )
        averaged = {}
        for node, first in found[0].items():
            values = np.tensordot(weights, np.array([each[node].values for each in found]), axes=1)
            averaged[node] = Distribution(first.nodes, first.levels, values / values.sum(), first.codings)
        return Marginals(averaged, found[0].evidence)

    def predict_proba(self, data: Any, node: str, *, graphs: int = GRAPHS) -> Floats:
        """Return the probabilities of the levels of a node in every row, averaged over graphs; see `query`.

        Parameters
        ----------
        data, node
            As in `BayesianNetwork.predict_proba`.
        graphs : int
            As in `networks`.
        """
        shared = self.networks(graphs)
        first = shared[0].network
        target = first.dag.index.position(node)
        cards = [len(first.levels[name]) for name in first.nodes]
        evidence = rows_as_evidence(readable_again(data), [name for name in first.nodes if name != node], first)
        codes: Codes = np.empty((len(cards), evidence.n_rows), dtype=code_dtype(cards, gaps=True))
        for i, (name, card) in enumerate(zip(first.nodes, cards, strict=True)):
            codes[i] = card
            if name in evidence.codes:
                codes[i] = np.minimum(evidence.codes[name], card)
        logs = np.full((evidence.n_rows, cards[target]), -np.inf)
        for network, share in shared:
            for level in range(cards[target]):
                codes[target] = level
                logs[:, level] = np.logaddexp(logs[:, level], np.log(share) + log_known(network, codes))
        with np.errstate(invalid="ignore"):
            values = np.exp(logs - logs.max(axis=1, keepdims=True))
        found: Floats = values / values.sum(axis=1, keepdims=True)
        return found

    def predict(self, data: Any, node: str, *, graphs: int = GRAPHS) -> NDArray[Any]:
        """Return the most probable level of a node in every row; of equals, the first. See `predict_proba`."""
        found = self.predict_proba(data, node, graphs=graphs)
        rows = self._posterior.data
        assert rows is not None  # otherwise there were no networks
        return decoded(rows.levels[node], rows.codings.get(node, TEXT), first_best(found.T))

    @overload
    def log_likelihood(self, data: Any, *, by_row: Literal[False] = False, graphs: int = GRAPHS) -> float: ...
    @overload
    def log_likelihood(self, data: Any, *, by_row: Literal[True], graphs: int = GRAPHS) -> Floats: ...
    def log_likelihood(self, data: Any, *, by_row: bool = False, graphs: int = GRAPHS) -> float | Floats:
        """Return the log of the probability of rows, averaged over graphs: each row for itself, as the next one.

        Parameters
        ----------
        data, by_row
            As in `BayesianNetwork.log_likelihood`.
        graphs : int
            As in `networks`.
        """
        shared = self.networks(graphs)
        table = needed_columns(data, self._posterior.nodes, shared[0].network)
        logs = np.full(table.n_rows, -np.inf)
        for network, share in shared:
            logs = np.logaddexp(logs, np.log(share) + log_by_row(network, table))
        if by_row:
            return logs
        return float(logs.sum() if table.weights is None else (logs * table.weights).sum())

    def effect(self, cause: str, effect: str, *, draws: int = 1000, seed: int = 0) -> EffectPosterior:
        """Draw the causal effect of one node on another from its posterior, over graphs and their probabilities.

        P(effect | do(cause)) in each of the sampled graphs, the probabilities of which are drawn, too. Where a graph
        has no directed path from the cause to the effect, there is none. It assumes that arcs are causes, and that
        nothing outside the table affects two of its columns.

        Parameters
        ----------
        cause, effect : str
            Two nodes.
        draws : int
            How many; the sampled graphs are gone through evenly.
        seed : int
            The same gives the same draws.

        Returns
        -------
        EffectPosterior

        Examples
        --------
        >>> import mapdag as md
        >>> found = md.posterior(md.network("asia").sample(500, seed=1), "U+BDeu(1)", seed=1)
        >>> effect = found.effect("smoke", "bronc")
        >>> 0.3 < effect.probability < 0.8
        True
        """
        return draw_effects(self._posterior, self._tables, cause, effect, draws, seed)


def _shares(logs: Floats) -> Floats:
    """Turn logs of weights into shares."""
    weights = np.exp(logs - logs.max())
    found: Floats = weights / weights.sum()
    return found
