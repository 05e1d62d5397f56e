"""The objectives that are timed."""

from __future__ import annotations

U_BDEU = "BDeu(1)"
MU_BDS = "MU(c=1)+BDs(1)"


def study() -> list[str]:
    """The 31 objectives of the paper's simulation study, without the one whose alpha is estimated.

    {U, MU} x {BDeu, BDs} x alpha in {1, 5, 10}, MU with beta = 1/2 and beta = 2c/(N-1), c in {1, 2, 5}; and BIC. The
    default comes first, so that the first k of them are a sensible subset for any k.
    """
    priors = ["MU(c=1)+", "", "MU(beta=0.5)+", "MU(c=2)+", "MU(c=5)+"]
    every = [f"{prior}{score}({alpha})" for alpha in (1, 5, 10) for prior in priors for score in ("BDs", "BDeu")]
    return [*every, "BIC"]
