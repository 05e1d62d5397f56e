"""The notation of objectives: ``parse("MU(c=1)+BDs(alpha=1)")`` reads what ``str(MU(c=1) + BDs(alpha=1))`` writes.

It is Python: Python parses it, and what is no sum of priors and a likelihood is refused. Nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from mapdag.contracts import Likelihood, Objective, Prior
from mapdag.errors import NotationError, ParameterError
from mapdag.priors import CS, MU, VSP, LogLinear, MaxParents, Support, U
from mapdag.scores import AIC, BD, BDJ, BIC, K2, NAL, PNAL, BDeu, BDs, LogLik, eBIC, fNML, qNML
from mapdag.vocabulary import score_hint
from mapdag.wording import brief, near

PRIORS: Mapping[str, Callable[..., Prior]] = MappingProxyType(
    {kind.__name__: kind for kind in (U, MU, VSP, CS, LogLinear, MaxParents, Support)}
)
LIKELIHOODS: Mapping[str, Callable[..., Likelihood]] = MappingProxyType(
    {kind.__name__: kind for kind in (BDeu, BDs, K2, BDJ, BD, BIC, AIC, LogLik, eBIC, fNML, qNML, NAL, PNAL)}
)
DEFAULT = Support() + MU(c=1) + BDs(alpha=1)

#: What an objective may be given as.
Goal: TypeAlias = "str | Objective | Likelihood"

_LONGEST = 500_000

# A text in quotes, in which all is as it stands; one that is not closed goes on to the end.
_QUOTED = r"\"[^\"\\]*(?:\\.[^\"\\]*)*(?:\"|\\?\Z)|'[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?\Z)"
_EXPECTED = f"expected a prior ({', '.join(PRIORS)}) or a likelihood ({', '.join(LIKELIHOODS)})"


def parse(text: Goal) -> Objective:
    """Read an objective: priors and one likelihood, joined by ``+``; a bare likelihood means the uniform prior.

    Names may be written in any case; numbers may be fractions.

    Examples
    --------
    >>> parse("MU(c=1)+BDs(alpha=1)")
    MU(c=1)+BDs(alpha=1)
    >>> parse("bdeu(10)")
    U+BDeu(alpha=10)
    >>> parse("MaxParents(3) + MU(1/2) + BIC")
    MaxParents(m=3)+MU(beta=0.5)+BIC
    """
    if isinstance(text, Objective):
        return text
    if isinstance(text, Likelihood):
        return U() + text
    if not isinstance(text, str):
        raise ParameterError(
            f"an objective must be a prior + a likelihood, or a text such as '{DEFAULT}', "
            f"got {brief(text)}{score_hint(text)}"
        )
    return _Reader(text).objective()


def _with_parameter(name: str | None) -> str:
    """Say which priors and likelihoods have a parameter of this name."""
    known = {**PRIORS, **LIKELIHOODS}
    found = [each for each, kind in known.items() if name in inspect.signature(kind).parameters]
    return f"; {' and '.join(found)} {'has' if len(found) == 1 else 'have'} it" if found else ""


def parse_all(given: Goal | Sequence[Goal]) -> tuple[tuple[Objective, ...], bool]:
    """Read one objective or several, and tell whether there were several.

    >>> parse_all("BIC"), parse_all(["BIC", "AIC"])
    (((U+BIC,), False), ((U+BIC, U+AIC), True))
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        return (parse(given),), False
    return tuple(parse(each) for each in given), True


class _Reader:
    """Walks through the syntax tree of an expression; every error points at its place."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _LONGEST:
            raise ParameterError(f"the text of an objective has at most {_LONGEST:,} letters, got {len(text):,}")
        line = re.sub(r"[\n\r\f\v]", " ", text)  # one line, so that every place is an offset
        self.line = re.sub(rf"({_QUOTED})|\s", lambda found: found[1] or " ", line).rstrip()
        self.indent = len(self.line) - len(self.line.lstrip())

    def objective(self) -> Objective:
        """Add up the terms."""
        for word in re.finditer(r"\b[A-Za-z]\w*(-\w+)+", re.sub(_QUOTED, "", self.line)):
            if score_hint(word[0]):  # "bic-d" would be a difference
                told = f"no likelihood is called {word[0]!r}{score_hint(word[0])}"
                raise self._error(told, self.line.index(word[0]))
        prior: Prior | None = None
        likelihood: Likelihood | None = None
        for node in self._terms(self._tree()):
            term = self._term(node)
            if isinstance(term, Prior):
                prior = term if prior is None else prior + term
            elif likelihood is None:
                likelihood = term
            else:
                raise self._error(f"two likelihoods, {likelihood} and {term}: keep one", node)
        if likelihood is None:
            raise self._error(f"a likelihood is missing; add one of {', '.join(LIKELIHOODS)}", len(self.line))
        return (U() if prior is None else prior) + likelihood

    def _tree(self) -> ast.expr:
        comment = re.sub(_QUOTED, lambda found: "x" * len(found[0]), self.line).find("#")
        if comment >= 0:
            raise self._error("cannot read '#' here: nothing may follow the objective", comment)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # backslashes that mean nothing in Python stay as they are
                return ast.parse(self.line[self.indent :], mode="eval").body
        except SyntaxError as error:
            place = self.indent + error.offset - 1 if error.offset else len(self.line)
            if place >= len(self.line):
                raise self._error(_EXPECTED, len(self.line)) from None
            said = error.msg.partition(" (detected")[0]
            if said.startswith("invalid syntax"):
                said = f"cannot read {self.line[place]!r} here; objectives are written as in '{DEFAULT}'"
            raise self._error(said, place) from None
        except (ValueError, RecursionError, MemoryError) as error:  # half a character; too long or too deep
            raise self._error(f"cannot read this: {error}", self.indent) from error

    def _terms(self, node: ast.expr) -> list[ast.expr]:
        if not isinstance(node, ast.BinOp):
            return [node]
        if not isinstance(node.op, ast.Add):
            raise self._error("expected '+' before this", node.right)
        return [*self._terms(node.left), *self._terms(node.right)]

    def _term(self, node: ast.expr) -> Prior | Likelihood:
        called = node.func if isinstance(node, ast.Call) else node
        if not isinstance(called, ast.Name):
            raise self._error(_EXPECTED, node)
        known: dict[str, Callable[..., Prior | Likelihood]] = {**PRIORS, **LIKELIHOODS}
        names = {name.lower(): name for name in known}
        if called.id.lower() not in names:
            close = near(called.id.lower(), names)
            guess = f"; did you mean {names[close[0]]}?" if close else "."
            hint = f"{score_hint(called.id)}." if score_hint(called.id) else guess
            every = f"Priors: {', '.join(PRIORS)}. Likelihoods: {', '.join(LIKELIHOODS)}"
            raise self._error(f"no prior or likelihood is called {called.id!r}{hint} {every}", node)
        name = names[called.id.lower()]
        parameters = inspect.signature(known[name]).parameters
        takes = f"{name} takes ({', '.join(map(str, parameters.values()))})"
        if isinstance(node, ast.Call) and len(node.args) > len(parameters):
            raise self._error(takes, node)
        given = self._arguments(node, name, list(parameters)) if isinstance(node, ast.Call) else {}
        values = {parameter: self._value(argument) for parameter, argument in given.items()}
        try:
            return known[name](**values)
        except ParameterError as error:
            place = next((given[each] for each in given if re.match(rf"{each}\b", str(error))), node)
            raise self._error(str(error), place) from error
        except (TypeError, ValueError, ArithmeticError, LookupError):
            raise self._error(takes, node) from None

    def _arguments(self, call: ast.Call, name: str, parameters: list[str]) -> dict[str, ast.expr]:
        """What is given for each parameter."""
        given = dict(zip(parameters, call.args, strict=False))
        for keyword in call.keywords:
            if keyword.arg not in parameters:
                takes = f"takes {', '.join(parameters)}" if parameters else "takes no parameters"
                hint = _with_parameter(keyword.arg)
                raise self._error(f"{name} {takes}, not {keyword.arg or '**'!r}{hint}", keyword)
            if keyword.arg in given:
                raise self._error(f"{keyword.arg} is given twice", keyword)
            given[keyword.arg] = keyword.value
        return given

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() as text) | ast.Name(id="auto" as text):
                return text
            case ast.Dict():
                return {
                    self._key(key, value): self._value(value) for key, value in zip(node.keys, node.values, strict=True)
                }
            case ast.List() | ast.Tuple():
                return [self._value(item) for item in node.elts]
            case _:
                try:
                    return self._number(node)
                except ArithmeticError as error:
                    raise self._error(f"this is no number: {error}", node) from None

    def _key(self, key: ast.expr | None, value: ast.expr) -> Any:
        parts = key.elts if isinstance(key, (ast.List, ast.Tuple)) else [key]
        if key is None or not all(isinstance(part, ast.Constant) for part in parts):
            raise self._error('expected "text" or ["A", "B"] before the colon', key or value)
        found = self._value(key)
        return tuple(found) if isinstance(found, list) else found

    def _number(self, node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return float(value)
            case ast.UnaryOp(ast.USub(), operand):
                return -self._number(operand)
            case ast.UnaryOp(ast.UAdd(), operand):
                return self._number(operand)
            case ast.BinOp(left, ast.Div(), right):
                return self._number(left) / self._number(right)
            case _:
                raise self._error('expected a number, "text", [list] or {"text": value}', node)

    def _error(self, message: str, place: int | ast.expr | ast.keyword) -> NotationError:
        if not isinstance(place, int):  # Python counts bytes
            place = self.indent + len(self.line[self.indent :].encode()[: place.col_offset].decode())
        return NotationError(message, self.text, place)
