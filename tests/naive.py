"""The paper's formulas as literal loops: slow, obvious, and what every fast path is compared with.

Data are lists of rows of level codes. Nothing here imports mapdag.
"""

import itertools
import math

import mpmath


def table(rows, child, parents, cards, weights=None):
    """Counts n_ijk of all observed configurations: {configuration: [n_ij1, ..., n_ijr]}."""
    counts = {}
    for t, row in enumerate(rows):
        configuration = tuple(row[p] for p in parents)
        if configuration not in counts:
            counts[configuration] = [0] * cards[child]
        counts[configuration][row[child]] += 1 if weights is None else weights[t]
    return counts


def full_table(rows, child, parents, cards):
    """The same over all declared configurations."""
    counts = table(rows, child, parents, cards)
    every = itertools.product(*[range(cards[p]) for p in parents])
    return {c: counts.get(c, [0] * cards[child]) for c in every}


def bd(counts, r, a, gammaln=math.lgamma):
    """Equation 3, one factor at a time."""
    total = 0
    for n_ijk in counts.values():
        n_ij = sum(n_ijk)
        total += gammaln(r * a) - gammaln(r * a + n_ij)
        for n in n_ijk:
            total += gammaln(a + n) - gammaln(a)
    return total


def declared(parents, cards):
    return math.prod(cards[p] for p in parents)


def pseudo_count(name, alpha, r, q, q_obs, number=float):
    return {
        "K2": lambda: number(1),
        "BDJ": lambda: number(1) / 2,
        "BDeu": lambda: number(alpha) / (r * q),
        "BDs": lambda: number(alpha) / (r * q_obs),
    }[name]()


def log_likelihood(counts):
    total = 0.0
    for n_ijk in counts.values():
        for n in n_ijk:
            if n > 0:
                total += n * math.log(n / sum(n_ijk))
    return total


def nml_normaliser(n, k):
    """C(n, k) by the exact recurrence C(n, k+2) = C(n, k+1) + n/k C(n, k) (Kontkanen and Myllymaki 2007)."""
    one = mpmath.mpf(1)
    if n == 0 or k == 1:
        return one
    previous, current = one, mpmath.mpf(0)
    for h in range(n + 1):
        current += mpmath.binomial(n, h) * (mpmath.mpf(h) / n) ** h * (mpmath.mpf(n - h) / n) ** (n - h)
    for j in range(1, k - 1):
        previous, current = current, current + mpmath.mpf(n) / j * previous
    return current


def score(name, rows, child, parents, cards, alpha=1, weights=None, n_nodes=None):
    """Log score of one family under any likelihood, by its name."""
    counts = table(rows, child, parents, cards, weights)
    r, q, q_obs = cards[child], declared(parents, cards), len(counts)
    n = sum(map(sum, counts.values()))
    if name in ("K2", "BDJ", "BDeu", "BDs"):
        return bd(counts, r, pseudo_count(name, alpha, r, q, q_obs))
    fit = log_likelihood(counts)
    parameters = (r - 1) * q
    if name == "LogLik":
        return fit
    if name == "AIC":
        return fit - parameters
    if name == "BIC":
        return fit - parameters * math.log(max(n, 1)) / 2
    if name == "eBIC":
        return fit - parameters * math.log(max(n, 1)) / 2 - 4 * 0.5 * len(parents) * math.log(n_nodes)
    if name == "fNML":
        return fit - float(sum(mpmath.log(nml_normaliser(sum(c), r)) for c in counts.values()))
    if name == "qNML":
        return fit - float(mpmath.log(nml_normaliser(n, r * q)) - mpmath.log(nml_normaliser(n, q)))
    raise KeyError(name)


def alpha_star(rows, parents, cards):
    """Steck's optimal alpha over all cells, observed or not."""
    n, top, bottom = len(rows), 0, 0.0
    for child, mine in enumerate(parents):
        counts = full_table(rows, child, mine, cards)
        r, q = cards[child], len(counts)
        top += sum(n > 0 for c in counts.values() for n in c)
        top -= sum(sum(c) > 0 for c in counts.values()) if mine else 0
        for n_ijk in counts.values():
            for n_k in n_ijk:
                bottom += ((n_k + 1) / (n + r * q) - 1 / (r * q)) * math.log((n_k + 1) / (sum(n_ijk) + r))
    return top / bottom


def entropy(counts, r, a):
    """Entropy of the estimates (a + n_ijk) / (r a + n_ij), summed over observed configurations."""
    total = 0.0
    for n_ijk in counts.values():
        for n in n_ijk:
            p = (a + n) / (r * a + sum(n_ijk))
            if p > 0:
                total -= p * math.log(p)
    return total


def marginal_prior(n_nodes, n_arcs, beta):
    total = 0.0
    for pair in range(n_nodes * (n_nodes - 1) // 2):
        total += math.log(beta / 2) if pair < n_arcs else math.log(1 - beta)
    return total


def node_average(rows, child, parents, cards, k=0.0, weights=None):
    """Average log-likelihood over the rows that have the whole family, less k per parameter (Balov 2013).

    None stands where a value is missing. Minus infinity where parents leave no such row; without rows and
    parents, the average is 0.
    """
    complete = [t for t, row in enumerate(rows) if all(row[v] is not None for v in (*parents, child))]
    if not complete:
        return -math.inf if parents else -k * (cards[child] - 1)
    kept = None if weights is None else [weights[t] for t in complete]
    counts = table([rows[t] for t in complete], child, parents, cards, kept)
    parameters = (cards[child] - 1) * declared(parents, cards)
    return log_likelihood(counts) / sum(map(sum, counts.values())) - k * parameters
