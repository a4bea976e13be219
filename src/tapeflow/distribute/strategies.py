"""The strategies of `tf.distribute`."""

from __future__ import annotations

import contextlib
from typing import Any

from tapeflow.core import config, context, device
from tapeflow.core.device import canonical_name
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries
from tapeflow.distribute.options import CommunicationImplementation, CommunicationOptions
from tapeflow.distribute.parameter_servers.choosing import remote_cluster
from tapeflow.distribute.processes import ALONE, joined
from tapeflow.distribute.resolvers import TFConfigClusterResolver
from tapeflow.distribute.strategy import Strategy

__all__ = [
    "CentralStorageStrategy",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
]


def _all_devices() -> list[str]:
    found = config.list_logical_devices("GPU") or config.list_logical_devices("CPU")
    return [each.name for each in found]


def _resolved(name: str) -> str:
    """A device that there is, for the name of one; where there is none of the kind, the name itself."""
    try:
        return device.find(name).name
    except InvalidArgumentError:
        return canonical_name(name)


class MirroredStrategy(Strategy):
    """A replica on each device; updates of variables are made once, from the gradients of all replicas.

    Args:
      devices: names; None: all GPUs, else all (logical) CPUs.
      cross_device_ops: how values would travel, a `tf.distribute.CrossDeviceOps`; they need not.

    Raises:
      AssertionError: a device is named twice.
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None):
        names = [devices] if isinstance(devices, str) else devices
        if names and len({canonical_name(name) for name in names}) != len(names):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {tuple(names)}")
        super().__init__([_resolved(name) for name in names] if names else _all_devices())
        self._cross_device_ops = cross_device_ops

    def _placed(self, i: int) -> Any:
        if len(self.local_devices) == 1:
            return contextlib.nullcontext()
        try:
            device.find(self.local_devices[i])
        except InvalidArgumentError:  # named, but not there: the first stands for it
            return contextlib.nullcontext()
        return context.device(self.local_devices[i])


class OneDeviceStrategy(Strategy):
    """One replica, on one device.

    Args:
      device: the name of the device.

    >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    >>> print(strategy.num_replicas_in_sync, int(strategy.run(lambda: tf.constant(3))))
    1 3
    """

    def __init__(self, device: Any):
        super().__init__([device])

    def _placed(self, i: int) -> Any:
        return context.device(self.local_devices[0])


class MultiWorkerMirroredStrategy(MirroredStrategy):
    """MirroredStrategy in several processes, which run the same program.

    Each process has a replica on each of its GPUs, or one on the processor.

    The processes find each other, and exchange values, by jax (the extra `xla`). All make the strategy at the start of
    the program, which waits until all are there.

    Args:
      cluster_resolver: says which processes there are; None for the one that TF_CONFIG describes.
      communication_options: a `CommunicationOptions`, or None.

    Raises:
      UnimplementedError: there are several processes, and jax is not installed.
      UnavailableError: the other processes were not there in time.
    """

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None):
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        self._joined = joined(resolver)
        here = config.list_logical_devices("CPU")[0].name  # TensorFlow has one replica on the processor of a worker
        gpus = config.list_logical_devices("GPU")
        super().__init__(None if gpus or self._joined is ALONE else [here])
        self._cluster_resolver = resolver


class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """`MultiWorkerMirroredStrategy` with the arguments of `tf.distribute.experimental`.

    Args:
      communication: a `CommunicationImplementation`, or its name.
      cluster_resolver: says which processes there are; None for the one that TF_CONFIG describes.
    """

    def __init__(
        self, communication: Any = CommunicationImplementation.AUTO, cluster_resolver: Any = None
    ):
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))


class CentralStorageStrategy(MirroredStrategy):
    """Variables on one device, replicas on all.

    Args:
      compute_devices: the names of the replicas' devices; None for all there are.
      parameter_device: the name of the variables' device; None for the processor.
    """

    def __init__(self, compute_devices: Any = None, parameter_device: Any = None):
        super().__init__(compute_devices)

    def experimental_assign_to_logical_device(self, tensor: Any, logical_device_id: int) -> Any:
        """The tensor."""
        return tensor


class ParameterServerStrategy(Strategy):
    """Variables on servers, functions on workers, each at its own pace; see `tf.distribute.coordinator`.

    Where the resolver names tasks "ps" and "worker" and Ray is installed (the extra `ray`), there are as many servers
    and workers in processes of their own, which Ray places; this process coordinates. Else all is in this process, with
    one worker, and variables are not split.

    Args:
      cluster_resolver: says how many servers and workers there are.
      variable_partitioner: splits variables among several servers, see `tf.distribute.experimental.partitioners`; None:
        none is split.
    """

    _should_use_with_coordinator = True

    def __init__(self, cluster_resolver: Any = None, variable_partitioner: Any = None):
        super().__init__()
        self._cluster_resolver = cluster_resolver
        self._partitioner = variable_partitioner
        self.cluster = remote_cluster(cluster_resolver)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        if self.cluster is None:
            return super()._create_variable(next_creator, **kwargs)
        made = self.cluster.variable(next_creator, self._partitioner, kwargs)
        with contextlib.suppress(AttributeError):
            made._distribute_strategy = self
        return made


boundaries(globals())
