"""For users of scikit-learn: structure learning and classification as estimators. Needs the extra ``sklearn``."""

from mapdag.errors import MissingExtraError

try:
    from sklearn.utils.validation import validate_data  # noqa: F401 - new in scikit-learn 1.6
except ImportError:
    raise MissingExtraError("mapdag.sklearn needs scikit-learn 1.6 or later: pip install 'mapdag[sklearn]'") from None

from mapdag.sklearn.classifier import BayesianNetworkClassifier
from mapdag.sklearn.imputer import Imputer
from mapdag.sklearn.learner import StructureLearner

__all__ = ["BayesianNetworkClassifier", "Imputer", "StructureLearner"]
