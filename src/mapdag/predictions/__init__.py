"""How good predictions are: `evaluate` judges those of a network, `metrics` any probabilities."""

from mapdag.predictions.curves import ROC, Calibration
from mapdag.predictions.figures import Metrics, most_probable
from mapdag.predictions.judgement import evaluate, metrics

__all__ = ["ROC", "Calibration", "Metrics", "evaluate", "metrics", "most_probable"]
