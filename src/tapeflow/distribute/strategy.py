"""Strategies: how many replicas there are, on which devices, and how their values come together.

The replicas of a process store variables once: they read the same memory, and wait for each other where they would
change it. Each process of several has a copy, which all change alike.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.core import config, context, replicas
from tapeflow.core.device import DeviceSpec, canonical_name
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.data.dataset import Dataset
from tapeflow.distribute import inputs, single_program
from tapeflow.distribute.extended import StrategyExtended, ValueContext, is_zero, not_distributed
from tapeflow.distribute.mirrored import MirroredVariable, is_mirrored, mirrored_kind
from tapeflow.distribute.processes import ALONE
from tapeflow.distribute.reducing import (
    OwnValue,
    ReduceOp,
    reduction,
)
from tapeflow.distribute.replica_context import ReplicaContext, as_replica, with_autograph
from tapeflow.distribute.running import run_in_step
from tapeflow.distribute.values import DistributedValues, PerReplica, regroup, select
from tapeflow.function.function import Function, function
from tapeflow.ops.array.joining import concat
from tapeflow.ops.state.variable import (
    Variable,
    VariableAggregation,
    VariableV1,
    variable_creator_scope,
)

__all__ = ["Strategy"]


class Strategy:
    """Runs a function on several devices, each with its share of the data. Make one of its subclasses.

    Args:
      devices: names, one for each replica; None for one.
      extended: a `StrategyExtended` of another package's strategy, or None.
    """

    def __init__(self, devices: Any = None, extended: Any = None):
        self.local_devices = [_full_name(device) for device in devices or [_first_device()]]
        self.extended = extended or StrategyExtended(self, self.__dict__.get("_joined", ALONE))

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas run."""
        return len(self.local_devices) * self._processes.size

    @property
    def _processes(self) -> Any:
        return self.extended.processes

    @property
    def cluster_resolver(self) -> Any:
        """What describes the cluster; None for one process."""
        return self.__dict__.get("_cluster_resolver")

    @contextlib.contextmanager
    def _scope(self) -> Any:
        before = replicas.place((*replicas.state.strategies, self), None)
        try:
            with variable_creator_scope(self._create_variable):
                yield self
        finally:
            replicas.place(*before)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        """A variable made in this strategy's scope."""
        with self._beside_variables():
            variable = next_creator(**kwargs)
        if self.extended.processes.size > 1:
            self.extended.processes.broadcast(variable)
        # The state of a generator of random numbers moves with each replica's draw: each gets others.
        if self.num_replicas_in_sync > 1 and kwargs.get("name") != "StateVar":
            kind: Any = type(variable)
            if kind is Variable:
                variable.__class__ = MirroredVariable
            elif kind._by_creators and kind is not VariableV1:  # a weight of Keras
                variable.__class__ = mirrored_kind(kind)
            if variable.aggregation == VariableAggregation.NONE:
                default = self._aggregation if kind is Variable else VariableAggregation.MEAN
                variable.aggregation = default
        with contextlib.suppress(AttributeError):
            variable._distribute_strategy = self
        return variable

    def scope(self) -> Any:
        """The context in which variables belong to this strategy."""
        current = replicas.strategy()
        if current is not None and current is not self:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {self} is not the current strategy {current}"
            )
        return self._scope()

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None, options: Any = None,
    ) -> Any:
        """Call a function once for each replica, with its components of the distributed arguments.

        Args:
          fn: the function.
          args: its positional arguments, a tuple.
          kwargs: its keyword arguments, a dict.
          options: a `RunOptions`, or None.

        Returns:
          Its results, as a structure of distributed values; of one replica the result itself.
        """
        if not isinstance(args, (list, tuple)):
            raise TypeError(f"positional args must be a list or tuple, got {type(args)}")
        kwargs = kwargs or {}
        if isinstance(fn, Function) and self.num_replicas_in_sync > 1 and len(self.local_devices) > 1:
            return self._of_all_replicas(fn)(tuple(args), dict(kwargs))
        fn = with_autograph(fn)

        def replica(number: Any, merge: Any, given: Any) -> Any:
            with as_replica(ReplicaContext(self, number, merge)):
                return fn(*given[0], **given[1])

        numbers = self.extended.own_replicas

        def body(i: int, merge: Any) -> Any:
            with self._placed(i):
                return replica(numbers[i], merge, select(i, (tuple(args), dict(kwargs))))

        with self._entered():
            n = len(numbers)
            if self.num_replicas_in_sync == 1:
                return body(0, None)
            together = single_program.traced(
                self._device_numbers(), replica, (tuple(args), dict(kwargs)), is_mirrored, self._processes
            )
            if together is not None:
                return together.results
            if n == 1:
                return body(0, None)
            bodies = [functools.partial(body, i) for i in range(n)]
            return regroup(run_in_step(bodies, select))

    experimental_run_v2 = run

    def _of_all_replicas(self, fn: Function) -> Function:
        """The function that runs `fn` for all replicas: in one trace, as they wait for each other."""
        if fn not in self._functions:
            inner = fn.python_function if fn._autograph else functools.partial(fn.python_function)
            own = weakref.ref(self)  # what is kept under the function keeps neither
            self._functions[fn] = function(
                lambda args, kwargs: own().run(inner, args, kwargs),  # type: ignore[union-attr]
                autograph=False, jit_compile=fn._jit_compile, reduce_retracing=fn._reduce_retracing,
            )  # fmt: skip
        return self._functions[fn]

    @functools.cached_property
    def _functions(self) -> Any:
        return weakref.WeakKeyDictionary()

    @contextlib.contextmanager
    def _entered(self) -> Any:
        if replicas.strategy() is self:
            yield
        else:
            with self._scope():
                yield

    def _device_numbers(self) -> tuple[int, ...]:
        return single_program.mesh(self.local_devices, self._processes.size > 1)

    def _shares_out(self) -> Any:
        """A context in which functions run on the devices of all replicas, each with a part of every batch."""
        return replicas.over(() if self._processes.size > 1 else self._device_numbers())

    def _beside_variables(self) -> Any:
        """The scope of the device of variables: the first accelerator; further ones have copies."""
        accelerated = single_program.is_accelerator(self.local_devices[0])
        return context.device(self.local_devices[0]) if accelerated else contextlib.nullcontext()

    def _placed(self, i: int) -> Any:
        if len(self.local_devices) == 1:
            return contextlib.nullcontext()
        return context.device(self.local_devices[i])

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Any:
        """Compute the sum or mean of a value over the replicas.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: a distributed value, or a structure of such.
          axis: an axis that is reduced, too; None for none.

        Returns:
          A tensor, or a structure of tensors.

        Raises:
          ValueError: for the sum of a value that is no distributed one: it may be of one replica, or of all.
        """
        op = reduction(reduce_op)
        if axis is None and op is ReduceOp.SUM and self.num_replicas_in_sync > 1 and self._processes.size == 1:
            for x in nest.flatten(value):
                if not isinstance(x, DistributedValues) and not is_zero(x):
                    raise not_distributed(x, op)
        return self.extended.reduced(op, value, axis)

    def gather(self, value: Any, axis: int) -> Any:
        """Put the components of all replicas one after another.

        Args:
          value: a distributed value.
          axis: the axis along which they are joined.

        Returns:
          A tensor.
        """
        parts = list(self.experimental_local_results(value))
        if isinstance(value, OwnValue):
            return concat(parts, axis)
        return self._processes.gathered(parts[0] if len(parts) == 1 else concat(parts, axis), axis)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The components of a distributed value, or of a structure of such; of any other, the value alone."""
        if isinstance(value, DistributedValues):
            return value.values
        if any(isinstance(part, DistributedValues) for part in nest.flatten(value)):
            return tuple(select(replica, value) for replica in range(self.num_replicas_in_sync))
        return (value,)

    unwrap = experimental_local_results

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Distribute a dataset, whose batches are shared out among the replicas.

        Args:
          dataset: a dataset in batches of the size of all replicas together.
          options: an `InputOptions`, or None.

        Returns:
          A `DistributedDataset`.
        """
        return inputs.distributed(self, dataset, shares=self._processes)

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """Distribute a dataset that a function makes; every replica takes batches of its own from it.

        Args:
          dataset_fn: a function of an `InputContext` that gives a dataset, in batches of the size of one replica.
          options: an `InputOptions`, or None.

        Returns:
          A `DistributedDataset`.
        """
        made = dataset_fn(self._input_context())
        return inputs.distributed(self, made, per_replica=True)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn: Any) -> Any:
        """The values `value_fn(ValueContext)` for each replica."""
        n = self.num_replicas_in_sync
        made = [value_fn(ValueContext(i, n)) for i in self.extended.own_replicas]
        return made[0] if len(made) == 1 else PerReplica(made)

    def _input_context(self) -> Any:
        return inputs.InputContext(self._processes.size, self._processes.rank, self.num_replicas_in_sync)

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator over the distributed dataset (1.x)."""
        return inputs.distributed(self, dataset, shares=self._processes).make_input_iterator()

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """Call a function once for each replica, with the next components of an iterator (1.x).

        Args:
          fn: the function, of one argument, or of none without an iterator.
          input_iterator: what `make_dataset_iterator` or `make_input_fn_iterator` returned (optional).

        Returns:
          Its results, as those of `run`.
        """
        return self.run(fn, () if input_iterator is None else (input_iterator.get_next(),))

    def make_input_fn_iterator(self, input_fn: Callable[..., Any], replication_mode: Any = None) -> Any:
        """Make an iterator over what a function returns (1.x).

        Args:
          input_fn: a function of an `InputContext` that gives a dataset.
          replication_mode: an `InputReplicationMode`.

        Returns:
          An iterator of distributed values.
        """
        made = input_fn(self._input_context())
        return inputs.distributed(self, made, per_replica=True).make_input_iterator()

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """Make a dataset of the rows of arrays.

        Args:
          numpy_input: an array, or a structure of arrays.
          session: accepted as in 1.x.

        Returns:
          A dataset.
        """
        return Dataset.from_tensor_slices(numpy_input)

    def update_config_proto(self, config_proto: Any) -> Any:
        """The configuration of a session, as it is."""
        return config_proto

    def configure(self, session_config: Any = None, **kwargs: Any) -> None:
        """Do nothing: nothing is to be configured.

        Args:
          session_config: accepted as in 1.x.
          **kwargs: accepted as in 1.x.
        """

    def _run_as_one(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """As `run` in a graph; raises what keeps the replicas from being one program."""

        def replica(number: Any, merge: Any, given: Any) -> Any:
            with as_replica(ReplicaContext(self, number, merge)):
                return fn(*given)

        with self._entered():
            return single_program.node(self._device_numbers(), replica, args, is_mirrored, self._processes)

    # What happens to values that replicas assign to a variable that does not say so.
    _aggregation = VariableAggregation.NONE

    # Whether steps are handed to workers by a coordinator.
    _should_use_with_coordinator = False

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A context that changes nothing: there is one memory."""
        return self.extended.colocate_vars_with(colocate_with_variable)

    def group(self, value: Any, name: str | None = None) -> Any:
        """One operation that runs all of `value`; None eagerly."""
        return self.extended._group(value, name)

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def _first_device() -> str:
    found = config.list_logical_devices("GPU") or config.list_logical_devices("CPU")
    return found[0].name


def _full_name(device: Any) -> str:
    """A device with the job, replica and task that it is of: those of this process where the name has none."""
    here = DeviceSpec(job="localhost", replica=0, task=0)
    return here.make_merged_spec(DeviceSpec.from_string(canonical_name(device))).to_string()


boundaries(globals())
