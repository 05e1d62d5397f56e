"""How good predictions are: `metrics` judges probabilities by what turned out to be the case."""

from mapdag.predictions.curves import ROC, Calibration
from mapdag.predictions.figures import Metrics
from mapdag.predictions.judgement import metrics

__all__ = ["ROC", "Calibration", "Metrics", "metrics"]
