"""What the bundled networks are: their size, where they come from, whom to cite. The figures are checked by a test."""

from __future__ import annotations

from dataclasses import dataclass

_REPOSITORY = "Bayesian network repository, https://www.bnlearn.com/bnrepository/, by way of pgmpy"

_MUNIN = (
    "Andreassen, S., Jensen, F. V., Andersen, S. K., Falck, B., Kjaerulff, U., Woldbye, M., Sorensen, A. R., "
    "Rosenfalck, A., Jensen, F. (1989). MUNIN: An Expert EMG Assistant. In Computer-Aided Electromyography and Expert "
    "Systems, chapter 21. Elsevier."
)
_KORB = "Korb, K. B., Nicholson, A. E. (2010). Bayesian Artificial Intelligence, 2nd edition, section {}. CRC Press."
_LISTED = "Scutari, Beyond Uniform Priors in Bayesian Network Structure Learning (2017), lists it with {}."


@dataclass(frozen=True)
class Entry:
    """A reference network.

    Parameters
    ----------
    name : str
        What `network` calls it.
    nodes, arcs, parameters : int
        Its size; parameters are free ones, the sum of (r - 1) q.
    citation : str
        The publication to cite.
    note : str
        Where it differs from what has been published, or nothing.
    source : str
        Where the file comes from.

    Examples
    --------
    >>> alarm = next(entry for entry in catalogue() if entry.name == "alarm")
    >>> alarm.nodes, alarm.arcs, alarm.parameters
    (37, 46, 509)
    """

    name: str
    nodes: int
    arcs: int
    parameters: int
    citation: str
    note: str = ""
    source: str = _REPOSITORY


# Nodes, arcs, free parameters.
_SIZES = {
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "barley": (48, 84, 114005),
    "cancer": (5, 4, 10),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "munin1": (186, 273, 15622),
    "munin2": (1003, 1244, 69431),
    "munin3": (1041, 1306, 71059),
    "munin4": (1038, 1388, 80352),
    "pathfinder": (109, 195, 72079),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "survey": (6, 6, 21),
    "water": (32, 66, 10083),
    "win95pts": (76, 112, 574),
}
_CITATIONS = {
    "alarm": (
        "Beinlich, I. A., Suermondt, H. J., Chavez, R. M., Cooper, G. F. (1989). The ALARM Monitoring System: A Case"
        " Study with Two Probabilistic Inference Techniques for Belief Networks. Proceedings of the 2nd European "
        "Conference on Artificial Intelligence in Medicine, 247-256. Springer."
    ),
    "andes": (
        "Conati, C., Gertner, A. S., VanLehn, K., Druzdzel, M. J. (1997). On-Line Student Modeling for Coached "
        "Problem Solving Using Bayesian Networks. Proceedings of the 6th International Conference on User Modeling, "
        "231-242. Springer."
    ),
    "asia": (
        "Lauritzen, S. L., Spiegelhalter, D. J. (1988). Local Computations with Probabilities on Graphical "
        "Structures and their Application to Expert Systems. Journal of the Royal Statistical Society, Series B, "
        "50(2), 157-224."
    ),
    "barley": (
        "Kristensen, K., Rasmussen, I. A. (2002). The Use of a Bayesian Network in the Design of a Decision Support "
        "System for Growing Malting Barley without Use of Pesticides. Computers and Electronics in Agriculture, "
        "33(3), 197-217."
    ),
    "cancer": _KORB.format("2.2.2"),
    "child": (
        "Spiegelhalter, D. J., Cowell, R. G. (1992). Learning in Probabilistic Expert Systems. In Bayesian "
        "Statistics 4, 447-466. Clarendon Press."
    ),
    "diabetes": (
        "Andreassen, S., Hovorka, R., Benn, J., Olesen, K. G., Carson, E. R. (1991). A Model-based Approach to "
        "Insulin Adjustment. Proceedings of the 3rd Conference on Artificial Intelligence in Medicine, 239-248. "
        "Springer."
    ),
    "earthquake": _KORB.format("2.5.1"),
    "hailfinder": (
        "Abramson, B., Brown, J., Edwards, W., Murphy, A., Winkler, R. L. (1996). Hailfinder: A Bayesian System for "
        "Forecasting Severe Weather. International Journal of Forecasting, 12(1), 57-71."
    ),
    "hepar2": (
        "Onisko, A. (2003). Probabilistic Causal Models in Medicine: Application to Diagnosis of Liver Disorders. "
        "PhD thesis, Institute of Biocybernetics and Biomedical Engineering, Polish Academy of Science, Warsaw."
    ),
    "insurance": (
        "Binder, J., Koller, D., Russell, S., Kanazawa, K. (1997). Adaptive Probabilistic Networks with Hidden "
        "Variables. Machine Learning, 29(2-3), 213-244."
    ),
    "link": (
        "Jensen, C. S., Kong, A. (1999). Blocking Gibbs Sampling for Linkage Analysis in Large Pedigrees with Many "
        "Loops. American Journal of Human Genetics, 65(3), 885-901."
    ),
    "mildew": (
        "Jensen, A. L., Jensen, F. V. (1996). MIDAS: An Influence Diagram for Management of Mildew in Winter Wheat. "
        "Proceedings of the 12th Conference on Uncertainty in Artificial Intelligence, 349-356. Morgan Kaufmann."
    ),
    "munin": _MUNIN,
    "munin1": _MUNIN,
    "munin2": _MUNIN,
    "munin3": _MUNIN,
    "munin4": _MUNIN,
    "pathfinder": (
        "Heckerman, D. E., Horvitz, E. J., Nathwani, B. N. (1992). Toward Normative Expert Systems: Part I. The "
        "Pathfinder Project. Methods of Information in Medicine, 31(2), 90-105."
    ),
    "pigs": (
        "Jensen, C. S. (1997). Blocking Gibbs Sampling for Inference in Large and Complex Bayesian Networks with "
        "Applications in Genetics. PhD thesis, Aalborg University."
    ),
    "sachs": (
        "Sachs, K., Perez, O., Pe'er, D., Lauffenburger, D. A., Nolan, G. P. (2005). Causal Protein-Signaling "
        "Networks Derived from Multiparameter Single-Cell Data. Science, 308(5721), 523-529."
    ),
    "survey": "Scutari, M., Denis, J.-B. (2014). Bayesian Networks: with Examples in R. Chapman & Hall.",
    "water": (
        "Jensen, F. V., Kjaerulff, U., Olesen, K. G., Pedersen, J. (1989). Et forprojekt til et ekspertsystem for "
        "drift af spildevandsrensning (An expert system for control of waste water treatment: a pilot project). "
        "Technical report, Judex Datasystemer A/S, Aalborg. In Danish."
    ),
    "win95pts": (
        "Microsoft Research. A model for printer troubleshooting in Windows 95. Unpublished; in circulation since "
        "the 1990s."
    ),
}
_NOTES = {
    "insurance": _LISTED.format("984 parameters"),
    "munin1": "The first of the four subnetworks of MUNIN.",
    "munin2": "The second of the four subnetworks of MUNIN.",
    "munin3": "The third of the four subnetworks of MUNIN.",
    "munin4": "The fourth of the four subnetworks of MUNIN.",
    "pathfinder": _LISTED.format("135 nodes, 200 arcs and 77155 parameters"),
    "pigs": _LISTED.format("442 nodes"),
}
_ENTRIES = tuple(Entry(name, *_SIZES[name], _CITATIONS[name], _NOTES.get(name, "")) for name in _SIZES)


def catalogue() -> tuple[Entry, ...]:
    """Return all bundled networks, by name.

    Examples
    --------
    >>> [entry.name for entry in catalogue()][:4]
    ['alarm', 'andes', 'asia', 'barley']
    """
    return _ENTRIES
