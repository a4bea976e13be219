"""Programs over a mesh: eager operations and functions, compiled by XLA, which says how results lie on the devices."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.layout import MATCH, Layout
from tapeflow.core.dtensor.placed import mesh_array
from tapeflow.core.errors import UnknownError
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.xla import boundary, device_memory, eager
from tapeflow.xla.executable import Executable
from tapeflow.xla.importing import jax


def array_on(tensor: Any, storage: Any) -> Any:
    """The array of jax's of a tensor on a mesh; one that is elsewhere is copied to all of its devices."""
    held = mesh_array(tensor)
    if held is not None and held.storage is storage:
        return held.array
    layout = Layout.replicated(storage.mesh, tensor.shape.rank)
    return (storage.put(tensor, layout) if held is None else storage.laid_out(held, layout)).array


def _fits(layout: Layout, shape: Sequence[int]) -> bool:
    try:
        placed.check_fits(layout, shape)
    except UnknownError:
        return False
    return MATCH not in layout.sharding_specs


class OnMesh:
    """Where a call runs, as `eager.OnDevice`: all devices of a mesh.

    Args:
      storage: that of the mesh.
      wanted: the layout of results that can have it; None: as XLA likes.
    """

    def __init__(self, storage: Any, wanted: Layout | None):
        self._storage, self._wanted = storage, wanted

    def key(self, values: Sequence[Any]) -> Any:
        """What programs for other places differ by."""
        layouts = [self._layout_of(x) for x in values]
        specs = [None if layout is None else tuple(layout.sharding_specs) for layout in layouts]
        wanted = None if self._wanted is None else tuple(self._wanted.sharding_specs)
        return (self._storage.mesh, wanted, *specs)

    def _layout_of(self, tensor: Any) -> Layout | None:
        """The layout of a tensor on this mesh; None for one that is elsewhere."""
        held = mesh_array(tensor)
        return held.layout if held is not None and held.storage is self._storage else None

    @functools.cached_property
    def everywhere(self) -> Any:
        """The sharding of what each device has the whole of."""
        return jax.sharding.NamedSharding(self._storage.jax_mesh, jax.sharding.PartitionSpec())

    def sharding_of(self, tensor: Any) -> Any:
        """The sharding of the array that stands for a tensor."""
        layout = self._layout_of(tensor)
        return self.everywhere if layout is None else self._storage.sharding_of(layout)

    def compiled(self, function: Any, given: Sequence[Any], shapes: Sequence[Any], written: Sequence[Any]) -> Any:
        """A function compiled for arrays like `given`; `written`: the values of variables that its last results are."""
        kept = [self.sharding_of(x) for x in written]
        count = len(shapes) - len(kept)
        wanted = [
            self._storage.sharding_of(self._wanted)
            if self._wanted is not None and _fits(self._wanted, y.shape) else None
            for y in shapes[:count]
        ]  # fmt: skip
        made = self._lowered(function, given, [*wanted, *kept])
        found = [self._good(s, y, given) for s, y in zip(made.output_shardings, shapes, strict=True)]
        if found == list(made.output_shardings):
            return made
        return self._lowered(function, given, found)

    def _good(self, sharding: Any, result: Any, given: Sequence[Any]) -> Any:
        """A sharding that a layout can say: like the one that XLA chose, or of what is the same everywhere the first
        argument's, if that has the same shape."""
        unused = not isinstance(sharding, jax.sharding.NamedSharding)  # jax saw no array of the mesh
        if unused or not any(sharding.spec):
            alike = given and given[0].shape == result.shape and self._wanted is None
            return given[0].sharding if alike else self.everywhere if unused else sharding
        if self._storage.layout_of(sharding, len(result.shape)) is not None:
            return sharding
        return self._storage.sharding_of(self._storage.nearest(sharding, result.shape))

    def _lowered(self, function: Any, given: Sequence[Any], results: Sequence[Any]) -> Any:
        return jax.jit(function, out_shardings=tuple(results)).lower(*given).compile()

    def array_of(self, tensor: Any) -> Any:
        """The elements of a tensor there."""
        return array_on(tensor, self._storage)

    def tensor_of(self, array: Any, number: int) -> Any:
        """The tensor of a result; `number`: of its dtype."""
        return _native.device_tensor(self._storage.wrapped(array), number, placed.index())


def outputs(
    storage: Any, row: Any, inputs: tuple[Any, ...], variables: Sequence[Any], attrs: dict[str, Any],
    sizes: Sequence[int],
) -> tuple[Any, ...] | None:  # fmt: skip
    """The outputs of a call of a row, flat; None for one that runs on the host."""
    place = OnMesh(storage, placed.scope.layout)
    program = eager.program_of(row, inputs, variables, attrs, place, sizes)
    if program is None:
        return None
    held = tuple(v for v in variables if v is not None)
    if not held:
        return program.run(inputs, attrs)
    return _native.update_locked(held, lambda: program.run(inputs, attrs, variables))


class MeshMemory:
    """Tensors on the devices of a mesh, for `Executable`."""

    device = None
    single_device = False

    def __init__(self, storage: Any):
        self.storage = storage

    def array_of(self, tensor: Any) -> Any:
        """The elements of a tensor; those of lists stay what they are."""
        return array_on(tensor, self.storage) if device_memory.can_hold(tensor.dtype) else boundary.array_of(tensor)

    constant = array_of

    def tensor_of(self, value: Any, dtype: Any) -> Any:
        """The tensor of a result."""
        if not device_memory.can_hold(dtype):
            return boundary.tensor_of(value, dtype)
        if not isinstance(value, jax.Array):
            return _native.tensor_of(value, dtype)
        return placed.tensor_of(self.storage.wrapped(value), dtype)

    def assign(self, variable: Any, value: Any) -> None:
        """Replace the value of a variable; it stays laid out as it was."""
        boundary.assign(variable, self.tensor_of(value, variable.dtype))


class MeshFunction(Executable):
    """A function on the devices of a mesh.

    Args:
      storage: that of the mesh.
      wanted: the layout of results that can have it; None: as XLA likes.
    """

    def __init__(
        self, graph: FuncGraph, outputs: Sequence[SymbolicTensor], constants: dict[int, Any], storage: Any,
        wanted: Layout | None,
    ):  # fmt: skip
        super().__init__(graph, outputs, constants, MeshMemory(storage))
        self._storage, self._wanted = storage, wanted

    def _run(self, binding: Any, arrays: list[Any], state: list[Any]) -> Any:
        return super()._run((*binding, tuple(getattr(x, "sharding", None) for x in state)), arrays, state)

    def _trace(self, binding: Any, arrays: Any, state: Any, positions: Any) -> Any:
        results, written, after = super()._trace(binding, arrays, state, positions)
        constrain = jax.lax.with_sharding_constraint
        kept = {i: value if binding[2][i] is None else constrain(value, binding[2][i]) for i, value in written.items()}
        wanted = self._wanted
        if wanted is not None:
            sharding = self._storage.sharding_of(wanted)
            results = [
                constrain(y, sharding) if isinstance(y, jax.Array) and _fits(wanted, y.shape) else y for y in results
            ]
        return results, kept, after

    def _body(self, lowering: Any, arrays: Any, binding: Any) -> list[Any]:
        return super()._body(lowering, arrays, binding[:2])


