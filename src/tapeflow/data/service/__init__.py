"""`tf.data.experimental.service`: datasets whose elements other processes make, which Ray (the extra `ray`) connects.

A dispatcher knows datasets, workers and who reads what; workers make elements; a client takes them. `servers` starts
the first two, `client` has the third; `dispatcher` and `worker` are what runs in their processes, and `shards` which
part of a dataset a worker makes. Transformations of datasets do not belong here.
"""

from tapeflow.data.service.client import distribute, from_dataset_id, register_dataset
from tapeflow.data.service.policies import CrossTrainerCache, ShardingPolicy
from tapeflow.data.service.servers import (
    DispatcherConfig,
    DispatchServer,
    WorkerConfig,
    WorkerServer,
)

__all__ = [
    "CrossTrainerCache",
    "DispatchServer",
    "DispatcherConfig",
    "ShardingPolicy",
    "WorkerConfig",
    "WorkerServer",
    "distribute",
    "from_dataset_id",
    "register_dataset",
]
