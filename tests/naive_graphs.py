"""Graph definitions as slow literal loops, against which the fast ones are checked.

A graph is a list of nodes and a set of arcs here; nothing is imported from mapdag but for `as_dag`.
"""

from itertools import combinations, product

from hypothesis import strategies as st

from mapdag.graphs import DAG

NODES = ("n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7")


def is_acyclic(nodes, arcs):
    left = set(nodes)
    while left:
        sources = {n for n in left if not any(b == n and a in left for a, b in arcs)}
        if not sources:
            return False
        left -= sources
    return True


def skeleton(arcs):
    return {frozenset(arc) for arc in arcs}


def v_structures(nodes, arcs, edges=()):
    """Triples (a, child, b), a before b in `nodes`."""
    joined = skeleton(arcs) | skeleton(edges)
    return {
        (a, child, b)
        for a, b in combinations(nodes, 2)
        for child in nodes
        if (a, child) in arcs and (b, child) in arcs and frozenset((a, b)) not in joined
    }


def all_dags(nodes):
    pairs = list(combinations(nodes, 2))
    for choice in product(range(3), repeat=len(pairs)):
        arcs = {((a, b), (b, a))[c] for (a, b), c in zip(pairs, choice, strict=True) if c < 2}
        if is_acyclic(nodes, arcs):
            yield arcs


def extensions(nodes, arcs, edges):
    """Every DAG with these arcs, the edges directed somehow, and no v-structure that was not there before."""
    wanted = v_structures(nodes, set(arcs), edges)
    edges = [tuple(edge) for edge in edges]
    for choice in product((False, True), repeat=len(edges)):
        directed = {(b, a) if flip else (a, b) for (a, b), flip in zip(edges, choice, strict=True)}
        graph = set(arcs) | directed
        if is_acyclic(nodes, graph) and v_structures(nodes, graph) == wanted:
            yield graph


def equivalent_dags(nodes, arcs):
    """Every DAG with the skeleton and the v-structures of this one (Verma and Pearl, 1990)."""
    wanted = v_structures(nodes, arcs)
    for choice in product((False, True), repeat=len(arcs)):
        graph = {(b, a) if flip else (a, b) for (a, b), flip in zip(arcs, choice, strict=True)}
        if is_acyclic(nodes, graph) and v_structures(nodes, graph) == wanted:
            yield graph


def ancestors(arcs, targets):
    """The targets and everything above them."""
    found = set(targets)
    while True:
        more = {a for a, b in arcs if b in found} - found
        if not more:
            return found
        found |= more


def moral_edges(nodes, arcs):
    married = {
        frozenset((a, b))
        for a, b in combinations(nodes, 2)
        if any((a, child) in arcs and (b, child) in arcs for child in nodes)
    }
    return skeleton(arcs) | married


def d_separated(nodes, arcs, x, y, given):
    """Separation in the moral graph of the ancestors (Lauritzen et al., 1990)."""
    kept = ancestors(arcs, {*x, *y, *given})
    edges = moral_edges([n for n in nodes if n in kept], {(a, b) for a, b in arcs if a in kept and b in kept})
    reached, frontier = set(x), set(x)
    while frontier:
        around = {n for edge in edges if edge & frontier for n in edge}
        frontier = around - reached - set(given)
        reached |= frontier
    return not reached & set(y)


def shd(nodes, first, second):
    """Pairs with another status; a graph is (arcs, edges)."""

    def status(graph, a, b):
        arcs, edges = graph
        joined = {frozenset(edge) for edge in edges}
        return (a, b) in arcs, (b, a) in arcs, frozenset((a, b)) in joined

    return sum(status(first, a, b) != status(second, a, b) for a, b in combinations(nodes, 2))


@st.composite
def dags(draw, min_nodes=0, max_nodes=7, max_arcs=None):
    """Any DAG, its node order unrelated to its arcs."""
    size = draw(st.integers(min_nodes, max_nodes))
    order = draw(st.permutations(NODES[:size]))
    pairs = list(combinations(order, 2))
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=max_arcs)) if pairs else []
    return DAG(NODES[:size], arcs)


@st.composite
def dag_pairs(draw, max_nodes=7):
    """Two DAGs with the same nodes, in different orders."""
    first = draw(dags(max_nodes=max_nodes))
    size = len(first.nodes)
    second = draw(dags(min_nodes=size, max_nodes=size))
    return first, second.reordered(draw(st.permutations(first.nodes)))
