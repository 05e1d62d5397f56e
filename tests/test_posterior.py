"""The posterior over graphs: exact draws and Markov chains against the enumeration of all graphs and exact sums."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
from mapdag.errors import CapacityError, GraphError, MapdagError, ParameterError
from mapdag.sampling.convergence import effective_size, normal_scores, r_hat
from naive_exact import arc_probabilities, scored
from strategies import as_dataset, small_data

LIKELIHOODS = ["BDeu(1)", "BDs(1)", "BIC", "K2", "BDeu(1e5)"]
PRIORS = [
    "U", "MU(1/2)", "MaxParents(1)+MU(1/4)", 'LogLinear([{"X0->X1": 1}, "arcs"], [1, -0.5])',
    'CS({"X0->X1": 0.9, "X1->X2": 0})', 'CS({"X0->X1": [0.2, 0.8, 0]})',
    'CS({"X0->X1": [0.5, 0.5, 0], "X1->X2": [0.3, 0.7, 0], "X0->X2": [0.4, 0.6, 0]})',
]  # fmt: skip
CONSTRAINTS = [
    {},
    {"max_parents": 2, "forbidden": [("X0", "X1"), ("X2", "X0")]},
    {"tiers": [["X2"], ["X0", "X1"]]},
    {"required": [("X2", "X0")], "forbidden": [("X1", "X2")]},
]


def obeys(dag, required=(), forbidden=(), max_parents=99, tiers=()):
    tier = {name: t for t, names in enumerate(tiers) for name in names}
    return (
        all(dag.has_arc(*arc) for arc in required)
        and not any(dag.has_arc(*arc) for arc in forbidden)
        and all(len(dag.parents(node)) <= max_parents for node in dag.nodes)
        and all(tier.get(a, 0) <= tier.get(b, 9) for a, b in dag.arcs)
    )


@st.composite
def problems(draw, max_columns=4):
    rows, cards = draw(small_data(min_columns=3, max_columns=max_columns, max_rows=60, max_levels=3))
    objective = f"{draw(st.sampled_from(PRIORS))}+{draw(st.sampled_from(LIKELIHOODS))}"
    return as_dataset(rows, cards), objective, draw(st.sampled_from(CONSTRAINTS))


def check_frequencies(graphs, drawn):
    """Compare how often graphs were drawn independently with their probabilities, by chi-square."""
    total = math.fsum(math.exp(score - graphs[0][1]) for _, score in graphs)
    probability = {dag: math.exp(score - graphs[0][1]) / total for dag, score in graphs}
    times = Counter(drawn)
    assert set(times) <= set(probability)
    size = len(drawn)
    common = [dag for dag, p in probability.items() if p * size >= 5]
    seen = [times[dag] for dag in common]
    wanted = [probability[dag] * size for dag in common]
    if len(common) < len(probability):
        seen.append(size - sum(seen))
        wanted.append(max(size - math.fsum(wanted), 1e-9))
    if wanted[-1] < 5 and len(wanted) > 1:
        seen[-2:], wanted[-2:] = [sum(seen[-2:])], [sum(wanted[-2:])]
    freedom = len(wanted) - 1
    if freedom:
        chi = sum((a - b) ** 2 / b for a, b in zip(seen, wanted, strict=True))
        assert chi < freedom + 5 * math.sqrt(2 * freedom) + 12


@given(problem=problems())
@settings(max_examples=8, deadline=None)
def test_exact_draws_follow_the_enumeration(problem):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        with pytest.raises(GraphError):
            md.posterior(data, objective, **constraints)
        return
    found = md.posterior(data, objective, draws=1000, threads=1, seed=3, **constraints)
    expected, evidence = arc_probabilities(graphs, data.names)
    for arc, probability in expected.items():
        assert found[arc] == pytest.approx(probability, abs=1e-9)
    assert found.log_evidence == pytest.approx(evidence, rel=1e-9)
    check_frequencies(sorted(graphs, key=lambda each: -each[1]), [graph.dag for graph in found.graphs])
    for dag, score, probability in found.best(2):
        assert score == pytest.approx(md.score(dag, data, objective), rel=1e-9)
        assert probability == pytest.approx(math.exp(score - evidence))


def run_kernel(data, objective, size, steps, thin, seed=1, **constraints):
    """Graphs of one chain with blocks of one size only, every `thin` steps, and its problem."""
    from mapdag.objective.constraints import complete_start
    from mapdag.sampling.chains import Chains
    from mapdag.sampling.gibbs import run_chain
    from mapdag.sampling.parent_lists import list_families
    from mapdag.search import Plan
    from mapdag.search.frame.watch import Watch

    plan, goal = Plan.make(threads=1, **constraints), md.parse(objective)
    cache = plan.options.make_cache(data, [goal])
    watch = Watch(plan.options)
    families = list_families(goal, cache, watch, slack=500.0)
    start = families.of_graph(complete_start(None, cache.rules(goal), data.names).parent_masks)
    chains = Chains(families, [start], [False], seed=seed, watch=watch)
    lane = chains._lanes[0]
    drawn = []
    for _ in range(steps):
        run_chain(thin, size, chains._lists, chains._near, lane.state, lane.block)
        drawn.append(lane.state.chosen.copy())
    masks = [[int(families.sets[f][0]) for f in each] for each in drawn]
    return [md.DAG.from_parent_masks(data.names, each) for each in masks]


@given(problem=problems())
@settings(max_examples=8, deadline=None)
def test_blocks_of_all_nodes_draw_independently(problem):
    data, objective, constraints = problem
    graphs = list(scored(data, objective, lambda dag: obeys(dag, **constraints)))
    if not graphs:
        return
    # A block may stay smaller than asked for where it meets the same neighbours again.
    drawn = run_kernel(data, objective, 6, 1000, 4, **constraints)
    check_frequencies(sorted(graphs, key=lambda each: -each[1]), drawn[5:])


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("objective", ["U+BDeu(1)", "MU(1/2)+BDs(1)", 'CS({"X0->X1": [0.5, 0.5, 0]})+BDeu(1)'])
def test_small_blocks_leave_the_posterior_as_it_is(size, objective):
    rng = np.random.default_rng(3)
    base = rng.integers(0, 2, (25, 4))
    base[:, 3] = np.where(rng.random(25) < 0.6, base[:, 0], base[:, 3])
    data = md.Dataset.from_codes(base, names=["X0", "X1", "X2", "X3"], levels=[2] * 4)
    if size == 1 and "CS" in objective:
        return  # one node at a time, an arc that must be there cannot be turned round
    graphs = sorted(scored(data, objective), key=lambda each: -each[1])
    drawn = run_kernel(data, objective, size, 4000, 60 // size)
    check_frequencies(graphs, drawn[50:])


@pytest.mark.parametrize("name", ["asia", "sachs"])
@pytest.mark.parametrize("objective", ["U+BDeu(1)", "Support(3)+MU(c=1)+BDs(1)"])
def test_chains_agree_with_exact_sums(name, objective):
    data = md.network(name).sample(300, seed=2)
    exact = md.posterior(data, objective, draws=1)
    found = md.posterior(data, objective, method="chains", seed=1, error=0.006)
    assert abs(found.probabilities - exact.probabilities).max() < 0.02
    assert found.stopped == "converged"
    assert found.convergence.error.max() <= 0.006
    assert "agree" in found.advice
    assert found.left_out < 0.05


def test_chains_hold_a_hundred_nodes_and_many_words():
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2, (100, 70))
    base[:, 69] = base[:, 0] ^ (rng.random(100) < 0.05)
    data = md.Dataset.from_codes(base, names=[f"V{i}" for i in range(70)], levels=[2] * 70)
    found = md.posterior(data, "MU(c=1)+BDs(1)", chains=2, sweeps=500, seed=1)
    assert found.edge("V0", "V69") > 0.99
    assert found["V0", "V69"] == pytest.approx(0.5, abs=0.15)
    best = found.best(1)[0]
    assert best.score == pytest.approx(md.score(best.dag, data, "MU(c=1)+BDs(1)"), rel=1e-9)


def test_the_result_depends_on_the_seed_only():
    data = md.network("asia").sample(200, seed=1)
    options = {"method": "chains", "sweeps": 600, "chains": 3}
    one = md.posterior(data, seed=5, threads=1, **options)
    two = md.posterior(data, seed=5, threads=2, **options)
    assert np.array_equal(one.probabilities, two.probabilities)
    assert np.array_equal(one.trace, two.trace)
    turned = md.posterior(data.select(list(data.names[::-1])), seed=5, **options)
    assert turned["smoke", "bronc"] == one["smoke", "bronc"]
    assert turned.nodes == data.names[::-1]
    other = md.posterior(data, seed=6, threads=1, **options)
    assert not np.array_equal(one.probabilities, other.probabilities)


def test_what_is_read_off_graphs_fits_together():
    data = md.network("asia").sample(1000, seed=1)
    found = md.posterior(data, seed=1)
    assert found.edge("smoke", "bronc") == pytest.approx(found["smoke", "bronc"] + found["bronc", "smoke"])
    assert found.path("asia", "dysp") <= 1
    assert found.path("smoke", "bronc") >= found.probability(lambda dag: dag.has_arc("smoke", "bronc"))
    assert found.blanket("smoke")["bronc"] > 0.9
    assert list(found.blanket("smoke").values()) == sorted(found.blanket("smoke").values(), reverse=True)
    assert found.consensus(0.5).n_arcs >= 4
    assert all(found[arc] > 0.5 for arc in found.consensus(0.5).arcs)
    assert sum(each.probability for each in found.best_classes(10**6)) == pytest.approx(1)
    assert found.trace.shape == (1, 1000)
    assert len(found.to_polars()) == len(found.arcs())
    assert "posterior exact" in str(found)
    with pytest.raises(GraphError, match="did you mean 'smoke'"):
        found["smok", "lung"]
    with pytest.raises(ParameterError, match="function must be"):
        found.probability(3)
    with pytest.raises(ParameterError, match="threshold must be between"):
        found.consensus(2)


def test_few_columns_and_no_rows():
    data = md.network("asia").sample(50, seed=1)
    alone = md.posterior(data.select(["asia"]))
    assert alone.probabilities.tolist() == [[0.0]]
    assert alone.method == "exact"
    for method in ("exact", "chains"):
        prior = md.posterior(data.take(np.arange(0)), "MU(1/2)+BDeu(1)", method=method, seed=1)
        uniform = md.posterior(data.take(np.arange(0)), "U+BDeu(1)", method=method, seed=1)
        assert np.ptp(uniform.probabilities[~np.eye(8, dtype=bool)]) < (1e-9 if method == "exact" else 0.03)
        assert prior.probabilities.sum() < uniform.probabilities.sum()


def test_bad_input_is_refused():
    data = md.network("asia").sample(50, seed=1)
    with pytest.raises(ParameterError, match="method must be one of auto, exact, chains, got 'mcmc'"):
        md.posterior(data, method="mcmc")
    with pytest.raises(ParameterError, match=r"sum over arcs.*looks at whole graphs"):
        md.posterior(data, 'LogLinear(["v_structures"])+BDeu(1)')
    with pytest.raises(CapacityError, match="at most 18 nodes, got 37"):
        md.posterior(md.network("alarm").sample(50, seed=1), method="exact")
    with pytest.raises(GraphError, match="cycle"):
        md.posterior(data, required=[("asia", "tub"), ("tub", "asia")])
    for method in ("exact", "chains"):
        with pytest.raises(MapdagError, match="stopped early"):
            md.posterior(data, method=method, time_limit=1e-6)
    with pytest.raises(ParameterError, match="error must be a positive number"):
        md.posterior(data, error=0)
    with pytest.raises(ParameterError, match="chains must be a whole number of at least 2"):
        md.posterior(data, chains=1)


def test_weights_and_learned_values_are_taken():
    data = md.network("asia").sample(200, seed=1)
    twice = md.posterior(md.Dataset(data.names, data.levels, data.codes, np.full(200, 2)), "BDeu(1)", draws=1)
    rows = md.posterior(data.take(np.repeat(np.arange(200), 2)), "BDeu(1)", draws=1)
    assert np.allclose(twice.probabilities, rows.probabilities, atol=1e-9)
    found = md.posterior(data, 'MU(c="auto")+BDs(alpha="auto")', draws=1)
    assert not found.objective.is_auto


def test_diagnosis_of_chains():
    rng = np.random.default_rng(1)
    good = rng.normal(size=(4, 500, 2))
    assert (r_hat(good) < 1.02).all()
    assert effective_size(good) == pytest.approx([2000, 2000], rel=0.2)
    apart = good + np.arange(4)[:, None, None] * [0, 1]
    assert r_hat(apart)[0] < 1.02
    assert r_hat(apart)[1] > 1.3
    slow = np.zeros((4, 2000, 1))
    for t in range(1, 2000):
        slow[:, t] = 0.9 * slow[:, t - 1] + rng.normal(size=(4, 1))
    assert effective_size(slow)[0] == pytest.approx(8000 / 19, rel=0.35)
    assert r_hat(np.ones((4, 10, 1)))[0] == 1
    scores = normal_scores(good[:, :, 0])
    assert abs(scores.mean()) < 1e-9


@pytest.mark.parametrize("phase", ["settling", "sampling"])
def test_ctrl_c_gives_what_there_is_with_its_diagnosis(phase):
    data = md.network("asia").sample(100, seed=1)
    seen = []

    def tell(progress):
        seen.append(progress.phase)
        if seen.count("sampling") > 30 or (phase == "settling" and progress.phase == phase):
            raise KeyboardInterrupt

    options = {"method": "chains", "error": 1e-9, "progress": tell, "threads": 2}
    if phase == "settling":
        with pytest.raises(MapdagError, match=r"stopped early \(interrupted\), before there were graphs"):
            md.posterior(data, **options)
    else:
        found = md.posterior(data, **options)
        assert found.stopped == "interrupted"
        assert "ended by an interruption" in found.advice
        assert found.trace.shape[0] == 4


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["U", "MU(c=1)"])
def test_ranks_of_graphs_drawn_from_the_prior_are_uniform(prior):
    """Simulation-based calibration: graphs from the prior, probabilities and rows from them, chains on these rows."""
    n, rows, draws, times, bins = 8, 40, 19, 100, 5
    names, rng = [f"X{i}" for i in range(n)], np.random.default_rng(7)
    nothing = md.Dataset.from_codes(np.zeros((0, n), dtype=int), names=names, levels=[2] * n)
    truths = md.posterior(nothing, f"{prior}+BDeu(8)", method="exact", draws=times, seed=3).graphs
    ranks = []
    for k, truth in enumerate(truths):
        cpts = {}
        for x in names:
            q = 2 ** len(truth.dag.parents(x))
            cpts[x] = rng.dirichlet([4 / q] * 2, [2] * len(truth.dag.parents(x)))
        data = md.BayesianNetwork(truth.dag, dict.fromkeys(names, 2), cpts).sample(rows, seed=k)
        found = md.posterior(data, f"{prior}+BDeu(8)", method="chains", sweeps=500, seed=k, threads=1)
        some = [found.graphs[i] for i in np.linspace(0, len(found.graphs) - 1, draws).round().astype(int)]
        mine = [measured(each.dag, data, prior) for each in [truth, *some]]
        ties = rng.random((len(mine), 4)) * 1e-6
        values = np.array(mine) + ties
        ranks.append((values[1:] < values[0]).sum(axis=0))
    for column in np.array(ranks).T:
        seen = np.bincount(column * bins // (draws + 1), minlength=bins)
        assert ((seen - times / bins) ** 2 / (times / bins)).sum() < 20  # chi-square of 4 degrees: 0.0005


def measured(dag, data, prior):
    """What ranks are of: arcs, the score, a path, the size of a Markov blanket."""
    path = "X1" in dag.descendants("X0")
    return dag.n_arcs, md.score(dag, data, f"{prior}+BDeu(8)"), path, len(dag.markov_blanket("X2"))


def test_parents_that_only_matter_together_are_found():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (400, 6))
    codes[:, 3] = codes[:, 0] ^ codes[:, 1] ^ codes[:, 2]
    data = md.Dataset.from_codes(codes, names=[f"X{i}" for i in range(6)], levels=[2] * 6)
    exact = md.posterior(data, "MU(c=1)+BDs(1)", draws=1)
    found = md.posterior(data, "MU(c=1)+BDs(1)", method="chains", seed=1, threads=1, error=0.01)
    assert all(len(graph.dag.arcs) >= 3 for graph in found.graphs)
    assert abs(found.probabilities - exact.probabilities).max() < 0.05
