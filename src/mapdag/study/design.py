"""What a study is made of: networks, sample sizes, replicates, objectives, orders of the columns, searches.

A design is a value. `paper` builds that of section 4 of the paper, `quick` a small one; `read_design` reads a TOML
file, or takes one of those names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

from mapdag.checks import check_whole
from mapdag.errors import FileError, FormatError, ParameterError
from mapdag.objective import DEFAULT
from mapdag.study.goals import canonical

Columns = Literal["file", "shuffled"]

_LEAST_TEST_ROWS = 1
_FEW = 3  # networks, sizes and replicates of a shortened design


@dataclass(frozen=True)
class Search:
    """How to search, under the name that the results carry.

    Attributes
    ----------
    label : str
        What the results call it.
    name : str, optional
        What `mapdag.learn` calls it; the library's default search unless given.
    options : mapping of str to value
        Further options of `mapdag.learn`, as sorted pairs.

    Examples
    --------
    >>> Search.make("hc")
    Search(label='hc', name='hc', options=())
    >>> Search.make({"label": "tabu20", "search": "tabu", "patience": 20}).options
    (('patience', 20),)
    """

    label: str
    name: str | None = None
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def make(cls, given: str | Mapping[str, Any] | Search) -> Search:
        """Read a search from its name, or from a mapping with `search`, `label` and options."""
        if isinstance(given, Search):
            return given
        if isinstance(given, str):
            return cls(given, None if given == "default" else given)
        if not isinstance(given, Mapping):
            raise ParameterError(f"a search must be a name, or a table with search = ..., got {given!r}")
        options = dict(given)
        name = options.pop("search", None)
        label = options.pop("label", name or "default")
        return cls(str(label), name, tuple(sorted(options.items())))


@dataclass(frozen=True)
class Arm:
    """One way to learn from a sample: the order of its columns, the search, and what it maximises.

    Attributes
    ----------
    columns : {"file", "shuffled"}
    search : Search
    objectives : tuple of str
        Instead of those of the design, if there are any.
    """

    columns: Columns
    search: Search
    objectives: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.columns not in get_args(Columns):
            raise ParameterError(f"columns must be 'file' or 'shuffled', got {self.columns!r}")
        object.__setattr__(self, "objectives", tuple(canonical(each) for each in self.objectives))


@dataclass(frozen=True, kw_only=True)
class Design:
    """Every combination of networks, sizes, replicates, arms and their objectives is a cell, one learned network.

    Attributes
    ----------
    name : str
    networks : tuple of str
        Names of bundled networks, or files that `mapdag.read_network` reads.
    sizes : tuple of str
        Sizes of the samples: "0.5" is half as many rows as the network has parameters, halves rounded up; "n=500" is
        that many rows.
    replicates : int
        Samples of each size.
    objectives : tuple of str
        In the usual notation; ``BDeu(alpha_S)`` asks for Steck's optimal imaginary sample size. Arms may have others.
    arms : tuple of Arm
        Orders of the columns and searches.
    seed : int
        Of all samples.
    test_rows : int
        Rows of the test set of each network.

    Examples
    --------
    >>> design = paper()
    >>> len(design.networks), len(design.sizes), design.replicates, len(design.objectives)
    (10, 6, 20, 32)
    >>> design.restricted(columns=["file"]).n_cells
    38400
    """

    name: str
    networks: tuple[str, ...]
    sizes: tuple[str, ...]
    replicates: int
    objectives: tuple[str, ...]
    arms: tuple[Arm, ...] = field(default_factory=lambda: (Arm("file", Search.make("hc")),))
    seed: int = 1
    test_rows: int = 10_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", tuple(size_key(size) for size in self.sizes))
        object.__setattr__(self, "objectives", tuple(canonical(each) for each in self.objectives))
        for what in ("networks", "sizes", "objectives", "arms"):
            values = getattr(self, what)
            if not values:
                raise ParameterError(f"{what} must name at least one")
            if len(set(values)) < len(values):
                raise ParameterError(f"{what} must be different from one another, got {list(map(str, values))}")
        names = [network_name(source) for source in self.networks]
        if len(set(names)) < len(names):
            raise ParameterError(f"networks must have different names, got {names}")
        labels = {arm.search.label: arm.search for arm in self.arms}
        if any(labels[arm.search.label] != arm.search for arm in self.arms):
            raise ParameterError("searches that differ must have different labels")
        check_whole("replicates", self.replicates, least=1)
        check_whole("seed", self.seed)
        check_whole("test_rows", self.test_rows, least=_LEAST_TEST_ROWS)

    @property
    def n_cells(self) -> int:
        """Learned networks in all."""
        each = sum(len(self.objectives_of(arm)) for arm in self.arms)
        return self.replicates * len(self.networks) * len(self.sizes) * each

    def objectives_of(self, arm: Arm) -> tuple[str, ...]:
        """Objectives of an arm: its own, or those of the design."""
        return arm.objectives or self.objectives

    @property
    def every_objective(self) -> tuple[str, ...]:
        """Objectives of the design and of its arms."""
        return tuple(dict.fromkeys([*self.objectives, *(each for arm in self.arms for each in arm.objectives)]))

    def restricted(
        self,
        *,
        networks: Iterable[str] | None = None,
        sizes: Iterable[str | float] | None = None,
        replicates: int | None = None,
        objectives: Iterable[str] | None = None,
        columns: Iterable[str] | None = None,
        searches: Iterable[str] | None = None,
    ) -> Design:
        """Return the part of the design with these values only, in the order of the design."""
        changed: dict[str, Any] = {
            "networks": _chosen("networks", self.networks, networks, network_name),
            "sizes": _chosen("sizes", self.sizes, sizes, size_key),
        }
        left = _chosen("objectives", self.every_objective, objectives, canonical)
        changed["objectives"] = tuple(each for each in self.objectives if each in left) or left
        known = tuple(dict.fromkeys(arm.columns for arm in self.arms))
        wanted = _chosen("columns", known, columns, str)
        labels = tuple(dict.fromkeys(arm.search.label for arm in self.arms))
        names = _chosen("searches", labels, searches, str)
        arms = []
        for arm in self.arms:
            mine = tuple(each for each in self.objectives_of(arm) if each in left)
            if arm.columns in wanted and arm.search.label in names and mine:
                arms.append(replace(arm, objectives=mine if arm.objectives else ()))
        if not arms:
            what = "" if objectives is None else f" and objectives {left}"
            raise ParameterError(f"no arm of the design has columns {wanted} and searches {names}{what}")
        fewer = (
            self.replicates
            if replicates is None
            else min(check_whole("replicates", replicates, least=1), self.replicates)
        )
        return replace(self, **changed, arms=tuple(arms), replicates=fewer)

    def shortened(self) -> Design:
        """Return a small part of the design: the three networks with the fewest parameters, three sizes and samples."""
        from mapdag.study.samples import load_network

        few = sorted(self.networks, key=lambda source: load_network(source).n_parameters)[:_FEW]
        last = len(self.sizes) - 1
        spread = {self.sizes[i * last // (_FEW - 1)] for i in range(_FEW)}
        small = self.restricted(networks=few, sizes=sorted(spread), replicates=_FEW)
        return replace(small, name=f"{self.name} (quick)")

    def as_dict(self) -> dict[str, Any]:
        """Return the design as plain values, which `from_dict` reads."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Design:
        """Read what `as_dict` wrote."""
        changed: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list | tuple) else value for key, value in values.items()
        }
        changed["arms"] = tuple(
            Arm(
                arm["columns"],
                Search(
                    arm["search"]["label"], arm["search"]["name"], tuple((k, v) for k, v in arm["search"]["options"])
                ),
                tuple(arm.get("objectives", ())),
            )
            for arm in values["arms"]
        )
        return cls(**changed)


def network_name(source: str) -> str:
    """Name of a network in the results: a file's name without its endings, a bundled one's in lower case.

    Examples
    --------
    >>> network_name("ALARM"), network_name("nets/mine.bif.gz")
    ('alarm', 'mine')
    """
    return Path(source).name.split(".")[0] if "." in source or "/" in source else source.lower().strip()


def size_key(size: str | float) -> str:
    """Canonical text of a sample size.

    Examples
    --------
    >>> size_key(0.50), size_key("5.0"), size_key("n=500")
    ('0.5', '5', 'n=500')
    """
    text = str(size).replace(" ", "")
    rows = text[2:] if text.startswith("n=") else ""
    if rows.isdigit() and int(rows) > 0:
        return f"n={int(rows)}"
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < float("inf"):
        raise ParameterError(f"a size must be a positive ratio n/p, or 'n=ROWS', got {size!r}")
    return format(number, "g")


def n_rows(size: str, parameters: int) -> int:
    """Rows of a sample of this size from a network with so many parameters; halves are rounded up.

    Examples
    --------
    >>> n_rows("0.1", 509), n_rows("0.5", 509), n_rows("n=500", 509)
    (51, 255, 500)
    """
    if size.startswith("n="):
        return int(size[2:])
    exact = Fraction(size) * parameters
    return max(1, int(exact + Fraction(1, 2)))


def _chosen(what: str, known: Sequence[str], wanted: Iterable[Any] | None, key: Any) -> tuple[str, ...]:
    if wanted is None:
        return tuple(known)
    keys = [key(each) for each in wanted]
    names = [key(each) for each in known]
    for each in keys:
        if each not in names:
            raise ParameterError(f"{what} of the design are {', '.join(names)}; there is no {each!r}")
    return tuple(each for each, name in zip(known, names, strict=True) if name in keys)


def paper(*, seed: int = 1) -> Design:
    """Design of the paper's section 4, in file order as there, with shuffled columns, and with the default search.

    Hill climbing breaks ties by the order of the columns, as the reference implementation does. The default search
    takes longer: it is given some of the objectives, and the default one, which the paper does not know.
    """
    climbing = Search.make({"label": "hc", "search": "hc", "order": "columns"})
    arms = [Arm("file", climbing), Arm("shuffled", climbing)]
    if _default_search() != "hc":
        some = [f"{score}({alpha})" for score in ("U+BDeu", "MU(c=1)+BDs") for alpha in ("1", "5", "10")]
        arms.append(Arm("shuffled", Search.make("default"), (*some, "U+BIC", str(DEFAULT))))
    priors = ("U", "MU(beta=1/2)", "MU(c=1)", "MU(c=2)", "MU(c=5)")
    alphas = ("1", "5", "10")
    dirichlet = [f"{prior}+{kind}({alpha})" for kind in ("BDeu", "BDs") for prior in priors for alpha in alphas]
    return Design(
        name="paper",
        networks=(
            *("alarm", "andes", "child", "diabetes", "hailfinder"),
            *("hepar2", "insurance", "pathfinder", "pigs", "water"),
        ),
        sizes=("0.1", "0.2", "0.5", "1", "2", "5"),
        replicates=20,
        objectives=(*dirichlet, "U+BDeu(alpha_S)", "U+BIC"),
        arms=tuple(arms),
        seed=seed,
    )


def quick(*, seed: int = 1) -> Design:
    """Design with all the objectives on small networks and few samples: a minute at most."""
    return replace(paper(seed=seed).shortened(), name="quick")


def _default_search() -> str:
    from mapdag.search import Plan

    return Plan.make().search


def read_design(source: str | Path | Design, *, seed: int | None = None) -> Design:
    """Return a built-in design by its name, ``paper`` or ``quick``, or read one from a TOML file.

    Raises
    ------
    FileError, FormatError, ParameterError
        If there is no such file, it is not TOML, or a value makes no sense.
    """
    built_in = {"paper": paper, "quick": quick}
    if isinstance(source, Design):
        design = source
    elif str(source) in built_in:
        design = built_in[str(source)]()
    else:
        design = _from_toml(Path(source))
    return design if seed is None else replace(design, seed=seed)


def _from_toml(path: Path) -> Design:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise FileError(f"{path}: a design is 'paper', 'quick' or a TOML file; {reason}") from None
    loads, failure = _toml()
    try:
        values = loads(text)
    except failure as error:
        raise FormatError(str(error), str(path)) from None
    return design_from(values, default_name=path.stem)


def _toml() -> tuple[Any, type[Exception]]:
    from importlib import import_module

    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    return toml.loads, toml.TOMLDecodeError


def design_from(values: Mapping[str, Any], *, default_name: str = "study") -> Design:
    """Make a design from what a TOML file says.

    Examples
    --------
    >>> design_from({"networks": ["asia"], "sizes": ["n=500"], "objectives": ["BIC"], "replicates": 2}).n_cells
    2
    """
    known = {"name", "networks", "sizes", "ratios", "replicates", "objectives", "columns", "searches", "arms"}
    unknown = sorted(set(values) - known - {"seed", "test_rows"})
    if unknown:
        raise ParameterError(f"a design has {', '.join(sorted(known | {'seed', 'test_rows'}))}, not {unknown[0]!r}")
    missing = [key for key in ("networks", "objectives") if key not in values]
    if missing or not ("sizes" in values or "ratios" in values):
        raise ParameterError(f"a design must say {(missing or ['sizes'])[0]}")
    if "arms" in values and ("columns" in values or "searches" in values):
        raise ParameterError("a design says arms, or columns and searches that are all combined, not both")
    if "arms" in values:
        arms = [
            Arm(arm["columns"], Search.make(arm["search"]), tuple(arm.get("objectives", ()))) for arm in values["arms"]
        ]
    else:
        searches = [Search.make(each) for each in values.get("searches", ["hc"])]
        arms = [Arm(columns, each) for columns in values.get("columns", ["file"]) for each in searches]
    options = {key: values[key] for key in ("seed", "test_rows") if key in values}
    return Design(
        name=str(values.get("name", default_name)),
        networks=tuple(map(str, values["networks"])),
        sizes=tuple(map(str, (*values.get("ratios", ()), *values.get("sizes", ())))),
        replicates=values.get("replicates", 1),
        objectives=tuple(values["objectives"]),
        arms=tuple(arms),
        **options,
    )
