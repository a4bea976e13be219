"""Computations on the cores of TPUs: replicated, sharded, and the optimizer that adds the shards up.

Cores are TPUs, else GPUs; the replicas are one program over them. Where there are too few, replicas run one after
another on the host.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import config, context, dtypes, replicas
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.distribute.strategy import Strategy
from tapeflow.distribute.values import PerReplica, select
from tapeflow.function.function import function
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.control.cross_replica import CrossReplicaSum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state.variable import VariableAggregation
from tapeflow.train import Optimizer
from tapeflow.v1.loss_reduction import Reduction
from tapeflow.v1.variable_scoping import variable_scope

if TYPE_CHECKING:
    from tapeflow.train.gradient_descent import GradientDescentOptimizer

__all__ = [
    "CrossShardOptimizer", "batch_parallel", "bfloat16_scope", "core", "cross_replica_sum", "outside_compilation",
    "replicate", "rewrite", "shard",
]  # fmt: skip


class Cores(Strategy):
    """A replica on each core.

    Args:
      count: how many; None: all there are.
    """

    # Cores do not meet where they write variables: the mean stands for what they would have.
    _aggregation = VariableAggregation.MEAN

    def __init__(self, count: int | None = None):
        found = [each.name for each in config.list_logical_devices("TPU") or config.list_logical_devices("GPU")]
        count = len(found) or 1 if count is None else count
        super().__init__(found[:count] if len(found) >= count else ["cpu:0"] * count)

    @property
    def on_accelerators(self) -> bool:
        """Whether there is a core for each replica."""
        return not self.local_devices[0].endswith("CPU:0")


def replicate(
    computation: Callable[..., Any], inputs: Any = None, infeed_queue: Any = None, device_assignment: Any = None,
    name: str | None = None, maximum_shapes: Any = None, padding_spec: Any = None, xla_options: Any = None,
) -> list[list[Any]]:  # fmt: skip
    """Run a computation on several cores, each with inputs of its own.

    Args:
      computation: a function of tensors.
      inputs: a list of inputs for each replica; None for one replica without inputs.
      infeed_queue: not supported.
      device_assignment: not used: the replicas are on the first cores.
      name: not used.
      maximum_shapes: not used.
      padding_spec: not used.
      xla_options: not used.

    Returns:
      A list for each replica, of its results.

    Raises:
      ValueError: for lists of different lengths.
      NotImplementedError: for an infeed queue.
    """
    if infeed_queue is not None:
        raise NotImplementedError("Computations have no infeed queues here: pass the tensors as inputs.")
    given = [list(each) for each in (inputs or [[]])]
    if len({len(each) for each in given}) > 1:
        raise ValueError(f"Incorrect numbers of inputs for the replicas: {[len(each) for each in given]}")
    strategy = Cores(len(given))
    tensors = [[convert_to_tensor(x) for x in each] for each in given]

    def run() -> Any:
        arguments = [PerReplica(parts) for parts in zip(*tensors)]
        result = strategy.run(computation, tuple(arguments if len(given) > 1 else tensors[0]))
        return [_listed(select(i, result)) for i in range(len(given))]

    return function(run)() if context.executing_eagerly() else run()


def _listed(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(nest.flatten(result)) if isinstance(result, (list, tuple, dict)) else [result]


def shard(
    computation: Callable[..., Any], inputs: Any = None, num_shards: int = 1, input_shard_axes: Any = None,
    outputs_from_all_shards: Any = True, output_shard_axes: Any = None, infeed_queue: Any = None,
    device_assignment: Any = None, name: str | None = None, xla_options: Any = None,
) -> list[Any]:  # fmt: skip
    """Run a computation on several cores, each with a part of the inputs.

    Args:
      computation: a function of tensors.
      inputs: tensors that are split into equal parts.
      num_shards: how many parts there are.
      input_shard_axes: the axis of each input; None: the first.
      outputs_from_all_shards: whether a result is that of all shards, joined, or that of the first; for all results,
        or one bool for each.
      output_shard_axes: the axis along which each result is joined; None: the first.
      infeed_queue: not supported.
      device_assignment: not used.
      name: not used.
      xla_options: not used.

    Returns:
      A list of results.

    Raises:
      ValueError: for a number of shards that is not positive, and lists of axes of wrong lengths.
    """
    if num_shards <= 0:
        raise ValueError("num_shards must be a positive integer.")
    tensors = [convert_to_tensor(x) for x in inputs or []]
    axes = _each(input_shard_axes, 0, len(tensors), "input_shard_axes")
    parts = [split(x, num_shards, axis) for x, axis in zip(tensors, axes)]
    results = replicate(computation, [[part[i] for part in parts] for i in range(num_shards)], infeed_queue)
    count = len(results[0])
    every = _each(outputs_from_all_shards, True, count, "outputs_from_all_shards")
    axes = _each(output_shard_axes, 0, count, "output_shard_axes")
    return [
        concat(list(found), axis) if from_all and num_shards > 1 else found[0]
        for found, from_all, axis in zip(zip(*results), every, axes)
    ]


def _each(given: Any, default: Any, count: int, name: str) -> list[Any]:
    if given is None or isinstance(given, bool):
        return [default if given is None else given] * count
    if len(given) != count:
        raise ValueError(f"Length of {name} must be {count}, the number of tensors, got {len(given)}")
    return list(given)


def batch_parallel(
    computation: Callable[..., Any], inputs: Any = None, num_shards: int = 1, infeed_queue: Any = None,
    device_assignment: Any = None, name: str | None = None, xla_options: Any = None,
) -> list[Any]:  # fmt: skip
    """Run a computation on several cores, each with a part of the batch: `shard` along the first axes.

    Args:
      computation: a function of tensors.
      inputs: tensors whose first axis is that of the batch.
      num_shards: how many parts there are.
      infeed_queue: not supported.
      device_assignment: not used.
      name: not used.
      xla_options: not used.

    Returns:
      A list of results, joined along the first axis.
    """
    return shard(computation, inputs, num_shards, infeed_queue=infeed_queue)


def rewrite(
    computation: Callable[..., Any], inputs: Any = None, infeed_queue: Any = None, device_assignment: Any = None,
    name: str | None = None, xla_options: Any = None,
) -> list[Any]:  # fmt: skip
    """Run a computation on one core.

    Args:
      computation: a function of tensors.
      inputs: its inputs.
      infeed_queue: not supported.
      device_assignment: not used.
      name: not used.
      xla_options: not used.

    Returns:
      A list of results.
    """
    found = config.list_logical_devices("TPU") or config.list_logical_devices("GPU")
    with context.device(found[0].name) if found else contextlib.nullcontext():
        return replicate(computation, None if inputs is None else [inputs], infeed_queue)[0]


def outside_compilation(computation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function whose operations a compiled computation leaves to the host.

    A computation with operations that do not compile is not one program: its replicas are run one after another.
    """
    return computation(*args, **kwargs)


def core(num: int) -> str:
    """The name of a core of a replica, for `tf.device`."""
    return f"device:TPU_REPLICATED_CORE:{num}"


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """Return the sum of a tensor over the replicas of a computation.

    Args:
      x: a tensor.
      group_assignment: lists of numbers of replicas, which are summed separately; None: all together.
      name: a name for the operation (optional).
    """
    groups = np.zeros((0, 1), np.int32) if group_assignment is None else np.array(group_assignment, np.int32)
    return CrossReplicaSum(x, groups, name=name)


@contextlib.contextmanager
def bfloat16_scope(name: str | None = None) -> Iterator[Any]:
    """A variable scope in which variables of bfloat16 are kept as float32, and cast where they are read.

    Args:
      name: the name of the scope; None for none.
    """

    def wide(getter: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("dtype") != dtypes.bfloat16:
            return getter(*args, **kwargs)
        return cast(getter(*args, **{**kwargs, "dtype": dtypes.float32}), dtypes.bfloat16)

    with variable_scope(name or "", custom_getter=wide) as scope:
        yield scope


class CrossShardOptimizer(Optimizer):
    """An optimizer that combines the gradients of all shards, which compute a part of the loss each.

    Args:
      opt: the optimizer that applies them.
      reduction: `Reduction.MEAN` or `Reduction.SUM`.
      name: the name of the optimizer.
      group_assignment: not supported: gradients are those of all shards.

    Raises:
      ValueError: another reduction.
    """

    def __init__(
        self, opt: GradientDescentOptimizer | None, reduction: str = Reduction.MEAN,
        name: str = "CrossShardOptimizer", group_assignment=None,
    ):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        if group_assignment is not None:
            raise NotImplementedError("CrossShardOptimizer has no groups of shards: group_assignment must be None.")
        super().__init__(False, name)
        self._opt, self._reduction = opt, reduction

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """Return the (gradient, variable) pairs of the optimizer inside, of this shard's part of the loss."""
        if replicas.several() and self._reduction == Reduction.MEAN:
            loss = loss / cast(replicas.count(), loss.dtype)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Let the optimizer inside apply the sums of the gradients of all shards."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args, **kwargs):
        """Return a slot of the optimizer inside."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """Return the names of the slots of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        """Return the variables of the optimizer inside."""
        return self._opt.variables()


def together(strategy: Cores, step: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The results of a step on the cores of a strategy, as one program in the graph being built."""
    return strategy._run_as_one(step, tuple(arguments))


boundaries(globals())
