"""Commands that learn: ``learn``, ``bootstrap``, ``cv``, ``alpha``."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mapdag as md
from mapdag.cli.options import (
    DEFAULT_SCORES,
    Cluster,
    Em,
    Json,
    Out,
    OutGraph,
    ReadTable,
    Report,
    Scores,
    SearchFor,
    cluster_options,
    option,
    read_on,
    search_options,
    table_options,
    takes,
)
from mapdag.cli.outputs import check_out, check_page, command_line, metrics_json, print_json, write_drawable
from mapdag.errors import DEFAULT_SCORE, MapdagError
from mapdag.progress import bar
from mapdag.wording import aligned, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag import DAG, Bootstrap, Certificate, Metrics, Result


@takes(read_table=table_options, search=search_options, cluster=cluster_options)
def learn(
    read_table: ReadTable,
    search: SearchFor,
    cluster: Cluster,
    score: Scores = DEFAULT_SCORES,
    bootstrap: Annotated[int, option("--bootstrap", "R", "Tell the strength of each arc, from R resamples.")] = 0,
    em: Em = False,
    impute: Annotated[
        str, option("--impute", "HOW", "How EM fills gaps: soft (all ways), or hard (the best).")
    ] = "soft",
    out: Out = None,
    report: Report = None,
    json: Json = False,
) -> None:
    """Learn the DAG with the highest posterior score.

    Arcs marked -- are reversible: an equivalent graph has them the other way round, so read no direction into them.
    """
    for name, given in (("--out", out), ("--report", report), ("--bootstrap", bootstrap or None)):
        if given is not None and len(score) > 1:
            raise MapdagError(f"{name} takes the result of one --score, got several")
    if em:
        read_table = read_table.with_gaps()
    check_out(out, "graph", "network", "picture")
    check_page(report, drawn=True)
    objectives = [md.parse(each) for each in score]
    from mapdag.search.warmup import warm_up

    warm_up()
    strengths = None
    # Resamples are drawn from rows that are here; otherwise the rows of a cluster's table stay on its workers.
    with read_on(None if bootstrap else cluster, read_table) as table:
        options = search(table)
        with bar(quiet=json, lines=False) as shown:
            if em:
                how: dict[str, Any] = {"impute": impute, "progress": shown.search, **options}
                results: Sequence[Result] = [md.structural_em(table, each, **how) for each in objectives]
            else:
                results = md.learn(table, objectives, progress=shown.search, **options)
            if bootstrap:
                tell = shown.counter("resamples")
                how = {
                    "R": bootstrap,
                    "em": isinstance(results[0], md.EMResult),
                    "cluster": cluster,
                    "progress": tell,
                    **options,
                }
                strengths = md.bootstrap(table, results[0].objective, **how)  # with the values that were learned
        _show(results, strengths, read_table, out=out, report=report, json=json)


def _show(
    results: Sequence[Result],
    strengths: Bootstrap | None,
    read_table: ReadTable,
    *,
    out: str | None,
    report: str | None,
    json: bool,
) -> None:
    """Show what was learned, and write it where that was asked for."""
    # What was found is shown before it is written: that may fail.
    if json:
        found = [_as_json(result, strengths) for result in results]
        print_json(found[0] if len(found) == 1 else {"results": found})
    else:
        typer.echo("\n\n".join(_describe(result, strengths) for result in results))
    # The report first, as a network may be too large for a file; that one fails is no reason to leave out the other.
    failure = None
    if report is not None:
        try:
            results[0].report(report, bootstrap=strengths, name=read_table.name, command=command_line())
            _tell_written(report, json=json)
        except MapdagError as error:
            failure = error
    if out is not None:
        _write(results[0], out)
        _tell_written(out, json=json)
    if failure is not None:
        raise failure


def _tell_written(file: str, *, json: bool) -> None:
    if not json:
        typer.echo(f"written to {file}")


@takes(read_table=table_options, search=search_options, cluster=cluster_options)
def bootstrap(
    read_table: ReadTable,
    search: SearchFor,
    cluster: Cluster,
    score: Annotated[str, option("--score", "EXPR", "Objective.")] = DEFAULT_SCORE,
    replicates: Annotated[int, typer.Option("-R", "--replicates", metavar="R", help="Resamples.")] = 200,
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="X", help="Instead of the one found from data.")
    ] = None,
    em: Em = False,
    relearn: Annotated[
        bool, typer.Option("--relearn", help='Learn "auto" values from each resample, not once from the whole table.')
    ] = False,
    out: OutGraph = None,
    json: Json = False,
) -> None:
    """Say how strong each arc is, by learning from resampled rows.

    --out takes the averaged network.
    """
    check_out(out, "graph", "picture")
    table = (read_table.with_gaps() if em else read_table)()
    options = search(table)
    with bar(quiet=json, lines=False) as shown:
        tell = shown.counter("resamples")
        how: dict[str, Any] = {"R": replicates, "em": em, "relearn": relearn, "cluster": cluster, **options}
        found = md.bootstrap(table, score, progress=tell, **how)
    averaged = found.averaged(threshold)
    if json:
        print_json(
            {
                "objective": str(found.objective),
                "replicates": replicates,
                "threshold": found.threshold if threshold is None else threshold,
                "strengths": [arc._asdict() for arc in found.arcs()],
                "averaged": averaged.arcs,
            }
        )
    else:
        typer.echo(str(found.to_table(above=found.threshold if threshold is None else threshold)))
        typer.echo(f"averaged network: {plural(averaged.n_arcs, 'arc')}")
    if out is not None:
        write_drawable(averaged, out)


@takes(read_table=table_options, search=search_options, cluster=cluster_options)
def cv(
    read_table: ReadTable,
    search: SearchFor,
    cluster: Cluster,
    score: Scores = DEFAULT_SCORES,
    target: Annotated[str | None, option("--target", "NODE", "Also predict this column from all others.")] = None,
    folds: Annotated[int, option("--folds", "K", "Parts; each is held out once.")] = 10,
    alpha: Annotated[
        float | None, option("--alpha", "ALPHA", "Imaginary sample size of the parameters; the learned one, or 1.")
    ] = None,
    em: Em = False,
    learn_once: Annotated[
        bool, typer.Option("--learn-once", help='Learn "auto" values once, from the whole table, not in each fold.')
    ] = False,
    json: Json = False,
) -> None:
    """Compare objectives by how well they predict held-out rows.

    By the log-likelihood of the rows and, with --target, by predictions of one column from the others.
    """
    if em:
        read_table = read_table.with_gaps()
    table = read_table()
    with bar(quiet=json, lines=False) as shown:
        options = {"target": target, "folds": folds, "alpha": alpha, "em": em, "cluster": cluster, **search(table)}
        options["relearn"] = not learn_once
        options["progress"] = shown.counter("folds")
        if read_table.options["discretize"] is None:
            found = md.cross_validate(table, score, **options)
        else:  # the table itself, so that each fold is cut for itself
            found = md.cross_validate(read_table.source, score, **read_table.reading(), **options)
    judged = [] if target is None else found.metrics
    if not json:
        typer.echo(str(found))
        if judged:
            best = min(range(len(judged)), key=lambda i: judged[i].log_loss)
            typer.echo(f"\n{target} under {found.objectives[best]}:\n{judged[best]}")
        return
    means, errors = found.differences(int(found.per_row.argmax()))
    rows = [
        {
            "objective": str(objective),
            "log_likelihood_per_row": float(found.per_row[i]),
            "difference_to_best": float(means[i]),
            "standard_error": float(errors[i]),
            "by_fold": found.log_likelihood[i].tolist(),
            "arcs": found.n_arcs[i].tolist(),
            **({} if target is None else {"target": _as_judged(judged[i], found.predictions[i])}),
        }
        for i, objective in enumerate(found.objectives)
    ]
    print_json({"best": str(found.best), "rows_by_fold": found.rows.tolist(), "results": rows})


@takes(read_table=table_options, search=search_options)
def alpha(
    read_table: ReadTable,
    search: SearchFor,
    first: Annotated[float, option("--first", "ALPHA", "First alpha.")] = 1.0,
    rounds: Annotated[int, option("--rounds", "K", "Most graphs to learn.")] = 25,
    json: Json = False,
) -> None:
    """Find Steck's optimal imaginary sample size for BDeu.

    Learn, estimate alpha, learn again, until it settles.
    """
    from mapdag.search import Plan
    from mapdag.theory import find_alpha_star

    table = read_table()
    plan = Plan.make(**search(table), catch_interrupt=False)
    with bar(quiet=json, lines=False) as shown:

        def once(value: float) -> DAG:
            shown.show(f"alpha = {value:g}")
            return plan.run(table, [md.BDeu(value)])[0].dag

        path = find_alpha_star(table, once, start=first, max_rounds=rounds)
    if json:
        print_json(
            {
                "alpha": path.alpha,
                "converged": path.converged,
                "cycle": path.cycle,
                "trajectory": path.trajectory,
                "arcs": path.dag.arcs,
            }
        )
    else:
        typer.echo(" -> ".join(f"{value:.6g}" for value in path.trajectory))
        typer.echo(f"optimal alpha: {path.alpha:.10g}" + ("" if path.converged else " (did not settle)"))


def _write(result: Result, out: str) -> None:
    """Write the fitted network where the file's format holds one, otherwise the graph, or its picture."""
    from mapdag.io import NETWORK_SUFFIXES

    if out.lower().endswith(NETWORK_SUFFIXES):
        md.write_network(result.fit(), out)
    else:
        write_drawable(result, out)


def _as_judged(pooled: Metrics, folds: Sequence[Metrics]) -> dict[str, Any]:
    return {**metrics_json(pooled), "by_fold": [fold.summary() for fold in folds]}


def _as_json(result: Result, strengths: Bootstrap | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "objective": str(result.objective),
        "score": result.score,
        "log_prior": result.log_prior,
        "log_likelihood": result.log_likelihood,
        "nodes": result.dag.nodes,
        "arcs": result.dag.arcs,
        "compelled": result.compelled,
        "reversible": result.reversible,
        "cpdag": {"arcs": result.cpdag.arcs, "edges": result.cpdag.edges},
        "moves": len(result.trace),
        "families": result.families,
        "seconds": result.seconds,
        "converged": result.converged,
        "stopped": result.stopped,
        "left_out": result.left_out,
        "thin": [{**asdict(family), "saturated": family.is_saturated} for family in result.thin],
    }
    if result.learned is not None:
        learned = result.learned
        found["learned"] = {"asked": str(learned.asked), "joint_score": learned.score, "profile": learned.profile}
    if result.certificate is not None:
        found["certificate"] = _certificate_json(result.certificate)
    if strengths is not None:
        found["strengths"] = [arc._asdict() for arc in strengths.arcs()]
    return found


def _certificate_json(certificate: Certificate) -> dict[str, Any]:
    known: dict[str, Any] = {
        "bound": certificate.bound if math.isfinite(certificate.bound) else None,
        "gap": certificate.gap if math.isfinite(certificate.gap) else None,
        "proved": certificate.proved,
        "among": certificate.among,
        "complete": certificate.complete,
        "scored": certificate.scored,
        "families": certificate.families,
        "cuts": certificate.cuts,
        "nodes": certificate.nodes,
    }
    if certificate.within is not None:
        known |= {"within": certificate.within, "arcs": certificate.arcs, "edges": certificate.edges}
    if certificate.ranked:
        known["ranked"] = [{"score": score, "arcs": dag.arcs} for dag, score in certificate.ranked]
    return known


def _describe(result: Result, strengths: Bootstrap | None) -> str:
    reversible = set(result.reversible)
    arcs = [f"  {a} {'--' if (a, b) in reversible else '->'} {b}" for a, b in result.dag.arcs]
    if strengths is not None:
        known = strengths.strength
        index = {name: i for i, name in enumerate(strengths.nodes)}
        found = [f"{known[index[a], index[b]]:.3f}" for a, b in result.dag.arcs]
        arcs = ["  ".join(row) for row in aligned(list(zip(arcs, found, strict=True)))]
        arcs.append(f"strengths from {plural(strengths.replicates, 'resample')}, threshold {strengths.threshold:.3f}")
    return "\n".join([str(result), *arcs])


COMMANDS = (learn, bootstrap, cv, alpha)
