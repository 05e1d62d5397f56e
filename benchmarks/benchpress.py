"""Benchpress' random binary networks: edges found and edges in excess, and seconds, beside other packages.

The design is that of Benchpress' `config/paper_er_bin.json`: Erdos-Renyi DAGs with 80 nodes and 4 neighbours each on
average, drawn again until no node has more than 5 parents; 320 rows. A node without parents has P(1) uniform in
[.1, .9]; with parents, P(1) is uniform in [.01, .1] where all parents are 0, else the sum of the strengths of those
that are 1, each uniform in [.4, .9], at most .95. The other arena is HEPAR2's graph with such probabilities.

An edge that is there with the right orientation counts 1, with another 1/2: TP/P, and FP/P with what is missing from
that 1/2 and all edges that are not there. Graphs are compared as CPDAGs, and again as patterns, in which colliders
alone are directed; Benchpress' own evaluation has the latter.

Peers run in processes of their own, which end after BENCH_LIMIT CPU seconds (60); a peer that reaches the limit twice
in an arena gets no further data there. Results are kept in `results/benchpress_cases.jsonl`: BENCH_SEEDS (100),
BENCH_PEER_SEEDS (5) and BENCH_SECONDS limit what is added to them. Seconds are CPU seconds of one thread.
"""

from __future__ import annotations

import json
import os
import random
import time
import warnings
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harness import kept
from harness.process import part
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable

NODES, NEIGHBOURS, MOST_PARENTS, ROWS = 80, 4, 5, 320
ARENAS = ("random", "hepar2")
OURS = {
    "learned": "Support(3)+MU(c=auto)+BDs(alpha=auto)",
    "alpha=1, c=1": "Support(3)+MU(c=1)+BDs(1)",
    "alpha=5, c=2": "Support(3)+MU(c=2)+BDs(5)",
    "U+BDeu(1)": "U+BDeu(1)",
    "BIC": "BIC",
}
LIMIT = int(os.environ.get("BENCH_LIMIT", "60"))
MOST_TIMEOUTS = 2
KEPT = Path(__file__).parent / "results" / "benchpress_cases.jsonl"
PUBLISHED = Path(__file__).parent / "published" / "benchpress.json"

Matrix = NDArray[np.int8]
Case = tuple[str, int, str]  # arena, seed, contender


def random_graph(rng: np.random.Generator) -> Matrix:
    """Draw a DAG: entry (i, j) is 1 for i -> j."""
    while True:
        upper = np.triu(rng.random((NODES, NODES)) < NEIGHBOURS / (NODES - 1), 1)
        if upper.sum(axis=0).max() <= MOST_PARENTS:
            order = rng.permutation(NODES)
            graph = np.zeros((NODES, NODES), np.int8)
            graph[np.ix_(order, order)] = upper
            return graph


def sample(graph: Matrix, rng: np.random.Generator) -> Matrix:
    """Draw probabilities, and rows."""
    codes = np.zeros((ROWS, len(graph)), np.int8)
    for node in parents_first(graph):
        parents = np.flatnonzero(graph[:, node])
        if len(parents):
            none, strengths = rng.uniform(0.01, 0.1), rng.uniform(0.4, 0.9, len(parents))
            total = codes[:, parents] @ strengths
            p = np.where(total > 0, np.minimum(total, 0.95), none)
        else:
            p = np.full(ROWS, rng.uniform(0.1, 0.9))
        codes[:, node] = rng.random(ROWS) < p
    return codes


def parents_first(graph: Matrix) -> list[int]:
    """Order the nodes of a DAG."""
    left, order = graph.sum(axis=0), []
    while len(order) < len(graph):
        node = int(np.flatnonzero(left == 0)[0])
        order.append(node)
        left = left - graph[node]
        left[node] = -1
    return order


def draw(arena: str, seed: int) -> tuple[Matrix, Matrix]:
    """Return the true graph and the rows of a case."""
    rng = np.random.default_rng([ARENAS.index(arena), seed])
    if arena == "random":
        graph = random_graph(rng)
    else:
        import mapdag as md

        graph = md.network(arena).dag.to_adjacency()
    return graph, sample(graph, rng)


def pattern(graph: Matrix) -> Matrix:
    """Keep the directions of colliders alone; graphs are DAGs or CPDAGs, both entries of an undirected edge being 1."""
    joined = graph | graph.T
    directed = graph & ~graph.T
    found = joined.copy()
    for child in range(len(graph)):
        parents = np.flatnonzero(directed[:, child])
        apart = joined[np.ix_(parents, parents)] == 0
        np.fill_diagonal(apart, val=False)
        found[child, parents[apart.any(axis=1)]] = 0
    return found


def rates(true: Matrix, found: Matrix) -> tuple[float, float]:
    """Return TP/P and FP/P."""
    upper = np.triu(np.ones_like(true), 1)
    a, b = (true | true.T) & upper, (found | found.T) & upper
    shared = a & b
    turned = int((shared & ((true != found) | (true.T != found.T))).sum())
    positives = int(a.sum())
    return (int(shared.sum()) - turned / 2) / positives, (int((b & ~a & 1).sum()) + turned / 2) / positives


def judged(true: Matrix, found: Matrix) -> dict[str, Any]:
    """Count on patterns and on CPDAGs."""
    import mapdag as md

    def cpdag(graph: Matrix) -> Matrix:
        undirected = (graph & graph.T).any()
        return graph if undirected else md.DAG.from_adjacency(graph).to_cpdag().to_adjacency()

    return {
        "pattern": rates(pattern(true), pattern(found)),
        "cpdag": rates(cpdag(true), cpdag(found)),
        "edges": int(((found | found.T) & np.triu(np.ones_like(found), 1)).sum()),
    }


def learn(codes: Matrix, objective: str) -> tuple[Matrix, dict[str, Any]]:
    """Learn with mapdag; seconds are CPU seconds, wall seconds beside them."""
    import mapdag as md

    data = md.Dataset.from_codes(codes)
    start, began = time.perf_counter(), time.process_time()
    result = md.learn(data, objective, threads=1)
    figures = {"seconds": time.process_time() - began, "wall": time.perf_counter() - start}
    return result.dag.to_adjacency(), {**figures, "objective": str(result.objective)}


def causal_learn(search: str, score: str) -> Callable[[Matrix], Callable[[], Matrix]]:
    """A search of causal-learn: its BDeu, or its default score, BIC of a Gaussian with these covariances."""

    def prepare(codes: Matrix) -> Callable[[], Matrix]:
        from causallearn.search.PermutationBased.BOSS import boss
        from causallearn.search.PermutationBased.GRaSP import grasp
        from causallearn.search.ScoreBased.GES import ges

        name = "local_score_BDeu" if score == "BDeu" else "local_score_BIC_from_cov"
        rows = codes.astype(float)

        def graph() -> Any:
            if search == "GES":
                return ges(rows, score_func=name)["G"]
            return (boss if search == "BOSS" else grasp)(rows, score_func=name, verbose=False)

        def run() -> Matrix:
            ends = graph().graph  # (i, j) is -1 for a tail at i, 1 for an arrow head
            return ((ends == -1) & (ends.T != 0)).astype(np.int8)

        return run

    return prepare


def pgmpy(codes: Matrix) -> Callable[[], Matrix]:
    import pandas as pd
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.structure_score import BDeu

    frame = pd.DataFrame({f"V{i}": pd.Categorical(column.astype(str)) for i, column in enumerate(codes.T)})
    search = HillClimbSearch(
        scoring_method=BDeu(frame, equivalent_sample_size=1), return_type="dag", show_progress=False
    )

    def run() -> Matrix:
        search.fit(frame)
        return matrix(codes, [(int(a[1:]), int(b[1:])) for a, b in search.causal_graph_.edges()])

    return run


def pyagrum(codes: Matrix) -> Callable[[], Matrix]:
    import pandas as pd
    import pyagrum as gum

    learner = gum.BNLearner(pd.DataFrame({f"V{i}": column.astype(str) for i, column in enumerate(codes.T)}))
    learner.useScoreBDeu()
    learner.useGreedyHillClimbing()
    learner.setNumberOfThreads(1)

    def run() -> Matrix:
        arcs = learner.learnDAG().arcs()
        return matrix(codes, [(int(learner.nameFromId(a)[1:]), int(learner.nameFromId(b)[1:])) for a, b in arcs])

    return run


def matrix(codes: Matrix, arcs: list[tuple[int, int]]) -> Matrix:
    """Return the matrix of a graph."""
    found = np.zeros((codes.shape[1],) * 2, np.int8)
    for a, b in arcs:
        found[a, b] = 1
    return found


PEERS: dict[str, Callable[[Matrix], Callable[[], Matrix]]] = {
    "pyAgrum HC, BDeu(1)": pyagrum,
    **{
        f"causal-learn {search}, {score}": causal_learn(search, score)
        for score in ("Gaussian BIC", "BDeu")
        for search in ("BOSS", "GRaSP", "GES")
    },
    "pgmpy HC, BDeu(1)": pgmpy,
}

QUICK = tuple(PEERS)[:3]  # done first


def run_peer(arena: str, seed: str, name: str) -> None:
    """Let a peer learn from a case, and print what it found."""
    warnings.simplefilter("ignore")
    random.seed(int(seed))
    np.random.seed(int(seed))  # noqa: NPY002 (causal-learn's)
    _, codes = draw(arena, int(seed))
    run = PEERS[name](codes)
    start, began = time.perf_counter(), time.process_time()
    found = run()
    figures = {"seconds": time.process_time() - began, "wall": time.perf_counter() - start}
    print(json.dumps({**figures, "arcs": np.argwhere(found).tolist()}))


def measured(case: Case, found: dict[kept.Case, dict[str, Any]]) -> dict[str, Any] | None:
    """Learn from a case, and judge."""
    arena, seed, name = case
    true, codes = draw(arena, seed)
    if name in OURS:
        graph, figures = learn(codes, OURS[name])
        return {**figures, **judged(true, graph)}
    timeouts = sum(each.get("limit", 0) > 0 for key, each in found.items() if (key[0], key[2]) == (arena, name))
    if timeouts >= MOST_TIMEOUTS:
        return None
    figures = part(__file__, arena, seed, name, cpu_limit=LIMIT)
    progress(f"{case}: {'limit reached' if figures is None else figures['seconds']}")
    if figures is None:
        return {"limit": LIMIT}
    return {**figures, **judged(true, matrix(codes, figures.pop("arcs")))}


def cases(settings: Settings) -> list[Case]:
    """Return all cases in the order in which they are done: 20 seeds of ours, the peers, then the other seeds."""
    if settings.quick:
        return [("random", 1, name) for name in (*OURS, "pyAgrum HC, BDeu(1)")]
    seeds = int(os.environ.get("BENCH_SEEDS", "100"))
    peer_seeds = int(os.environ.get("BENCH_PEER_SEEDS", "5"))
    first = min(seeds, 20)
    ours = [(arena, seed, name) for arena in ARENAS for seed in range(1, first + 1) for name in OURS]
    slow = tuple(name for name in PEERS if name not in QUICK)
    peers = [
        (arena, seed, name)
        for names in (QUICK, slow)
        for arena in ARENAS
        for seed in range(1, peer_seeds + 1)
        for name in names
    ]
    others = [(arena, seed, name) for arena in ARENAS for seed in range(first + 1, seeds + 1) for name in OURS]
    return [*ours, *peers, *others]


HEADS = ("method", "networks", "TP/P", "FP/P", "mean TP/P", "mean FP/P", "TP/P, pattern", "FP/P, pattern", "seconds")


def figures_of(
    found: dict[kept.Case, dict[str, Any]], arena: str, name: str, seeds: set[int]
) -> tuple[Any, ...] | None:
    """Return a contender's row for some of the networks of an arena, if it was run on any."""
    mine = [each for key, each in found.items() if (key[0], key[2]) == (arena, name) and key[1] in seeds]
    done = [each for each in mine if "limit" not in each]
    label = f"mapdag, {name}" if name in OURS else name
    if done:
        means = [fmean(each["cpdag"][k] for each in done) for k in (0, 1)]
        cpdag, of_pattern = ([median(each[on][k] for each in done) for k in (0, 1)] for on in ("cpdag", "pattern"))
        return (label, len(done), *cpdag, *means, *of_pattern, median(each["seconds"] for each in done))
    return (label, 0, *[None] * 6, f"over {mine[0]['limit']}") if mine else None


def tables(found: dict[kept.Case, dict[str, Any]], arena: str) -> list[Table]:
    """Return ours on all networks with what was published, and all contenders on the networks of peers."""
    title = "Random binary networks, 80 nodes, 320 rows" if arena == "random" else "HEPAR2's graph, 320 rows"
    note = "Medians, and means as such; CPU seconds of one thread."
    seeds = {key[1] for key in found if key[0] == arena}
    shared = {key[1] for key in found if key[0] == arena and key[2] in PEERS}
    ours = [row for name in OURS if (row := figures_of(found, arena, name, seeds))]
    told = note
    if arena == "random":
        published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
        ours += [(f"{name}, published", None, *[None] * 4, tp, fp, s) for name, tp, fp, s in published["figures"]]
        told = f"{note} Published: {published['source']}"
    together = [row for name in (*OURS, *PEERS) if (row := figures_of(found, arena, name, shared))]
    made = [Table(title, HEADS, tuple(ours), told)]
    return [*made, Table(f"{title}: with peers", HEADS, tuple(together), note)] if together else made


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    """Measure, compare, and say which targets are met."""
    learn(draw("random", 0)[1], OURS["learned"])  # compiles
    found = kept.measure_all(cases(settings), measured, None if settings.quick else KEPT)
    mine = [each for key, each in found.items() if key[0] == "random" and key[2] == "learned"]
    targets = [
        Target(f"median {rate}, learned, {on}", sense, limit, median(each[on][k] for each in mine), unit="graphs")
        for on in ("cpdag", "pattern")
        for k, (rate, sense, limit) in enumerate((("TP/P", ">=", 0.70), ("FP/P", "<=", 0.085)))
    ]
    targets.append(Target("median CPU seconds, learned", "<=", 2, median(each["seconds"] for each in mine), unit="s"))
    arenas = [arena for arena in ARENAS if any(key[0] == arena for key in found)]
    return [table for arena in arenas for table in tables(found, arena)], targets, None


if __name__ == "__main__":
    Script("benchpress", "Benchpress' random binary networks", __doc__ or "", measure, run_peer).main()
