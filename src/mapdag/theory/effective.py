"""What is left of a table when most of it was never observed: effective parameters, effective sample size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mapdag.theory.alphas import of_table

if TYPE_CHECKING:
    from mapdag.counts import CountTable


def effective_parameters(table: CountTable) -> int:
    """Effective number of parameters, d_EP: positive cells minus observed configurations.

    The display in the paper has a plus; its proofs and examples have the minus.

    Examples
    --------
    >>> from mapdag import CountTable
    >>> effective_parameters(CountTable.from_dense([[2, 1], [1, 2], [0, 0]]))
    2
    """
    return len(table.counts) - table.q_obs


def effective_degrees_of_freedom(with_arc: CountTable, without: CountTable) -> int:
    """d_EDF: effective parameters gained by one more parent; negative where zero cells abound."""
    return effective_parameters(with_arc) - effective_parameters(without)


@of_table
def effective_alpha(table: CountTable, alpha: float) -> float:
    """Imaginary sample size that BDeu has in the observed configurations: alpha q_obs / q.

    The rest of alpha sits in configurations that were not observed, where it does nothing (section 3.1 of the paper).

    Examples
    --------
    >>> from mapdag import CountTable
    >>> effective_alpha(CountTable.from_dense([[2, 1], [0, 0], [0, 0], [1, 2]]), 10)
    5.0
    """
    # A fraction of whole numbers: q may exceed the floats.
    return alpha * (table.q_obs / table.q)
