"""Systems of TPUs: what they are made of, and starting them."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from tapeflow.core import config
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.public import boundaries
from tapeflow.distribute.tpu_resolver import TPUClusterResolver, checked_cores
from tapeflow.graph.operation import Operation
from tapeflow.ops.control.grouping import no_op
from tapeflow.tpu.topology import Topology


class TPUSystemMetadata(NamedTuple):
    """What a system of TPUs has.

    Attributes:
      num_cores: how many cores.
      num_hosts: how many hosts.
      num_of_cores_per_host: how many cores each host has.
      topology: its `Topology`, or None.
      devices: the devices.
    """

    num_cores: int
    num_hosts: int
    num_of_cores_per_host: int
    topology: Any
    devices: Any


class HardwareFeature:
    """What the hardware of a TPU can do.

    Args:
      tpu_hardware_feature_proto: a `TPUHardwareFeature` message.
    """

    class EmbeddingFeature(enum.Enum):
        """Which embeddings it has: none, of the first kind, or of the second."""

        UNSUPPORTED = "UNSUPPORTED"
        V1 = "V1"
        V2 = "V2"

    def __init__(self, tpu_hardware_feature_proto: Any):
        self.tpu_hardware_feature_proto = tpu_hardware_feature_proto

    @property
    def embedding_feature(self) -> HardwareFeature.EmbeddingFeature:
        """Which embeddings it has."""
        kinds = list(HardwareFeature.EmbeddingFeature)
        number = self.tpu_hardware_feature_proto.embedding_feature
        return kinds[number] if 0 <= number < len(kinds) else kinds[0]

    @property
    def num_embedding_devices_per_chip(self) -> int:
        """How many devices for embeddings a chip has."""
        return self.tpu_hardware_feature_proto.num_embedding_devices_per_chip


def initialize_tpu_system(cluster_resolver: Any = None) -> Topology:
    """Start the TPUs of a cluster.

    Args:
      cluster_resolver: a `tf.distribute.cluster_resolver.TPUClusterResolver`; None: that of the environment.

    Returns:
      Where its cores are: in one line.

    Raises:
      ValueError: where nothing says which TPU is meant.
      NotFoundError: there are no TPUs that programs of this package run on.
    """
    count = checked_cores(_checked(cluster_resolver))
    return Topology(mesh_shape=[count, 1, 1, 1], device_coordinates=[[[i, 0, 0, 0] for i in range(count)]])


def shutdown_tpu_system(cluster_resolver: Any = None) -> None:
    """Stop the TPUs of a cluster.

    Args:
      cluster_resolver: a `tf.distribute.cluster_resolver.TPUClusterResolver`; None: that of the environment.

    Raises:
      ValueError: where nothing says which TPU is meant.
      InvalidArgumentError: there are no TPUs that programs of this package run on.
    """
    if not _checked(cluster_resolver).num_accelerators()["TPU"]:
        raise InvalidArgumentError(None, None, "No OpKernel was registered to support Op 'ShutdownDistributedTPU'.")


class PaddingSpec(enum.IntEnum):
    """How sizes that vary are padded: not at all, or to powers of two."""

    AUTO = 0
    POWER_OF_TWO = 1


def initialize_system(
    embedding_config: Any = None, job: str | None = None, compilation_failure_closes_chips: bool = True,
    tpu_cancellation_closes_chips: bool | None = None,
) -> Tensor:  # fmt: skip
    """Start the TPUs, in a program of 1.x; the devices that stand for them need no start.

    Args:
      embedding_config: only None is supported.
      job: not used: there is one.
      compilation_failure_closes_chips, tpu_cancellation_closes_chips: not used.

    Returns:
      A scalar string: the serialized `Topology` of the TPU's cores, else of the GPUs, else of the host, in one line.

    Raises:
      UnimplementedError: for an `embedding_config`.
    """
    if embedding_config is not None:
        raise UnimplementedError(None, None, "Embeddings on the hardware of TPUs are not supported")
    count = len(config.list_logical_devices("TPU") or config.list_logical_devices("GPU")) or 1
    cores = Topology(mesh_shape=[count, 1, 1, 1], device_coordinates=[[[i, 0, 0, 0] for i in range(count)]])
    return convert_to_tensor(cores.serialized())


def shutdown_system(job: str | None = None) -> Operation | None:
    """Stop the TPUs, in a program of 1.x: an operation without effect.

    Args:
      job: not used: there is one.
    """
    del job
    return no_op()


def _checked(cluster_resolver: Any) -> TPUClusterResolver:
    if cluster_resolver is None:
        return TPUClusterResolver("")
    if not isinstance(cluster_resolver, TPUClusterResolver):
        raise TypeError(f"cluster_resolver must be a TPUClusterResolver, got {type(cluster_resolver).__name__}.")
    return cluster_resolver


boundaries(globals())
