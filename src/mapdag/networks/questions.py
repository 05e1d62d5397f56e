"""What a network can be asked: distributions, predictions, explanations, and what happens if one intervenes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from mapdag.errors import ParameterError
from mapdag.networks.evidence import levels_by_node
from mapdag.public import public
from mapdag.wording import brief

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mapdag.networks.answers import Explanation, Marginals
    from mapdag.networks.cpts import Floats
    from mapdag.networks.distribution import Distribution
    from mapdag.networks.inputs import Unseen
    from mapdag.networks.network import BayesianNetwork
    from mapdag.networks.probabilities import CPT

MAX_ENTRIES = 2**27
"""The most entries that intermediate tables may have, unless the user says otherwise: 1 GiB."""


class Questions:
    """Questions to a network; the answers are exact."""

    __slots__ = ()

    @property
    def _network(self) -> BayesianNetwork:
        return cast("BayesianNetwork", self)

    def query(
        self,
        nodes: str | Iterable[str],
        evidence: Mapping[str, Any] | None = None,
        *,
        do: Mapping[str, Any] | None = None,
        max_entries: int = MAX_ENTRIES,
    ) -> Distribution:
        """Return the exact joint distribution of a few nodes given the levels of others.

        Variable elimination on what matters: ancestors of the nodes and of the evidence that are not d-separated.

        Parameters
        ----------
        nodes : str or iterable of str
            One node or several.
        evidence : mapping, optional
            Levels by node: labels, or the values of the table that they stand for, such as 1, True or a scalar of
            numpy; of a column that was cut, any number.
        do : mapping, optional
            Levels that are set from outside instead of observed: the same as ``network.do(...).query(...)``.
        max_entries : int
            The most entries that an intermediate table may have.

        Raises
        ------
        CapacityError
            Before anything is computed, if the network is too densely connected.
        NetworkError
            If the evidence has probability zero.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> print(network("asia").query("lung", {"xray": "yes", "smoke": "yes"}))
        lung  probability
        yes   0.645991
        no    0.354009
        """
        from mapdag.networks.elimination import query

        if not isinstance(nodes, Iterable) or isinstance(nodes, Mapping):
            raise ParameterError(f"nodes must name nodes to ask for, got {brief(nodes)}")
        asked = (nodes,) if isinstance(nodes, str) else tuple(nodes)
        known, done = levels_by_node("evidence", evidence), levels_by_node("do", do)
        for node in done:
            if node in asked or node in known:
                raise ParameterError(
                    f"{node!r} cannot be set by do and be {'asked for' if node in asked else 'evidence'}"
                )
        return query(self.do(done) if done else self._network, asked, known, max_entries)

    def marginals(self, evidence: Mapping[str, Any] | None = None, *, max_entries: int = MAX_ENTRIES) -> Marginals:
        """Return the distribution of every node given the levels of some, all found at once.

        Parameters
        ----------
        evidence : mapping, optional
            As for `query`.
        max_entries : int
            The most entries that intermediate tables may have together.

        Returns
        -------
        Marginals
            A mapping from nodes to distributions, those of the evidence being certain.

        Raises
        ------
        CapacityError, NetworkError
            As for `query`.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> found = network("asia").marginals({"dysp": "yes"})
        >>> round(found["bronc"].probability(bronc="yes"), 3)
        0.834
        """
        from mapdag.networks.propagation import marginals

        return marginals(self._network, levels_by_node("evidence", evidence), max_entries)

    def most_probable(
        self, evidence: Mapping[str, Any] | None = None, *, max_entries: int = MAX_ENTRIES
    ) -> Explanation:
        """Return the most probable levels of all nodes together, given those of some.

        This is the most probable explanation, MPE. It need not consist of the most probable level of each node, which
        `marginals` tells. Of several that are equally probable (up to rounding), it is always the same one: nodes are
        decided one after the other, each for the first of its levels that can still lead to one of them.

        Parameters
        ----------
        evidence, max_entries
            As for `marginals`.

        Returns
        -------
        Explanation
            The levels of all nodes, and their probability given the evidence.

        Raises
        ------
        CapacityError, NetworkError
            As for `query`.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> found = network("asia").most_probable({"xray": "yes"})
        >>> found.levels["lung"], found.levels["tub"], round(found.probability, 3)
        ('yes', 'no', 0.235)
        """
        from mapdag.networks.propagation import most_probable

        return most_probable(self._network, levels_by_node("evidence", evidence), max_entries)

    def log_probability(self, evidence: Mapping[str, Any], *, max_entries: int = MAX_ENTRIES) -> float:
        """Return the log of the probability that some nodes have these levels, whatever the others: natural logs.

        Minus infinity if that is impossible. `log_likelihood` tells the same of whole rows.

        Parameters
        ----------
        evidence, max_entries
            As for `query`.

        Raises
        ------
        CapacityError
            Before anything is computed, if the network is too densely connected.

        Examples
        --------
        >>> import math
        >>> from mapdag.reference import network
        >>> round(math.exp(network("asia").log_probability({"xray": "yes", "dysp": "yes"})), 4)
        0.0707
        """
        from mapdag.networks.propagation import log_probability

        return log_probability(self._network, levels_by_node("evidence", evidence, optional=False), max_entries)

    @public()
    def predict(self, data: Any, node: str, *, unseen: Unseen = "gap") -> NDArray[Any]:
        """Return the most probable level of a node in every row, given what is known of others; of equals, the first.

        Parameters
        ----------
        data : Dataset, or any table that `mapdag.read` takes
            With columns of some of the other nodes. What a row does not tell, because a column is absent or a value
            missing, is summed over; a missing value is a level only where the network has that level. The node's own
            column is ignored. As long as its Markov blanket is known, so are other columns, but for those of nodes
            whose tables have zeros, which may make a row impossible. A table is read with the levels of the network, so
            that a single row will do.
        node : str
            The node to predict.
        unseen : {"gap", "error"}
            What to do about values that are no level of the network: take them for not known, with a warning, or refuse
            the table.

        Returns
        -------
        array
            In the type that the column had in the table that the network comes from: whole numbers, floats, truth
            values; labels of text and intervals.

        Raises
        ------
        DataError
            If no column tells anything about the node; where ``unseen="error"``, if a column holds anything but levels.
        NetworkError
            If a row is impossible whatever the level.
        CapacityError
            If too little is known of a row, and the network is too densely connected.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> asia = network("asia")
        >>> asia.predict(asia.sample(4, seed=1), "either").tolist()
        ['no', 'no', 'no', 'no']
        >>> asia.predict({"smoke": ["yes", "yes", None], "xray": ["yes", None, "yes"]}, "lung").tolist()
        ['yes', 'no', 'no']
        """
        from mapdag.networks.prediction import predict

        return predict(self._network, data, node, unseen)

    @public()
    def predict_proba(self, data: Any, node: str, *, unseen: Unseen = "gap") -> Floats:
        """Return the probabilities of the levels of a node in every row, given what is known of the others.

        Parameters
        ----------
        data, node, unseen
            As for `predict`.

        Returns
        -------
        array of shape (rows, levels of the node)
            Rows that are impossible whatever the level are NaN.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> network("asia").predict_proba({"smoke": ["yes", None], "xray": ["yes", "yes"]}, "lung").round(3)
        array([[0.646, 0.354],
               [0.489, 0.511]])
        """
        from mapdag.networks.prediction import predict_proba

        return predict_proba(self._network, data, node, unseen)

    def do(self, levels: Mapping[str, Any]) -> BayesianNetwork:
        """Return the network after an intervention: the arcs into some nodes cut, their levels set.

        What it says about the others is what would happen if one *made* these nodes have these levels, which is not
        what one expects where they are *seen* to have them. It is right if the arcs of the network are causal, and if
        nothing outside the network affects two of its nodes. Data alone do not decide that: of a learned graph, see
        `CPDAG.identifiable` first.

        Parameters
        ----------
        levels : mapping
            Levels by node, as in `query`.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> asia = network("asia")
        >>> seen, made = asia.query("smoke", {"bronc": "yes"}), asia.do({"bronc": "yes"}).query("smoke")
        >>> round(seen.probability(smoke="yes"), 3), made.probability(smoke="yes")
        (0.667, 0.5)
        """
        from mapdag.networks.intervention import intervened

        return intervened(self._network, levels_by_node("levels", levels, optional=False))

    def effect(self, cause: str, effect: str) -> CPT:
        """Return the distribution of a node after each intervention on another one: P(effect | do(cause)).

        See `do` for what it assumes; `Result.effect` refuses where a learned graph does not decide it.

        Parameters
        ----------
        cause : str
            The node whose level is set, to each of its levels in turn.
        effect : str
            The node that is looked at.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> print(network("asia").effect("bronc", "dysp"))
        dysp given do(bronc)
        bronc  yes       no
        yes    0.806483  0.193517
        no     0.138897  0.861103
        """
        from mapdag.networks.intervention import effect_of

        return effect_of(self._network, cause, effect)
