"""Hints for names that nothing here has: what peers mean by them, or what is written much like them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from mapdag.errors import DEFAULT_SCORE, ParameterError, Setting, flag_of
from mapdag.vocabulary.peers import (
    ATTRIBUTES,
    ESTIMATORS,
    NAMES,
    NO_SCORES,
    OPTIONS,
    PRIORS,
    REMARKS,
    SCORES,
    SEARCHES,
)
from mapdag.wording import did_you_mean, near

_OF_OBJECTIVE = ("objective", "alpha", "prior", "beta", "k")  # what peers give apart, and an objective says at once
_MOST = 10  # items of a list that is written out
_NEAR = 0.7  # how much alike names must be to be taken for each other


def unknown_options(function: str, options: Mapping[str, Any], known: Sequence[str]) -> ParameterError:
    """Return the error for options that a function does not have, with what they are called here.

    >>> print(unknown_options("learn", {"score": "bde", "iss": 5}, ["data", "objective"]))
    learn has no option 'score' or 'iss': that is called objective here, pass objective="U+BDeu(5)"
    """
    unknown = {name: value for name, value in options.items() if name not in known}
    goal = next((name for name in ("objective", "objectives") if name in known), None)
    owned = () if any(_part(name, ()) == "objective" for name in unknown) else known
    together = [name for name in unknown if goal is not None and _part(name, owned) is not None]
    parts: list[Any] = [f"{function} has "]
    if together:
        parts += [
            f"no option {' or '.join(map(repr, together))}: ",
            *_objective({_part(name, owned): unknown[name] for name in together}, "alpha" in together, str(goal)),
        ]
    for name in [name for name in unknown if name not in together]:
        told = _explained(name, unknown[name], known, options)
        told = told or [f"; it takes {', '.join(known)}"]
        parts += ["; " * (len(parts) > 1), f"no option {name!r}", *told]
    return ParameterError(*parts)


def name_hint(name: str, names: Iterable[str]) -> str:
    """What to use instead of a name that the package does not have; nothing where that is unknown.

    >>> name_hint("hc", ["hill_climb"]), name_hint("lern", ["learn"]), name_hint("xyz", ["learn"])
    ('; here it is mapdag.hill_climb(data)', "; did you mean 'learn'?", '')
    """
    if name.startswith("_"):
        return ""
    if name in NAMES:
        return f"; here it is {NAMES[name]}"
    return did_you_mean(near(name, names, 1, _NEAR))


def attribute_hint(kind: str, name: str) -> str:
    """What to use instead of an attribute that a graph, a network or a result does not have; nothing where unknown.

    >>> attribute_hint("DAG", "edges"), attribute_hint("BayesianNetwork", "get_cpds"), attribute_hint("DAG", "colour")
    ('; here it is dag.arcs', '; here it is network.cpt(node), or network.cpts for all', '')
    """
    here = ATTRIBUTES.get(kind, {}).get(name)
    return "" if here is None else f"; here it is {here}"


def score_hint(name: Any) -> str:
    """What a score of a peer is here; nothing where it is unknown.

    >>> score_hint("bic-d"), score_hint("BDeuScore"), score_hint("HEX")
    ('; here it is BIC', '; here it is BDeu', '')
    """
    word = _plain(name)
    if word in SCORES:
        return f"; here it is {SCORES[word]}"
    return f": {NO_SCORES[word]}" if word in NO_SCORES else ""


def flag_hint(flag: str, known: Iterable[str]) -> str:
    """What a flag of the command line is called; nothing where that is unknown.

    >>> flag_hint("--blacklist", ["--forbid"]), flag_hint("--seperator", ["--separator"])
    ('that is called --forbid here', 'did you mean --separator?')
    """
    flags = list(known)
    word = flag.lstrip("-").replace("-", "_")
    if word in ("iss", "ess", "equivalent_sample_size", "prior") and "--score" in flags:
        return "that is part of --score here, as in --score 'U+BDeu(5)'"
    for here in (*OPTIONS.get(word, ()), *OPTIONS.get(word.replace("_", ""), ()), word):
        called = flag_of(here)
        if called in flags:
            return f"that is called {called} here"
    guesses = near(flag, flags, 1, _NEAR)
    return f"did you mean {guesses[0]}?" if guesses else ""


# Options --------------------------------------------------------------------------------------------------------------


def _part(name: str, owned: Sequence[str]) -> str | None:
    """Which part of an objective an option stands for, unless it stands for an option that the function has."""
    if any(here in owned and not here.startswith("objective") for here in OPTIONS.get(name, ())):
        return None
    return next((here for here in (*OPTIONS.get(name, ()), name) if here in _OF_OBJECTIVE), None)


def _objective(given: Mapping[str | None, Any], is_ours: bool, goal: str) -> list[Any]:
    """Say what the objective is that peers give in parts; an alpha that is called so is that of our default."""
    alpha, beta, k = (
        f"{given[name]:g}" if isinstance(given.get(name), Real) else "" for name in ("alpha", "beta", "k")
    )
    score, prior = given.get("objective"), given.get("prior")
    text = ""
    if score is None and prior is None and not beta and not k:
        text = DEFAULT_SCORE.replace("alpha=1", f"alpha={alpha or 1}") if is_ours or not alpha else f"U+BDeu({alpha})"
    elif score is not None and _plain(score) in NO_SCORES:
        return [f"the score {_called(score)!r} is not here: {NO_SCORES[_plain(score)]}"]
    elif score is not None and _plain(score) not in SCORES:
        text = score if isinstance(score, str) else ""
    else:
        likelihood = SCORES[_plain(score)] if score is not None else "BIC" if k else "BDeu"
        argument = {"BDeu": alpha, "BDs": alpha, "BIC": k}.get(likelihood, "")
        text = f"{_prior(prior, beta)}+{likelihood}" + (f"({argument})" if argument else "")
    called = "is called" if score is not None else "is part of"
    return [f"that {called} {goal} here, pass ", Setting(goal, text if goal == "objective" else [text])]


def _prior(prior: Any, beta: str) -> str:
    """Write a prior of R bnlearn as a term."""
    if prior is None:
        return f"MU(beta={beta})" if beta else "U"
    text = PRIORS.get(str(prior).lower(), str(prior))
    return text.format(beta) if beta else text.partition("(")[0]


def _explained(name: str, value: Any, known: Sequence[str], given: Mapping[str, Any]) -> list[Any]:
    """Say what one option is called here, with its value where it can be written."""
    here = next((each for each in OPTIONS.get(name, ()) if each in known), None)
    if here is None:
        if name in REMARKS:
            return [f": {REMARKS[name]}"]
        guesses = near(name, known, 1, _NEAR)
        return [": did you mean ", *(_settings(guesses[0], value) or guesses), "?"] if guesses else []
    told: list[Any] = [f": that is called {here} here"]
    settings = _settings(here, value)
    if here == "search" and not settings:
        return [*told, f", one of {', '.join(dict.fromkeys(SEARCHES.values()))}"]
    needed = {"restarts": "hc", "perturb": "hc", "memory": "tabu", "patience": "tabu"}.get(here)
    if settings and needed is not None and "search" in known and given.get("search") != needed:
        settings.insert(0, Setting("search", needed))
    return [*told, ", pass ", tuple(settings)] if settings else told


def _settings(here: str, value: Any) -> list[Setting]:
    """Write a value of a peer's option as one of ours; nothing where it cannot be."""
    if here in ("forbidden", "required"):
        pairs = _pairs(value)
        return [] if pairs is None else [Setting(here, pairs)]
    if here in ("search", "method"):
        word = {"search": SEARCHES, "method": ESTIMATORS}[here].get(_plain(value))
        return [] if word is None else [Setting(here, word)]
    if here == "progress":
        return [Setting(here, bool(value))] if isinstance(value, int) else []
    if here == "threads":
        return [Setting(here, value if isinstance(value, int) and value > 0 else None)]
    if here == "missing":
        return [Setting(here, "drop")] if value is True or _called(value) in ("drop", "omit", "na.omit") else []
    if here == "discretize" and isinstance(value, int):
        return [Setting(here, f"quantile({value})")]
    if here == "seed":
        return [Setting(here, value)] if isinstance(value, int) and value >= 0 else []
    several = isinstance(value, (list, tuple, dict))
    plain = (str,) if here == "drop" else (str, int, float)  # columns are named, not counted
    written = len(value) <= _MOST if several else isinstance(value, plain)
    return [Setting(here, value)] if written else []


def _pairs(value: Any) -> list[tuple[str, str]] | None:
    """Arcs of a list of pairs or a table of two columns, few enough to be written."""
    rows = value.to_numpy().tolist() if hasattr(value, "to_numpy") else value
    try:
        pairs = [(a, b) for a, b in rows]
    except (TypeError, ValueError):
        return None
    return pairs if len(pairs) <= _MOST and all(isinstance(end, str) for pair in pairs for end in pair) else None


def _called(value: Any) -> str:
    """The name of a score or an algorithm, which peers also give as a class or an object."""
    return value if isinstance(value, str) else getattr(value, "__name__", type(value).__name__)


def _plain(value: Any) -> str:
    """A name as the tables have it."""
    word = _called(value).lower()
    return (word.removesuffix("score").rstrip("_-") or word) if word not in SCORES else word
