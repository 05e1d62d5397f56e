"""Tables of texts as plain text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Literal

from mapdag.errors import ParameterError
from mapdag.wording import aligned, cells

Format = Literal["text", "markdown", "latex", "csv"]
SUFFIXES: dict[Format, str] = {"text": ".txt", "markdown": ".md", "latex": ".tex", "csv": ".csv"}

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {each: f"\\{each}" for each in "&%$#_{}"}


def check_format(form: str) -> Format:
    """Return the format, or say which there are."""
    for known in SUFFIXES:
        if form == known:
            return known
    raise ParameterError(f"format must be one of {', '.join(SUFFIXES)}, got {form!r}")


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Write rows as CSV; None is nothing."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def lay_out(rows: Sequence[Sequence[str]], form: Format, *, left: Iterable[int] = (0,)) -> str:
    """Write rows, the first one the headings; columns in `left` are aligned to the left, others to the right."""
    check_format(form)
    lefts = set(left)
    if form == "csv":
        return as_csv(rows)
    if form == "latex":
        spec = "".join("l" if i in lefts else "r" for i in range(len(rows[0])))
        head, *body = [" & ".join(row) + r" \\" for row in rows]
        lines = [rf"\begin{{tabular}}{{{spec}}}", r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
        return "\n".join(lines) + "\n"
    written = aligned(rows, right=set(range(len(rows[0]))) - lefts)
    if form == "text":
        return "\n".join("  ".join(row).rstrip() for row in written) + "\n"
    widths = [cells(text) for text in written[0]]
    rule = ["-" * max(w, 3) if i in lefts else "-" * max(w - 1, 2) + ":" for i, w in enumerate(widths)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (written[0], rule, *written[1:])) + "\n"


def escape(text: str, form: Format) -> str:
    """Text that means itself in a format."""
    if form == "latex":
        return "".join(_SPECIAL.get(each, each) for each in text)
    return text.replace("|", r"\|") if form == "markdown" else text
