"""The notation of objectives: ``parse("MU(c=1)+BDs(alpha=1)")`` reads what ``str(MU(c=1) + BDs(alpha=1))`` writes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NoReturn

from mapdag.contracts import Likelihood, Objective, Prior
from mapdag.errors import NotationError, ParameterError
from mapdag.priors import CS, MU, VSP, LogLinear, MaxParents, Support, U
from mapdag.scores import AIC, BD, BDJ, BIC, K2, BDeu, BDs, LogLik, eBIC, fNML, qNML

PRIORS: Mapping[str, Callable[..., Prior]] = MappingProxyType(
    {kind.__name__: kind for kind in (U, MU, VSP, CS, LogLinear, MaxParents, Support)}
)
LIKELIHOODS: Mapping[str, Callable[..., Likelihood]] = MappingProxyType(
    {kind.__name__: kind for kind in (BDeu, BDs, K2, BDJ, BD, BIC, AIC, LogLik, eBIC, fNML, qNML)}
)
DEFAULT = Support() + MU(c=1) + BDs(alpha=1)

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:\s*/\s*\d+)?)
        |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
        |(?P<name>[^\W\d]\w*)
        |(?P<sign>[-+(){}\[\],=:]))""",
    re.VERBOSE,
)


def parse(text: str | Objective | Likelihood) -> Objective:
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
            f"an objective must be a prior + a likelihood, or a text such as '{DEFAULT}', got {text!r}"
        )
    return _Parser(text).objective()


_DEEPEST = 8  # brackets within brackets; more than any prior needs


def _unquote(token: str) -> str:
    """Read a text as `json.dumps` writes it, or the same in single quotes."""
    inside = token[1:-1]
    if token[0] == "'":
        inside = re.sub(r"\\(.)|\"", lambda m: m[1] if m[1] == "'" else m[0] if m[1] else '\\"', inside)
    try:
        return str(json.loads(f'"{inside}"', strict=False))
    except json.JSONDecodeError:
        return inside


class _Parser:
    """Recursive descent over the notation; every error points at its place."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                start = position + len(text[position:]) - len(text[position:].lstrip())
                raise NotationError(f"cannot read {text[start]!r} here", text, start)
            kind = str(match.lastgroup)
            self.tokens.append((kind, match[kind], match.start(kind)))
            position = match.end()
        self.tokens.append(("end", "", len(text.rstrip())))
        self.at = 0

    def objective(self) -> Objective:
        prior: Prior | None = None
        likelihood: Likelihood | None = None
        while True:
            position = self.tokens[self.at][2]
            term = self._term()
            if isinstance(term, Prior):
                prior = term if prior is None else prior + term
            elif likelihood is not None:
                raise NotationError(f"two likelihoods, {likelihood} and {term}: keep one", self.text, position)
            else:
                likelihood = term
            if not self._accept("+"):
                break
        if self.tokens[self.at][0] != "end":
            self._fail("expected '+' or the end of the expression")
        if likelihood is None:
            self._fail(f"a likelihood is missing; add one of {_list(LIKELIHOODS)}")
        return (U() if prior is None else prior) + likelihood

    def _term(self) -> Prior | Likelihood:
        kind, word, position = self.tokens[self.at]
        if kind != "name":
            self._fail(f"expected a prior ({_list(PRIORS)}) or a likelihood ({_list(LIKELIHOODS)})")
        self.at += 1
        every: list[tuple[str, Callable[..., Prior | Likelihood]]] = [*PRIORS.items(), *LIKELIHOODS.items()]
        known = {name.lower(): (name, make) for name, make in every}
        if word.lower() not in known:
            close = get_close_matches(word.lower(), known, n=1)
            hint = f"; did you mean {known[close[0]][0]}?" if close else "."
            message = f"no prior or likelihood is called {word!r}{hint} Priors: {_list(PRIORS)}. Likelihoods: "
            raise NotationError(f"{message}{_list(LIKELIHOODS)}", self.text, position)
        name, make = known[word.lower()]
        args, named, places = self._arguments(name, make)
        try:
            return make(*args, **named)
        except ParameterError as error:
            where = next((place for word, place in places.items() if re.match(rf"{word}\b", str(error))), position)
            raise NotationError(str(error), self.text, where) from error
        except (TypeError, ValueError, ArithmeticError, LookupError):
            signature = ", ".join(map(str, inspect.signature(make).parameters.values()))
            raise NotationError(f"{name} takes ({signature})", self.text, position) from None

    def _arguments(self, name: str, make: Callable[..., Any]) -> tuple[list[Any], dict[str, Any], dict[str, int]]:
        """Values without and with a name, and where the value of each parameter stands."""
        args: list[Any] = []
        named: dict[str, Any] = {}
        places: dict[str, int] = {}
        if not self._accept("(") or self._accept(")"):
            return args, named, places
        parameters = list(inspect.signature(make).parameters)
        while True:
            kind, word, position = self.tokens[self.at]
            if kind == "name" and self.tokens[self.at + 1][1] == "=":
                if word not in parameters:
                    takes = f"takes {', '.join(parameters)}" if parameters else "takes no parameters"
                    raise NotationError(f"{name} {takes}, not {word!r}", self.text, position)
                if word in named:
                    raise NotationError(f"{word} is given twice", self.text, position)
                self.at += 2
                places[word] = self.tokens[self.at][2]
                named[word] = self._value()
            else:
                if named:
                    raise NotationError("a value without a name cannot follow one with a name", self.text, position)
                if len(args) < len(parameters):
                    places[parameters[len(args)]] = position
                args.append(self._value())
            if self._accept(")"):
                return args, named, places
            self._expect(",")

    def _value(self, depth: int = 0) -> Any:
        kind, word, _ = self.tokens[self.at]
        if kind == "number":
            top, _, bottom = word.partition("/")
            if bottom and float(bottom) == 0:
                self._fail("a fraction cannot be divided by zero")
            self.at += 1
            return float(top) / float(bottom) if bottom else float(top)
        if kind == "text":
            self.at += 1
            return _unquote(word)
        if word in ("{", "[") and depth == _DEEPEST:
            self._fail("brackets within brackets within brackets: too deep")
        if word == "{":
            self.at += 1
            return dict(self._items("}", lambda: self._pair(depth + 1)))
        if word == "[":
            self.at += 1
            return self._items("]", lambda: self._value(depth + 1))
        return self._fail('expected a number, "text", [list] or {"text": value}')

    def _pair(self, depth: int) -> tuple[Any, Any]:
        key = self._value(depth)
        if isinstance(key, dict):
            self._fail('expected "text" or ["A", "B"] before the colon')
        self._expect(":")
        return tuple(key) if isinstance(key, list) else key, self._value(depth)

    def _items(self, close: str, read: Callable[[], Any]) -> list[Any]:
        items: list[Any] = []
        while not self._accept(close):
            if items:
                self._expect(",")
            items.append(read())
        return items

    def _accept(self, sign: str) -> bool:
        kind, word, _ = self.tokens[self.at]
        found = kind == "sign" and word == sign
        self.at += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            self._fail(f"expected {sign!r}")

    def _fail(self, message: str) -> NoReturn:
        raise NotationError(message, self.text, self.tokens[self.at][2])


def _list(names: Mapping[str, Any]) -> str:
    return ", ".join(names)
