"""What interventions do, and what to adjust for: checked against sums over joint distributions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mapdag as md
import naive_graphs
import naive_networks
from mapdag.errors import GraphError, NetworkError, ParameterError
from mapdag.graphs import CPDAG, DAG, meek_closure
from mapdag.networks import BayesianNetwork
from mapdag.reference import network
from mapdag.theory import log_bayes_factor
from naive_networks import networks


def random_network(dag, seed):
    """Binary, with strong dependencies and no zeros, so that what is not equal by structure is not equal."""
    rng = np.random.default_rng(seed)
    first = {node: rng.uniform(0.1, 0.9, size=[2] * len(dag.parents(node))) for node in dag.nodes}
    return BayesianNetwork(
        dag, dict.fromkeys(dag.nodes, 2), {node: np.stack([p, 1 - p], axis=-1) for node, p in first.items()}
    )


def with_graph(net, arcs):
    """The same joint distribution as a network with another, equivalent graph."""
    dag = DAG(net.nodes, arcs)
    cpts = {}
    for node in dag.nodes:
        joint = net.query([*dag.parents(node), node]).values
        cpts[node] = joint / joint.sum(axis=-1, keepdims=True)
    return BayesianNetwork(dag, net.levels, cpts)


def after_do(net, cause, effect):
    """P(effect | do(cause)), by level of the cause."""
    return np.array([net.query(effect, do={cause: level}).values for level in net.levels[cause]])


def adjusted(net, cause, effect, given_nodes):
    """The sum over z of P(effect | cause, z) P(z)."""
    joint = net.query([cause, effect, *given_nodes]).values
    z = joint.sum(axis=(0, 1))
    conditional = joint / joint.sum(axis=1, keepdims=True)
    return (conditional * z).reshape(2, 2, -1).sum(axis=-1)


def same(one, other):
    return np.abs(one - other).max() < 1e-12


@st.composite
def questions(draw, max_nodes=4):
    dag = draw(naive_graphs.dags(min_nodes=2, max_nodes=max_nodes))
    cause, effect = draw(st.permutations(dag.nodes))[:2]
    return dag, cause, effect, draw(st.integers(0, 100))


def subsets(nodes):
    return [chosen for size in range(len(nodes) + 1) for chosen in itertools.combinations(nodes, size)]


@given(questions(max_nodes=5))
@settings(max_examples=80, deadline=None)
def test_adjusting_is_right_exactly_for_adjustment_sets(question):
    dag, cause, effect, seed = question
    net = random_network(dag, seed)
    truth = after_do(net, cause, effect)
    valid = []
    for chosen in subsets([node for node in dag.nodes if node not in (cause, effect)]):
        right = same(adjusted(net, cause, effect, chosen), truth)
        claimed = dag.is_adjustment_set(cause, effect, chosen)
        assert right if claimed else True
        # Sets that happen to be right for other reasons than the criterion do not exist for single causes and effects.
        if cause in dag.ancestors(effect):
            assert claimed == right
        if claimed:
            valid.append(set(chosen))
    if cause not in dag.ancestors(effect):
        with pytest.raises(GraphError, match="has no effect on"):
            dag.adjustment_set(cause, effect)
        return
    found = set(dag.adjustment_set(cause, effect))
    assert found in valid
    assert not any(other < found for other in valid)
    assert set(dag.parents(cause)) in valid


@given(questions())
@settings(max_examples=80, deadline=None)
def test_a_class_decides_an_effect_exactly_if_all_its_members_agree(question):
    dag, cause, effect, seed = question
    net = random_network(dag, seed)
    members = [with_graph(net, arcs) for arcs in naive_graphs.equivalent_dags(dag.nodes, set(dag.arcs))]
    truths = [after_do(member, cause, effect) for member in members]
    graph = dag.to_cpdag()
    assert graph.identifiable(cause, effect) == all(same(truth, truths[0]) for truth in truths)
    if not graph.identifiable(cause, effect):
        with pytest.raises(GraphError, match="is not decided"):
            graph.adjustment_set(cause, effect)
    for chosen in subsets([node for node in dag.nodes if node not in (cause, effect)]):
        claimed = graph.is_adjustment_set(cause, effect, chosen)
        right = all(same(adjusted(net, cause, effect, chosen), truth) for truth in truths)
        assert right if claimed else True
        if all(cause in member.dag.ancestors(effect) for member in members):
            assert claimed == right


def class_with_knowledge(rng, n_nodes):
    """A random DAG, and its class with some of its arcs as background knowledge: the graph and its members."""
    order = [f"n{i}" for i in rng.permutation(n_nodes)]
    density = rng.choice([0.4, 0.7, 1.0])
    arcs = [pair for pair in itertools.combinations(order, 2) if rng.random() < density]
    dag = DAG(sorted(order), arcs)
    known = {arc for arc in dag.arcs if rng.random() < rng.choice([0.1, 0.3, 0.6])}
    graph = dag.to_cpdag()
    graph = meek_closure(graph, [arc for arc in known if graph.has_edge(*arc)])
    members = [arcs for arcs in naive_graphs.equivalent_dags(dag.nodes, set(dag.arcs)) if known <= arcs]
    return dag, graph, members


def joint_distribution(dag, rng):
    """The joint distribution of binary nodes, an axis each, with random parameters."""
    joint = np.ones((2,) * len(dag.nodes))
    for i, node in enumerate(dag.nodes):
        first = rng.uniform(0.1, 0.9, size=[2 if n in dag.parents(node) else 1 for n in dag.nodes])
        joint = joint * np.concatenate([first, 1 - first], axis=i)
    return joint


def sum_over(joint, nodes, cause, effect, given_nodes):
    """The sum over z of P(effect | cause, z) P(z), by level of the cause, from a joint distribution."""
    axes = [nodes.index(node) for node in (cause, effect, *given_nodes)]
    rest = tuple(i for i in range(len(nodes)) if i not in axes)
    joint = joint.sum(axis=rest, keepdims=True).transpose([*axes, *rest]).reshape(2, 2, -1)
    return (joint / joint.sum(axis=1, keepdims=True) * joint.sum(axis=(0, 1))).sum(axis=-1)


def after_do_in(joint, nodes, arcs, cause, effect):
    """P(effect | do(cause)) in a DAG with this joint distribution, by adjusting for the parents of the cause."""
    parents = sorted(a for a, b in arcs if b == cause)
    if effect in parents:
        axis = nodes.index(effect)
        alone = joint.sum(axis=tuple(i for i in range(len(nodes)) if i != axis))
        return np.array([alone, alone])
    return sum_over(joint, nodes, cause, effect, parents)


def check_class_with_knowledge(seed, n_nodes):
    """Compare every answer about a class with its members; return how many effects were looked at."""
    rng = np.random.default_rng(seed)
    dag, graph, members = class_with_knowledge(rng, n_nodes)
    nodes, joint = list(dag.nodes), joint_distribution(dag, rng)
    for cause, effect in itertools.permutations(nodes, 2):
        truths = [after_do_in(joint, nodes, arcs, cause, effect) for arcs in members]
        decided = all(same(truth, truths[0]) for truth in truths)
        assert graph.identifiable(cause, effect) == decided, (graph, cause, effect)
        acts = all(cause in naive_graphs.ancestors(arcs, {effect}) for arcs in members)
        claims = []
        for chosen in subsets([node for node in nodes if node not in (cause, effect)]):
            claimed = graph.is_adjustment_set(cause, effect, chosen)
            if claimed or acts:
                found = sum_over(joint, nodes, cause, effect, chosen)
                assert claimed == all(same(found, truth) for truth in truths), (graph, cause, effect, chosen)
            if claimed:
                claims.append(set(chosen))
        if decided and acts and claims:
            found = set(graph.adjustment_set(cause, effect))
            assert found in claims
            assert not any(other < found for other in claims)
    return n_nodes * (n_nodes - 1)


def test_knowledge_decides_exactly_the_effects_on_which_all_members_agree():
    assert sum(check_class_with_knowledge(seed, 3 + seed % 3) for seed in range(120)) > 1000


@pytest.mark.slow
def test_knowledge_decides_exactly_the_effects_on_which_many_members_agree():
    assert sum(check_class_with_knowledge(seed, 5) for seed in range(1000, 3000)) == 40_000


def test_arcs_that_point_back_to_the_cause_decide_effects():
    triangle = CPDAG(["x0", "x1", "x2"], edges=[("x0", "x1"), ("x1", "x2"), ("x2", "x0")])
    known = meek_closure(triangle, [("x0", "x1")])
    assert set(known.edges) == {("x1", "x2"), ("x0", "x2")}
    assert known.identifiable("x1", "x0")  # x1 - x2 - x0 cannot be causal, as x0 -> x1
    assert not known.identifiable("x1", "x2")
    assert not known.identifiable("x0", "x1")
    with pytest.raises(GraphError, match="'x1' has no effect on 'x0'"):
        known.adjustment_set("x1", "x0")


def test_arcs_that_point_back_between_later_nodes_decide_effects():
    graph = CPDAG(
        ["x", "v", "a", "b"],
        arcs=[("b", "v")],
        edges=[("x", "v"), ("x", "a"), ("x", "b"), ("v", "a"), ("a", "b")],
    )
    members = list(naive_graphs.extensions(graph.nodes, graph.arcs, graph.edges))
    joint = joint_distribution(DAG(graph.nodes, members[0]), np.random.default_rng(1))
    for cause, effect in itertools.permutations(graph.nodes, 2):
        truths = [after_do_in(joint, list(graph.nodes), arcs, cause, effect) for arcs in members]
        assert graph.identifiable(cause, effect) == all(same(truth, truths[0]) for truth in truths)


def test_directions_that_follow_from_others_decide_effects_in_graphs_built_by_hand():
    graph = CPDAG(["a", "b", "c"], arcs=[("a", "b")], edges=[("b", "c")])  # b -> c follows
    assert graph.identifiable("b", "c")
    assert graph.adjustment_set("b", "c") == ()


def test_colliders_and_their_descendants_are_left_alone():
    bow = DAG.from_modelstring("[u][v][m|u:v][x|u][y|v:x]")
    assert bow.adjustment_set("x", "y") == ()
    assert not bow.is_adjustment_set("x", "y", "m")
    assert bow.is_adjustment_set("x", "y", ["m", "u"])
    mediator = DAG.from_modelstring("[x][m|x][y|m][d|m]")
    assert not mediator.is_adjustment_set("x", "y", "m")
    assert not mediator.is_adjustment_set("x", "y", "d")
    assert mediator.is_adjustment_set("x", "y")


def test_only_observed_nodes_are_adjusted_for():
    dag = DAG.from_modelstring("[u][a|u][b|u][x|a][y|b:x]")
    assert dag.adjustment_set("x", "y") == ("a",)  # any one of u, a, b would do: parents of the cause come first
    assert dag.adjustment_set("x", "y", observed=["b"]) == ("b",)
    with pytest.raises(
        GraphError, match=r"no set of observed nodes shows the effect of 'x' on 'y'; its parents would: a"
    ):
        dag.adjustment_set("x", "y", observed=[])


def test_the_refusal_says_which_edges_are_open_and_how_to_decide_them():
    graph = CPDAG(["smoke", "cough", "lung"], edges=[("smoke", "lung"), ("lung", "cough")])
    with pytest.raises(GraphError) as caught:
        graph.adjustment_set("smoke", "cough")
    assert str(caught.value) == (
        "the effect of 'smoke' on 'cough' is not decided: smoke - lung may point either way, and the effect depends on "
        'it; if you know which, learn with required=[("smoke", "lung")] or the opposite, or with tiers'
    )
    decided = meek_closure(graph, [("smoke", "lung")])
    assert decided.identifiable("smoke", "cough")
    assert decided.adjustment_set("smoke", "cough") == ()


def test_ends_must_be_two_nodes():
    dag = DAG.from_modelstring("[x][y|x]")
    for act in (dag.adjustment_set, dag.is_adjustment_set, dag.identifiable):
        with pytest.raises(GraphError, match="unknown node 'z'"):
            act("x", "z")
        with pytest.raises(GraphError, match="itself"):
            act("x", "x")
    assert not dag.is_adjustment_set("x", "y", "y")


def test_a_learned_result_says_what_it_decides():
    data = network("asia").sample(2000, seed=1)
    result = md.learn(data, required=[("smoke", "lung")])
    assert result.identified.identifiable("smoke", "lung")
    assert set(result.identified.edges) <= set(result.cpdag.edges)


# Interventions ------------------------------------------------------------------------------------------------------


@given(networks(), st.data())
@settings(max_examples=100)
def test_setting_a_node_leaves_out_its_factor(net, data):
    tables, cards = naive_networks.plain(net)
    asked, *rest = data.draw(st.permutations(net.nodes))
    set_to = {node: data.draw(st.integers(0, cards[node] - 1)) for node in rest if data.draw(st.booleans())}
    labels = {node: net.levels[node][code] for node, code in set_to.items()}
    expected = naive_networks.intervened(tables, cards, set_to, asked)
    assert net.query(asked, do=labels).values.tolist() == pytest.approx(expected, abs=1e-12)
    assert net.do(labels).marginals()[asked].values.tolist() == pytest.approx(expected, abs=1e-12)


def test_an_intervention_is_a_network_without_the_arcs_into_what_is_set():
    asia = network("asia")
    made = asia.do({"either": "yes", "smoke": "no"})
    assert set(asia.dag.arcs) - set(made.dag.arcs) == {("tub", "either"), ("lung", "either")}
    assert made.cpt("either").tolist() == [1.0, 0.0]
    assert made.levels == asia.levels
    assert made.do({"either": "yes"}) == made
    assert asia.do({}) == asia
    assert made.sample(50, seed=1).observed("either").tolist() == [50, 0]


def test_what_is_set_may_be_impossible_to_see():
    asia = network("asia")
    with pytest.raises(NetworkError, match="probability zero"):
        asia.query("lung", {"tub": "yes", "either": "no"})
    assert asia.query("lung", {"tub": "yes"}, do={"either": "no"}).values == pytest.approx(asia.query("lung").values)


def test_seeing_and_doing_are_kept_apart():
    asia = network("asia")
    with pytest.raises(ParameterError, match="'lung' cannot be set by do and be asked for"):
        asia.query("lung", do={"lung": "yes"})
    with pytest.raises(ParameterError, match="'tub' cannot be set by do and be evidence"):
        asia.query("lung", {"tub": "yes"}, do={"tub": "yes"})
    with pytest.raises(GraphError, match="unknown node"):
        asia.do({"tubb": "yes"})
    with pytest.raises(ParameterError, match="'tub' has no level"):
        asia.query("lung", do={"tub": "maybe"})


def test_effects_of_a_learned_graph_are_refused_where_its_class_is_open():
    data = md.network("asia").sample(5_000, seed=1)
    open_one = md.learn(data)
    with pytest.raises(md.errors.GraphError, match=r"'smoke' on 'bronc' is not decided.*required="):
        open_one.effect("smoke", "bronc")
    decided = md.learn(data, tiers=[["asia", "smoke"], ["tub", "lung", "bronc"], ["either", "xray", "dysp"]])
    found = decided.effect("smoke", "bronc", alpha=10)
    network = decided.fit(alpha=10)
    for level, row in zip(network.levels["smoke"], found.values, strict=True):
        assert np.array_equal(row, network.query("bronc", do={"smoke": level}).values)
    assert str(found).startswith("bronc given do(smoke)")
    backwards = decided.effect("xray", "smoke").values  # nothing happens to a cause
    assert np.allclose(backwards[0], backwards[1])
    for pair in (("smoke", "smoke"), ("smoke", "nobody")):
        with pytest.raises(md.errors.GraphError):
            decided.effect(*pair)


def test_an_effect_without_a_path_is_no_estimate():
    data = md.network("asia").sample(5_000, seed=1)
    result = md.learn(data, tiers=[["asia", "smoke"], ["tub", "lung", "bronc"], ["either", "xray", "dysp"]])
    factor = log_bayes_factor(result.dag, data, "asia", "bronc", "BDs(1)")
    with pytest.warns(
        md.errors.MapdagWarning, match=rf"no directed path from 'asia' to 'bronc'.*is {factor:.3g} given"
    ):
        found = result.effect("asia", "bronc").values
    assert np.allclose(found[0], found[1])


def test_adjusting_for_a_set_of_ones_choice_is_the_sum_over_its_strata():
    rng = np.random.default_rng(4)
    n = 3000
    age, sex = rng.integers(0, 3, n), rng.integers(0, 2, n)
    drug = (rng.random(n) < 0.2 + 0.25 * age).astype(int)
    cured = (rng.random(n) < 0.1 + 0.2 * drug + 0.2 * age + 0.1 * sex).astype(int)
    frame = {"age": age, "sex": sex, "drug": drug, "cured": cured}
    found = md.adjusted_effect(frame, "drug", "cured", ["age", "sex"], prior=1e-9, seed=1)
    expected = np.zeros((2, 2))
    for stratum in itertools.product(range(3), range(2)):
        inside = (age == stratum[0]) & (sex == stratum[1])
        for x, y in itertools.product(range(2), range(2)):
            expected[x, y] += inside.mean() * (cured[inside & (drug == x)] == y).mean()
    np.testing.assert_allclose(found.mean, expected, atol=1e-6)
    np.testing.assert_allclose(found.draws.mean(axis=0), expected, atol=0.005)
    mean, low, high = found.difference("1", "1", "0")
    assert low < 0.2 < high
    assert abs(mean - (expected[1, 1] - expected[0, 1])) < 0.002
    assert not found.unsupported
    with pytest.raises(md.errors.ParameterError, match="different columns"):
        md.adjusted_effect(frame, "drug", "cured", "drug")
    with pytest.raises(md.errors.DataError, match="no column 'agee'"):
        md.adjusted_effect(frame, "drug", "cured", "agee")


def test_strata_without_some_level_of_the_cause_are_told():
    frame = {"z": [0] * 50 + [1] * 50, "x": [0, 1] * 25 + [1] * 50, "y": [0, 1, 1, 0] * 25}
    found = md.adjusted_effect(frame, "x", "y", "z")
    assert found.unsupported == 0.5
    assert "50.0% of the rows are in strata that lack some level of 'x'" in str(found)
    assert found.upper[0, 1] - found.lower[0, 1] > 0.4  # half of it is known by the prior only
