"""Networks as literal loops: slow, obvious, and what every fast path is compared with.

A network is a dict `node -> (parents, table)`; `table[configuration][code]` is a probability, and a configuration is a
tuple of codes. `cards` holds the number of levels by node. Only `networks`, which draws random ones, needs mapdag.
"""

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from mapdag.graphs import DAG
from mapdag.networks import BayesianNetwork


@st.composite
def networks(draw, max_nodes=5, max_levels=4):
    """Small networks, with impossible levels, single levels and node orders that are not topological."""
    names = [f"n{i}" for i in range(draw(st.integers(1, max_nodes)))]
    order = draw(st.permutations(names))
    arcs = [arc for arc in itertools.combinations(order, 2) if draw(st.booleans())]
    dag = DAG(names, arcs)
    levels = {name: [f"{name}_{k}" for k in range(draw(st.integers(1, max_levels)))] for name in names}
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    cpts = {}
    for name in names:
        shape = [len(levels[other]) for other in (*dag.parents(name), name)]
        weights = generator.integers(0, 4, size=shape).astype(float)
        weights[..., generator.integers(shape[-1])] += 1
        cpts[name] = weights / weights.sum(axis=-1, keepdims=True)
    return BayesianNetwork(dag, levels, cpts)


def plain(net):
    """Take a network apart."""
    cards = {node: len(net.levels[node]) for node in net.nodes}
    tables = {}
    for node in net.nodes:
        parents = net.parents(node)
        every = itertools.product(*[range(cards[p]) for p in parents])
        tables[node] = (parents, {c: [float(net.cpt(node)[(*c, k)]) for k in range(cards[node])] for c in every})
    return tables, cards


def rows_of(data):
    """Rows of a data set as dicts from name to code."""
    return [{name: int(data.codes[i, t]) for i, name in enumerate(data.names)} for t in range(data.n_rows)]


def joint(tables, row):
    """Probability of one full assignment."""
    product = 1.0
    for node, (parents, table) in tables.items():
        product *= table[tuple(row[p] for p in parents)][row[node]]
    return product


def log_joint(tables, row):
    total = 0.0
    for node, (parents, table) in tables.items():
        p = table[tuple(row[p] for p in parents)][row[node]]
        total += math.log(p) if p > 0 else -math.inf
    return total


def query(tables, cards, asked, evidence):
    """Joint posterior by enumeration: {codes: probability}, or None where the evidence is impossible."""
    nodes = list(cards)
    result = dict.fromkeys(itertools.product(*[range(cards[a]) for a in asked]), 0.0)
    for codes in itertools.product(*[range(cards[node]) for node in nodes]):
        row = dict(zip(nodes, codes, strict=True))
        if all(row[node] == code for node, code in evidence.items()):
            result[tuple(row[a] for a in asked)] += joint(tables, row)
    total = sum(result.values())
    return {codes: p / total for codes, p in result.items()} if total > 0 else None


def rows_with(tables, cards, evidence):
    """All full assignments that agree with the evidence, in lexicographic order, and their probabilities."""
    for codes in itertools.product(*[range(cards[node]) for node in cards]):
        row = dict(zip(cards, codes, strict=True))
        if all(row[node] == code for node, code in evidence.items()):
            yield row, joint(tables, row)


def family_cells(tables, cards, evidence):
    """Posterior of every cell of every family, {node: {(*configuration, code): p}}, and the evidence's probability."""
    cells, total = {node: {} for node in cards}, 0.0
    for row, p in rows_with(tables, cards, evidence):
        total += p
        for node, (parents, _) in tables.items():
            cell = (*(row[other] for other in parents), row[node])
            cells[node][cell] = cells[node].get(cell, 0.0) + p
    return cells, total


def intervened(tables, cards, set_to, node):
    """Distribution of a node if others are set: the product without the factors of those (Pearl, 2009, eq. 3.10)."""
    left, weights = {n: t for n, t in tables.items() if n not in set_to}, [0.0] * cards[node]
    for row, _ in rows_with(tables, cards, set_to):
        weights[row[node]] += joint(left, row)
    return weights


def predict(tables, cards, row, node):
    """Distribution of one node given all others, or None where the others are impossible together."""
    weights = []
    for code in range(cards[node]):
        case = {**row, node: code}
        factors = [table[tuple(case[p] for p in parents)][case[member]] for member, (parents, table) in tables.items()]
        weights.append(math.prod(factors))
    total = sum(weights)
    return [w / total for w in weights] if total > 0 else None


def estimates(rows, node, parents, cards, method, alpha, weights=None):
    """Estimates for all configurations; None where the method has nothing to say."""
    r, every = cards[node], list(itertools.product(*[range(cards[p]) for p in parents]))
    counts = {c: [0] * r for c in every}
    for t, row in enumerate(rows):
        counts[tuple(row[p] for p in parents)][row[node]] += 1 if weights is None else weights[t]
    q_obs = sum(sum(c) > 0 for c in counts.values())
    result = {}
    for c in every:
        n_ij = sum(counts[c])
        if method == "bayes":
            q = len(every)
            result[c] = [(alpha / (r * q) + n) / (alpha / q + n_ij) for n in counts[c]]
        elif n_ij == 0:
            result[c] = None
        elif method == "bds":
            result[c] = [(alpha / (r * q_obs) + n) / (alpha / q_obs + n_ij) for n in counts[c]]
        else:
            result[c] = [n / n_ij for n in counts[c]]
    return result


def philox(key, counter):
    """Philox4x32-10 in Python's integers (Salmon et al., 2011)."""
    x, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(p1 >> 32) ^ x[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ x[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return x


def uniform(key, node, row):
    """The number that decides the level of a node in a row."""
    half = row // 2
    words = philox(key, [half & 0xFFFFFFFF, half >> 32, node, 0])
    low, high = words[2:] if row % 2 else words[:2]
    return ((low | high << 32) >> 11) * 2.0**-53


def sample(tables, cards, order, key, n):
    """Rows of a sample, one number at a time; `order` has parents before children."""
    nodes, rows = list(cards), []
    for t in range(n):
        row = {}
        for node in order:
            parents, table = tables[node]
            p = table[tuple(row[q] for q in parents)]
            possible = [code for code in range(cards[node]) if p[code] > 0]
            u, total, code = uniform(key, nodes.index(node), t), 0.0, 0
            for code in range(cards[node]):
                total += p[code]
                if u < total or code == possible[-1]:
                    break
            row[node] = code
        rows.append(row)
    return rows
