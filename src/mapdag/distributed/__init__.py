"""Tables on the workers of a Dask cluster: partitions are packed where they are, stay there, and are counted there.

`tables` makes data sets of Dask DataFrames and of files that workers read; `partitions` is what workers
do, as `mapdag.cluster` tells them; `blocks` has the engine. Searches do not notice.
"""

from mapdag.distributed.tables import read_dask, scan_on

__all__ = ["read_dask", "scan_on"]
