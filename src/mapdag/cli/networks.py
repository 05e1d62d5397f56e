"""Commands about given networks: ``score``, ``fit``, ``sample``, ``compare``, ``query``, ``networks``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mapdag.cli.display import columns
from mapdag.cli.options import DEFAULT_SCORE, Json, Network, Scores, Seed, print_json, table_options, takes
from mapdag.errors import MapdagError
from mapdag.graphs import compare as compare_graphs
from mapdag.io import read_graph, read_network, write_network
from mapdag.networks import fit as fit_network
from mapdag.objective import parse
from mapdag.objective import score as score_graph
from mapdag.reference import catalogue

if TYPE_CHECKING:
    from mapdag.data import Dataset


@takes(table=table_options)
def score(
    network: Network,
    table: Any,
    score: Scores = DEFAULT_SCORE,
    by_node: Annotated[bool, typer.Option("--by-node", help="Show each node's family too.")] = False,
    json: Json = False,
) -> None:
    """Score a given graph: log prior + log likelihood."""
    dag = read_graph(network)
    found = [(parse(each), score_graph(dag, table, each)) for each in score]
    if json:
        results = [
            {
                "objective": str(objective),
                "score": float(value),
                "log_prior": value.log_prior,
                "log_likelihood": value.log_likelihood,
                "by_node": dict(value.by_node),
            }
            for objective, value in found
        ]
        print_json(results[0] if len(results) == 1 else {"results": results})
        return
    for objective, value in found:
        typer.echo(f"{objective}: {value:.6f} = {value.log_prior:.6f} (prior) + {value.log_likelihood:.6f}")
        if by_node:
            rows = [[name, f"{part:.6f}", ", ".join(dag.parents(name))] for name, part in value.by_node.items()]
            typer.echo(columns([["node", "log likelihood", "parents"], *rows], right=(1,)))


@takes(table=table_options)
def fit(
    network: Network,
    table: Any,
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="Where to write the network: .bif or .json.")],
    alpha: Annotated[float, typer.Option("--alpha", help="Imaginary sample size.")] = 1.0,
    method: Annotated[str, typer.Option("--method", help="bayes, bds or mle.")] = "bayes",
    json: Json = False,
) -> None:
    """Estimate the parameters of a graph from data, and write the network."""
    fitted = fit_network(read_graph(network), table, alpha=alpha, method=method)
    write_network(fitted, out)
    value = fitted.log_likelihood(table)
    if json:
        print_json({"out": out, "parameters": fitted.n_parameters, "log_likelihood": value})
    else:
        typer.echo(f"{fitted.n_parameters} parameters, log-likelihood {value:.4f}, written to {out}")


def sample(
    network: Network,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Where to write the rows: .csv, .parquet or .arrow.")
    ],
    n: Annotated[int, typer.Option("-n", "--rows", metavar="N", help="How many rows.")] = 1000,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Draw rows from a network."""
    data = read_network(network).sample(n, seed=seed)
    _write_table(data, out)
    if json:
        print_json({"out": out, "rows": data.n_rows, "columns": data.n_columns})
    else:
        typer.echo(f"{data.n_rows} rows of {data.n_columns} columns written to {out}")


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="The target: a network or graph.")],
    b: Annotated[str, typer.Argument(metavar="B", help="What is compared with it.")],
    json: Json = False,
) -> None:
    """Compare two graphs: structural Hamming distance, arcs found, missed and made up."""
    found = compare_graphs(read_graph(a), read_graph(b))
    if not json:
        typer.echo(str(found))
        return
    names = ["shd", "hamming", "precision", "recall", "f1", "skeleton_precision", "skeleton_recall", "skeleton_f1"]
    counts = ["true_positives", "false_positives", "false_negatives", "reversed"]
    print_json({name: getattr(found, name) for name in (*names, *counts)})


def query(
    network: Network,
    nodes: Annotated[list[str], typer.Argument(metavar="NODE...", help="Nodes to ask about.")],
    given: Annotated[list[str], typer.Option("--given", metavar="NODE=LEVEL", help="Evidence; repeatable.")] = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Compute the exact joint probabilities of a few nodes, given evidence."""
    evidence = {}
    for item in given:
        name, equals, level = item.partition("=")
        if not equals:
            raise MapdagError(f"--given takes NODE=LEVEL, got {item!r}")
        evidence[name] = level
    found = read_network(network).query(nodes, evidence)
    if json:
        print_json({"nodes": found.nodes, "levels": dict(found.levels), "probabilities": found.probabilities.tolist()})
    else:
        typer.echo(str(found))


def networks(json: Json = False) -> None:
    """List the bundled networks."""
    entries = catalogue()
    if json:
        fields = ["name", "nodes", "arcs", "parameters", "source", "citation", "note"]
        print_json({"networks": [{field: getattr(entry, field) for field in fields} for entry in entries]})
        return
    rows = [[e.name, str(e.nodes), str(e.arcs), str(e.parameters), e.citation] for e in entries]
    typer.echo(columns([["name", "nodes", "arcs", "parameters", "citation"], *rows], right=(1, 2, 3)))
    for entry in entries:
        if entry.note:
            typer.echo(f"{entry.name}: {entry.note}")


def _write_table(data: Dataset, out: str) -> None:
    frame = data.to_polars()
    if out.lower().endswith(".parquet"):
        frame.write_parquet(out)
    elif out.lower().endswith((".arrow", ".feather", ".ipc")):
        frame.write_ipc(out)
    elif out.lower().endswith((".csv", ".tsv", ".txt")):
        frame.write_csv(out, separator="," if out.lower().endswith(".csv") else "\t")
    else:
        raise MapdagError(f"--out must end in .csv, .tsv, .parquet or .arrow, got {out!r}")


COMMANDS = (score, fit, sample, compare, query, networks)
