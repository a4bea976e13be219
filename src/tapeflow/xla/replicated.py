"""Programs over a mesh of devices: a step of several replicas, or a function of batches that are shared out.

Variables are replicated, what is given by replica is split along the mesh, and sums over the replicas are XLA's
all-reduces. A random stream is shared out: each replica draws numbers of its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.control.cross_replica import AXIS
from tapeflow.xla import boundary, device_memory
from tapeflow.xla.executable import Executable
from tapeflow.xla.importing import jax
from tapeflow.xla.tracing import Lowering

P = jax.sharding.PartitionSpec


class Split:
    """One tensor for each replica, as one argument of a program."""

    def __init__(self, parts: Sequence[Any]):
        self.parts, self.dtype = parts, parts[0].dtype


class MeshMemory:
    """Tensors on all devices of a mesh. What is the same everywhere is known as a tensor of the first device."""

    device = None
    single_device = False

    def __init__(self, indices: Sequence[int], devices: Sequence[Any] | None = None):
        self._indices = tuple(indices)
        self.mesh = jax.sharding.Mesh(devices or [device_memory.jax_device(i) for i in indices], (AXIS,))
        self._same = jax.sharding.NamedSharding(self.mesh, P())
        self._split = jax.sharding.NamedSharding(self.mesh, P(AXIS))
        # By the id of an array of the first device: it, weakly, and the same on all devices.
        self._everywhere: dict[int, tuple[Any, Any]] = {}

    def array_of(self, given: Any) -> Any:
        """A tensor on all devices, or those of a `Split` one on each, along a new first axis."""
        if isinstance(given, Split):
            return self._spread(given.parts)
        if not device_memory.can_hold(given.dtype):
            return boundary.array_of(given)
        where, array = _native.device_array(given)
        known = self._everywhere.get(id(array))
        if known is not None and known[0]() is array:
            return known[1]
        with jax.enable_x64(True):
            found = jax.device_put(np.array(given.numpy()) if where == 0 else array, self._same)
        if where:
            self._remember(array, found)
        return found

    def constant(self, given: Any) -> Any:
        """A tensor that calls do not give, on all devices."""
        return self.array_of(given)

    def assign(self, variable: Any, value: Any) -> None:
        """Let a variable have a value that is the same everywhere."""
        boundary.assign(variable, self.tensor_of(value, variable.dtype))

    def _remember(self, array: Any, everywhere: Any) -> None:
        key, known = id(array), self._everywhere
        known[key] = (weakref.ref(array, lambda _: known.pop(key, None)), everywhere)

    def shared_out(self, given: Any) -> Any:
        """A tensor with a part of its first axis on each device; on all devices where it cannot be shared out."""
        shape = given.shape.as_list()
        if not device_memory.can_hold(given.dtype) or not shape or not shape[0] or shape[0] % len(self._indices):
            return self.array_of(given)
        where, array = _native.device_array(given)
        with jax.enable_x64(True):
            return jax.device_put(np.array(given.numpy()) if where == 0 else array, self._split)

    def same_everywhere(self, value: Any) -> Any:
        """A traced value that all devices are to have whole."""
        return jax.lax.with_sharding_constraint(value, self._same)

    def _spread(self, parts: Sequence[Any]) -> Any:
        shape = parts[0].shape.as_list()
        if any(x.shape.as_list() != shape for x in parts):
            text = ", ".join(str(tuple(x.shape.as_list())) for x in parts)
            raise InvalidArgumentError(None, None, f"Replicas of one program take tensors of one shape, got {text}")
        with jax.enable_x64(True):
            if not any(_native.device_array(x)[0] for x in parts):
                return jax.device_put(np.stack([x.numpy() for x in parts]), self._split)
            rows = [device_memory.array_on(x, i)[None] for x, i in zip(parts, self._indices, strict=True)]
            return jax.make_array_from_single_device_arrays((len(parts), *shape), self._split, rows)

    def tensor_of(self, value: Any, dtype: Any) -> Any:
        """A tensor of the first device: what all have."""
        if not device_memory.can_hold(dtype):
            return boundary.tensor_of(value, dtype)
        array = self._parts(value)[0]
        self._remember(array, value)
        return device_memory.tensor_of(array, dtype, self._indices[0])

    def tensors_of(self, value: Any, dtype: Any) -> list[Any]:
        """The tensor of each replica, on its device."""
        with jax.enable_x64(True):
            return [
                device_memory.tensor_of(part[0], dtype, i)
                for part, i in zip(self._parts(value), self._indices, strict=True)
            ]

    def _parts(self, value: Any) -> list[Any]:
        """The arrays of the devices, in the order of the mesh."""
        by_device = {shard.device: shard.data for shard in value.addressable_shards}
        return [by_device[device_memory.jax_device(i)] for i in self._indices]


class ShardedFunction(Executable):
    """A function on the devices of a mesh, each with a part of its arguments' first axes: it computes what one does."""

    def _argument(self, x: TensorLike) -> Any:
        return self._memory.shared_out(x)

    def _trace(self, binding: Any, arrays: Any, state: Any, positions: Any) -> Any:
        made = super()._trace(binding, arrays, state, positions)
        return jax.tree.map(self._memory.same_everywhere, made)


class ReplicatedStep(Executable):
    """The step of all replicas.

    Args:
      graph: what one replica does; its first `count` inputs are given by replica, the others are the same for all.
      outputs: its results.
      common: for each result whether it is the same for all replicas.
      indices: the devices of the replicas.

    Raises:
      UnimplementedError: the step cannot be compiled.
    """

    def __init__(
        self, graph: FuncGraph, outputs: Sequence[SymbolicTensor], common: Sequence[bool], count: int,
        indices: Sequence[int],
    ):  # fmt: skip
        self._mesh_memory = MeshMemory(indices)
        super().__init__(graph, outputs, {}, self._mesh_memory)
        self._common, self._count, self._size = list(common), count, len(indices)
        self._compiles()

    def _compiles(self) -> None:
        """Trace the step once without values, and find its random streams."""
        slots: dict[int, int] = {}
        arrays: list[Any] = []
        state: list[Any] = []
        order, kinds = [], []
        for i, x in enumerate(self.graph.inputs):
            if x.dtype is dtypes.resource:
                if x.handle_shape is None or None in x.handle_shape:
                    raise UnimplementedError(None, None, "The shape of a variable has to be known")
                order.append(slots.setdefault(id(x), len(state)))
                kinds.append(x.handle_dtype)
                state.append(jax.ShapeDtypeStruct(tuple(x.handle_shape), x.handle_dtype.as_numpy_dtype))
                continue
            if x.shape_tuple is None or None in x.shape_tuple or not device_memory.can_hold(x.dtype):
                raise UnimplementedError(None, None, f"The shape of {x.name} has to be known")
            shape = ((self._size,) if i < self._count else ()) + x.shape_tuple
            arrays.append(jax.ShapeDtypeStruct(shape, x.dtype.as_numpy_dtype))
        with jax.enable_x64(True):
            streams = self._probe((tuple(order), tuple(kinds)), arrays, state)
        self._streams = streams

    def run(self, *values: Any) -> list[Any]:
        """The results: those that differ by replica as one tensor for each."""
        n, ends = self._size, self._count * self._size
        split = [Split(values[i : i + n]) for i in range(0, ends, n)]
        return self(*split, *values[ends:])

    def _tensors(self, results: Sequence[Any]) -> list[Any]:
        flat: list[Any] = []
        for y, (dtype, _), common in zip(results, self._results, self._common, strict=True):
            flat += [self._memory.tensor_of(y, dtype)] if common else self._memory.tensors_of(y, dtype)
        return flat

    def _trace(self, binding: Any, arrays: Any, state: Any, positions: Any) -> Any:
        def one(arrays: Any, state: Any, positions: Any) -> Any:
            results, written, after = super(ReplicatedStep, self)._trace(binding, arrays, state, positions)
            own = [y if common else y[None] for y, common in zip(results, self._common, strict=True)]
            return own, written, after

        given = [P(AXIS) if i < self._count else P() for i in range(len(arrays))]
        results = [P() if common else P(AXIS) for common in self._common]
        return jax.shard_map(
            one, mesh=self._mesh_memory.mesh, in_specs=(given, P(), P()), out_specs=(results, P(), P()),
            check_vma=False,
        )(arrays, state, positions)  # fmt: skip

    def _lowering(self, values: Any, probing: bool = False) -> Lowering:
        share = None if probing else (jax.lax.axis_index(AXIS), self._size)
        return Lowering(values, probing, self._attrs_of, share)

    def _body(self, lowering: Lowering, arrays: Any, binding: Any) -> list[Any]:
        own = [x[0] if i < self._count else x for i, x in enumerate(arrays)]
        return super()._body(lowering, own, binding)


def program(
    graph: FuncGraph, outputs: Sequence[SymbolicTensor], common: Sequence[bool], count: int, indices: Sequence[int]
) -> Any:
    """What runs a step of replicas on eager tensors; see `ReplicatedStep`."""
    return ReplicatedStep(graph, outputs, common, count, indices).run
