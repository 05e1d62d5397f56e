"""The paper's objectives, in the notation of the results."""

from __future__ import annotations

_PRIORS = {"U": "U", "MU": "MU(beta=0.5)", "1/2": "MU(beta=0.5)", "c=1": "MU(c=1)", "c=2": "MU(c=2)", "c=5": "MU(c=5)"}


def goal(prior: str, likelihood: str, alpha: int) -> str:
    """Objective in the notation of the results; MU alone means beta = 1/2.

    Examples
    --------
    >>> goal("MU", "BDs", 1), goal("c=2", "BDeu", 10)
    ('MU(beta=0.5)+BDs(alpha=1)', 'MU(c=2)+BDeu(alpha=10)')
    """
    return f"{_PRIORS[prior]}+{likelihood}(alpha={alpha})"


BIC = "U+BIC"
STECK = "U+BDeu(alpha_S)"
MU_BDS = (goal("MU", "BDs", 1), goal("MU", "BDs", 10))
#: U and MU(1/2) with BDeu and BDs, alpha 1 and 10.
FOUR = tuple(goal(prior, kind, a) for prior in ("U", "MU") for kind in ("BDeu", "BDs") for a in (1, 10))
#: What the paper's first tables compare.
FIRST_TABLE = (*FOUR, STECK, BIC)
