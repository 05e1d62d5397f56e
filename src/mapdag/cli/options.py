"""Options that several commands share, and how their values, files among them, become objects."""

from __future__ import annotations

import csv
import functools
import inspect
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

import mapdag as md
from mapdag.cli.outputs import GRAPH_FILES, NETWORK_FILES, PICTURE_FILES
from mapdag.disk import check_no_device
from mapdag.errors import DEFAULT_SCORE, FormatError, MapdagError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag import DAG, BayesianNetwork, Dataset
    from mapdag.data import ReadingOptions


def option(name: str, metavar: str, explanation: str) -> Any:
    """Declare an option that takes a value."""
    return typer.Option(name, metavar=metavar, help=explanation)


Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A table: CSV, TSV, Parquet or Arrow; a folder, or a pattern in quotes, of such files."
    ),
]
Network: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="NETWORK",
        help="A bundled network's name, or a file: BIF, XMLBIF, NET, XDSL, UAI, JSON, arcs (CSV: from,to), DOT, .txt.",
    ),
]
Scores: TypeAlias = Annotated[
    list[str],
    option("--score", "EXPR", "Objective; repeat it to use one pass over the data for all."),
]
DEFAULT_SCORES = [DEFAULT_SCORE]
Levels: TypeAlias = Annotated[str | None, option("--levels", "FILE", "Declared levels: JSON, name -> list of levels.")]
Weights: TypeAlias = Annotated[str | None, option("--weights", "COLUMN", "Column that counts or weighs the rows.")]
Weighting: TypeAlias = Annotated[
    str | None,
    option(
        "--weighting",
        "KIND",
        "What the weights are: counts (of observations) or survey (scaled); distinct counts rows that repeat once.",
    ),
]
Groups: TypeAlias = Annotated[
    str | None,
    option("--groups", "COLUMN", "Column that tells which rows belong together: each group is one observation."),
]
WasSet: TypeAlias = Annotated[
    str | None, option("--interventions", "COLUMN", "Column that names the variables set in each row, empty for none.")
]
Drop: TypeAlias = Annotated[list[str], option("--drop", "COLUMN", "Leave a column out; repeatable.")]
MissingValue: TypeAlias = Annotated[
    list[str],
    option(
        "--missing-value",
        "[COLUMN=]TEXT",
        "A text that means missing, in all columns or in one; repeatable. *=TEXT for a text with = in it.",
    ),
]
MaxLevels: TypeAlias = Annotated[
    int | None, option("--max-levels", "K", "So many levels are meant; more (by default 256) are a mistake.")
]
Lump: TypeAlias = Annotated[
    list[str],
    option(
        "--lump",
        "[COLUMN=]SHARE",
        "Levels that a smaller share of the rows has become the level other, in all columns or in one; repeatable.",
    ),
]
_ARCS = "'A->B', or a file (CSV: from,to); repeatable."
Require: TypeAlias = Annotated[list[str], option("--require", "ARC|FILE", f"Arcs that must be there: {_ARCS}")]
Forbid: TypeAlias = Annotated[list[str], option("--forbid", "ARC|FILE", f"Arcs that must not be there: {_ARCS}")]
Tiers: TypeAlias = Annotated[str | None, option("--tiers", "FILE", "Temporal order: one tier per line, or JSON.")]
MaxParents: TypeAlias = Annotated[int | None, option("--max-parents", "K", "Most parents of a node.")]
Separator: TypeAlias = Annotated[str | None, option("--separator", "C", "Between the fields of a text.")]
Encoding: TypeAlias = Annotated[str | None, option("--encoding", "NAME", "Encoding of a text file.")]
Scan: TypeAlias = Annotated[
    bool,
    typer.Option("--scan", help="Pack the table into files and count it from there: for tables larger than memory."),
]
RowsOut: TypeAlias = Annotated[
    str | None, option("--out", "FILE", "Where to write the rows: .csv, .tsv, .parquet or .arrow; else printed.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one machine-readable object.")]
Out: TypeAlias = Annotated[
    str | None,
    option(
        "--out",
        "FILE",
        f"Write the result here: the fitted network as {', '.join(NETWORK_FILES)}, the graph as "
        f"{', '.join(name for name in GRAPH_FILES if name not in NETWORK_FILES)}, a picture as "
        f"{', '.join(PICTURE_FILES)}.",
    ),
]
OutGraph: TypeAlias = Annotated[
    str | None,
    option(
        "--out",
        "FILE",
        f"Write the averaged network here: as {', '.join(GRAPH_FILES)}, a picture as {', '.join(PICTURE_FILES)}.",
    ),
]
Report: TypeAlias = Annotated[str | None, option("--report", "FILE", "Write a page to look at in a browser: .html.")]
Scheduler: TypeAlias = Annotated[
    str | None, option("--scheduler", "ADDRESS", "Of a cluster of Dask, whose workers do the work.")
]
Seed: TypeAlias = Annotated[int, option("--seed", "S", "Seed of whatever is random.")]


@dataclass(frozen=True)
class ReadTable:
    """Reads the table of a command.

    Attributes
    ----------
    source : str or bytes
        The table, or what a pipe gave.
    like : str, optional
        The network that declares levels.
    options : mapping
        The other options of `mapdag.read`.
    scanned : bool
        Whether to leave its rows in files.
    """

    source: str | bytes
    like: str | None
    options: ReadingOptions
    scanned: bool = False

    @property
    def name(self) -> str | None:
        """What the table is called, if it is a file."""
        return Path(self.source).name if isinstance(self.source, str) else None

    def reading(self, network: BayesianNetwork | None = None) -> ReadingOptions:
        """Options of `mapdag.read`; the levels of a network that is given unless others are declared."""
        declared = network if self.options.get("levels") is None else None
        return {**self.options, "like": declared if self.like is None else load_network(self.like)}

    def with_gaps(self) -> ReadTable:
        """Keep missing values unless something else is to be done about them, for whoever learns from gaps."""
        from mapdag.data.options import kept

        given = self.options.get("missing", "error")
        return replace(self, options={**self.options, "missing": "keep" if given == "error" else kept(given)})

    def __call__(self, network: BayesianNetwork | None = None) -> Dataset:
        """Read the table, or scan it: several files are scanned in any case."""
        from mapdag.data import as_dataset

        return (md.scan if self.scanned else as_dataset)(self.source, **self.reading(network))


#: Whether to learn from rows with gaps by structural EM.
Em: TypeAlias = Annotated[bool, typer.Option("--em", help="Structural EM: keeps gaps, for any score.")]


#: Gives the options of `mapdag.learn` for a table.
SearchFor: TypeAlias = Callable[["Dataset"], dict[str, Any]]
Limits: TypeAlias = dict[str, Any]


#: Where independent tasks are done: the address of a scheduler, a number of processes, or here.
Cluster: TypeAlias = str | int | None


def table_options(  # noqa: PLR0917 - typer calls it by keyword
    data: Data,
    levels: Levels = None,
    like: Annotated[str | None, option("--like", "NETWORK", "Take the declared levels from a network.")] = None,
    codes: Annotated[
        bool | None,
        typer.Option("--codes/--labels", help="The table holds positions (from 0) in the declared levels, or labels."),
    ] = None,
    missing: Annotated[
        list[str],
        option(
            "--missing",
            "[COLUMN=]HOW",
            "Missing values: error, drop (rows), level (one more), keep; of all columns or of one. Repeatable.",
        ),
    ] = [],  # noqa: B006
    missing_value: MissingValue = [],  # noqa: B006 - typer copies it
    drop: Drop = [],  # noqa: B006
    discretize: Annotated[
        list[str],
        option(
            "--discretize",
            "[COLUMN=]METHOD",
            "quantile, interval or hartemink, quantile(4) for 4 bins, for all continuous columns, and for single ones; "
            "or cut points for one: age=40,60; or age=none, not to cut it. Repeatable.",
        ),
    ] = [],  # noqa: B006
    weights: Weights = None,
    weighting: Weighting = None,
    groups: Groups = None,
    interventions: WasSet = None,
    max_levels: MaxLevels = None,
    lump: Lump = [],  # noqa: B006
    separator: Separator = None,
    encoding: Encoding = None,
    scan: Scan = False,
) -> ReadTable:
    """Make the function that reads the table a command works on."""
    if levels is not None and like is not None:
        raise MapdagError("--levels and --like both declare levels: give one of them")
    from mapdag.data.options import missing_from, policy_from, shares_from, ways_from

    options: ReadingOptions = {
        "levels": levels,
        "codes": codes,
        "missing": policy_from(missing),
        "missing_values": missing_from(missing_value),
        "drop": drop,
        "discretize": ways_from(discretize),
        "weights": weights,
        "weighting": weighting,  # type: ignore[typeddict-item]  # checked there
        "groups": groups,
        "interventions": interventions,
        "max_levels": max_levels,
        "lump": shares_from(lump),
        "separator": separator,
        "encoding": encoding,
    }
    from mapdag.data.content import is_pipe

    return ReadTable(Path(data).read_bytes() if is_pipe(data) else data, like, options, scan)


def limit_options(
    require: Require = [],  # noqa: B006 - typer copies it
    forbid: Forbid = [],  # noqa: B006
    tiers: Tiers = None,
    max_parents: MaxParents = None,
) -> Limits:
    """Return what graphs must obey, as `mapdag.learn` and `mapdag.score` take it."""
    return {
        "required": [arc for given in require for arc in load_arcs(given)],
        "forbidden": [arc for given in forbid for arc in load_arcs(given)],
        "tiers": load_tiers(tiers),
        "max_parents": max_parents,
    }


def search_options(  # noqa: PLR0917 - same
    search: Annotated[
        str,
        option(
            "--search",
            "NAME",
            "orders (best graphs), hc (hill climbing, fastest), tabu, exact, or certified (a bound).",
        ),
    ] = "orders",
    order: Annotated[str, option("--order", "NAME", "How ties are broken: by the data, or by the columns.")] = "data",
    require: Require = [],  # noqa: B006
    forbid: Forbid = [],  # noqa: B006
    tiers: Tiers = None,
    start: Annotated[str | None, option("--start", "NETWORK", "Graph to start from.")] = None,
    max_parents: MaxParents = None,
    max_iter: Annotated[int | None, option("--max-iter", "K", "Most moves to make.")] = None,
    effort: Annotated[
        str | None,
        option("--effort", "X", "Search over orders: a multiple of its usual work, or full: no bound on it."),
    ] = None,
    restarts: Annotated[int, option("--restarts", "R", "Random restarts of hill climbing.")] = 0,
    within: Annotated[
        float | None,
        option("--within", "T", "Certified: tell the arcs of all graphs within T nats of the best one."),
    ] = None,
    ranks: Annotated[int | None, option("--ranks", "K", "Certified: tell the K best graphs.")] = None,
    time_limit: Annotated[
        float | None, option("--time-limit", "S", "Seconds, compilation left out; then the best graph so far.")
    ] = None,
    threads: Annotated[int | None, option("--threads", "T", "Threads; all cores unless given.")] = None,
    device: Annotated[
        str, option("--device", "NAME", "Where rows are counted: cpu, cuda (an NVIDIA GPU) or auto.")
    ] = "cpu",
    seed: Seed = 0,
) -> SearchFor:
    """Make the function that gives the options of `mapdag.learn` for a table."""

    def collect(table: Dataset) -> dict[str, Any]:
        found = {
            "search": search,
            "order": order,
            **limit_options(require, forbid, tiers, max_parents),
            "start": None if start is None else with_isolated(load_graph(start), start, table.names),
            "max_iter": max_iter,
            "time_limit": time_limit,
            "threads": threads,
            "device": device,
            "seed": seed,
        }
        special = {
            "effort": _effort(effort),
            "restarts": restarts or None,
            "within": within,
            "ranks": ranks,
        }  # which not every search takes
        return found | {name: value for name, value in special.items() if value is not None}

    return collect


def _effort(text: str | None) -> float | str | None:
    """Return a number, or what is none as it is: `mapdag.learn` knows the words."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def cluster_options(
    scheduler: Scheduler = None,
    workers: Annotated[
        int | None, option("--workers", "N", "Processes to start on this machine, for independent tasks.")
    ] = None,
) -> Cluster:
    """Say where independent tasks are done: a cluster as `mapdag.cluster.connect` takes it, or nowhere but here."""
    return one_cluster(scheduler, workers)


def one_cluster(scheduler: str | None, workers: int | None) -> Cluster:
    """Return the one of two ways to name a cluster that was given."""
    if scheduler is not None and workers is not None:
        raise MapdagError("--scheduler and --workers both say who does the work: give one of them")
    if workers is not None and workers < 1:
        raise MapdagError(f"--workers must be a whole number of at least 1, got {workers}")
    return workers if scheduler is None else scheduler


@contextmanager
def read_on(cluster: Cluster, read_table: ReadTable) -> Iterator[Dataset]:
    """Give the table of a command: read here, or by the workers of a cluster, where its rows stay."""
    if cluster is None:
        yield read_table()
        return
    from mapdag.cluster import connect

    if isinstance(read_table.source, bytes):
        raise MapdagError("the workers of a cluster read files, not what comes through a pipe: give its path")
    options: Any = read_table.reading()
    with connect(cluster) as client, client.as_current():
        yield md.scan(read_table.source, engine=client, **options)


def takes(**groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Splice groups of options into a command: it gets what the group's function makes of them.

    ``@takes(table=table_options)`` replaces the command's parameter ``table`` by the parameters of `table_options`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
            if name in groups:
                parameters.extend(inspect.signature(groups[name], eval_str=True).parameters.values())
            else:
                parameters.append(parameter)

        @functools.wraps(command)
        def run(**given: Any) -> None:
            for name, make in groups.items():
                given[name] = make(**{key: given.pop(key) for key in inspect.signature(make).parameters})
            command(**given)

        # Parameters without a default come first: Python demands it, and typer shows them so anyway.
        parameters.sort(key=lambda parameter: parameter.default is not parameter.empty)
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        del run.__wrapped__  # typer would look at its signature instead
        return run

    return decorate


# Values from files ---------------------------------------------------------------------------------------------------


def load_network(source: str) -> BayesianNetwork:
    """Take a bundled network by its name, or read a file that has parameters."""
    return md.network(source) if _is_name(source) else md.read_network(source)


def load_graph(source: str) -> DAG:
    """Take a bundled network's graph by its name, or read any file that holds a graph."""
    return md.network(source).dag if _is_name(source) else md.read_graph(source)


def with_isolated(dag: DAG, source: str, nodes: Sequence[str]) -> DAG:
    """Add the nodes that an arc list leaves out because no arc touches them."""
    if not source.lower().removesuffix(".gz").endswith(".csv") or not set(dag.nodes) < set(nodes):
        return dag
    return md.DAG(nodes, dag.arcs)


def read_with_graph(source: str, read_table: ReadTable) -> tuple[DAG, Dataset]:
    """Read a graph and a table, with the levels of the network that the graph belongs to where it has parameters."""
    dag, network = load_graph(source), None
    with suppress(MapdagError):
        network = load_network(source)
    table = read_table(network)
    return with_isolated(dag, source, table.names), table


def _is_name(source: str) -> bool:
    """Tell a name from a path: what is no file and has no suffix or folder is a name, known or not."""
    path = Path(source)
    try:
        return not path.exists() and path.name == source and not path.suffix
    except OSError:  # a name that no file can have
        return False


def load_arcs(given: str) -> list[tuple[str, str]]:
    """Take arcs as they are written, such as "A->B" or "A->B->C", or read a file of them."""
    names = [name.strip() for name in given.split("->")]
    if len(names) < 2 and _is_name(given):
        raise MapdagError(f"{given!r:.80} is neither an arc, written 'A->B', nor a file of arcs")
    if len(names) < 2 or Path(given).exists():
        return md.read_arcs(given)
    if not all(names):
        raise MapdagError(f"an arc is written 'A->B', got {given!r:.80}")
    return list(itertools.pairwise(names))


def load_tiers(path: str | None) -> list[list[str]]:
    """Read tiers: a JSON list of lists, or one tier per line with names separated by commas."""
    if path is None:
        return []
    if _is_name(path):
        raise MapdagError(f"tiers are read from a file (one tier per line: A,B,C), and there is no file {path!r:.80}")
    text = _text(path)
    if text.lstrip().startswith("["):
        try:
            tiers = json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError(error.msg, path, error.lineno, error.colno) from error
        except (ValueError, RecursionError):  # numbers of thousands of digits, brackets within brackets
            raise FormatError("tiers are a list of lists of names", path) from None
        if not all(isinstance(tier, list) and all(isinstance(name, str) for name in tier) for tier in tiers):
            raise FormatError("tiers are a list of lists of names", path)
        return [list(tier) for tier in tiers]
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        return [[name.strip() for name in row if name.strip()] for row in reader if row]
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", path, reader.line_num) from None


def _text(path: str) -> str:
    check_no_device(path)
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("not a text file in UTF-8", path) from error
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise FormatError(getattr(error, "strerror", None) or "cannot be read", path) from error
