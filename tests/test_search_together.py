"""Gaps, `Support`, constraints, weights and a prior's knowledge together: every search against all graphs, in loops.

The reference here goes by the definitions: families by `naive`, limits by counting configurations in rows that are
complete in a family, graphs by listing them all.
"""

import itertools
import math
import warnings
from functools import cache

import numpy as np
import pytest

import mapdag as md
import naive
from mapdag.errors import GraphError
from naive_exact import all_dags, arc_probabilities, n_orders

try:
    import highspy
except ImportError:
    highspy = None

PRIORS = (
    "U",
    "U",
    "MU(0.3)",
    "VSP(0.2)",
    'CS({"A->B": 0.9, "B->C": 0})',
    'CS({"A->B": [0.9, 0.1, 0]})',
    'CS({"A->B": [0.3, 0.7, 0], "B->C": [0.5, 0.5, 0]})',
    'CS({"A->C": [0.6, 0.4, 0], "C->B": [0.1, 0.9, 0], "A->B": [0.5, 0.5, 0]})',
    'CS({"A->B": [1, 0, 0]})',
    'MaxParents(1)+CS({"B->C": [0.2, 0.8, 0]})',
)
WITH_GAPS = "NAL", "NAL", "PNAL", "PNAL(0.001)", "PNAL(0.02)", "PNAL(0.1)"
COMPLETE = "BDeu(1)", "BDs(1)", "BDs(10)", "K2", "BDJ", "BIC", "AIC", "LogLik"


class Case:
    """One random problem, and its answer by going through all graphs."""

    def __init__(self, seed, n_nodes=3, *, constrained=True):
        self.seed = seed
        self.rng = rng = np.random.default_rng([31, n_nodes, seed])
        self.names = names = list("ABCD")[:n_nodes]
        self.cards = rng.integers(1, 5, n_nodes).tolist()
        n_rows = int(rng.integers(3, 22))
        codes = rng.integers(0, self.cards, (n_rows, n_nodes))
        for child in range(1, n_nodes):
            copied = rng.random(n_rows) < self.pick([0.0, 0.6, 0.9])
            codes[copied, child] = codes[copied, :child].sum(axis=1) % self.cards[child]
        if rng.random() < 0.8:  # how often a value is missing may depend on the column
            codes[rng.random(codes.shape) < rng.random(n_nodes) * self.pick([0.3, 0.7, 1.0])] = -1
        self.has_gaps = bool((codes < 0).any())
        light = rng.random(n_rows) * 0.2 + 0.01  # less than one in all where rows are few
        self.weights = self.pick([None, None, None, rng.integers(1, 4, n_rows), rng.random(n_rows) + 0.5, light])
        self.data = md.Dataset.from_codes(codes, names=names, levels=self.cards, weights=self.weights, gap=-1)
        self.rows = [[None if code < 0 else int(code) for code in row] for row in codes]
        self.likelihood = self.pick(WITH_GAPS if self.has_gaps or rng.random() < 0.2 else COMPLETE)
        self.prior = self.pick(PRIORS)
        self.m = self.pick([None, 1.5, 2, 3, 4, 6, 8])
        self.objective = "+".join([*([f"Support({self.m})"] if self.m else []), self.prior, self.likelihood])
        self.constraints = self.draw_constraints() if constrained else {}

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def draw_constraints(self):
        arcs = list(itertools.permutations(self.names, 2))
        order = self.rng.permutation(self.names).tolist()
        found = {}
        if self.rng.random() < 0.45:
            found["required"] = [self.pick(arcs) for _ in range(self.pick([1, 1, 2]))]
        if self.rng.random() < 0.35:
            found["forbidden"] = [self.pick(arcs) for _ in range(self.pick([1, 2]))]
        if self.rng.random() < 0.3:
            found["tiers"] = [order[:1], order[1 : 1 + int(self.rng.integers(1, len(order)))]]
        if self.rng.random() < 0.3:
            found["max_parents"] = int(self.rng.integers(1, len(self.names)))
        return found

    # --- families

    @cache  # noqa: B019 - cases do not live long
    def family(self, node, parents):
        """Score of a family by its definition."""
        child, others = self.names.index(node), [self.names.index(p) for p in parents]
        weights = None if self.weights is None else self.weights.tolist()
        if "NAL" in self.likelihood:
            total = self.data.total
            usual = total**-0.25 / len(self.names)
            k = {"NAL": 0.0, "PNAL": usual}.get(self.likelihood) if "(" not in self.likelihood else None
            k = float(self.likelihood[5:-1]) if k is None else k
            return total * naive.node_average(self.rows, child, others, self.cards, k, weights)
        name, _, alpha = self.likelihood.rstrip(")").partition("(")
        return naive.score(name, self.rows, child, others, self.cards, float(alpha or 1), weights)

    @cache  # noqa: B019
    def configurations(self, node, parents):
        """Configurations of the parents in the rows that are complete in the family."""
        child, others = self.names.index(node), [self.names.index(p) for p in parents]
        complete = [row for row in self.rows if row[child] is not None and all(row[p] is not None for p in others)]
        return len({tuple(row[p] for p in others) for row in complete}) if parents else 1

    # --- what graphs must obey

    def knowledge(self):
        """Arcs that may be there, arcs that must, and pairs that must be adjacent either way."""
        prior = md.parse(self.objective).prior
        odds = prior.log_odds(self.names)
        tier = {name: t for t, names in enumerate(self.constraints.get("tiers", ())) for name in names}
        required = set(self.constraints.get("required", ()))
        allowed = {
            (a, b)
            for (i, a), (j, b) in itertools.permutations(enumerate(self.names), 2)
            if odds[i, j] > -math.inf
            and (a, b) not in self.constraints.get("forbidden", ())
            and not (a in tier and b in tier and tier[a] > tier[b])
            and (b, a) not in required
        }
        pairs = {(self.names[i], self.names[j]) for i, j in prior.required_pairs(self.names)}
        for a, b in pairs:
            if (a, b) not in allowed or (b, a) not in allowed:
                required |= {(a, b), (b, a)} & allowed
        either = {pair for pair in pairs if pair in allowed and pair[::-1] in allowed}
        most = min(self.constraints.get("max_parents", 99), prior.max_parents or 99)
        return allowed, required, either, most

    @cache  # noqa: B019
    def limits(self):
        """Configurations that each node may have, as `docs/theory.md` says."""
        if self.m is None:
            return dict.fromkeys(self.names, math.inf)
        _, required, either, most = self.knowledge()
        usual = max(self.data.total / self.m, 1)
        must = {x: tuple(p for p in self.names if (p, x) in required) for x in self.names}
        found = {x: max(usual, self.configurations(x, must[x])) for x in self.names}
        ends = []  # nodes that are left, and what those of them need that could come last

        def can_be_directed(left):
            """Put nodes last one after the other, in every way; whether all arcs can be directed within the limits."""
            needed, fitting = {}, []
            for x in sorted(left):
                joined = {p for p in left if (p, x) in either or (x, p) in either}
                parents = tuple(p for p in self.names if p in joined or p in must[x])
                if len(parents) <= most and not any((x, child) in required for child in left):
                    size = self.configurations(x, parents)
                    if size <= found[x] and (size or parents == must[x]):
                        fitting.append(x)
                    elif size:
                        needed[x] = size
            if left and not fitting:
                ends.append((len(left), needed))
            found_ways = [can_be_directed(left - {x}) for x in fitting]  # all of them, for the sake of `ends`
            return not left or any(found_ways)

        while either and not can_be_directed(set(self.names)):
            stuck = [end for end in ends if end[1]]
            for size, needed in stuck:
                if size == min(stuck)[0]:
                    found |= {x: max(n, found[x]) for x, n in needed.items()}
            ends.clear()
            if not stuck:
                break
        return found

    def obeys(self, dag):
        allowed, required, either, most = self.knowledge()
        arcs = set(dag.arcs)
        return (
            arcs <= allowed
            and required <= arcs
            and all(pair in arcs or pair[::-1] in arcs for pair in either)
            and all(len(dag.parents(x)) <= most for x in dag.nodes)
        )

    def score(self, dag):
        """Score of a graph; minus infinity if it is ruled out."""
        prior, limits = md.parse(self.objective).prior.log_prior(dag), self.limits()
        families = [(x, tuple(p for p in self.names if p in dag.parents(x))) for x in self.names]
        if not self.obeys(dag) or any(self.configurations(*each) > limits[each[0]] for each in families):
            return -math.inf
        return prior + math.fsum(self.family(*each) for each in families)


GRAPHS = {n: [(dag, n_orders(dag)) for dag in all_dags(list("ABCD")[:n])] for n in (3, 4)}


SHORT = {"effort": 0}, {"search": "hc"}, {"search": "tabu"}  # searches that need not find the best graph


def close(value):
    return pytest.approx(value, rel=1e-9, abs=2e-6)


def check(seed, n_nodes=3):
    """Compare everything with all graphs of one case; returns whether there is any that is allowed."""
    case = Case(seed, n_nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", md.errors.MapdagWarning)
        scored = [(dag, case.score(dag)) for dag, _ in GRAPHS[n_nodes]]
        possible = sorted(((dag, value) for dag, value in scored if value > -math.inf), key=lambda each: -each[1])
        goal, limits = (case.data, case.objective), case.constraints
        if not possible:
            for search in ["exact", *(["certified"] if highspy else [])]:
                with pytest.raises(GraphError):
                    md.learn(*goal, search=search, **limits)
            return False
        check_scores(case, scored)
        best = possible[0][1]
        for options in ({"search": "exact"}, {}, {"effort": 0}, {"search": "hc"}, {"search": "tabu"}):
            found = md.learn(*goal, **options, **limits)
            assert case.score(found.dag) == close(found.score)
            assert found.score > -math.inf
            assert found.score == md.score(found.dag, *goal, **limits)
            assert found.score == close(best) or options in SHORT
        ranked = md.best_dags(*goal, k=5, **limits)
        assert [each.score for each in ranked] == [close(value) for _, value in possible[:5]]
        check_posteriors(case, possible)
        check_factors(case)
        if highspy:
            check_certificates(case, scored, possible)
    return True


def check_scores(case, scored):
    for i in case.rng.integers(0, len(scored), 6).tolist():
        dag, value = scored[i]
        told = md.score(dag, case.data, case.objective, **case.constraints)
        assert float(told) == close(value) or told == value == -math.inf
        assert md.Result.given(dag, case.data, case.objective, **case.constraints).score == told


def check_posteriors(case, possible):
    orders = dict(GRAPHS[len(case.names)])
    for over, weights in (
        ("dags", possible),
        ("orders", [(dag, value + math.log(orders[dag])) for dag, value in possible]),
    ):
        expected, evidence = arc_probabilities(weights, case.names)
        found = md.arc_posteriors(case.data, case.objective, over=over, **case.constraints)
        assert found.log_evidence == close(evidence)
        for arc, probability in expected.items():
            assert found[arc] == pytest.approx(probability, abs=1e-6)


def check_factors(case):
    """Compare the log odds of an arc with the two graphs, which obey the prior and `Support`, but no constraints."""
    case = Case(case.seed, len(case.names), constrained=False)
    scored = {dag.arcs: (dag, case.score(dag)) for dag, _ in GRAPHS[len(case.names)]}
    for dag, with_arc in scored.values():
        for arc in dag.arcs:
            without = scored[tuple(each for each in dag.arcs if each != arc)][1]
            if case.rng.random() < 0.1 and (with_arc > -math.inf or without > -math.inf):
                told = md.theory.log_bayes_factor(dag, case.data, *arc, case.objective)
                assert told == close(with_arc - without) or told == with_arc - without


def check_certificates(case, scored, possible):
    goal, limits, best = (case.data, case.objective), case.constraints, possible[0][1]
    more = {"ranks": case.pick([1, 1, 3]), "within": case.pick([None, 0.5])}
    found = md.learn(*goal, search="certified", **more, **limits)
    told = found.certificate
    assert found.score == told.score == close(best)
    assert told.proved
    assert told.complete
    assert told.bound >= best - 1e-9 * abs(best)
    if more["ranks"] > 1 and len(possible) > 1:
        assert [value for _, value in told.ranked] == [close(value) for _, value in possible[: more["ranks"]]]
    if more["within"]:
        near = [set(dag.arcs) for dag, value in possible if value > best - more["within"] + 1e-5]
        assert set(told.arcs) <= set.intersection(*near)
    dag, value = scored[int(case.rng.integers(len(scored)))]
    given = md.Result.given(dag, *goal, **limits)
    if value == -math.inf:
        with pytest.raises(GraphError, match="cannot be certified: it "):
            md.certify(given, **limits)
    else:
        certificate = md.certify(given, **limits).certificate
        assert certificate.score == close(value)
        assert certificate.bound == close(best)
        assert certificate.proved == (best - value <= 1e-6) or abs(best - value - 1e-6) < 1e-6


@pytest.mark.parametrize("part", range(5))
def test_no_search_misjudges_any_graph_of_three_nodes(part):
    assert sum(check(seed) for seed in range(50 * part, 50 * (part + 1))) > 30


def test_no_search_misjudges_any_graph_of_four_nodes():
    assert sum(check(seed, 4) for seed in range(8)) > 5


def test_a_larger_family_may_have_fewer_configurations():
    rows = [[0, 0, 0], [1, -1, 0], [1, -1, -1], [-1, -1, 1], [-1, 1, 1], [-1, 1, -1]]
    data = md.Dataset.from_codes(rows, names=list("ABC"), levels=[2, 2, 2], gap=-1)
    for options in [{"search": "exact"}, {}, *([{"search": "certified"}] if highspy else [])]:
        result = md.learn(data, "Support(4)+U+PNAL", **options)
        assert result.score == pytest.approx(-12.764288, abs=1e-6)
        assert set(result.dag.parents("C")) == {"A", "B"}


def test_pairs_of_parents_are_looked_at_though_each_alone_is_too_thin(monkeypatch):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (400, 6))
    rows[:, 0] = np.arange(400) % 150  # two levels in the rows that have the second column, many in others
    rows[60:, 1], rows[:60, 0], rows[:60, 1] = -1, np.arange(60) % 2, np.arange(60) // 2 % 2
    rows[:60, 2] = rows[:60, 0] ^ rows[:60, 1]  # of which neither column alone tells anything
    data = md.Dataset.from_codes(rows, names=list("ABCDEF"), levels=[150, 2, 2, 2, 2, 2], gap=-1)
    monkeypatch.setattr("mapdag.search.orders.search._EXACT", 0.0)
    monkeypatch.setattr("mapdag.search.orders.search._EXACT_SHARE", 0.0)
    found = md.learn(data, "Support(3)+U+PNAL(0.001)", tiers=["A", "B", list("CDEF")])
    assert set(found.dag.parents("C")) == {"A", "B"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(30))
def test_no_search_misjudges_any_of_many_graphs(part):
    for seed in range(1000 + 100 * part, 1000 + 100 * (part + 1)):
        check(seed)
    for seed in range(1000 + 30 * part, 1000 + 30 * (part + 1)):
        check(seed, 4)
