"""`tf.distribute`: replicas of a computation on several devices of this process."""

import importlib
from typing import Any

from tapeflow.distribute.current import (
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from tapeflow.distribute.extended import StrategyExtended
from tapeflow.distribute.inputs import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    InputOptions,
    InputReplicationMode,
)
from tapeflow.distribute.options import RunOptions
from tapeflow.distribute.reducing import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReduceOp,
    ReductionToOneDevice,
)
from tapeflow.distribute.replica_context import ReplicaContext
from tapeflow.distribute.strategies import (
    MirroredStrategy,
    MultiWorkerMirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
)
from tapeflow.distribute.strategy import Strategy
from tapeflow.distribute.tpu_strategy import TPUStrategy
from tapeflow.distribute.values import DistributedValues

_LAZY = ("cluster_resolver", "coordinator", "experimental")

__all__ = [
    "CrossDeviceOps",
    "DistributedDataset",
    "DistributedIterator",
    "DistributedValues",
    "HierarchicalCopyAllReduce",
    "InputContext",
    "InputOptions",
    "InputReplicationMode",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "NcclAllReduce",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReduceOp",
    "ReductionToOneDevice",
    "ReplicaContext",
    "RunOptions",
    "Strategy",
    "StrategyExtended",
    "TPUStrategy",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"tapeflow.distribute.{name}")
    if name == "Server":
        return importlib.import_module("tapeflow.cluster.server").Server
    raise AttributeError(f"module 'tapeflow.distribute' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY, "Server"})
