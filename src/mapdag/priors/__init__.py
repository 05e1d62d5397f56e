"""Graph priors: how probable a DAG is before seeing data. Data are unknown here.

Every arc-wise prior is one matrix of log-odds of ``i -> j`` against no arc: adding an arc changes the log prior by
``L[i, j]``, deleting it by ``-L[i, j]``, reversing it by ``L[j, i] - L[i, j]``. No prior here is normalised over the
DAGs (that constant is the same for all graphs); each class says which constants its `log_prior` keeps.
"""

from mapdag.priors.elicited import CS, VSP
from mapdag.priors.limits import MaxParents, Support
from mapdag.priors.loglinear import LogLinear
from mapdag.priors.uniform import MU, U

__all__ = ["CS", "MU", "VSP", "LogLinear", "MaxParents", "Support", "U"]
