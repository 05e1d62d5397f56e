"""A network for others: as a file, and as an object of other packages.

`mapdag.io`, which does it, is a layer above this one: it is called by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os


class Exports:
    """What a network can be turned into."""

    __slots__ = ()

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002 - as in `write_network`
        """Write the network to a file; see `mapdag.io.write_network`."""
        import_module("mapdag.io").write_network(self, path, format=format)

    def to_pgmpy(self) -> Any:
        """Return a `DiscreteBayesianNetwork` of pgmpy; `mapdag.from_pgmpy` is the way back.

        Its states are what the levels stand for: numbers for columns of numbers, truth values, or labels as they are.
        """
        return import_module("mapdag.io.with_pgmpy").to_pgmpy(self)

    def to_pyagrum(self) -> Any:
        """Return a `BayesNet` of pyAgrum; `mapdag.from_pyagrum` is the way back.

        Columns of numbers become variables of numbers, others have their labels as they are.
        """
        return import_module("mapdag.io.with_pyagrum").to_pyagrum(self)

    def to_networkx(self) -> Any:
        """Return a networkx `DiGraph`; its nodes have the attributes `levels`, `parents` and `cpt`.

        `mapdag.from_networkx` is the way back.

        Examples
        --------
        >>> from mapdag.reference import network
        >>> network("asia").to_networkx().nodes["tub"]["cpt"].tolist()
        [[0.05, 0.95], [0.01, 0.99]]
        """
        return import_module("mapdag.io.with_networkx").to_networkx(self)
