"""Every figure of R bnlearn's scores, to ten digits."""

import math

import pytest

import mapdag as md
from golden_data import SETS, dataset, figures

PLAIN = {
    "loglik": "LogLik",
    "aic": "AIC",
    "bic": "BIC",
    "ebic": "eBIC",
    "bdj": "BDJ",
    "k2": "K2",
    "fnml": "fNML",
    "qnml": "qNML",
    **{f"bde_iss{a}": f"BDeu({a})" for a in (1, 5, 10)},
    **{f"bds_iss{a}": f"BDs({a})" for a in (1, 5, 10)},
}
# The reference approximates the NML normaliser; ours is exact (test_scores compares it with the recurrence).
TOLERANCE = {"fnml": 1e-5, "qnml": 2e-5}


def graphs(name):
    golden = figures(f"scores_{name}")
    return [(label, md.DAG(golden["nodes"], map(tuple, g["arcs"])), g) for label, g in golden["dags"].items()]


@pytest.mark.parametrize("key", PLAIN)
@pytest.mark.parametrize("name", SETS)
def test_likelihoods_node_by_node(name, key):
    for _, dag, golden in graphs(name):
        scored = md.score(dag, dataset(name), PLAIN[key])
        tolerance = TOLERANCE.get(key, 1e-10)
        for node, expected in zip(dag.nodes, golden["scores"][key]["per_node"], strict=True):
            if key == "bdj" and not dag.parents(node):
                continue  # the reference's bug
            assert scored.by_node[node] == pytest.approx(expected, rel=tolerance), node
        if key != "bdj":
            assert scored == pytest.approx(golden["scores"][key]["total"], rel=min(tolerance, 1e-5))


def prior_of(key, golden, n_nodes):
    if key.startswith("marginalc"):
        return md.MU(beta=2 * int(key.removeprefix("marginalc")) / (n_nodes - 1))
    if key.startswith("marginal"):
        return md.MU(beta=float(key.removeprefix("marginal")))
    if key == "vsp":
        return md.VSP(1 / (n_nodes - 1))
    table = golden["cs_prior"]
    return md.CS(zip(table["from"], table["to"], table["prob"], strict=True))


def charged_as_in_bnlearn(prior, dag):
    """Prior of each node the way the reference splits it: a pair is charged to its node of smaller index."""
    odds = prior.log_odds(dag.nodes)
    n = len(dag.nodes)
    if isinstance(prior, md.VSP):
        return [sum(odds[p, i] for p in dag.parent_indices(i)) for i in range(n)]
    # The states' probabilities follow from the two log-odds of a pair.
    by_node = [0.0] * n
    for i in range(n):
        for j in range(i + 1, n):
            none = -math.log(1 + math.exp(odds[i, j]) + math.exp(odds[j, i]))
            arc = odds[i, j] if i in dag.parent_indices(j) else odds[j, i] if j in dag.parent_indices(i) else 0
            by_node[i] += none + arc + math.log(3)
    return by_node


@pytest.mark.parametrize("key", ["marginal0.5", "marginalc1", "marginalc2", "marginalc5", "vsp", "cs"])
@pytest.mark.parametrize("name", SETS)
def test_graph_priors(name, key):
    full = figures(f"scores_{name}")
    pairs = math.comb(len(full["nodes"]), 2)
    for _, dag, golden in graphs(name):
        for likelihood, label in [("BDeu", "bde"), ("BDs", "bds")]:
            reference = golden["scores"][f"{label}_iss1_{key}"]
            if "error" in reference:
                with pytest.raises(md.errors.ParameterError):
                    prior_of(key, full, len(dag.nodes))
                continue
            prior = prior_of(key, full, len(dag.nodes))
            scored = md.score(dag, dataset(name), prior + md.parse(f"{likelihood}(1)").likelihood)
            shift = 0 if key == "vsp" else pairs * math.log(3)
            assert scored + shift == pytest.approx(reference["total"], rel=1e-10)
            for node, extra, expected in zip(
                dag.nodes, charged_as_in_bnlearn(prior, dag), reference["per_node"], strict=True
            ):
                assert scored.by_node[node] + extra == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", SETS)
def test_optimal_alpha(name):
    for _, dag, golden in graphs(name):
        assert md.alpha_star(dag, dataset(name)) == pytest.approx(golden["alpha_star"], rel=1e-10)
