"""What gaps cost, and what helps: graphs, predictions and filled gaps beside those of the complete data.

By the default objective and search: from the complete rows ("drop"), with gaps as levels, under PNAL, from a table that
scikit-learn has imputed, by structural EM, hard and soft, and by soft structural EM with columns that say where values
are missing; and by structural EM as the examples of R bnlearn have it (hard, hill climbing, BIC). Rows are drawn from a
reference network, cells are taken out, and what was taken out is known: distance to the truth, predictive loss on
complete rows, and how often a filled gap is right.

All cases take many hours of one core. What is done is kept in `results/gaps_cases.jsonl`, so that they can be done
in pieces, one sample of everything first: BENCH_SECONDS is for how long, BENCH_PROCESSES on how many cores; tables are
made of what there is. Seconds are of a machine that others used, too.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.script import Script, Settings, progress
from harness.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.targets import Target

NETWORKS = ("asia", "child", "alarm", "insurance", "hailfinder")
SHARES = (0.1, 0.2, 0.05, 0.4)  # in the order in which they are tried
MECHANISMS = ("MCAR", "MAR", "MNAR")
SIZES = (500, 2_000, 10_000)
SEEDS = int(os.environ.get("BENCH_SEEDS", "6"))
_FIRST = 101  # of the seeds
KEPT = Path(__file__).parent / "results" / "gaps_cases.jsonl"
METHODS = ("complete", "drop", "level", "PNAL", "iterative", "EM hc", "EM hard", "EM soft", "indicators")
FILLERS = ("mode", "iterative", "network")
PENALTIES, PENALISED = (None, 3.0, 1.0), ("child", "alarm", "insurance")  # times that of BIC; None: the default
TEST_ROWS = 5_000
_STARTED = 2_000  # rows up to which starts of EM are compared
_AWAY = (0.2, 1.8)  # how often a cell is missing, as a multiple of the share, in either half of what decides

Case = tuple[str, int, float, str, int]
Found = dict[Case, list[tuple[float, float, float, float]]]


def with_gaps(full: Any, share: float, mechanism: str, seed: int) -> Any:
    """Take out a share of the cells: at random; by another column, always known; or by what they hold."""
    import mapdag as md

    rng = np.random.default_rng([seed, MECHANISMS.index(mechanism), int(1000 * share)])
    codes = full.codes.astype(np.int64)
    chance = np.full(codes.shape, share)
    order = rng.permutation(len(codes))
    decides = {
        i: order[len(codes) // 2 + k % (len(codes) - len(codes) // 2)] for k, i in enumerate(order[: len(codes) // 2])
    }
    for i in range(len(codes)):
        if mechanism == "MCAR":
            continue
        if mechanism == "MAR" and i not in decides:
            chance[i] = 0.0
            continue
        by = codes[decides[i]] if mechanism == "MAR" else codes[i]
        often = np.isin(by, np.argsort(-np.bincount(by), kind="stable")[:1])
        rate = np.where(often, *_AWAY) * share
        chance[i] = np.minimum(rate * share / max(rate.mean(), 1e-12), 0.95)
    codes = np.where(rng.random(codes.shape) < chance, -1, codes)
    return md.Dataset.from_codes(codes.T, names=full.names, levels=dict(full.levels), gap=-1)


def with_a_level(data: Any) -> Any:
    """Make gaps a level of their own."""
    import mapdag as md

    levels = {name: [*data.levels[name], "NA"] for name in data.names}
    return md.Dataset(data.names, levels, data.codes)


def with_indicators(data: Any) -> Any:
    """Put a column beside each that has gaps, which says whether its value is missing; without gaps itself."""
    import mapdag as md

    having = [i for i in range(data.n_columns) if not data.known[i].all()]
    codes = np.where(data.known, data.codes.astype(np.int64), -1)
    said = [f"{data.names[i]} is missing" for i in having]
    levels = {**dict(data.levels), **dict.fromkeys(said, ("no", "yes"))}
    both = np.concatenate([codes, ~data.known[having]])
    return md.Dataset.from_codes(both.T, names=[*data.names, *said], levels=levels, gap=-1)


def part_of(network: Any, names: Sequence[str]) -> Any:
    """Return the network of some nodes whose parents are among them."""
    import mapdag as md

    dag = md.DAG(names, [arc for arc in network.dag.arcs if arc[1] in set(names)])
    cpts = {name: network.cpts[name] for name in names}
    order = {name: [network.parents(name).index(parent) for parent in dag.parents(name)] for name in names}
    turned = {name: np.transpose(cpts[name], [*order[name], len(order[name])]) for name in names}
    return md.BayesianNetwork(dag, {name: network.levels[name] for name in names}, turned)


def learned_by(method: str, full: Any, data: Any, seed: int) -> Any:
    """Return the network that a method learns; None of a method that is not for these gaps."""
    import mapdag as md

    if method in ("complete", "drop", "iterative"):
        rows = {
            "complete": lambda: full,
            "drop": data.complete_rows,
            "iterative": lambda: md.Dataset(data.names, data.levels, _iterative(data, seed).astype(np.uint8)),
        }[method]()
        dag = md.learn(rows, threads=1).dag if rows.n_rows else md.DAG(full.names)
        return md.fit(dag, rows)
    if method in ("level", "PNAL"):
        goal = "Support()+MU(c=1)+PNAL" if method == "PNAL" else "Support()+MU(c=1)+BDs"
        result = md.learn(data if method == "PNAL" else with_a_level(data), goal, threads=1)
        return md.fit_em(result.dag, data, max_iter=20, tolerance=1e-4, threads=1).network
    if method == "EM hc":  # as the examples of R bnlearn's structural.em have it
        return md.structural_em(data, "BIC", search="hc", impute="hard", starts=1, threads=1).network
    if method == "indicators":
        both = with_indicators(data)
        tiers = [list(data.names), list(both.names[data.n_columns :])]
        return part_of(md.structural_em(both, tiers=tiers, threads=1).network, data.names)
    return md.structural_em(data, impute=method.removeprefix("EM "), threads=1).network


def recovered(case: Case) -> list[tuple[float, float, float, float]]:
    """SHD, loss on complete rows, arcs and processor seconds of each method."""
    import mapdag as md

    name, n, share, mechanism, seed = case
    truth = md.network(name)
    full, test = truth.sample(n, seed=seed), truth.sample(TEST_ROWS, seed=10_000 + seed)
    data, found = with_gaps(full, share, mechanism, seed), []
    for method in METHODS:
        if method == "indicators" and mechanism != "MNAR":
            continue
        start = time.process_time()
        network = learned_by(method, full, data, seed)
        seconds = time.process_time() - start
        loss = -network.log_likelihood(test) / TEST_ROWS
        found.append((float(md.shd(network.dag, truth.dag)), loss, float(network.dag.n_arcs), seconds))
    return found


def drawn(case: Case) -> tuple[Any, Any, Any]:
    """Draw the network of a case, its rows with gaps, and complete rows to predict."""
    import mapdag as md

    name, n, share, mechanism, seed = case
    truth = md.network(name)
    return (
        truth,
        with_gaps(truth.sample(n, seed=seed), share, mechanism, seed),
        truth.sample(TEST_ROWS, seed=10_000 + seed),
    )


def started(case: Case) -> list[tuple[float, float, float, float]]:
    """SHD, loss on complete rows, arcs and observed score of soft EM from what PNAL finds, and from no arcs."""
    import mapdag as md

    truth, data, test = drawn(case)
    found = []
    for start in (None, md.DAG(data.names)):
        result = md.structural_em(data, starts=1, start=start, threads=1)
        loss = -result.network.log_likelihood(test) / TEST_ROWS
        found.append((float(md.shd(result.dag, truth.dag)), loss, float(result.dag.n_arcs), result.observed_score))
    return found


def penalised(case: Case) -> list[tuple[float, float, float, float]]:
    """SHD, loss on complete rows, arcs and penalty of PNAL, the latter by default and as multiples of BIC's."""
    import mapdag as md

    truth, data, test = drawn(case)
    n = data.n_rows
    found = []
    for times in PENALTIES:
        k = n**-0.25 / data.n_columns if times is None else times * math.log(n) / (2 * n)
        result = md.learn(data, md.PNAL(k), search="hc", threads=1)
        network = md.fit_em(result.dag, data, max_iter=20, tolerance=1e-4, threads=1).network
        loss = -network.log_likelihood(test) / TEST_ROWS
        found.append((float(md.shd(result.dag, truth.dag)), loss, float(result.dag.n_arcs), n * k))
    return found


def filled(case: Case) -> list[float]:
    """Share of the gaps that each filler fills with what was there."""
    import mapdag as md

    name, n, share, mechanism, seed = case
    full = md.network(name).sample(n, seed=seed)
    data = with_gaps(full, share, mechanism, seed)
    gone, truth = ~data.known, full.codes
    mode = np.array([np.argmax(data.observed(column)) for column in data.names])[:, None]
    learned = md.structural_em(data, impute="hard", threads=1).network
    guesses = {
        "mode": np.broadcast_to(mode, truth.shape),
        "iterative": _iterative(data, seed),
        "network": md.impute(learned, data, how="marginal", threads=1).data.codes,
    }
    return [float((guesses[filler] == truth)[gone].mean()) for filler in FILLERS]


def _iterative(data: Any, seed: int) -> Any:
    """What scikit-learn's iterative imputer makes of the codes, rounded to the nearest level."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    codes = np.where(data.known, data.codes.astype(float), np.nan).T
    imputer = IterativeImputer(max_iter=5, n_nearest_features=10, random_state=seed)
    found = imputer.fit_transform(codes).T
    return np.clip(np.rint(found), 0, data.cards[:, None] - 1)


def _cases(settings: Settings) -> list[Case]:
    if settings.quick:
        return [("asia", 500, share, mechanism, 1) for share in (0.1, 0.4) for mechanism in MECHANISMS]
    seeds = range(_FIRST, _FIRST + SEEDS)
    names = os.environ.get("BENCH_NETWORKS", ",".join(NETWORKS)).split(",")
    sizes = [int(n) for n in os.environ.get("BENCH_ROWS", ",".join(map(str, SIZES))).split(",")]
    cases = [*itertools.product(names, sizes, SHARES, MECHANISMS, seeds)]
    return sorted(
        cases,
        key=lambda case: (case[4], MECHANISMS.index(case[3]), SHARES.index(case[2]), case[1], NETWORKS.index(case[0])),
    )


def _known() -> dict[tuple[str, Case], Any]:
    """What was measured before, by kind and case."""
    if not KEPT.exists():
        return {}
    lines = map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())
    return {(line["kind"], tuple(line["case"])): line["found"] for line in lines}


def _measured(kind: str, cases: Sequence[Case], until: float, *, keep: bool) -> dict[Case, Any]:
    """Measure cases until the time is up; what was measured before is not measured again."""
    known = _known() if keep else {}
    found = {case: known[kind, case] for case in cases if (kind, case) in known}
    left = [case for case in cases if case not in found]
    workers = int(os.environ.get("BENCH_PROCESSES", os.cpu_count() or 1))
    function = {"learned": recovered, "starts": started, "penalty": penalised, "filled": filled}[kind]
    with ProcessPoolExecutor(workers) as pool:
        for at in range(0, len(left), workers):
            if time.monotonic() > until:
                progress(f"{kind}: {len(found)} of {len(cases)} are done")
                break
            batch = left[at : at + workers]
            for case, figures in zip(batch, pool.map(function, batch), strict=True):
                found[case] = figures
                if keep:
                    with KEPT.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"kind": kind, "case": case, "found": figures}) + "\n")
    return found


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    cases, keep = _cases(settings), not settings.quick
    until = time.monotonic() + float(os.environ.get("BENCH_SECONDS", "inf"))
    found = _measured("learned", cases, until, keep=keep)
    tables = [*_recovery(found), _by_network(found)]
    first = [case for case in cases if case[1] <= _STARTED and case[4] == _FIRST]
    tables.append(_starts(_measured("starts", first, until, keep=keep), found))
    some = [case for case in cases if case[0] in PENALISED and case[3] == "MCAR" and case[4] == _FIRST]
    tables.append(_penalties(_measured("penalty", some, until, keep=keep), found))
    if find_spec("sklearn"):
        some = [case for case in cases if case[1] == min(2_000, cases[-1][1]) and case[4] == _FIRST]
        tables.append(_imputation(_measured("filled", some, until, keep=keep)))
    return [table for table in tables if table.rows], [], None


def _recovery(found: Found) -> list[Table]:
    """SHD and loss beyond that of the complete data, by mechanism and share."""
    tables = []
    loss = "Log loss of complete rows beyond that of the complete data, nats per row."
    for at, mean, title, note in (
        (
            0,
            fmean,
            "Distance to the truth",
            "SHD of equivalence classes.",
        ),
        (1, fmean, "Predictive loss", loss),
        (1, median, "Predictive loss, medians", loss),
    ):
        groups: dict[tuple[int, str, float], list[list[float]]] = defaultdict(list)
        for (_, n, share, mechanism, _), figures in found.items():
            base = figures[0][at]
            told = [each[at] - base if at else each[at] for each in figures]
            groups[n, mechanism, share].append([*told, *[math.nan] * (len(METHODS) - len(told))])
        rows = [
            (*key, len(groups[key]), *map(mean, zip(*groups[key], strict=True)))
            for key in sorted(groups, key=lambda key: (key[0], MECHANISMS.index(key[1]), key[2]))
        ]
        told = f"{note} {'Medians' if mean is median else 'Means'} over so many cases: networks and seeds."
        tables.append(Table(title, ("rows", "gaps", "share", "cases", *METHODS), tuple(rows), told))
    return tables


def _by_network(found: Found) -> Table:
    groups: dict[tuple[str, int], list[list[float]]] = defaultdict(list)
    for (name, n, _, _, _), figures in found.items():
        whole = [*figures, *[(math.nan,) * 4] * (len(METHODS) - len(figures))]
        groups[name, n].append([*(each[0] for each in whole), *(each[3] for each in whole[3:])])
    rows = [(*key, len(groups[key]), *map(fmean, zip(*groups[key], strict=True))) for key in groups]
    order = sorted(rows, key=lambda row: (NETWORKS.index(row[0]), row[1]))
    heads = ("network", "rows", "cases", *METHODS, *(f"{method}, s" for method in METHODS[3:]))
    return Table("By network", heads, tuple(order), "SHD, means over shares and mechanisms; and seconds on one core.")


def _starts(started: Found, found: Found) -> Table:
    """SHD and loss by where EM starts, and of the better of both by observed score, which is the default."""
    groups: dict[tuple[int, str, float], list[list[float]]] = defaultdict(list)
    for case, (pnal, empty) in started.items():
        if case in found:
            best = max(pnal, empty, key=lambda each: each[3])
            base = found[case][0]
            shd = [each[0] / max(base[0], 1.0) for each in (pnal, empty, best)]
            groups[case[1], case[3], case[2]].append([*shd, *(each[1] - base[1] for each in (pnal, empty, best))])
    order = sorted(groups, key=lambda key: (key[0], MECHANISMS.index(key[1]), key[2]))
    rows = [(*key, len(groups[key]), *map(fmean, zip(*groups[key], strict=True))) for key in order]
    ways = ("PNAL", "empty", "best")
    heads = ("rows", "gaps", "share", "cases", *(f"SHD, {way}" for way in ways), *(f"loss, {way}" for way in ways))
    note = (
        "Soft EM: SHD as a multiple of that from the complete data, loss beyond that, by the start; one sample of each "
        "network. The best is that with the higher score for what is known, which is the default."
    )
    return Table("Where EM starts", heads, tuple(rows), note)


def _penalties(penalised: Found, found: Found) -> Table:
    """SHD and loss of PNAL by penalty."""
    groups: dict[tuple[int, float], list[list[float]]] = defaultdict(list)
    for case, figures in penalised.items():
        if case in found:
            base = found[case][0]
            shd, loss = [each[0] / max(base[0], 1.0) for each in figures], [each[1] - base[1] for each in figures]
            groups[case[1], case[2]].append([*shd, *loss])
    rows = [(*key, len(groups[key]), *map(fmean, zip(*groups[key], strict=True))) for key in sorted(groups)]
    ways = ["default" if times is None else f"{times:g} x BIC's" for times in PENALTIES]
    heads = ("rows", "share", "cases", *(f"SHD, {way}" for way in ways), *(f"loss, {way}" for way in ways))
    note = (
        "PNAL by its penalty, cells missing completely at random, child, alarm and insurance: SHD as a multiple of "
        "that from the complete data, loss beyond that. A parameter costs n^(3/4) / N, under BIC log(n) / 2."
    )
    return Table("The penalty of PNAL", heads, tuple(rows), note)


def _imputation(found: dict[Case, list[float]]) -> Table:
    groups: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for (name, _, _, mechanism, _), figures in found.items():
        groups[name, mechanism].append(figures)
    rows = [(*key, *map(fmean, zip(*groups[key], strict=True))) for key in groups]
    order = sorted(rows, key=lambda row: (NETWORKS.index(row[0]), row[1]))
    note = "Share of gaps filled with what was there; means over shares. The network is learned by structural EM."
    return Table("Gaps filled right", ("network", "gaps", *FILLERS), tuple(order), note)


if __name__ == "__main__":
    Script("gaps", "Rows with gaps", __doc__ or "", measure).main()
