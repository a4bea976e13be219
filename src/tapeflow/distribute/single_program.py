"""A step of all replicas as one node: traced once, compiled as one program over the devices of the replicas.

Where replicas may differ in more than their values (shapes, Python's control flow, variables of their own), or the step
cannot be compiled, each replica is traced by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tapeflow._native import Tensor
from tapeflow.core import context, device, device_calls, dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.structures import nest
from tapeflow.distribute.processes import ALONE
from tapeflow.distribute.reducing import OwnValue
from tapeflow.distribute.values import DistributedValues, PerReplica
from tapeflow.graph.build import building
from tapeflow.graph.func_graph import FuncGraph, wait_for_captures
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.control.cross_replica import XlaReplicaId

_logger = logging.getLogger("tensorflow")


class Together(NamedTuple):
    """What a step of all replicas returned."""

    results: Any


class _Refused(Exception):
    """Why the replicas are not traced together."""


def mesh(names: Sequence[str], everywhere: bool = False) -> tuple[int, ...]:
    """The indices of several accelerators, one for each replica; empty where replicas are elsewhere.

    Of `everywhere`, that is in several processes, one device is enough, which may be the host.
    """
    try:
        indices = tuple(device.find(name).index for name in names)
    except InvalidArgumentError:
        return ()
    if everywhere:
        return indices if len(set(indices)) == len(indices) else ()
    distinct = len(indices) > 1 and all(indices) and len(set(indices)) == len(indices)
    return indices if distinct and device_calls.step_driver is not None else ()


def is_accelerator(name: str) -> bool:
    """Whether a device is there and is not the host."""
    try:
        return device.find(name).index != 0
    except InvalidArgumentError:
        return False


def traced(
    indices: Sequence[int], replica: Callable[..., Any], arguments: Any, is_mirrored: Callable[[Any], bool],
    processes: Any = ALONE,
) -> Together | None:
    """The results of a step in a graph that is being built; None where the replicas have to be traced one by one.

    Args:
      indices: the devices of the replicas.
      replica: `replica(number, merge, arguments)` runs one of them; see `running.run_in_step` for `merge`.
      arguments: a structure of values, some of them distributed.
      is_mirrored: whether replicas may write a variable: it is updated alike in all.
      processes: those that have replicas on such devices.
    """
    if not indices or context.executing_eagerly():
        return None
    try:
        return Together(node(indices, replica, arguments, is_mirrored, processes))
    except Exception as error:  # what is wrong with the step is said when a replica is traced by itself
        _logger.info("The replicas of a step are traced one by one: %s", error)
        return None


def node(
    indices: Sequence[int], replica: Callable[..., Any], arguments: Any, is_mirrored: Callable[[Any], bool],
    processes: Any = ALONE,
) -> Any:
    """The results of a step as `traced` makes it; raises what keeps the replicas from being traced together."""
    return _Trace(indices, replica, arguments, is_mirrored, processes).node()


class _Trace:
    def __init__(
        self, indices: Sequence[int], replica: Callable[..., Any], arguments: Any, is_mirrored: Callable[[Any], bool],
        processes: Any,
    ):  # fmt: skip
        self._indices, self._processes, self._merges = indices, processes, list[range]()
        self._outer = context.current_graph()
        self._body = FuncGraph("replicated_step")
        self._given = [_alike(x) for x in nest.flatten(arguments) if isinstance(x, DistributedValues)]
        with self._body.as_default():
            inputs = iter(
                [self._body.add_input(x[0].dtype, tuple(x[0].shape.as_list()), f"arg{i}")
                 for i, x in enumerate(self._given)]
            )  # fmt: skip
            own = nest.map_structure(lambda x: next(inputs) if isinstance(x, DistributedValues) else x, arguments)
            self._result = replica(XlaReplicaId(), self._merge, own)
        for op in self._body.operations:
            self._check(op, is_mirrored)

    def _merge(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What `function` makes of the values of all replicas, from those of one."""
        graph = self._body
        if context.current_graph() is not graph:
            raise _Refused("merge_call in a branch or a loop")
        start = len(graph.operations)
        result = function(*nest.map_structure(self._own, args), **nest.map_structure(self._own, kwargs))
        self._merges.append(range(start, len(graph.operations)))
        return nest.map_structure(_selected, result)

    def _own(self, x: TensorLike) -> Any:
        return OwnValue(x, len(self._indices) * self._processes.size) if isinstance(x, (Tensor, IndexedSlices)) else x

    def _check(self, op: Operation, is_mirrored: Callable[[Any], bool]) -> None:
        held = [x for x in op.inputs if x.dtype is dtypes.resource]
        if not held or not op.effects or any(op.index in merge for merge in self._merges):
            return
        if op.row is None:
            raise _Refused(f"{op.type} changes what it takes")
        variables = [self._body.variables_by_handle.variable_of(x) for x in held]
        if not all(v is not None and is_mirrored(v) for v in variables):
            raise _Refused(f"'{op.name}' writes a variable that was made outside of the scope of the strategy")

    def node(self) -> Any:
        """Add the step to the graph around it; returns its results."""
        graph, body = self._outer, self._body
        leaves = nest.flatten(self._result)
        if len(nest.flatten(self._result, expand_composites=True)) != len(leaves):
            raise _Refused("composite results")
        body.outputs = [x for x in leaves if isinstance(x, SymbolicTensor) and x.op.graph is body]
        common = [any(x.op.index in merge for merge in self._merges) for x in body.outputs]
        driver = device_calls.step_driver if self._processes.size == 1 else self._processes.group.step_driver
        assert driver is not None  # else there is no mesh
        run = driver(body, body.outputs, common, len(self._given), self._indices)
        inputs = [building.as_symbolic(graph, part) for parts in self._given for part in parts]
        inputs += [building.as_symbolic(graph, outer) for outer, _ in body.captures]
        count = len(self._indices)
        specs = [(y.dtype, y.shape_tuple) for y, same in zip(body.outputs, common, strict=True)
                 for _ in range(1 if same else count)]  # fmt: skip
        op = python_ops.node("EagerPyFunc", run, inputs, specs, "replicated_step")
        wait_for_captures(op, [body])
        flat = iter(op.outputs)
        found = {
            id(y): next(flat) if same or count == 1 else PerReplica([next(flat) for _ in range(count)])
            for y, same in zip(body.outputs, common, strict=True)
        }
        return nest.pack_sequence_as(self._result, [self._returned(x, op, found) for x in leaves])

    def _returned(self, x: TensorLike, op: Operation, found: dict[int, Any]) -> Any:
        if isinstance(x, Operation):
            return op
        return found.get(id(x), x)


def _alike(x: DistributedValues) -> tuple[Any, ...]:
    """The components of a value, which have one dtype and shape."""
    parts = x.values
    if not all(isinstance(part, Tensor) for part in parts):
        raise _Refused("values that are no tensors")
    kinds = {(part.dtype, tuple(part.shape.as_list()) if part.shape.rank is not None else None) for part in parts}
    if len(kinds) > 1 or not parts[0].shape.is_fully_defined():
        raise _Refused("shapes of values that differ, or are not known")
    return parts


def _selected(x: TensorLike) -> Any:
    if isinstance(x, OwnValue):
        return x.own
    if isinstance(x, DistributedValues):
        raise _Refused("a merge that returns other values for each replica")
    return x
