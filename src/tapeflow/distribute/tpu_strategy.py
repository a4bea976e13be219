"""`TPUStrategy`: a replica on each core of a TPU; a step is one program over the cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core import config, context
from tapeflow.core.errors import NotFoundError
from tapeflow.core.public import boundaries
from tapeflow.distribute.extended import StrategyExtended
from tapeflow.distribute.strategies import MirroredStrategy
from tapeflow.distribute.tpu_resolver import TPUClusterResolver
from tapeflow.function.function import ConcreteFunction, Function

__all__ = ["ExperimentalTPUStrategy", "TPUStrategy", "TPUStrategyV1"]


class TPUStrategy(MirroredStrategy):
    """A replica on each core of a TPU of this machine.

    `run` is called in a `tf.function`, or with one.

    Args:
      tpu_cluster_resolver: says where the TPU is; None: the environment does.
      experimental_device_assignment: which cores are used, a `tf.tpu.experimental.DeviceAssignment`; None: all. Of a
        replica with several cores, the first computes.
      experimental_spmd_xla_partitioning: whether the compiler parts tensors: it parts none.

    Raises:
      ValueError: where nothing says which TPU is meant.
      NotFoundError: there is no such TPU, or not one with these cores.
    """

    def __init__(
        self, tpu_cluster_resolver: Any = None, experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ):  # fmt: skip
        resolver = TPUClusterResolver("") if tpu_cluster_resolver is None else tpu_cluster_resolver
        found = config.list_logical_devices("TPU")
        if not found or resolver.master():
            raise NotFoundError(None, None, "No TPU devices found.")
        numbers: Sequence[int] = range(len(found))
        self._cores_per_replica = 1
        if experimental_device_assignment is not None:
            used = experimental_device_assignment
            numbers = [used.tpu_ordinal(replica) for replica in range(used.num_replicas)]
            self._cores_per_replica = used.num_cores_per_replica
            if max(numbers) >= len(found):
                raise NotFoundError(None, None, f"There is no TPU core {max(numbers)}: there are {len(found)}.")
        super().__init__([found[number].name for number in numbers])
        self._cluster_resolver = resolver
        self.extended = _TPUExtended(self)

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None, options: Any = None,
    ) -> Any:
        """Call a function once for each replica, with its components of the distributed arguments.

        Args:
          fn: the function; eagerly, a `tf.function`.
          args: its positional arguments, a tuple.
          kwargs: its keyword arguments, a dict.
          options: a `RunOptions`, or None.

        Returns:
          Its results, as a structure of distributed values; of one replica the result itself.

        Raises:
          NotImplementedError: a call outside of a `tf.function`, of what is none.
        """
        if context.executing_eagerly() and not isinstance(fn, (Function, ConcreteFunction)):
            raise NotImplementedError(
                "TPUStrategy.run(fn, ...) does not support pure eager execution. please make sure the function passed "
                "into `strategy.run` is a `tf.function` or `strategy.run` is called inside a `tf.function` if eager "
                "behavior is enabled."
            )
        return super().run(fn, args, kwargs, options)

    experimental_run_v2 = run

    def experimental_assign_to_logical_device(self, tensor: Any, logical_device_id: int) -> Any:
        """Return a tensor, which stays on the first core of its replica.

        Args:
          tensor: a tensor.
          logical_device_id: the number of a core of a replica.

        Raises:
          ValueError: replicas have fewer cores.
        """
        count = self._cores_per_replica
        if not 0 <= logical_device_id < count:
            raise ValueError(
                f"`logical_core_id` to assign must be lower then total number of logical devices per replica. Received "
                f"logical device id {logical_device_id} but there are only total of {count} logical devices in replica."
            )
        return tensor

    def experimental_split_to_logical_devices(self, tensor: Any, partition_dimensions: Sequence[int]) -> Any:
        """Return a tensor, which stays whole on the first core of its replica.

        Args:
          tensor: a tensor.
          partition_dimensions: into how many parts each axis would be split.

        Raises:
          ValueError: the parts are not as many as a replica has cores, or an axis has no such parts.
        """
        shape = tensor.shape.as_list()
        if len(partition_dimensions) != len(shape):
            raise ValueError(
                "Length of `partition_dimensions` must equal to the rank of `tensor.shape` "
                f"({len(shape)}). Received len(partition_dimensions)={len(partition_dimensions)}."
            )
        count = 1
        for axis, (size, parts) in enumerate(zip(shape, partition_dimensions, strict=True)):
            if size is not None and size % parts:
                raise ValueError(
                    "Tensor shape at `partition_dimensions` must be divisible by corresponding value specified by "
                    f"`partition_dimensions`. Received: axis {axis} of size {size} in {parts} parts."
                )
            count *= parts
        if count != self._cores_per_replica:
            raise ValueError(
                "The product of `partition_dimensions` should be the same as the number of logical devices "
                f"(={self._cores_per_replica}). Received `partition_dimensions`={list(partition_dimensions)}, and "
                f"their product is {count}."
            )
        return tensor

    def experimental_replicate_to_logical_devices(self, tensor: Any) -> Any:
        """Return a tensor, which the first core of its replica has.

        Args:
          tensor: a tensor.
        """
        return tensor


class ExperimentalTPUStrategy(TPUStrategy):
    """`TPUStrategy` with the arguments that it had in `tf.distribute.experimental`.

    Args:
      tpu_cluster_resolver: says where the TPU is; None: the environment does.
      device_assignment: which cores are used; None: all.
    """

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None):
        super().__init__(tpu_cluster_resolver, device_assignment)


class TPUStrategyV1(TPUStrategy):
    """`TPUStrategy` with the arguments that it had in 1.x.

    Args:
      tpu_cluster_resolver: says where the TPU is; None: the environment does.
      steps_per_run: how many steps callers are to take in one run; None: 1.
      device_assignment: which cores are used; None: all.
    """

    def __init__(
        self, tpu_cluster_resolver: Any = None, steps_per_run: int | None = None, device_assignment: Any = None
    ):
        super().__init__(tpu_cluster_resolver, device_assignment)
        self._steps = 1 if steps_per_run is None else steps_per_run

    @property
    def steps_per_run(self) -> int:
        """How many steps callers are to take in one run."""
        return self._steps


class _TPUExtended(StrategyExtended):
    """What authors of libraries ask a `TPUStrategy`."""

    experimental_require_static_shapes = True

    @property
    def steps_per_run(self) -> int:
        """How many steps callers are to take in one run."""
        return int(getattr(self._strategy, "steps_per_run", 1))

    @property
    def num_hosts(self) -> int:
        """How many machines have the cores."""
        return 1

    @property
    def num_replicas_per_host(self) -> int:
        """How many replicas a machine has."""
        return len(self.worker_devices)


boundaries(globals())
