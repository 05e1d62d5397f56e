"""Commands about given networks: ``score``, ``fit``, ``sample``, ``compare``, ``query``, ``networks``."""

from __future__ import annotations

import re
from typing import Annotated

import typer

import mapdag as md
from mapdag.cli.options import (
    DEFAULT_SCORES,
    Json,
    Limits,
    Network,
    ReadTable,
    Report,
    Scores,
    Seed,
    limit_options,
    load_graph,
    load_network,
    option,
    read_with_graph,
    table_options,
    takes,
    with_isolated,
)
from mapdag.cli.outputs import check_out, check_page, command_line, print_json
from mapdag.errors import MapdagError
from mapdag.wording import columns, plural


@takes(read_table=table_options, limits=limit_options)
def score(
    network: Network,
    read_table: ReadTable,
    limits: Limits,
    score: Scores = DEFAULT_SCORES,
    by_node: Annotated[bool, typer.Option("--by-node", help="Show each node's family too.")] = False,
    json: Json = False,
) -> None:
    """Score a given graph: log prior + log likelihood.

    Give the constraints that it was learned under: required arcs win against Support.
    """
    dag, table = read_with_graph(network, read_table)
    found = md.score(dag, table, [md.parse(each) for each in score], **limits)
    if json:
        results = [
            {
                "objective": str(value.objective),
                "score": float(value),
                "log_prior": value.log_prior,
                "log_likelihood": value.log_likelihood,
                "by_node": dict(value.by_node),
            }
            for value in found
        ]
        print_json(results[0] if len(results) == 1 else {"results": results})
        return
    for value in found:
        typer.echo(f"{value.objective}: {value:.6f} = {value.log_prior:.6f} (prior) + {value.log_likelihood:.6f}")
        if by_node:
            rows = [[name, f"{part:.6f}", ", ".join(dag.parents(name))] for name, part in value.by_node.items()]
            typer.echo(columns([["node", "log likelihood", "parents"], *rows], right=(1,)))


@takes(read_table=table_options)
def fit(
    network: Network,
    read_table: ReadTable,
    out: Annotated[
        str, option("--out", "FILE", "Where to write the network: .bif, .json, .xmlbif, .net, .xdsl or .uai.")
    ],
    alpha: Annotated[float, option("--alpha", "ALPHA", "Imaginary sample size.")] = 1.0,
    method: Annotated[str, option("--method", "NAME", "bayes, bds or mle.")] = "bayes",
    json: Json = False,
) -> None:
    """Estimate the probabilities of a graph from data."""
    check_out(out, "network")
    dag, table = read_with_graph(network, read_table)
    fitted = md.fit(dag, table, alpha=alpha, method=method)  # type: ignore[arg-type]  # checked there
    md.write_network(fitted, out)
    value = fitted.log_likelihood(table)
    if json:
        print_json({"out": out, "parameters": fitted.n_parameters, "log_likelihood": value})
    else:
        typer.echo(f"{plural(fitted.n_parameters, 'parameter')}, log-likelihood {value:.4f}, written to {out}")


def sample(
    network: Network,
    out: Annotated[str, option("--out", "FILE", "Where to write the rows: .csv, .parquet or .arrow.")],
    n: Annotated[int, typer.Option("-n", "--rows", metavar="N", help="How many rows.")] = 1000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Draw rows from a network."""
    check_out(out, "table")
    data = load_network(network).sample(n, seed=seed)
    md.write_table(data, out)
    if json:
        print_json({"out": out, "rows": data.n_rows, "columns": data.n_columns})
    else:
        typer.echo(f"{plural(data.n_rows, 'row')} of {plural(data.n_columns, 'column')} written to {out}")


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="The target: a network or graph.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What is compared with it.")],
    report: Report = None,
    json: Json = False,
) -> None:
    """Compare two graphs, arc by arc.

    Pairs that only A joins are missing, those that only B joins are extra. SHD is the structural Hamming distance.
    """
    check_page(report, drawn=True)
    first, second = load_graph(a), load_graph(b)
    first, second = with_isolated(first, a, second.nodes), with_isolated(second, b, first.nodes)
    found = md.compare(first, second)
    if report is not None:
        md.report.write_comparison(first, second, report, names=(a, b), command=command_line())
    if not json:
        typer.echo(str(found) + (f"\nwritten to {report}" if report is not None else ""))
        return
    names = ["shd", "hamming", "precision", "recall", "f1", "skeleton_precision", "skeleton_recall", "skeleton_f1"]
    counts = ["missing", "extra", "reversed", "true_positives", "false_positives", "false_negatives"]
    print_json({name: getattr(found, name) for name in (*names, *counts)})


def query(
    network: Network,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE...", help="Nodes to ask about.")],
    given: Annotated[list[str], option("--given", "NODE=LEVEL", "Evidence; repeatable.")] = [],  # noqa: B006
    do: Annotated[list[str], option("--do", "NODE=LEVEL", "What is done to a node, not seen; repeatable.")] = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Compute exact probabilities of a few nodes, given evidence, or after an intervention."""
    found = load_network(network).query(nodes, _levels("--given", given), do=_levels("--do", do))
    if json:
        print_json({"nodes": found.nodes, "levels": dict(found.levels), "probabilities": found.values.tolist()})
    else:
        typer.echo(str(found))


def _levels(flag: str, items: list[str]) -> dict[str, str]:
    """Return levels by node."""
    found: dict[str, str] = {}
    for item in items:
        name, equals, level = item.partition("=")
        if not equals:
            raise MapdagError(f"{flag} takes NODE=LEVEL, got {item!r}")
        if name in found:
            raise MapdagError(f"{flag} says {name} twice")
        found[name] = level
    return found


def networks(json: Json = False) -> None:
    """List the bundled networks."""
    entries = md.catalogue()
    if json:
        fields = ["name", "nodes", "arcs", "parameters", "source", "citation", "note"]
        print_json({"networks": [{field: getattr(entry, field) for field in fields} for entry in entries]})
        return
    rows = [[e.name, str(e.nodes), str(e.arcs), str(e.parameters), _short(e.citation)] for e in entries]
    typer.echo(
        columns(
            [["name", "nodes", "arcs", "parameters", "from (--json has the full reference)"], *rows], right=(1, 2, 3)
        )
    )
    for entry in entries:
        if entry.note:
            typer.echo(f"{entry.name}: {entry.note}")


def _short(citation: str) -> str:
    """First author and year of a reference."""
    authors, _, rest = citation.partition(" (")
    names = re.findall(r"([^,]+), (?:[A-Z]\.[ -]?)+,?", authors)
    if not rest[:4].isdigit() or not names:
        return citation
    who = names[0].strip() if len(names) == 1 else f"{names[0].strip()} and {names[1].strip()}"
    return f"{who if len(names) < 3 else names[0].strip() + ' et al.'} ({rest[:4]})"


COMMANDS = (score, fit, sample, compare, query, networks)
