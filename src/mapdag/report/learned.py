"""The report of a learned graph: ``mapdag learn --report`` and `Result.report`."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mapdag.data.groups import rows_of
from mapdag.errors import ParameterError
from mapdag.objective import thin_sentence
from mapdag.plots.graphs import draw
from mapdag.report.charts import line_chart
from mapdag.report.experiments import experiments_section
from mapdag.report.facts import ArcFacts, arcs, families
from mapdag.report.families import family_tables, is_whole
from mapdag.report.html import Content, Html, join, tag
from mapdag.report.nodes import data_section, node_facts
from mapdag.report.page import Section, page, write_page
from mapdag.report.parts import (
    Heading,
    Row,
    Sortable,
    bar,
    figure_text,
    figures,
    how_it_was_made,
    number,
    picture,
    table,
    warning,
)
from mapdag.report.viewer import WINDOW, View, viewer
from mapdag.report.whatif import make_plan, what_if
from mapdag.search import EMResult
from mapdag.wording import named, plural

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.networks import BayesianNetwork
    from mapdag.resamples import Bootstrap
    from mapdag.sampling import Posterior
    from mapdag.search import Certificate, Result


def write_result(
    result: Result,
    path: str | os.PathLike[str],
    *,
    bootstrap: Bootstrap | None = None,
    posterior: Posterior | None = None,
    network: BayesianNetwork | None = None,
    name: str | None = None,
    command: str | None = None,
    title: str | None = None,
) -> None:
    """Write the report of a learned graph: one HTML file that needs nothing else.

    Parameters
    ----------
    result : Result
    path : path
        Ends in .html.
    bootstrap : Bootstrap, optional
        Strengths of arcs, as `mapdag.bootstrap` finds them from the same data: arcs are drawn as thick as they are
        strong.
    posterior : Posterior, optional
        Probabilities of arcs, as `mapdag.posterior` finds them from the same data. Without a bootstrap, arcs are drawn
        as thick as their nodes are probably adjacent.
    network : BayesianNetwork, optional
        The learned graph with probabilities other than those that `Result.fit` estimates, which are shown otherwise.
    name : str, optional
        What the data are called, for the title.
    command : str, optional
        The command that made the report, to be shown in it.
    title : str, optional
        Instead of name, nodes and arcs.

    Examples
    --------
    >>> import mapdag as md
    >>> result = md.learn(md.network("asia").sample(500, seed=1))
    >>> write_result(result, getfixture("tmp_path") / "report.html")
    """
    given: dict[str, Any] = {"bootstrap": bootstrap, "posterior": posterior, "network": network}
    write_page(path, result_page(result, **given, name=name, command=command, title=title))


def result_page(
    result: Result,
    *,
    bootstrap: Bootstrap | None = None,
    posterior: Posterior | None = None,
    network: BayesianNetwork | None = None,
    name: str | None = None,
    command: str | None = None,
    title: str | None = None,
) -> str:
    """Return the page that `write_result` writes."""
    if posterior is not None and set(posterior.nodes) != set(result.dag.nodes):
        raise ParameterError("posterior must be of the same data: its nodes are not those of the graph")
    estimated = (_ESTIMATED if network is None else _GIVEN).format(alpha=result.fit_alpha)
    if network is None and result.data.has_gaps:
        network, estimated = result.fit(), _BY_EM.format(alpha=result.fit_alpha)
    if network is not None:
        network = _matching(network, result)
    known, joined = families(result), arcs(result, bootstrap, posterior)
    tables = family_tables(known, network, alpha=result.fit_alpha)
    plan = make_plan(result, known, network, whole=is_whole(tables))
    moves = [replace(move, delta=round(move.delta, 4), score=round(move.score, 4)) for move in result.trace]
    sections = [
        Section("graph", "The graph", _graph(result, bootstrap, posterior), "Graph"),
        Section("whatif", "What if", what_if(plan), "What if"),
        Section("arcs", "Arcs", _arcs(result, joined, bootstrap, posterior), "Arcs"),
        *([] if _is_given(result) else [Section("trace", "How the score rose", _trace(result), "Score trace")]),
        *_profile(result),
        Section("data", "Data and families", data_section(result.data, known), "Data"),
        *gaps_section(result),
        *experiments_section(result),
        how_it_was_made(command, [*_details(result, bootstrap, posterior), ("probabilities", estimated)]),
    ]
    size = f"{plural(len(result.dag.nodes), 'node')}, {plural(result.dag.n_arcs, 'arc')}"
    return page(
        title or (f"{name}: {size}" if name else size),
        sections,
        subtitle=[
            "given, judged by " if _is_given(result) else "learned with ",
            tag("code", str(result.objective)),
            f" from {_rows(result.observed)}",
        ],
        lead=_figures(result),
        data={"nodes": node_facts(result.data, known, tables), "arcs": joined, "trace": moves, "plan": plan},
        scripts=("tables", "viewer", "whatif", "trace"),
    )


def _is_given(result: Result) -> bool:
    return result.stopped == "given"


def _matching(network: BayesianNetwork, result: Result) -> BayesianNetwork:
    """Return the network with its nodes, hence the axes of its tables, in the order of the result."""
    if set(network.dag.arcs) != set(result.dag.arcs) or set(network.nodes) != set(result.dag.nodes):
        raise ParameterError("network must have the graph of the result: its arcs or nodes differ")
    for node in network.nodes:
        if network.levels[node] != result.data.levels[node]:
            raise ParameterError(f"network must have the levels of the data: those of {node!r} differ")
    return network.reordered(result.dag.nodes)


def _rows(data: Dataset) -> str:
    if data.is_scaled:
        return rows_of(data)
    weighted = "" if data.weights is None else f" (total weight {figure_text(data.total)})"
    return f"{plural(data.n_rows, 'row')}{weighted}"


def _figures(result: Result) -> Html:
    ended = "converged" if result.converged else f"stopped early: {result.stopped.replace('_', ' ')}"
    told = f"{result.seconds:.2f} s, {ended}"
    shown = figures(
        [
            ("Score", figure_text(result.score), "log posterior, up to a constant"),
            ("Log prior", figure_text(result.log_prior), "of the graph"),
            ("Log likelihood", figure_text(result.log_likelihood), "of the data, marginal or penalised"),
            ("Compelled arcs", len(result.compelled), "same direction in every equivalent graph"),
            ("Reversible arcs", len(result.reversible), "direction not identified"),
            *([] if _is_given(result) else [("Search", plural(len(result.trace), "move"), told)]),
            *([] if result.certificate is None else [("Optimal", *_certified(result.certificate))]),
        ]
    )
    said = [warning(str(result.repeats))] if result.repeats else []
    said += [warning(thin_sentence(result.thin, result.objective))] if result.thin else []
    if result.left_out:
        said.append(warning(f"The search did its {result.left_out_sentence}."))
    if not result.converged and not _is_given(result):
        said.append(warning(f"The search {ended}. This is the best graph it had found by then."))
    return join([*said, shown])


def _certified(certificate: Certificate) -> tuple[str, str]:
    """Return a figure and what it says of the best possible graph."""
    return "proved" if certificate.proved else f"gap {figure_text(certificate.gap)}", str(certificate)


def _graph(result: Result, bootstrap: Bootstrap | None, posterior: Posterior | None) -> Html:
    if result.knowledge:
        second = View("class", "Class", "What the data and the constraints tell: edges without heads may go either way")
    else:
        second = View("class", "CPDAG", "The equivalence class: edges without heads may go either way")
    views = [View("dag", "DAG", "The graph that was found"), second]
    keys = [
        ("compelled", "compelled: the same in every equivalent graph"),
        ("reversible", "reversible: an equivalent graph has it the other way round"),
    ]
    if bootstrap is not None:
        keys.append(("compelled weak", "thin to thick: strength from 0 to 1"))
    elif posterior is not None:
        keys.append(("compelled weak", "thin to thick: posterior probability of an arc either way, from 0 to 1"))
    drawing = draw(result, bootstrap=bootstrap or posterior, window=WINDOW)
    return viewer(
        drawing,
        views=views,
        keys=keys,
        title=f"{'Given' if _is_given(result) else 'Learned'} graph with {plural(result.dag.n_arcs, 'arc')}",
    )


def _arcs(result: Result, joined: list[ArcFacts], bootstrap: Bootstrap | None, posterior: Posterior | None) -> Content:
    if not joined:
        return tag("p", "The graph has no arcs: nothing in the data speaks for one, under this objective.")
    columns = [
        Heading("from"),
        Heading("to"),
        Heading("direction", hint="compelled: the same in every equivalent graph"),
        Heading("score lost", "number", "How much the score falls when the arc is removed; its log Bayes factor"),
    ]
    if bootstrap is not None:
        columns += [
            Heading("strength", "number", "Share of resamples in which the two are adjacent"),
            Heading("this way", "number", "Share of those in which the arc goes this way"),
        ]
    if posterior is not None:
        columns += [
            Heading("probability", "number", "Posterior probability of the arc"),
            Heading("either way", "number", "Posterior probability that the two are adjacent"),
        ]
    order = sorted(range(len(joined)), key=lambda i: -joined[i].loss)
    listed = table(
        columns,
        [_arc_row(joined[i]) for i in order],
        key="arc-table",
        caption="Arcs",
        filter_=len(joined) > 10,
        row_data=order,
        sorted_by="score lost",
    )
    others: list[Content] = [None if bootstrap is None else _missed(result, bootstrap)]
    if posterior is not None:
        others += [tag("p", posterior.advice) if posterior.advice else None, _probable(result, posterior)]
    return [tag("p", _LOSS), listed, *others]


def _arc_row(arc: ArcFacts) -> Row:
    kind = "reversible" if arc.reversible else "compelled"
    chip = tag("span", kind, class_=f"chip {kind}")
    return [
        arc.start,
        arc.end,
        chip,
        number(arc.loss),
        *_shares(arc.strength, arc.direction, arc.probability, arc.edge),
    ]


def _shares(*shares: float | None) -> list[Sortable]:
    return [bar(share, f"{share:.2f}") for share in shares if share is not None]


def _missed(result: Result, bootstrap: Bootstrap) -> Content:
    """List what the resamples agree on and the graph does not have."""
    limit, dag = bootstrap.threshold, result.dag
    strong = [
        each
        for each in bootstrap.arcs(above=limit)
        if not dag.has_arc(each.start, each.end) and not dag.has_arc(each.end, each.start)
    ]
    head = f"Arcs above the threshold of {limit:.2f} that the graph does not have"
    if not strong:
        return tag("p", f"No pair of nodes above the threshold of {limit:.2f} is without an arc in the graph.")
    columns = [Heading("from"), Heading("to"), Heading("strength", "number"), Heading("this way", "number")]
    rows: list[Row] = [[each.start, each.end, *_shares(each.strength, each.direction)] for each in strong]
    return [tag("h3", head), table(columns, rows, key="missed-table", caption=head)]


def _probable(result: Result, posterior: Posterior) -> Content:
    """List the arcs that are probable and that the graph does not have in either direction."""
    dag = result.dag
    found = [
        arc
        for arc in posterior.arcs(_PROBABLE)
        if not dag.has_arc(arc.start, arc.end) and not dag.has_arc(arc.end, arc.start)
    ]
    head = (
        f"Arcs with a posterior probability of at least {_PROBABLE:g} between nodes that are not adjacent in the graph"
    )
    if not found:
        return tag("p", f"There are no {head[0].lower()}{head[1:]}.")
    columns = [Heading("from"), Heading("to"), Heading("probability", "number"), Heading("either way", "number")]
    rows: list[Row] = [
        [arc.start, arc.end, *_shares(arc.probability, posterior.edge(arc.start, arc.end))] for arc in found
    ]
    return [tag("h3", head), table(columns, rows, key="probable-table", caption=head)]


_PROBABLE = 0.1
_LOSS = (
    "Score lost is how much the log posterior falls when the arc is taken out and all else stays: the larger, the more "
    "the data insist on it. Click a row to see the arc in the graph."
)


def _trace(result: Result) -> Content:
    if not result.trace:
        return tag("p", "The search made no move: the graph it started from is a local optimum.")
    scores = [result.trace[0].score - result.trace[0].delta, *(move.score for move in result.trace)]
    told = f"Score after each of {plural(len(result.trace), 'move')}"
    chart = line_chart(scores, x_title="move", y_title="score", label=told)
    return picture(chart, [told, ". ", tag("span", id="move", aria_live="polite")])


def _profile(result: Result) -> list[Section]:
    """Show how the joint score of the graph depends on alpha, where alpha was learned."""
    learned = result.learned
    if learned is None or not learned.profile:
        return []
    best = max(score for _, score in learned.profile)
    near = [(alpha, score) for alpha, score in learned.profile if score > best - _PROFILE_DEPTH] or learned.profile
    told = (
        f"Joint score of this graph by alpha. The objective has {learned.values}, learned together with the graph; "
        "other graphs have other profiles."
    )
    chart = line_chart(
        [score for _, score in near],
        x=[alpha for alpha, _ in near],
        mark=learned.alpha,
        x_title="alpha",
        y_title="joint score",
        label="Joint score by alpha",
    )
    return [Section("alpha", "Which alpha", picture(chart, [told]), "Alpha")]


_PROFILE_DEPTH = 100.0  # nats below the maximum that are drawn
_ESTIMATED = "estimated from the data, with an imaginary sample size of {alpha:g}"
_BY_EM = "estimated by EM, with an imaginary sample size of {alpha:g}"
_GIVEN = "those of a network that was given"


def _details(result: Result, bootstrap: Bootstrap | None, posterior: Posterior | None) -> list[tuple[str, Content]]:
    data = result.data
    details: list[tuple[str, Content]] = [
        ("objective", tag("code", str(result.objective))),
        *([("learned", f"{result.learned.values}; asked for {result.learned.asked}")] if result.learned else []),
        ("data", f"{_rows(data)}, {plural(data.n_columns, 'column')}"),
    ]
    if not _is_given(result):
        counted = f"{plural(len(result.trace), 'move')}, {plural(result.families, 'family')} counted, {result.stopped}"
        details += [("search", counted), ("time", f"{result.seconds:.3f} s")]
    if result.certificate is not None:
        details += _proof(result.certificate)
    if bootstrap is not None:
        details.append(
            ("bootstrap", f"{plural(bootstrap.replicates, 'resample')}, threshold {bootstrap.threshold:.3f}")
        )
    if posterior is not None:
        details.append(("posterior", f"{posterior.method}, {plural(posterior.drawn.scores.size, 'sampled graph')}"))
    return details


def _proof(certificate: Certificate) -> list[tuple[str, Content]]:
    """Say what was proved, how, and what is certain about the structure."""
    work = (
        f"{plural(certificate.scored, 'family')} scored, {certificate.families:,} of them possible in the best graph, "
        f"{plural(certificate.cuts, 'cut')}, {plural(certificate.nodes, 'part')}"
    )
    found: list[tuple[str, Content]] = [("certificate", str(certificate)), ("proof", work)]
    if certificate.within is not None:
        arcs = ", ".join(f"{a} → {b}" for a, b in certificate.arcs) or "none"
        found.append((f"arcs of all graphs within {certificate.within:g} of the best", arcs))
    return found


# Gaps ----------------------------------------------------------------------------------------------------------------

_NAMED = 4  # levels that a cell names

_FILLED = "Counts and scores here are expected ones: each gap counts as all that it may hold, by its probability."
_LOCAL = "Counts and scores here are of the rows that have all members of a family; probabilities are found by EM."


def gaps_section(result: Result) -> list[Section]:
    """Write where values are missing and what they were filled with; nothing where none is."""
    filled = isinstance(result, EMResult)
    data = result.incomplete if isinstance(result, EMResult) else result.data
    gaps = data.gaps
    if not gaps:
        return []
    columns = [Heading("column"), Heading("missing", "number"), Heading("share", "number")]
    if filled:
        columns.append(Heading("filled with", hint="What the gaps are expected to hold"))
    rows: list[Row] = []
    for name, count in gaps.missing.items():
        told: Row = [name, Sortable(f"{count:,}", count), bar(count / gaps.rows, f"{count / gaps.rows:.1%}")]
        rows.append([*told, _expected(data, result.data, name)] if filled else told)
    listed = table(columns, rows, key="gap-table", caption="Gaps", filter_=len(rows) > 10, sorted_by="missing")
    pairs = sorted(gaps.together.items(), key=lambda pair: -pair[1])[:_NAMED]
    together = ", ".join(f"{a} and {b} ({plural(n, 'row')})" for (a, b), n in pairs if n)
    said: list[Content] = [
        tag("p", f"{gaps!r}. To drop these rows would leave {plural(gaps.complete, 'row')}."),
        tag("p", f"Most often missing together: {together}.") if together else None,
        tag("p", _FILLED if filled else _LOCAL),
    ]
    return [Section("gaps", "Gaps", [*said, listed], "Gaps")]


def _expected(data: Dataset, completed: Dataset, name: str) -> str:
    """Say what the gaps of a column were filled with."""
    more = np.maximum(completed.observed(name) - data.observed(name), 0)
    shares = more / max(float(more.sum()), 1e-300)
    order = np.argsort(-shares, kind="stable").tolist()
    return named([f"{data.levels[name][i]} {shares[i]:.1%}" for i in order], _NAMED)
