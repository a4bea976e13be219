"""`tf.experimental.dtensor`: tensors laid out on a mesh of devices; a mesh here has the one device of the process.

Layouts are kept and checked; work that outgrows one device goes through `tf.distribute` or JAX.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeflow.core import config
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.device import DeviceSpec
from tapeflow.ops.state.variable import Variable

__all__ = [
    "DTensorDataset", "DVariable", "Layout", "MATCH", "Mesh", "UNSHARDED", "client_id", "copy_to_mesh", "create_mesh",
    "default_mesh", "full_job_name", "get_default_mesh", "is_dtensor", "job_name", "jobs", "local_devices",
    "num_clients", "num_global_devices", "num_local_devices", "preferred_device_type",
]  # fmt: skip

UNSHARDED = "unsharded"
MATCH = "match"


class Mesh:
    """Devices in a grid with named dimensions.

    Args:
      dim_names: the names of the dimensions.
      global_device_ids: the numbers of the devices, an array with one axis for each dimension.
      local_device_ids: the numbers of those of this process.
      local_devices: their names or `DeviceSpec`s.
      mesh_name: its name.

    Raises ValueError for more than one device, and for names that do not fit the grid.
    """

    def __init__(
        self,
        dim_names: list[str],
        global_device_ids: Any,
        local_device_ids: list[int],
        local_devices: list[Any],
        mesh_name: str = "",
        **options: Any,
    ):
        ids = np.asarray(global_device_ids)
        if ids.ndim != len(dim_names):
            raise ValueError(f"A mesh of {ids.ndim} dimensions needs as many names, got {dim_names}")
        if ids.size != 1:
            raise ValueError(f"A mesh has one device here, got {ids.size}; see tf.distribute for several")
        self._names, self._ids, self.name = list(dim_names), ids, mesh_name
        self._local_ids, self._devices = list(local_device_ids), [str(d) for d in local_devices]

    @property
    def dim_names(self) -> list[str]:
        """The names of the dimensions."""
        return list(self._names)

    @property
    def size(self) -> int:
        """The number of devices."""
        return int(self._ids.size)

    def shape(self) -> list[int]:
        """The sizes of the dimensions."""
        return list(self._ids.shape)

    def dim_size(self, dim_name: str) -> int:
        """The size of a dimension. Raises ValueError for an unknown name."""
        return int(self._ids.shape[self._names.index(dim_name)])

    def contains_dim(self, dim_name: str) -> bool:
        """Whether there is a dimension of the name."""
        return dim_name in self._names

    def local_devices(self) -> list[str]:
        """The devices of this process."""
        return list(self._devices)

    def device_type(self) -> str:
        """The kind of the devices."""
        return DeviceSpec.from_string(self._devices[0]).device_type or "CPU"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        return (self._names, self._ids.tolist(), self._devices) == (other._names, other._ids.tolist(), other._devices)

    def __hash__(self) -> int:
        return hash((tuple(self._names), tuple(self._devices)))

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{n}={s}' for n, s in zip(self._names, self._ids.shape, strict=True))})"


class Layout:
    """How the axes of a tensor lie on a mesh.

    Args:
      sharding_specs: for each axis the name of a dimension of the mesh, or UNSHARDED.
      mesh: the mesh.

    Raises ValueError for names that the mesh does not have, or that occur twice.
    """

    def __init__(self, sharding_specs: list[str], mesh: Mesh):
        self.sharding_specs, self.mesh = list(sharding_specs), mesh
        sharded = [s for s in self.sharding_specs if s not in (UNSHARDED, MATCH)]
        if len(set(sharded)) < len(sharded):
            raise ValueError(f"A dimension of the mesh shards one axis only, got {sharding_specs}")
        for name in sharded:
            if not mesh.contains_dim(name):
                raise ValueError(f"The mesh has no dimension {name!r}: {mesh.dim_names}")

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.sharding_specs)

    @staticmethod
    def replicated(mesh: Mesh, rank: int) -> Layout:
        """The layout of which each device has the whole."""
        return Layout([UNSHARDED] * rank, mesh)

    @staticmethod
    def batch_sharded(mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """The layout that is sharded along one axis."""
        specs = [UNSHARDED] * rank
        specs[axis] = batch_dim
        return Layout(specs, mesh)

    @staticmethod
    def inner_sharded(mesh: Mesh, inner_dim: str, rank: int) -> Layout:
        """The layout that is sharded along the last axis."""
        return Layout.batch_sharded(mesh, inner_dim, rank, rank - 1)

    def is_fully_replicated(self) -> bool:
        """Whether each device has the whole."""
        return all(self.num_shards(i) == 1 for i in range(self.rank))

    def num_shards(self, idx: int) -> int:
        """Into how many parts an axis is cut."""
        spec = self.sharding_specs[idx]
        return 1 if spec == UNSHARDED else self.mesh.dim_size(spec)

    def delete(self, dims: list[int]) -> Layout:
        """The layout without some axes."""
        return Layout([s for i, s in enumerate(self.sharding_specs) if i not in set(dims)], self.mesh)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.sharding_specs == other.sharding_specs and self.mesh == other.mesh

    def __hash__(self) -> int:
        return hash((tuple(self.sharding_specs), self.mesh))

    def __repr__(self) -> str:
        return f"Layout(sharding_specs={self.sharding_specs}, mesh={self.mesh})"


class DVariable(Variable):
    """A variable with a layout.

    Args:
      initial_value: as of `tf.Variable`.
      layout: its layout; None: on the default mesh, whole.
    """

    def __init__(self, initial_value: Any, *args: Any, layout: Layout | None = None, **kwargs: Any):
        super().__init__(initial_value, *args, **kwargs)
        mesh = get_default_mesh()
        if layout is None and mesh is not None:
            layout = Layout.replicated(mesh, self.shape.rank)
        self.layout = layout


class DTensorDataset:
    """The elements of a dataset in batches, laid out on a mesh.

    Args:
      dataset: the dataset.
      mesh: the mesh.
      layouts: a layout for each component of an element.
      global_batch_size: the size of the batches.
      dataset_already_batched: whether the dataset has batches of that size.
      batch_dim: the dimension of the mesh that batches are sharded along.
      prefetch: how many batches are made before they are asked for; None: none.
      tf_data_service_config: not used.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        mesh: Mesh,
        layouts: Any,
        global_batch_size: int,
        dataset_already_batched: bool = False,
        batch_dim: str | None = None,
        prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ):
        made = dataset if dataset_already_batched else dataset.batch(global_batch_size, drop_remainder=True)
        self._dataset = made if prefetch is None else made.prefetch(prefetch)
        self.element_spec = dataset.element_spec
        self._mesh, self._layouts = mesh, layouts

    def __iter__(self) -> Any:
        return iter(self._dataset)

    def __len__(self) -> int:
        return len(self._dataset)


def create_mesh(
    mesh_dims: Any = None,
    mesh_name: str = "",
    devices: Any = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """A mesh of devices of this process.

    Args:
      mesh_dims: names and sizes of the dimensions, pairs or a dict; None: one dimension "x".
      mesh_name: its name.
      devices: the devices; None: those of `device_type`.
      device_type: their kind; None: the preferred one.
      use_xla_spmd: not used.

    Raises ValueError for more than one device.
    """
    found = devices or local_devices(device_type or preferred_device_type())
    dims = dict([("x", len(found))] if mesh_dims is None else mesh_dims)
    count = int(np.prod(list(dims.values())))
    ids = np.arange(count).reshape(list(dims.values()))
    return Mesh(list(dims), ids, list(range(count)), found[:count], mesh_name)


def copy_to_mesh(tensor: Any, layout: Layout, source_layout: Layout | None = None) -> Any:
    """A tensor on the mesh of a layout. Raises ValueError for a layout of another rank."""
    value = convert_to_tensor(tensor)
    if value.shape.rank != layout.rank:
        raise ValueError(f"A layout of rank {layout.rank} does not fit a tensor of shape {value.shape}")
    return value


def is_dtensor(tensor: Any) -> bool:
    """Whether a value has a layout."""
    return getattr(tensor, "layout", None) is not None


class _Default(threading.local):
    mesh: Mesh | None = None


_default = _Default()


@contextlib.contextmanager
def default_mesh(mesh: Mesh) -> Iterator[None]:
    """A block in which variables are made on a mesh."""
    before, _default.mesh = _default.mesh, mesh
    try:
        yield
    finally:
        _default.mesh = before


def get_default_mesh() -> Mesh | None:
    """The mesh of the block around."""
    return _default.mesh


def preferred_device_type() -> str:
    """The kind of device that meshes are made of: GPUs where there are some."""
    return "GPU" if config.list_logical_devices("GPU") else "CPU"


def local_devices(device_type: str, for_client_id: int | None = None) -> list[Any]:
    """The devices of a kind of this process."""
    return [DeviceSpec.from_string(device.name) for device in config.list_logical_devices(device_type)]


def num_local_devices(device_type: str) -> int:
    """How many devices of a kind this process has."""
    return len(config.list_logical_devices(device_type))


num_global_devices = num_local_devices


def client_id() -> int:
    """The number of this process: 0."""
    return 0


def num_clients() -> int:
    """The number of processes: 1."""
    return 1


def jobs() -> list[str]:
    """The addresses of the processes; empty for one process."""
    return []


def job_name() -> str:
    """The name of the job of this process."""
    return "localhost"


def full_job_name(task_id: int | None = None) -> str:
    """The name of the job and the task."""
    return "localhost/replica:0/task:0"
