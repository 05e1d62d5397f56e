"""What a study is made of: networks, sample sizes, replicates, objectives, orders of the columns, searches.

A design is a value. `read_design` reads a TOML file, or takes the name of one in `mapdag.study.design`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

from mapdag.checks import check_whole
from mapdag.disk import check_no_device
from mapdag.errors import FileError, FormatError, ParameterError
from mapdag.study.goals import canonical
from mapdag.wording import brief

Columns = Literal["file", "shuffled"]

_DIGITS = 15  # of a number of rows
_DOTS = 1_000  # in a name; none of ours has any
_MOST = 10_000  # networks, sizes, objectives and arms
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
        if not isinstance(name, str | None) or not isinstance(label, str):
            raise ParameterError(f"search and label of a search must be texts, got {name!r} and {label!r}")
        odd = next((key for key, value in options.items() if not isinstance(value, str | int | float | None)), None)
        if odd is not None:
            raise ParameterError(f"{odd} of the search {label!r} must be a number or a text, got {options[odd]!r}")
        return cls(label, name, tuple(sorted(options.items())))


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
    >>> from mapdag.study import paper
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
        for what in ("networks", "sizes", "objectives", "arms"):
            values = getattr(self, what)
            if not isinstance(values, list | tuple):
                raise ParameterError(f"{what} must be a tuple, got {brief(values)}")
            if len(values) > _MOST:
                raise ParameterError(f"{what} must be at most {_MOST:,}, got {len(values):,}")
            object.__setattr__(self, what, tuple(values))
        if not all(isinstance(each, str) for each in self.networks):
            raise ParameterError(f"networks must be names or files, got {brief(self.networks)}")
        if not all(isinstance(each, Arm) for each in self.arms):
            raise ParameterError(f"arms must be of the type Arm, got {brief(self.arms)}")
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
        object.__setattr__(self, "replicates", check_whole("replicates", self.replicates, least=1))
        object.__setattr__(self, "seed", check_whole("seed", self.seed))
        object.__setattr__(self, "test_rows", check_whole("test_rows", self.test_rows, least=1))

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
        left = _chosen("objectives", self.every_objective, objectives, canonical)
        wanted = _chosen("columns", [arm.columns for arm in self.arms], columns, str)
        names = _chosen("searches", [arm.search.label for arm in self.arms], searches, str)
        arms = []
        for arm in self.arms:
            mine = tuple(each for each in self.objectives_of(arm) if each in left)
            if arm.columns in wanted and arm.search.label in names and mine:
                arms.append(replace(arm, objectives=mine if arm.objectives else ()))
        if not arms:
            what = "" if objectives is None else f" and objectives {left}"
            raise ParameterError(f"no arm of the design has columns {wanted} and searches {names}{what}")
        most = self.replicates if replicates is None else check_whole("replicates", replicates, least=1)
        return replace(
            self,
            networks=_chosen("networks", self.networks, networks, network_name),
            sizes=_chosen("sizes", self.sizes, sizes, size_key),
            replicates=min(most, self.replicates),
            objectives=tuple(each for each in self.objectives if each in left) or left,
            arms=tuple(arms),
        )

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
        try:
            arms = []
            for arm in values["arms"]:
                search = arm["search"]
                given = {"label": search["label"], "search": search["name"], **dict(search["options"])}
                arms.append(_arm({"columns": arm["columns"], "search": given, "objectives": arm.get("objectives", ())}))
            found = design_from({key: value for key, value in values.items() if key != "arms"})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"not a design as studies keep it: {error!r:.200}", "design") from None
        return replace(found, arms=tuple(arms))


def network_name(source: str) -> str:
    """Name of a network in the results: a file's name without its endings, a bundled one's in lower case.

    Examples
    --------
    >>> network_name("ALARM"), network_name("nets/mine.bif.gz")
    ('alarm', 'mine')
    """
    return Path(source).name.split(".")[0] if is_file(source) else source.lower().strip()


def is_file(source: str) -> bool:
    """Whether a network is that of a file, not a bundled one."""
    return "." in source or "/" in source


def size_key(size: str | float) -> str:
    """Canonical text of a sample size.

    Examples
    --------
    >>> size_key(0.50), size_key("5.0"), size_key("n=500")
    ('0.5', '5', 'n=500')
    """
    text = str(size).replace(" ", "")
    rows = text[2:] if text.startswith("n=") else ""
    if rows.isascii() and rows.isdecimal() and len(rows) <= _DIGITS and int(rows) > 0:
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
    """Return those of the known values, each once, that are wanted."""
    by_key = {key(each): each for each in known}
    keys = by_key if wanted is None else [key(each) for each in wanted]
    for each in keys:
        if each not in by_key:
            raise ParameterError(f"{what} of the design are {', '.join(by_key)}; there is no {each!r}")
    return tuple(value for name, value in by_key.items() if name in keys)


def read_design(source: str | Path | Design, *, seed: int | None = None) -> Design:
    """Return a built-in design by its name, ``paper`` or ``quick``, or read one from a TOML file.

    Raises
    ------
    FileError, FormatError, ParameterError
        If there is no such file, it is not TOML, or a value makes no sense.
    """
    from mapdag.study.design import paper, quick

    built_in = {"paper": paper, "quick": quick}
    if isinstance(source, Design):
        design = source
    elif str(source) in built_in:
        design = built_in[str(source)]()
    else:
        design = _from_toml(Path(source))
    return design if seed is None else replace(design, seed=seed)


def _from_toml(path: Path) -> Design:
    check_no_device(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise FileError(f"{path}: a design is 'paper', 'quick' or a TOML file; {reason}") from None
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    if any(part.count(".") > _DOTS for part in re.split(r"[=,\[\]{}#\n]", text)):  # squares of it would be the time
        raise FormatError(f"the name of a value has more than {_DOTS:,} parts", str(path))
    try:
        values = toml.loads(text)
    except (ValueError, RecursionError) as error:  # not TOML, numbers of thousands of digits, brackets within brackets
        raise FormatError(str(error), str(path)) from None
    return design_from(values, default_name=path.stem)


def design_from(values: Mapping[str, Any], *, default_name: str = "study") -> Design:
    """Make a design from what a TOML file says.

    Examples
    --------
    >>> design_from({"networks": ["asia"], "sizes": ["n=500"], "objectives": ["BIC"], "replicates": 2}).n_cells
    2
    """
    known = {field.name for field in fields(Design)} | {"ratios", "columns", "searches"}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ParameterError(f"a design has {', '.join(sorted(known))}, not {unknown[0]!r}")
    missing = [key for key in ("networks", "objectives") if key not in values]
    if missing or not ("sizes" in values or "ratios" in values):
        raise ParameterError(f"a design must say {(missing or ['sizes'])[0]}")
    if "arms" in values and ("columns" in values or "searches" in values):
        raise ParameterError("a design says arms, or columns and searches that are all combined, not both")
    if "arms" in values:
        arms = [_arm(arm) for arm in _listed(values, "arms")]
    else:
        searches = [Search.make(each) for each in _listed(values, "searches", "hc")]
        arms = [Arm(columns, each) for columns in _listed(values, "columns", "file") for each in searches]
    options = {key: values[key] for key in ("seed", "test_rows") if key in values}
    return Design(
        name=str(values.get("name", default_name)),
        networks=tuple(map(str, _listed(values, "networks"))),
        sizes=tuple(map(str, (*_listed(values, "ratios"), *_listed(values, "sizes")))),
        replicates=values.get("replicates", 1),
        objectives=tuple(_listed(values, "objectives")),
        arms=tuple(arms),
        **options,
    )


def _listed(values: Mapping[str, Any], key: str, *default: Any) -> Sequence[Any]:
    """Return a value that must be a list, or what is taken where there is none."""
    found = values.get(key, default)
    if not isinstance(found, list | tuple):
        raise ParameterError(f"{key} of a design must be a list, got {found!r}")
    return found


def _arm(values: Any) -> Arm:
    """Read an arm: columns, search, and objectives of its own if it has any."""
    if not isinstance(values, Mapping) or not {"columns", "search"} <= set(values) <= {
        "columns",
        "search",
        "objectives",
    }:
        raise ParameterError(f"an arm must be a table with columns, search and possibly objectives, got {values!r}")
    return Arm(values["columns"], Search.make(values["search"]), tuple(_listed(values, "objectives")))


# Built-in designs ----------------------------------------------------------------------------------------------------


def paper(*, seed: int = 1) -> Design:
    """Design of the paper's section 4, in file order as there, with shuffled columns, and with the default search.

    Hill climbing breaks ties by the order of the columns, as the reference implementation does. The default search
    takes longer: it is given some of the objectives, and the default one, which the paper does not know.
    """
    climbing = Search.make({"label": "hc", "search": "hc", "order": "columns"})
    priors = ("U", "MU(beta=1/2)", "MU(c=1)", "MU(c=2)", "MU(c=5)")
    alphas = ("1", "5", "10")
    dirichlet = [f"{prior}+{kind}({alpha})" for kind in ("BDeu", "BDs") for prior in priors for alpha in alphas]
    some = [f"{score}({alpha})" for score in ("U+BDeu", "MU(c=1)+BDs") for alpha in alphas]
    return Design(
        name="paper",
        networks=(
            *("alarm", "andes", "child", "diabetes", "hailfinder"),
            *("hepar2", "insurance", "pathfinder", "pigs", "water"),
        ),
        sizes=("0.1", "0.2", "0.5", "1", "2", "5"),
        replicates=20,
        objectives=(*dirichlet, "U+BDeu(alpha_S)", "U+BIC"),
        arms=(
            Arm("file", climbing),
            Arm("shuffled", climbing),
            Arm("shuffled", Search.make("default"), (*some, "U+BIC", "Support(3)+MU(c=1)+BDs(1)")),
        ),
        seed=seed,
    )


def quick(*, seed: int = 1) -> Design:
    """Design with all the objectives on small networks and few samples: a minute at most."""
    return replace(paper(seed=seed).shortened(), name="quick")
