"""Strategies: how many replicas there are, on which devices, and how their values come together.

The replicas of a process store variables once: they read the same memory, and wait for each other where they would
change it. Each process of several has a copy, which all change alike.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core import config, context, replicas
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.device import DeviceSpec, canonical_name
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.data.dataset import Dataset
from tapeflow.distribute import inputs, single_program
from tapeflow.distribute.processes import ALONE
from tapeflow.distribute.reducing import (
    OwnValue,
    ReduceOp,
    reduce_over_axis,
    reduce_values,
    reduction,
)
from tapeflow.distribute.running import run_in_step
from tapeflow.distribute.sharding import shares
from tapeflow.distribute.values import DistributedValues, PerReplica, regroup, select
from tapeflow.function.autograph.operators.calls import cv
from tapeflow.function.function import Function, function
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import identity
from tapeflow.ops.state.variable import (
    Variable,
    VariableAggregation,
    VariableV1,
    variable_creator_scope,
)

__all__ = [
    "ReplicaContext",
    "Strategy",
    "StrategyExtended",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]


class ReplicaContext:
    """What a replica knows of itself, and how it meets the others.

    Args:
      strategy: the strategy that it belongs to.
      replica_id_in_sync_group: its number.
      merge: how values of all replicas meet; None where there is one.
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: int, merge: Any = None):
        self._strategy, self._id, self._merge = strategy, replica_id_in_sync_group, merge

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    @property
    def replica_id_in_sync_group(self) -> int:
        """The number of this replica, from 0."""
        return self._id

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def devices(self) -> list[str]:
        """The device of this replica."""
        devices = self._strategy.extended.worker_devices
        return [devices[self._id % len(devices)]]

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """Runs `merge_fn(strategy, *args)` once, with the arguments of all replicas; returns this replica's part."""
        kwargs = kwargs or {}

        def merged(*all_args: Any, **all_kwargs: Any) -> Any:
            with _as_replica(None):
                return merge_fn(self._strategy, *all_args, **all_kwargs)

        if self._merge is None:
            return select(0, merged(*args, **kwargs))
        return self._merge(merged, tuple(args), kwargs)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean over the replicas of every tensor of a structure."""
        op = reduction(reduce_op)
        flat = nest.flatten(value)

        def together(strategy: Any, *parts: Any) -> Any:
            return [strategy.reduce(op, part, axis=None) for part in parts]

        return self._own(value, self.merge_call(together, flat))

    def _own(self, like: Any, values: Sequence[Any]) -> Any:
        """What all replicas got, as tensors of this one: of the same object everywhere, `run` would make one value."""
        if self.num_replicas_in_sync > 1:
            values = [identity(x) for x in values]
        return nest.pack_sequence_as(like, values)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The values of all replicas, one after another along `axis`."""
        def together(strategy: Any, *parts: Any) -> Any:
            return [strategy.gather(part, axis) for part in parts]

        return self._own(value, self.merge_call(together, nest.flatten(value)))

    def apply_once(self, apply: Any, grads_and_vars: Any) -> Any:
        """See `core.replicas.apply_once`."""
        gradients = [gradient for gradient, _ in grads_and_vars]
        known = [i for i, gradient in enumerate(gradients) if gradient is not None]

        def together(strategy: Any, *parts: Any) -> Any:
            summed: list[Any] = [None] * len(gradients)
            for i, total in zip(known, strategy.extended.sums(parts)):
                summed[i] = total
            return apply([(g, v) for g, (_, v) in zip(summed, grads_and_vars)])

        return self.merge_call(together, [gradients[i] for i in known])

    def _update(
        self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """`fn(var, *args)` in this replica."""
        result = fn(var, *args, **(kwargs or {}))
        return result if group else (result,)

    def __enter__(self) -> ReplicaContext:
        self.__dict__.setdefault("_entered", []).append(_as_replica(self))
        self._entered[-1].__enter__()  # type: ignore[attr-defined]
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)  # type: ignore[attr-defined]


@contextlib.contextmanager
def _as_replica(replica: ReplicaContext | None) -> Any:
    before = replicas.place(replicas.state.strategies, replica)
    try:
        yield
    finally:
        replicas.place(*before)


class Strategy:
    """Runs a function on several devices, each with its share of the data. Make one of its subclasses.

    Args:
      devices: names, one for each replica; None for one.
      extended: a `StrategyExtended` of another package's strategy, or None.
    """

    def __init__(self, devices: Any = None, extended: Any = None):
        self.local_devices = [_full_name(device) for device in devices or [_first_device()]]
        self.extended = StrategyExtended(self, self.__dict__.get("_joined", ALONE))

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
                variable.__class__ = _mirrored(kind)
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
        fn = _converted(fn)

        def replica(number: Any, merge: Any, given: Any) -> Any:
            with _as_replica(ReplicaContext(self, number, merge)):
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
                self._device_numbers(), replica, (tuple(args), dict(kwargs)), _is_mirrored, self._processes
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

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """Compute the sum or mean of a value over the replicas.

        Args:
          reduce_op: a `ReduceOp`, or its name.
          value: a distributed value, or a structure of such.
          axis: an axis that is reduced, too; None for none.

        Returns:
          A tensor, or a structure of tensors.
        """
        op = reduction(reduce_op)

        several = self._processes.size > 1  # each has a value of its own

        def reduced(x: Any) -> Any:
            if isinstance(x, OwnValue):
                return x.reduced(op, axis)
            if isinstance(x, DistributedValues):
                parts = x.values
            elif several or self.num_replicas_in_sync == 1 or op is ReduceOp.MEAN or _is_zero(x):
                parts = (x,)
            elif not is_tensor(x):
                raise ValueError(
                    f"A non-DistributedValues value {x} cannot be reduced with the given reduce op {op}."
                )
            else:
                parts = (x,) * self.num_replicas_in_sync
            if axis is not None:
                return reduce_over_axis(op, parts, axis, self._processes)
            if len(parts) > 1 or is_tensor(x) or several:
                return reduce_values(op, parts, self._processes)
            return x

        return nest.map_structure(reduced, value)

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
            with _as_replica(ReplicaContext(self, number, merge)):
                return fn(*given)

        with self._entered():
            return single_program.node(self._device_numbers(), replica, args, _is_mirrored, self._processes)

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


class ValueContext:
    """For which replica a value is made.

    Args:
      replica_id_in_sync_group: the number of the replica.
      num_replicas_in_sync: how many there are.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1):
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


class StrategyExtended:
    """What authors of libraries ask a strategy.

    Args:
      strategy: the `Strategy` that it speaks for.
      processes: those whose replicas are in step with the ones of this process; see `distribute.processes`.
    """

    def __init__(self, strategy: Any, processes: Any = ALONE):
        self._strategy, self.processes = strategy, processes

    @property
    def own_replicas(self) -> range:
        """The numbers of the replicas of this process."""
        count = len(self.worker_devices)
        return range(self.processes.rank * count, (self.processes.rank + 1) * count)

    def sums(self, values: Any) -> list[Any]:
        """The sums over the replicas of several values."""
        strategy = self._strategy
        if self.processes.size == 1 or any(isinstance(x, OwnValue) for x in values):
            return [strategy.reduce(ReduceOp.SUM, x, axis=None) for x in values]
        own = [reduce_values(ReduceOp.SUM, strategy.experimental_local_results(x)) for x in values]
        return self.processes.total(own)

    def share_of_process(self, batch: Any) -> Any:
        """The rows of a batch of all replicas that are for this process."""
        size, rank = self.processes.size, self.processes.rank
        return nest.map_structure(lambda x: x if x is None else shares(x, size)[rank], batch)

    def shares_of_replicas(self, batch: Any) -> Any:
        """A batch of this process as the parts of its replicas."""
        n = len(self.own_replicas)
        return batch if n == 1 else nest.map_structure(lambda x: PerReplica(shares(x, n)), batch)

    worker_devices = property(lambda self: tuple(self._strategy.local_devices))
    parameter_devices = property(lambda self: tuple(self._strategy.local_devices))
    experimental_require_static_shapes = False
    experimental_between_graph = False
    # The first of several processes writes files.
    should_checkpoint = property(lambda self: self.processes.rank == 0)
    should_save_summary = property(lambda self: self.processes.rank == 0)
    experimental_should_init = True

    _devices = property(lambda self: tuple(self._strategy.local_devices))
    # Batches that are fed are those of all replicas together.
    _global_batch_size = True

    def _in_multi_worker_mode(self) -> bool:
        """Whether there are several processes."""
        return self.processes.size > 1

    def _use_merge_call(self) -> bool:
        """Whether replicas meet before they update variables."""
        return self._num_replicas_in_sync > 1

    def _scope(self, strategy: Any) -> Any:
        return strategy.scope()

    def _reduce(self, reduce_op: Any, value: Any) -> Any:
        return self._strategy.reduce(reduce_op, value)

    def _update(
        self, var: Any, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], group: bool,
    ) -> Any:
        return self.update(var, fn, args, kwargs, group)

    def _group(self, value: Any, name: str | None = None) -> Any:
        from tapeflow.ops.control.flow import group  # the namesake of a method

        return group(*nest.flatten(value), name=name)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of arrays."""
        return self._strategy.experimental_make_numpy_dataset(numpy_input, session)

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._strategy.num_replicas_in_sync

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """See Strategy.run."""
        return self._strategy.run(fn, args, kwargs)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The reduced value."""
        return self._strategy.reduce(reduce_op, value, axis=None)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """`reduce_to` of several."""
        return [self.reduce_to(reduce_op, value, to) for value, to in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The value for all replicas."""
        return tensor

    def update(
        self, var: Any, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
        group: bool = True
    ) -> Any:
        """`fn(var, *args)`."""
        result = fn(var, *select(0, tuple(args)), **select(0, kwargs or {}))
        return result if group else (result,)

    def update_non_slot(
        self, colocate_with: Any, fn: Callable[..., Any], args: Any = (), kwargs: Mapping[str, Any] | None = None,
        group: bool = True
    ) -> Any:
        """`fn(*args)`."""
        result = fn(*args, **(kwargs or {}))
        return result if group else (result,)

    def value_container(self, value: Any) -> Any:
        """The variable that a component belongs to."""
        return value

    def read_var(self, v: Any) -> Any:
        """The variable's value."""
        return v.read_value()

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """A context that changes nothing: there is one memory."""
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether the variable was made in the scope of this strategy."""
        found = getattr(v, "_distribute_strategy", None)
        return found is (None if isinstance(self._strategy, _DefaultDistributionStrategy) else self._strategy)

    def non_slot_devices(self, var_list: Any) -> Any:
        """The first device."""
        return self._strategy.local_devices[0]


class MirroredVariable(Variable):
    """A variable that all replicas read. What replicas assign is aggregated first; once, for all of them."""

    def _merged(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        method = getattr(super(), name)
        aggregation = self.aggregation
        if aggregation == VariableAggregation.NONE:
            raise ValueError(
                "You must specify an aggregation method to update a MirroredVariable in Replica Context. "
                "You can do so by passing an explicit value for argument `aggregation` to "
                "tf.Variable(..). e.g. `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`"
                "`tf.VariableAggregation` lists the possible aggregation methods."
            )

        def once(strategy: Any, values: Any) -> Any:
            if aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
                found = strategy.experimental_local_results(values)[0]
                if not isinstance(values, OwnValue):
                    found = strategy.extended.processes.first(found)
            else:
                op = ReduceOp.from_variable_aggregation(aggregation)
                found = strategy.reduce(op, values, axis=None)
            method(found, *args, **kwargs)
            return self

        own = value if is_tensor(value) else convert_to_tensor(value, self.dtype)
        return replicas.state.replica.merge_call(once, (own,))

    def assign(self, value, *args, **kwargs):
        if replicas.several():
            return self._merged("assign", value, *args, **kwargs)
        return super().assign(value, *args, **kwargs)

    def assign_add(self, delta, *args, **kwargs):
        if replicas.several():
            return self._merged("assign_add", delta, *args, **kwargs)
        return super().assign_add(delta, *args, **kwargs)

    def assign_sub(self, delta, *args, **kwargs):
        if replicas.several():
            return self._merged("assign_sub", delta, *args, **kwargs)
        return super().assign_sub(delta, *args, **kwargs)


@functools.cache
def _mirrored(kind: Any) -> Any:
    """The class of variables of a subclass of `Variable` that replicas share."""
    metaclass: Any = type(kind)
    return metaclass(kind.__name__, (MirroredVariable, kind), {})


def _is_mirrored(variable: Any) -> bool:
    return isinstance(variable, MirroredVariable)


def _converted(fn: Callable[..., Any]) -> Any:
    """The function, with tensors as conditions while a function is being traced with AutoGraph."""
    graph = context.current_graph()
    if graph is None or not getattr(graph, "building_function", False) or not inspect.isfunction(fn):
        return fn

    return cv(fn)


def _first_device() -> str:
    found = config.list_logical_devices("GPU") or config.list_logical_devices("CPU")
    return found[0].name


def _full_name(device: Any) -> str:
    """A device with the job, replica and task that it is of: those of this process where the name has none."""
    here = DeviceSpec(job="localhost", replica=0, task=0)
    return here.make_merged_spec(DeviceSpec.from_string(canonical_name(device))).to_string()


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and value == 0


class _DefaultDistributionStrategy(Strategy):
    """The strategy where none was chosen: one replica, and nothing is shared out."""

    def scope(self) -> Any:
        """A context that changes nothing."""
        return contextlib.nullcontext(self)

    @contextlib.contextmanager
    def _entered(self) -> Any:
        yield

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset."""
        return dataset


_default: list[Strategy] = []
_global: list[Strategy] = []


def _default_strategy() -> Strategy:
    if not _default:
        _default.append(_DefaultDistributionStrategy())
    return _default[0]


def get_strategy() -> Strategy:
    """The strategy in whose scope this is, else the default one."""
    return replicas.strategy() or (_global[-1] if _global else _default_strategy())


def has_strategy() -> bool:
    """Whether a strategy other than the default is in force."""
    return get_strategy() is not _default_strategy()


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Puts a strategy in force for the whole process, or with None none."""
    _global.clear()
    if strategy is not None:
        _global.append(strategy)


def in_cross_replica_context() -> bool:
    """Whether this is in a strategy's scope, but not in one of its replicas."""
    return has_strategy() and replicas.state.replica is None


def get_replica_context() -> ReplicaContext | None:
    """The replica that runs; None in the scope of a strategy outside of its replicas."""
    if replicas.state.replica is not None:
        return replicas.state.replica
    return None if has_strategy() else ReplicaContext(_default_strategy(), 0)


boundaries(globals())
