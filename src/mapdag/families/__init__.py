"""Scores of single families of one data set, behind one door: `FamilyScores.scores(requests)`.

Searches, reports and whole-graph scores all ask there. `fused` counts and scores in one compiled call where that can
be done.
"""

from mapdag.families.scores import Criterion, FamilyScores, check_gaps

__all__ = ["Criterion", "FamilyScores", "check_gaps"]
