"""How good predictions are: `evaluate` judges those of a network, `metrics` any probabilities."""

from mapdag.predictions.curves import ROC, Calibration
from mapdag.predictions.evaluation import evaluate, metrics
from mapdag.predictions.measures import Metrics, most_probable

__all__ = ["ROC", "Calibration", "Metrics", "evaluate", "metrics", "most_probable"]
