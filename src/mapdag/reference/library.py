"""The bundled networks, each read once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from mapdag.checks import is_one_of
from mapdag.errors import ParameterError
from mapdag.io.bif_reader import read_bif
from mapdag.io.files import decode
from mapdag.reference.catalogue import DATA, catalogue
from mapdag.wording import brief, did_you_mean, near

if TYPE_CHECKING:
    from mapdag.networks import BayesianNetwork


def network(name: str) -> BayesianNetwork:
    """Return a reference network; its nodes are in the order of the original file.

    Parameters
    ----------
    name : str
        As in `catalogue`, in lower or upper case.

    Examples
    --------
    >>> network("ALARM")
    BayesianNetwork(37 nodes, 46 arcs, 509 parameters)
    >>> network("alram")
    Traceback (most recent call last):
    mapdag.errors.ParameterError: there is no network 'alram'; did you mean 'alarm'?
    """
    names = [entry.name for entry in catalogue()]
    wanted = name.lower().strip() if isinstance(name, str) else name
    if not is_one_of(wanted, names):
        hint = did_you_mean(near(wanted, names, 3)) or f"; there are {', '.join(names)}"
        raise ParameterError(f"there is no network {brief(name)}{hint}")
    return _load(wanted)


@cache
def _load(name: str) -> BayesianNetwork:
    """Networks never change, so that one copy does for all."""
    source = f"{name}.bif.gz"
    return read_bif(decode((DATA / source).read_bytes(), source), source)
