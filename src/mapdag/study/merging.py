"""Putting together the results of one study from several machines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mapdag.study.store import Store


def merge(sources: Iterable[str | Path], out: str | Path) -> dict[str, int]:
    """Put the results of several directories into one, which may have some already; each cell is there once.

    Parameters
    ----------
    sources : iterable of path
        Directories of results with the same seed, test set and version.
    out : path
        Directory of all of them.

    Returns
    -------
    dict of str to int
        New cells from each source.

    Raises
    ------
    StudyError
        If two of them are not of the same study, or disagree about a cell.
    """
    with Store(out, create=True) as store, store.locked():
        found = {}
        for source in sources:
            with Store(source) as other:
                found[str(source)] = store.merge(other)
        return found
