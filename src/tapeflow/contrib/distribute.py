"""`tf.contrib.distribute`: the strategies of `tf.distribute` under their first names and arguments."""

from __future__ import annotations

import collections
from collections.abc import Sequence

from tapeflow.compat.v1.distribute import get_loss_reduction
from tapeflow.distribute import (
    CrossDeviceOps,
    ReplicaContext,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from tapeflow.distribute import MirroredStrategy as _MirroredStrategy
from tapeflow.distribute import MultiWorkerMirroredStrategy as _MultiWorkerMirroredStrategy
from tapeflow.distribute import OneDeviceStrategy as _OneDeviceStrategy
from tapeflow.distribute import ParameterServerStrategy as _ParameterServerStrategy
from tapeflow.distribute import ReductionToOneDevice as ReductionToOneDeviceCrossDeviceOps
from tapeflow.distribute import Strategy as DistributionStrategy
from tapeflow.distribute import StrategyExtended as DistributionStrategyExtended
from tapeflow.distribute.tpu_strategy import TPUStrategyV1 as TPUStrategy

__all__ = [
    "AllReduceCrossDeviceOps", "CollectiveAllReduceStrategy", "CrossDeviceOps", "DistributeConfig",
    "DistributionStrategy", "DistributionStrategyExtended", "MirroredStrategy", "MultiWorkerAllReduce",
    "OneDeviceStrategy", "ParameterServerStrategy", "ReductionToOneDeviceCrossDeviceOps", "ReplicaContext",
    "TPUStrategy", "get_cross_replica_context", "get_distribution_strategy", "get_loss_reduction",
    "get_replica_context", "get_strategy", "has_distribution_strategy", "has_strategy", "in_cross_replica_context",
    "require_replica_context",
]  # fmt: skip

get_distribution_strategy, has_distribution_strategy = get_strategy, has_strategy


def get_cross_replica_context():
    """The strategy, where it speaks for all replicas; None within one."""
    return get_strategy() if in_cross_replica_context() else None


def require_replica_context(replica_ctx):
    """Raises RuntimeError unless `replica_ctx` is the replica that runs."""
    if replica_ctx is None or get_replica_context() is not replica_ctx:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")


class DistributeConfig(
    collections.namedtuple(
        "DistributeConfig", "train_distribute eval_distribute remote_cluster", defaults=(None, None, None)
    )
):
    """The strategies of an estimator's training and evaluation, and a cluster."""


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """How values get from device to device.

    Args:
      all_reduce_alg: "nccl", "ring", "hierarchical_copy" and others; replicas of one process need none.
      num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: how values would be packed.
    """

    def __init__(
        self, all_reduce_alg: str = "nccl", num_packs: int = 1, agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ):  # fmt: skip
        super().__init__(num_packs)
        self.all_reduce_alg = all_reduce_alg
        self.agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self.agg_small_grads_max_group = agg_small_grads_max_group


class MultiWorkerAllReduce(AllReduceCrossDeviceOps):
    """AllReduceCrossDeviceOps for several machines."""

    def __init__(
        self, worker_devices, num_gpus_per_worker, all_reduce_spec=("pscpu/pscpu", 2, -1), num_packs: int = 0,
        agg_small_grads_max_bytes: int = 0, agg_small_grads_max_group: int = 10,
    ):  # fmt: skip
        super().__init__(
            all_reduce_spec, num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group
        )
        self.worker_devices, self.num_gpus_per_worker = worker_devices, num_gpus_per_worker


class MirroredStrategy(_MirroredStrategy):
    """A replica on each device.

    Args:
      devices: names; None: as many as `num_gpus` says, else all.
      num_gpus, num_gpus_per_worker: how many GPUs.
      cross_device_ops: how values would travel.
      auto_shard_dataset: whether data would be split among machines.

    Raises ValueError for both numbers, and for a number with names.
    """

    def __init__(
        self, devices: Sequence[str] | None = None, num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None, cross_device_ops: AllReduceCrossDeviceOps | None = None,
        auto_shard_dataset: bool = False, cross_tower_ops=None,
    ):  # fmt: skip
        if cross_device_ops is not None and cross_tower_ops is not None:
            raise ValueError("Specify only one of `cross_device_ops` and `cross_tower_ops`.")
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        number = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is not None and number is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus`.")
        if number is not None:
            devices = [f"/device:GPU:{i}" for i in range(number)] or ["/device:CPU:0"]
        super().__init__(devices, cross_device_ops or cross_tower_ops)
        self.auto_shard_dataset = auto_shard_dataset


class OneDeviceStrategy(_OneDeviceStrategy):
    """One replica, on one device."""

    def __init__(self, device: str):
        super().__init__(device)


class CollectiveAllReduceStrategy(_MultiWorkerMirroredStrategy):
    """MirroredStrategy on several machines, of which this process is the only one.

    Args:
      num_gpus_per_worker: how many GPUs a machine would use.
      communication: how values would travel.
    """

    def __init__(self, num_gpus_per_worker: int = 0, communication=None):
        super().__init__()
        self.num_gpus_per_worker, self.communication = num_gpus_per_worker, communication


class ParameterServerStrategy(_ParameterServerStrategy):
    """Variables on servers, work on workers; both are this process.

    Args:
      num_gpus_per_worker: how many GPUs a worker would use.
    """

    def __init__(self, num_gpus_per_worker: int = 0):
        super().__init__()
        self.num_gpus_per_worker = num_gpus_per_worker
