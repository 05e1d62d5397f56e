"""Where results are kept: one SQLite file, written by one process, a transaction for every batch of rows.

Rows have the cell as their key, so that none can be there twice. Write-ahead logging makes commits cheap, and a process
that dies at any moment leaves the last commit behind.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import sqlite3
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mapdag.errors import FileError, StudyError
from mapdag.study.cells import FIELDS, Cell, Row
from mapdag.study.design import Design
from mapdag.study.records import (
    PARTS,
    RUN,
    WORK,
    Damaged,
    as_row,
    check_values,
    mapping_from,
    meta_from,
    row_from_text,
    same_results,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from mapdag.study.design import Search
    from mapdag.study.worker import Work

#: Raised whenever a change of the library alters what a study finds.
RESULTS_VERSION = 5
#: The searches (as the library calls them) whose results each version changed: those of all others are as good as new.
CHANGED: Mapping[int, frozenset[str]] = MappingProxyType({each: frozenset({"orders"}) for each in (2, 3, 4, 5)})
FILE = "results.sqlite"
ROWS, SUMMARY = "rows.csv.gz", "summary.json"  # results as they are published

_PATIENCE, _READERS_PATIENCE = 60.0, 5.0  # seconds to wait while another program holds the file
_KEY = FIELDS[: len(Cell._fields)]
_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL", "float | None": "REAL"}


def _schema() -> str:
    types = {name: _TYPES[str(Row.__annotations__[name])] for name in FIELDS}
    columns = ", ".join(f"{name} {types[name]}{'' if name == 'alpha' else ' NOT NULL'}" for name in FIELDS)
    return f"""
        CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS searches (label TEXT PRIMARY KEY, name TEXT NOT NULL, options TEXT NOT NULL)
            WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS results ({columns}, PRIMARY KEY ({", ".join(_KEY)})) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, machine TEXT NOT NULL,
            versions TEXT NOT NULL, workers INTEGER NOT NULL, seconds REAL NOT NULL, cells INTEGER NOT NULL);
        CREATE TABLE IF NOT EXISTS work (run INTEGER NOT NULL, network TEXT NOT NULL, size TEXT NOT NULL,
            replicate INTEGER NOT NULL, columns TEXT NOT NULL, sampling REAL NOT NULL, learning REAL NOT NULL,
            judging REAL NOT NULL, cpu REAL NOT NULL, families INTEGER NOT NULL, cells INTEGER NOT NULL);
    """


class Store:
    """The results of a study in a directory; a context, closed at its end.

    Parameters
    ----------
    directory : path
        Where the file `results.sqlite` is. Where it is not, but results as they are published (`rows.csv.gz` and
        `summary.json`), these are read.
    create : bool
        Whether to make it if there is none.
    """

    def __init__(self, directory: str | Path, *, create: bool = False) -> None:
        self.path = Path(directory) / FILE
        published = not self.path.exists() and self.path.with_name(ROWS).exists()
        if create:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        elif not published and not self.path.exists():
            raise FileError(f"{directory}: there are no results of a study here ({FILE} is missing)")
        self._writes = create or published
        try:
            self._db = self._opened(":memory:" if published and not create else self.path)
            if self._writes:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._db.executescript(f"BEGIN IMMEDIATE; {_schema()} COMMIT;")
            elif self._db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
                raise FileError(f"{directory}: there are no results of a study here ({FILE} is empty)")
        except (sqlite3.Error, UnicodeDecodeError) as error:  # whose messages name tables as a damaged file has them
            raise FileError(f"{self.path}: {_trouble(error)}") from None
        if published:
            self._read_published()

    def _opened(self, file: str | Path) -> sqlite3.Connection:
        """Open a file; where nothing can be written beside it, as one that nobody changes."""
        if self._writes:
            return sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
        log = self.path.with_name(f"{FILE}-wal")  # has what a run that was killed has written last
        fixed = "?immutable=1" if not os.access(self.path.parent, os.W_OK) and not log.exists() else "?mode=rw"
        where = self.path.absolute().as_uri() + fixed
        return sqlite3.connect(where, timeout=_READERS_PATIENCE, isolation_level=None, uri=True)

    def _read_published(self) -> None:
        """Take over rows and summary as `write_report` and `export` leave them."""
        try:
            summary = json.loads(self.path.with_name(SUMMARY).read_text(encoding="utf-8"))
            with gzip.open(self.path.with_name(ROWS), "rt", encoding="utf-8", newline="") as lines:
                self.add(row_from_text(each) for each in csv.DictReader(lines))
            self.set_meta({key: summary[key] for key in ("results_version", "seed", "test_rows", "design")})
            searches = {label: (found["name"], found["options"]) for label, found in summary["searches"].items()}
            spent = [summary["worker_seconds"][part] for part in PARTS]  # of all tasks together
            last = summary["runs"][-1]["id"] if summary["runs"] else 0
            self._take_over(searches, summary["runs"], [(last, "", "", 0, "", *spent, 0, 0)])
            self._checked_all()
        except (OSError, EOFError, zlib.error, csv.Error, RecursionError, sqlite3.Error) as error:
            raise FileError(f"{self.path.parent}: {ROWS} and {SUMMARY} cannot be read: {error}") from None
        except (AttributeError, KeyError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise FileError(f"{self.path.parent}: {ROWS} or {SUMMARY} is damaged: {error!r:.200}") from None

    def _checked_all(self) -> None:
        """Look at everything once."""
        _ = self.meta, self.searches, self.runs, self.work, list(self.rows())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            self.close()
        except sqlite3.Error as failed:
            error = error or failed
        if isinstance(error, (sqlite3.Error, Damaged)):  # damaged, locked, or no space left
            raise FileError(f"{self.path}: {_trouble(error)}") from error

    def close(self) -> None:
        """Put everything into the one file, and let it go."""
        with closing(self._db) as db:
            if self._writes:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def copied(self) -> Store:
        """Return a copy in memory of which all was looked at, so that what goes wrong with it is not the file's."""
        copy = object.__new__(Store)
        copy.path, copy._writes = self.path, False
        copy._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.backup(copy._db)
        copy._checked_all()
        return copy

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _insert(self, table: str, rows: Iterable[Sequence[Any]], *, replace: bool = False) -> None:
        """Write rows to a table, all or none; one whose key is there already is left out, or replaces the other."""
        values = list(rows)
        if values:
            how, marks = "REPLACE" if replace else "IGNORE", ", ".join("?" * len(values[0]))
            with self._transaction() as db:
                db.executemany(f"INSERT OR {how} INTO {table} VALUES ({marks})", values)  # noqa: S608 - our own names

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out for as long as this one lives, however it ends."""
        path = self.path.with_suffix(".lock")
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.DatabaseError as error:
                if "locked" in str(error):
                    raise StudyError(f"{self.path.parent}: another run is at work here") from None
                raise FileError(f"{path} cannot be used: {error}; if no run is at work, delete it") from error
            yield

    @property
    def meta(self) -> dict[str, Any]:
        """What is known of the study as a whole: its identity, and the design that it was last run with."""
        return meta_from(self._db.execute("SELECT key, value FROM meta"))

    @property
    def design(self) -> Design | None:
        """The design that the study was last run with."""
        values = self.meta.get("design")
        return None if values is None else Design.from_dict(values)

    def set_meta(self, values: Mapping[str, Any]) -> None:
        """Write some of the study's data."""
        self._insert("meta", [(key, json.dumps(value)) for key, value in values.items()], replace=True)

    def claim(self, *, seed: int, test_rows: int, fresh: bool = False) -> None:
        """Make sure that the results here are of this seed, test set and version; the first to ask decides.

        Parameters
        ----------
        seed, test_rows : int
        fresh : bool
            Whether to throw away what does not fit, instead of refusing to go on.
        """
        wanted = {"results_version": RESULTS_VERSION, "seed": seed, "test_rows": test_rows}
        found = self.meta
        differing = [key for key, value in wanted.items() if found.get(key, value) != value]
        outdated = self.outdated(found.get("results_version", RESULTS_VERSION))
        if differing == ["results_version"] and outdated is not None:
            if outdated and not fresh:
                raise StudyError(
                    f"{self.path.parent}: results of {' and '.join(outdated)} here are of an older version "
                    f"({found['results_version']}, now {RESULTS_VERSION}); choose another directory, or start these "
                    "afresh (fresh), which keeps all others"
                )
            self._forget(outdated)
        elif differing:
            if not fresh:
                told = " and ".join(f"{key} {found[key]} (asked for: {wanted[key]})" for key in differing)
                raise StudyError(
                    f"{self.path.parent}: the results here are of {told}; choose another directory, or start afresh "
                    "(fresh)"
                )
            with self._transaction() as db:
                for table in ("results", "searches", "runs", "work"):
                    db.execute(f"DELETE FROM {table}")  # noqa: S608 - names from the line above
        self.set_meta(wanted)

    def outdated(self, version: int, now: int | None = None) -> list[str] | None:
        """Labels of searches here that changed between two versions; None where it is not known what has."""
        last = RESULTS_VERSION if now is None else now
        since = range(version + 1, last + 1)
        if version > last or any(each not in CHANGED for each in since):
            return None
        changed = frozenset().union(*(CHANGED[each] for each in since))
        return [label for label, (name, _) in self.searches.items() if name in changed]

    def _forget(self, searches: Iterable[str]) -> None:
        """Throw away the results of some searches, by label."""
        with self._transaction() as db:
            db.executemany("DELETE FROM results WHERE search = ?", [(label,) for label in searches])

    def claim_search(self, search: Search, resolved: str) -> None:
        """Make sure that a label always means the same search; `resolved` is the name that the library gave it."""
        options = json.dumps(dict(search.options), sort_keys=True)
        found = self._db.execute("SELECT name, options FROM searches WHERE label = ?", (search.label,)).fetchone()
        if found is None:
            self._insert("searches", [(search.label, resolved, options)])
        elif found != (resolved, options):
            raise StudyError(
                f"{self.path.parent}: search {search.label!r} of the results here is {found[0]} with options "
                f"{found[1]}, not {resolved} with {options}; give it another label"
            )

    @property
    def searches(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The library's name and the options of each search, by label."""
        rows = self._db.execute("SELECT label, name, options FROM searches ORDER BY label")
        found = {}
        for label, name, options in rows:
            check_values((label, name), {"label of a search": (str,), "name of a search": (str,)})
            found[label] = name, mapping_from(f"options of the search {label!r}", options)
        return found

    def cells(self) -> set[Cell]:
        """All cells that are done."""
        return {Cell(*row) for row in self._db.execute(f"SELECT {', '.join(_KEY)} FROM results")}  # noqa: S608

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM results").fetchone()[0])

    def add(self, rows: Iterable[Row]) -> None:
        """Write rows, all or none; one whose cell is there already is left out."""
        self._insert("results", [[getattr(row, name) for name in FIELDS] for row in rows])

    def rows(self) -> Iterator[Row]:
        """All rows, in the order of their cells."""
        query = f"SELECT {', '.join(FIELDS)} FROM results ORDER BY {', '.join(_KEY)}"  # noqa: S608
        for values in self._db.execute(query):
            yield as_row(values)

    def begin_run(self, *, started: str, machine: str, versions: Mapping[str, str], workers: int) -> int:
        """Note that a run begins; returns its number."""
        with self._transaction() as db:
            found = db.execute(
                "INSERT INTO runs (started, machine, versions, workers, seconds, cells) VALUES (?, ?, ?, ?, 0, 0)",
                (started, machine, json.dumps(dict(versions)), workers),
            )
            return int(found.lastrowid or 0)

    def update_run(self, run: int, *, seconds: float, cells: int) -> None:
        """Note how far a run has come."""
        with self._transaction() as db:
            db.execute("UPDATE runs SET seconds = ?, cells = ? WHERE id = ?", (seconds, cells, run))

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Every run so far."""
        found = []
        for values in self._db.execute(f"SELECT {', '.join(RUN)} FROM runs ORDER BY id"):  # noqa: S608 - our own names
            check_values(values, RUN)
            run = dict(zip(RUN, values, strict=True))
            found.append({**run, "versions": mapping_from("versions", run["versions"])})
        return found

    def log_work(self, run: int, sample: tuple[str, str, int, str], work: Work) -> None:
        """Note where the time of a task went."""
        self._insert("work", [(run, *sample, *astuple(work))])

    @property
    def work(self) -> list[tuple[Any, ...]]:
        """Where the time of every task went: run, sample, columns, seconds of each part, families, cells."""
        query = f"SELECT {', '.join(WORK)} FROM work ORDER BY run, network, size, replicate, columns"  # noqa: S608
        found = self._db.execute(query).fetchall()
        for values in found:
            check_values(values, WORK)
        return found

    def merge(self, other: Store, *, fresh: bool = False) -> int:
        """Take over the results of another store of the same study; returns how many cells are new.

        Parameters
        ----------
        other : Store
        fresh : bool
            Whether to throw away what a newer version of the two has changed.

        Raises
        ------
        StudyError
            If the seeds, versions or searches differ, or the two disagree about a cell.
        """
        mine, theirs = self.meta, other.meta
        for key in ("seed", "test_rows"):
            if key in mine and mine[key] != theirs.get(key):
                raise StudyError(
                    f"{other.path.parent}: {key} is {theirs.get(key)} there, but {mine[key]} in the others"
                )
        for label, found in other.searches.items():
            if self.searches.get(label, found) != found:
                raise StudyError(f"{other.path.parent}: search {label!r} is not the same there as in the others")
        version, stale = self._common_version(other, fresh=fresh)
        known = {row.cell: row for row in self.rows()}
        new = []
        for row in other.rows():
            if row.search in stale:
                continue
            if row.cell not in known:
                new.append(row)
            elif not same_results(row, known[row.cell]):
                raise StudyError(f"{other.path.parent}: {row.cell} has other results there")
        self.set_meta({**theirs, **mine, "results_version": version})
        runs = [_without_number(run) for run in self.runs]
        known_runs = {run["id"] for run in other.runs if _without_number(run) in runs}
        self._take_over(
            other.searches,
            [run for run in other.runs if run["id"] not in known_runs],
            [each for each in other.work if each[0] not in known_runs],
        )
        self.add(new)
        return len(new)

    def _common_version(self, other: Store, *, fresh: bool) -> tuple[int, Collection[str]]:
        """Version that the results of both are of, and the searches of the other whose results are not taken over.

        Results of searches that are the same in two versions are of both. So the older version it is, where only the
        older results have searches that the newer changed, and the newer one, where only the newer results have. Where
        both have, or all is to be fresh, the older results of these are thrown away.
        """
        theirs = other.meta.get("results_version")
        if theirs is None:
            raise StudyError(f"{other.path.parent}: no run has begun here, or {FILE} is damaged: leave it out")
        mine = self.meta.get("results_version", theirs)
        if mine == theirs:
            return theirs, ()
        (older, low), (newer, high) = sorted([(self, mine), (other, theirs)], key=lambda each: each[1])
        old, new = older.outdated(low, high), newer.outdated(low, high)
        if old is None or new is None:
            raise StudyError(f"{other.path.parent}: results_version is {theirs} there, but {mine} in the others")
        stale = sorted({row.search for row in older.rows()}.intersection(old))
        changed = {row.search for row in newer.rows()}.intersection(new)
        if stale and changed and not fresh:
            raise StudyError(
                f"{older.path.parent}: results of {' and '.join(stale)} there are of an older version ({low}, not "
                f"{high} as those of {newer.path.parent}); leave these out (fresh), which keeps all others"
            )
        if stale and not fresh:
            return low, ()
        if older is self:
            self._forget(stale)
            return high, ()
        return high, stale

    def _take_over(
        self,
        searches: Mapping[str, tuple[str, dict[str, Any]]],
        runs: Iterable[Mapping[str, Any]],
        work: Iterable[Sequence[Any]],
    ) -> None:
        """Write searches, runs under new numbers, and their work, all as the properties of a store have them."""
        self._insert(
            "searches", [(key, name, json.dumps(given, sort_keys=True)) for key, (name, given) in searches.items()]
        )
        numbers: dict[int, int] = {}
        for run in runs:
            begun = {key: run[key] for key in ("started", "machine", "versions", "workers")}
            number = numbers[run["id"]] = self.begin_run(**begun)
            self.update_run(number, seconds=run["seconds"], cells=run["cells"])
        self._insert("work", [(numbers.get(run, 0), *rest) for run, *rest in work])


def merge(sources: Iterable[str | Path], out: str | Path, *, fresh: bool = False) -> dict[str, int]:
    """Put the results of several directories into one, which may have some already; each cell is there once.

    Parameters
    ----------
    sources : iterable of path
        Directories of results with the same seed and test set; of the same version, too, but for searches that are the
        same in both.
    out : path
        Directory of all of them.
    fresh : bool
        Whether to leave out results that a newer version among them has changed, instead of refusing.

    Returns
    -------
    dict of str to int
        New cells from each source.

    Raises
    ------
    StudyError
        If two of them are not of the same study, or disagree about a cell.
    """
    others = []
    for source in sources:
        with Store(source) as each:
            others.append((str(source), each.copied()))
    with Store(out, create=True) as store, store.locked():
        found: Counter[str] = Counter()
        for name, other in others:
            found[name] += store.merge(other, fresh=fresh)
        return dict(found)


def _without_number(run: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key != "id"}


def _trouble(error: Exception) -> str:
    """Say what is wrong with a file of results, and what to do."""
    if "locked" in str(error):
        return "another program holds it: try again when that is done"
    if "disk I/O" in str(error) or "is full" in str(error):
        return f"{error}: the disk may be full"
    return f"{error}; a copy of it, or another directory, would help if it is damaged"
