"""What the controls say: settings as the page sends them, and the objective and plan of a search that they mean."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import mapdag
from mapdag.contracts import AUTO
from mapdag.errors import ParameterError
from mapdag.objective.notation import LIKELIHOODS
from mapdag.priors import CS, MU, VSP, MaxParents, Support, U
from mapdag.reference import catalogue
from mapdag.search.plan import SEARCHES, Plan
from mapdag.wording import did_you_mean, near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.contracts import Objective, Prior
    from mapdag.explorer.limits import Limits


Arc = tuple[str, str]

#: Likelihoods that the page offers, with what is to be said about each.
LIKELIHOOD_NOTES: dict[str, str] = {
    "BDs": "Bayesian Dirichlet sparse: alpha spread over what was observed",
    "BDeu": "Bayesian Dirichlet equivalent uniform: alpha spread over all that is declared",
    "K2": "one imaginary row in every cell",
    "BDJ": "Jeffreys' prior: half an imaginary row in every cell",
    "BIC": "log-likelihood less half a log n for each parameter",
    "AIC": "log-likelihood less 1 for each parameter",
    "eBIC": "BIC with a price for each parent",
    "fNML": "factorised normalised maximum likelihood",
    "qNML": "quotient normalised maximum likelihood",
    "PNAL": "penalised node-average likelihood, for tables with gaps",
}
#: Priors that the page offers: which of its numbers each takes, and what is to be said about it.
PRIOR_NOTES: dict[str, tuple[tuple[str, ...], str]] = {
    "MU": (("c", "beta"), "marginal uniform: every pair of nodes is joined with probability beta, c arcs per node"),
    "U": ((), "uniform: every graph is as likely as any other"),
    "VSP": (("beta",), "variable selection: every parent is in with probability beta"),
    "CS": ((), "completed: probabilities of single arcs, elicited, and 1/3 for the rest"),
}
WITH_ALPHA = ("BDs", "BDeu")
_MOST_ARCS = 20_000  # of a list of constraints


@dataclass(frozen=True)
class Settings:
    """What the controls say.

    Attributes
    ----------
    likelihood, alpha
        Which, and its imaginary sample size, where it has one.
    prior, beta, c
        Which, and its number: `beta` where it is given, else `c`.
    support : float or None
        Rows that there must be for each configuration; None for no limit.
    search : str
        As `mapdag.learn` takes it.
    max_parents : int or None
    required, forbidden : tuple of arcs
    tiers : tuple of tuples of names
    elicited : tuple of (from, to, probability)
        For the prior CS.
    seed : int
    """

    likelihood: str = "BDs"
    alpha: float = 1.0
    prior: str = "MU"
    beta: float | None = None
    c: float | None = 1.0
    support: float | None = 3.0
    search: str = "orders"
    max_parents: int | None = None
    required: tuple[Arc, ...] = ()
    forbidden: tuple[Arc, ...] = ()
    tiers: tuple[tuple[str, ...], ...] = ()
    elicited: tuple[tuple[str, str, float], ...] = ()
    seed: int = 0

    @classmethod
    def read(cls, given: Any) -> Settings:
        """Take settings as the page sends them, and say what is wrong with them.

        >>> Settings.read({"alpha": 10, "required": [["rain", "wet"]]}).required
        (('rain', 'wet'),)
        >>> Settings.read({"alpha": -1})
        Traceback (most recent call last):
        mapdag.errors.ParameterError: alpha must be a positive number, got -1
        """
        if not isinstance(given, Mapping):
            raise ParameterError(f"settings must be an object, got {_short(given)}")
        known = {each.name for each in fields(cls)}
        for name in given:
            if name not in known:
                raise ParameterError(f"settings have no {name!r}{did_you_mean(near(str(name), known))}")
        found = {**asdict(cls()), **given}
        return cls(
            likelihood=_choice("likelihood", found["likelihood"], LIKELIHOOD_NOTES),
            alpha=_positive("alpha", found["alpha"]),
            prior=_choice("prior", found["prior"], PRIOR_NOTES),
            beta=None if found["beta"] is None else _positive("beta", found["beta"]),
            c=None if found["c"] is None else _positive("c", found["c"]),
            support=_limit(found["support"]),
            search=_choice("search", found["search"], SEARCHES),
            max_parents=None if found["max_parents"] is None else _whole("max_parents", found["max_parents"]),
            required=_arcs("required", found["required"]),
            forbidden=_arcs("forbidden", found["forbidden"]),
            tiers=_tiers(found["tiers"]),
            elicited=_elicited(found["elicited"]),
            seed=_whole("seed", found["seed"]),
        )

    @classmethod
    def of(cls, objective: Objective) -> Settings:
        """Find the settings of an objective, as far as the page has controls for it.

        >>> import mapdag as md
        >>> Settings.of(md.parse("MU(beta=0.1)+BDeu(10)"))
        Settings(likelihood='BDeu', alpha=10.0, prior='MU', beta=0.1, c=None, support=None, search='orders', ...
        """
        likelihood = type(objective.likelihood).__name__
        found: dict[str, Any] = {"support": objective.prior.support}
        if likelihood in LIKELIHOOD_NOTES:
            found |= {"likelihood": likelihood, "alpha": getattr(objective.likelihood, "alpha", 1.0)}
        for part in getattr(objective.prior, "parts", (objective.prior,)):
            name = type(part).__name__
            if isinstance(part, MU):
                found |= {"prior": name, "beta": part.beta, "c": part.c}
            elif isinstance(part, VSP) and isinstance(part.beta, float):
                found |= {"prior": name, "beta": part.beta}
            elif isinstance(part, U):
                found |= {"prior": name}
            elif isinstance(part, MaxParents):
                found |= {"max_parents": part.m}
            elif isinstance(part, CS):
                found |= {"prior": name, "elicited": _rows_of(part)}
        return cls(**found)

    def to_json(self) -> dict[str, Any]:
        """Return what `read` takes."""
        return asdict(self)

    def changed(self, **values: Any) -> Settings:
        """Return the same with other values."""
        return replace(self, **values)

    @property
    def objective(self) -> Objective:
        """What is maximised."""
        return self._made(self._prior(), self.alpha)

    @property
    def auto_objective(self) -> Objective:
        """The objective with alpha, and c or beta, left to the data."""
        prior = self._prior()
        if isinstance(prior, MU):
            prior = MU(c=AUTO) if self.beta is None else MU(beta=AUTO)
        found = self._made(prior, AUTO)
        if not found.is_auto:
            raise ParameterError("nothing to learn: choose BDs or BDeu, which have an alpha, or MU, which has a c")
        return found

    def _made(self, prior: Prior, alpha: Any) -> Objective:
        make = LIKELIHOODS[self.likelihood]
        likelihood = make(alpha=alpha) if self.likelihood in WITH_ALPHA else make()
        return (prior if self.support is None else Support(self.support) + prior) + likelihood

    def _prior(self) -> Prior:
        if self.prior == "U":
            return U()
        if self.prior == "CS":
            return CS([(a, b, p) for a, b, p in self.elicited])
        if self.prior == "VSP":
            return VSP(0.5 if self.beta is None else self.beta)
        return MU(c=1.0 if self.c is None else self.c) if self.beta is None else MU(beta=self.beta)

    @property
    def limits(self) -> dict[str, Any]:
        """The constraints, as `mapdag.learn` takes them."""
        return {
            "required": self.required,
            "forbidden": self.forbidden,
            "tiers": self.tiers,
            "max_parents": self.max_parents,
        }

    def plan(self, *, cancel: threading.Event | None = None, **options: Any) -> Plan:
        """Return how to search; other options as in `mapdag.learn`, and what ends it when it is set."""
        made = Plan.make(**{"search": self.search, "seed": self.seed, **self.limits, **options}, catch_interrupt=False)
        return made if cancel is None else made.changed(cancel=cancel)


def _rows_of(prior: CS) -> tuple[tuple[str, str, float], ...]:
    """Return elicited probabilities as the page has them: of arcs, one each."""
    pairs = [(key.split("->") if isinstance(key, str) else key, row) for key, row in prior.table.items()]
    return tuple((pair[0].strip(), pair[1].strip(), row[0]) for pair, row in pairs if len(pair) == 2 and len(row) == 1)


def read_arcs(name: str, given: Any) -> tuple[Arc, ...]:
    """Take a list of arcs as the page sends it."""
    return _arcs(name, given)


def _choice(name: str, given: Any, known: Mapping[str, Any]) -> str:
    if not isinstance(given, str) or given not in known:
        raise ParameterError(f"{name} must be one of {', '.join(known)}, got {_short(given)}")
    return given


def _number(given: Any) -> float | None:
    """Return a finite number, or None where it is none."""
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return None
    try:
        value = float(given)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def _positive(name: str, given: Any) -> float:
    value = _number(given)
    if value is None or value <= 0:
        raise ParameterError(f"{name} must be a positive number, got {_short(given)}")
    return value


def _limit(given: Any) -> float | None:
    if given is None:
        return None
    value = _number(given)
    if value is None or value < 0:
        raise ParameterError(f"support must be a number of rows, or null for no limit, got {_short(given)}")
    return value or None


def _whole(name: str, given: Any) -> int:
    value = _number(given)
    if value is None or value != int(value) or not 0 <= value < 2**53:
        raise ParameterError(f"{name} must be a whole number of at least 0, got {_short(given)}")
    return int(value)


def _list(name: str, what: str, given: Any) -> Sequence[Any]:
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)) or len(given) > _MOST_ARCS:
        raise ParameterError(f"{name} must be a list of {what}, got {_short(given)}")
    return given


def _arcs(name: str, given: Any) -> tuple[Arc, ...]:
    what = "arcs [from, to]"
    found = []
    for arc in _list(name, what, given):
        pair = tuple(arc[:2]) if isinstance(arc, (list, tuple)) else ()
        if len(pair) != 2 or not all(isinstance(end, str) for end in pair):
            raise ParameterError(f"{name} must be a list of {what}, got {_short(arc)} among them")
        found.append((pair[0], pair[1]))
    return tuple(dict.fromkeys(found))


def _tiers(given: Any) -> tuple[tuple[str, ...], ...]:
    tiers = _list("tiers", "lists of names", given)
    for tier in tiers:
        if not isinstance(tier, (list, tuple)) or not all(isinstance(name, str) for name in tier):
            raise ParameterError(f"tiers must be a list of lists of names, got {_short(tier)} among them")
    return tuple(tuple(tier) for tier in tiers if tier)


def _elicited(given: Any) -> tuple[tuple[str, str, float], ...]:
    what = "[from, to, probability]"
    found = []
    for row in _list("elicited", what, given):
        values = tuple(row) if isinstance(row, (list, tuple)) else ()
        p = _number(values[2]) if len(values) == 3 else None
        if p is None or not 0 <= p <= 1 or not all(isinstance(end, str) for end in values[:2]):
            raise ParameterError(f"elicited must be a list of {what}, got {_short(row)} among them")
        found.append((values[0], values[1], p))
    return tuple(found)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# What there is to choose from ----------------------------------------------------------------------------------------

_SEARCHES = {
    "orders": ("search over orders", "the default: gives the best graphs"),
    "hc": ("hill climbing", "the fastest"),
    "tabu": ("tabu search", "goes on where hill climbing stops"),
    "exact": ("exact search", "the best of all graphs, for some twenty nodes"),
    "certified": ("certified search", "the best graph and a bound on all others, for tens of nodes"),
}


def vocabulary(limits: Limits) -> dict[str, Any]:
    """Return what there is to choose from."""
    return {
        "version": mapdag.__version__,
        "likelihoods": [
            {"name": name, "alpha": name in WITH_ALPHA, "note": note} for name, note in LIKELIHOOD_NOTES.items()
        ],
        "priors": [
            {"name": name, "parameters": list(takes), "note": note} for name, (takes, note) in PRIOR_NOTES.items()
        ],
        "parameters": {
            "alpha": {"low": 0.01, "high": 1000, "default": 1},
            "c": {"low": 0.05, "high": 10, "default": 1},
            "beta": {"low": 0.0001, "high": 0.9999, "default": 0.5},
            "support": {"low": 0, "high": 20, "default": 3},
        },
        "searches": [{"name": name, "title": title, "note": note} for name, (title, note) in _SEARCHES.items()],
        "networks": [{"name": each.name, "nodes": each.nodes, "arcs": each.arcs} for each in catalogue()],
        "defaults": Settings().to_json(),
        "limits": {"body": limits.body, "rows": limits.rows, "tables": limits.tables, "search": limits.search},
    }
