"""What likelihoods without parameters have in common: one recipe, whatever the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mapdag.contracts import Likelihood

if TYPE_CHECKING:
    from mapdag.contracts import Recipe


class Fixed(Likelihood):
    """A likelihood that is a `Recipe`, and is written as its name alone."""

    fixed: ClassVar[Recipe]

    def recipe(self, total: float, n_nodes: int) -> Recipe:
        """The same for all data."""
        del total, n_nodes
        return self.fixed

    def __str__(self) -> str:
        return type(self).__name__
