"""The tables that the explorer holds: where each comes from, what is in it, and its scores, shared by all requests."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mapdag.data import as_dataset
from mapdag.data.interventions import refuse_interventions
from mapdag.errors import CapacityError, DataError, MapdagError, Message, ParameterError
from mapdag.explorer.memory import Memory
from mapdag.explorer.settings import Settings
from mapdag.notices import heard
from mapdag.reference import network
from mapdag.search.plan import Plan
from mapdag.wording import plural

if TYPE_CHECKING:
    from mapdag.data import Dataset
    from mapdag.explorer.limits import Limits

_LEVELS = 250  # levels of a column that the page is told


@dataclass(frozen=True)
class Source:
    """Where a table comes from: a sample of a bundled network, a file, or an object of Python's.

    Attributes
    ----------
    name : str
        What it is called.
    network, rows, seed
        Of a sample.
    path : str, optional
        Of a file on this machine; one that was dropped on the page has a name only.
    options : mapping
        Of `mapdag.read`.
    like : str, optional
        The network whose levels a file has.
    """

    name: str
    network: str | None = None
    rows: int = 0
    seed: int = 0
    path: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    like: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what a session file keeps."""
        if self.network is not None:
            return {"network": self.network, "rows": self.rows, "seed": self.seed}
        known = {"path": self.path} if self.path is not None else {}
        return {"file": self.name, **known, "options": _plain(self.options)}


@dataclass(frozen=True, eq=False)
class Table:
    """A table that is held.

    Attributes
    ----------
    key : str
        What the page calls it.
    data : Dataset
    source : Source
    warnings : tuple of str
        What reading it had to say.
    budget : int
        Bytes of scores and counts that may be remembered.
    settings : Settings, optional
        What the page begins with, where that is not the usual.
    """

    key: str
    data: Dataset
    source: Source
    warnings: tuple[str, ...] = ()
    budget: int = 0
    settings: Settings | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def memory(self) -> Memory:
        """What was counted and scored so far, in the order of columns by which ties are broken."""
        with self._lock:
            return self._memory

    @cached_property
    def _memory(self) -> Memory:
        arranged, alike = Plan.make().arrange(self.data)
        return Memory(arranged, alike, self.budget)

    @cached_property
    def fingerprint(self) -> str:
        """What tells this table from others."""
        return fingerprint_of(self.data)

    def to_json(self) -> dict[str, Any]:
        """Return what the page is told."""
        data = self.data
        return {
            "data": self.key,
            "name": self.source.name,
            "rows": data.n_rows,
            "total": data.total,
            "gaps": data.has_gaps,
            "columns": [
                {
                    "name": name,
                    "r": len(data.levels[name]),
                    "levels": list(data.levels[name][:_LEVELS]),
                    "counts": data.observed(name)[:_LEVELS].tolist(),
                }
                for name in data.names
            ],
            "source": self.source.to_json(),
            "fingerprint": self.fingerprint,
            "settings": None if self.settings is None else self.settings.to_json(),
            "advice": [],
            "warnings": list(self.warnings),
        }


def fingerprint_of(data: Dataset) -> str:
    """Return what tells a table from others: names, levels, values and weights."""
    digest = hashlib.sha256()
    for name in data.names:
        digest.update(repr((name, data.levels[name])).encode("utf-8", "backslashreplace"))
    digest.update(data.codes.tobytes())
    if data.weights is not None:
        digest.update(data.weights.tobytes())
    if data.groups is not None:
        digest.update(data.groups.tobytes())
    return digest.hexdigest()[:32]


class Library:
    """All tables that are held; any thread may ask.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._tables: dict[str, Table] = {}
        self._number = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._tables)

    def tables(self) -> list[Table]:
        """All of them, the oldest first."""
        with self._lock:
            return list(self._tables.values())

    def get(self, key: Any) -> Table:
        """Return one of them."""
        with self._lock:
            found = self._tables.get(key) if isinstance(key, str) else None
        if found is None:
            raise ParameterError(f"there is no table {str(key)[:80]!r}: open it again")
        return found

    def drop(self, key: str) -> None:
        """Let go of one of them."""
        self.get(key)
        with self._lock:
            self._tables.pop(key, None)

    def add(
        self, data: Dataset, source: Source, warnings: tuple[str, ...] = (), settings: Settings | None = None
    ) -> Table:
        """Hold a table; one that is held already is found again."""
        if data.n_rows > self._limits.rows:
            raise CapacityError(
                f"{source.name} has {plural(data.n_rows, 'row')}, more than the {self._limits.rows:,} that are "
                "taken: start it with a higher --max-rows"
            )
        if data.engine != "cores":
            raise CapacityError(f"{source.name} is left in its files, and the explorer needs its rows in memory")
        refuse_interventions(data, "the explorer")
        if data.n_columns < 2:
            raise DataError(f"{source.name} has one column: a graph needs two at least")
        if settings is None and data.has_gaps:
            settings = Settings(likelihood="PNAL")  # others take no gaps
        with self._lock:
            for known in self._tables.values():
                if known.source == source and known.settings == settings and known.data == data:
                    return known
            if len(self._tables) >= self._limits.tables:
                raise CapacityError(f"{len(self._tables)} tables are open: close one of them first")
            self._number += 1
            made = Table(f"t{self._number}", data, source, warnings, self._limits.memory, settings)
            self._tables[made.key] = made
        return made

    def sample(self, name: str, rows: int, seed: int) -> Table:
        """Draw a sample of a bundled network."""
        if not 1 <= rows <= self._limits.rows:
            raise ParameterError(f"rows must be between 1 and {self._limits.rows:,}, got {rows:,}")
        found = network(name)
        called = name.lower().strip()
        data = found.sample(rows, seed=seed)
        return self.add(data, Source(called, network=called, rows=rows, seed=seed))

    def read(self, name: str, content: bytes, options: Mapping[str, Any]) -> Table:
        """Read a file that was dropped on the page.

        Raises
        ------
        Unreadable
            With the advice of `mapdag.check`.
        """
        try:
            with heard() as said:
                data = as_dataset(content, **options)
        except MapdagError as error:
            from mapdag.explorer.advice import Unreadable, advice_on

            raise Unreadable(error, advice_on(content, options, error)) from error
        return self.add(data, Source(name, options=dict(options)), tuple(str(Message(*parts)) for parts in said))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
