"""Tensors on a mesh of several devices: arrays of jax's with a `NamedSharding` over the devices of the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import device, device_calls, dtypes
from tapeflow.core.device import DeviceSpec
from tapeflow.core.dtensor.layout import MATCH, UNSHARDED, Layout
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.dtensor.placed import MeshArray, check_fits, storage_of
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.ops.control import relayout
from tapeflow.xla import device_memory, eager, mesh_programs, virtual
from tapeflow.xla.importing import jax

P = jax.sharding.PartitionSpec


def _devices_of(mesh: Mesh) -> list[Any]:
    """The devices of jax that those of a mesh are."""
    if mesh.num_local_devices() != mesh.size:
        raise UnimplementedError(None, None, "Meshes over the devices of several processes are not supported")
    found = [_device_of(DeviceSpec.from_string(name)) for name in mesh.local_devices()]
    if len(set(found)) < len(found):
        raise InvalidArgumentError(None, None, f"A mesh has each device once, got {mesh}")
    return found


def _device_of(spec: DeviceSpec) -> Any:
    ordinal = spec.device_index or 0
    if spec.device_type != "CPU":
        found = device.find(spec)
        if found.type == spec.device_type:
            return device_memory.jax_device(found.index)
        raise InvalidArgumentError(None, None, f"{spec.to_string()} unknown device.")
    if ordinal >= len(device.devices("CPU")):
        raise InvalidArgumentError(None, None, f"{spec.to_string()} unknown device.")
    cpus = jax.local_devices(backend="cpu")
    place = ordinal + len(virtual.kinds()) if ordinal else 0
    if place >= len(cpus):
        raise InvalidArgumentError(
            None, None, f"{spec.to_string()}: XLA has {len(cpus)} CPU devices. It counted them before "
            "tf.config.set_logical_device_configuration asked for more: call that before anything is compiled, or set "
            "XLA_FLAGS=--xla_force_host_platform_device_count=N",
        )  # fmt: skip
    return cpus[place]


def _spec_of(specs: Sequence[str]) -> Any:
    return P(*[P.UNCONSTRAINED if s == MATCH else None if s == UNSHARDED else s for s in specs])


class JaxStorage:
    """What keeps tensors on one mesh.

    Args:
      mesh: the mesh.

    Raises:
      InvalidArgumentError: for devices that are not there, or that occur twice.
    """

    def __init__(self, mesh: Mesh):
        devices = np.empty(mesh.size, object)
        devices[:] = _devices_of(mesh)
        names = mesh.dim_names or ["x"]
        self.mesh = mesh
        self._devices = list(devices)
        device_calls.use_accelerator_calls(eager.call)
        self.jax_mesh = jax.sharding.Mesh(devices.reshape(mesh.shape() or [1]), tuple(names))

    def sharding_of(self, layout: Layout) -> Any:
        """What jax calls a layout."""
        return jax.sharding.NamedSharding(self.jax_mesh, _spec_of(layout.sharding_specs))

    def layout_of(self, sharding: Any, rank: int) -> Layout | None:
        """The layout that a sharding of jax's is; None for one that layouts cannot say."""
        if not isinstance(sharding, jax.sharding.NamedSharding):
            return None
        specs = [one[0] if isinstance(one, tuple) and len(one) == 1 else one for one in sharding.spec]
        if any(isinstance(one, tuple) and one for one in specs):
            return None
        return Layout([one or UNSHARDED for one in [*specs, *[None] * (rank - len(specs))]], self.mesh)

    def nearest(self, sharding: Any, shape: Sequence[int]) -> Layout:
        """The layout that is most like a sharding: of an axis cut along several dimensions, the first is kept."""
        spec = getattr(sharding, "spec", ())
        first = [one[0] if isinstance(one, tuple) and one else one for one in [*spec, *[None] * len(shape)]]
        layout = Layout([one or UNSHARDED for one in first[: len(shape)]], self.mesh)
        uneven = [i for i, size in enumerate(shape) if size % layout.num_shards(i)]
        return Layout([UNSHARDED if i in uneven else s for i, s in enumerate(layout.sharding_specs)], self.mesh)

    def put(self, tensor: Any, layout: Layout) -> MeshArray:
        """Place a tensor of the host. Raises UnknownError for a layout that it cannot have."""
        if not device_memory.can_hold(tensor.dtype):  # strings stay in the host's memory
            check_fits(layout, tensor.shape.as_list())
            return MeshArray(tensor, layout, self)
        return self._placed(np.array(tensor.numpy()), layout)

    def laid_out(self, given: MeshArray, layout: Layout) -> MeshArray:
        """The same elements, which another mesh may have, in a layout of this mesh."""
        if not isinstance(given.array, jax.Array):
            return self.put(given.array, layout)
        return self._placed(given.array, layout)

    def _placed(self, array: Any, layout: Layout) -> MeshArray:
        check_fits(layout, array.shape)
        if layout.is_single_device():
            layout = Layout.replicated(layout.mesh, array.ndim)
        with jax.enable_x64(True):
            return MeshArray(jax.device_put(array, self.sharding_of(layout)), layout, self)

    def wrapped(self, array: Any) -> MeshArray:
        """What a computation made; it is laid out anew where no layout says how it lies."""
        if not isinstance(array, jax.Array):
            return self.put(array, Layout.replicated(self.mesh, len(array.shape)))
        layout = self.layout_of(array.sharding, array.ndim)
        if layout is None:
            return self._placed(array, self.nearest(array.sharding, array.shape))
        return MeshArray(array, layout, self)

    def packed(self, parts: Sequence[Any], layout: Layout) -> MeshArray:
        """The tensor of which each device has the part that is given for it."""
        shape = layout.global_shape_from_local_shape(parts[0].shape.as_list())
        if not device_memory.can_hold(parts[0].dtype):
            texts = np.empty(shape, object)
            for part, extent in zip(parts, _extents(layout, shape), strict=True):
                texts[extent] = part.numpy()
            return self.put(_native.tensor_of(texts, parts[0].dtype), layout)
        with jax.enable_x64(True):
            arrays = [jax.device_put(np.array(_local(x)), d) for x, d in zip(parts, self._devices, strict=True)]
            whole = jax.make_array_from_single_device_arrays(shape, self.sharding_of(layout), arrays)
        return MeshArray(whole, layout, self)

    def parts(self, of: MeshArray) -> list[Any]:
        """The arrays of the devices, in the order of the mesh."""
        if not isinstance(of.array, jax.Array):
            return [of.whole()[part] for part in _extents(of.layout, of.shape)]
        here = {shard.device: shard.data for shard in of.array.addressable_shards}
        return [here[each] for each in self._devices]

    def part_tensor(self, number: int, part: Any, dtype: Any) -> Any:
        """The tensor of a part, on its device."""
        if not isinstance(part, jax.Array):
            return _native.tensor_of(part, dtype)
        spec = DeviceSpec.from_string(self.mesh.local_devices()[number])
        if spec.device_type == "CPU":
            index = device_memory.index_of_cpu(spec.device_index or 0, self._devices[number])
        else:
            index = device.find(spec).index
        return device_memory.tensor_of(part, dtype, index)

    def outputs(
        self, row: Any, inputs: tuple[Any, ...], variables: Sequence[Any], attrs: dict[str, Any], sizes: Sequence[int]
    ) -> tuple[Any, ...] | None:
        """The outputs of a call of a row on the mesh, flat; None for one that runs on the host."""
        return mesh_programs.outputs(self, row, inputs, variables, attrs, sizes)

    def function(self, graph: Any, outputs: Sequence[Any], constants: dict[int, Any], wanted: Layout | None) -> Any:
        """A graph compiled for the mesh; see `MeshFunction`."""
        return mesh_programs.MeshFunction(graph, outputs, constants, self, wanted)

    def on_host(self, of: MeshArray) -> Any:
        """All elements as a tensor of the host."""
        if not isinstance(of.array, jax.Array):
            return of.array
        return _native.tensor_of(of.whole(), dtypes.as_dtype(of.array.dtype))


def _extents(layout: Layout, shape: Sequence[int]) -> list[tuple[slice, ...]]:
    """What part of a tensor each device has."""
    sizes = layout.local_shape_from_global_shape(shape)
    places = layout.offset_to_shard()
    return [tuple(slice(i * n, (i + 1) * n) for i, n in zip(place, sizes, strict=True)) for place in places]


def _local(x: Any) -> Any:
    where, array = _native.device_array(x)
    return array if where else x.numpy()


def _sharding_of(text: str) -> Any:
    layout = Layout.from_string(text)
    storage = storage_of(layout.mesh)
    return storage.sharding_of(layout) if isinstance(storage, JaxStorage) else None


relayout.use_shardings(_sharding_of)
