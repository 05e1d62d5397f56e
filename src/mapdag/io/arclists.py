"""Graphs as a table of arcs: CSV with the columns `from` and `to`.

A row with an empty `to` declares a node, so that isolated nodes, and the order of the nodes, can be kept. Other columns
(row names, strengths) are ignored. Nodes are in the order in which they first appear.
"""

from __future__ import annotations

import csv
import io

from mapdag.data.dialect import Fault, close_up, find_fault
from mapdag.errors import FormatError, GraphError
from mapdag.graphs import DAG
from mapdag.graphs.nodes import Arc, first_appearance


def to_arcs(dag: DAG) -> str:
    """Return the arcs as CSV; the nodes come first where the arcs do not tell them, or not in order.

    Examples
    --------
    >>> print(to_arcs(DAG(["A", "B"], [("A", "B")])), end="")
    from,to
    A,B
    >>> print(to_arcs(DAG(["B", "A", "C"], [("A", "B")])), end="")
    from,to
    B,
    A,
    C,
    A,B
    """
    nodes: list[Arc] = [] if tuple(first_appearance(dag.arcs)) == dag.nodes else [(node, "") for node in dag.nodes]
    stream = io.StringIO()
    # Blanks around a name are kept only inside quotation marks.
    blanks = any(node != node.strip() for node in dag.nodes)
    writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL if blanks else csv.QUOTE_MINIMAL)
    writer.writerows([("from", "to"), *nodes, *dag.arcs])
    return stream.getvalue()


def from_arcs(text: str, source: str = "CSV text") -> DAG:
    r"""Read a graph from CSV.

    Examples
    --------
    >>> from_arcs("from,to\nA,B\nC,\n")
    <DAG [A][C][B|A]>
    """
    try:
        return DAG(*parse_arcs(text, source))
    except GraphError as error:
        raise FormatError(str(error), source) from error


def parse_arcs(text: str, source: str = "CSV text") -> tuple[list[str], list[Arc]]:
    r"""Read nodes and arcs from CSV; the arcs need not make a DAG.

    Examples
    --------
    >>> parse_arcs("from,to,strength\nA,B,0.9\nB,A,0.4\nC,,\n")
    (['A', 'B', 'C'], [('A', 'B'), ('B', 'A')])
    """
    reader = csv.reader(io.StringIO(close_up(text, ","), newline=""), skipinitialspace=True, strict=True)
    nodes: dict[str, None] = {}
    arcs: list[Arc] = []
    is_quoted = '"' in text
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if not {"from", "to"} <= set(header):
            raise FormatError(f"a table of arcs has the columns 'from' and 'to', got {', '.join(header)}", source, 1)
        first, second = header.index("from"), header.index("to")
        for record in reader:
            # What is not quoted has no blanks around it; we quote everything where a name has some.
            row = record if is_quoted else [cell.strip() for cell in record]
            if not any(row):
                continue
            if len(row) <= first or not row[first] or len(row) > len(header):
                raise FormatError(f"expected a node in 'from' and one in 'to', got {row}", source, reader.line_num)
            ends = (row[first], row[second] if len(row) > second else "")
            nodes[ends[0]] = None
            if ends[0] == ends[1]:
                raise FormatError(f"{ends[0]!r} cannot be joined to itself", source, reader.line_num)
            if ends[1]:
                nodes[ends[1]] = None
                arcs.append(ends)
    except csv.Error as error:
        fault = find_fault(text, ",") or Fault(reader.line_num, 1, str(error))
        raise FormatError(f"not CSV: {fault.why}", source, fault.line, fault.column) from error
    return list(nodes), arcs
